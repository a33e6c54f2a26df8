"""Selectors that let the data decide how many columns to keep."""

from __future__ import annotations

import numpy as np

from mercer.select.base import Selector


class ThresholdSelector(Selector):
    """A selector for which no column at all is an ordinary answer, given without a warning."""

    def _apply(self, X):
        return X[:, np.flatnonzero(self._get_support_mask())]
