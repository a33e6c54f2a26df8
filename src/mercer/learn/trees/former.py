"""Readers of trees in model files of format 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.learn.trees.ensemble import TreeEnsemble


class Binning:
    """The cuts of binned columns."""

    cuts: list[np.ndarray]


class BoostedTrees:
    """Trees on bins, with a step per node and output: they become a `TreeEnsemble`."""

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> TreeEnsemble:
        column, cut, left, right = state["nodes"]
        cuts, n_outputs, roots = state["binning"].cuts, len(state["start"]), state["roots"]
        inner = column >= 0
        threshold = np.zeros(len(column))
        threshold[inner] = [cuts[j][b] for j, b in zip(column[inner], cut[inner], strict=True)]
        output = np.arange(len(roots)) % (1 if state["shared"] else n_outputs)  # shared trees serve leaves alone
        roots, output, column = (np.asarray(each, dtype=np.int64) for each in (roots, output, column))
        value = state["rate"] * state["steps"][:, 0]
        return TreeEnsemble(state["start"], roots, output, column, threshold, left, right, value)
