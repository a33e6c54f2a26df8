"""The one-standard-error rule: the simplest model that paired errors of the same rows cannot tell from the best.

Where rows are few, the smallest of many cross-validated losses is small by chance: trees and selected columns of noise
pass for a gain. The errors of single rows say how far losses can be told from each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.auto.constants import SELECTED_ERRORS

#: Why a simpler model was chosen, for reports.
SIMPLEST = "the simplest that errors of the rows cannot tell from the best"


def simplest(errors: Sequence[np.ndarray], n_errors: float = 1.0) -> int:
    """Return the index of the first model whose mean error exceeds the smallest by at most `n_errors` standard errors.

    The standard error is that of the mean difference of the errors of the two models on the same rows. Hastie,
    Tibshirani and Friedman (2009), 7.10, take that of the best model's own errors. A model with an infinite error, of
    equations that could not be solved, is neither the best nor returned, unless all are such.

    Parameters
    ----------
    errors : errors of the models on the same independent rows, from the simplest model to the most complex
    n_errors : number of standard errors

    >>> import numpy as np
    >>> simplest([np.array([3.0, 2.0, 4.0, 3.0]), np.array([1.0, 2.1, 0.9, 2.0]), np.array([1.1, 1.9, 0.9, 2.0])])
    1
    """
    solved = [(k, each) for k, each in enumerate(errors) if np.all(np.isfinite(each))]
    if not solved:
        return 0
    best = min((each for _, each in solved), key=np.mean)
    for k, each in solved:
        difference = each - best
        spread = float(np.std(difference, ddof=1)) if len(difference) > 1 else 0.0
        if each is best or difference.mean() <= n_errors * spread / np.sqrt(len(difference)):
            return k
    return solved[-1][0]


def simplest_model(errors: Sequence[np.ndarray], ids: np.ndarray | None = None) -> int:
    """Return the index of the model to use, of those that a search kept one after the other.

    The blocks beside the columns were chosen from many: the first model from the columns on is taken that is within
    `SELECTED_ERRORS` standard errors of the best of these. The columns were not: one standard error above the mean of
    the target, which comes first, is enough.

    ids : hashes of the rows, where some may be equal: these count once
    """
    if ids is not None:
        errors = [per_distinct_row(each, ids) for each in errors]
    k = 1 + simplest(errors[1:], SELECTED_ERRORS)
    return 0 if simplest([errors[0], errors[k]]) == 0 else k


def per_distinct_row(errors: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the sums of the errors of equal rows, which are no independent evidence.

    >>> import numpy as np
    >>> per_distinct_row(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7])).tolist()
    [2.0, 5.0]
    """
    return np.bincount(np.unique(ids, return_inverse=True)[1], errors)
