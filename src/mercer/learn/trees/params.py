"""Parameters of gradient boosting."""

from __future__ import annotations

from dataclasses import dataclass

#: Boosting rounds between two evaluations of the held-out loss.
EVALUATION_INTERVAL = 5


@dataclass(frozen=True)
class TreeParams:
    """Parameters of gradient boosting, named as in scikit-learn and LightGBM.

    `n_estimators` is the number of rounds (one tree per output each), `min_samples_leaf` the minimum weight of a leaf,
    `max_features` the fraction of columns drawn for each tree. Of these a tree uses the `max_screened_columns` with
    the largest correlation with the gradient (0: all). `early_stopping_rounds` is the number of rounds without a lower
    held-out loss after which boosting stops; the rounds up to the lowest loss are used. None: no early stopping.
    """

    n_estimators: int = 400
    max_leaf_nodes: int = 31
    learning_rate: float = 0.08
    min_samples_leaf: float = 20.0
    l2_regularization: float = 1.0
    max_features: float = 0.7
    early_stopping_rounds: int | None = 25
    max_bins: int = 128
    random_state: int = 0
    max_screened_columns: int = 0

    @property
    def n_evaluations(self) -> int:
        """The number of evaluations of the held-out loss after the one before the first round."""
        return -(-self.n_estimators // EVALUATION_INTERVAL)

    def rounds_at(self, evaluation: int) -> int:
        """The number of rounds before an evaluation; the last one follows the last round."""
        return min(evaluation * EVALUATION_INTERVAL, self.n_estimators)


def full_intervals(n_rounds: int) -> int:
    """A number of rounds, rounded up to a multiple of the evaluation interval.

    >>> full_intervals(57)
    60
    """
    return -(-n_rounds // EVALUATION_INTERVAL) * EVALUATION_INTERVAL
