"""Calibrations of damaged model files are refused when they are loaded, not when rows are predicted."""

import numpy as np
import pytest

import mercer
from mercer.auto.conformal.calibration import LinearMap


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    return mercer.fit(X, X[:, 0] + X[:, 1] * rng.normal(size=300), effort="fast", report=False)


def wider(linear):
    return LinearMap(np.vstack([linear.coef, linear.coef[:1]]), linear.intercept)


DAMAGES = {
    "a map of other features": ("log_scales", wider, "other features"),
    "a map of other folds": ("log_scales", lambda m: LinearMap(m.coef[:, :0], m.intercept[:0]), "number of folds"),
    "an intercept of another length": ("log_scales", lambda m: LinearMap(m.coef, m.intercept[:0]), "vector"),
    "limits of another shape": ("limits", lambda limits: limits[:, :1].copy(), "limits"),
    "limits that are no numbers": ("limits", lambda limits: limits * np.nan, "NaN"),
    "no scores": ("scores", lambda scores: [], "no conformity scores"),
    "scores of more targets": ("scores", lambda scores: scores * 2, "damaged"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_calibrations_are_refused(model, damage, tmp_path, monkeypatch):
    name, change, problem = DAMAGES[damage]
    calibration = model.predictor.calibration
    assert calibration.log_scales is not None
    monkeypatch.setattr(calibration, name, change(getattr(calibration, name)))
    model.save(tmp_path / "m.mercer")
    with pytest.raises(ValueError, match=problem):
        mercer.load(tmp_path / "m.mercer")


def test_sets_of_other_classes_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = mercer.fit(X, np.where(X[:, 0] > 0, "a", "b"), effort="fast", report=False)
    model.predictor.calibration.per_class.pop()
    model.save(tmp_path / "m.mercer")
    with pytest.raises(ValueError, match="other classes"):
        mercer.load(tmp_path / "m.mercer")


def test_ten_rows_have_finite_ends_and_four_have_none():
    rng = np.random.default_rng(0)
    for n, finite in ((4, False), (12, True)):
        X = rng.normal(size=(n, 2))
        model = mercer.fit(X, X[:, 0] + 0.1 * rng.normal(size=n), effort="fast", holdout=0, report=False)
        ends = model.predict_interval(X, 0.9)
        assert np.isfinite(ends).all() == finite
        assert not np.isnan(ends).any()
