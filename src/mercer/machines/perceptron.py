"""The kernel perceptron: online and in epochs, averaged, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._numeric.block import Block, take_rows
from mercer._runtime.checks import check_whole
from mercer._runtime.labels import class_labels
from mercer.kernels import Kernel
from mercer.machines import similarity
from mercer.machines.base import (
    KernelMachine,
    known_classes,
    predicted_classes,
    refuse_contradiction,
    stacked,
)
from mercer.machines.budget import POLICIES, PerceptronBlock, UnlimitedSupport
from mercer.source import MemorySource, Source
from mercer.stats import LabelCounts

#: Rows whose similarities are computed together; corrections inside a block keep the rule strictly online.
_ROWS = 256


class KernelPerceptron(ClassifierMixin, KernelMachine):
    """The perceptron in the space of a kernel: f = sum of y_i k(., x_i) over the mistakes.

    Rows are visited in the order given. Row i is a mistake when y_i f(x_i) <= 0 (a score of zero is one), and then
    adds y_i k(., x_i) to f: exactly the perceptron on the explicit features, seen from the other side. With several
    classes there is one f_c each; a row is a mistake unless its own class scores strictly best, and then adds
    k(., x_i) to its own and subtracts it from the best wrong one. If some u of norm 1/gamma has y_i u(x_i) >= 1 for
    all rows, there are at most (R/gamma)^2 mistakes, R^2 = max k(x, x); otherwise the passes end at `n_epochs`.

    Use it to learn and to teach, and where rows arrive one by one. The stored mistakes grow with the data if classes
    overlap; prefer `KernelHinge` there. A row costs one kernel value per stored mistake.

    Parameters
    ----------
    kernel : Kernel, str or None, default=None
        A kernel or the name of one; None is ``Gaussian(bandwidth="median")``.
    n_epochs : int, default=10
        Passes over the data; fewer if one has no mistake.
    average : bool, default=False
        Predict with the mean of the hypotheses after each row (Freund and Schapire 1999).
    budget : int or None, default=None
        Maximum number of rows in the support.
    policy : {"projectron", "forgetron", "oldest"}, default="projectron"
        What happens beyond the budget: project onto the support (Projectron++), shrink and forget the oldest
        (Forgetron, self-tuned), or replace the oldest.

    Attributes
    ----------
    classes_ : the labels in sorted order
    support_ : row numbers of the support, counted from the first row seen; `support_vectors_` are those rows
    dual_coef_ : array (1 or classes, support), the coefficients
    mistakes_ : number of mistakes in each pass; calls of `partial_fit` continue the last one
    mistake_rows_ : the row number of every mistake, in order
    converged_ : whether the last pass had no mistake

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> from mercer.machines import KernelPerceptron
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> xor = KernelPerceptron(Polynomial(2)).fit(X, [1, 0, 1, 0])
    >>> xor.predict(X), int(xor.mistakes_.sum())
    (array([1, 0, 1, 0]), 4)
    """

    _needs_y = True
    _if_not_mercer = (
        "The kernel perceptron still runs, but there is no space in which it moves towards a separator: the mistake "
        "bound is void and passes may go on making the same mistakes. Use mercer.machines.KernelHinge with "
        "penalty='coefficients', which any similarity suits."
    )

    def __init__(
        self,
        kernel: Kernel | str | None = None,
        n_epochs: int = 10,
        average: bool = False,
        budget: int | None = None,
        policy: str = "projectron",
    ) -> None:
        self.kernel = kernel
        self.n_epochs = n_epochs
        self.average = average
        self.budget = budget
        self.policy = policy

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make up to `n_epochs` passes over rows X with labels y, or over a `Source` that brings both."""
        self._check_parameters()
        source, kernel, classes = self._open(X, y)
        self._begin(kernel, classes)
        for _ in range(self.n_epochs):
            self._n_rows = 0
            self._counts.append(0)
            for rows, target in _row_blocks(source):
                self._visit(rows, target)
            if self._counts[-1] == 0:
                break
        return self._finish()

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Visit more rows once. Labels may be named in advance by `classes`; others are added as they come.

        The first call resolves a bandwidth of "median" on its rows.
        """
        self._check_parameters()
        if similarity.is_pairwise(self._kernel()):
            raise ValueError("Precomputed() has no similarities to rows of later calls of partial_fit. Use fit.")
        first = not hasattr(self, "_coef")
        X = self._checked_rows(X, reset=first)
        y = self._checked_y(y, X.shape[0])
        known = np.unique(y) if classes is None else np.union1d(classes, y)
        if first:
            if len(known) < 2:
                raise ValueError("The first call of partial_fit saw one class only: name all of them in classes=.")
            self._begin(self._resolved_kernel(X), known)
            self._counts.append(0)
        else:
            self._add_classes(known)
        for rows, target in _row_blocks(MemorySource(X, y)):
            self._visit(rows, target)
        return self._finish()

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each class; for two classes one column, positive for the second."""
        check_is_fitted(self)
        coef = np.ascontiguousarray(self.dual_coef_.T)
        if len(coef) == 0:
            scores = np.zeros((self._new_rows(X).shape[0], coef.shape[1]))
        else:
            scores = self._scores(X, self.support_vectors_, coef, self.support_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score, row by row."""
        return predicted_classes(self.decision_function(X), self.classes_)

    def _check_parameters(self) -> None:
        check_whole("n_epochs", self.n_epochs)
        if self.budget is not None:
            check_whole("budget", self.budget)
        if self.policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(POLICIES)}, not {self.policy!r}.")
        if self.average and self.budget is not None and self.policy != "projectron":
            raise ValueError(
                f"The mean of all hypotheses contains rows that policy={self.policy!r} has removed. "
                "Use policy='projectron', which removes none, or average=False."
            )

    def _target(self, y: Any) -> np.ndarray:
        return class_labels(y)

    def _open(self, X: Any, y: Any) -> tuple[Source, Kernel, np.ndarray]:
        """The rows as a source, the resolved kernel and the labels."""
        if not isinstance(X, Source):
            block = self._read(X, y)
            classes, _ = known_classes(np.asarray(block.y), self)
            return MemorySource(block.X, block.y), self._resolved_kernel(block.X), classes
        refuse_contradiction(y, None)
        source = X.map(lambda block: self._checked_block(block, reset=False))
        first = next((block for block in (task.read() for task in X.tasks()) if len(block)), None)
        if first is None:
            raise ValueError("The source has no rows.")
        self._checked_block(first, reset=True)
        classes, _ = known_classes(np.asarray(source.fold(LabelCounts()).finish().levels), self)
        return source, self._kernel_resolved_in(source), classes

    def _checked_block(self, block: Block, reset: bool) -> Block:
        if len(block) == 0:
            return block
        X = self._checked_rows(block.X, reset=reset, start=block.start)
        return Block(X, self._checked_y(block.y, len(block)), None, block.start, block.raw)

    # the state: support, coefficients, similarities within the support

    def _begin(self, kernel: Kernel, classes: np.ndarray) -> None:
        self.kernel_, self.classes_ = kernel, classes
        width = 1 if len(classes) == 2 else len(classes)
        self._ids = np.empty(0, dtype=np.intp)
        self._rows = None
        self._coef, self._lag = np.zeros((0, width)), np.zeros((0, width))
        self._G = np.zeros((0, 0))
        self._rule: Any = UnlimitedSupport() if self.budget is None else POLICIES[self.policy](self.budget)
        self._time = self._n_rows = 0
        self._counts: list[int] = []
        self._history: list[int] = []

    def _add_classes(self, known: np.ndarray) -> None:
        """Add columns for labels not seen before."""
        together = np.union1d(self.classes_, known)
        if len(together) == len(self.classes_):
            return
        positions = np.searchsorted(together, self.classes_)
        self._coef, self._lag = (_with_classes(table, positions, len(together)) for table in (self._coef, self._lag))
        self.classes_ = together

    def _visit(self, X: Any, y: Any) -> None:
        """Visit the rows of one block in order."""
        n = X.shape[0]
        ids = np.arange(self._n_rows, self._n_rows + n)
        state = self._block_state(X, ids)
        column_of = {int(i): c for c, i in enumerate(self._ids)}
        columns = [column_of.get(int(i), len(self._ids) + j) for j, i in enumerate(ids)]
        target = _Targets(np.searchsorted(self.classes_, y), len(self.classes_))
        uses_margins = self._rule.sees_near_misses
        j = 0
        while j < n:
            margins = target.margins(state.scores, j)
            is_update = margins < 1 if uses_margins and self._rule.is_full(state) else margins <= 0
            if not is_update.any():
                break
            j += int(np.argmax(is_update))
            margin = float(margins[int(np.argmax(is_update))])
            state.time = self._time + j
            self._correct(state, columns[j], target.change(state.scores, j), margin, int(ids[j]))
            j += 1
        self._store(state, X, ids)
        self._n_rows += n
        self._time += n

    def _correct(self, state: PerceptronBlock, column: int, change: np.ndarray, margin: float, row: int) -> None:
        if margin > 0:
            self._rule.near_miss(state, column, change, 1.0 - margin)
            return
        self._counts[-1] += 1
        self._history.append(row)
        self._rule.mistake(state, column, change)

    def _block_state(self, X: Any, ids: np.ndarray) -> PerceptronBlock:
        K = self._similarities(X, X, ids)
        if len(self._ids) == 0 and self._time == 0:
            similarity.warn_unless_mercer(self.kernel_, K, self._if_not_mercer)
        beside = np.zeros((len(K), 0)) if len(self._ids) == 0 else self._similarities(X, self._rows, self._ids)
        B = np.hstack([beside, K]).astype(np.float64, copy=False)
        G = self._G if self.budget is None else np.vstack([np.hstack([self._G, beside.T]), B])
        room = np.zeros((len(K), self._coef.shape[1]))
        coef, lag = np.vstack([self._coef, room]), np.vstack([self._lag, room])
        ages = dict.fromkeys(range(len(self._ids)))
        return PerceptronBlock(B, G, coef, lag, ages, beside @ self._coef)

    def _similarities(self, X: Any, others: Any, ids: np.ndarray) -> np.ndarray:
        if similarity.is_pairwise(self.kernel_):
            X = X[:, ids]
        return self.kernel_(X) if others is X else similarity.cross(self.kernel_, X, others)

    def _store(self, state: PerceptronBlock, X: Any, ids: np.ndarray) -> None:
        """Keep what is in the support now, the oldest first."""
        kept = np.fromiter(state.ages, dtype=np.intp, count=len(state.ages))
        size = len(self._ids)
        if self.budget is not None:
            self._G = state.G[np.ix_(kept, kept)]
        if not np.array_equal(kept, np.arange(size)):
            new = take_rows(X, kept[kept >= size] - size)
            old = None if self._rows is None else take_rows(self._rows, kept[kept < size])
            # A renewed row of the support may be younger than rows of this block.
            order = np.argsort(np.concatenate([np.flatnonzero(kept < size), np.flatnonzero(kept >= size)]))
            rows = new if old is None else stacked(old, new)
            self._rows = rows if np.array_equal(order, np.arange(len(order))) else take_rows(rows, order)
        self._ids = np.concatenate([self._ids, ids])[kept]
        self._coef, self._lag = state.coef[kept], state.lag[kept]

    def _finish(self) -> Self:
        coef = self._coef - self._lag / max(self._time, 1) if self.average else self._coef
        self.support_, self.support_vectors_ = self._ids, self._rows
        self.dual_coef_ = coef.T.copy()
        self.mistakes_ = np.array(self._counts)
        self.mistake_rows_ = np.array(self._history, dtype=np.intp)
        self.converged_ = self._counts[-1] == 0
        self.n_iter_ = len(self._counts)
        return self


class _Targets:
    """The rule of two classes (one score) or of several (the own class must score strictly best)."""

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        self.codes, self.n_classes = codes, n_classes

    def margins(self, scores: np.ndarray, start: int) -> np.ndarray:
        """Margin of each row from `start` on; at most 0 is a mistake."""
        if self.n_classes == 2:
            return (2.0 * self.codes[start:] - 1.0) * scores[start:, 0]
        own = scores[np.arange(start, len(scores)), self.codes[start:]]
        return own - self._others(scores[start:], self.codes[start:]).max(axis=1)

    def change(self, scores: np.ndarray, j: int) -> np.ndarray:
        """What a mistake at row j adds to its coefficients."""
        if self.n_classes == 2:
            return np.array([2.0 * self.codes[j] - 1.0])
        runner_up = int(self._others(scores[j : j + 1], self.codes[j : j + 1]).argmax())
        step = np.zeros(self.n_classes)
        step[self.codes[j]], step[runner_up] = 1.0, -1.0
        return step

    @staticmethod
    def _others(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        others = scores.copy()
        others[np.arange(len(others)), codes] = -np.inf
        return others


def _row_blocks(source: Source) -> Iterator[tuple[Any, Any]]:
    """Rows and labels, a block of similarities at a time."""
    for block in source.blocks():
        for start in range(0, len(block), _ROWS):
            rows = block.rows(slice(start, start + _ROWS))
            yield rows.X, rows.y


def _with_classes(table: np.ndarray, positions: np.ndarray, n_classes: int) -> np.ndarray:
    """Coefficients for more classes; the one score of two classes counts against the first, for the second."""
    expanded = np.zeros((len(table), n_classes))
    expanded[:, positions] = np.hstack([-table, table]) if table.shape[1] == 1 else table
    return expanded
