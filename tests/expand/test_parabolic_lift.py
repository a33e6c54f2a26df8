"""ParabolicLift: balls are halfspaces, halfspaces are balls, complements, halfspaces, everything or nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from mercer.expand import ParabolicLift

LIFT = ParabolicLift().fit(np.zeros((1, 2)))
GRID = np.stack(np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-3, 3, 25)), axis=-1).reshape(-1, 2)
numbers = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_sparse_and_back(dtype):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]], dtype)
    for form in (np.asarray, sp.csr_array, sp.csr_matrix):
        Z = LIFT.transform(form(X))
        assert type(Z) is type(form(X))
        assert Z.dtype == dtype
        back = LIFT.inverse_transform(Z)
        if sp.issparse(Z):
            assert Z.nnz == 5
            assert Z.has_canonical_format
            Z, back = Z.toarray(), back.toarray()
        np.testing.assert_array_equal(Z, [[3, 4, 25], [0, 0, 0], [0, -2, 4]])
        np.testing.assert_array_equal(back, X)
    with pytest.raises(ValueError, match="expects 3 columns"):
        LIFT.inverse_transform(X)


@given(st.tuples(numbers, numbers), st.floats(0.01, 10), st.floats(0.01, 100))
def test_the_printed_halfspace_of_a_ball_gives_the_ball_back(center, radius, size):
    """The ball is <(2c, -1), phi(x)> >= ||c||^2 - r^2."""
    c = np.array(center)
    found = LIFT.ball(size * np.array([*(2 * c), -1.0]), size * (radius**2 - c @ c))
    assert found.kind == "ball"
    got_center, got_radius = found
    np.testing.assert_allclose(got_center, c, rtol=1e-12, atol=1e-12)
    assert abs(got_radius**2 - radius**2) <= 1e-12 * (radius**2 + c @ c)
    complement = LIFT.ball(-size * np.array([*(2 * c), -1.0]), -size * (radius**2 - c @ c))
    assert complement.kind == "complement"
    np.testing.assert_allclose(complement.center, got_center)
    assert complement.radius == got_radius


@given(st.tuples(numbers, numbers, numbers), numbers)
def test_center_and_radius_reproduce_the_decisions(coef, intercept):
    score = LIFT.transform(GRID) @ np.array(coef) + intercept
    region = LIFT.ball(coef, intercept)
    clear = np.abs(score) > 1e-9 * (1 + np.abs(coef).max() * 20 + abs(intercept))
    np.testing.assert_array_equal(region.contains(GRID)[clear], score[clear] > 0)
    np.testing.assert_array_equal(region.contains(sp.csr_array(GRID))[clear], score[clear] > 0)
    if region.kind in ("ball", "complement"):
        center, radius = region.center, region.radius
        distance = np.linalg.norm(GRID - center, axis=1)
        clear &= np.abs(distance - radius) > 1e-9 * (1 + radius)
        inside = distance < radius
        np.testing.assert_array_equal(inside[clear], (score > 0)[clear] == (region.kind == "ball"))
    elif region.kind != "halfspace":
        assert np.all((score[clear] > 0) == (region.kind == "everything"))


@pytest.mark.parametrize(
    ("coef", "intercept", "kind", "radius"),
    [
        ([0.0, 0.0, -1.0], 4.0, "ball", 2.0),
        ([0.0, 0.0, 1.0], -4.0, "complement", 2.0),
        ([1.0, 0.0, 0.0], -1.0, "halfspace", np.inf),
        ([1.0, 0.0, 1e-320], -1.0, "halfspace", np.inf),
        ([0.0, 0.0, -1.0], -4.0, "nothing", np.nan),
        ([0.0, 0.0, 1.0], 4.0, "everything", np.nan),
        ([0.0, 0.0, -1.0], 0.0, "nothing", 0.0),
        ([0.0, 0.0, 1.0], 0.0, "complement", 0.0),
        ([0.0, 0.0, 0.0], 1.0, "everything", np.nan),
        ([0.0, 0.0, 0.0], 0.0, "nothing", np.nan),
        ([2e200, 0.0, -1e200], 8e200, "ball", 3.0),
    ],
)
def test_every_kind_of_region(coef, intercept, kind, radius):
    region = LIFT.ball(coef, intercept)
    assert region.kind == kind
    np.testing.assert_equal(region.radius, radius)
    assert (region.center is None) == (coef[2] == 0 or kind == "halfspace")
    assert (region.normal is not None) == (kind == "halfspace")
    if kind == "ball":
        assert len(region) == 2
        np.testing.assert_array_equal(region[0], region.center)
        assert region[1] == region[-1] == region.radius
    else:
        what = {"complement": "the complement of a ball"}.get(kind, kind)
        with pytest.raises(ValueError, match=f"{what}.* not a ball"):
            _, _ = region
        with pytest.raises(ValueError, match="attributes kind, center, radius"):
            region[0]
    if kind in ("everything", "nothing"):
        assert np.all(region.contains(GRID) == (kind == "everything"))


def test_a_classifier_finds_the_circle():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(2000, 2))
    y = np.linalg.norm(X - [0.5, -1.0], axis=1) < 1.5
    model = LogisticRegression(C=1e4, max_iter=1000).fit(LIFT.transform(X), y)
    region = LIFT.ball(model.coef_, model.intercept_)
    assert region.kind == "ball"
    np.testing.assert_array_equal(region.contains(X), model.predict(LIFT.transform(X)))
    np.testing.assert_allclose(region.center, [0.5, -1.0], atol=0.1)
    assert abs(region.radius - 1.5) < 0.1


def test_refusals_and_names():
    with pytest.raises(ValueError, match="3 coefficients and one intercept"):
        LIFT.ball([1.0, 2.0], 0.0)
    with pytest.raises(ValueError, match="one row of coef_"):
        LIFT.ball(np.ones((3, 3)), np.ones(3))
    with pytest.raises(ValueError, match="finite"):
        LIFT.ball([1.0, np.nan, 0.0], 0.0)
    with pytest.raises(ValueError, match="squared norm of row 1 exceeds"):
        LIFT.transform([[1.0, 1.0], [1e200, 0.0]])
    assert LIFT.get_feature_names_out().tolist() == ["x0", "x1", "squared_norm"]
    assert LIFT.get_feature_names_out(["squared_norm", "b"]).tolist() == ["squared_norm", "b", "squared_norm_"]
