"""Target encoding: the formula, out-of-fold values, and no signal from noise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from mercer._numeric.block import Block
from mercer._numeric.hashing.rows import fold_of
from mercer.learn import TargetEncoding
from mercer.learn.target_encoding import empirical_bayes
from mercer.linear import RidgeRegressor
from mercer.source import MemorySource
from mercer.stats.target_tables import TargetTables


def problem(n=400, n_categories=12, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n_categories, n), rng.integers(0, 3, n)])
    effects = rng.normal(size=n_categories)
    return X, effects[X[:, 0]] + noise * rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_gets_the_formula_without_its_fold(weighted):
    X, y = problem()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    encoding = TargetEncoding(shrinkage=3.0, n_folds=4)
    Z = encoding.fit_transform(X, y, sample_weight=weight)
    fold = fold_of(Block(X, raw=np.arange(len(y))[:, None]).ids, 4, 0)
    for i in range(0, len(y), 7):
        for j in range(2):
            others = fold != fold[i]
            same = others & (X[:, j] == X[i, j])
            mean = np.average(y[others], weights=weight[others])
            expected = (weight[same] @ y[same] + 3.0 * mean) / (weight[same].sum() + 3.0)
            assert Z[i, j] == pytest.approx(expected, rel=1e-12)


def test_new_rows_get_the_formula_of_all_rows():
    X, y = problem()
    encoding = TargetEncoding(shrinkage=3.0).fit(X, y)
    same = X[:, 0] == 5
    expected = (y[same].sum() + 3.0 * y.mean()) / (same.sum() + 3.0)
    assert encoding.transform(np.array([[5, 0]]))[0, 0] == pytest.approx(expected, rel=1e-12)
    assert encoding.transform(np.array([[99, 0]]))[0, 0] == pytest.approx(y.mean(), rel=1e-12)


def test_a_row_never_sees_its_own_target():
    X, y = problem()
    Z = TargetEncoding().fit_transform(X, y)
    fold = fold_of(Block(X, raw=np.arange(len(y))[:, None]).ids, 5, 0)
    changed = np.where(fold == 1, y + 100.0, y)
    np.testing.assert_array_equal(TargetEncoding().fit_transform(X, changed)[fold == 1], Z[fold == 1])


def test_shrinkage_is_the_ratio_of_variances():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(400), 25)
    y = 0.5 * rng.normal(size=400)[codes] + rng.normal(size=len(codes))
    table = TargetTables(2).of(Block(codes[:, None], y)).finish()[0].whole()
    # 1 / 0.25; the relative error of a variance of 400 effects is about sqrt(2/400) (1 + 4/25), five of them 0.4
    assert empirical_bayes(table)[0] == pytest.approx(4.0, rel=0.45)


def test_noise_scores_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 150, size=(600, 4))
    y = rng.normal(size=600)
    Z = TargetEncoding().fit_transform(X, y)
    assert RidgeRegressor().fit(Z, y).losses_.min() > 0.98 * y.var()
    fixed = TargetEncoding(shrinkage=1.0).fit_transform(X, y)  # even where noise is not shrunk away
    assert abs(np.corrcoef(fixed[:, 0], y)[0, 1]) < 5 / np.sqrt(600)
    in_sample = TargetEncoding(shrinkage=1.0).fit(X, y).transform(X)
    assert np.corrcoef(in_sample[:, 0], y)[0, 1] > 0.4  # with leakage


def test_high_cardinality_helps():
    X, y = problem(2000, n_categories=200)
    Z = TargetEncoding().fit_transform(X, y)
    assert np.corrcoef(Z[:, 0], y)[0, 1] > 0.7


@pytest.mark.parametrize("kind", ["frame", "objects", "strings"])
def test_strings_and_missing_values_are_categories(kind):
    words = np.array(["a", "b", None, "a", "b", None, "a", "b", None, "a"] * 6, dtype=object)
    y = np.select([words == "a", words == "b"], [1.5, -1.0], 7.25)
    X = {
        "frame": pd.DataFrame({"word": words}),
        "objects": words[:, None],
        "strings": np.where(words == None, "none", words).astype(str)[:, None],  # noqa: E711
    }[kind]
    encoding = TargetEncoding(shrinkage=0.0).fit(X, y)
    np.testing.assert_allclose(encoding.transform(X)[:, 0], y)
    np.testing.assert_allclose(TargetEncoding(shrinkage=0.0).fit_transform(X, y)[:, 0], y)
    if kind == "frame":
        assert encoding.get_feature_names_out().tolist() == ["word"]


def test_classes():
    X, score = problem(1000)
    binary = np.where(score > 0, "yes", "no")
    Z = TargetEncoding().fit_transform(X, binary)
    assert Z.shape == (1000, 2)
    assert roc_auc_score(binary == "yes", Z[:, 0]) > 0.8
    three = np.array(["x", "y", "z"])[np.digitize(score, [-0.5, 0.5])]
    encoding = TargetEncoding().fit(X, three)
    out = encoding.transform(X)
    assert out.shape == (1000, 6)
    np.testing.assert_allclose(out[:, :3].sum(axis=1), 1.0, atol=0.1)
    assert encoding.get_feature_names_out(["c", "d"]).tolist() == ["c_x", "c_y", "c_z", "d_x", "d_y", "d_z"]


def test_whole_numbers_of_many_values_are_a_continuous_target():
    X, y = problem()
    assert TargetEncoding().fit(X, np.rint(100 * y).astype(int)).classes_ is None
    assert TargetEncoding(task="regression").fit(X, (y > 0).astype(int)).classes_ is None
    assert TargetEncoding().fit(X, (y > 0).astype(int)).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="task='classification'"):
        TargetEncoding(task="regression").fit(X, np.where(y > 0, "a", "b"))


def test_a_source_folds_by_its_rows_as_read():
    X, y = problem()
    X = np.column_stack([X, np.arange(len(y))])  # distinct rows
    source = MemorySource(X.astype(float), y)
    mapped = TargetEncoding(shrinkage=1.0).fit_transform(source)
    Z = np.vstack([block.X for block in mapped.blocks()])
    fold = fold_of(Block(X.astype(float)).ids, 5, 0)
    others = (fold != fold[0]) & (X[:, 0] == X[0, 0])
    expected = (y[others].sum() + y[fold != fold[0]].mean()) / (others.sum() + 1.0)
    assert Z[0, 0] == pytest.approx(expected)
    assert mapped.names == ["x0", "x1", "x2"]


def test_wrong_parameters_are_refused():
    X, y = problem(50)
    for parameters in ({"shrinkage": -1.0}, {"shrinkage": "some"}, {"n_folds": 1}, {"task": "rank"}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            TargetEncoding(**parameters).fit(X, y)
