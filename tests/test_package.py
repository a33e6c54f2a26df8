"""The package: complete metadata, pinned extras, files that belong to it, and scikit-learn's metadata routing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import mercer

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(requirement):
    return re.match(r"[\w-]+", requirement).group().lower().replace("_", "-")


def test_metadata_are_complete():
    assert {"description", "readme", "license", "authors", "keywords", "scripts"} <= set(PROJECT)
    oldest = re.search(r"3\.(\d+)", PROJECT["requires-python"]).group(1)
    assert f"Programming Language :: Python :: 3.{oldest}" in PROJECT["classifiers"]
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert Path(mercer.__file__).with_name("py.typed").exists()
    for name in ("LICENSE", "SECURITY.md", "CITATION.cff", "CHANGELOG.md"):
        assert (ROOT / name).read_text(encoding="utf-8").strip()


def test_addresses_are_those_of_a_home_that_is_cited():
    """The project has no public home yet; an address that someone else may register must not stand in the metadata."""
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert all(address in cited for name, address in PROJECT.get("urls", {}).items() if name in {"Homepage", "Source"})
    assert ("repository-code" in cited) == ("urls" in PROJECT)


def test_versions_agree():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited.group(1) == PROJECT["version"] == mercer.__version__


def test_every_requirement_of_an_extra_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {name_of(line) for line in lines}
    assert all("==" in line for line in lines)
    assert lines == sorted(lines, key=str.lower)
    needed = {name_of(each) for extra in PROJECT["optional-dependencies"].values() for each in extra}
    assert sorted(needed - pinned) == []


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_rows():
    """Rows of which the first half has weight zero and another law."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(np.arange(200) < 100, 5.0 - X[:, 0], X[:, 0] + 2 * X[:, 1])
    return X, y, np.repeat([1e-9, 1.0], 100)


def test_weights_are_routed_through_a_pipeline(routing):
    X, y, weight = weighted_rows()
    scale = mercer.Standardize().set_fit_request(sample_weight=True)
    model = mercer.RidgeRegressor(1e-6).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(scale, model).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(pipeline[0].mean_, X[100:].mean(axis=0), atol=1e-7)
    np.testing.assert_allclose(pipeline.predict(X[100:]), y[100:], atol=1e-4)


def test_weights_that_nobody_requested_are_refused(routing):
    X, y, weight = weighted_rows()
    pipeline = make_pipeline(mercer.Standardize(), mercer.RidgeRegressor(1.0))
    with pytest.raises(Exception, match="sample_weight"):
        pipeline.fit(X, y, sample_weight=weight)


def test_weights_reach_one_step_and_not_the_other(routing):
    X, y, weight = weighted_rows()
    scale = mercer.Standardize().set_fit_request(sample_weight=False)
    model = mercer.RidgeRegressor(1e-6).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(scale, model).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(pipeline[0].mean_, X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(pipeline.predict(X[100:]), y[100:], atol=1e-4)


def test_weights_are_routed_through_a_grid_search(routing):
    X, y, weight = weighted_rows()
    order = np.random.default_rng(1).permutation(len(X))
    X, y, weight = X[order], y[order], weight[order]
    found = []
    for model in (Ridge(), mercer.RidgeRegressor()):
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"alpha": [1e-3, 1.0, 1e3]}, cv=4).fit(X, y, sample_weight=weight)
        found.append(search)
    assert found[0].best_params_ == found[1].best_params_
    np.testing.assert_allclose(
        found[1].cv_results_["mean_test_score"], found[0].cv_results_["mean_test_score"], atol=1e-6
    )
