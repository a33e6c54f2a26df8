"""Reports on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

_FEATURES = {"plain": "plain columns", "lifted": "random features"}


@contextmanager
def progress(title: str, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar on stderr, moved by calls with the name of the next step and the number of steps in all.

    Nothing is written if quiet or not on a terminal.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<46}"), BarColumn(20), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        task, done = bars.add_task(f"{title}: loading", total=None), count()
        yield lambda name, total: bars.update(task, description=f"{title}: {name}", completed=next(done), total=total)


@contextmanager
def steps_told(title: str, quiet: bool, budget: float | None = None) -> Iterator[Callable[[str], None]]:
    """The step that is running, the time since the start and about how much is left, on stderr.

    Moved by calls with the name of the next step. `budget` is the most seconds it may take.
    """
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description:<44}"), TimeElapsedColumn(), _Left())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        task = bars.add_task(f"{title}: reading", total=None, begun=None, budget=budget, ends=None)

        def tell(name: str) -> None:
            elapsed, known = bars.tasks[0].elapsed or 0.0, bars.tasks[0].fields
            begun = elapsed if known["begun"] is None else known["begun"]
            ends = begun + (elapsed - begun) / _BEGUN[name] if name in _BEGUN else known["ends"]
            bars.update(task, description=f"{title}: {name}", begun=begun, ends=ends)

        yield tell


#: The share of a fit that is over when a step begins, on tables of thousands of rows.
_BEGUN = {
    "kernels and bandwidths": 0.2,
    "learned metric": 0.27,
    "number of waves": 0.5,
    "final weights": 0.78,
    "holdout": 0.82,
    "learn again from all rows": 0.86,
}


class _Left(ProgressColumn):
    """The time left, as far as the steps so far and the budget tell."""

    def render(self, task) -> Text:
        known = [end for end in (task.fields["ends"], task.fields["budget"]) if end is not None]
        if not known:
            return Text("")
        return Text(f"about {max(0.0, min(known) - (task.elapsed or 0.0)):.0f} s left", style="progress.remaining")


@contextmanager
def rows_told(title: str, total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over rows on stderr with elapsed and remaining time, moved by calls with a number of rows done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    bars = Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=quiet or not console.is_terminal
    )
    with bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.advance(task, done)


def render_intro(report: dict[str, Any]) -> RenderableType:
    """What `mercer demo` is about to show, and the passes over the rows it takes for each data set."""
    return Group(
        Text("A linear model is only as good as its features.", style="bold"),
        Text(
            "Ridge regression on the columns as they are, against ridge regression on random\n"
            "features: waves that stand in for a Gaussian kernel. Folds of the training rows\n"
            "choose; rows kept aside have the last word.\n"
        ),
        _indented("The plan, for each data set", _plan_table(report["plan"])),
    )


def render_demo(report: dict[str, Any]) -> RenderableType:
    """One data set of `mercer demo`: what it is, what was tried, and who won on the holdout."""
    data, scores = report["data"], report["scores"]
    facts = (
        f"{data['rows']:,} rows of {data['columns']} numbers; {data['training_rows']:,} to learn from, "
        f"{data['holdout_rows']:,} kept aside"
    )
    return Group(
        _heading(data["title"]),
        Text(f"{data['question']}\n{facts}\n"),
        _indented("Tried on the training rows, 5 folds", _trial_table(report["trials"])),
        _indented("On the rows kept aside", _score_table(scores, report["chosen"])),
        Text(report["conclusion"], style="bold green" if report["chosen"] == "lifted" else "bold yellow"),
        Text(f"Intervals: {scores['interval']}.\n{_timing(report['seconds'])}\n", style="dim"),
    )


def closing_hint() -> RenderableType:
    """What to do next."""
    return Group(
        _heading("Your own data"),
        Text(
            "import mercer\n"
            "from sklearn.pipeline import make_pipeline\n\n"
            'rows = mercer.read(frame, target="price")   # or a path: "rows.parquet"\n'
            "model = make_pipeline(mercer.Standardize(), mercer.RandomFeatures(),\n"
            "                      mercer.RidgeRegressor()).fit(rows)",
            style="italic",
        ),
        Text("\nOptions: mercer demo --help. More: README.md, and the guide built by make docs."),
    )


def _heading(title: str) -> Rule:
    return Rule(Text(title, style="bold"), align="left", style="cyan")


def _indented(title: str, table: Table) -> RenderableType:
    return Group(Text(title, style="underline"), Padding(table, (0, 0, 1, 2)))


def _plan_table(plan) -> Table:
    table = _table("step", ">passes", "learns")
    for step in plan:
        table.add_row(step["step"], str(step["passes"]), step["learns"])
    table.add_row("in all", str(sum(step["passes"] for step in plan)), "", style="bold")
    return table


def _trial_table(trials) -> Table:
    table = _table("ridge on", ">x median", ">bandwidth", ">penalty", ">squared error", "")
    worst = max(trial["fold_error"] for trial in trials)
    for trial in trials:
        bar = "█" * max(1, round(12 * trial["fold_error"] / worst)) + (" least" if trial["chosen"] else "")
        table.add_row(
            _FEATURES[trial["features"]],
            "" if trial["multiple"] is None else f"{trial['multiple']:g}",
            "" if trial["bandwidth"] is None else f"{trial['bandwidth']:.3g}",
            f"{trial['penalty']:.2g}",
            f"{trial['fold_error']:.4g}",
            bar,
            style="green" if trial["chosen"] else "",
        )
    return table


def _score_table(scores, chosen) -> Table:
    percent = scores["metric"] == "accuracy"
    table = _table("ridge on", f">{scores['metric']}{' %' if percent else ''}", ">95 % interval", "")
    for kind in ("plain", "lifted"):
        mark = "chosen by the folds" if kind == chosen else ""
        table.add_row(_FEATURES[kind], *_cells(scores[kind], percent, ""), mark, style="green" if mark else "")
    table.add_row("gain by lifting", *_cells(scores["gain"], percent, "+"), "", style="bold")
    return table


def _cells(estimate, percent, sign) -> tuple[str, str]:
    scale, form = (100, f"{sign}.1f") if percent else (1, f"{sign}.3f")
    value, low, high = (format(scale * estimate[key], form) for key in ("value", "low", "high"))
    return value, f"{low} .. {high}"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.lstrip(">"), justify="right" if right else "left")
    return table


def _timing(seconds) -> str:
    parts = ", ".join(f"{name} {spent:.2f}" for name, spent in seconds["steps"].items())
    return f"Seconds: {parts}; {seconds['total']:.2f} in all."
