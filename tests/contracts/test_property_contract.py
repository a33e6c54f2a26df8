"""Properties of every public estimator, on estimators, rows and splits that hypothesis draws.

The tables are those of the other contracts. The long form (MERCER_TEST_LENGTH=long) tries twenty times as many cases.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from contracts import test_estimator_contract, test_machine_contract, test_normalize_contract
from contracts.test_estimator_contract import dense, learned, problem, target
from mercer._numeric.block import Block
from mercer._runtime.errors import DataError
from mercer.io import load, save
from mercer.kernels import Precomputed
from mercer.learn import SparseCoding
from mercer.learn.out_of_fold import OutOfFoldTransformer
from mercer.linear import RidgeRegressor
from mercer.normalize import UnitRange
from mercer.select import Lasso
from mercer.source import StreamSource

LONG = os.environ.get("MERCER_TEST_LENGTH") == "long"
STREAMED = test_estimator_contract.TABLE
MACHINES = [each for each in test_machine_contract.TABLE if not isinstance(each.kernel, Precomputed)]
NUMERIC = [each for each in test_normalize_contract.NUMERIC if type(each).__name__ != "Log"]
EVERY = [*STREAMED, *test_estimator_contract.ITERATED, *NUMERIC, *MACHINES]
VERBS = ("transform", "predict", "predict_proba", "decision_function")


def drawn_from(table):
    return st.integers(0, len(table) - 1).map(table.__getitem__)


#: Rows, columns and a target: their number, their seed and their precision.
problems = st.builds(problem, st.integers(60, 140), st.sampled_from([np.float32, np.float64]), st.integers(0, 99))
few = settings(max_examples=300 if LONG else 15, deadline=None)
cuts = st.lists(st.integers(1, 139), max_size=6).map(sorted)


@pytest.fixture(autouse=True)
def _quiet():
    """Random rows may be too few to converge, or leave nothing to select."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def fitted(estimator, X, y, **options):
    return clone(estimator).fit(X, target(estimator, y), **options)


def outputs(model, X):
    return {verb: dense(getattr(model, verb)(X)) for verb in VERBS if hasattr(model, verb)}


def same_bits(ours, theirs):
    assert ours.keys() == theirs.keys()
    assert all(ours[verb].tobytes() == theirs[verb].tobytes() for verb in ours)


def agree(ours, theirs, tolerance):
    for verb in ours:
        if ours[verb].dtype.kind == "f":
            scale = max(1.0, np.abs(theirs[verb]).max(initial=0.0))
            np.testing.assert_allclose(ours[verb], theirs[verb], rtol=tolerance, atol=tolerance * scale)


def rounding(X):
    """What sums in another order may change in what is learned."""
    return 1e-3 if X.dtype == np.float32 else 1e-6


def pieces(n, cut):
    edges = [0, *(each for each in cut if each < n), n]
    return [slice(a, b) for a, b in pairwise(edges) if a < b]


@given(drawn_from([each for each in EVERY if each not in NUMERIC]), problems, cuts)
@few
def test_blocks_of_any_lengths_give_the_bits_of_one(estimator, rows, cut):
    X, y = rows
    labels = target(estimator, y)
    blocks = [Block(X[part], labels[part]) for part in pieces(len(X), cut)]
    streamed = clone(estimator).fit(StreamSource(lambda: iter(blocks)))
    same_bits(outputs(streamed, X), outputs(fitted(estimator, X, y), X))


def enough(estimator, X, y):
    """Whether the estimator does not refuse these rows as too few."""
    try:
        clone(estimator).fit(X, y)
    except DataError:
        return False
    return True


@given(drawn_from(STREAMED), problems, cuts)
@few
def test_pieces_of_any_lengths_give_the_bits_of_one(estimator, rows, cut):
    X, y = rows
    labels = target(estimator, y)
    model, parts = clone(estimator), pieces(len(X), cut)
    assume(len(set(labels[parts[0]].tolist())) > 1 and enough(estimator, X[parts[0]], labels[parts[0]]))
    for part in parts:
        model.partial_fit(X[part], labels[part])
    assert learned(model) == learned(fitted(estimator, X, y))


@given(drawn_from(STREAMED), problems)
@few
def test_merging_is_associative(estimator, rows):
    X, y = rows
    a, b, c = (slice(i, None, 3) for i in range(3))

    def part(which):
        return fitted(estimator, X[which], y[which])

    agree(
        outputs(part(a).merge(part(b)).merge(part(c)), X),
        outputs(part(a).merge(part(b).merge(part(c))), X),
        rounding(X),
    )


def choices_hold(X):
    """Whether another order of sums keeps the choices of an estimator: penalties, clusters, atoms.

    Losses are flat about their minimum, and rounding in float32 is enough to choose another one.
    """
    return X.dtype == np.float64


def is_stable(estimator):
    """Whether rounding is not amplified: without a penalty it is multiplied by the condition of a kernel matrix."""
    return getattr(estimator, "alpha", None) != 0


WEIGHTED = [each for each in EVERY if has_fit_parameter(each, "sample_weight") and is_stable(each)]


@given(drawn_from(WEIGHTED), problems, st.integers(0, 99))
@few
def test_rows_of_weight_zero_do_not_count(estimator, rows, seed):
    X, y = rows
    assume(choices_hold(X))
    kept = np.random.default_rng(seed).random(len(X)) < 0.8
    weight = kept.astype(float)
    assume(len(set(target(estimator, y)[kept].tolist())) > 1)
    whole = fitted(estimator, X, y, sample_weight=weight)
    without = fitted(estimator, X[kept], y[kept], sample_weight=weight[kept])
    agree(outputs(whole, X), outputs(without, X), 1e-12)


#: Minimizers of a sum over rows, whose copies stay in one fold. (The ends of a default path depend on rounding.)
SUMS = [
    RidgeRegressor(alpha=[0.01, 0.1, 1.0, 10.0]),
    RidgeRegressor(alpha=1.0),
    RidgeRegressor(alpha=0.0),
    RidgeRegressor(alpha=[0.01, 1.0, 100.0], scoring="gcv"),
    Lasso(alpha=0.1),
]


@given(drawn_from(SUMS), problems, st.integers(1, 4), st.integers(0, 99))
@few
def test_a_weight_of_k_is_k_copies(estimator, rows, k, seed):
    X, y = rows
    count = np.random.default_rng(seed).integers(1, k + 1, len(X))
    weighted = fitted(estimator, X, y, sample_weight=count)
    copied = fitted(estimator, np.repeat(X, count, axis=0), np.repeat(y, count))
    agree(outputs(weighted, X), outputs(copied, X), rounding(X))


@given(drawn_from([*SUMS, *NUMERIC]), problems, st.integers(0, 99))
@few
def test_the_order_of_rows_does_not_matter(estimator, rows, seed):
    X, y = rows
    order = np.random.default_rng(seed).permutation(len(X))
    agree(
        outputs(fitted(estimator, X[order], y[order]), X),
        outputs(fitted(estimator, X, y), X),
        rounding(X),
    )


@given(drawn_from(SUMS[1:3]), problems, st.permutations(range(4)))
@few
def test_the_order_of_columns_does_not_matter(estimator, rows, order):
    X, y = rows
    agree(
        outputs(fitted(estimator, X[:, order], y), X[:, order]),
        outputs(fitted(estimator, X, y), X),
        rounding(X),
    )


@given(drawn_from(EVERY), problems)
@few
def test_models_survive_their_file_bit_for_bit(estimator, rows):
    X, y = rows
    model = fitted(estimator, X, y)
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.mercer")
        same_bits(outputs(load(Path(folder) / "model.mercer"), X), outputs(model, X))


@given(drawn_from(EVERY), problems)
@few
def test_models_survive_pickling_bit_for_bit(estimator, rows):
    X, y = rows
    model = fitted(estimator, X, y)
    same_bits(outputs(pickle.loads(pickle.dumps(model)), X), outputs(model, X))


@given(drawn_from(EVERY), problems)
@few
def test_a_second_fit_forgets_the_first(estimator, rows):
    X, y = rows
    model = fitted(estimator, X[::-1] + 1, y)
    model.fit(X, target(estimator, y))
    same_bits(outputs(model, X), outputs(fitted(estimator, X, y), X))


@given(drawn_from(EVERY), problems, st.sampled_from([2, 4]))
@few
def test_threads_do_not_change_a_bit(estimator, rows, threads):
    X, y = rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MERCER_THREADS", "1")
        one = outputs(fitted(estimator, X, y), X)
        patch.setenv("MERCER_THREADS", str(threads))
        same_bits(outputs(fitted(estimator, X, y), X), one)


@given(drawn_from([each for each in EVERY if "random_state" in each.get_params()]), problems, st.integers(0, 999))
@few
def test_a_seed_fixes_the_bits(estimator, rows, seed):
    X, y = rows
    seeded = clone(estimator).set_params(random_state=seed)
    same_bits(outputs(fitted(seeded, X, y), X), outputs(fitted(seeded, X, y), X))


@given(drawn_from(EVERY), problems, st.integers(0, 58))
@few
def test_a_row_alone_is_a_row_of_a_batch(estimator, rows, i):
    X, y = rows
    model = fitted(estimator, X, y)
    batch = {verb: out[i : i + 1] for verb, out in outputs(model, X).items()}
    agree(outputs(model, X[i : i + 1]), batch, 2e-4 if X.dtype == np.float32 else 1e-9)


@given(drawn_from(EVERY), problems)
@few
def test_the_layout_in_memory_does_not_matter(estimator, rows):
    X, y = rows
    wide = np.repeat(X, 2, axis=1)
    for other in (np.asfortranarray(X), wide[:, ::2]):
        agree(outputs(fitted(estimator, other, y), other), outputs(fitted(estimator, X, y), X), rounding(X))


@given(drawn_from(EVERY), problems)
@few
def test_arguments_are_not_written_to(estimator, rows):
    X, y = rows
    labels = target(estimator, y)
    before, labels_before = X.tobytes(), labels.copy()
    X.flags.writeable = labels.flags.writeable = False
    outputs(clone(estimator).fit(X, labels), X)
    assert X.tobytes() == before
    assert np.array_equal(labels, labels_before)


#: `FeatureHashing` hashes the names of columns, which an array does not have.
NAMELESS = [each for each in EVERY if type(each).__name__ != "FeatureHashing"]


@given(drawn_from(NAMELESS), problems)
@few
def test_frames_are_arrays(estimator, rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    agree(outputs(fitted(estimator, frame, y), frame), outputs(fitted(estimator, X, y), X), rounding(X))


SPARSE = [each for each in EVERY if each.__sklearn_tags__().input_tags.sparse and each not in MACHINES]


@given(drawn_from(SPARSE), problems)
@few
def test_sparse_rows_are_dense_rows(estimator, rows):
    X, y = rows
    X[np.abs(X) < 0.7] = 0.0
    csr = sparse.csr_array(X)
    # The first is supervised, the second refuses negative numbers, the iterations of the third amplify rounding.
    assume(not isinstance(estimator, (OutOfFoldTransformer, UnitRange, SparseCoding)))
    assume(choices_hold(X))
    agree(
        outputs(fitted(estimator, csr, y), csr),
        outputs(fitted(estimator, X, y), X),
        5 * rounding(X),
    )


LINEAR = [each for each in EVERY if is_regressor(each) and hasattr(each, "scoring")]


@given(drawn_from(LINEAR), problems, st.integers(-20, 20), st.integers(-3, 3))
@few
def test_predictions_follow_the_unit_and_origin_of_the_target(estimator, rows, exponent, origin):
    X, y = rows
    unit = 2.0**exponent
    plain = fitted(estimator, X, y).predict(X)
    moved = fitted(estimator, X, unit * (y + origin)).predict(X)
    np.testing.assert_allclose(moved / unit - origin, plain, rtol=1e-4, atol=1e-4 * (1 + abs(origin)))


@given(drawn_from([each for each in EVERY if is_classifier(each)]), problems)
@few
def test_names_of_classes_do_not_matter(estimator, rows):
    X, y = rows
    labels = np.where(y > np.median(y), 7, -3)
    named = np.where(y > np.median(y), "up", "down")
    by_number = clone(estimator).fit(X, labels).predict(X)
    by_name = clone(estimator).fit(X, named).predict(X)
    assert np.array_equal(by_number == 7, by_name == "up")


def test_the_suite_has_at_least_forty_properties():
    files = Path(__file__).parents[1].rglob("test_*.py")
    assert sum(path.read_text(encoding="utf-8").count("\n@given(") for path in files) >= 40
