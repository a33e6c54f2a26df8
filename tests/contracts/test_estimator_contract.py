"""What every public estimator promises: scikit-learn's checks, and the same fit however the rows arrive.

Adding an estimator is adding a row to the table.
"""

from __future__ import annotations

import importlib
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer._numeric.block import Block
from mercer.expand import (
    ColumnPicker,
    Landmarks,
    ParabolicLift,
    PolynomialLift,
    ProductLift,
    RandomFeatures,
    SubsetLift,
    lift,
)
from mercer.kernels import Gaussian, Laplace, Linear, Matern, Polynomial
from mercer.learn import (
    PCA,
    AdditiveTerms,
    ClusterFeatures,
    KernelScore,
    LearnedMetric,
    PatchWhitening,
    PiecewiseLinear,
    SparseCoding,
    SupervisedBins,
    TargetEncoding,
    TreeFeatures,
)
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.linear import HingeClassifier, LogisticClassifier, Perceptron, RidgeClassifier, RidgeRegressor
from mercer.project import FeatureHashing, GaussianProjection, HadamardProjection, SparseProjection
from mercer.select import (
    AdaBoost,
    BestSubset,
    FilterSelector,
    GreedySelector,
    KnockoffSelector,
    L1Constrained,
    Lasso,
    OrthogonalMatchingPursuit,
    StabilitySelector,
)
from mercer.source import MemorySource, StreamSource
from mercer.tables import Aggregates, CategoryCrosses, ColumnPairs, Frequencies

ROOMS = ["normalize", "expand", "linear", "project", "learn", "select", "text"]

TABLE = [
    Landmarks(n_components=20),
    Landmarks(0.05, Gaussian(3.0)),
    Landmarks(10, Laplace(2.0), choose="uniform", whiten=False),
    Landmarks(12, 0.5 * Matern(nu=2.5) + Linear(), choose="kmeans"),
    RandomFeatures(n_components=16),
    RandomFeatures(Gaussian(3.0), n_components=16),
    RandomFeatures(Laplace(norm="l1"), n_components=6, sampling="iid"),
    RandomFeatures(Matern(nu=2.5), n_components=5, pairing="phase"),
    RandomFeatures(Gaussian(2.0) + 0.5 * Polynomial(2, scale=0.1).normalized(), n_components=12, sampling="quasi"),
    RandomFeatures(Laplace("median") * Linear().normalized(), n_components=9, sampling="structured"),
    FeatureHashing(n_components=16),
    FeatureHashing(n_components=16, nonzeros=2, keep_keys=2),
    GaussianProjection(n_components=3),
    HadamardProjection(n_components=3),
    SparseProjection(n_components=16),
    SparseProjection(n_components=6, nonzeros=2, signed=False),
    PolynomialLift(),
    PolynomialLift(3, interaction_only=True, include_bias=False),
    PolynomialLift(2, scaling="kernel", offset=0.5),
    ParabolicLift(),
    ColumnPicker([-1, 0]),
    ColumnPicker(slice(None, None, -1)),
    SubsetLift(max_size=2),
    lift(Polynomial(2) * Linear() + 0.5 * Linear().normalized()),
    PiecewiseLinear(),
    PiecewiseLinear(n_bins=3, sample_size=50),
    PatchWhitening(),
    PCA(),
    PCA(2, whiten=True),
    PCA(0.7),
    PCA("auto", solver="exact"),
    RidgeRegressor(),
    RidgeRegressor(alpha=1.0),
    RidgeRegressor(scoring="gcv"),
    RidgeClassifier(),
    RidgeClassifier(alpha=[0.1, 1.0], n_folds=3),
    GreedySelector(),
    GreedySelector(k=3, stop="folds", n_folds=3),
    GreedySelector(k=2, target="classes"),
    OrthogonalMatchingPursuit(k=3),
    BestSubset(k=2),
    FilterSelector(k=2),
    FilterSelector("squared", fdr=0.2, fdr_method="by"),
    KnockoffSelector(fdr=0.4),
    L1Constrained(),
    Lasso(n_alphas=20),
    Lasso(alpha=0.1, debias=True),
    Aggregates(by=[0], of=[-1]),
    Aggregates(by=[0, -1], of=[0, -1], functions=["mean", "deviation", "rank", "min", "max", "count"]),
    Frequencies([0, -1]),
    Frequencies(0, normalize=True),
    ColumnPairs([(0, -1)]),
    ColumnPairs([(0, -1)], operations=["difference"]),
    CategoryCrosses([(0, -1)], n_buckets=8),
]

# They look at the rows more than once, or learn from their order: no pieces to put together, everything else holds.
ITERATED = [
    ProductLift([(0, 0), (-1, 0)]),
    ProductLift([(0, -1)], center=False, scale=False),
    RidgeRegressor(scoring="loo"),
    RidgeClassifier(alpha=[0.1, 1.0], scoring="loo"),
    LogisticClassifier(),
    LogisticClassifier(alpha=[0.1, 1.0, 10.0], n_folds=3),
    LogisticClassifier(calibrate=True),
    HingeClassifier(),
    LearnedMetric(n_rounds=2, n_components=16),
    LearnedMetric(Laplace("median"), mode="diagonal", n_rounds=1, n_components=16, max_rows=60),
    LearnedMetric(n_rounds=1, n_components=16, max_rows=None),
    KernelScore(),
    KernelScore(Gaussian(2.0), alpha=1.0, n_folds=3, max_rows=60),
    SupervisedBins(n_bins=4),
    SupervisedBins(n_bins=3, encoding="indicators", n_folds=2),
    TargetEncoding(),
    TargetEncoding(shrinkage=2.0, n_folds=3),
    AdditiveTerms(max_cycles=3),
    AdditiveTerms(n_bins=16, max_pairs=2, max_cycles=5, n_folds=3, max_rows=60),
    TreeFeatures(n_estimators=3, max_leaf_nodes=4),
    TreeFeatures("score", n_estimators=3, max_leaf_nodes=4, n_folds=3),
    TreeFeatures("score", n_estimators=3, max_leaf_nodes=4, ensemble="forest", max_rows=60),
    Perceptron(n_epochs=100, average=True),
    Perceptron(n_epochs=100, average=True, shuffle=True),
    GreedySelector(k=3, interactions=2),
    GreedySelector(k=3, candidates="quadratic", stop="bic"),
    GreedySelector(k=2, candidates=PolynomialLift(2, include_bias=False), loss="logistic", step="gradient"),
    GreedySelector(k=2, target="classes", solver="rows"),
    GreedySelector(k=2, loss="logistic", stop="bic"),
    GreedySelector(k=2, loss="hinge", step="gradient"),
    GreedySelector(k=2, loss="exponential", step="line", refit=False),
    AdaBoost(n_rounds=10),
    FilterSelector("spearman", k=2),
    FilterSelector("mutual_information", k=2),
    FilterSelector("pair_information", k=2),
    L1Constrained(loss="logistic", tol=1e-6),
    L1Constrained(loss="hinge"),
    Lasso(n_alphas=20, solver="columns"),
    StabilitySelector(n_pairs=3),
    StabilitySelector(FilterSelector(), n_pairs=3),
    ClusterFeatures(3),
    ClusterFeatures(3, encoding="triangle"),
    ClusterFeatures(4, encoding="distance", n_iter=2),
    PCA(1, solver="randomized"),
    SparseCoding(n_components=8, nonzeros=2, n_epochs=2),
    SparseCoding(n_components=5, nonzeros=7, n_epochs=1, n_refits=0, pursuit="omp"),
    StabilitySelector(n_pairs=2),
    StabilitySelector(FilterSelector(), n_pairs=2),
]


def streaming(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=str)


@parametrize_with_checks([*TABLE, *ITERATED])
def test_scikit_learn_conventions(estimator, check):
    if isinstance(estimator, OutOfFoldTransformer) and "check_transformer" in str(check):
        estimator = in_sample(estimator)  # these checks expect of fit_transform what fit and transform give
    check(estimator)


def in_sample(estimator):
    """The estimator with a fit_transform that is fit and transform: out-of-fold values have tests of their own."""

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)

    kind = type(type(estimator).__name__, (type(estimator),), {"fit_transform": fit_transform})
    kind.__init__ = type(estimator).__init__
    return kind(**estimator.get_params(deep=False))


def test_the_table_holds_every_public_estimator():
    from contracts.test_normalize_contract import MAPS
    from contracts.test_text_contract import TEXTS

    named = {type(estimator) for estimator in [*TABLE, *ITERATED, *MAPS, *TEXTS]}
    for room in ROOMS:
        module = importlib.import_module(f"mercer.{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                assert thing in named, f"{name} is missing from the table of estimators"


def problem(n=120, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(dtype)
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return X, y


def target(estimator, y):
    return np.where(y > -0.5, "high", "low") if is_classifier(estimator) else y


def learned(estimator):
    """Every learned array, as bytes."""
    names = sorted(name for name in vars(estimator) if name.endswith("_") and not name.startswith("_"))
    return {name: as_bytes(getattr(estimator, name)) for name in names if name not in SAID_IN_WORDS}


def as_bytes(value):
    return [as_bytes(part) for part in value] if isinstance(value, list) else np.asarray(value).tobytes()


SAID_IN_WORDS = {"kernel_", "keys_", "lift_", "feature_names_in_"}


def dense(out):
    return out.toarray() if hasattr(out, "toarray") else out


@streaming(TABLE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_stream_pieces_and_merge_give_the_same_bits(estimator, dtype):
    X, y = problem(dtype=dtype)
    y = target(estimator, y)
    whole = clone(estimator).fit(X, y)
    stream = clone(estimator).fit(
        StreamSource(lambda: (Block(X[i : i + 17], y[i : i + 17]) for i in range(0, 120, 17)))
    )
    pieces = clone(estimator)
    for rows in np.array_split(np.arange(120), 7):
        pieces.partial_fit(X[rows], y[rows])
    assert learned(stream) == learned(pieces) == learned(whole)
    assert pickle.dumps(vars(whole).get("kernel_")) == pickle.dumps(vars(stream).get("kernel_"))


@streaming(ITERATED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_and_stream_give_the_same_bits(estimator, dtype):
    X, y = problem(dtype=dtype)
    y = target(estimator, y)
    whole = clone(estimator).fit(X, y)
    stream = clone(estimator).fit(
        StreamSource(lambda: (Block(X[i : i + 17], y[i : i + 17]) for i in range(0, 120, 17)))
    )
    assert learned(stream) == learned(whole)
    assert not hasattr(whole, "merge")


@streaming(TABLE)
def test_merged_halves_agree_with_the_whole(estimator):
    X, y = problem()
    y = target(estimator, y)
    whole = clone(estimator).fit(X, y)
    merged = clone(estimator).fit(X[:50], y[:50]).merge(clone(estimator).fit(X[50:], y[50:]))
    use = "transform" if hasattr(whole, "transform") else "predict"
    ours, theirs = dense(getattr(merged, use)(X)), dense(getattr(whole, use)(X))
    if ours.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
    else:
        assert np.array_equal(ours, theirs)


@streaming([estimator for estimator in [*TABLE, *ITERATED] if not estimator._allow_missing])
def test_missing_values_are_refused_by_name_and_place(estimator):
    import pandas as pd

    X, y = problem()
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN: column 2 \('c'\), first at row 7"):
        clone(estimator).fit(pd.DataFrame(X, columns=list("abcd")), target(estimator, y))
    rows = MemorySource(X, target(estimator, y))
    with pytest.raises(ValueError, match=r"NaN: column 2.*first at row 7"):
        clone(estimator).fit(rows)


@streaming([*TABLE, *ITERATED])
def test_awkward_columns_have_a_defined_answer(estimator):
    X, y = problem()
    X = np.column_stack([X, np.full(120, 3.0), X[:, 0], 1e-300 * X[:, 1]])
    fitted = clone(estimator).fit(X, target(estimator, y))
    out = fitted.transform(X) if hasattr(fitted, "transform") else fitted.predict(X)
    assert out.dtype.kind != "f" or np.isfinite(dense(out)).all()


@streaming([*TABLE, *ITERATED])
def test_a_source_cannot_be_contradicted(estimator):
    X, y = problem()
    with pytest.raises(ValueError, match="brings its own"):
        clone(estimator).fit(MemorySource(X, target(estimator, y)), target(estimator, y))
