"""The verdict of a report: what to expect on new rows, beside the linear model and the naive guess, in words."""

from __future__ import annotations

from typing import Any

from mercer.auto.diagnostics.schema import Holdout, Verdict

#: Details of a verdict, blocks and columns that they name, and terms of a text.
_MAX_DETAILS, _MAX_NAMED, _MAX_TERMS = 5, 3, 4
#: Metrics that a verdict describes in words of their own.
_DESCRIBED = ("accuracy", "R2")
_NAMES = {
    "rmse": "root mean squared error", "mae": "mean absolute error", "pinball": "pinball loss", "auc": "AUC",
    "log_loss": "log-loss", "brier": "Brier score", "f1": "F1", "cost": "mean cost",
}  # fmt: skip
#: Fraction of the gain below which a block is not worth a mention.
_MIN_FRACTION = 0.02
#: Fraction of the gain above which other blocks are not worth a mention.
_NEARLY_ALL = 0.99


def verdict(report: dict[str, Any]) -> Verdict:
    """The verdict of a report that has its other sections."""
    holdout: Holdout | None = report.get("holdout")
    if holdout is None:
        return {
            "level": "unknown",
            "sentence": "No rows were held out: the score on new rows is unknown.",
            "details": _details(report),
        }
    if "gains" not in holdout:
        return {"level": "unknown", "sentence": _former_sentence(holdout), "details": _details(report)}
    level = _level(holdout, report["task"], len(report["blocks"]) > 1)
    describe = _class_sentence if report["task"] == "classification" else _regression_sentence
    describe = describe if holdout["metric"] in _DESCRIBED else _metric_sentence
    return {"level": level, "sentence": describe(report, holdout, level), "details": _details(report)}


def _former_sentence(holdout: Any) -> str:
    """The sentence of a report that has no metrics beside the main one, as files of format 1 have it."""
    model, linear = holdout["model"], holdout["linear"]
    return (
        f"On {_rows(holdout['n'])} it has not seen, the model has {holdout['metric']} {model['value']:.3f} (95 % "
        f"interval {model['low']:.3f} to {model['high']:.3f}); {holdout.get('baseline', 'the linear model')} has "
        f"{linear['value']:.3f}."
    )


def _level(holdout: Holdout, task: str, several: bool) -> Any:
    """Which of the other models the model is clearly better than, by the metric or by the proper loss behind it.

    A model of the columns alone, not `several` blocks, is a linear one, whatever its penalty gains.
    """
    names: tuple[str, ...] = ("accuracy", "log_loss") if task == "classification" else ("r2",)
    if holdout["metric"] not in _DESCRIBED:
        names = (holdout["metric"],)

    def beats(other: str) -> bool:
        gains = [holdout["gains"][other][name] for name in names if name in holdout["gains"][other]]
        better = any(_positive(gain["low"]) for gain in gains)
        return better and not any(gain["high"] is not None and gain["high"] < 0 for gain in gains)

    if not beats("naive"):
        return "no-skill"
    return "gain" if several and beats("linear") else "linear"


def _positive(low: float | None) -> bool:
    return low is not None and low > 0


def _metric_sentence(report: dict[str, Any], holdout: Holdout, level: str) -> str:
    """The sentence of a metric that was asked for."""
    model, linear, naive = (holdout[key] for key in ("model", "linear", "naive"))
    name = _NAMES.get(holdout["metric"], holdout["metric"].replace("_", " "))
    others = f"the linear model has {short(linear['value'])}, {naive['name']} {short(naive['value'])}"
    if linear["name"] == naive["name"]:
        others = f"{naive['name']} has {short(naive['value'])}"
    ends = "" if model["low"] is None else f" (95 % interval {short(model['low'])} to {short(model['high'] or 0.0)})"
    return (
        f"On {_rows(holdout['n'])} it has not seen, the {name} of the model for {_target(report)} is "
        f"{short(model['value'])}{ends}; {others}.{_remark(report, level)}"
    )


def _class_sentence(report: dict[str, Any], holdout: Holdout, level: str) -> str:
    target = _target(report)
    model, linear, naive = (holdout[key] for key in ("model", "linear", "naive"))
    score = (
        f"On {_rows(holdout['n'])} it has not seen, the model predicts {target} right for {_percent(model['value'])} "
        f"({_interval_percent(model)})"
    )
    others = f"the linear model reaches {_percent(linear['value'])}, {naive['name']} {_percent(naive['value'])}"
    if linear["name"] == naive["name"]:
        others = f"{naive['name']} is right for {_percent(naive['value'])}"
    return f"{score}; {others}.{_probabilities(holdout, level)}{_remark(report, level)}"


def _probabilities(holdout: Holdout, level: str) -> str:
    """What the gain is where it is one of the probabilities and not of the accuracy."""
    if level != "gain" or _positive(holdout["gain"]["low"]):
        return ""
    ours, theirs = (holdout[key]["metrics"]["log_loss"]["value"] for key in ("model", "linear"))
    return (
        f" Its probabilities are clearly better than those of the linear model (log-loss {ours:.3f}, not {theirs:.3f})."
    )


def _regression_sentence(report: dict[str, Any], holdout: Holdout, level: str) -> str:
    target = _target(report)
    model, linear, naive = (holdout[key] for key in ("model", "linear", "naive"))
    off, linear_off, naive_off = (each["metrics"]["mae"]["value"] for each in (model, linear, naive))
    score = (
        f"On {_rows(holdout['n'])} it has not seen, the model explains {_percent(model['value'])} of the variance of "
        f"{target} ({_interval_percent(model)}) and is off by {short(off)} on average"
    )
    others = (
        f"the linear model explains {_percent(linear['value'])} (off by {short(linear_off)}), {naive['name']} is off "
        f"by {short(naive_off)}"
    )
    if linear["name"] == naive["name"]:
        others = f"{naive['name']} is off by {short(naive_off)}"
    return f"{score}; {others}.{_remark(report, level)}"


def _remark(report: dict[str, Any], level: str) -> str:
    if level == "no-skill":
        return " That is not clearly better than guessing: no skill was found."
    if level == "linear" and len(report["blocks"]) > 1:
        return " That is not clearly better than the linear model."
    if level == "linear":
        return " The search kept a linear model of the columns, with a penalty of its own."
    return ""


def _details(report: dict[str, Any]) -> list[str]:
    """At most five sentences on what carried the score."""
    what_matters = [report.get("decision", {}).get("sentence", ""), _columns(report), _terms(report)]
    found = [_blocks(report), _gain(report), *what_matters, _more_rows(report), _attention(report)]
    return [sentence for sentence in found if sentence][:_MAX_DETAILS]


def _blocks(report: dict[str, Any]) -> str:
    blocks = [block for block in report["blocks"] if block.get("gain_fraction") is not None]
    if len(blocks) < 2:
        titles = [block["title"] for block in report["blocks"][:_MAX_NAMED]]
        return f"The model is linear in {_listed(titles)}." if titles else ""
    ranked = sorted(blocks, key=lambda block: -block["gain_fraction"])
    if ranked[0]["gain_fraction"] > _NEARLY_ALL:
        return f"Nearly all of the gain over guessing is carried by {ranked[0]['title']}."
    shown = [block for block in ranked if block["gain_fraction"] >= _MIN_FRACTION][:_MAX_NAMED] or ranked[:1]
    parts = [f"{_percent(block['gain_fraction'], 0)} by {block['title']}" for block in shown]
    cost = [block for block in ranked if block["gain_fraction"] <= -_MIN_FRACTION]
    less = [f"{block['title']} took {_percent(-block['gain_fraction'], 0)} away" for block in cost]
    return f"The gain over guessing is carried {_listed(parts)}{f'; {_listed(less)}' if less else ''}."


def _gain(report: dict[str, Any]) -> str:
    holdout = report.get("holdout")
    if holdout is None or "gains" not in holdout or len(report["blocks"]) < 2:
        return ""
    if holdout["linear"]["name"] == holdout["naive"]["name"]:
        return ""
    gain, what = holdout["gain"], "accuracy" if report["task"] == "classification" else "explained variance"
    if holdout["metric"] not in _DESCRIBED:
        return ""
    clear = gain["low"] > 0 or gain["high"] < 0
    return (
        f"Gain over the linear model: {100 * gain['value']:+.1f} points of {what} ({100 * gain['low']:+.1f} to "
        f"{100 * gain['high']:+.1f}{'' if clear else ', not a clear difference'})."
    )


def _columns(report: dict[str, Any]) -> str:
    ranked = [name for name, fraction in report.get("importance", {}).items() if fraction > 0][:_MAX_NAMED]
    if len(ranked) < 2:
        return ""
    others = len(report["importance"]) - len(ranked)
    return f"Columns that matter most: {_listed([repr(name) for name in ranked])} (of {others + len(ranked):,})."


def _terms(report: dict[str, Any]) -> str:
    """The heaviest terms of the texts, for the first few outputs."""
    lists = [each for each in report.get("terms", []) if each["positive"]][:_MAX_NAMED]
    if not lists:
        return ""
    parts = []
    for each in lists:
        terms = ", ".join(repr(term["term"]) for term in each["positive"][:_MAX_TERMS])
        parts.append(terms if each["output"] is None else f"{terms} for {each['output']!r}")
    return f"Heaviest terms of {lists[0]['column']!r}: {'; '.join(parts)}."


def _more_rows(report: dict[str, Any]) -> str:
    return report.get("learning_curve", {}).get("sentence", "")


def _attention(report: dict[str, Any]) -> str:
    serious = [check for check in report.get("checks", []) if check["severity"] in ("error", "warning")]
    if not serious:
        return ""
    first = sorted(serious, key=lambda check: check["severity"] != "error")[0]
    more = f" ({len(serious) - 1} more below)" if len(serious) > 1 else ""
    return f"Attention: {first['title']}{more}."


def _target(report: dict[str, Any]) -> str:
    return repr(report["target"]) if report.get("target") else "the target"


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def _interval_percent(estimate: Any) -> str:
    return f"95 % interval {100 * estimate['low']:.1f} to {100 * estimate['high']:.1f} %"


def _listed(parts: list[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def short(value: float) -> str:
    """A number with three significant digits, without an exponent where that stays short.

    >>> short(43.912), short(0.0123456), short(1234567.0), short(3.1e-9)
    ('43.9', '0.0123', '1,235,000', '3.1e-09')
    """
    if value == 0:
        return "0"
    if 1000 <= abs(value) < 1e9:
        digits = len(str(int(abs(value)))) - 4
        return f"{round(value, -digits):,.0f}"
    return f"{value:.3g}"
