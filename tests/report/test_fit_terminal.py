"""The report of a fit on the terminal: what is there, in which order, within the width."""

import io

import pytest
from rich.console import Console

from mercer.report.fit import render_fit, render_written
from report.sample_reports import SAMPLES, checks, class_holdout, minimal_report, regression_report

FILES = {
    "file": "houses.csv",
    "dialect": "delimiter ','",
    "saved": "houses.mercer",
    "report_file": "houses.report.html",
}


def printed(report, width=80, render=render_fit, **how):
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(render(report, **how), crop=False)
    return out.getvalue()


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", SAMPLES)
def test_reports_fit_the_terminal(name, width, verbose):
    report = SAMPLES[name]() | FILES
    text = printed(report, width, verbose=verbose)
    assert max(map(len, text.splitlines())) <= width
    assert one_line(text).startswith(one_line(report["verdict"]["sentence"]))
    assert "houses.report.html" in text
    assert "  mercer predict houses.mercer NEW.csv\n" in text
    assert "None" not in text
    assert "nan" not in text


def test_the_verdict_comes_first_then_scores_reasons_checks_and_files():
    report = regression_report() | FILES
    text = one_line(printed(report))
    check = next(each for each in report["checks"] if each["severity"] == "error")
    order = [
        report["verdict"]["sentence"],
        "this model 0.841 0.829 to 0.853 0.456 0.435 to 0.477",
        "linear model 0.602 0.582 to 0.622 0.729 0.705 to 0.753",
        "naive guess 0.000 -0.001 to 0.000 1.154 1.134 to 1.174",
        "Held out: ",
        *report["verdict"]["details"],
        f"error {check['code']} {check['title']} ({check['where'][0]}). {check['remedy']}",
        "3 checks passed.",
        "Model houses.mercer Report houses.report.html",
        "mercer explain houses.mercer NEW.csv",
    ]
    positions = [text.find(one_line(part)) for part in order]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_candidates_are_for_verbose_readers():
    report = regression_report() | FILES
    name, why = report["candidates"][2]["name"], report["candidates"][2]["why"]
    assert name not in one_line(printed(report))
    text = one_line(printed(report, verbose=True))
    assert f"dropped products: {name}" in text
    assert why in text
    assert "constant" in text  # a check that is only information


def test_long_paths_stay_whole():
    path = "/a folder/" + 30 * "long" + "/it's.mercer"
    text = printed(regression_report() | FILES | {"saved": path, "report_file": path + ".html"})
    assert f"Model   {path}\n" in text
    assert f"Report  {path}.html\n" in text
    assert "  mercer predict '/a folder/" in text


def test_many_checks_and_notes_are_counted():
    report = regression_report() | FILES | {"checks": 9 * checks(), "notes": [f"Note {i}." for i in range(9)]}
    text = one_line(printed(report))
    assert text.count(" leak ") == 8
    assert "19 more are in the report; 27 checks passed." in text
    assert "5 more: --verbose shows them." in text


def test_a_report_of_an_older_file_has_two_scores():
    report = minimal_report() | {"holdout": class_holdout(500)}
    for key in ("naive", "metrics"):
        del report["holdout"][key]
    for key in ("model", "linear"):
        del report["holdout"][key]["metrics"]
    text = printed(report)
    assert "naive" not in text
    assert "linear model    0.8512  0.8445 to 0.8579" in text


def test_verbose_readers_learn_how_scores_were_measured():
    report = regression_report() | FILES
    assert "RMSE is in units of price." not in one_line(printed(report))
    text = one_line(printed(report, verbose=True))
    assert "RMSE is in units of price." in text
    assert one_line(report["split"]["sentence"]) in text


def test_markup_in_names_is_shown_as_it_is():
    report = regression_report() | FILES | {"target": "[bold]y[/bold]"}
    report["verdict"] = {"level": "gain", "sentence": "[red]good[/red]", "details": ["[link=x]a[/link]"]}
    text = one_line(printed(report, verbose=True))
    assert text.startswith("[red]good[/red]")
    assert "regression of [bold]y[/bold]." in text
    assert "- [link=x]a[/link]" in text


def test_scores_on_other_data_are_beside_the_verdict():
    other = {"file": "new.csv", **class_holdout(321)}
    text = printed(minimal_report() | {"other_data": other, "report_file": "a.report.html"}, render=render_written)
    assert "On new.csv: 321 rows" in text
    assert "this model      0.8731  0.8664 to 0.8798" in text
    assert text.endswith("Report  a.report.html\n")
