"""The boundary, the map of bandwidth and penalty, and certificates of random features."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from auto.diagnostics.held_out_cases import fitted, linear_rows, mixed_table
from mercer import kernels
from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.sections import boundary, certificates
from mercer.auto.diagnostics.sections.certificates import kernel_error_bound
from mercer.auto.diagnostics.sections.kernel_map import bandwidth_of, kernel_map, scaled_bandwidth
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows, dense
from mercer.auto.search.kernels import KernelCandidate
from mercer.bounds import fourier_dimension
from mercer.kernels.subsets import OnSubsets
from mercer.source import Columns


@pytest.mark.parametrize("classify", [False, True])
def test_the_boundary_is_that_of_rows_at_the_mean(classify):
    rng = np.random.default_rng(0)
    table, signal = mixed_table(400, rng)
    rows, _ = fitted(table, signal > 1 if classify else signal, classify)
    found = boundary.section(rows, ["city", "rooms", "day", "size", "new"])
    assert (found["x_title"], found["y_title"]) == ("rooms", "size")
    assert found["output"] == ("True" if classify else None)
    assert np.shape(found["values"]) == (len(found["y"]), len(found["x"]))
    assert found["x"] == np.rint(found["x"]).tolist()
    for i, j in ((0, 0), (7, 3), (39, 20)):
        raw = rows.table[:1].table
        for name, value in (("rooms", int(found["x"][j])), ("size", found["y"][i])):
            raw = raw.set_column(raw.schema.get_field_index(name), name, pa.array([value]))
        x, own = rows.baseline.copy(), np.concatenate([rows.groups["rooms"], rows.groups["size"]])
        x[own] = dense(rows.encoder.transform(Columns(raw)))[0, own]
        value = rows.predictor.probabilities(x[None])[0, 1] if classify else rows.predictor.predict(x[None])[0]
        assert found["values"][i][j] == pytest.approx(value, abs=1e-9)
    assert 0 < len(found["points"]) <= 200


def test_one_column_of_numbers_has_no_boundary():
    rng = np.random.default_rng(1)
    rows = linear_rows(rng.normal(size=(50, 1)), rng.normal(size=50), [1.0])
    assert boundary.section(rows, ["x0"]) is None


def _predictor(kernel, width, penalty, d):
    candidate = KernelCandidate(kernel, np.ones(d))
    features = Features([candidate.features(width, 0)])
    result = SimpleNamespace(kernel=candidate, features=features, penalties=np.array([penalty]))
    return Predictor(features, np.ones((width, 1)), np.zeros(1), None, result.penalties, result=result)


@pytest.mark.parametrize("times", [0.5, 1.0, 4.0])
def test_the_map_is_lowest_near_the_true_bandwidth(times):
    rng = np.random.default_rng(2)
    X, true = rng.normal(size=(1500, 2)), 0.5
    drawn = KernelCandidate(kernels.Gaussian(true), np.ones(2)).features(4000, 77)
    y = drawn.features(X) @ rng.normal(size=4000) + 0.1 * rng.normal(size=1500)
    encoded = EncodedRows(X, y, rng.integers(0, 2**60, 1500).astype(np.uint64))
    found = kernel_map(encoded, _predictor(kernels.Gaussian(times * true), 128, 0.01, 2), False, 0)
    loss = np.array(found["loss"])
    best = found["bandwidths"][int(np.argmin(loss.min(axis=1)))]
    assert true / 2 <= best <= 2 * true
    assert found["bandwidths"][found["chosen"][0]] == pytest.approx(times * true)
    assert found["penalties"][found["chosen"][1]] == pytest.approx(0.01)
    assert loss.shape == (7, 9)
    assert loss.min() < 0.3
    assert ("smallest loss at the chosen" in found["sentence"]) == (loss.min() == loss[3, 4])


def test_a_loss_of_the_map_is_that_of_a_direct_cross_validation():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=300)
    ids = rng.integers(0, 2**60, 300).astype(np.uint64)
    predictor = _predictor(kernels.Gaussian(1.0), 64, 0.5, 2)
    found = kernel_map(EncodedRows(X, y, ids), predictor, False, 0)
    from mercer._numeric.hashing.rows import fold_of

    Z = KernelCandidate(kernels.Gaussian(1.0), np.ones(2)).features(256, 0).features(X).astype(float)
    folds, errors = fold_of(ids, 5, 0), np.zeros(300)
    for k in range(5):
        train = folds != k
        A, b = Z[train] - Z[train].mean(axis=0), y[train] - y[train].mean()
        w = np.linalg.solve(A.T @ A + 0.5 * np.eye(256), A.T @ b)
        errors[~train] = y[~train] - y[train].mean() - (Z[~train] - Z[train].mean(axis=0)) @ w
    assert found["loss"][3][4] == pytest.approx(np.mean(errors**2) / np.var(y), rel=1e-3)


def test_bandwidths_of_composed_kernels_are_multiplied():
    kernel = OnSubsets(kernels.Gaussian(2.0), order=2)
    assert bandwidth_of(kernel) == 2.0
    assert bandwidth_of(scaled_bandwidth(kernel, 4.0)) == 8.0
    both = scaled_bandwidth(kernels.Gaussian(2.0) + kernels.Laplace(3.0), 2.0)
    assert both == kernels.Gaussian(4.0) + kernels.Laplace(6.0)
    assert bandwidth_of(kernels.Linear()) is None


def test_no_map_without_random_features():
    rng = np.random.default_rng(4)
    x = rng.normal(size=200)
    rows, encoded = fitted({"x": x}, x, False)
    if not rows.predictor.features.has("fourier"):
        assert kernel_map(encoded, rows.predictor, False, 0) is None
    predictor = _predictor(kernels.Gaussian(1.0), 64, 0.5, 1)
    predictor.result = None
    assert kernel_map(encoded, predictor, False, 0) is None


@pytest.mark.parametrize(
    "kernel",
    [kernels.Gaussian(1.5), kernels.Laplace(2.0), kernels.Cauchy(1.0), OnSubsets(kernels.Gaussian(1.0), order=2)],
)
@pytest.mark.parametrize("width", [32, 512])
def test_the_bound_holds_for_the_measured_error(kernel, width):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 4))
    predictor = _predictor(kernel, width, 1.0, 4)
    rows = HeldOutRows(Columns.of(X), X, X[:, 0], np.arange(150), None, predictor, X.mean(axis=0))
    (found,) = certificates.section(rows)
    assert found["n_features"] == width
    assert 0 < found["measured"] <= found["bound"]
    Z = predictor.features.features(X).astype(float)
    assert found["measured"] == pytest.approx(np.abs(kernel(X) - Z @ Z.T).max(), abs=1e-6)


def test_the_bound_inverts_the_number_of_features():
    for eps in (0.05, 0.3, 1.0):
        width = fourier_dimension(eps, 0.05, 200, variance=kernels.Gaussian())
        assert kernel_error_bound(width, 200, kernels.Gaussian()) == pytest.approx(eps, rel=0.02)
        assert kernel_error_bound(width, 200, kernels.Gaussian()) <= eps * (1 + 1e-9)


def test_a_model_from_a_file_has_no_certificate():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    predictor = _predictor(kernels.Gaussian(1.0), 32, 1.0, 2)
    predictor.result = None
    rows = HeldOutRows(Columns.of(X), X, X[:, 0], np.arange(50), None, predictor, X.mean(axis=0))
    assert certificates.section(rows) is None
