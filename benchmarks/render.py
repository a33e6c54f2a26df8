"""RESULTS.md and its plots, written from results/*.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gate import is_ours
from benchmarks.record import RESULTS, load
from benchmarks.registry import BENCHMARKS, GROUPS, Benchmark

PAGE = RESULTS.with_name("RESULTS.md")
#: Lines of the page, at most.
MAX_LINES = 300


class Shown(NamedTuple):
    """How much of each benchmark is shown; the logs have everything."""

    comparisons: int
    figures: int
    rows: int


#: The first that fits the page is taken. Figures of up to three columns are a line and always shown.
SIZES = (
    *(Shown(comparisons, 2, rows) for rows in (30, 12) for comparisons in (4, 3)),
    *(Shown(comparisons, 1, rows) for rows in (12, 10, 8, 6, 4) for comparisons in (3, 2)),
    *(Shown(1, 1, rows) for rows in (4, 3, 2)),
)
#: Figures of so many rows are shown as a line, with all their rows, where there is no room for them as a table.
FEW_ROWS = 6
#: All figures of these benchmarks are shown: with all rows, or if the page is short of lines with so many at least.
WHOLE, ROWS_OF_WHOLE = ("published",), 3
HEAD = """# Results of the benchmarks

`python -m benchmarks render` writes this page from `results/*.json`; `results/*.log` holds what each benchmark printed.
`make bench ARGS="speed"` (or `accuracy`, `memory`, `scale`, `all`, with `--data DIR --only NAME`) measures again, and
`python -m benchmarks gate` compares the ratios with those of the last commit. Times are medians of runs in turn, in
user seconds, which depend little on what else runs. A benchmark that compares methods also compares what they
computed, and stops if it differs: the column "checked" says how. Repeat a measurement before you quote it.
"""
NOTES = {
    "leaderboard": """At most 20,000 training rows, default settings, two cores. Splits are the published ones where
there are some. Mercer's constants were tuned on training rows of other splits, which overlap with the test rows here
where a set has no official split. On wine_quality part of the gain comes from repeated rows: test rows that repeat
training rows count here, while `mercer.fit` holds out equal rows together. CatBoost and HistGradientBoosting have one
split of madelon and covertype. The first split includes slower peers: EBM with two bags instead of fourteen, missing
where it took over eight minutes; xRFM, missing on letter, where it needs more than 23 GB. `results/leaderboard.log` has
the details and the scores of the first split.""",
    "landmarks": "Falkon's centers are drawn by pivoted Cholesky, those of Nystroem uniformly.",
    "sketches": "At equal error Mercer needs a quarter of the columns for rows of norm one; `results/sketches.log`.",
    "tables": """Reading infers types from all rows and writes a file that is read in blocks; encoding also infers
roles, searches for leaks and computes out-of-fold target means. Both do more than the peers, and take longer.""",
    "wide_tables": "In the tables called sparse the target depends on five columns.",
}


def write_results(page: Path = PAGE, folder: Path = RESULTS) -> Path:
    """Write the page and its plots; return the path of the page."""
    records = {each.name: found for each in BENCHMARKS if (found := load(each.name, folder)) is not None}
    plots = page.with_name("results")
    plots.mkdir(exist_ok=True)
    front = _front(records, plots)
    for shown in SIZES:
        text = "\n".join([HEAD, *front, *_groups(records, shown)]).rstrip() + "\n"
        if text.count("\n") <= MAX_LINES:
            break
    page.write_text(text, encoding="utf-8")
    return page


def _groups(records: dict[str, Any], shown: Shown) -> list[str]:
    lines = []
    for group in GROUPS:
        chosen = [each for each in BENCHMARKS if each.group == group and each.name in records]
        chosen = [each for each in chosen if each.name != "leaderboard"]
        if chosen:
            lines.append(f"\n## {group.capitalize()}\n")
        lines += _comparisons({each.name: records[each.name] for each in chosen}, shown.comparisons)
        if group == "speed":
            lines += _short_figures(chosen, records)
            continue
        for each in chosen:
            lines += _figures(each, records[each.name]["figures"], shown)
    return [*lines, "\n## Machine and versions\n", *_machines(records)]


def _front(records: dict[str, Any], folder: Path) -> list[str]:
    """The leaderboard and the plot of all ratios."""
    lines = []
    if "leaderboard" in records:
        lines += ["\n## Leaderboard of real tables\n", "![Scores of seven models](../docs/images/leaderboard.svg)\n"]
        figures = records["leaderboard"]["figures"]
        with_errors = any(figure["title"].startswith("test errors") for figure in figures)
        for figure in figures:
            if with_errors and figure["title"].startswith("test scores"):
                continue  # the same order of models, in the log
            best = max if figure["title"].startswith("test scores") else min
            lines += [_sentence(figure["title"]), "", *_table(figure, best if "set" in figure["columns"] else None), ""]
        lines.append(NOTES["leaderboard"])
    if _plot_ratios(records, folder / "ratios.svg"):
        lines += ["\n## Speed at a glance\n", "![How many times as fast as the peers](results/ratios.svg)"]
    return lines


def _comparisons(records: dict[str, Any], n: int) -> list[str]:
    """One table of the comparisons of a group."""
    lines = []
    for name, record in records.items():
        for each in _different(record["comparisons"])[:n]:
            times = "; ".join(map(_time, each["rows"]))
            lines.append(f"| {name} | {each['title']} | {times} | {each.get('same') or ''} |")
    if not lines:
        return []
    return ["| benchmark | problem | user seconds (ratio) | checked |", "|---|---|---|---|", *lines, ""]


def _different(comparisons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Comparisons of different kinds first, the first of each kind: kinds differ in the first word of the title."""
    kinds = {each["title"].split()[0]: each for each in comparisons[::-1]}
    return sorted(comparisons, key=lambda each: each is not kinds[each["title"].split()[0]])


def _time(row: dict[str, Any]) -> str:
    """Name, time and ratio of a method, those of Mercer in bold; wall time where user time is below its clock."""
    kind = "user" if row["user"] and row["user_ratio"] else "wall"
    ratio = row["user_ratio" if kind == "user" else "ratio"]
    text = f"{row['name']} {_number(row[kind])}{' wall' if kind == 'wall' else ''} ({_number(ratio)})"
    return f"**{text}**" if is_ours(row["name"]) else text


def _short_figures(chosen: list[Benchmark], records: dict[str, Any]) -> list[str]:
    """The other figures of a group in one table, a row each, and the notes."""
    lines = [
        f"| {each.name} | {_titled(figure)} | {_in_line(figure)} |"
        for each in chosen
        for figure in records[each.name]["figures"]
    ]
    notes = [f"- {each.name}: {' '.join(NOTES[each.name].split())}" for each in chosen if each.name in NOTES]
    table = ["| benchmark | figure | values |", "|---|---|---|", *lines, ""] if lines else []
    return [*table, *notes]


def _figures(benchmark: Benchmark, figures: list[dict[str, Any]], shown: Shown) -> list[str]:
    """A section: narrow figures in a line each, the first wide ones as tables of so many rows, then short ones."""
    lines = [f"### {_sentence(benchmark.title)}\n"]
    room, n_rows = shown.figures, shown.rows
    if benchmark.name in WHOLE:
        room, n_rows = 99, 99 if n_rows >= ROWS_OF_WHOLE else ROWS_OF_WHOLE
    for figure in figures:
        short = len(figure["rows"]) <= FEW_ROWS and (not room or len(figure["rows"]) > n_rows)
        if len(figure["columns"]) <= 3 or short:
            lines += [f"{_titled(figure)}: {_in_line(figure)}.", ""]
        elif room:
            room -= 1
            some = figure | {"rows": figure["rows"][:n_rows]}
            left = len(figure["rows"]) - len(some["rows"])
            note = f" ({left} more in `results/{benchmark.name}.log`)" if left else ""
            lines += [_sentence(figure["title"]) + note, "", *_table(some), ""]
    return [*lines, *([NOTES[benchmark.name], ""] if benchmark.name in NOTES else [])]


def _table(figure: dict[str, Any], best: Callable | None = None) -> list[str]:
    """The lines of a table; the best number of each row is bold, where `best` says which that is."""
    lines = ["| " + " | ".join(map(str, figure["columns"])) + " |", "|---" * len(figure["columns"]) + "|"]
    for row in figure["rows"]:
        cells = [_number(cell) for cell in row]
        if best is not None:
            top = best(cell for cell in row if isinstance(cell, float))
            cells = [f"**{cell}**" if value == top else cell for cell, value in zip(cells, row, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _titled(figure: dict[str, Any]) -> str:
    return f"{_sentence(figure['title'])} ({', '.join(filter(None, figure['columns']))})"


def _in_line(figure: dict[str, Any]) -> str:
    return "; ".join(f"{_number(row[0])} {', '.join(map(_number, row[1:]))}" for row in figure["rows"])


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    return "" if value is None else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _machines(records: dict[str, Any]) -> list[str]:
    """One line per machine and set of versions, with the benchmarks that ran there."""
    found: dict[str, list[str]] = {}
    for name, record in records.items():
        machine = ", ".join(
            f"{value} {key}" if key == "cores" else str(value) for key, value in record["machine"].items()
        )
        versions = ", ".join(f"{key} {value}" for key, value in record["versions"].items())
        found.setdefault(f"{machine}; {versions}", []).append(name)
    return [f"- {key}: {', '.join(names)}" for key, names in found.items()]


def _plot_ratios(records: dict[str, Any], path: Path) -> bool:
    """A dot per comparison with a peer: how many times the user time of Mercer the peer takes."""
    points = [(name, factor) for name, record in records.items() for factor in _speedups(record)]
    if not points:
        return False
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for name, _ in points))[::-1]
    plt.rcParams["svg.hashsalt"] = "mercer"
    fig, ax = plt.subplots(figsize=(7.6, 0.32 * len(names) + 0.9), layout="constrained")
    for row, name in enumerate(names):
        factors = [factor for each, factor in points if each == name]
        ax.scatter(factors, np.full(len(factors), row), s=22, color="#1763b6", alpha=0.6, linewidths=0)
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set(xscale="log", xlabel="user time of the peer / user time of Mercer (right of the line: Mercer is faster)")
    ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
    ax.spines[["top", "right"]].set_visible(False)
    fig.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(fig)
    return True


def _speedups(record: dict[str, Any]) -> list[float]:
    """Peers' user times over the fastest of Mercer's, for every comparison that has both."""
    found = []
    for each in record["comparisons"]:
        usable = [
            row for row in each["rows"] if row["user"] and "product" not in row["name"] and "X.T" not in row["name"]
        ]
        ours = [row["user"] for row in usable if is_ours(row["name"])]
        theirs = [row["user"] for row in usable if not is_ours(row["name"])]
        if ours and theirs:
            found += [their / min(ours) for their in theirs]
    return found
