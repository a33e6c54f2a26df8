"""The report of `mercer demo`."""

import json

import pytest
from rich.console import Console

from mercer.auto.holdout.evaluate import Comparison, Estimate
from mercer.report.demo import EXAMPLES, N_STEPS, conclude, gather_demo
from mercer.report.demo_table import closing_hint, render_demo, render_intro


@pytest.fixture(scope="module", params=EXAMPLES)
def report(request):
    return gather_demo(request.param, n_components=16)


def test_report_is_plain_json(report):
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_report_is_consistent(report):
    best = min(report["trials"], key=lambda trial: trial["cv_error"])
    assert best["chosen"]
    assert report["chosen"] == best["features"]
    for score in (report["scores"]["plain"], report["scores"]["lifted"]):
        assert score["low"] <= score["value"] <= score["high"]
    assert sum(report["seconds"]["steps"].values()) == pytest.approx(report["seconds"]["total"])


@pytest.mark.parametrize("width", [60, 80, 120])
def test_rendering_fits_the_terminal(report, width):
    console = Console(width=width, record=True, file=open("/dev/null", "w"), highlight=False)  # noqa: SIM115
    for part in (render_intro(report), render_demo(report), closing_hint()):
        console.print(part)
    console.file.close()
    text = console.export_text()
    assert report["data"]["title"] in text
    assert all(len(line.rstrip()) <= width for line in text.splitlines())


def test_every_step_is_announced():
    steps = []
    gather_demo("diabetes", 16, progress=lambda name, total: steps.append((name, total)))
    assert len(steps) == N_STEPS
    assert {total for _, total in steps} == {N_STEPS}


@pytest.mark.parametrize(
    ("low", "high", "plain", "expected"),
    [
        (0.01, 0.05, False, "the random features, and the holdout agrees: random features improve"),
        (0.01, 0.05, True, "the plain columns, and the holdout disagrees: random features improve"),
        (-0.05, -0.01, True, "the plain columns, and the holdout agrees: random features worsen"),
        (-0.01, 0.05, False, "On the 100 rows of the holdout the difference is not significant"),
    ],
)
def test_conclusions(low, high, plain, expected):
    one = Estimate(0.9, 0.8, 0.95)
    result = Comparison("accuracy", "Wilson", 100, one, one, Estimate((low + high) / 2, low, high))
    assert expected in conclude(plain, result)
