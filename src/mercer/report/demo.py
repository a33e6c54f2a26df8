"""What `mercer demo` shows, gathered: a dict of plain values, the same for the terminal and for JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from mercer.auto import Comparison, Search, Steps, compare_lifts, evaluate
from mercer.auto.lifting import MULTIPLES
from mercer.io import read
from mercer.source import split_holdout

HOLDOUT_SHARE = 0.25


@dataclass(frozen=True)
class Example:
    """A data set that ships with scikit-learn, and what there is to find out about it."""

    title: str
    question: str
    loader: str
    task: str


EXAMPLES = {
    "digits": Example("Handwritten digits", "which digit do 8 x 8 gray values show?", "load_digits", "classify"),
    "breast_cancer": Example(
        "Breast cancer", "is the tumor benign, from 30 measures of cells?", "load_breast_cancer", "classify"
    ),
    "diabetes": Example(
        "Diabetes", "how far has the disease gone a year after 10 measures?", "load_diabetes", "regress"
    ),
}
#: Steps of `compare_lifts` besides the bandwidths, and the two around it.
N_STEPS = 3 + len(MULTIPLES) + 2


def gather_demo(
    name: str, n_components: int = 512, seed: int = 0, tell: Callable[[str, int], None] | None = None
) -> dict[str, Any]:
    """Fit plain and lifted ridge models on one example data set and evaluate both on a holdout.

    `tell` is called as each step starts, with its name and the number of steps in all.
    """
    example = EXAMPLES[name]
    steps = Steps(None if tell is None else lambda step: tell(step, N_STEPS))
    with steps("read"):
        source = _open(example)
    learn, holdout = split_holdout(source, HOLDOUT_SHARE, seed)
    search = compare_lifts(learn, example.task, n_components, random_state=seed, steps=steps)
    with steps("holdout"):
        verdict = evaluate(search.plain.model, search.lifted.model, holdout, example.task, random_state=seed)
    return {
        "data": _describe(name, example, source, verdict.n),
        "settings": {"components": n_components, "seed": seed, "holdout_share": HOLDOUT_SHARE},
        "plan": _plan(n_components),
        "trials": [_trial(trial, search) for trial in search.trials],
        "chosen": "plain" if search.best.plain else "lifted",
        "scores": _scores(verdict),
        "conclusion": conclude(search.best.plain, verdict),
        "seconds": _seconds(steps),
    }


def _open(example):
    from sklearn import datasets

    return read(getattr(datasets, example.loader)())


def _describe(name, example, source, held_out) -> dict[str, Any]:
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


def _plan(n_components) -> list[dict[str, Any]]:
    """Passes over the rows = steps that learn."""
    n = len(MULTIPLES)
    return [
        {"step": "standardize", "passes": 1, "learns": "mean and spread of each column"},
        {"step": "median distance", "passes": 1, "learns": "how far apart rows are, from a sample"},
        {"step": "plain ridge", "passes": 1, "learns": "Gram matrix per fold, so every penalty"},
        {"step": "lifted ridge", "passes": n, "learns": f"the same on {n_components} waves, {n} bandwidths"},
        {"step": "holdout", "passes": 1, "learns": "nothing: both models scored, once"},
    ]


def _trial(trial, search: Search) -> dict[str, Any]:
    return {
        "features": "plain" if trial.plain else "lifted",
        "multiple": trial.multiple,
        "bandwidth": trial.bandwidth,
        "penalty": trial.alpha,
        "fold_error": trial.loss,
        "chosen": trial is search.best,
    }


def _scores(verdict: Comparison) -> dict[str, Any]:
    return {
        "metric": verdict.metric,
        "interval": verdict.interval,
        "plain": asdict(verdict.first),
        "lifted": asdict(verdict.second),
        "gain": asdict(verdict.gain),
    }


def _seconds(steps: Steps) -> dict[str, Any]:
    """Time of each step, all bandwidths together."""
    spent: dict[str, float] = {}
    for name, seconds in steps.log:
        kind = name.split(",")[0]
        spent[kind] = spent.get(kind, 0.0) + seconds
    return {"steps": spent, "total": steps.seconds()}


def conclude(folds_chose_plain: bool, verdict: Comparison) -> str:
    """One honest sentence or two: what the folds chose, and whether the holdout bears it out."""
    kept = "the plain columns" if folds_chose_plain else "the random features"
    if not verdict.clear:
        return (
            f"The folds chose {kept}. On the holdout the two differ by less than {verdict.n} rows can tell, "
            "so the simpler model is a fair choice."
        )
    truth = "lifting helps" if verdict.gain.low > 0 else "lifting hurts"
    agree = (verdict.gain.low > 0) != folds_chose_plain
    return f"The folds chose {kept}, and the holdout {'agrees' if agree else 'disagrees'}: {truth} here."
