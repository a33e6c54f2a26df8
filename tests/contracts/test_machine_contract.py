"""What every kernel machine promises: scikit-learn's checks, every kind of rows, and a word about bad similarities.

Adding a machine is adding a row to the table.
"""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import machines
from mercer._numeric.block import Block
from mercer.kernels import (
    Custom,
    Gaussian,
    Linear,
    Mismatch,
    Polynomial,
    Precomputed,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeightedDegree,
)
from mercer.machines import KernelHinge, KernelKMeans, KernelPCA, KernelPerceptron, KernelRegressor, NotMercerWarning
from mercer.source import MemorySource, StreamSource

TABLE = [
    KernelPerceptron(),
    KernelPerceptron(Polynomial(2), average=True),
    KernelPerceptron(Gaussian(3.0), budget=20),
    KernelPerceptron(Gaussian(3.0), budget=100, policy="forgetron"),
    KernelPerceptron(Gaussian(3.0), budget=100, policy="oldest"),
    KernelRegressor(),
    KernelRegressor(alpha=0.0),
    KernelRegressor(Linear() + 1, alpha="loo"),
    KernelRegressor(Precomputed(), alpha=1.0),
    KernelRegressor(Gaussian(3.0), alpha=0.1, solver="falkon", n_centers=30),
    KernelHinge(),
    KernelHinge(Precomputed()),
    KernelHinge(Gaussian(3.0), penalty="coefficients", tol=1e-12),  # one check compares to 1e-7
    KernelPCA(),
    KernelPCA(Precomputed(), n_components=1),
    KernelKMeans(),
]
each_machine = pytest.mark.parametrize("machine", TABLE, ids=str)


# One check hands Precomputed() random numbers for similarities, and is told so.
@pytest.mark.filterwarnings("ignore::mercer.machines.NotMercerWarning")
@parametrize_with_checks(TABLE)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_table_holds_every_public_machine():
    for name in machines.__all__:
        thing = getattr(machines, name)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
            assert thing in {type(machine) for machine in TABLE}


def problem(machine, n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] - X[:, 1] ** 2
    return X, (np.digitize(y, [-1.5, 0.0]) if is_classifier(machine) else y)


def answer(machine, X):
    use = next(name for name in ("decision_function", "transform", "predict") if hasattr(machine, name))
    return getattr(machine, use)(X)


def with_kernel(machine, kernel):
    settings = {KernelRegressor: {"solver": "exact"}, KernelHinge: {"tol": 1e-9}}.get(type(machine), {})
    return clone(machine).set_params(kernel=kernel, **settings)


@each_machine
def test_a_matrix_of_similarities_serves_as_well_as_the_kernel(machine):
    X, y = problem(machine)
    kernel = Gaussian(2.0)
    direct = with_kernel(machine, kernel).fit(X, y)
    by_matrix = with_kernel(machine, Precomputed()).fit(kernel(X), y)
    ours, theirs = answer(by_matrix, kernel(X[:20] + 0.1, X)), answer(direct, X[:20] + 0.1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@each_machine
def test_rows_in_csr_in_frames_and_in_sources_are_the_same_rows(machine):
    import pandas as pd

    X, y = problem(machine)
    machine = with_kernel(machine, Polynomial(2))
    dense = answer(clone(machine).fit(X, y), X)
    for rows in (sparse.csr_array(X), sparse.csr_matrix(X), pd.DataFrame(X, columns=list("abcd"))):
        np.testing.assert_allclose(answer(clone(machine).fit(rows, y), rows), dense, rtol=1e-6, atol=1e-6)
    pieces = StreamSource(lambda: (Block(X[i : i + 17], y[i : i + 17]) for i in range(0, 90, 17)))
    for source in (MemorySource(X, y), pieces):
        np.testing.assert_array_equal(answer(clone(machine).fit(source), X), dense)


@each_machine
def test_float32_stays_close_to_float64(machine):
    X, y = problem(machine)
    if isinstance(machine, KernelRegressor):
        machine = clone(machine).set_params(alpha=0.1)
    machine = with_kernel(machine, Gaussian(1.5))
    single, double = clone(machine).fit(X.astype(np.float32), y), clone(machine).fit(X, y)
    np.testing.assert_allclose(answer(single, X.astype(np.float32)), answer(double, X), atol=2e-2)


WORDS = ["kernel", "kernels", "colonel", "trick", "tricks", "brick", "linear", "lines", "line", "nearest"] * 2


def common_letters(a, b):
    return float(len(set(a) & set(b)))


@each_machine
def test_words_through_a_function_of_two_words(machine):
    machine = with_kernel(machine, Custom(common_letters, symmetric=True))
    if isinstance(machine, KernelKMeans):
        machine.set_params(n_clusters=3)
    y = np.array([len(word) for word in WORDS], dtype=float)
    y = y > 5 if is_classifier(machine) else y
    fitted = machine.fit(WORDS, y)
    assert len(answer(fitted, ["kernel", "nearly", ""])) == 3
    np.testing.assert_array_equal(answer(fitted, WORDS), answer(fitted, np.array(WORDS, dtype=object)))


SEQUENCES = [
    Spectrum(2),
    Mismatch(3, 1),
    Mismatch(3, 1, alphabet="abcdefghijklmnopqrstuvwxyz"),
    WeightedDegree(2),
    Subsequence(2).normalized() + 1,
    SubsetTree(),
]


@each_machine
@pytest.mark.parametrize("kernel", SEQUENCES, ids=repr)
def test_raw_sequences_and_trees_serve_as_rows(machine, kernel):
    trees = isinstance(kernel, SubsetTree)
    rows = [f"(S (A {w[0]}) (B {w[1]}))" if trees else w for w in WORDS]
    machine = with_kernel(machine, kernel)
    if isinstance(machine, KernelKMeans):
        machine.set_params(n_clusters=3)
    if isinstance(machine, KernelRegressor):
        machine.set_params(alpha=1.0)
    y = np.array([len(word) for word in WORDS], dtype=float)
    y = y > 5 if is_classifier(machine) else y
    fitted = machine.fit(rows, y)
    by_matrix = with_kernel(machine, Precomputed()).fit(kernel(rows), y)
    np.testing.assert_allclose(
        answer(fitted, rows[:4]), answer(by_matrix, kernel(rows[:4], rows)), rtol=1e-6, atol=1e-6
    )
    assert len(answer(fitted, ["(S (A q))"] if trees else ["nearly"])) == 1


def distance_as_similarity(x, z):
    return float(np.abs(x - z).sum())


@each_machine
def test_a_similarity_that_is_not_mercer_is_named_with_its_consequence(machine):
    X, y = problem(machine)
    asks_nothing = isinstance(machine, KernelHinge) and machine.penalty == "coefficients"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with_kernel(machine, Custom(distance_as_similarity)).fit(X, y)
    said = [str(w.message) for w in caught if issubclass(w.category, NotMercerWarning)]
    assert len(said) == (0 if asks_nothing else 1)
    assert asks_nothing or ("Smallest eigenvalue" in said[0] and machine._if_not_mercer in said[0])


@each_machine
def test_missing_values_are_refused_by_name_and_place(machine):
    import pandas as pd

    X, y = problem(machine)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN: column 2 \('c'\), first at row 7"):
        with_kernel(machine, Gaussian()).fit(pd.DataFrame(X, columns=list("abcd")), y)


@each_machine
def test_mixed_columns_of_a_frame_each_with_its_own_kernel(machine):
    import pandas as pd

    X, y = problem(machine)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": [WORDS[i % 10] for i in range(90)]})
    kernel = Gaussian().on(["a", "b"]) + Custom(common_letters).on("word")
    fitted = with_kernel(machine, kernel).fit(frame, y)
    assert np.isfinite(answer(fitted, frame[:7])).all()
    assert list(fitted.feature_names_in_) == ["a", "b", "word"]


@each_machine
def test_a_fitted_machine_can_be_pickled(machine):
    X, y = problem(machine)
    fitted = with_kernel(machine, Gaussian(2.0)).fit(X, y)
    np.testing.assert_array_equal(answer(pickle.loads(pickle.dumps(fitted)), X), answer(fitted, X))


def test_a_kernel_must_be_a_kernel():
    with pytest.raises(TypeError, match="Wrap a function of two rows in Custom"):
        KernelRegressor(kernel=np.dot).fit([[1.0]], [1.0])


def test_a_source_cannot_be_contradicted():
    X, y = problem(KernelRegressor())
    with pytest.raises(ValueError, match="brings its own"):
        KernelRegressor().fit(MemorySource(X, y), y)
