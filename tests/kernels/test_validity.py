"""Which similarities are kernels, the rows that show it, and repairs."""

import numpy as np
import pytest

from mercer.kernels import Custom, Gaussian, Linear, Polynomial, check_mercer, repair, validity

rng = np.random.default_rng(0)
X4 = rng.normal(size=(120, 4)) * 3


def radial_sinc(x, z):
    return float(np.sinc(np.linalg.norm(x - z) / np.pi))


def sigmoid(x, z):
    return float(np.tanh(x @ z - 1))


def assert_refuted(report, K):
    assert not report.psd
    assert not report.valid
    assert np.linalg.norm(report.witness) == pytest.approx(1.0)
    assert report.witness @ K @ report.witness == pytest.approx(report.witness_value)
    assert report.witness_value < -report.tolerance
    assert report.min_eigenvalue <= report.witness_value + 1e-12


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Polynomial(3), 2 * Gaussian() + Linear()], ids=repr)
def test_kernels_pass(kernel):
    report = check_mercer(kernel, X4)
    assert report.valid
    assert report.symmetric
    assert report.positive
    assert report.psd
    assert report.witness is None
    assert str(report).startswith("A valid Mercer kernel on these 120 rows.")
    assert check_mercer(kernel(X4.astype(np.float32))).valid


@pytest.mark.parametrize("r", [1e-6, 0.5, 10.0])
def test_the_two_point_example_of_the_notes(r):
    K = np.array([[1, 1 + r], [1 + r, 1]])
    report = check_mercer(K)
    assert report.min_eigenvalue == pytest.approx(-r, rel=1e-8)
    assert_refuted(report, K)
    assert report.symmetric
    assert report.positive
    assert "Rows 0 and 1 with weights +0.707 and -0.707" in str(report)


def test_radial_sinc_in_four_dimensions():
    kernel = Custom(radial_sinc)
    assert_refuted(check_mercer(kernel, X4), kernel(X4))
    assert check_mercer(kernel, X4[:, :3]).valid
    assert check_mercer(radial_sinc, X4).min_eigenvalue == check_mercer(kernel, X4).min_eigenvalue


def test_sigmoid_is_no_kernel():
    report = check_mercer(sigmoid, X4)
    assert_refuted(report, Custom(sigmoid)(X4))
    short = check_mercer(sigmoid, [np.array([0.1])])
    assert not short.positive
    assert "Row 0 with weight +1.000" in str(short)
    assert "some k(x, x) is -0.757" in str(short)


def test_asymmetry_is_named():
    K = np.eye(9) * 20
    K[3, 7] = 0.25
    report = check_mercer(K)
    assert not report.symmetric
    assert report.psd
    assert report.asymmetry == 0.25
    assert report.asymmetric_pair == (3, 7)
    assert "k(row 3, row 7) and k(row 7, row 3) differ by 0.25" in str(report)
    assert check_mercer(K, tolerance=0.3).symmetric


def test_a_violation_by_two_rows_has_a_witness_of_two_rows():
    K = Gaussian()(X4)
    K[3, 7] = K[7, 3] = 1.5
    report = check_mercer(K)
    assert_refuted(report, K)
    np.testing.assert_array_equal(np.flatnonzero(report.witness), [3, 7])
    assert "Rows 3 and 7" in str(report)


def test_many_rows_are_sampled_or_iterated(monkeypatch):
    monkeypatch.setattr(validity, "LARGE", 60)
    report = check_mercer(Gaussian(), X4)
    assert report.psd
    assert len(report.rows) == 60
    assert "sample of 60" in str(report)
    refuted = check_mercer(radial_sinc, X4)
    assert_refuted(refuted, Custom(radial_sinc)(X4))
    assert set(np.flatnonzero(refuted.witness)) <= set(refuted.rows)
    K = Custom(radial_sinc)(X4)
    whole = check_mercer(K)
    assert whole.rows is None
    assert_refuted(whole, K)
    assert whole.min_eigenvalue == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-2)
    assert check_mercer(Gaussian(0.5)(X4)).psd
    assert check_mercer(Gaussian(50.0)(X4)).psd


def test_check_mercer_refuses():
    with pytest.raises(ValueError, match="needs rows"):
        check_mercer(Gaussian())
    with pytest.raises(ValueError, match="square"):
        check_mercer(np.ones((2, 3)))
    with pytest.raises(ValueError, match="matrix is checked alone"):
        check_mercer(np.eye(2), X4)
    with pytest.raises(ValueError, match="rows 0 and 1 is nan"):
        check_mercer([[1.0, np.nan], [1.0, 1.0]])


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_repairs_are_positive_semidefinite(how):
    K = rng.normal(size=(30, 30))
    K.flags.writeable = False
    fixed = repair(K, how)
    np.testing.assert_array_equal(fixed, fixed.T)
    assert np.linalg.eigvalsh(fixed)[0] >= -30 * np.finfo(float).eps * np.linalg.norm(fixed, 2)
    assert check_mercer(fixed).psd
    values = np.linalg.eigvalsh((K + K.T) / 2)
    expected = {"clip": np.maximum(values, 0), "flip": np.sort(np.abs(values)), "shift": values - values[0]}[how]
    np.testing.assert_allclose(np.linalg.eigvalsh(fixed), expected, atol=1e-12)
    assert repair(K.astype(np.float32), how).dtype == np.float32
    good = Gaussian()(X4)
    np.testing.assert_allclose(repair(good, how), good, atol=1e-12)


def test_clip_is_the_nearest_in_frobenius_norm():
    K = rng.normal(size=(12, 12))
    K = (K + K.T) / 2
    best = np.linalg.norm(K - repair(K, "clip"))
    values = np.linalg.eigvalsh(K)
    assert best == pytest.approx(np.linalg.norm(values[values < 0]))
    for how in ("flip", "shift"):
        assert best <= np.linalg.norm(K - repair(K, how))
    for _ in range(200):  # no positive semidefinite matrix nearby is nearer
        step = rng.normal(size=(12, 12)) * rng.choice([1e-3, 1e-1])
        assert best <= np.linalg.norm(K - repair(repair(K, "clip") + step, "clip")) + 1e-12


def test_repair_refuses():
    with pytest.raises(ValueError, match="how must be"):
        repair(np.eye(2), how="bend")
