"""How good is each column, alone, for each class of predictors?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, column_or_1d

from mercer._runtime.checks import check_whole, refuse_missing
from mercer._runtime.pool import ordered_map
from mercer.expand import Landmarks, PolynomialLift
from mercer.kernels import Gaussian
from mercer.linear import RidgeRegressor

CLASSES = ("linear", "quadratic", "threshold", "kernel")
_LANDMARKS = 40
_ROWS = 5000


@dataclass(frozen=True)
class HypothesisTable:
    """Scores of columns (rows of the table) for classes of predictors; the last row is all columns together.

    A score is the share of squared error removed on rows not used in fitting, 1 - error / error of the mean: 1 is
    perfect, 0 is useless, below 0 is worse than nothing.
    """

    columns: tuple[str, ...]
    features: tuple[str, ...]
    scores: np.ndarray

    def __getitem__(self, place) -> float:
        """table["x1", "linear"]"""
        feature, column = place
        return float(self.scores[self.features.index(str(feature)), self.columns.index(column)])

    def best(self, column: str) -> str:
        """The feature that is best for a class of predictors, alone."""
        return self.features[int(np.argmax(self.scores[:-1, self.columns.index(column)]))]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{feature: {class: score}}."""
        rows = zip(self.features, self.scores.tolist(), strict=True)
        return {feature: dict(zip(self.columns, row, strict=True)) for feature, row in rows}

    def __repr__(self) -> str:
        width = max(map(len, self.features), default=0)
        lines = [" " * width + "".join(f"{name:>11}" for name in self.columns)]
        for feature, row in zip(self.features, self.scores, strict=True):
            lines.append(f"{feature:<{width}}" + "".join(f"{value:>11.2f}" for value in row + 0.0))
        return "\n".join(lines)


def compare_hypotheses(X, y, n_folds=5, random_state=0) -> HypothesisTable:
    """Score every column alone, and all together, for four classes of predictors, on rows left out in turn.

    - "linear": a v + c
    - "quadratic": a v^2 + b v + c (all columns together: all products of two)
    - "threshold": one value below a threshold, another above (all together: the best single one)
    - "kernel": any smooth function, by ridge regression on similarities to 40 of the rows

    "Better" depends on the class: with y = v1^2 and v2 close to y, a linear predictor prefers v2 and a quadratic one
    v1. And a column that is useless alone may be indispensable with another, as the last row then shows.

    Parameters
    ----------
    X : array or data frame of n rows; of more than 5,000 so many are drawn
    y : numbers or labels; labels are predicted through their 0/1 indicators
    n_folds : int, default=5
    random_state : int, default=0

    Returns
    -------
    HypothesisTable

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
        raise ValueError(f"{len(X)} rows are too few for {n_folds} folds: each needs at least two.")
    order = np.random.default_rng(random_state).permutation(len(X))[:_ROWS]
    X, T = X[order], T[order]
    fold = np.arange(len(X)) % n_folds
    parts = [X[:, [j]] for j in range(X.shape[1])] + [X]
    scores = np.array(list(ordered_map(lambda part: _row(part, T, fold), parts)))
    names = names or [f"x{j}" for j in range(X.shape[1])]
    return HypothesisTable(CLASSES, (*names, "all"), scores)


def _targets(y):
    y = column_or_1d(np.asarray(y))
    if y.dtype.kind in "iuf":
        return check_array(y.astype(np.float64)[:, None], input_name="y")
    return (y[:, None] == np.unique(y)).astype(np.float64)


def _row(X, T, fold):
    errors = np.zeros(len(CLASSES))
    base = 0.0
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
        Z = (X - mean) / np.where(spread > 0, spread, 1.0)
        predictors = (_affine, _quadratic, _threshold, _kernel)
        errors += [np.sum((T[test] - fit(Z[train], T[train], Z[test])) ** 2) for fit in predictors]
        base += np.sum((T[test] - T[train].mean(axis=0)) ** 2)
    return 1.0 - errors / base if base > 0 else np.zeros(len(CLASSES))


def _affine(Z, T, new):
    A, B = (np.column_stack([np.ones(len(part)), part]) for part in (Z, new))
    return B @ np.linalg.lstsq(A, T, rcond=1e-10)[0]


def _quadratic(Z, T, new):
    lift = PolynomialLift(2, include_bias=False).fit(Z)
    A, B = lift.transform(Z), lift.transform(new)
    if A.shape[1] < len(Z) // 2:
        return _affine(A, T, B)
    return _ridge(A, T, B)


def _threshold(Z, T, new):
    """The best cut of any column: the largest sum over the two sides of |sum of T|^2 / count."""
    centered, best, cut = T - T.mean(axis=0), -1.0, None
    n = len(Z)
    for j, z in enumerate(Z.T):
        order = np.argsort(z, kind="stable")
        left = np.cumsum(centered[order], axis=0)[:-1]
        count = np.arange(1, n)
        gain = np.sum(left**2, axis=1) * n / (count * (n - count))
        gain = np.where(z[order][1:] > z[order][:-1], gain, -1.0)
        place = int(np.argmax(gain)) if n > 1 else 0
        if n > 1 and gain[place] > best:
            best, cut = gain[place], (j, 0.5 * (z[order[place]] + z[order[place + 1]]))
    if cut is None:
        return np.broadcast_to(T.mean(axis=0), (len(new), T.shape[1]))
    below = Z[:, cut[0]] <= cut[1]
    return np.where((new[:, cut[0]] <= cut[1])[:, None], T[below].mean(axis=0), T[~below].mean(axis=0))


def _kernel(Z, T, new):
    distinct = np.unique(Z, axis=0)
    if len(distinct) < 2:
        return np.broadcast_to(T.mean(axis=0), (len(new), T.shape[1]))
    # Half a standard deviation is about what so many landmarks resolve; wider where there are more columns.
    map_ = Landmarks(min(_LANDMARKS, len(distinct)), Gaussian(0.5 * np.sqrt(Z.shape[1]))).fit(Z)
    return _ridge(map_.transform(Z), T, map_.transform(new))


def _ridge(A, T, B):
    scoring = "gcv" if len(A) > 2 else "folds"
    model = RidgeRegressor(scoring=scoring).fit(A, T)
    return np.reshape(model.predict(B), (len(B), -1))
