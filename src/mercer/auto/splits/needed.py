"""Whether rows look dependent, so that a split by groups or by time would be needed.

The residual of the linear model of the other columns is divided by the values of a column, or by periods of a date.
With the variance between and within them (one-way analysis of variance, as in `TargetEncoding`), the fraction

    between / (between + within)

is the intraclass correlation: what rows of one value have in common that other columns do not say. If it is large for a
column of many repeated values, such as customers, a row at random is easier to predict than one of a new customer. A
smooth effect of a number, such as the age of a house, says as much about new values, so it is removed first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from scipy.stats import f as f_distribution

from mercer._numeric.linalg import dense as linalg
from mercer._runtime.errors import Message, Setting
from mercer.auto.diagnostics.schema import Check
from mercer.auto.learned import Learned
from mercer.auto.rows.targets import NumericTarget
from mercer.source import Columns, Source
from mercer.tables.columns import columns_by_name
from mercer.tables.values import hashed

#: Rows that are looked at, and encoded columns of the linear model: at most.
_MAX_ROWS, _MAX_COLUMNS = 5000, 300
#: Distinct values of a column of groups: at least, also as a fraction of the rows; rows per value, on average.
_MIN_GROUPS, _MIN_FRACTION, _MIN_SIZE = 20, 0.01, 2.0
#: Intraclass correlations from which on a split is recommended, and the p-value that it must have.
_OF_GROUPS, _OF_TIME, _P_VALUE = 0.2, 0.1, 1e-6
#: Degree of the polynomial in the ranks of a number that counts as its smooth effect.
_DEGREE = 5
#: Periods of equal numbers of rows.
_N_PERIODS = 12


def split_checks(train: Source, learned: Learned, classify: bool, seed: int) -> list[Check]:
    """The checks `rows-in-groups` and `drift-in-time` of training rows that were taken as independent."""
    groups: dict[str, float] = {}
    drift: dict[str, float] = {}
    n = len(learned.rows.ids)
    index = np.sort(np.random.default_rng(seed).permutation(n)[:_MAX_ROWS])
    some = None if hasattr(learned.rows.X, "tocsr") else _table(train, n, index)
    if some is not None:
        rows = _Residuals(learned, classify, index)
        for name, kind in some.schema.items():
            if kind == "date":
                found = rows.correlation(name, _periods(some.array(name)))
                drift |= {name: found} if found > _OF_TIME else {}
            elif kind in ("text", "integer"):
                numbers = some.array(name) if kind == "integer" else None
                found = rows.correlation(name, _groups(hashed(some, (name,))[:, 0]), numbers)
                groups |= {name: found} if found > _OF_GROUPS else {}
    return [_check(_GROUPS, groups), _check(_TIME, drift)]


def notes_of(checks: list[Check]) -> list[str]:
    """Notes on checks that did not pass."""
    found = (each for each in checks if each["severity"] != "passed")
    return [Message(each["message"], " ", each["remedy"]) for each in found]


class _Words(NamedTuple):
    """How a check is written."""

    code: str
    option: str
    title: str
    passed: str
    message: str
    remedy: str


_GROUPS = _Words(
    "rows-in-groups", "groups", "Rows come in groups", "no column makes groups of dependent rows",
    "Rows of equal {name} have {value:.0%} of the variance in common that other columns leave.",
    "If new rows belong to new values of {name}, the score is too good: split by it",
)  # fmt: skip
_TIME = _Words(
    "drift-in-time", "time", "The target drifts in time", "no drift along a column of dates",
    "Periods of {name} explain {value:.0%} of the variance that other columns leave.",
    "If the model is for later rows, the score is too good: split by it",
)  # fmt: skip


def _check(words: _Words, found: dict[str, float]) -> Check:
    check: Check = {
        "code": words.code, "severity": "passed", "title": words.passed, "count": 0, "where": [], "message": "",
        "remedy": "",
    }  # fmt: skip
    if not found:
        return check
    name = max(found, key=lambda each: found[each])
    advice = Message(words.remedy.format(name=repr(name)), " (", Setting(words.option, name), ").")
    return {
        **check, "severity": "warning", "title": words.title, "count": len(found), "where": list(found)[:20],
        "message": words.message.format(name=repr(name), value=found[name]), "remedy": advice,
    }  # fmt: skip


class _Residuals:
    """Residuals of ridge regression on the encoded columns but those of one column of the table."""

    def __init__(self, learned: Learned, classify: bool, index: np.ndarray):
        rows = learned.rows
        self.X = np.asarray(rows.X[index], dtype=np.float64)
        y = np.asarray(rows.y)[index]
        self.Y = NumericTarget.of(y, classify).numbers(y)
        self.columns = columns_by_name(learned.encoder.blocks_)

    def without(self, name: str) -> np.ndarray:
        """The residuals without a column; those of the mean if the other columns are too many."""
        others = np.setdiff1d(np.arange(self.X.shape[1]), self.columns.get(name, np.arange(0)))
        centered = self.Y - self.Y.mean(axis=0)
        if len(others) == 0 or len(others) > min(_MAX_COLUMNS, len(self.X) // 5):
            return centered
        Z = self.X[:, others] - self.X[:, others].mean(axis=0)
        G = Z.T @ Z
        G.flat[:: len(G) + 1] += 1e-3 * len(Z) + 1e-9
        return centered - Z @ linalg.solve(G, Z.T @ centered)

    def correlation(self, name: str, codes: np.ndarray | None, numbers: np.ndarray | None = None) -> float:
        """The intraclass correlation of the residuals in groups; 0 if chance explains it or there are no groups.

        A smooth effect of `numbers`, the values of the column, is removed from the residuals.
        """
        if codes is None:
            return 0.0
        residual = self.without(name)
        residual = residual if numbers is None else residual - _smooth(numbers, residual)
        n_c = np.bincount(codes).astype(np.float64)
        n, k = len(codes), len(n_c)
        sums = np.stack([np.bincount(codes, each) for each in residual.T], axis=1)
        total = np.sum((residual - residual.mean(axis=0)) ** 2)
        between_squares = float(np.sum(sums**2 / n_c[:, None]) - n * np.sum(residual.mean(axis=0) ** 2))
        within = (total - between_squares) / (n - k)
        if not within > 0:
            return 1.0 if between_squares > 0 else 0.0
        ratio = between_squares / (k - 1) / within
        if f_distribution.sf(ratio, k - 1, n - k) > _P_VALUE:
            return 0.0
        between = max(between_squares - (k - 1) * within, 0.0) / (n - np.sum(n_c**2) / n)
        return float(between / (between + within))


def _smooth(numbers: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Least squares of Y by a polynomial in the ranks of the numbers; missing ones rank last."""
    values, codes = np.unique(numbers.astype(np.float64), return_inverse=True)
    Z = legendre.legvander(np.linspace(-1.0, 1.0, len(values)), _DEGREE)[codes.ravel()]
    return Z @ linalg.solve(Z.T @ Z + 1e-9 * len(Z) * np.eye(_DEGREE + 1), Z.T @ Y)


def _groups(keys: np.ndarray) -> np.ndarray | None:
    """Numbers of the groups of a column of many values that repeat; None if it is no such column."""
    found, codes = np.unique(keys, return_inverse=True)
    few = len(found) < max(_MIN_GROUPS, _MIN_FRACTION * len(keys))
    return None if few or len(keys) < _MIN_SIZE * len(found) else codes.ravel()


def _periods(dates: np.ndarray) -> np.ndarray | None:
    """Numbers of periods of about equal numbers of rows; None for too few distinct dates."""
    known = ~np.isnat(dates)
    if not known.all() or len(np.unique(dates)) < _N_PERIODS or len(dates) < 5 * _N_PERIODS:
        return None
    ranks = np.searchsorted(np.sort(dates), dates, side="left")
    return np.unique(ranks * _N_PERIODS // len(dates), return_inverse=True)[1].ravel()


def _table(source: Source, n: int, index: np.ndarray) -> Columns | None:
    """The columns of a source of `n` rows that may be groups or times, of the rows at sorted indices."""
    parts: list[Columns] = []
    start = 0
    for block in source.blocks():
        if len(block) == 0:
            continue
        wanted = [name for name, kind in block.X.schema.items() if kind in ("text", "integer", "date")]
        if not wanted:
            return None
        first, last = np.searchsorted(index, [start, start + len(block)])
        if first < last:
            parts.append(block.X.select(wanted)[index[first:last] - start])
        start += len(block)
    return parts[0].stacked(*parts[1:]) if parts and start == n else None
