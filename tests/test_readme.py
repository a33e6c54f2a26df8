"""The README's library example runs and prints what the README says; its commands, links and figures hold."""

import contextlib
import io
import json
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_the_example_prints_what_it_says():
    (code,), (printed,) = blocks("python"), blocks("text")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, str(README), "exec"), {})
    assert out.getvalue() == printed


def test_every_linked_file_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert len(links) >= 5
    for link in links:
        assert (README.parent / link).exists(), link


def test_the_commands_are_targets_of_the_makefile():
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_figures_of_the_leaderboard_are_the_recorded_ones():
    """Means and first places that the README and the front page quote."""
    found = json.loads((README.parent / "benchmarks/results/leaderboard.json").read_text(encoding="utf-8"))["figures"][
        0
    ]
    shown = found["columns"][1:]
    rows = [row[1:] for row in found["rows"] if None not in row]
    relative = [[max(score, 0.0) / max(row) for score in row] for row in rows]
    means = {name: sum(row[at] for row in relative) / len(rows) for at, name in enumerate(shown)}
    text = README.read_text(encoding="utf-8") + (README.parent / "docs/index.rst").read_text(encoding="utf-8")
    for name, label in {
        "mercer": "Mercer",
        "lightgbm": "LightGBM",
        "catboost": "CatBoost",
        "xgboost": "XGBoost",
    }.items():
        quoted = set(re.findall(rf"\b{label} (0\.\d\d\d)", text.split("## Try it")[0]))
        assert f"{means[name]:.3f}" in quoted, (label, means[name], quoted)
    first = sum(row[0] == 1.0 for row in relative)
    assert f"first on {first} of the {len(rows)} tables" in text
    assert min(row[0] for row in relative) > 0.99
