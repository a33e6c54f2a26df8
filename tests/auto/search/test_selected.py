"""Columns once more where rows are few: how much of the trials stays in memory."""

import weakref

import numpy as np

from mercer.auto import fit
from mercer.auto.search.evaluation import Evaluator


def test_only_the_best_of_the_trials_keeps_its_equations(monkeypatch):
    """Each has a matrix of all rows for every fold: eight of them took gigabytes."""
    made, alive = [], []
    trial = Evaluator.trial

    def counted(self, state, stage, *given, **options):
        if stage == "selected":
            alive.append(sum(each() is not None for each in made))
        found = trial(self, state, stage, *given, **options)
        if stage == "selected":
            made.append(weakref.ref(found.equations))
        return found

    monkeypatch.setattr(Evaluator, "trial", counted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 300))
    y = X[:, :20] @ np.linspace(2.0, 0.5, 20) + 0.1 * rng.normal(size=240)
    fit(X, y, report=False)
    assert len(alive) > 3
    assert max(alive) == 1
