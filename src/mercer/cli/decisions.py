"""Options of `mercer fit` for decisions: the metric, the loss, weights and costs of classes, groups, time, signs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import click

_METRICS = ("r2", "rmse", "mae", "pinball", "accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "f1")
_LOSSES = ("squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie")
_DECISIONS = (
    click.option(
        "--loss",
        type=click.Choice(_LOSSES),
        default="squared",
        show_default=True,
        help="What the model minimizes; any but squared means regression.",
    ),
    click.option(
        "--quantiles",
        metavar="LEVELS",
        help="Quantiles of --loss quantile, such as 0.1,0.5,0.9 (which is the default).",
    ),
    click.option(
        "--monotone",
        multiple=True,
        metavar="COLUMN=+1|-1",
        help="The prediction never falls (+1) or never rises (-1) as the column grows.",
    ),
    click.option("--metric", type=click.Choice(_METRICS), help="What matters: it leads the report and decisions."),
    click.option(
        "--class-weight",
        multiple=True,
        metavar="balanced|CLASS=WEIGHT",
        help="Weights of classes; probabilities stay those of the data.",
    ),
    click.option(
        "--costs",
        "--cost",
        "costs",
        multiple=True,
        metavar="KIND=COST",
        help="Costs of decisions between two classes: false_positive=1 and false_negative=5.",
    ),
    click.option("--groups", metavar="COLUMN", help="Column of groups, which stay together in every split."),
    click.option("--time", metavar="COLUMN", help="Column of times: hold out the last rows, and learn from the past."),
    click.option("--gap", metavar="ROWS|DURATION", help="Distance of training and test rows in time, such as 7d."),
)
_KINDS = ("false_positive", "false_negative")


def decision_options(command: Callable) -> Callable:
    """Add the options for metric, weights and costs of classes, groups and time."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_DECISIONS), command)


def decisions(options: dict[str, Any]) -> dict[str, Any]:
    """Return the values of `decision_options` as arguments of `mercer.fit`."""
    gap = options.get("gap")
    return {
        "loss": options.get("loss") or "squared",
        "quantiles": _quantiles(options.get("quantiles")),
        "monotone": _monotone(options.get("monotone", ())),
        "metric": options.get("metric"),
        "class_weight": _class_weight(options.get("class_weight", ())),
        "costs": _costs(options.get("costs", ())),
        "groups": options.get("groups"),
        "time": options.get("time"),
        "gap": int(gap) if gap is not None and gap.isdecimal() else gap,
    }


def _quantiles(given: str | None) -> list[float] | None:
    if given is None:
        return None
    try:
        return [float(each) for each in given.split(",")]
    except ValueError:
        raise click.UsageError(f"--quantiles takes numbers such as 0.1,0.5,0.9, not {given!r}.") from None


def _monotone(given: Iterable[str]) -> dict[str, int] | None:
    signs = _numbers(given, "--monotone", "COLUMN=+1 or COLUMN=-1", "age=+1")
    for name, sign in (signs or {}).items():
        if sign not in (1, -1):
            raise click.UsageError(f"--monotone {name}={sign:g}: the sign is +1 or -1.")
    return None if signs is None else {name: int(sign) for name, sign in signs.items()}


def _class_weight(given: Iterable[str]) -> Any:
    given = tuple(given)
    if "balanced" in given:
        if len(given) > 1:
            raise click.UsageError("--class-weight takes balanced or CLASS=WEIGHT, not both.")
        return "balanced"
    return _numbers(given, "--class-weight", "CLASS=WEIGHT", "yes=3")


def _costs(given: Iterable[str]) -> dict[str, float] | None:
    costs = _numbers(given, "--costs", "KIND=COST", "false_negative=5")
    wrong = [name for name in costs or () if name not in _KINDS]
    if wrong:
        raise click.UsageError(f"--costs {wrong[0]}: {wrong[0]!r} is not one of {', '.join(_KINDS)}.")
    return None if costs is None else dict.fromkeys(_KINDS, 1.0) | costs


def _numbers(given: Iterable[str], option: str, form: str, example: str) -> dict[str, float] | None:
    """The values of an option such as --cost KIND=COST as numbers; None if there are none."""
    found = {}
    for pair in given:
        name, _, value = pair.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise click.UsageError(f"{option} takes {form}, for example {example}, not {pair!r}.")
    return found or None
