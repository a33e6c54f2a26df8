"""Randomly pivoted Cholesky: the law of the plain algorithm, the ends it must stop at."""

import numpy as np
import pytest
from scipy.stats import chi2

from mercer._numeric.solvers.rpcholesky import rp_cholesky
from mercer.kernels import Gaussian


def smooth_matrix(n, seed=0):
    return Gaussian(1.0)(np.random.default_rng(seed).normal(size=(n, 2)))


def run(K, n_pivots, seed, **options):
    return rp_cholesky(lambda i, j: K[i][:, j], np.diag(K), n_pivots, np.random.default_rng(seed), **options)


def plain(K, n_pivots, rng):
    """The algorithm as its authors state it first: one pivot at a time, the whole residual in memory."""
    residual, traces = K.copy(), [np.trace(K)]
    for _ in range(n_pivots):
        diagonal = np.maximum(np.diag(residual), 0)
        i = rng.choice(len(K), p=diagonal / diagonal.sum())
        residual = residual - np.outer(residual[:, i], residual[i]) / residual[i, i]
        traces.append(np.trace(residual))
    return np.array(traces)


def test_one_step_leaves_what_theory_says():
    K = smooth_matrix(40)
    traces = np.array([run(K, 1, seed, n_proposals=8).traces[1] for seed in range(1500)])
    expected = np.trace(K) - np.trace(K @ K) / np.trace(K)
    assert abs(traces.mean() - expected) <= 5 * traces.std() / np.sqrt(len(traces))


@pytest.mark.parametrize("n_proposals", [1, 4, 30])
def test_many_steps_have_the_law_of_the_plain_algorithm(n_proposals):
    K, steps, runs = smooth_matrix(30, seed=1), 6, 600
    ours = np.array([run(K, steps, seed, n_proposals=n_proposals).traces for seed in range(runs)])
    theirs = np.array([plain(K, steps, np.random.default_rng([7, seed])) for seed in range(runs)])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / runs)
    assert np.all(np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 5 * error + 1e-9)


def test_pairs_of_pivots_have_their_exact_probabilities():
    K = smooth_matrix(5, seed=2)
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    runs, expected = 3000, np.zeros((5, 5))
    for i in range(5):
        left = weight * np.maximum(np.diag(K) - K[:, i] ** 2 / K[i, i], 0)
        expected[i] = runs * weight[i] * K[i, i] / (weight @ np.diag(K)) * left / left.sum()
    seen = np.zeros((5, 5))
    for seed in range(runs):
        i, j = run(K, 2, seed, weight=weight, n_proposals=6).chosen
        seen[i, j] += 1
    off_diagonal = ~np.eye(5, dtype=bool)
    statistic = np.sum((seen - expected)[off_diagonal] ** 2 / expected[off_diagonal])
    assert seen[~off_diagonal].sum() == 0
    assert statistic <= chi2.ppf(1 - 1e-6, off_diagonal.sum() - 1)


def test_traces_are_those_of_the_residual():
    K = smooth_matrix(60)
    found = run(K, 20, 0)
    for m in (0, 1, 7, 20):
        S = found.chosen[:m]
        left = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]) if m else K
        assert found.traces[m] == pytest.approx(np.trace(left), abs=1e-9)
    assert len(set(found.chosen.tolist())) == 20


def test_a_shorter_run_is_the_beginning_of_a_longer_one_on_any_number_of_threads(monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 3))
    kernel = Gaussian(1.0)

    def pivots(n):
        rng = np.random.default_rng(5)
        return rp_cholesky(lambda i, j: kernel(X[i], X[j]), np.ones(3000), n, rng).chosen

    monkeypatch.setenv("MERCER_THREADS", "1")
    long = pivots(150)
    monkeypatch.setenv("MERCER_THREADS", "3")
    assert np.array_equal(pivots(150), long)
    assert np.array_equal(pivots(40), long[:40])


def test_it_stops_at_the_rank_and_never_takes_a_row_twice():
    A = np.random.default_rng(0).normal(size=(50, 4))
    A = np.vstack([A, A, np.zeros((3, 4))])
    found = run(A @ A.T, 30, 0)
    assert len(found.chosen) == 4
    assert found.traces[-1] <= 1e-12 * found.traces[0]
    repeated = np.ones((9, 9))
    assert len(run(repeated, 5, 0).chosen) == 1
    assert len(run(np.zeros((4, 4)), 2, 0).chosen) == 0
    assert run(np.array([[2.0]]), 3, 0).chosen.tolist() == [0]


def test_the_target_takes_the_smallest_number():
    K = smooth_matrix(100)
    target = 0.05 * np.trace(K)
    found, longer = run(K, 100, 3, target=target), run(K, 60, 3)
    m = len(found.chosen)
    assert np.array_equal(found.chosen, longer.chosen[:m])
    assert longer.traces[m] <= target < longer.traces[m - 1]


def test_a_matrix_with_negative_eigenvalues_is_refused():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        run(np.array([[1.0, 3.0], [3.0, 1.0]]), 2, 0)
    with pytest.raises(ValueError, match="< 0"):
        run(np.diag([1.0, -1.0]), 2, 0)
