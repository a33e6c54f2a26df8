"""Certificates: what they state holds for pairs that were not measured, at the stated confidence."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

from mercer._numeric.block import Block
from mercer.bounds import Certificate, DistanceCertificate, certify, certify_distances
from mercer.bounds.certify import largest_eigenvalue
from mercer.expand import RandomFeatures
from mercer.kernels import (
    Cauchy,
    ExponentialPower,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Overlap,
    Polynomial,
    RationalQuadratic,
    Sinc,
)
from mercer.source import MemorySource, StreamSource

KERNEL = Gaussian(2.0)


def rows(n=300, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def certificate_of(errors, delta=0.05, kind="sampled pairs", **more):
    return Certificate("a map", "an error", np.asarray(errors, dtype=float), delta, kind, 10, **more)


class Identity:
    """A map that changes nothing, so that its errors are known."""

    def transform(self, X):
        return X

    def __repr__(self):
        return "Identity()"


# what follows from measured errors


def test_the_figures_of_a_certificate():
    c = certificate_of([0.1, -0.4, 0.2, 0.0])
    assert (c.n_pairs, c.max) == (4, 0.4)
    assert c.rms == pytest.approx(np.sqrt(0.21 / 4))
    assert c.mean == pytest.approx(-0.025)
    assert [c.quantile(q) for q in (0.0, 0.25, 0.5, 0.51, 1.0)] == [0.0, 0.0, 0.1, 0.2, 0.4]
    assert c.exceedance == pytest.approx(1 - 0.05 ** (1 / 4))
    assert c.band == pytest.approx(np.sqrt(np.log(40) / 8))
    assert c.quantile_bound(0.9) == np.inf  # four pairs cannot tell


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_the_largest_error_is_exceeded_by_few_pairs(delta):
    c = certificate_of(np.linspace(0, 1, 1000), delta)
    share = c.fraction_above(c.max)
    assert share.observed == 0
    assert share.at_most == pytest.approx(c.exceedance)
    assert c.exceedance <= np.log(1 / delta) / 1000


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5, 0.995, 2.0])
def test_clopper_and_pearson(threshold):
    c = certificate_of(np.linspace(0, 1, 201))
    observed, at_most = c.fraction_above(threshold)
    above = int(np.sum(np.linspace(0, 1, 201) > threshold))
    assert observed == above / 201
    if above < 201:
        assert binom.cdf(above, 201, at_most) == pytest.approx(0.05)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 0.99])
def test_the_bound_of_a_quantile_is_the_first_order_statistic_that_does(q):
    c = certificate_of(np.arange(1000.0))
    rank = int(c.quantile_bound(q))  # P[the rank-th order statistic falls short] = P[Bin(B, q) > rank]
    assert binom.sf(rank, 1000, q) <= 0.05 < binom.sf(rank - 1, 1000, q)


def test_all_pairs_need_no_confidence():
    c = certificate_of([0.1, 0.3], kind="all pairs")
    assert c.exceedance == c.band == 0
    assert c.quantile_bound(0.5) == c.quantile(0.5) == 0.1
    assert c.fraction_above(0.2) == (0.5, 0.5)


def test_it_reads_and_serializes():
    c = certificate_of([0.1, 0.3], spectral_norm=0.5, spectral_rows=7, pointwise=np.array([0.2, 0.4]))
    text = str(c)
    for part in ("Certificate of a map", "an error: 2 pairs of 10 rows", "confidence 95 %", "||K - ZZ'||_2", "0.4"):
        assert part in text
    figures = json.loads(json.dumps(c.as_dict()))
    assert figures["max"] == 0.3
    assert figures["quantiles"]["0.99"]["at_most"] is None
    assert figures["pointwise_max"] == 0.4
    assert "array" not in repr(c)


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="at least one measured pair"):
        certificate_of([])
    with pytest.raises(ValueError, match="delta must be"):
        certificate_of([0.1], delta=0)
    with pytest.raises(ValueError, match="kind must be one of"):
        certificate_of([0.1], kind="guess")
    with pytest.raises(ValueError, match="spectral norm was not measured"):
        certificate_of([0.1]).fitted_value_bound(1.0)
    with pytest.raises(ValueError, match="alpha must be positive"):
        certificate_of([0.1], spectral_norm=1.0).fitted_value_bound(0.0)


# coverage: statement 3 of the handbook


def all_errors(features, kernel, X):
    Z = features.transform(X)
    return np.sort(np.abs((Z @ Z.T - kernel(X))[np.triu_indices(len(X), 1)]))


def share_above(errors, t):
    return 1 - np.searchsorted(errors, t, side="right") / len(errors)


@pytest.mark.parametrize(("n", "n_pairs", "kind"), [(400, 300, "sampled pairs"), (900, 100, "sampled rows")])
def test_it_covers_the_pairs_that_were_not_measured(n, n_pairs, kind):
    delta, seeds = 0.1, 400
    X = rows(n)
    features = RandomFeatures(KERNEL, n_components=64).fit(X)
    errors = all_errors(features, KERNEL, X)
    threshold, grid = np.quantile(errors, 0.95), errors[:: len(errors) // 1000]
    missed = {"max": 0, "share": 0, "quantile": 0, "band": 0}
    for seed in range(seeds):
        c = certify(features, KERNEL, X, delta, n_pairs, spectral_rows=0, random_state=seed)
        assert (c.kind, c.n_pairs) == (kind, n_pairs)
        missed["max"] += share_above(errors, c.max) > c.exceedance
        missed["share"] += share_above(errors, threshold) > c.fraction_above(threshold).at_most
        missed["quantile"] += share_above(errors, c.quantile_bound(0.9)) > 0.1
        seen = np.searchsorted(c._sizes, grid, side="right") / n_pairs
        missed["band"] += np.abs(1 - seen - share_above(errors, grid)).max() > c.band
    allowed = delta * seeds + 5 * np.sqrt(delta * (1 - delta) * seeds)
    assert all(count <= allowed for count in missed.values()), missed
    # The first three are exact or nearly so: a certificate that never fails would promise too little.
    assert all(missed[name] >= delta * seeds / 4 for name in ("max", "share", "quantile")), missed


def test_a_fresh_sample_of_rows_is_covered():
    delta, seeds, missed = 0.1, 150, 0
    features = RandomFeatures(KERNEL, n_components=64).fit(rows())
    fresh = all_errors(features, KERNEL, rows(1500, seed=10**6))
    for seed in range(seeds):
        c = certify(features, KERNEL, rows(500, seed=seed), delta, 200, spectral_rows=0)
        missed += share_above(fresh, c.max) > c.exceedance
    assert missed <= delta * seeds + 5 * np.sqrt(delta * seeds)


# what is measured


def test_the_spectral_norm_bounds_ridge_fits():
    X = rows(200)
    features = RandomFeatures(KERNEL, n_components=256).fit(X)
    c = features.certificate(X)
    assert c.spectral_rows == 200
    Z, K = features.transform(X), KERNEL(X)
    assert c.spectral_norm == pytest.approx(np.linalg.norm(K - Z @ Z.T, 2), rel=1e-9)
    y = np.random.default_rng(1).normal(size=200)
    for alpha in (0.1, 1.0, 10.0, 1000.0):
        exact, approximate = (G @ np.linalg.solve(G + alpha * np.eye(200), y) for G in (K, Z @ Z.T))
        bound = c.fitted_value_bound(alpha)
        assert np.linalg.norm(exact - approximate) <= bound * np.linalg.norm(y)
        assert bound == min(1, c.spectral_norm / alpha)


@pytest.mark.parametrize("n", [1, 2, 99, 300])
def test_largest_eigenvalue(n):
    E = np.random.default_rng(0).normal(size=(n, n))
    E += E.T
    assert largest_eigenvalue(E) == pytest.approx(np.abs(np.linalg.eigvalsh(E)).max(), rel=1e-10)


def test_few_rows_are_measured_completely():
    X = rows(40)
    features = RandomFeatures(KERNEL, n_components=64).fit(X)
    c = features.certificate(X)
    assert c.kind == "all pairs"
    np.testing.assert_allclose(c._sizes, all_errors(features, KERNEL, X), atol=1e-7)


@pytest.mark.parametrize("n", [60, 300, 2000])
@pytest.mark.parametrize("measure", [lambda m, X: certify(m, KERNEL, X, n_pairs=400), certify_distances])
def test_the_form_of_the_data_does_not_matter(n, measure):
    X = np.round(rows(n), 3)
    features = RandomFeatures(KERNEL, n_components=64).fit(X)
    expected = measure(features, X)
    others = {
        "csr": sparse.csr_matrix(X),
        "memory": MemorySource(X),
        "stream": StreamSource(lambda: (Block(X[i : i + 17]) for i in range(0, n, 17))),
        "shuffled": X[np.random.default_rng(0).permutation(n)],
    }
    for form, other in others.items():
        found = measure(features, other)
        np.testing.assert_allclose(found.errors, expected.errors, atol=3e-5, err_msg=form)
        assert (found.kind, found.n_rows) == (expected.kind, expected.n_rows)


def test_frames_keep_their_names():
    frame = pd.DataFrame(rows(50), columns=list("abcd"))
    fitted = RandomFeatures(KERNEL, n_components=64).fit(frame)
    named = certify(fitted, KERNEL.on(["a", "b", "c", "d"]), frame)
    np.testing.assert_allclose(named.errors, fitted.certificate(frame).errors, atol=1e-12)
    np.testing.assert_allclose(
        named._sizes, RandomFeatures(KERNEL, n_components=64).fit(rows(50)).certificate(rows(50))._sizes, atol=1e-7
    )


def test_objects_that_are_not_numbers():
    class Bag:
        def transform(self, X):
            return np.array([[word in row for word in "abc"] for row in X], dtype=float)

    words = [["a"], ["a", "b"], ["b", "c"], ["c"], ["a", "b", "c"]]
    assert certify(Bag(), Overlap(), words).max == 0


def test_float32_is_compared_in_float64():
    X = rows(50).astype(np.float32)
    c = certify(Identity(), Linear(), X)
    assert c.max < 1e-14
    assert c.errors.dtype == np.float64


def test_a_pipeline_is_certified_like_any_other_map():
    X = rows(100)
    features = RandomFeatures(KERNEL, n_components=64)
    alone, piped = features.fit(X), make_pipeline(features).fit(X)
    np.testing.assert_array_equal(certify(piped, KERNEL, X).errors, certify(alone, KERNEL, X).errors)


def test_certain_bounds_of_each_pair_are_kept():
    c = certify(Identity(), Linear(), rows(20), pointwise=lambda x, z: np.full(len(x), 0.25))
    assert c.pointwise.shape == c.errors.shape
    assert "for certain" in str(c)


def test_the_defaults_of_random_features():
    X = rows(300)
    with pytest.raises(NotFittedError):
        RandomFeatures().certificate(X)
    fitted = RandomFeatures().fit(X)
    c = fitted.certificate(X)
    assert str(fitted.kernel_) in c.subject
    assert (c.n_pairs, c.delta) == (5000, 0.05)
    assert fitted.certificate(X, delta=0.01).exceedance > c.exceedance


def test_wrong_questions_are_refused():
    fitted = RandomFeatures(KERNEL, n_components=16).fit(rows())
    with pytest.raises(ValueError, match="two different rows, got 1"):
        fitted.certificate(np.ones((5, 4)))
    with pytest.raises(ValueError, match="delta must be"):
        fitted.certificate(rows(), delta=1.5)
    with pytest.raises(ValueError, match="n_pairs must be a whole number"):
        fitted.certificate(rows(), n_pairs=0)
    with pytest.raises(ValueError, match="X has 3 features, but RandomFeatures is expecting 4"):
        fitted.certificate(rows(d=3))
    bad = rows()
    bad[17, 2] = np.nan
    for X in (bad, MemorySource(bad), sparse.csr_matrix(bad)):
        with pytest.raises(ValueError, match="NaN: column 2, first at row 17"):
            fitted.certificate(X)
    with pytest.raises(ValueError, match="spectral_rows must be at most 2000"):
        certify(fitted, KERNEL, rows(3000), spectral_rows=2500)


# distances


def test_relative_errors_of_projected_distances():
    X = rows(200, 100)
    projection = GaussianRandomProjection(50, random_state=0).fit(X)
    c = certify_distances(projection, X, n_pairs=10**5)
    assert c.kind == "all pairs"
    i, j = np.triu_indices(200, 1)
    Z = projection.transform(X)
    ratio = np.sum((Z[i] - Z[j]) ** 2, axis=1) / np.sum((X[i] - X[j]) ** 2, axis=1)
    np.testing.assert_allclose(c._sizes, np.sort(np.abs(ratio - 1)), atol=1e-9)
    assert c.spectral_norm is None
    huge = certify_distances(projection, X * 1e180, n_pairs=10**5)
    np.testing.assert_allclose(huge._sizes, c._sizes, atol=1e-9)


def test_the_mixin_of_projections():
    class Projection(DistanceCertificate, GaussianRandomProjection):
        pass

    X = rows(50, 100)
    projection = Projection(20, random_state=0)
    with pytest.raises(NotFittedError):
        projection.certificate(X)
    c = projection.fit(X).certificate(X, delta=0.1)
    assert "||x - x'||^2" in c.measured
    np.testing.assert_array_equal(c.errors, certify_distances(projection, X).errors)


SMOOTH = [
    Gaussian(0.3),
    Gaussian(1e6),
    Cauchy(),
    RationalQuadratic(alpha=0.1),
    Matern(nu=2.5),
    Matern(nu=np.inf),
    Sinc(),
    ExponentialPower(q=2.0),
    Gaussian() + Gaussian(5.0),
    0.1 * Gaussian(),
    Polynomial(2),
    Linear(),
]
ROUGH = [
    Laplace(),
    Laplace(1e6, norm="l1"),
    Matern(nu=0.3),
    Matern(nu=0.5),
    Matern(nu=1.5),
    Matern(nu=2.0),
    ExponentialPower(q=0.5),
    ExponentialPower(q=1.0),
    ExponentialPower(q=1.9),
    Gaussian() + 0.01 * Laplace(),
    Gaussian() * Laplace(),
]


@pytest.mark.parametrize("kernel", ROUGH, ids=str)
def test_relative_distances_of_rough_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="too rough at 0 for a certificate of relative distances"):
        certify_distances(Identity(), rows(10), kernel=kernel)


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
def test_relative_distances_of_smooth_kernels_are_certified(kernel):
    assert certify_distances(Identity(), rows(10), kernel=kernel).n_pairs == 45


def test_why_rough_kernels_are_refused():
    x = np.zeros((200, 1))
    z = x + 1e-3
    for kernel, near in ((Gaussian(), True), (Laplace(), False)):
        relative = []
        for seed in range(200):
            features = RandomFeatures(kernel, n_components=1000, sampling="iid", random_state=seed).fit(x)
            found = np.sum((features.transform(x[:1]) - features.transform(z[:1])) ** 2)
            relative.append(abs(found / kernel.distance(x[:1], z[:1])[0, 0] ** 2 - 1))
        # 500 frequencies: sqrt(R / 500) is 6 % for the Gaussian kernel and 140 % for Laplace at this distance
        assert (np.sqrt(np.mean(np.square(relative))) < 0.1) == near


def test_kernel_maps_are_certified_for_kernel_distances():
    X = rows(200)
    fitted = RandomFeatures(KERNEL, n_components=2048).fit(X)
    c = certify_distances(fitted, X)
    assert "||phi - phi'||^2" in c.measured
    assert c.max < 0.5
    with pytest.raises(ValueError, match="too rough"):
        certify_distances(RandomFeatures(Laplace(), n_components=64).fit(X), X)
    with pytest.raises(ValueError, match="at distance 0"):
        certify_distances(fitted, X, kernel=Gaussian(1e200))
