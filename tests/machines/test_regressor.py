"""Kernel least squares against pseudo-inverses of explicit features, scikit-learn, and brute force."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from mercer._numeric.block import Block
from mercer._numeric.linalg.cholesky import solve_upper, upper_cholesky
from mercer.kernels import Custom, Gaussian, Linear, Polynomial
from mercer.machines import KernelRegressor, falkon
from mercer.source import MemorySource, StreamSource
from naive import squared_features


def data(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("n", [6, 10, 40])
def test_kernel_ols_is_the_pseudo_inverse_with_repeated_rows(n):
    """Fewer rows than features, as many, and more; every other row twice, with different targets."""
    X, y = data(n)
    X, y = np.vstack([X, X[::2]]), np.concatenate([y, y[::2] + 0.3])
    A = squared_features(X)
    machine = KernelRegressor(Polynomial(2), alpha=0.0).fit(X, y)
    w = A.T @ machine.dual_coef_
    condition = np.linalg.cond(A[:, :]) if n >= 10 else np.linalg.cond(squared_features(X[:n]))
    assert np.linalg.norm(w - np.linalg.pinv(A) @ y) <= 1e-10 * condition**2 * np.linalg.norm(y)
    assert machine.rank_ == np.linalg.matrix_rank(A)
    # K a = y has no solution here; the residual is that of least squares.
    np.testing.assert_allclose(machine.predict(X), A @ np.linalg.pinv(A) @ y, atol=1e-7)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("targets", [1, 3])
def test_ridge_is_that_of_scikit_learn_and_of_the_explicit_features(alpha, targets):
    X, y = data(700)  # more than one tile
    Y = y if targets == 1 else np.column_stack([y, y**2, -y])
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(y))
    ours = KernelRegressor(Polynomial(2), alpha=alpha).fit(X, Y, weight)
    theirs = KernelRidge(alpha=alpha, kernel="poly", degree=2, gamma=1, coef0=1).fit(X, Y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
    A = squared_features(X)
    w = np.linalg.solve(A.T @ (weight[:, None] * A) + alpha * np.eye(A.shape[1]), A.T @ (weight * Y.T).T)
    np.testing.assert_allclose(ours.predict(X), A @ w, atol=1e-8)


@pytest.mark.parametrize("targets", [1, 2])
def test_leave_one_out_equals_leaving_one_out(targets):
    X, y = data(25)
    y = y if targets == 1 else np.column_stack([y, X[:, 1]])
    alphas = [0.01, 0.1, 1.0]
    machine = KernelRegressor(Gaussian(1.5), alpha=alphas).fit(X, y)
    for alpha, told in zip(alphas, machine.loo_, strict=True):
        errors = []
        for i in range(25):
            rest = np.arange(25) != i
            fit = KernelRegressor(Gaussian(1.5), alpha=alpha).fit(X[rest], y[rest])
            errors.append(np.mean((y[i] - fit.predict(X[i : i + 1])[0]) ** 2))
        assert told == pytest.approx(np.mean(errors), rel=1e-9)
    assert machine.alpha_ == alphas[int(np.argmin(machine.loo_))]


def test_leave_one_out_with_weights_is_that_of_repeated_rows():
    X, y = data(30)
    weight = np.random.default_rng(0).integers(1, 4, 30)
    weighted = KernelRegressor(Gaussian(1.5), alpha="loo").fit(X, y, weight)
    alphas = weighted.alphas_[::10]
    weighted = KernelRegressor(Gaussian(1.5), alpha=alphas).fit(X, y, weight)
    repeated = KernelRegressor(Gaussian(1.5), alpha=alphas).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.loo_, repeated.loo_, rtol=1e-5)


def test_the_smallest_norm_interpolates_where_it_can():
    X, y = data(20)
    machine = KernelRegressor(Gaussian(0.5), alpha=0.0).fit(X, y)
    assert machine.rank_ == 20
    np.testing.assert_allclose(machine.predict(X), y, atol=1e-9)


def test_float32_is_refined():
    X, y = data(600)
    double = KernelRegressor(Gaussian(2.0), alpha=0.1).fit(X, y)
    single = KernelRegressor(Gaussian(2.0), alpha=0.1).fit(X.astype(np.float32), y)
    assert single.predict(X.astype(np.float32)).dtype == np.float32
    # the rounding of the kernel values themselves, 6e-8 of 1, over a penalty of 0.1 and 600 rows
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), double.predict(X), atol=600 * 6e-8 / 0.1)


def test_falkon_with_all_rows_as_centers_is_exact():
    X, y = data(150)
    Y = np.column_stack([y, X[:, 1] ** 2])
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 150)
    exact = KernelRegressor(Gaussian(1.0), alpha=0.1).fit(X, Y, weight)
    machine = KernelRegressor(Gaussian(1.0), alpha=0.1, solver="falkon", tol=1e-12).fit(X, Y, weight)
    assert machine.n_iter_ == len(machine.residuals_) < 50
    np.testing.assert_allclose(machine.predict(X), exact.predict(X), atol=1e-7)


def test_falkon_with_some_centers_solves_its_own_normal_equations():
    X, y = data(3000)
    machine = KernelRegressor(Gaussian(1.5), alpha=0.01, solver="falkon", n_centers=50, tol=1e-12).fit(X, y)
    C, kernel = machine.X_fit_, machine.kernel_
    K, M = kernel(X, C), kernel(C)
    a = np.linalg.lstsq(K.T @ K + 0.01 * M, K.T @ y, rcond=None)[0]
    np.testing.assert_allclose(machine.predict(X), K @ a, atol=1e-6)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_falkon_is_as_close_to_the_direct_solution_as_its_tolerance(tol):
    """In the norm ||f||_H^2 = sum w f^2 + alpha ||f||^2 the relative error is at most tol sqrt(condition of H)."""
    X, y = data(3000)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, 3000)
    kernel, alpha = Gaussian(1.0), 0.01
    machine = KernelRegressor(kernel, alpha=alpha, solver="falkon", n_centers=60, tol=tol).fit(X, y, weight)
    rows, sampled = falkon.sample(MemorySource(X, y, weight), 60, 0)
    chosen = falkon.choose(kernel, rows, sampled, 60, 0)
    np.testing.assert_array_equal(chosen.centers, machine.X_fit_)
    K, gram = kernel(X, chosen.centers), kernel(chosen.centers)
    normal = K.T @ (weight[:, None] * K) + alpha * gram
    M = falkon.FalkonPreconditioner.of(chosen, weight.sum(), alpha)
    values = np.linalg.eigvalsh(M.back(M.back(normal).T))
    direct = np.linalg.solve(normal, K.T @ (weight * y))
    error = machine.dual_coef_ - direct
    bound = tol * np.sqrt(values.max() / values.min())
    rounding = 1e-9  # normal equations of condition 1e7 or so
    assert np.sqrt(error @ normal @ error) <= (bound + rounding) * np.sqrt(direct @ normal @ direct)


def test_the_preconditioned_system_of_falkon_is_nearly_the_identity():
    X, y = data(20_000)
    rows, weight = falkon.sample(MemorySource(X, y), 100, 0)
    chosen = falkon.choose(Gaussian(1.0), rows, weight, 100, 0)
    np.testing.assert_allclose(chosen.T.T @ chosen.T, Gaussian(1.0)(chosen.centers), atol=1e-12)
    K = Gaussian(1.0)(X, chosen.centers)
    M = falkon.FalkonPreconditioner.of(chosen, len(X), 1e-3)
    values = np.linalg.eigvalsh(M.back(M.back(K.T @ K + 1e-3 * Gaussian(1.0)(chosen.centers)).T))
    assert 0.4 < values.min() <= values.max() < 2.5


def test_centers_of_falkon_span_more_than_as_many_uniform_rows():
    X, y = data(4000)
    kernel = Gaussian(1.0)
    rows, weight = falkon.sample(MemorySource(X, y), 50, 0)

    def left(centers):
        K = kernel(centers, X)
        return 1 - np.sum(K * np.linalg.solve(kernel(centers), K)) / len(X)

    assert left(falkon.choose(kernel, rows, weight, 50, 0).centers) < left(rows[:50])


def test_falkon_needs_no_more_centers_than_the_rank_of_the_kernel():
    X, y = data(500)
    y = y + X @ [1.0, 2.0, 3.0]
    machine = KernelRegressor(Linear(), alpha=0.1, solver="falkon", n_centers=40, tol=1e-12).fit(X, y)
    assert machine.X_fit_.shape == (3, 3)
    w = np.linalg.solve(X.T @ X + 0.1 * np.eye(3), X.T @ y)
    np.testing.assert_allclose(machine.predict(X), X @ w, atol=1e-9)


def test_falkon_on_a_similarity_of_the_user_draws_centers_uniformly():
    X, y = data(300)
    own = Custom(lambda x, z: float(np.exp(-0.5 * np.sum((x - z) ** 2))))
    machine = KernelRegressor(own, alpha=0.1, solver="falkon", n_centers=12, tol=1e-10).fit(X, y)
    C = machine.X_fit_
    np.testing.assert_array_equal(C, falkon.sample(MemorySource(X, y), 12, 0)[0][:12])
    K = Gaussian(1.0)(X, C)
    a = np.linalg.solve(K.T @ K + 0.1 * Gaussian(1.0)(C), K.T @ y)
    np.testing.assert_allclose(machine.predict(X), K @ a, atol=1e-6)


def test_falkon_where_the_kernel_is_zero_predicts_zero():
    X = np.zeros((30, 2))
    machine = KernelRegressor(Linear(), alpha=1.0, solver="falkon").fit(X, np.ones(30))
    np.testing.assert_array_equal(machine.predict(X), np.zeros(30))


def test_falkon_reads_a_source_in_any_pieces_with_the_same_bits():
    X, y = data(20_000)
    machine = KernelRegressor(Gaussian(1.5), alpha=1.0, n_centers=20, tol=1e-4)
    whole = machine.fit(X, y).dual_coef_.copy()
    assert machine.X_fit_.shape == (20, 3)  # "auto" took falkon
    stream = StreamSource(lambda: (Block(X[i : i + 777], y[i : i + 777]) for i in range(0, len(X), 777)))
    np.testing.assert_array_equal(machine.fit(stream).dual_coef_, whole)
    np.testing.assert_array_equal(machine.fit(MemorySource(X, y)).dual_coef_, whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_normal_equations_and_steps_have_the_same_solution(dtype, weighted, monkeypatch):
    X, y = data(12_000)  # a third of them is sampled for the steps
    X = X.astype(dtype)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 12_000) if weighted else None
    tol = 1e-4 if dtype is np.float32 else 1e-8
    machine = KernelRegressor(Gaussian(1.0), alpha=0.1, solver="falkon", n_centers=60, tol=tol)
    direct = machine.fit(X, y, weight).predict(X)
    assert machine.n_iter_ <= 2
    monkeypatch.setattr(falkon, "normal_equations_pay", lambda *_: False)
    steps = machine.fit(X, y, weight).predict(X)
    assert machine.n_iter_ > 2
    np.testing.assert_allclose(direct, steps, atol=10 * tol)


def test_normal_equations_of_a_source_in_any_pieces_have_the_same_bits():
    X, y = data(9000)
    X, y = X.astype(np.float32), np.column_stack([y, y**2])
    machine = KernelRegressor(Gaussian(1.5), alpha=1.0, solver="falkon", n_centers=40)
    whole = machine.fit(X, y).dual_coef_.copy()
    assert machine.n_iter_ <= 2
    for rows in (700, 5000):
        pieces = (range(0, 9000, rows), rows)
        stream = StreamSource(lambda p=pieces: (Block(X[i : i + p[1]], y[i : i + p[1]]) for i in p[0]))
        np.testing.assert_array_equal(machine.fit(stream).dual_coef_, whole)


def test_normal_equations_are_chosen_by_their_cost():
    def pay(m, d, steps, dtype=np.float64):
        return falkon.normal_equations_pay(np.zeros((m, d), dtype=dtype), steps)

    assert pay(1500, 20, 18)
    assert not pay(1500, 20, 4)
    assert pay(1500, 20, 10, np.float32)
    assert not pay(2000, 20, 10, np.float32)
    assert pay(2000, 200, 10, np.float32)  # similarities of many columns cost more
    assert not pay(falkon.MAX_NORMAL_CENTERS + 1, 20, 50)
    assert falkon.expected_steps(1e-6) > falkon.expected_steps(1e-2)


def test_falkon_warns_if_it_stopped_early(monkeypatch):
    from sklearn.exceptions import ConvergenceWarning

    X, y = data(6000)
    monkeypatch.setattr(falkon, "normal_equations_pay", lambda *_: False)
    with pytest.warns(ConvergenceWarning, match="after 1 steps"):
        KernelRegressor(Gaussian(0.5), alpha=1e-6, solver="falkon", n_centers=50, max_iter=1).fit(X, y)


def test_a_short_source_is_solved_exactly():
    X, y = data(80)
    machine = KernelRegressor(Gaussian(1.5), alpha=0.0).fit(MemorySource(X, y))
    assert machine.X_fit_.shape == (80, 3)
    assert machine.rank_ <= 80


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": "gcv"}, "alpha must be"),
        ({"alpha": [0.0, 1.0]}, "positive"),
        ({"solver": "qr"}, "solver must be"),
        ({"solver": "falkon", "alpha": "loo"}, "takes one penalty"),
        ({"n_centers": 0}, "n_centers must be"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    X, y = data(20)
    with pytest.raises(ValueError, match=message):
        KernelRegressor(**parameters).fit(X, y)


def test_an_indefinite_penalized_matrix_is_solved_by_eigenvalues():
    from mercer.kernels import Precomputed
    from mercer.machines import NotMercerWarning

    S = np.array([[0.0, 2.0], [2.0, 0.0]])
    with pytest.warns(NotMercerWarning, match="explode"):
        machine = KernelRegressor(Precomputed(), alpha=1.0).fit(S, [1.0, 2.0])
    np.testing.assert_allclose((S + np.eye(2)) @ machine.dual_coef_, [1.0, 2.0])


@pytest.mark.parametrize("n", [1, 3, 512, 513, 1100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cholesky_in_tiles(n, dtype):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n))
    S = (B @ B.T + n * np.eye(n)).astype(dtype)
    A = np.triu(S) + np.tril(np.full((n, n), np.nan, dtype=dtype), -1)
    assert upper_cholesky(A)
    assert np.isnan(A[np.tril_indices(n, -1)]).all()
    np.testing.assert_allclose(np.triu(A).T @ np.triu(A), S, atol=20 * n * np.finfo(dtype).eps * np.abs(S).max())
    b = rng.normal(size=(n, 2))
    np.testing.assert_allclose(S @ solve_upper(A, b), b, atol=1e3 * n * np.finfo(dtype).eps)
    assert not upper_cholesky(-S.copy())


def test_linear_kernel_regression_is_linear_regression():
    X, y = data(50)
    machine = KernelRegressor(Linear() + 1, alpha=0.0).fit(X, y)
    A = np.column_stack([X, np.ones(50)])
    np.testing.assert_allclose(machine.predict(X), A @ np.linalg.lstsq(A, y, rcond=None)[0], atol=1e-9)
