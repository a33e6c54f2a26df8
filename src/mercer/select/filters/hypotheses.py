"""Scores of each column, alone, for several hypothesis classes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from mercer._numeric.linalg import dense
from mercer._runtime.blas import on_one_blas_thread
from mercer._runtime.checks import check_whole, refuse_missing
from mercer._runtime.pool import ordered_map
from mercer.expand import Landmarks, PolynomialLift
from mercer.kernels import Gaussian
from mercer.linear import RidgeRegressor

CLASSES = ("linear", "quadratic", "threshold", "kernel")
_MAX_LANDMARKS = 40
_MAX_ROWS = 5000


@dataclass(frozen=True, repr=False)
class HypothesisTable:
    """Scores of features (rows) for hypothesis classes (columns); the last row is all features together.

    A score is cross-validated R^2, 1 - error / error of the mean: 1 is perfect, 0 is no better than the mean, and
    negative is worse.
    """

    columns: tuple[str, ...]
    features: tuple[str, ...]
    scores: np.ndarray

    def __getitem__(self, key: tuple[str, str]) -> float:
        """Return one score: table["x1", "linear"]."""
        feature, column = key
        return float(self.scores[self.features.index(str(feature)), self.columns.index(column)])

    def best(self, column: str) -> str:
        """Return the single feature with the best score for a hypothesis class."""
        return self.features[int(np.argmax(self.scores[:-1, self.columns.index(column)]))]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {feature: {hypothesis class: score}}."""
        rows = zip(self.features, self.scores.tolist(), strict=True)
        return {feature: dict(zip(self.columns, row, strict=True)) for feature, row in rows}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with the columns "feature", "linear", "quadratic", "threshold" and "kernel".

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}, default=None
            The data-frame library, any that narwhals supports; None is pandas if it is installed, else pyarrow. In a
            pandas frame the features are the index.
        """
        import narwhals.stable.v2 as nw

        library: Any = backend or ("pandas" if find_spec("pandas") else "pyarrow")
        scores = dict(zip(self.columns, self.scores.T.tolist(), strict=True))
        frame = nw.from_dict({"feature": list(self.features), **scores}, backend=library).to_native()
        return frame.set_index("feature") if hasattr(frame, "set_index") else frame

    def __repr__(self) -> str:
        width = max(map(len, self.features), default=0)
        lines = [" " * width + "".join(f"{name:>11}" for name in self.columns)]
        for feature, row in zip(self.features, self.scores, strict=True):
            lines.append(f"{feature:<{width}}" + "".join(f"{value:>11.2f}" for value in row + 0.0))
        return "\n".join(lines)


@on_one_blas_thread
def compare_hypotheses(X: Any, y: Any, n_folds: int = 5, random_state: int = 0) -> HypothesisTable:
    """Score every column alone, and all together, for four hypothesis classes by cross-validation.

    - "linear": a v + c
    - "quadratic": a v^2 + b v + c (all columns together: all products of two)
    - "threshold": one value below a threshold, another above (all together: the best single one)
    - "kernel": any smooth function, by ridge regression on similarities to 40 of the rows

    The best column depends on the class: with y = v1^2 and v2 close to y, a linear predictor prefers v2 and a quadratic
    one v1. A column that is useless alone may be indispensable with another, as the last row then shows.

    Use it to learn why a filter and a model disagree about a column, on few columns. To select columns use
    `FilterSelector`, `GreedySelector` or `Lasso`; this function only shows.

    Parameters
    ----------
    X : array or data frame of n rows
        Of more than 5,000 rows a random 5,000 are used.
    y : numbers or labels; labels are predicted through their 0/1 indicators
    n_folds : int, default=5
    random_state : int, default=0

    Returns
    -------
    HypothesisTable
        Printable; `table["x1", "linear"]`, `best(column)`, `to_dict()` and `to_frame()`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.select import compare_hypotheses
    >>> rng = np.random.default_rng(0)
    >>> x1 = rng.uniform(-1, 1, 300)
    >>> x2 = x1**2 + rng.uniform(-0.01, 0.01, 300)
    >>> table = compare_hypotheses(np.column_stack([x1, x2]), x1**2)
    >>> table.best("linear"), table.best("quadratic")
    ('x1', 'x0')
    """
    check_whole("n_folds", n_folds, 2)
    names = [str(name) for name in getattr(X, "columns", [])]
    X = check_array(X, dtype=np.float64, ensure_all_finite=False)
    refuse_missing(X, names or None)
    T = _targets(y)
    if len(T) != len(X):
        raise ValueError(f"X has {len(X)} rows but y has {len(T)} entries.")
    if len(X) < 2 * n_folds:
        raise ValueError(f"n_folds={n_folds} is too large for {len(X)} rows: each fold needs at least two.")
    order = np.random.default_rng(random_state).permutation(len(X))[:_MAX_ROWS]
    X, T = X[order], T[order]
    fold = np.arange(len(X)) % n_folds
    parts = [X[:, [j]] for j in range(X.shape[1])] + [X]
    scores = np.array(list(ordered_map(lambda part: _scores(part, T, fold), parts)))
    names = names or [f"x{j}" for j in range(X.shape[1])]
    return HypothesisTable(CLASSES, (*names, "all"), scores)


def _targets(y: Any) -> np.ndarray:
    y = column_or_1d(np.asarray(y))
    if y.dtype.kind in "iuf":
        return check_array(y.astype(np.float64)[:, None], input_name="y")
    return (y[:, None] == np.unique(y)).astype(np.float64)


def _scores(X: np.ndarray, T: np.ndarray, fold: np.ndarray) -> np.ndarray:
    errors = np.zeros(len(CLASSES))
    base = 0.0
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        mean, std = X[train].mean(axis=0), X[train].std(axis=0)
        Z = (X - mean) / np.where(std > 0, std, 1.0)
        predictors = (_affine, _quadratic, _threshold, _kernel)
        errors += [np.sum((T[test] - fit(Z[train], T[train], Z[test])) ** 2) for fit in predictors]
        base += np.sum((T[test] - T[train].mean(axis=0)) ** 2)
    return 1.0 - errors / base if base > 0 else np.zeros(len(CLASSES))


def _affine(Z: np.ndarray, T: np.ndarray, new: np.ndarray) -> np.ndarray:
    A, B = (np.column_stack([np.ones(len(part)), part]) for part in (Z, new))
    return B @ dense.lstsq(A, T, rcond=1e-10)


def _quadratic(Z: np.ndarray, T: np.ndarray, new: np.ndarray) -> np.ndarray:
    lift = PolynomialLift(2, include_bias=False).fit(Z)
    A, B = lift.transform(Z), lift.transform(new)
    if A.shape[1] < len(Z) // 2:
        return _affine(A, T, B)
    return _ridge(A, T, B)


def _threshold(Z: np.ndarray, T: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Predict by the best threshold on any column: the largest sum over both sides of |sum of T|^2 / count."""
    centered, best, cut = T - T.mean(axis=0), -1.0, None
    n = len(Z)
    for j, z in enumerate(Z.T):
        order = np.argsort(z, kind="stable")
        left = np.cumsum(centered[order], axis=0)[:-1]
        count = np.arange(1, n)
        gain = np.sum(left**2, axis=1) * n / (count * (n - count))
        gain = np.where(z[order][1:] > z[order][:-1], gain, -1.0)
        i = int(np.argmax(gain)) if n > 1 else 0
        if n > 1 and gain[i] > best:
            best, cut = gain[i], (j, 0.5 * (z[order[i]] + z[order[i + 1]]))
    if cut is None:
        return np.broadcast_to(T.mean(axis=0), (len(new), T.shape[1]))
    below = Z[:, cut[0]] <= cut[1]
    return np.where((new[:, cut[0]] <= cut[1])[:, None], T[below].mean(axis=0), T[~below].mean(axis=0))


def _kernel(Z: np.ndarray, T: np.ndarray, new: np.ndarray) -> np.ndarray:
    distinct = np.unique(Z, axis=0)
    if len(distinct) < 2:
        return np.broadcast_to(T.mean(axis=0), (len(new), T.shape[1]))
    # So many landmarks resolve about half a standard deviation; more columns need a larger bandwidth.
    map_ = Landmarks(min(_MAX_LANDMARKS, len(distinct)), Gaussian(0.5 * np.sqrt(Z.shape[1]))).fit(Z)
    return _ridge(map_.transform(Z), T, map_.transform(new))


def _ridge(A: np.ndarray, T: np.ndarray, B: np.ndarray) -> np.ndarray:
    scoring = "gcv" if len(A) > 2 else "folds"
    model = RidgeRegressor(scoring=scoring).fit(A, T)
    return np.reshape(model.predict(B), (len(B), -1))
