"""Scores as single columns change: block by block they move as the whole model does."""

import numpy as np
import pytest

from mercer.auto.budget.effort import EFFORTS, sized
from mercer.auto.explain import contributions as explain
from mercer.auto.explain.contributions import contributions, contributions_of_many, importances, importances_of_many
from mercer.auto.explain.perturb import Moves
from mercer.auto.features.blocks import Dictionary, Pieces, Plain, Products, TreeScoreBlock, Waves
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.training import Rows
from mercer.auto.search.columns import ChosenColumns
from mercer.auto.search.trees import grow_score

GROUPS = {f"x{j}": np.array([j]) for j in range(9)} | {"level": np.arange(9, 12)}


def _rows(categories=()):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 12))
    X[:, 9:] = np.eye(3)[rng.integers(3, size=80)]
    labels = (X[:, 0] + X[:, 1] * X[:, 2] + X[:, 9] > 0).astype(int) + (X[:, 3] > 1)
    ids = rng.integers(0, 2**60, 80).astype(np.uint64)
    return Rows(X, np.eye(3)[labels], ids, categories=categories), labels


@pytest.fixture(params=["numbers", "numbers and a category", "a quantity"])
def predictor(request):
    rows, labels = _rows((slice(9, 12),) if request.param == "numbers and a category" else ())
    rng = np.random.default_rng(4)
    labels = None if request.param == "a quantity" else labels
    score = TreeScoreBlock(grow_score(rows, labels, sized(EFFORTS["fast"], 80, 3), 0).transformer)
    blocks = [
        score,
        Plain(12),
        ChosenColumns(np.array([7, 0, 10])),
        Pieces.learned(rows.X, 3),
        Products.learned(rows.X, [(0, 1), (4, 4), (2, 9)]),
        Waves(rng.normal(size=(6, 12))),
    ]
    dictionary = Dictionary(blocks)
    coef = rng.normal(size=(dictionary.width, 3))
    return rows.X, Predictor(dictionary, coef, np.arange(3.0), None, np.ones(5))


def test_scores_move_as_those_of_the_changed_rows(predictor):
    X, model = predictor
    some, other = X[:20], X[20:40]
    moves, before = Moves(model.dictionary, model.coef, some), model.scores(some)
    for columns in (*GROUPS.values(), np.array([0, 5, 9]), np.arange(12)):
        changed = some.copy()
        changed[:, columns] = other[:, columns]
        # Waves and columns are computed in float32.
        assert moves.moved(columns, other[:, columns]) == pytest.approx(model.scores(changed) - before, abs=2e-5)


def test_importances_and_contributions_are_the_same_either_way(predictor):
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
def test_columns_may_be_shuffled_one_by_one_or_many_at_once(predictor, monkeypatch, entries):
    X, model = predictor
    at_once = importances(model.scores, X[:30], GROUPS)
    monkeypatch.setattr(explain, "_ENTRIES", entries)
    assert importances(model.scores, X[:30], GROUPS) == at_once
