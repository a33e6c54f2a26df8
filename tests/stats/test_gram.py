"""The Gram statistic: folds by row identity, float32 into float64, and the error it measures."""

import numpy as np
import pytest

from mercer._numeric.block import Block
from mercer.stats import Gram, LabelGram


def features(n, d, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def test_folds_add_up_and_equal_rows_share_one():
    X = np.repeat(features(50, 3, np.float64), 2, axis=0)
    result = Gram(4).of(Block(X)).finish()
    assert sum(fold.weight for fold in result.folds) == 100
    assert all(fold.weight % 2 == 0 for fold in result.folds)
    np.testing.assert_allclose(sum(fold.G for fold in result.folds), result.total.G)


def test_a_fold_depends_on_the_row_as_read_not_on_the_map():
    X = features(200, 5, np.float64)
    block = Block(X)
    plain = Gram(5).of(block).finish()
    mapped = Gram(5).of(block.with_X(X**3)).finish()
    assert [fold.weight for fold in plain.folds] == [fold.weight for fold in mapped.folds]


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_float32_products_stay_within_their_bound_and_the_probes_see_the_error(offset):
    n, d = 6000, 60
    X = features(n, d) + np.float32(offset)
    result = Gram(3).of(Block(X)).finish()
    exact = X.astype(np.float64) - result.z_origin
    error = np.linalg.norm(result.total.G - exact.T @ exact)
    # Each float32 product of at most 1,024 rows errs by at most a few eps of sum |x_i||x_j| (random signs: sqrt).
    assert error <= 16 * np.finfo(np.float32).eps * n
    assert error / 3 <= result.error <= 3 * error  # four probes: chi-square with 4 x d degrees, far within 3 x


def test_float64_needs_no_allowance():
    X = features(3000, 20, np.float64)
    result = Gram(3).of(Block(X)).finish()
    assert result.error <= 1e-12 * np.linalg.norm(result.total.G)


def test_threads_do_not_change_a_bit(monkeypatch):
    block = Block(features(5000, 300), features(5000, 1)[:, 0])
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("MERCER_THREADS", threads)
        results.append(Gram(5).of(block))
    for other in results[1:]:
        assert np.array_equal(results[0].G, other.G)
        assert np.array_equal(results[0].C, other.C)


def test_labels_appear_as_they_come():
    X = features(60, 3, np.float64)
    y = np.array(["b"] * 20 + ["a"] * 20 + ["c"] * 20)
    pieces = [LabelGram(2).of(Block(X[i : i + 20], y[i : i + 20])) for i in (0, 20, 40)]
    merged = pieces[0].merge(pieces[1]).merge(pieces[2]).finish()
    assert merged.labels.tolist() == ["a", "b", "c"]
    sums = np.stack([(X - merged.z_origin)[y == label].sum(axis=0) for label in merged.labels], axis=1)
    np.testing.assert_allclose(merged.total.B, sums, atol=1e-10)
    np.testing.assert_allclose(np.diag(merged.total.Y), [20, 20, 20])
