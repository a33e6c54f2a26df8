"""The perceptron: one update per mistake, row by row."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import _numeric
from mercer._numeric.block import Block
from mercer.base import StreamingEstimator, seed_of
from mercer.linear.classes import LinearClassifier, at_least_two, classes_of
from mercer.linear.ridge.overflow import refuse_overflow


class Perceptron(LinearClassifier, StreamingEstimator):
    """Rosenblatt's perceptron: a row with y (<w, x> + b) <= 0 is a mistake, and then w += y x and b += y.

    A score of zero is a mistake. On rows that some hyperplane separates with margin gamma, in a ball of radius R (both
    with the constant feature of the intercept), it makes at most (R / gamma)^2 mistakes in all (Novikoff 1962), then
    none. More than two classes have one weight vector each: the largest score is predicted, a tie is a mistake; then x
    is added to the right class and subtracted from the wrong one of largest score. Integer rows give exact integer
    weights.

    The result depends on the order of the rows, which are visited as given. So there is no `merge`, and no row weights.

    Use it to learn and to teach: it needs no parameter and one row at a time. On rows that no hyperplane separates it
    does not settle; prefer `HingeClassifier` or `LogisticClassifier` for results. A visit of a row costs d operations.

    Parameters
    ----------
    n_epochs : int, default=10
        Upper bound on the epochs of `fit`, which ends after the first one without a mistake.
    average : bool, default=False
        Predict with the average of the weights after each row (Freund and Schapire 1999), which is more stable if no
        hyperplane separates the classes.
    shuffle : bool, default=False
        Visit the rows in random order within blocks of 8,192, a new one in each epoch.
    random_state : int, default=0
        Seed of the shuffling.

    Attributes
    ----------
    classes_ : the labels in sorted order
    coef_, intercept_ : one row per class, or a single row for two classes
    mistakes_ : the row index of each mistake, in order of visits
    epoch_mistakes_ : the number of mistakes in each epoch (or call of `partial_fit`)
    n_iter_ : int, the number of epochs
    converged_ : bool, whether the last epoch was without a mistake

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.linear import Perceptron
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = Perceptron().fit(X, ["no", "yes", "yes", "yes"])
    >>> model.coef_, model.intercept_, model.mistakes_
    (array([[2., 2.]]), array([-1.]), array([0, 1, 2, 0, 0, 1, 0, 2, 0]))
    """

    _needs_y = True

    def __init__(self, n_epochs: int = 10, average: bool = False, shuffle: bool = False, random_state: Any = 0):
        self.n_epochs = n_epochs
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.n_epochs, (int, np.integer)) or self.n_epochs < 1:
            raise ValueError(f"n_epochs must be a whole number of at least 1, not {self.n_epochs!r}.")

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Visit the rows of X, an array, CSR matrix, data frame or `Source`, in order, up to `n_epochs` times."""
        self._check_parameters()
        source = self._open(X, y, None)
        self._begin(classes_of(source))
        rng = np.random.default_rng(seed_of(self.random_state))
        for _ in range(self.n_epochs):
            before, start = len(self._mistaken), 0
            for block in source.blocks():
                self._sweep(block, start, rng)
                start += len(block)
            self.epoch_mistakes_.append(len(self._mistaken) - before)
            if self.epoch_mistakes_[-1] == 0:
                break
        self._rows_seen = start
        self._set_learned()
        if not self.converged_ and not self.average:
            self._warn(start)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Visit the rows of X once. The first call must name all classes: in y, or in `classes`."""
        self._check_parameters()
        first = not hasattr(self, "_W")
        block = self._checked_block(X, y, None, reset=first)
        if first:
            self._begin(np.unique(np.asarray(block.y) if classes is None else classes))
        before = len(self._mistaken)
        self._sweep(block, self._rows_seen, np.random.default_rng([seed_of(self.random_state), self._rows_seen]))
        self._rows_seen += len(block)
        self.epoch_mistakes_.append(len(self._mistaken) - before)
        self._set_learned()
        return self

    @property
    def merge(self) -> Any:
        """Not available: raises AttributeError."""
        raise AttributeError(
            "A Perceptron has no merge: its weights depend on the order of all rows. Fit one on all of them, by "
            "partial_fit or from a Source."
        )

    def _begin(self, classes: np.ndarray) -> None:
        """Start from zero weights."""
        at_least_two(classes, type(self).__name__)
        self.classes_ = classes
        shape = (1 if len(classes) == 2 else len(classes), self.n_features_in_)
        self._W, self._U = np.zeros(shape), np.zeros(shape)
        self._b, self._c = np.zeros(shape[0]), np.zeros(shape[0])
        self._visits, self._rows_seen = 0, 0
        self._mistaken: list[int] = []
        self.epoch_mistakes_: list[int] = []

    def _sweep(self, block: Block, start: int, rng: np.random.Generator) -> None:
        """Visit the rows of a block, the first of which has index `start`."""
        if block.weight is not None:
            raise ValueError("A Perceptron takes no weights: it counts mistakes. Repeat rows instead.")
        order = rng.permutation(len(block)) if self.shuffle else np.arange(len(block))
        state = self._codes(block.y), order, self._W, self._b, self._U, self._c, float(self._visits)
        if hasattr(block.X, "tocsr"):
            X = block.X.tocsr()
            indices = _numeric.perceptron_sweep_csr(X.data, X.indices, X.indptr, *state)
        else:
            indices = _numeric.perceptron_sweep(np.ascontiguousarray(block.X), *state)
        with np.errstate(over="ignore"):
            refuse_overflow(np.square(self._W.astype(block.X.dtype)))
        self._visits += len(block)
        self._mistaken.extend((start + order[indices]).tolist())

    def _codes(self, y: Any) -> np.ndarray:
        codes = np.searchsorted(self.classes_, y)
        wrong = np.flatnonzero(self.classes_[np.minimum(codes, len(self.classes_) - 1)] != y)
        if len(wrong):
            raise ValueError(
                f"y holds {y[wrong[0]]!r}, which is not one of the classes {self.classes_.tolist()}: name all classes "
                "in the first call of partial_fit (classes=...)."
            )
        return codes.astype(np.int64)

    def _set_learned(self) -> None:
        """Set the public attributes from the state."""
        visits = max(self._visits, 1)
        self.coef_ = self._W - self._U / visits if self.average else self._W.copy()
        self.intercept_ = self._b - self._c / visits if self.average else self._b.copy()
        self.mistakes_ = np.array(self._mistaken, dtype=np.int64)
        self.n_iter_ = len(self.epoch_mistakes_)
        self.converged_ = self.epoch_mistakes_[-1] == 0

    def _warn(self, n_rows: int) -> None:
        warnings.warn(
            f"The last of {self.n_iter_} epochs still made {self.epoch_mistakes_[-1]} mistakes on {n_rows} rows. "
            "Either no hyperplane separates the classes, and the weights will not converge: lift the features, set "
            "average=True or use LogisticClassifier or HingeClassifier; or the margin is small: raise n_epochs.",
            ConvergenceWarning,
            stacklevel=3,
        )
