"""The benchmarks: one row per module, small forms run, the page agrees with the records, the gate compares ratios."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import gate, record, registry  # noqa: E402

#: The small forms run in as many processes.
PARTS = 4


def test_every_module_with_run_has_one_row():
    helpers = {
        "leaderboard_data",
        "leaderboard_models",
        "leaderboard_summary",
        "json_lines",
        "harness",
        "record",
        "registry",
        "render",
        "gate",
    }
    folder = ROOT / "benchmarks"
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    modules = {path.stem for path in folder.glob("[a-z]*.py")} - helpers | packages
    assert modules == set(registry.NAMES)
    assert len(registry.NAMES) == len(set(registry.NAMES))
    assert {each.group for each in registry.BENCHMARKS} == set(registry.GROUPS)


def folder_of_data(folder: Path) -> Path:
    """A folder with generated rows in place of a public table."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(250, 10, noise=1.0, random_state=0)
    folder.mkdir()
    pq.write_table(pa.table({**{f"x{j}": x for j, x in enumerate(X.T)}, "target": y}), folder / "fried.parquet")
    return folder


@pytest.mark.parametrize("part", range(PARTS))
def test_small_forms_run_and_are_recorded(part, tmp_path):
    names = registry.NAMES[part::PARTS]
    command = [sys.executable, "-m", "benchmarks", "all", "--smoke", "--out", str(tmp_path), "--only", *names]
    command += ["--data", str(folder_of_data(tmp_path / "data"))]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MERCER_BENCH_REPEATS": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for name in names:
        found = record.load(name, tmp_path)
        assert found is not None, name
        assert found["versions"]["mercer"]
        assert found["comparisons"] or found["figures"]
        assert (tmp_path / f"{name}.log").read_text(encoding="utf-8").strip()


def test_results_page_is_short_and_written_from_the_records(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.render import MAX_LINES, PAGE, write_results

    page = write_results(tmp_path / "RESULTS.md")
    text = PAGE.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text
    assert text.count("\n") <= MAX_LINES == 300


def test_every_record_shows_figures_on_the_page():
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    for each in registry.BENCHMARKS:
        found = record.load(each.name)
        if found is None or each.name == "leaderboard":
            continue
        if each.group == "speed":
            assert f"| {each.name} | " in page
        else:
            section = page.partition(f"### {each.title[:1].upper()}{each.title[1:]}\n")[2].partition("\n#")[0]
            assert str(found["figures"][0]["rows"][0][0]) in section, each.name


@pytest.mark.parametrize("n", [1, 40])
def test_page_stays_short_with_long_tables(tmp_path, n):
    pytest.importorskip("matplotlib")
    import json

    from benchmarks.render import MAX_LINES, write_results

    figure = {"title": "t", "columns": ["a", "b", "c", "d"], "rows": [[f"row {i}", 1.0, None, "x"] for i in range(n)]}
    for each in registry.BENCHMARKS:
        kept = {"benchmark": each.name, "machine": {}, "versions": {}, "comparisons": [], "figures": [figure]}
        (tmp_path / f"{each.name}.json").write_text(json.dumps(kept))
    text = write_results(tmp_path / "RESULTS.md", tmp_path).read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_LINES
    assert text.count("row 0") >= len(registry.BENCHMARKS)


def comparison(ours, peer):
    rows = [
        {"name": "Mercer", "wall": ours, "user": ours, "ratio": 1.0, "user_ratio": 1.0},
        {"name": "scikit-learn", "wall": peer, "user": peer, "ratio": peer / ours, "user_ratio": peer / ours},
    ]
    return {"comparisons": [{"title": "t", "reference": "Mercer", "rows": rows}], "figures": []}


@pytest.mark.parametrize(("ours", "worse"), [(1.0, False), (1.2, False), (1.5, True), (0.5, False)])
def test_gate_compares_ratios(ours, worse):
    changes = dict(gate.changes(comparison(1.0, 10.0), comparison(ours, 10.0)))
    assert changes == pytest.approx({"t, scikit-learn": ours})
    assert (max(changes.values()) > gate.TOLERANCE) == worse


def test_gate_reads_two_folders(tmp_path, capsys):
    import json

    for name, ours in (("before", 1.0), ("after", 2.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trees.json").write_text(json.dumps(comparison(ours, 10.0)))
    assert gate.gate(tmp_path / "before", tmp_path / "before") == 0
    assert gate.gate(record.RESULTS, record.RESULTS) == 0
    assert gate.gate(tmp_path / "before", tmp_path / "after") == 1
    assert "trees: t, scikit-learn: 2.00 x" in capsys.readouterr().out


def test_tables_of_the_leaderboard():
    from benchmarks.leaderboard_summary import figures

    rows = [
        {"set": name, "model": model, "seed": 0, "score": score, "error": 1 - score, "metric": "rmse"}
        | {"wall": 1.0, "cpu": 2.0}
        for name in ("abalone", "fried", "adult")
        for model, score in (("mercer", 0.9), ("catboost", 0.8), ("linear", 0.5))
        if (name, model) != ("adult", "catboost")
    ]
    rows.append({"set": "adult", "model": "catboost", "seed": 0, "failed": "not finished in 1 s"})
    scores, errors, summary, *_, failed = figures(rows)
    assert scores.columns == ["set", "mercer", "catboost", "linear"]
    assert errors.rows == [
        ["abalone", "rmse", 0.1, 0.2, 0.5],
        ["adult", "rmse", 0.1, None, 0.5],
        ["fried", "rmse", 0.1, 0.2, 0.5],
    ]
    assert summary.title.startswith("2 sets: mercer leads catboost by a mean rank of 1.00")
    assert [row[0] for row in summary.rows] == ["mercer", "catboost", "linear"]
    assert failed.rows == [["adult", "catboost", 0, "not finished in 1 s"]]


def test_ranks_and_ratings_of_the_leaderboard():
    import numpy as np
    from benchmarks.leaderboard_summary import elo, normalized_errors, ranks

    errors = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 5.0], [2.0, 1.0, 4.0], [1.0, 2.0, 4.0]])
    assert ranks(errors).tolist() == [[1, 2, 3], [1.5, 1.5, 3], [2, 1, 3], [1, 2, 3]]
    assert normalized_errors(errors)[:2].tolist() == [[0, 1, 1], [0, 0, 1]]
    ratings = elo(errors)
    assert ratings[0] > ratings[1] > ratings[2]
    assert np.mean(ratings) == pytest.approx(1000)
    two = elo(np.array([[1.0, 2.0]] * 3 + [[2.0, 1.0]]))  # 3.5 wins of 5 with half a win added to both
    assert 10 ** ((two[0] - two[1]) / 400) == pytest.approx(3.5 / 1.5)
