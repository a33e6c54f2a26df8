"""A matrix less outer products, and one made symmetric."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import _numeric
from mercer._numeric.linalg import outer as definition
from mercer._numeric.linalg.gram import less_outer_products, mirror

BOTH = [_numeric.subtract_outer_products, definition.subtract_outer_products]


@given(st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_twins_round_alike(n, seed):
    rng = np.random.default_rng(seed)
    G, h, m = rng.normal(size=(n, n + 3))[:, :n], rng.normal(size=n), 1e3 * rng.normal(size=n)
    found = [np.full((n, n), np.nan) for _ in BOTH]
    for function, out in zip(BOTH, found, strict=True):
        function(G, h, m, out)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], less_outer_products(G, h, m))
    scale = np.abs(G).max(initial=0) + 2 * np.abs(h).max(initial=0) * np.abs(m).max(initial=0)
    np.testing.assert_allclose(found[0], G - np.outer(h, m) - np.outer(m, h), atol=4e-16 * scale)


@pytest.mark.parametrize("function", BOTH)
def test_shapes_that_do_not_fit_are_refused(function):
    square, row = np.zeros((3, 3)), np.zeros(3)
    for arrays, words in (
        ((np.zeros((3, 2)), row, row, square), "G must be square"),
        ((square, np.zeros(2), row, square), "G must be square"),
        ((square, row, row, np.zeros((2, 3))), "out"),
    ):
        with pytest.raises(ValueError, match=words):
            function(*arrays)


@pytest.mark.parametrize("n", [0, 1, 3, 256, 300])
def test_a_mirror_takes_the_upper_triangle(n):
    G = np.random.default_rng(n).normal(size=(n, n))
    kept = G.copy()
    np.testing.assert_array_equal(mirror(G), np.triu(G) + np.triu(G, 1).T)
    np.testing.assert_array_equal(G, kept)
