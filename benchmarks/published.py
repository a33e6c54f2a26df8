"""Published results about feature maps, repeated: error and accuracy against the number of features.

- Orthogonal and other random features (Rahimi and Recht 2007; Yu et al. 2016; Avron et al. 2016): measured errors
  beside the published formulas of the variance.
- Landmarks by randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023) beside uniform ones, the best rank k and
  the bound of theorem 5.1 of that paper.
- Distortion of hashing with s nonzeros per column (Weinberger et al. 2009; Kane and Nelson 2014) beside the exact law.
- Accuracy on handwritten digits: those of scikit-learn, and with `--data` those of USPS, where a support vector machine
  with a Gaussian kernel errs on 4.2 % of the official test rows (Schoelkopf et al., A.I. Memo 1599, 1996).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats
from sklearn.datasets import load_digits

from benchmarks.harness import data_file, size, table
from mercer.expand import Landmarks, RandomFeatures
from mercer.kernels import Gaussian
from mercer.linear import RidgeClassifier
from mercer.machines import KernelHinge, KernelRegressor
from mercer.project import SparseProjection

SAMPLINGS = ("iid", "orthogonal", "structured", "quasi")
SIZES = size((32, 64, 128, 256, 512, 1024, 2048), (32, 64))
SEEDS = size(8, 2)


def run() -> None:
    kernel_errors()
    orthogonal_variance()
    landmarks()
    hashing()
    digits()
    usps()


def kernel_errors() -> None:
    """Root mean square error of the Gaussian kernel over pairs of rows, for four ways to draw frequencies."""
    for d, n in size(((8, 300), (64, 300)), ((4, 30),)):
        X = np.random.default_rng(0).normal(size=(n, d))
        kernel = Gaussian(float(np.sqrt(d)))
        exact = kernel(X)
        expected = np.sqrt(np.mean(1 + kernel(2 * X) - 2 * exact**2))
        rows = []
        for columns in SIZES:
            found = [float(_rms(kernel, X, exact, columns, sampling)) for sampling in SAMPLINGS]
            rows.append([columns, *found, float(expected / np.sqrt(columns))])
        table(f"error of the Gaussian kernel, {d} columns", ["features", *SAMPLINGS, "iid, formula"], rows)
        assert all(abs(row[1] / row[-1] - 1) < size(0.25, 1.0) for row in rows), (
            "the variance is not that of the formula"
        )


def _rms(kernel, X, exact, columns, sampling):
    squares = []
    for seed in range(SEEDS):
        Z = RandomFeatures(kernel, n_components=columns, sampling=sampling, random_state=seed).fit_transform(X)
        squares.append(np.mean((Z @ Z.T - exact) ** 2))
    return np.sqrt(np.mean(squares))


def orthogonal_variance(d=size(64, 16), draws=size(400, 20)) -> None:
    """Variance with orthogonal frequencies relative to independent ones, at d frequencies.

    Yu et al. (2016): 1 - ((m - 1)/d) z^4 exp(-z^2) / (1 - exp(-z^2))^2 up to O(1/d), for m <= d frequencies and the
    distance z in bandwidths.
    """
    rows = []
    for z in (0.5, 1.0, 1.5, 2.0, 3.0):
        x = np.zeros((2, d))
        x[1, 0] = z
        found = {}
        for sampling in ("iid", "orthogonal"):
            errors = []
            for seed in range(draws):
                Z = RandomFeatures(
                    Gaussian(1.0), n_components=2 * d, sampling=sampling, random_state=seed
                ).fit_transform(x)
                errors.append(float(Z[0] @ Z[1]) - np.exp(-(z**2) / 2))
            found[sampling] = np.mean(np.square(errors))
        formula = 1 - (d - 1) / d * z**4 * np.exp(-(z**2)) / (1 - np.exp(-(z**2))) ** 2
        rows.append([z, float(found["orthogonal"] / found["iid"]), float(formula)])
    table(
        f"variance, orthogonal / independent, {d} frequencies in {d} columns",
        ["distance", "measured", "published"],
        rows,
    )


def landmarks() -> None:
    """Fraction of the trace that k landmarks leave: uniform, pivoted Cholesky, and the best possible of rank k."""
    rng = np.random.default_rng(0)
    n = size(1500, 120)
    turn = rng.uniform(0, 1, n) ** 2 * 6 * np.pi
    spiral = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / 10
    kernel = Gaussian(0.1)
    eigenvalues = np.linalg.eigvalsh(kernel(spiral))[::-1]
    rows = []
    for k in size((10, 20, 40, 80, 120, 160), (5, 10)):
        left = []
        for choose in ("uniform", "rpcholesky"):
            some = [Landmarks(k, kernel, choose, random_state=seed).fit(spiral) for seed in range(SEEDS)]
            left.append(float(np.mean([each.residual(spiral).mean() for each in some])))
        tails = np.append(np.cumsum(np.clip(eigenvalues[::-1], 0, None))[::-1], 0.0) / n
        rows.append([k, *left, float(tails[k]), cholesky_bound(k, tails)])
        assert left[1] <= rows[-1][-1], "worse than the proven bound"
    names = ["k", "uniform", "rpcholesky", "best rank k", "rpcholesky, published bound"]
    table("spiral: fraction of the trace that k landmarks leave", names, rows)


def cholesky_bound(k: int, tails: np.ndarray) -> float:
    """The smallest (1 + eps) tails[r] with r / eps + r log(1 / (eps tails[r])) <= k, over r and eps; at most 1.

    `tails[r]` is the fraction of the trace that the best approximation of rank r leaves.
    """
    eps = np.geomspace(1e-3, 1e6, 2000)
    found = [1.0]
    for r, tail in enumerate(tails[1:k], 1):
        needed = r / eps + r * np.maximum(np.log(1 / np.maximum(eps * tail, 1e-300)), 0.0)
        found += [float((1 + eps[needed <= k].min()) * tail)] if np.any(needed <= k) else []
    return min(found)


def hashing(n=size(20_000, 300), m=64) -> None:
    """Tails of the distortion of vectors with two equal entries, against the exact law of collisions.

    Each of the s copies of the two columns collides with probability s/m, and a collision moves the squared length by a
    random sign over s.
    """
    columns = np.arange(2 * n)
    X = sparse.csr_matrix((np.full(2 * n, 0.5**0.5), columns, np.arange(0, 2 * n + 1, 2)))
    rows = []
    for s in (1, 2, 4, 8):
        errors = np.abs(np.sum(SparseProjection(m, nonzeros=s).fit_transform(X) ** 2, axis=1) - 1)
        exact = _far(s, m, 0.3)
        rows.append([s, float(np.mean(errors > 0.3)), exact, float(np.sqrt(np.mean(errors**2))), float(np.sqrt(1 / m))])
        assert abs(rows[-1][1] - exact) < 5 * np.sqrt(exact * (1 - exact) / n) + 1e-3
    names = ["s", "P(error > 0.3)", "exact", "root mean square", "formula"]
    table(f"hashing of two equal entries to {m} columns, {n:,} vectors", names, rows)


def _far(s: int, m: int, limit: float) -> float:
    """P(|sum of C random signs| > limit s), C the number of collisions, binomial(s, s/m)."""
    total = 0.0
    for count in range(s + 1):
        signs = stats.binom.pmf(np.arange(count + 1), count, 0.5)
        far = np.abs(2 * np.arange(count + 1) - count) > limit * s
        total += stats.binom.pmf(count, s, s / m) * float(signs[far].sum())
    return total


def digits() -> None:
    """Accuracy of ridge classification on scikit-learn's digits against the number of features."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[: size(len(X), 300)]
    X, y = X[order] / 16, y[order]
    half = len(X) // 2
    _curve(
        "digits of scikit-learn",
        X[:half],
        y[:half],
        X[half:],
        y[half:],
        size((16, 32, 64, 128, 256, 512, 1024), (16, 32)),
    )


def usps() -> None:
    """The official split of USPS, where the data are there."""
    path = data_file("usps")
    if path is None:
        return
    import pandas as pd

    frame = pd.read_parquet(path)
    train = (frame["split"] == "train").to_numpy()
    X = np.stack(frame["x"].to_list()).astype(np.float64)
    y = frame["target"].to_numpy()
    title = "USPS, official split; published for the support vector machine: 0.958"
    _curve(title, X[train], y[train], X[~train], y[~train], (128, 512, 2048), best_only=True)


def _curve(title, X, y, X_test, y_test, sizes, best_only=False) -> None:
    """Accuracy of ridge on random features and landmarks, of the linear model, and of kernel machines.

    `best_only` leaves out the plainer way to draw each, and adds the support vector machine.
    """
    kernel = Gaussian("median").resolve(X)
    kernel = Gaussian(kernel.bandwidth / 2)
    linear = RidgeClassifier().fit(X, y).score(X_test, y_test)
    rows = []
    for columns in sizes:
        maps = {
            "random, iid": RandomFeatures(kernel, n_components=columns, sampling="iid"),
            "random, orthogonal": RandomFeatures(kernel, n_components=columns),
            "landmarks, uniform": Landmarks(min(columns, len(X)), kernel, "uniform"),
            "landmarks, rpcholesky": Landmarks(min(columns, len(X)), kernel),
        }
        names = [name for name in maps if not best_only or name in ("random, orthogonal", "landmarks, rpcholesky")]
        found = [maps[name].fit(X) for name in names]
        scores = [RidgeClassifier().fit(each.transform(X), y).score(each.transform(X_test), y_test) for each in found]
        rows.append([columns, *map(float, scores)])
    machine = KernelRegressor(kernel, alpha=1e-3).fit(X, (y[:, None] == np.unique(y)).astype(float))
    limit = float(np.mean(np.unique(y)[machine.predict(X_test).argmax(axis=1)] == y_test))
    others = {"linear model": linear, "kernel ridge": limit}
    if best_only:
        others["support vector machine"] = KernelHinge(kernel, alpha=0.05).fit(X, y).score(X_test, y_test)
    rows += [[name, *[float(score)] * len(names)] for name, score in others.items()]
    table(f"accuracy, {title}", ["features", *names], rows)
