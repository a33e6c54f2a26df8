"""The configuration of a model on other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.progress import Steps
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.search.learning import learn, learn_again
from mercer.auto.text.sparse_model import SparsePredictor, learn_terms

if TYPE_CHECKING:
    from mercer.auto.run import FitRun


def refitted(run: FitRun, predictor: Predictor, rows: EncodedRows, positions: np.ndarray, clock: Clock) -> Predictor:
    """The configuration of a model on other rows; a new search if only one of both is sparse.

    positions : of the encoded columns among those of the model, -1 for a new one
    """
    was_sparse = isinstance(predictor, SparsePredictor)
    if sparse.issparse(rows.X):
        return learn_terms(rows, run.classify, run.seed, predictor if was_sparse else None, clock)
    if was_sparse:
        return learn(rows, run.classify, run.effort, clock, run.seed, Steps())
    return learn_again(predictor, rows, run.effort, run.seed, positions, clock)
