"""What was measured on data, and what follows from it at a stated confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from mercer.bounds.arguments import check_delta

QUANTILES = (0.5, 0.9, 0.99)
#: What the pairs stand for, by the way they were taken.
POPULATIONS = {
    "all pairs": "all pairs of the rows given",
    "sampled pairs": "the pairs of the rows given",
    "sampled rows": "the pairs of rows from where these came",
}


class PairFraction(NamedTuple):
    """A fraction of pairs: observed, and its upper bound at the confidence of the certificate."""

    observed: float
    at_most: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """Errors of a map, measured on random pairs of rows, with guarantees for the pairs that were not measured.

    Let B pairs be drawn independently, with errors e_1..e_B. With confidence 1 - delta each of these holds:

    - at most a fraction 1 - delta^(1/B) <= ln(1/delta)/B of all pairs errs by more than the largest e (``exceedance``);
    - at most a fraction ``fraction_above(t).at_most`` errs by more than t (Clopper and Pearson 1934);
    - the fraction q of all pairs errs by at most ``quantile_bound(q)``, an order statistic (Wilks 1941);
    - the fraction of pairs with an error up to t is within ``band`` = sqrt(ln(2/delta)/(2B)) of the observed one, for
      all t at once (Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990).

    Attributes
    ----------
    subject : str, the map
    measured : str, what an error is
    errors : array of B signed errors
    delta : float
    kind : {"sampled pairs", "sampled rows", "all pairs"}
        Independent pairs among all rows given; one pair for every two of the sampled rows, which stands for pairs of
        further rows of the same kind; or every pair there is, and no confidence statement is needed.
    n_rows : int, number of distinct rows from which the pairs were taken
    spectral_norm, spectral_rows : ||K - ZZ'||_2 on that many rows, None where it makes no sense
    pointwise : array of B bounds that hold for certain for the error of each pair, None where there are none
    """

    subject: str
    measured: str
    errors: np.ndarray = field(repr=False)
    delta: float
    kind: str
    n_rows: int
    spectral_norm: float | None = None
    spectral_rows: int | None = None
    pointwise: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_delta(self.delta)
        if self.kind not in POPULATIONS:
            raise ValueError(f"kind must be one of {', '.join(POPULATIONS)}, got {self.kind!r}.")
        if len(self.errors) == 0:
            raise ValueError("A certificate needs at least one measured pair.")

    @property
    def n_pairs(self) -> int:
        """B, the number of pairs measured."""
        return len(self.errors)

    @property
    def max(self) -> float:
        """The largest absolute error."""
        return float(self._sizes[-1])

    @property
    def rms(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.mean(self._sizes**2)))

    @property
    def mean(self) -> float:
        """The mean of the signed errors."""
        return float(np.mean(self.errors))

    @property
    def exceedance(self) -> float:
        """The largest fraction of all pairs that may err by more than `max`: 1 - delta^(1/B)."""
        return 0.0 if self._exhaustive else float(-np.expm1(log(self.delta) / self.n_pairs))

    @property
    def band(self) -> float:
        """How far the observed distribution of errors may be from the true one, everywhere at once."""
        return 0.0 if self._exhaustive else sqrt(log(2 / self.delta) / (2 * self.n_pairs))

    def quantile(self, q: float) -> float:
        """The error that the fraction q of the measured pairs does not exceed."""
        return float(self._sizes[max(0, int(np.ceil(q * self.n_pairs)) - 1)])

    def quantile_bound(self, q: float) -> float:
        """Upper bound on the error of the fraction q of all pairs; infinite if there are too few pairs."""
        if self._exhaustive:
            return self.quantile(q)
        from scipy.special import bdtr

        # The error of this rank, counted from 0, falls short if more than `rank` of B errors are below the quantile.
        rank = int(np.searchsorted(bdtr(np.arange(self.n_pairs), self.n_pairs, q), 1 - self.delta))
        return float(self._sizes[rank]) if rank < self.n_pairs else inf

    def fraction_above(self, threshold: float) -> PairFraction:
        """The fraction of pairs with an error above the threshold, which must be chosen before measuring."""
        above = self.n_pairs - int(np.searchsorted(self._sizes, threshold, side="right"))
        observed = above / self.n_pairs
        if self._exhaustive or above == self.n_pairs:
            return PairFraction(observed, observed)
        from scipy.special import betaincinv

        return PairFraction(observed, float(betaincinv(above + 1, self.n_pairs - above, 1 - self.delta)))

    def fitted_value_bound(self, alpha: float) -> float:
        """How far ridge on the features can be from kernel ridge, in fitted values, relative to the norm of y.

            ||y_kernel - y_features|| <= min(1, ||K - ZZ'||_2 / alpha) ||y||

        on the rows on which the spectral norm was measured, for the same penalty alpha (sum of squares +
        alpha ||w||^2), no intercept. The difference of the fits is alpha (ZZ' + alpha)^-1 (ZZ' - K) (K + alpha)^-1 y.
        """
        if self.spectral_norm is None:
            raise ValueError(f"The spectral norm was not measured, so nothing follows for ridge: {self.measured}.")
        if not alpha > 0:
            raise ValueError(f"alpha must be positive, got {alpha!r}.")
        return min(1.0, self.spectral_norm / alpha)

    def as_dict(self) -> dict:
        """The figures, ready for JSON."""
        figures = {
            "subject": self.subject,
            "measured": self.measured,
            "kind": self.kind,
            "population": POPULATIONS[self.kind],
            "delta": self.delta,
            "n_pairs": self.n_pairs,
            "n_rows": self.n_rows,
            "max": self.max,
            "exceedance": self.exceedance,
            "rms": self.rms,
            "mean": self.mean,
            "band": self.band,
            "quantiles": {f"{q:g}": {"observed": o, "at_most": b} for q, o, b in self.quantile_table()},
            "spectral_norm": self.spectral_norm,
            "spectral_rows": self.spectral_rows,
        }
        if self.pointwise is not None:
            figures["pointwise_max"] = float(self.pointwise.max())
        return figures

    def __str__(self) -> str:
        from mercer.bounds.rendering import certificate_table

        return certificate_table(self)

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.sort(np.abs(self.errors))

    @property
    def _exhaustive(self) -> bool:
        return self.kind == "all pairs"

    def quantile_table(self) -> Iterator[tuple[float, float, float | None]]:
        """(q, observed, at most or None) for the usual quantiles."""
        for q in QUANTILES:
            bound = self.quantile_bound(q)
            yield q, self.quantile(q), bound if bound < inf else None
