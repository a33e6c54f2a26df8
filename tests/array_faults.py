"""Faults of arrays, and estimators of every kind to try them on: a table of what may be wrong with X, y and weights."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from mercer import expand, learn, linear, machines, normalize, project, select

N, D = 40, 4
Rows = tuple[Any, Any, Any]  # X, y and weights


def estimators() -> dict[str, BaseEstimator]:
    """One small estimator of each kind, by its name."""
    made = [
        *(getattr(normalize, name)() for name in ("Center", "UnitRange", "Standardize", "Clip", "Sigmoid", "Log")),
        *(normalize.Quantile(n_quantiles=10), normalize.OneHot(), normalize.Impute()),
        *(expand.Landmarks(8), expand.RandomFeatures(n_components=8), expand.ParabolicLift(), expand.PolynomialLift()),
        *(expand.SubsetLift(max_size=2), expand.ProductLift([(0, 0), (-1, 0)]), expand.ColumnPicker([0, -1])),
        *(project.GaussianProjection(n_components=3), project.HadamardProjection(n_components=3)),
        *(project.SparseProjection(n_components=6, nonzeros=2), project.FeatureHashing(n_components=16)),
        *(learn.PCA(2), learn.ClusterFeatures(3), learn.PiecewiseLinear(n_bins=3), learn.PatchWhitening()),
        *(learn.SparseCoding(n_components=5, nonzeros=2, n_epochs=1), learn.LearnedMetric(n_rounds=1, n_components=8)),
        *(learn.SupervisedBins(n_bins=3), learn.TargetEncoding(n_folds=3), learn.AdditiveTerms(max_cycles=2)),
        learn.KernelScore(n_folds=3),
        learn.TreeFeatures("score", n_estimators=2, max_leaf_nodes=3),
        *(linear.RidgeRegressor(), linear.RidgeClassifier(), linear.LogisticClassifier(), linear.HingeClassifier()),
        linear.Perceptron(n_epochs=20),
        *(machines.KernelRegressor(), machines.KernelHinge(), machines.KernelPerceptron(n_epochs=2)),
        *(machines.KernelPCA(n_components=2), machines.KernelKMeans(n_clusters=2)),
        *(select.FilterSelector(k=2), select.GreedySelector(k=2), select.OrthogonalMatchingPursuit(k=2)),
        *(select.Lasso(n_alphas=10), select.L1Constrained(), select.BestSubset(k=2), select.KnockoffSelector()),
        *(select.StabilitySelector(n_pairs=2), select.AdaBoost(n_rounds=5)),
    ]
    return {type(each).__name__: each for each in made}


def problem(classes: bool) -> Rows:
    """Rows without a fault: y follows from two columns of X."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=N)
    return X, (y > 0).astype(int) if classes else y, None


def _cell(value: float, column: int = 2, row: int = 5) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        X = rows[0].copy()
        X[row, column] = value
        return X, *rows[1:]

    return change


def _column(make: Callable[[np.ndarray], Any]) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        X = rows[0].copy()
        X[:, 2] = make(X)
        return X, *rows[1:]

    return change


def _all(make: Callable[[np.ndarray], Any]) -> Callable[[Rows], Rows]:
    return lambda rows: (make(rows[0]), *rows[1:])


def _target(make: Callable[[np.ndarray], Any]) -> Callable[[Rows], Rows]:
    return lambda rows: (rows[0], make(rows[1]), rows[2])


def _one(y: np.ndarray, value: Any, dtype: Any = float) -> np.ndarray:
    y = y.astype(dtype)
    y[3] = value
    return y


def _weights(make: Callable[[int], Any]) -> Callable[[Rows], Rows]:
    return lambda rows: (rows[0], rows[1], make(N))


def _few(n: int) -> Callable[[Rows], Rows]:
    return lambda rows: (rows[0][:n], rows[1][:n], rows[2])


#: What is wrong: a function of rows without a fault.
FAULTS: dict[str, Callable[[Rows], Rows]] = {
    "none": lambda rows: rows,
    "NaN in a cell": _cell(np.nan),
    "infinity in a cell": _cell(np.inf),
    "minus infinity in a cell": _cell(-np.inf),
    "1e308 in a cell": _cell(1e308),
    "1e-320 in a cell": _cell(1e-320),
    "-0.0 in a cell": _cell(-0.0),
    "constant column": _column(lambda X: 7.0),
    "column of zeros": _column(lambda X: 0.0),
    "column of NaN": _column(lambda X: np.nan),
    "duplicated column": _column(lambda X: X[:, 0]),
    "nearly duplicated column": _column(lambda X: X[:, 0] * (1 + 1e-15)),
    "column of 1e200": _column(lambda X: X[:, 0] * 1e200),
    "column of 1e-200": _column(lambda X: X[:, 0] * 1e-200),
    "column far from zero": _column(lambda X: X[:, 0] + 1e12),
    "one outlier": _cell(1e12),
    "all columns constant": _all(np.ones_like),
    "all rows equal": _all(lambda X: np.repeat(X[:1], len(X), axis=0)),
    "every row twice": lambda rows: (np.repeat(rows[0][: N // 2], 2, axis=0), np.repeat(rows[1][: N // 2], 2), rows[2]),
    "no rows": _few(0),
    "one row": _few(1),
    "two rows": _few(2),
    "three rows": _few(3),
    "no columns": _all(lambda X: X[:, :0]),
    "one column": _all(lambda X: X[:, :1]),
    "more columns than rows": _all(lambda X: np.hstack([X * (1 + k) + k for k in range(12)])),
    "one dimension": _all(lambda X: X[:, 0]),
    "three dimensions": _all(lambda X: X[:, :, None]),
    "a list of lists": _all(lambda X: X.tolist()),
    "integers": _all(lambda X: (10 * X).astype(int)),
    "unsigned bytes": _all(lambda X: (10 * abs(X)).astype(np.uint8)),
    "integers of 2^62": _all(lambda X: (X * 2.0**60).astype(np.int64)),
    "booleans": _all(lambda X: X > 0),
    "half precision": _all(lambda X: X.astype(np.float16)),
    "big-endian numbers": _all(lambda X: X.astype(">f8")),
    "long doubles": _all(lambda X: X.astype(np.longdouble)),
    "complex numbers": _all(lambda X: X + 1j),
    "objects of numbers": _all(lambda X: X.astype(object)),
    "objects with None": _all(lambda X: np.where(np.arange(X.size).reshape(X.shape) == 9, None, X)),
    "text": _all(lambda X: X.astype(str)),
    "text that is no number": _all(lambda X: np.where(X > 0, "yes", "no")),
    "dates": _all(lambda X: np.full(X.shape, np.datetime64("2020-01-01"))),
    "column-major memory": _all(np.asfortranarray),
    "every second row of memory": _all(lambda X: np.repeat(X, 2, axis=0)[::2]),
    "reversed memory": lambda rows: (rows[0][::-1], rows[1][::-1], rows[2]),
    "read-only memory": _all(lambda X: _read_only(X)),
    "masked array": _all(lambda X: np.ma.masked_greater(X, 2.0)),
    "target with NaN": _target(lambda y: _one(y, np.nan)),
    "target with infinity": _target(lambda y: _one(y, np.inf)),
    "target with None": _target(lambda y: _one(y, None, object)),
    "target of one value": _target(lambda y: np.full(len(y), y[0])),
    "target of text": _target(lambda y: np.where(y > 0, "yes", "no")),
    "target of mixed types": _target(lambda y: np.array([1, "a", None, 2.5] * (len(y) // 4), dtype=object)),
    "target too short": _target(lambda y: y[:-1]),
    "target of two dimensions": _target(lambda y: y[:, None]),
    "target of 1e300": _target(lambda y: y * 1e300),
    "target of all different classes": _target(lambda y: np.array([f"c{i}" for i in range(len(y))])),
    "target of booleans": _target(lambda y: y > 0),
    "one rare class": _target(lambda y: np.arange(len(y)) == 3),
    "negative weight": _weights(lambda n: _one(np.ones(n), -1.0)),
    "weight NaN": _weights(lambda n: _one(np.ones(n), np.nan)),
    "weight infinity": _weights(lambda n: _one(np.ones(n), np.inf)),
    "weights of zero": _weights(np.zeros),
    "weights too short": _weights(lambda n: np.ones(n - 1)),
    "one weight is not zero": _weights(lambda n: np.eye(n)[3]),
    "weights of text": _weights(lambda n: np.array(["a"] * n)),
}
#: Faults after which nothing can be learned: an answer would be wrong.
REFUSED = {
    *("no rows", "no columns", "one dimension", "three dimensions", "complex numbers"),
    *("negative weight", "weight NaN", "weight infinity", "weights of zero", "weights too short", "weights of text"),
}
#: Refused by estimators that learn from the target.
REFUSED_TARGETS = {"target too short", "target with NaN", "target with infinity", "target with None"}
FORMS = ("float64", "float32", "csr")


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.setflags(write=False)
    return X


def in_form(X: Any, form: str) -> Any:
    """X as an array of this precision, or as a CSR matrix; what cannot be one stays as it is."""
    array = np.asarray(X)
    if not isinstance(X, np.ndarray) or array.ndim != 2 or array.dtype != np.float64 or np.ma.isMaskedArray(X):
        return X
    if form == "csr":
        return sparse.csr_matrix(X)
    with np.errstate(over="ignore", under="ignore"):
        return X if form == "float64" else X.astype(np.float32)


class Outcome:
    """What became of a case: a refusal, or an answer; `wrong` tells what breaks the contract."""

    def __init__(self, estimator: BaseEstimator, fault: str, form: str):
        self.refusal: str | None = None
        self.wrong: str | None = None
        X, y, weight = FAULTS[fault](problem(is_classifier(estimator)))
        X = in_form(X, form)
        if weight is not None and "sample_weight" not in inspect.signature(estimator.fit).parameters:
            return
        given = {} if weight is None else {"sample_weight": weight}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", module=r"mercer", category=UserWarning)
            try:
                found = _applied(clone(estimator).fit(X, y, **given), X)
            except (ValueError, TypeError) as error:
                self._check_refusal(error)
            except BaseException as error:
                self.wrong = f"{type(error).__name__}: {error}"
            else:
                refused = fault in REFUSED or (fault in REFUSED_TARGETS and _learns_from_target(estimator))
                self.wrong = "accepted" if refused else _wrong_answer(found, X)

    def _check_refusal(self, error: Exception) -> None:
        """A refusal is a sentence; those of NumPy and SciPy about shapes and indices are crashes."""
        self.refusal = str(error)
        inner = (
            "operands",
            "broadcast",
            "index ",
            "axis ",
            "matmul",
            "unpack",
            "attempt to",
            "zero-size",
            "setting an",
        )
        if not self.refusal or any(word in self.refusal for word in inner) or "NoneType" in self.refusal:
            self.wrong = f"{type(error).__name__}: {self.refusal}"


def _learns_from_target(estimator: BaseEstimator) -> bool:
    return inspect.signature(estimator.fit).parameters["y"].default is inspect.Parameter.empty or estimator._needs_y


def _wrong_answer(found: np.ndarray, X: Any) -> str | None:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(found) != n_rows:
        return f"{len(found)} rows instead of {n_rows}"
    return "not finite" if found.dtype.kind == "f" and not np.isfinite(found).all() else None


def _applied(fitted: Any, X: Any) -> np.ndarray:
    found = fitted.transform(X) if hasattr(fitted, "transform") else fitted.predict(X)
    return found.toarray() if hasattr(found, "toarray") else np.asarray(found)
