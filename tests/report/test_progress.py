"""Progress on a terminal, and none elsewhere."""

import time

from mercer.auto.budget.progress import MESSAGES
from mercer.report.progress import row_progress, step_progress


def test_no_progress_off_a_terminal(capsys):
    with step_progress("fit", quiet=False) as announce, row_progress("predict", 10, quiet=False) as advance:
        announce("read")
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_step_elapsed_and_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with step_progress("fit", quiet=False) as announce:
        announce("read")
        time.sleep(0.02)
        announce(MESSAGES["holdout"])
        time.sleep(0.15)
    out, err = capsys.readouterr()
    assert out == ""
    for expected in ("fit: reading", "fit: evaluate on the holdout", "0:00:00", "about 0 s left"):
        assert expected in err
    with step_progress("fit", quiet=True) as announce:
        announce("read")
    assert capsys.readouterr() == ("", "")


def test_a_budget_bounds_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with step_progress("fit", quiet=False, budget=600.0):
        time.sleep(0.15)
    assert "about 600 s left" in capsys.readouterr().err
