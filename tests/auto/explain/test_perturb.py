"""Score changes as columns take other values: those of the blocks add up to those of the model."""

import numpy as np
import pytest

from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.explain import contributions as explain
from mercer.auto.explain.contributions import contributions, contributions_of_many, importances, importances_of_many
from mercer.auto.explain.perturb import Perturbations
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.trees import grow_score

GROUPS = {f"x{j}": np.array([j]) for j in range(9)} | {"city": np.arange(9, 12)}


def _rows(categories=()):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 12))
    X[:, 9:] = np.eye(3)[rng.integers(3, size=80)]
    labels = (X[:, 0] + X[:, 1] * X[:, 2] + X[:, 9] > 0).astype(int) + (X[:, 3] > 1)
    ids = rng.integers(0, 2**60, 80).astype(np.uint64)
    return TrainingRows(X, np.eye(3)[labels], ids, categories=categories), labels


@pytest.fixture(params=["numbers", "numbers and a category", "regression"])
def predictor(request):
    rows, labels = _rows((slice(9, 12),) if request.param == "numbers and a category" else ())
    rng = np.random.default_rng(4)
    labels = None if request.param == "regression" else labels
    trees = TreeScoreBlock(grow_score(rows, labels, sized(EFFORTS["fast"], 80, 3), 0).transformer)
    blocks = [
        trees,
        LinearBlock(12),
        SelectedBlock(np.array([7, 0, 10]), 12),
        PiecewiseBlock.fitted(rows.X, 3),
        ProductBlock.fitted(rows.X, [(0, 1), (4, 4), (2, 9)]),
        FourierBlock(rng.normal(size=(6, 12))),
    ]
    features = Features(blocks)
    coef = rng.normal(size=(features.width, 3))
    return rows.X, Predictor(features, coef, np.arange(3.0), None, np.ones(5))


def test_score_changes_are_those_of_changed_rows(predictor):
    X, model = predictor
    some, other = X[:20], X[20:40]
    changes, before = Perturbations(model.features, model.coef, some), model.scores(some)
    for columns in (*GROUPS.values(), np.array([0, 5, 9]), np.arange(12)):
        changed = some.copy()
        changed[:, columns] = other[:, columns]
        # Random features and columns are computed in float32.
        assert changes.changed(columns, other[:, columns]) == pytest.approx(model.scores(changed) - before, abs=2e-5)


def test_importances_and_contributions_agree_with_those_of_few_columns(predictor):
    X, model = predictor
    few, many = importances(model.scores, X[:30], GROUPS), importances_of_many(model, X[:30], GROUPS)
    assert few.keys() == many.keys()
    assert [many[name] for name in few] == pytest.approx(list(few.values()), abs=1e-5)
    base, parts = contributions(model.scores, X[3], X.mean(axis=0), GROUPS)
    start, found = contributions_of_many(model, X[3], X.mean(axis=0), GROUPS)
    assert start == pytest.approx(base)
    assert found == pytest.approx(parts, abs=2e-5)
    assert found.sum(axis=0) == pytest.approx(model.scores(X[3:4])[0] - base, abs=1e-4)


@pytest.mark.parametrize("entries", [1, 700])
def test_importances_do_not_depend_on_the_batch_size(predictor, monkeypatch, entries):
    X, model = predictor
    at_once = importances(model.scores, X[:30], GROUPS)
    monkeypatch.setattr(explain, "_BATCH_ENTRIES", entries)
    assert importances(model.scores, X[:30], GROUPS) == at_once
