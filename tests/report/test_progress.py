"""Progress on a terminal, and silence elsewhere."""

import time

from mercer.report.terminal import rows_told, steps_told


def test_nothing_is_told_off_a_terminal(capsys):
    with steps_told("fit", quiet=False) as tell, rows_told("predict", 10, quiet=False) as moved:
        tell("read")
        moved(10)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_step_elapsed_and_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with steps_told("fit", quiet=False) as tell:
        tell("read")
        time.sleep(0.02)
        tell("holdout")
        time.sleep(0.15)
    out, err = capsys.readouterr()
    assert out == ""
    for expected in ("fit: reading", "fit: holdout", "0:00:00", "about 0 s left"):
        assert expected in err
    with steps_told("fit", quiet=True) as tell:
        tell("read")
    assert capsys.readouterr() == ("", "")


def test_a_budget_bounds_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with steps_told("fit", quiet=False, budget=600.0):
        time.sleep(0.15)
    assert "about 600 s left" in capsys.readouterr().err
