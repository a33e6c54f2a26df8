"""Exact power sums: equal to sums of fractions, the same bits for any split, order, merge and storage."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer import _numeric
from mercer._numeric.linalg import exact_sums as definition

MODULES = pytest.mark.parametrize("module", [_numeric, definition])
LARGEST, SMALLEST = np.finfo(np.float64).max, 5e-324

corners = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    LARGEST,
    -LARGEST,
    SMALLEST,
    -SMALLEST,
    1e308,
    1e200,
    1e-200,
    2.0**53 - 1,
    1e15,
]
finite = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(corners)
shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=8)
tables = hnp.arrays(np.float64, shapes, elements=finite)
weighted_tables = tables.flatmap(
    lambda X: st.tuples(
        st.just(X),
        st.none() | hnp.arrays(np.float64, len(X), elements=st.floats(0, LARGEST) | st.sampled_from([0.0, 1.0])),
    )
)


def fraction_sums(X, weight=None):
    """The slow obvious twin: sums of w x and w x^2 per column in rational numbers."""
    weight = [Fraction(1)] * len(X) if weight is None else [Fraction(w) for w in weight.tolist()]
    columns = [[Fraction(x) for x in column] for column in X.T.tolist()]
    return [[sum(w * x**p for w, x in zip(weight, column, strict=True)) for column in columns] for p in (1, 2)]


def as_fractions(low, S):
    integers, exponent = _numeric.limbs_to_integers(low, S)
    return [integer * Fraction(2) ** exponent for integer in integers]


def identical(a, b):
    lows = a[::2] == b[::2]
    return lows and all(s.shape == t.shape and np.array_equal(s, t) for s, t in zip(a[1::2], b[1::2], strict=True))


def add(a, b):
    return (*_numeric.add_limbs(*a[:2], *b[:2]), *_numeric.add_limbs(*a[2:], *b[2:]))


def is_canonical(low, S):
    if S.shape[1] == 0:
        return low == 0
    lower, top = S[:, :-1], S[:, -1]
    in_range = np.all((lower >= 0) & (lower < 2**32)) and np.all((top >= -(2**31)) & (top < 2**31))
    needed = S.shape[1] == 1 or np.any(top != np.where(S[:, -2] >= 2**31, -1, 0))
    return in_range and needed and S[:, 0].any()


# --- what the sums are


@MODULES
@given(weighted_tables)
def test_sums_are_the_sums_of_fractions(module, table):
    X, weight = table
    low1, S1, low2, S2 = module.exact_power_sums(X, weight)
    assert [as_fractions(low1, S1), as_fractions(low2, S2)] == fraction_sums(X, weight)
    assert is_canonical(low1, S1)
    assert is_canonical(low2, S2)
    assert S1.dtype == S2.dtype == np.int64
    assert len(S1) == len(S2) == X.shape[1]


@given(weighted_tables)
def test_twins(table):
    assert identical(_numeric.exact_power_sums(*table), definition.exact_power_sums(*table))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(3000, 1), (700, 16), (500, 37), (2, 1000)])
def test_twins_on_larger_blocks(dtype, weighted, shape):
    rng = np.random.default_rng(0)
    max_exponent = 30 if dtype == np.float32 else 300
    X = (rng.normal(size=shape) * 10.0 ** rng.integers(-max_exponent, max_exponent, shape[1])).astype(dtype)
    X[rng.random(shape) < 0.2] = 0
    weight = rng.random(shape[0]) if weighted else None
    expected = definition.exact_power_sums(X, weight)
    assert identical(_numeric.exact_power_sums(X, weight), expected)
    assert identical(_numeric.exact_power_sums(X.astype(np.float64), weight), expected)


@MODULES
def test_millions_of_the_largest_numbers(module):
    """More rows than the compiled code gathers before it empties its 128-bit totals."""
    n = 2**21 + 5
    low1, S1, low2, S2 = module.exact_power_sums(np.full((n, 1), -LARGEST))
    assert as_fractions(low1, S1) == [-n * Fraction(LARGEST)]
    assert as_fractions(low2, S2) == [n * Fraction(LARGEST) ** 2]


# --- a true monoid


@settings(max_examples=50)
@given(weighted_tables, st.randoms(use_true_random=False))
def test_any_split_and_any_order_give_the_same_bits(table, random):
    X, weight = table
    order = random.sample(range(len(X)), len(X))
    cut = random.randint(0, len(X))
    weight = np.ones(len(X)) if weight is None else weight
    parts = [_numeric.exact_power_sums(X[rows], weight[rows]) for rows in (order[:cut], order[cut:])]
    whole = _numeric.exact_power_sums(X, weight)
    assert identical(add(*parts), whole)
    assert identical(add(*parts[::-1]), whole)


limb_pairs = st.integers(-3, 3).flatmap(
    lambda low: hnp.arrays(
        np.int64, st.tuples(st.just(2), st.integers(0, 4)), elements=st.integers(-(2**61), 2**61)
    ).map(lambda S: (low, S))
)


@given(limb_pairs, limb_pairs, limb_pairs)
def test_addition_is_associative_and_commutative_with_an_identity(a, b, c):
    plus = _numeric.add_limbs
    left, right = plus(*plus(*a, *b), *c), plus(*a, *plus(*b, *c))
    assert identical(left, right)
    assert identical(plus(*a, *b), plus(*b, *a))
    assert is_canonical(*left)
    values = [as_fractions(*pair) for pair in (a, b, c)]
    assert as_fractions(*left) == [sum(column) for column in zip(*values, strict=True)]
    for identity in [(0, np.zeros((2, 0), np.int64)), (5, np.zeros((0, 0), np.int64))]:
        assert identical(plus(*a, *identity), plus(*identity, *a))
        assert as_fractions(*plus(*a, *identity)) == as_fractions(*a)


def test_adding_does_not_write_to_its_arguments():
    A, B = np.array([[2**32 - 1]]), np.array([[1]])
    assert identical(_numeric.add_limbs(0, A, 0, B), (1, np.array([[1]])))
    assert (A.tolist(), B.tolist()) == ([[2**32 - 1]], [[1]])


def test_sums_over_different_columns_are_refused():
    with pytest.raises(ValueError, match="over 1 and over 2 columns"):
        _numeric.add_limbs(0, np.ones((1, 1), np.int64), 0, np.ones((2, 1), np.int64))


# --- storage and weights


@MODULES
def test_memory_order_does_not_matter(module):
    X = np.random.default_rng(3).normal(size=(60, 20))
    expected = module.exact_power_sums(X)
    read_only = np.asfortranarray(X)
    read_only.flags.writeable = False
    for same in (read_only, X[::-1], np.repeat(X, 2, axis=1)[:, ::2], X[:, ::-1][:, ::-1]):
        assert identical(module.exact_power_sums(same), expected)


@MODULES
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_agrees_with_dense(module, value, index):
    X = sp.random(40, 25, 0.2, random_state=1, dtype=value).tocsr()
    X.data[::7] = 0
    weight = np.random.default_rng(1).random(40)
    entry_weight = np.repeat(weight, np.diff(X.indptr))
    indices = X.indices.astype(index)
    assert identical(module.exact_power_sums_csr(X.data, indices, 25), module.exact_power_sums(X.toarray()))
    weighted = module.exact_power_sums_csr(X.data, indices, 25, entry_weight)
    assert identical(weighted, module.exact_power_sums(X.toarray(), weight))


@MODULES
def test_integer_weights_are_repeated_rows(module):
    rng = np.random.default_rng(2)
    X, times = rng.normal(size=(30, 3)), rng.integers(0, 5, 30)
    repeated = module.exact_power_sums(np.repeat(X, times, axis=0))
    assert identical(module.exact_power_sums(X, times.astype(np.float64)), repeated)
    strided = np.repeat(times.astype(np.float64), 2)[::2]
    assert identical(module.exact_power_sums(X, strided), repeated)


@MODULES
def test_nothing_to_sum(module):
    for X in (np.empty((0, 3)), np.zeros((4, 3)), np.array([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])):
        low1, S1, _, S2 = module.exact_power_sums(X)
        assert (low1, S1.shape) == (0, (3, 0))
        assert len(S2) == 3
    assert identical(module.exact_power_sums(X, np.zeros(2)), module.exact_power_sums(np.zeros((1, 3))))
    assert module.exact_power_sums(np.empty((5, 0)))[1].shape == (0, 0)
    nothing = module.exact_power_sums_csr(np.empty(0), np.empty(0, np.int32), 3)
    assert identical(nothing, module.exact_power_sums(np.empty((0, 3))))


REFUSED = {
    "X[1, 0] is not finite": lambda m: m.exact_power_sums(np.array([[1.0, 2.0], [np.nan, 1.0], [np.inf, 0.0]])),
    "X[0, 1] is not finite": lambda m: m.exact_power_sums(np.array([[1.0, -np.inf]], np.float32), np.ones(1)),
    "data[1], in column 4, is not finite": lambda m: m.exact_power_sums_csr(
        np.array([1.0, np.inf]), np.array([0, 4]), 5
    ),
    "indices[1] is outside of 0 .. 3": lambda m: m.exact_power_sums_csr(np.ones(2), np.array([0, 4]), 4),
    "indices[0] is outside of 0 .. 3": lambda m: m.exact_power_sums_csr(np.ones(1), np.array([-1]), 4),
    "one length, got 2 and 1": lambda m: m.exact_power_sums_csr(np.ones(2), np.array([0]), 4),
    "one number for each of 2 rows, got shape (3,)": lambda m: m.exact_power_sums(np.ones((2, 1)), np.ones(3)),
    "weight[1] must be finite": lambda m: m.exact_power_sums(np.ones((2, 1)), np.array([1.0, -1.0])),
    "weight[0] must be finite": lambda m: m.exact_power_sums_csr(np.ones(1), np.array([0]), 1, np.array([np.nan])),
}


@MODULES
@pytest.mark.parametrize("message", REFUSED)
def test_wrong_input_is_refused_with_its_place(module, message):
    with pytest.raises(ValueError) as caught:
        REFUSED[message](module)
    assert message in str(caught.value)


# --- moments


def moments(X, weight=None):
    total = len(X) if weight is None else _numeric.exact_power_sums(weight[:, None])[:2]
    return _numeric.exact_mean_and_variance(total, *_numeric.exact_power_sums(X, weight))


def rounded(fraction):
    try:
        return float(fraction)
    except OverflowError:
        return math.inf


def rounded_root(fraction):
    """The root to 800 digits, more than a float64 or the midpoint of two can have, then rounded once."""
    with decimal.localcontext(decimal.Context(prec=800, Emin=-9999, Emax=9999)):
        return float((decimal.Decimal(fraction.numerator) / decimal.Decimal(fraction.denominator)).sqrt())


@settings(max_examples=200)
@given(weighted_tables)
def test_moments_are_correctly_rounded(table):
    X, weight = table
    total = Fraction(len(X)) if weight is None else sum(map(Fraction, weight.tolist()))
    assume(total != 0)
    result = moments(X, weight)
    for j, (s1, s2) in enumerate(zip(*fraction_sums(X, weight), strict=True)):
        variance = s2 / total - (s1 / total) ** 2
        assert result.mean[j] == rounded(s1 / total)
        assert result.variance[j] == rounded(variance)
        assert result.std[j] == rounded_root(variance)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e15, -1e15])
@pytest.mark.parametrize("scale", [2.0**-900, 1.0, 2.0**900])
def test_offsets_and_scales_cost_no_accuracy(offset, scale):
    """Integer noise of known variance survives an offset of 1e15 to the last bit, at any scale."""
    noise = np.tile([-3.0, -1.0, 1.0, 3.0], 250)[:, None]
    result = moments((offset + noise) * scale)
    assert result.mean[0] == offset * scale
    assert result.std[0] == math.sqrt(5) * scale
    assert result.variance[0] in (5 * scale * scale, math.inf)


def test_extreme_values_have_finite_moments():
    result = moments(np.array([[LARGEST, SMALLEST, 1e200], [-LARGEST, -SMALLEST, -1e200]]))
    assert result.mean.tolist() == [0.0, 0.0, 0.0]
    assert result.std.tolist() == [LARGEST, SMALLEST, 1e200]
    assert result.variance.tolist() == [math.inf, 0.0, math.inf]


def test_constant_columns_have_no_variance():
    X = np.full((7, 2), [0.1, 1e300])
    result = moments(X, np.random.default_rng(0).random(7))
    assert result.mean.tolist() == [0.1, 1e300]
    assert result.variance.tolist() == result.std.tolist() == [0.0, 0.0]


def test_the_total_may_be_a_number_an_array_or_limbs():
    X = np.random.default_rng(4).normal(size=(8, 3))
    sums = _numeric.exact_power_sums(X)
    expected = np.array(moments(X))
    ones = _numeric.exact_power_sums(np.ones((8, 3)))[:2]
    for total in (8, 8.0, Fraction(8), np.int64(8), np.full(3, 8), ones):
        assert np.array_equal(np.array(_numeric.exact_mean_and_variance(total, *sums)), expected)


def test_impossible_totals_are_refused():
    sums = _numeric.exact_power_sums(np.array([[1.0, 2.0, 3.0]]))
    for total in (0, -1, np.array([1, 0, 1]), (0, np.zeros((1, 0), np.int64))):
        with pytest.raises(ValueError, match="total must be positive"):
            _numeric.exact_mean_and_variance(total, *sums)
    with pytest.raises(ValueError, match="each of 3 columns, got 2"):
        _numeric.exact_mean_and_variance(np.array([1, 1]), *sums)
    with pytest.raises(ValueError, match="variance would be negative"):
        _numeric.exact_mean_and_variance(Fraction(1, 2), *sums)
