"""The report of `mercer demo` on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

_FEATURES = {"plain": "plain columns", "lifted": "random features"}


def render_intro(report: dict[str, Any]) -> RenderableType:
    """Render the question of the demo, and the passes over the rows of each data set."""
    return Group(
        Text("A linear model is only as good as its features.", style="bold"),
        Text(
            "Ridge regression on the plain columns, against ridge regression on random Fourier\n"
            "features, which approximate a Gaussian kernel. Cross-validation on the training\n"
            "rows selects; a holdout evaluates both, once.\n"
        ),
        _indented("The plan, for each data set", _plan_table(report["plan"])),
    )


def render_demo(report: dict[str, Any]) -> RenderableType:
    """Render one data set: the candidates, and the scores on the holdout."""
    data, scores = report["data"], report["scores"]
    sizes = (
        f"{data['rows']:,} rows of {data['columns']} numbers; {data['training_rows']:,} for training, "
        f"{data['holdout_rows']:,} held out"
    )
    return Group(
        _heading(data["title"]),
        Text(f"{data['question']}\n{sizes}\n"),
        _indented("Candidates, by 5-fold cross-validation on the training rows", _trial_table(report["trials"])),
        _indented(f"Holdout: {data['holdout_rows']:,} rows, evaluated once", _score_table(scores, report["chosen"])),
        Text(report["conclusion"], style="bold green" if report["chosen"] == "lifted" else "bold yellow"),
        Text(f"Intervals: {scores['interval']}.\n{_timing(report['seconds'])}\n", style="dim"),
    )


def closing_hint() -> RenderableType:
    """Render the next steps."""
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


def _plan_table(plan: list[dict[str, Any]]) -> Table:
    table = _table("step", ">passes", "learns")
    for step in plan:
        table.add_row(step["step"], str(step["passes"]), step["learns"])
    table.add_row("total", str(sum(step["passes"] for step in plan)), "", style="bold")
    return table


def _trial_table(trials: list[dict[str, Any]]) -> Table:
    table = _table("ridge on", ">x median", ">bandwidth", ">penalty", ">squared error", "")
    worst = max(trial["cv_error"] for trial in trials)
    for trial in trials:
        bar = "█" * max(1, round(12 * trial["cv_error"] / worst)) + (" best" if trial["chosen"] else "")
        table.add_row(
            _FEATURES[trial["features"]],
            "" if trial["multiple"] is None else f"{trial['multiple']:g}",
            "" if trial["bandwidth"] is None else f"{trial['bandwidth']:.3g}",
            f"{trial['penalty']:.2g}",
            f"{trial['cv_error']:.4g}",
            bar,
            style="green" if trial["chosen"] else "",
        )
    return table


def _score_table(scores: dict[str, Any], chosen: str) -> Table:
    percent = scores["metric"] == "accuracy"
    table = _table("ridge on", f">{scores['metric']}{' %' if percent else ''}", ">95 % interval", "")
    for kind in ("plain", "lifted"):
        mark = "selected by cross-validation" if kind == chosen else ""
        table.add_row(_FEATURES[kind], *_cells(scores[kind], percent, ""), mark, style="green" if mark else "")
    table.add_row("gain", *_cells(scores["gain"], percent, "+"), "", style="bold")
    return table


def _cells(estimate: dict[str, float], percent: bool, sign: str) -> tuple[str, str]:
    scale, form = (100, f"{sign}.1f") if percent else (1, f"{sign}.3f")
    value, low, high = (format(scale * estimate[key], form) for key in ("value", "low", "high"))
    return value, f"{low} .. {high}"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.lstrip(">"), justify="right" if right else "left")
    return table


def _timing(seconds: dict[str, Any]) -> str:
    parts = ", ".join(f"{name} {spent:.2f}" for name, spent in seconds["steps"].items())
    return f"Seconds: {parts}; {seconds['total']:.2f} in total."
