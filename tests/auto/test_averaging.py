"""The mean of models with waves of several seeds: one linear model, the same as its members make together."""

import numpy as np
import pytest

import mercer
from mercer.auto import MercerClassifier, MercerRegressor
from mercer.auto.budget.effort import EFFORTS, Clock
from mercer.auto.budget.progress import Steps
from mercer.auto.features.blocks import Dictionary, Plain
from mercer.auto.final.averaging import averaged, members, redrawn
from mercer.auto.final.predictor import Predictor
from mercer.auto.fitting import sizes
from mercer.auto.rows.encoding import Encoded
from mercer.auto.search.evaluation import Candidate
from mercer.auto.search.kernels import Lens
from mercer.auto.search.learning import learn
from mercer.auto.search.search import Found
from mercer.kernels import Gaussian


def waves(n=400, classify=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    y = np.sin(2 * X[:, 0] + X[:, 1]) + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if classify else y


def found_with(n_seeds=3, effort=None, clock=None, seconds=0.0):
    lens = Lens(Gaussian(1.0), np.eye(2))
    dictionary = Dictionary([Plain(2), lens.waves(10, 0)])
    found = Found(dictionary, np.array([1.0, 6.0]), None, None, [Candidate("waves", "", 1.0, 2.0, 10)], lens=lens)
    effort = EFFORTS["fast"] if effort is None else effort
    return redrawn(found, sizes("fast", effort.most_features, n_seeds), 0, clock or Clock(), seconds)


def test_members_share_all_but_the_waves():
    found = found_with()
    assert [block.kind for block in found.dictionary.blocks] == ["linear", "waves", "waves", "waves"]
    assert found.penalties.tolist() == [1.0, 18.0, 18.0, 18.0]
    parts = members(found)
    assert [columns.tolist() for _, columns in parts] == [[0, 1, *range(2 + 10 * k, 12 + 10 * k)] for k in range(3)]
    for part, _ in parts:
        assert part.penalties.tolist() == [1.0, 6.0]
    drawn = [part.dictionary.blocks[1].frequencies for part, _ in parts]
    assert not np.any(drawn[0] == drawn[1])
    assert not np.any(drawn[1] == drawn[2])


def test_scores_are_the_mean_of_the_members():
    found, rng = found_with(), np.random.default_rng(0)
    made = []

    def fit_one(part):
        coef = rng.normal(size=(part.dictionary.width, 2))
        made.append(Predictor(part.dictionary, coef, rng.normal(size=2), None, part.penalties, found=part))
        return made[-1]

    mean, X = averaged(found, fit_one), rng.normal(size=(20, 2))
    np.testing.assert_allclose(mean.scores(X), np.mean([each.scores(X) for each in made], axis=0), rtol=1e-10)
    names = mean.dictionary.names(["a", "b"])
    assert len(set(names)) == len(names) == mean.dictionary.width
    assert names[2] == "cos(wave 0), draw 1"


def test_as_many_as_features_and_time_allow():
    assert found_with(1).dictionary.width == 12
    wide = sizes("fast", 35)
    assert found_with(9, effort=wide).dictionary.width == 32
    times = iter([0.0, 7.0])
    assert found_with(9, clock=Clock(14.0, now=times.__next__), seconds=0.5).dictionary.width == 32  # 7 s, 2.5 s each


@pytest.mark.parametrize("classify", [False, True])
def test_a_fitted_mean_is_linear_and_no_worse(classify, tmp_path):
    X, y = waves(classify=classify)
    kind = MercerClassifier if classify else MercerRegressor
    X_new, y_new = waves(2000, classify, seed=1)
    one, three = (kind(effort="fast", n_seeds=n).fit(X, y) for n in (1, 3))
    widths = [
        [block["width"] for block in each.model_.report()["blocks"] if block["kind"] == "waves"]
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


def test_members_of_a_quantity_are_the_ridge_models_of_their_features():
    X, y = waves()
    ids = np.arange(len(X), dtype=np.uint64)
    predictor = learn(Encoded(X, y, ids), False, sizes("fast", n_seeds=2), Clock(), 0, Steps())
    found, mean = predictor.found, 0.0
    for part, _ in members(found):
        Z = part.dictionary.features(X, found.scores).astype(float)
        A = np.vstack([Z - Z.mean(axis=0), np.diag(np.sqrt(part.penalties[part.dictionary.block_of_column]))])
        coef = np.linalg.lstsq(A, np.append(y - y.mean(), np.zeros(Z.shape[1])), rcond=None)[0]
        mean = mean + ((Z - Z.mean(axis=0)) @ coef + y.mean()) / 2
    Z = predictor.dictionary.features(X, found.scores).astype(float)
    # Gram matrices of float32 features: what rounds is a small part of every penalty, and of the predictions.
    np.testing.assert_allclose(Z @ predictor.coef[:, 0] + predictor.intercept[0], mean, atol=2e-3 * np.std(y))


def test_learning_again_keeps_all_seeds():
    X, y = waves()
    model = mercer.fit(X, y, effort="fast", n_seeds=2)
    blocks = [block["kind"] for block in model.report()["blocks"]]
    assert blocks.count("waves") == 2
    assert "learn again from all rows" in model.report()["seconds"]
    assert model.report()["holdout"]["model"]["value"] > 0.7
    sampled = mercer.fit(X, y, effort="fast", n_seeds=2, holdout=0.0, memory=2e-3)
    assert any("from all rows" in said for said in sampled.report()["notes"])
    assert 1 - np.mean((sampled.predict(X) - y) ** 2) / np.var(y) > 0.7


def test_a_number_of_seeds_is_a_whole_one():
    with pytest.raises(ValueError, match="n_seeds must be a whole number of at least 1, not 0"):
        MercerRegressor(n_seeds=0).fit(*waves(60))
    with pytest.raises(ValueError, match="n_seeds"):
        mercer.fit(*waves(60), n_seeds=1.5)
