"""Exact lifts of kernels on sequences, and landmarks and machines on raw strings."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from mercer._numeric.block import Block
from mercer.expand import Landmarks, lift
from mercer.kernels import Gaussian, Mismatch, Overlap, Spectrum, Subsequence, SubsetTree, WeightedDegree
from mercer.machines import KernelRegressor
from mercer.source import StreamSource

FINITE = [
    Spectrum(3),
    Spectrum(3, alphabet="dna"),
    Spectrum(70),
    Spectrum(2, reverse_complement=True),
    Mismatch(3, 1, reverse_complement=True),
    Mismatch(3, 1, "dna", reverse_complement=True),
    Mismatch(4, 1),
    Mismatch(3, 1, alphabet="dna"),
    Mismatch(4, 2, alphabet="ACGTN"),
    WeightedDegree(3),
    WeightedDegree(2, alphabet="dna"),
    Spectrum(2) + 0.5 * WeightedDegree(2),
    Spectrum(3, alphabet="dna").normalized(),
    (Spectrum(1) * Mismatch(3, 1)).normalized(),
]
each_kernel = pytest.mark.parametrize("kernel", FINITE, ids=repr)


def sequences(n, letters="ACGT", longest=30, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(n)]


@each_kernel
def test_inner_products_are_the_kernel(kernel):
    X, Z = sequences(25, "ACGTN", 90), sequences(10, seed=1, longest=90)
    phi = lift(kernel).fit(X)
    A, B = phi.transform(X), phi.transform(Z)
    K = kernel(X)
    rounding = 1e-12 * K.max(initial=1)
    np.testing.assert_allclose((A @ A.T).toarray(), K, atol=rounding)
    np.testing.assert_allclose((B @ A.T).toarray(), kernel(Z, X), atol=rounding)
    names = phi.get_feature_names_out()
    assert A.shape[1] == phi.n_output_features_ == len(set(names))


@each_kernel
def test_streams_and_pieces_learn_the_same_columns(kernel):
    X = np.array(sequences(50), dtype=object)
    whole = lift(kernel).fit(X)
    stream = lift(kernel).fit(StreamSource(lambda: (Block(X[i : i + 7]) for i in range(0, 50, 7))))
    pieces, halves = lift(kernel), [lift(kernel).fit(X[:20]), lift(kernel).fit(X[20:])]
    for i in range(0, 50, 11):
        pieces.partial_fit(X[i : i + 11])
    for other in (stream, pieces, halves[0].merge(halves[1])):
        assert other.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
        assert abs(other.transform(X) - whole.transform(X)).nnz == 0


def test_names_say_what_a_column_counts():
    X = ["GATTACA"]
    assert lift(Spectrum(6)).fit(X).get_feature_names_out().tolist() == ["'ATTACA'", "'GATTAC'"]
    assert "'G_T'" in lift(Mismatch(3, 1)).fit(X).get_feature_names_out()
    assert "'TT' at 2" in lift(WeightedDegree(2)).fit(X).get_feature_names_out()
    tokens = lift(Spectrum(2)).fit([["to", "be", "or"], ["be", "or"]])
    assert tokens.get_feature_names_out().tolist() == ["('be', 'or')", "('to', 'be')"]
    assert tokens.transform([["be", "or", "what", "be", "or"]]).toarray().tolist() == [[2, 0]]


def test_unknown_letters_later_have_no_column():
    phi = lift(Spectrum(2)).fit(["abab"])
    assert phi.transform(["abzab", "", "é"]).toarray().tolist() == [[2, 0], [0, 0], [0, 0]]


def test_columns_of_a_frame():
    frame = pd.DataFrame({"dna": sequences(20), "size": np.arange(20.0), "tags": [{"a"}, {"b", "a"}] * 10})
    kernel = Spectrum(2).on("dna") + Overlap().on("tags")
    A = lift(kernel).fit_transform(frame)
    np.testing.assert_allclose((A @ A.T).toarray(), kernel(frame))


def test_a_linear_model_on_the_lift_is_the_kernel_machine():
    X = sequences(60, longest=40)
    y = np.array([x.count("GA") - x.count("TT") for x in X], dtype=float)
    kernel = Mismatch(3, 1, alphabet="dna")
    machine = KernelRegressor(kernel, alpha=2.0).fit(X[:40], y[:40])
    linear = make_pipeline(lift(kernel), Ridge(2.0, fit_intercept=False, solver="cholesky")).fit(X[:40], y[:40])
    np.testing.assert_allclose(linear.predict(X[40:]), machine.predict(X[40:]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Subsequence(3), r"no lift of a useful size.*Landmarks\(kernel=Subsequence"),
        (SubsetTree(), r"exponentially many fragments.*Landmarks\(kernel=SubsetTree"),
        (Spectrum(2) + Gaussian(), "no finite lift"),
    ],
)
def test_what_has_no_lift(kernel, message):
    with pytest.raises(ValueError, match=message):
        lift(kernel)


def test_a_lift_of_too_many_words_is_refused():
    with pytest.raises(ValueError, match=r"k must be at most 32 with this alphabet"):
        lift(Mismatch(33, 1, alphabet="dna")).fit(["ACGT" * 20])


TREES = [f"(S (NP {a}) (VP (V {b}) (NP {a})))" for a in "xyz" for b in "uvw"]


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [(kernel, sequences(30, longest=25, seed=3)) for kernel in (Spectrum(2), Mismatch(3, 1, "dna"), Subsequence(2))]
    + [(SubsetTree(), TREES), (WeightedDegree(2).normalized(), sequences(30, seed=4))],
    ids=repr,
)
def test_all_landmarks_give_back_the_kernel(kernel, rows):
    features = Landmarks(kernel=kernel, choose="all").fit(rows)
    Z = features.transform(rows)
    K = kernel(rows)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-6 * K.max())
    few = clone(features).set_params(choose="rpcholesky", n_components=5).fit(np.array(rows, dtype=object))
    assert few.transform(rows).shape == (len(rows), few.n_components_)
    given = Landmarks(kernel=kernel, landmarks=rows[:3], whiten=False).fit(rows)
    np.testing.assert_allclose(given.transform(rows), kernel(rows, rows[:3]))
