"""Progress on a terminal, and none elsewhere."""

import re
import time

import pytest

from mercer.auto import Steps
from mercer.auto.budget.progress import DONE_BEFORE, StepMessage
from mercer.report.progress import StepClock, row_progress, step_progress


def test_no_progress_off_a_terminal(capsys):
    with step_progress("fit", quiet=False) as announce, row_progress("predict", 10, quiet=False) as advance:
        announce("read")
        advance(10)
    assert capsys.readouterr() == ("", "")


def started(step, at, clock=None, steps=None):
    clock, steps = clock or StepClock(), steps or Steps()
    steps.fraction = max(steps.fraction, DONE_BEFORE.get(step, 0.0))
    clock.start(StepMessage.of(steps, step), at)
    return clock, steps


def test_the_fraction_never_falls():
    clock, steps = started("read", 1.0)
    seen = []
    for i, step in enumerate(["encode", "trees", "kernels", "own stage", "fourier", "holdout", "refit"]):
        seen += [clock.fraction(1.0 + i + part / 10) for part in range(11)]
        started(step, 2.0 + i, clock, steps)
    assert seen == sorted(seen)
    assert seen[-1] < clock.fraction(1e9) <= 1.0


def test_a_step_of_the_expected_length_is_done_to_the_greater_part():
    clock, steps = started("read", 0.0)
    start = DONE_BEFORE["fourier"]
    clock, steps = started("fourier", start * 100.0, clock, steps)
    end = clock.message.end
    assert start < clock.fraction(end * 100.0) < end
    assert clock.fraction(end * 100.0) > (start + end) / 2


def test_the_time_left_is_in_proportion_and_within_the_budget():
    clock, steps = started("read", 10.0)
    assert clock.seconds_left(10.0) is None
    started("refit", 95.0, clock, steps)
    fraction = DONE_BEFORE["refit"]
    assert clock.seconds_left(95.0) == pytest.approx(85.0 * (1 - fraction) / fraction)
    clock.budget = 96.0
    assert clock.seconds_left(95.0) == pytest.approx(1.0)
    assert clock.seconds_left(99.0) == 0.0


@pytest.mark.parametrize(("task", "expected"), [("regression", "R² 0.880"), ("classification", "loss 0.12 of naive")])
def test_a_terminal_shows_step_fraction_times_and_score(task, expected, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    with step_progress("fit", quiet=False) as announce:
        steps = Steps(announce)
        steps.record_loss(0.12, task)
        with steps("read"):
            time.sleep(0.02)
        with steps("holdout"):
            time.sleep(0.15)
    out, err = capsys.readouterr()
    assert out == ""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)
    for part in ("fit: reading", "evaluate on the holdout", "0 s  0 s left", expected):
        assert part in plain
    assert re.search(" 6[456]% ", plain)
    assert max(map(len, re.split(r"[\r\n]", plain))) <= 80
    with step_progress("fit", quiet=True) as announce:
        announce("read")
    assert capsys.readouterr() == ("", "")


def test_a_narrow_terminal_has_room_for_the_fraction(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    with step_progress("fit", quiet=False) as announce, Steps(announce)("holdout"):
        time.sleep(0.15)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(" 6[456]% ", plain)
    assert max(map(len, re.split(r"[\r\n]", plain))) <= 60


def test_a_budget_bounds_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with step_progress("fit", quiet=False, budget=600.0):
        time.sleep(0.15)
    assert "10:00 left" in capsys.readouterr().err
