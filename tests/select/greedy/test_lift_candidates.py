"""Columns of lifts as candidates: as if they had been written out, and never all of them at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import SplineTransformer

from mercer.expand import PolynomialLift, RandomFeatures
from mercer.io import load, save
from mercer.kernels import Gaussian
from mercer.learn import PiecewiseLinear
from mercer.select import GreedySelector
from mercer.select.greedy import lift_candidates
from mercer.select.greedy.product_candidates import ProductCandidates

CUBIC = PolynomialLift(3, include_bias=False)


def problem(n=150, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, 5)) + 0.3).astype(dtype)
    y = X[:, 0] + X[:, 1] * X[:, 3] ** 2 - X[:, 2] ** 2 + 0.1 * rng.normal(size=n)
    return X, y


@pytest.fixture(params=["written out", "lifted again"])
def how(request, monkeypatch):
    if request.param == "lifted again":
        monkeypatch.setattr(lift_candidates, "MAX_STORED_ENTRIES", 0)
        monkeypatch.setattr(lift_candidates, "CHUNK_ENTRIES", 1000)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize(
    "lift", [CUBIC, PiecewiseLinear(4), SplineTransformer(4, degree=2), RandomFeatures(Gaussian(2.0), n_components=32)]
)
@pytest.mark.parametrize(
    "how_to",
    [
        {},
        {"step": "line"},
        {"stop": "folds"},
        {"loss": "logistic", "step": "gradient"},
        {"refit": False, "step": "line"},
    ],
    ids=str,
)
def test_the_path_is_that_of_columns_written_out(lift, how_to):
    X, y = problem()
    y = y > 0 if "loss" in how_to else y
    lazy = GreedySelector(k=4, candidates=lift, **how_to).fit(X, y)
    whole = lift.fit(X).transform(X)
    plain = GreedySelector(k=4, solver="auto" if "loss" in how_to else "rows", **how_to).fit(whole, y)
    assert lazy.path_.feature.tolist() == plain.path_.feature.tolist()
    np.testing.assert_allclose(lazy.path_.risk, plain.path_.risk, rtol=1e-8)
    if "stop" not in how_to:  # folds go by the rows as read, which differ
        assert lazy.terms_.tolist() == plain.get_support(indices=True).tolist()
        np.testing.assert_allclose(lazy.transform(X), plain.transform(whole))
        use = "decision_function" if "loss" in how_to else "predict"
        np.testing.assert_allclose(getattr(lazy, use)(X), getattr(plain, use)(whole), rtol=1e-6, atol=1e-7)
        names = lift.get_feature_names_out()[plain.support_]
        assert lazy.get_feature_names_out().tolist() == names.tolist()


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("step", ["refit", "line"])
def test_line_and_refit_rules_process_lifted_columns_in_chunks(step):
    X, y = problem(60)
    lift = PolynomialLift(2, include_bias=False)
    lazy = GreedySelector(k=2, loss="logistic", step=step, candidates=lift).fit(X, y > 0)
    plain = GreedySelector(k=2, loss="logistic", step=step).fit(lift.fit_transform(X), y > 0)
    assert lazy.path_.feature.tolist() == plain.path_.feature.tolist()
    np.testing.assert_allclose(lazy.path_.risk, plain.path_.risk, rtol=1e-8)


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_columns_that_a_feature_depends_on(make):
    X, y = problem(400)
    model = GreedySelector(k=3, candidates=CUBIC).fit(make(np.where(np.abs(X) > 0.2, X, 0.0)), y)
    assert model.get_feature_names_out().tolist() == ["x0", "x2^2", "x1 x3^2"]
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert model.ranking_[4] == 4
    assert model.ranking_[1] == model.ranking_[3]
    bins = GreedySelector(k=3, candidates=PiecewiseLinear(4)).fit(X, np.abs(X[:, 2]))
    assert bins.get_support(indices=True).tolist() == [2]


def test_more_columns_than_rows_and_never_all_at_once(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 40)).astype(np.float32)
    y = X[:, 3] * X[:, 11] * X[:, 29] + 0.1 * rng.normal(size=300)
    largest = []
    transform = PolynomialLift.transform

    def watched(self, rows):
        out = transform(self, rows)
        largest.append(out.shape[0])
        return out

    monkeypatch.setattr(lift_candidates, "MAX_STORED_ENTRIES", 2**20)
    monkeypatch.setattr(PolynomialLift, "transform", watched)
    model = GreedySelector(k=1, candidates=CUBIC).fit(X, y)
    assert model.get_feature_names_out().tolist() == ["x3 x11 x29"]
    assert max(largest) < 150  # of 300 rows of 12,340 columns
    assert model.transform(X).dtype == np.float32


def test_squares_and_products():
    X, y = make_friedman1(3000, 10, noise=1.0, random_state=0)
    model = GreedySelector(k=7, candidates="quadratic").fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]
    assert [2, 2] in model.terms_.tolist()
    assert "x2^2" in model.get_feature_names_out().tolist()
    full = PolynomialLift(2, include_bias=False)
    plain = GreedySelector(k=7).fit(full.fit_transform(X), y)
    np.testing.assert_allclose(model.path_.risk, plain.path_.risk, rtol=1e-8)
    X = X[:50, :4]
    seen = {}
    pairs = ProductCandidates(X, squares=True)
    for indices, columns in pairs.chunks():
        seen |= {int(j): column for j, column in zip(indices, columns.T, strict=True)}
    assert len(seen) == 4 + 10
    v = np.random.default_rng(2).normal(size=50)
    for j, column in seen.items():
        np.testing.assert_allclose(pairs.column(j), column)
        assert pairs.products(v)[j] == pytest.approx(column @ v, abs=1e-9)


def test_classes_forced_features_and_files(tmp_path):
    X, y = problem()
    labels = np.digitize(y, [-1.0, 1.0])
    model = GreedySelector(k=3, target="classes", candidates=CUBIC, include=["x4^2"]).fit(X, labels)
    assert model.coef_.shape == (3, 4)
    assert "x4^2" in model.get_feature_names_out().tolist()
    assert model.ranking_[4] == 0
    save(model, tmp_path / "greedy.mercer")
    loaded = load(tmp_path / "greedy.mercer")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"candidates": "cubes"}, "must be None, 'pairs', 'quadratic' or a lift"),
        ({"candidates": PolynomialLift}, "must be None, 'pairs', 'quadratic' or a lift"),
        ({"candidates": "quadratic", "interactions": 2}, "leave interactions at 1"),
        ({"candidates": CUBIC, "groups": [0] * 5}, "cannot be combined"),
        ({"candidates": CUBIC, "solver": "gram"}, "solver='auto'"),
    ],
)
def test_contradictory_parameters_are_refused(wrong, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        GreedySelector(**wrong).fit(X, y)


def test_a_new_fit_drops_the_lift():
    X, y = problem()
    model = GreedySelector(k=2, candidates=CUBIC).fit(X, y)
    model.set_params(candidates="pairs").fit(X, y)
    assert not hasattr(model, "lift_")
    assert model.transform(X).shape == (150, 2)
