"""The report of `mercer demo` as a dict of plain values, the same for the terminal and for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from mercer.auto import Comparison, LiftSearch, LiftTrial, Steps, compare_lifts, evaluate
from mercer.auto.lifting import MULTIPLES
from mercer.io import read
from mercer.source import split_holdout

HOLDOUT = 0.25


@dataclass(frozen=True)
class DemoData:
    """A data set that ships with scikit-learn, and the question it poses."""

    title: str
    question: str
    loader: str
    task: str


EXAMPLES = {
    "digits": DemoData("Handwritten digits", "which digit do 8 x 8 gray values show?", "load_digits", "classification"),
    "breast_cancer": DemoData(
        "Breast cancer", "is the tumor benign, from 30 measures of cells?", "load_breast_cancer", "classification"
    ),
    "diabetes": DemoData(
        "Diabetes", "how far has the disease gone a year after 10 measures?", "load_diabetes", "regression"
    ),
}
#: The bandwidths, the three other steps of `compare_lifts`, and the two around it.
N_STEPS = 3 + len(MULTIPLES) + 2


def gather_demo(
    name: str, n_components: int = 512, seed: int = 0, progress: Callable[[str, int], None] | None = None
) -> dict[str, Any]:
    """Fit ridge models on plain columns and on random features, and evaluate both on a holdout.

    `progress` is called as each step starts, with its name and the total number of steps.
    """
    example = EXAMPLES[name]
    steps = Steps(None if progress is None else lambda step: progress(step, N_STEPS))
    with steps("read"):
        source = _open(example)
    train, holdout = split_holdout(source, HOLDOUT, seed)
    search = compare_lifts(train, example.task, n_components, random_state=seed, steps=steps)
    with steps("holdout"):
        result = evaluate(search.plain.model, search.lifted.model, holdout, example.task, random_state=seed)
    return {
        "data": _describe(name, example, source, result.n),
        "settings": {"components": n_components, "seed": seed, "holdout": HOLDOUT},
        "plan": _plan(n_components),
        "trials": [_trial(trial, search) for trial in search.trials],
        "chosen": "plain" if search.best.plain else "lifted",
        "scores": _scores(result),
        "conclusion": conclude(search.best.plain, result),
        "seconds": _seconds(steps),
    }


def _open(example: DemoData) -> Any:
    from sklearn import datasets

    return read(getattr(datasets, example.loader)())


def _describe(name: str, example: DemoData, source: Any, held_out: int) -> dict[str, Any]:
    return {
        "name": name,
        "title": example.title,
        "question": example.question,
        "task": example.task,
        "rows": source.n_rows,
        "columns": len(source.names),
        "training_rows": source.n_rows - held_out,
        "holdout_rows": held_out,
    }


def _plan(n_components: int) -> list[dict[str, Any]]:
    """The passes over the rows: one per step that learns."""
    n = len(MULTIPLES)
    return [
        {"step": "standardize", "passes": 1, "learns": "mean and variance of each column"},
        {"step": "median distance", "passes": 1, "learns": "median distance between sampled rows"},
        {"step": "plain ridge", "passes": 1, "learns": "Gram matrix per fold, hence all penalties"},
        {"step": "lifted ridge", "passes": n, "learns": f"the same on {n_components} features, {n} bandwidths"},
        {"step": "holdout", "passes": 1, "learns": "nothing: evaluates both models, once"},
    ]


def _trial(trial: LiftTrial, search: LiftSearch) -> dict[str, Any]:
    return {
        "features": "plain" if trial.plain else "lifted",
        "multiple": trial.multiple,
        "bandwidth": trial.bandwidth,
        "penalty": trial.alpha,
        "cv_error": trial.loss,
        "chosen": trial is search.best,
    }


def _scores(result: Comparison) -> dict[str, Any]:
    return {
        "metric": result.metric,
        "interval": result.interval,
        "plain": asdict(result.first),
        "lifted": asdict(result.second),
        "gain": asdict(result.gain),
    }


def _seconds(steps: Steps) -> dict[str, Any]:
    """Seconds per step, all bandwidths together."""
    spent: dict[str, float] = {}
    for name, seconds in steps.log:
        kind = name.split(",")[0]
        spent[kind] = spent.get(kind, 0.0) + seconds
    return {"steps": spent, "total": steps.seconds()}


def conclude(selected_plain: bool, result: Comparison) -> str:
    """State what cross-validation selected, and whether the holdout confirms it."""
    selected = "the plain columns" if selected_plain else "the random features"
    if not result.clear:
        return (
            f"Cross-validation selected {selected}. On the {result.n} rows of the holdout the difference is not "
            "significant, so the simpler model is a fair choice."
        )
    effect = "improve" if result.gain.low > 0 else "worsen"
    agrees = (result.gain.low > 0) != selected_plain
    verb = "agrees" if agrees else "disagrees"
    return f"Cross-validation selected {selected}, and the holdout {verb}: random features {effect} the score here."
