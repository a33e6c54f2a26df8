"""Compiled functions on sequences beside their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.text import sequences as definition

segments = st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=6)
seeds = st.integers(0, 2**32 - 1)


def flat(parts):
    codes = np.array([code for part in parts for code in part], np.int32)
    return codes, np.cumsum([0, *map(len, parts)]).astype(np.int64)


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@given(segments, st.lists(st.integers(0, 4), max_size=5, unique=True), st.integers(0, 2))
def test_window_keys(parts, offsets, more):
    span = max(offsets, default=0) + 1 + more
    given = *flat(parts), np.array(offsets, np.int64), span, 3
    same([_numeric.window_keys(*given)], [definition.window_keys(*given)])


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 20)), max_size=40), st.booleans(), st.booleans(), seeds)
def test_count_keys(entries, wide, weighted, seed):
    rows = np.array(sorted(row for row, _ in entries), np.int64)
    keys = np.array([key for _, key in entries], np.uint64) * np.uint64(0x9E3779B97F4A7C15 if wide else 1)
    weights = np.random.default_rng(seed).integers(1, 9, len(keys)) / 8 if weighted else np.zeros(0)
    same(_numeric.count_keys(keys, rows, weights, 8), definition.count_keys(keys, rows, weights, 8))


@given(seeds, st.booleans(), st.integers(0, 3))
def test_add_sparse_gram(seed, symmetric, start):
    from scipy import sparse

    rng = np.random.default_rng(seed)
    A = sparse.random_array((7, 5), density=0.4, format="csr", rng=rng)
    B = A if symmetric else sparse.random_array((6, 5), density=0.4, format="csr", rng=rng)
    T = B.tocsc()
    given = [matrix.astype(kind) for M in (A, T) for matrix, kind in
             [(M.indptr, np.int64), (M.indices, np.int32), (M.data, float)]]  # fmt: skip
    exact = 0.5 * (A @ B.T).toarray()[start : start + 4] + 1
    for module in (_numeric, definition):
        out = np.ones((4, B.shape[0]))
        module.add_sparse_gram(*given, 0.5, symmetric, start, out)
        expected = np.where(np.arange(7) >= start + np.arange(4)[:, None], exact, 1) if symmetric else exact
        np.testing.assert_allclose(out, expected, rtol=1e-14)


@settings(max_examples=30)
@given(segments.filter(len), st.integers(1, 4), st.sampled_from([0.3, 0.5, 1.0]), st.booleans())
def test_subsequence_pairs(parts, length, decay, graded):
    codes, starts = flat(parts)
    left, right = (grid.ravel().astype(np.int64) for grid in np.indices((len(parts), len(parts))))
    size = int(codes.max(initial=0)) + 1
    similarity = np.random.default_rng(size).random((size, size)) if graded else np.zeros((0, 0))
    ours = _numeric.subsequence_pairs(codes, starts, left, right, length, decay, similarity)
    np.testing.assert_allclose(
        ours, definition.subsequence_pairs(codes, starts, left, right, length, decay, similarity), rtol=1e-13
    )


def test_letters_beyond_the_table_are_refused():
    with pytest.raises(ValueError, match="within the table"):
        _numeric.subsequence_pairs(
            np.array([0, 3], np.int32), np.array([0, 2]), np.array([0]), np.array([0]), 1, 0.5, np.eye(3)
        )


@given(seeds)
def test_tree_pairs(seed):
    rng = np.random.default_rng(seed)
    productions, child_starts, children, starts = [], [0], [], [0]
    for _ in range(3):
        for v in range(rng.integers(0, 6)):
            kind = int(rng.integers(0, min(v, 2) + 1))  # as many children as the number says
            productions.append(kind)
            children += sorted(rng.choice(v, kind, replace=False) + starts[-1]) if kind else []
            child_starts.append(len(children))
        starts.append(len(productions))
    forest = [np.array(values, np.int64) for values in (productions, child_starts, children, starts)]
    left, right = (grid.ravel().astype(np.int64) for grid in np.indices((3, 3)))
    ours = _numeric.tree_pairs(*forest, left, right, 0.5)
    np.testing.assert_allclose(ours, definition.tree_pairs(*forest, left, right, 0.5), rtol=1e-13)


@pytest.mark.parametrize("tree_pairs", [_numeric.tree_pairs, definition.tree_pairs])
def test_pairs_of_trees_have_two_ends(tree_pairs):
    forest = [np.array(values, np.int64) for values in ([0, 0], [0, 0, 0], [], [0, 1, 2])]
    with pytest.raises(ValueError):
        tree_pairs(*forest, np.array([0, 1]), np.array([0]), 0.5)


@pytest.mark.parametrize("module", [_numeric, definition])
def test_keys_need_rows(module):
    keys = np.zeros(3, np.uint64)
    with pytest.raises(ValueError, match="3 keys need as many rows"):
        module.count_keys(keys, np.zeros(2, np.int64), np.zeros(0), 1)
    with pytest.raises(ValueError, match=r"rows must rise within 0 \.\. 1"):
        module.count_keys(keys, np.array([0, 1, 0]), np.zeros(0), 2)
