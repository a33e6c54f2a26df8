"""Reports on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

_FEATURES = {"plain": "columns as they are", "lifted": "random features"}


@contextmanager
def progress(title: str, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar on stderr, moved by calls with the name of the next step and the number of steps in all.

    Nothing is written if quiet or not on a terminal.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<46}"), BarColumn(20), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bars:
        task = bars.add_task(f"{title}: loading", total=None, completed=-1)
        yield lambda name, total: bars.update(task, description=f"{title}: {name}", advance=1, total=total)


def render_demo(report: dict[str, Any]) -> RenderableType:
    """One data set of `mercer demo`: what it is, the plan, what was tried, and who won on the holdout."""
    data = report["data"]
    facts = (
        f"{data['rows']:,} rows of {data['columns']} numbers; {data['training_rows']:,} to learn from, "
        f"{data['holdout_rows']:,} kept aside"
    )
    return Group(
        Rule(Text(data["title"], style="bold"), align="left", style="cyan"),
        Text(f"{data['question']}\n{facts}\n"),
        _indented("The plan", _plan_table(report["plan"])),
        _indented("Tried on the training rows (5 folds)", _trial_table(report["trials"])),
        _indented(
            f"On the {data['holdout_rows']:,} rows kept aside ({report['scores']['interval']})",
            _score_table(report["scores"], report["chosen"]),
        ),
        Text(report["conclusion"], style="bold green" if report["chosen"] == "lifted" else "bold yellow"),
        Text(_timing(report["seconds"]) + "\n", style="dim"),
    )


def closing_hint() -> RenderableType:
    """What to do next."""
    return Group(
        Rule(Text("Your own data", style="bold"), align="left", style="cyan"),
        Text(
            "import mercer\n"
            'source = mercer.read(frame, target="name of a column")   # or a Parquet path\n'
            "model = make_pipeline(mercer.Standardize(), mercer.RandomFeatures(),\n"
            "                      mercer.RidgeClassifier()).fit(source)",
            style="italic",
        ),
        Text("\nmercer demo --help lists the data sets; the README and docs/ go on from here."),
    )


def _indented(title: str, table: Table) -> RenderableType:
    return Group(Text(title, style="underline"), Padding(table, (0, 0, 1, 2)))


def _plan_table(plan) -> Table:
    table = _table("step", ">passes", "learns")
    for step in plan:
        table.add_row(step["step"], str(step["passes"]), step["learns"])
    table.add_row("in all", str(sum(step["passes"] for step in plan)), "", style="bold")
    return table


def _trial_table(trials) -> Table:
    table = _table("features", ">bandwidth", ">penalty", ">squared error", "")
    worst = max(trial["fold_error"] for trial in trials)
    for trial in trials:
        bandwidth = "-" if trial["bandwidth"] is None else f"{trial['multiple']:g} x median = {trial['bandwidth']:.3g}"
        bar = "█" * max(1, round(16 * trial["fold_error"] / worst)) + (" < least" if trial["chosen"] else "")
        table.add_row(
            _FEATURES[trial["features"]],
            bandwidth,
            f"{trial['penalty']:.2g}",
            f"{trial['fold_error']:.4g}",
            bar,
            style="green" if trial["chosen"] else "",
        )
    return table


def _score_table(scores, chosen) -> Table:
    table = _table("ridge on", f">{scores['metric']}", ">interval", "")
    percent = scores["metric"] == "accuracy"
    for kind in ("plain", "lifted"):
        mark = "chosen by the folds" if kind == chosen else ""
        table.add_row(_FEATURES[kind], *_cells(scores[kind], percent, ""), mark, style="green" if mark else "")
    table.add_row("gain by lifting", *_cells(scores["gain"], percent, "+"), "", style="bold")
    return table


def _cells(estimate, percent, sign) -> tuple[str, str]:
    scale, form = (100, f"{sign}.1f") if percent else (1, f"{sign}.3f")
    value, low, high = (format(scale * estimate[key], form) for key in ("value", "low", "high"))
    return value + (" %" if percent else ""), f"[{low}, {high}]"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.lstrip(">"), justify="right" if right else "left")
    return table


def _timing(seconds) -> str:
    slowest = sorted(seconds["steps"], key=lambda step: -step[1])[:3]
    parts = ", ".join(f"{name} {spent:.2f} s" for name, spent in slowest)
    return f"{seconds['total']:.1f} s in all; most of it: {parts}"
