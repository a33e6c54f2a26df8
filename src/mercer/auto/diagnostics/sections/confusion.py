"""Confusion matrix of held-out rows."""

from __future__ import annotations

import numpy as np

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.schema import Confusion
from mercer.auto.diagnostics.sections.outputs import class_codes, class_names, predicted_codes

_MAX_CLASSES = 15
POOLED = "(other classes)"


def section(rows: HeldOutRows) -> Confusion | None:
    """Counts of rows by true and predicted class; None for regression.

    Of more than 15 classes the 14 with most rows are shown and the others pooled. Classes that the model does not know
    are in the pool too.
    """
    if rows.classes is None:
        return None
    names, actual, predicted = class_names(rows), class_codes(rows), predicted_codes(rows)
    kept = np.arange(len(names))
    if len(names) > _MAX_CLASSES:
        known = np.concatenate([actual[actual >= 0], predicted])
        ranked = np.argsort(-np.bincount(known, minlength=len(names)), kind="stable")
        kept = np.sort(ranked[: _MAX_CLASSES - 1])
    pool = len(kept)
    position = np.full(len(names) + 1, pool)  # the last entry is that of code -1
    position[kept] = np.arange(pool)
    size = pool + int(pool < len(names) or bool(np.any(actual < 0)))
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (position[actual], position[predicted]), 1)
    return {"classes": [*(names[k] for k in kept), *[POOLED] * (size - pool)], "counts": counts.tolist()}
