"""Control of the false discovery rate over many p-values."""

from __future__ import annotations

from typing import Any

import numpy as np


def discoveries(pvalues: Any, q: float = 0.1, method: str = "bh") -> np.ndarray:
    """Return the mask of null hypotheses to reject at a false discovery rate of at most q.

    With the p-values in increasing order, find the largest i with p_(i) <= q i / (d c) and reject p_(1), ..., p_(i).
    "bh" (Benjamini and Hochberg 1995) has c = 1 and holds for independent or positively dependent p-values; "by"
    (Benjamini and Yekutieli 2001) has c = 1 + 1/2 + ... + 1/d and holds under any dependence.

    Use it for p-values of your own. `FilterSelector(fdr=...)` calls it for columns, and `KnockoffSelector` tests
    columns given the others instead.

    >>> discoveries([0.001, 0.9, 0.02, 0.2], q=0.1)
    array([ True, False,  True, False])
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError("pvalues must be numbers between 0 and 1 in one dimension.")
    if not 0 < q < 1:
        raise ValueError(f"q must lie between 0 and 1, not {q!r}.")
    if method not in ("bh", "by"):
        raise ValueError(f"method must be 'bh' or 'by', not {method!r}.")
    d = len(p)
    ranks = np.arange(1, d + 1)
    scale = np.sum(1.0 / ranks) if method == "by" else 1.0
    passed = np.flatnonzero(np.sort(p) <= q * ranks / max(d * scale, 1.0))
    return p <= np.sort(p)[passed[-1]] if len(passed) else np.zeros(d, dtype=bool)


def adjusted_pvalues(pvalues: Any) -> np.ndarray:
    """Return the p-values adjusted as by Benjamini and Hochberg (1995): the smallest rate q at which each is rejected.

    With the p-values in increasing order, q_(i) = min over j >= i of p_(j) d / j, at most 1.

    >>> adjusted_pvalues([0.01, 0.9, 0.02, 0.2]).round(3)
    array([0.04 , 0.9  , 0.04 , 0.267])
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    rates = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(rates[::-1])[::-1], 1.0)
    return adjusted
