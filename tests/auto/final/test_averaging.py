"""The mean of models with random features of several seeds: one linear model, equal to the mean of its members."""

import numpy as np
import pytest

import mercer
from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.averaging import averaged, members, redrawn
from mercer.auto.final.predictor import Predictor
from mercer.auto.fitting import effort_of
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.search.kernels import KernelCandidate
from mercer.auto.search.learning import learn
from mercer.auto.search.state import Candidate, SearchResult, TreeSearch
from mercer.kernels import Gaussian


def sine(n=400, classify=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    y = np.sin(2 * X[:, 0] + X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classify else y


def result_with(n_seeds=3, effort=None, clock=None, seconds=0.0):
    kernel = KernelCandidate(Gaussian(1.0), np.eye(2))
    features = Features([LinearBlock(2), kernel.features(10, 0)])
    tried = (Candidate("fourier", "", 1.0, 2.0, 10),)
    found = SearchResult(features, np.array([1.0, 6.0]), None, TreeSearch(), tried, kernel=kernel)
    effort = EFFORTS["fast"] if effort is None else effort
    return redrawn(found, effort_of("fast", effort.max_features, n_seeds), 0, clock or Clock(), seconds)


def test_members_differ_in_random_features_only():
    found = result_with()
    assert [block.kind for block in found.features.blocks] == ["linear", "fourier", "fourier", "fourier"]
    assert found.penalties.tolist() == [1.0, 18.0, 18.0, 18.0]
    parts = members(found)
    assert [columns.tolist() for _, columns in parts] == [[0, 1, *range(2 + 10 * k, 12 + 10 * k)] for k in range(3)]
    for part, _ in parts:
        assert part.penalties.tolist() == [1.0, 6.0]
    drawn = [part.features.blocks[1].frequencies for part, _ in parts]
    assert not np.any(drawn[0] == drawn[1])
    assert not np.any(drawn[1] == drawn[2])


def test_scores_are_the_mean_of_the_members():
    found, rng = result_with(), np.random.default_rng(0)
    made = []

    def fit_one(part):
        coef = rng.normal(size=(part.features.width, 2))
        made.append(Predictor(part.features, coef, rng.normal(size=2), None, part.penalties, result=part))
        return made[-1]

    mean, X = averaged(found, fit_one), rng.normal(size=(20, 2))
    np.testing.assert_allclose(mean.scores(X), np.mean([each.scores(X) for each in made], axis=0), rtol=1e-10)
    names = mean.features.names(["a", "b"])
    assert len(set(names)) == len(names) == mean.features.width
    assert names[2] == "rff_0_cos"
    assert names[12] == "rff_0_cos_2"


def test_the_number_of_members_is_limited_by_features_and_time():
    assert result_with(1).features.width == 12
    limited = effort_of("fast", 35)
    assert result_with(9, effort=limited).features.width == 32
    times = iter([0.0, 7.0])
    assert result_with(9, clock=Clock(14.0, now=times.__next__), seconds=0.5).features.width == 32  # 7 s, 2.5 s each


@pytest.mark.parametrize("classify", [False, True])
def test_a_fitted_mean_is_linear_and_no_worse(classify, tmp_path):
    X, y = sine(classify=classify)
    kind = MercerClassifier if classify else MercerRegressor
    X_new, y_new = sine(2000, classify, seed=1)
    one, three = (kind(effort="fast", n_seeds=n).fit(X, y) for n in (1, 3))
    widths = [
        [block["width"] for block in each.model_.report()["blocks"] if block["kind"] == "fourier"]
        for each in (one, three)
    ]
    assert widths[1] == 3 * widths[0] != []
    assert three.score(X_new, y_new) > one.score(X_new, y_new) - 0.01
    model = three.model_
    Z = model.transform(X_new).astype(float)
    scores = model.predictor.scores(model._encoded(X_new))
    np.testing.assert_allclose(scores, Z @ model.predictor.coef + model.predictor.intercept, rtol=1e-8, atol=1e-9)
    model.save(tmp_path / "model.mercer")
    assert np.array_equal(mercer.load(tmp_path / "model.mercer").predict(X_new), model.predict(X_new))


def test_members_for_regression_are_ridge_models_of_their_features():
    X, y = sine()
    ids = np.arange(len(X), dtype=np.uint64)
    predictor = learn(EncodedRows(X, y, ids), False, effort_of("fast", n_seeds=2), Clock(), 0, Steps())
    found, mean = predictor.result, 0.0
    for part, _ in members(found):
        Z = part.features.features(X, found.scores).astype(float)
        A = np.vstack([Z - Z.mean(axis=0), np.diag(np.sqrt(part.penalties[part.features.block_of_column]))])
        coef = np.linalg.lstsq(A, np.append(y - y.mean(), np.zeros(Z.shape[1])), rcond=None)[0]
        mean = mean + ((Z - Z.mean(axis=0)) @ coef + y.mean()) / 2
    Z = predictor.features.features(X, found.scores).astype(float)
    # Gram matrices of float32 features: the rounding error is small against every penalty and the predictions.
    np.testing.assert_allclose(Z @ predictor.coef[:, 0] + predictor.intercept[0], mean, atol=2e-3 * np.std(y))


def test_a_refit_keeps_all_seeds():
    X, y = sine()
    model = mercer.fit(X, y, effort="fast", n_seeds=2)
    blocks = [block["kind"] for block in model.report()["blocks"]]
    assert blocks.count("fourier") == 2
    assert "refit" in model.report()["seconds"]
    assert model.report()["holdout"]["model"]["value"] > 0.7
    sampled = mercer.fit(X, y, effort="fast", n_seeds=2, holdout=0.0, memory=2e-3)
    assert any("from all rows" in note for note in sampled.report()["notes"])
    assert 1 - np.mean((sampled.predict(X) - y) ** 2) / np.var(y) > 0.7


def test_the_number_of_seeds_must_be_an_integer():
    with pytest.raises(ValueError, match="n_seeds must be a whole number of at least 1, not 0"):
        MercerRegressor(n_seeds=0).fit(*sine(60))
    with pytest.raises(ValueError, match="n_seeds"):
        mercer.fit(*sine(60), n_seeds=1.5)
