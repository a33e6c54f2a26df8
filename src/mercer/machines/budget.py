"""Ways to keep the support of a kernel perceptron within a budget.

A policy works on a `PerceptronBlock`: the candidates (the support so far, then the rows of the current block), their
similarities and their coefficients. For every mistake it decides which coefficients change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numeric.linalg import dense


@dataclass
class PerceptronBlock:
    """The candidates of one block.

    B : similarities of the rows of the block to all candidates; G : those among all candidates, if there is a budget.
    coef, lag : coefficients, and the sum of their changes times the moment of each. After T rows the mean of all
    hypotheses so far is coef - lag / T.
    ages : the candidates in the support, the oldest first. scores : of the rows of the block.
    """

    B: np.ndarray
    G: np.ndarray
    coef: np.ndarray
    lag: np.ndarray
    ages: dict[int, None]
    scores: np.ndarray
    time: int = 0

    def add(self, column: int, change: np.ndarray) -> None:
        """coef[column] += change; the scores of the block follow."""
        self.coef[column] += change
        self.lag[column] += self.time * change
        self.scores += np.multiply.outer(self.B[:, column], change)

    def add_combination(self, columns: np.ndarray, weights: np.ndarray, change: np.ndarray) -> None:
        """coef[columns] += weights x change."""
        step = np.multiply.outer(weights, change)
        self.coef[columns] += step
        self.lag[columns] += self.time * step
        self.scores += np.multiply.outer(self.B[:, columns] @ weights, change)

    def renew(self, column: int) -> None:
        """The candidate is the youngest of the support."""
        self.ages.pop(column, None)
        self.ages[column] = None

    def shrink(self, factor: float) -> None:
        """All coefficients times factor."""
        self.coef *= factor
        self.scores *= factor

    def remove(self, column: int) -> None:
        """Remove the candidate from the support."""
        del self.ages[column]
        self.add(column, -self.coef[column])
        self.coef[column] = 0.0

    @property
    def oldest(self) -> int:
        return next(iter(self.ages))


class UnlimitedSupport:
    """Every row that was a mistake stays."""

    sees_near_misses = False

    def mistake(self, block: PerceptronBlock, column: int, change: np.ndarray) -> None:
        block.add(column, change)
        block.ages.setdefault(column)


@dataclass
class RemoveOldest:
    """The new row replaces the oldest."""

    budget: int
    sees_near_misses = False

    def mistake(self, block: PerceptronBlock, column: int, change: np.ndarray) -> None:
        block.add(column, change)
        block.renew(column)
        if len(block.ages) > self.budget:
            block.remove(block.oldest)


@dataclass
class Forgetron:
    """Shrink all coefficients, then remove the oldest (Dekel, Shalev-Shwartz and Singer 2008, self-tuned).

    The damage of removing a row of weight s and margin mu after shrinking by phi is
    Psi = (phi s)^2 k/R^2 + 2 phi s - 2 phi^2 s mu/R^2; phi is the largest that keeps the total damage within 15/32 of
    the number of mistakes, which is what the mistake bound needs. R^2 is the largest k(x, x) so far.
    """

    budget: int
    mistakes: int = 0
    damage: float = 0.0
    largest: float = field(default=0.0)
    sees_near_misses = False

    def mistake(self, block: PerceptronBlock, column: int, change: np.ndarray) -> None:
        self.mistakes += 1
        block.add(column, change)
        block.renew(column)
        self.largest = max(self.largest, float(block.G[column, column]))
        if len(block.ages) > self.budget:
            block.shrink(self._factor(block, block.oldest))
            block.remove(block.oldest)

    def _factor(self, block: PerceptronBlock, oldest: int) -> float:
        c = block.coef[oldest]
        several = 2.0 if len(c) > 1 else 1.0  # one mistake changes two scores
        radius = max(several * self.largest, np.finfo(float).tiny)
        margin = float(c @ (block.G[oldest] @ block.coef))
        a = (float(c @ c) * float(block.G[oldest, oldest]) - 2.0 * margin) / radius
        b = 2.0 * float(np.abs(c).sum()) / several
        factor = first_crossing(a, b, 15.0 / 32.0 * self.mistakes - self.damage)
        self.damage += a * factor**2 + b * factor
        return factor


def first_crossing(a: float, b: float, c: float) -> float:
    """The largest t <= 1 such that a s^2 + b s <= c for all s in [0, t], given b, c >= 0."""
    discriminant = b * b + 4.0 * a * c
    if discriminant < 0 or (a <= 0 and b == 0):
        return 1.0
    # This form of the smaller positive root is right for either sign of a.
    return float(min(1.0, 2.0 * max(c, 0.0) / max(b + np.sqrt(discriminant), np.finfo(float).tiny)))


@dataclass
class SupportSpan:
    """The support of a block, its Gram matrix K, and K^+ k_S(x) for every candidate x."""

    _former = {"board": "block"}

    block: PerceptronBlock
    columns: np.ndarray
    K: np.ndarray
    coordinates: np.ndarray


@dataclass
class Projectron:
    """Rows beyond the budget are projected onto the span of the support (Projectron++, Orabona, Keshet, Caputo 2009).

    k(x, .) = sum_i d_i k(x_i, .) + rest, d = K_S^{-1} k_S(x), delta = ||rest||. Once the budget is used up, a mistake
    adds `change` times d; a correct row whose margin falls short of 1 takes the projected step of Projectron++, where
    the norm of the current hypothesis stands for that of the unknown best one.
    """

    budget: int
    inverse: np.ndarray | None = None
    span: SupportSpan | None = None
    sees_near_misses = True

    def mistake(self, block: PerceptronBlock, column: int, change: np.ndarray) -> None:
        if column in block.ages or not self.is_full(block):
            block.add(column, change)
            block.ages.setdefault(column)
        else:
            span = self._span(block)
            block.add_combination(span.columns, span.coordinates[:, column], change)

    def near_miss(self, block: PerceptronBlock, column: int, change: np.ndarray, loss: float) -> None:
        """A correct row whose margin falls short of 1 by `loss`, once the budget is used up."""
        span = self._span(block)
        d = span.coordinates[:, column]
        several = float(change @ change)
        image = several * float(d @ block.G[span.columns, column])
        delta = np.sqrt(max(several * float(block.G[column, column]) - image, 0.0))
        own = block.coef[span.columns]
        norm = np.sqrt(max(float(np.sum(own * (span.K @ own))), 0.0))
        gain = loss - norm * delta
        if gain > 0 and image > 0:
            block.add_combination(span.columns, d, change * min(2.0 * gain / image, loss / image, 1.0))

    def is_full(self, block: PerceptronBlock) -> bool:
        return len(block.ages) >= self.budget

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "span": None}  # the block of the last block need not be saved

    def _span(self, block: PerceptronBlock) -> SupportSpan:
        """The full support, which never changes again, with all rows of the block in its coordinates."""
        if self.span is None or self.span.block is not block:
            columns = np.fromiter(block.ages, dtype=np.intp, count=len(block.ages))
            K = block.G[np.ix_(columns, columns)]
            if self.inverse is None:
                self.inverse = dense.pinv(K, hermitian=True, rcond=1e-12)
            self.span = SupportSpan(block, columns, K, self.inverse @ block.G[columns])
        return self.span


POLICIES = {"projectron": Projectron, "forgetron": Forgetron, "oldest": RemoveOldest}
