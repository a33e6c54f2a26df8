"""Histograms of nodes and their best splits: compiled functions, definitions, and the splits of `grow_tree`."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.trees import histograms

DEFINITION = SimpleNamespace(add_histograms=histograms.add_histograms, best_splits=histograms.best_splits)
BOTH = pytest.mark.parametrize("module", [DEFINITION, _numeric], ids=["definition", "twin"])
COLUMNS, WIDTHS = np.array([2, 0]), np.array([5, 9])


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    bins = np.column_stack([rng.integers(0, width, n) for width in (9, 3, 5)]).astype(np.uint8)
    terms = np.column_stack([rng.integers(0, 50, n), rng.integers(-90, 90, n) + 20 * bins[:, 0]]).astype(float)
    return bins, terms, rng.integers(-1, 3, n).astype(np.int32)


def histogram(module, *task):
    out = np.ones((3, int(WIDTHS.sum()), 2))
    module.add_histograms(*task, COLUMNS, WIDTHS, out)
    return out


def test_compiled_histograms_are_those_of_the_definition():
    ours, defined = (histogram(module, *rows()) for module in (_numeric, DEFINITION))
    np.testing.assert_array_equal(ours, defined)
    assert ours.sum() == 2 * (rows()[1][rows()[2] >= 0].sum()) + ours.size  # two columns, added to ones


@BOTH
def test_the_best_split_is_that_of_all_splits(module):
    bins, terms, nodes = rows()
    cells = histogram(module, bins, terms, nodes) - 1.0
    limits = np.array([100.0, 2000.0, 1e9]), np.array([1.0, 0.0, 3.0])
    column, cut, gain, totals = module.best_splits(cells, WIDTHS, *limits)
    for k, (least, l2) in enumerate(zip(*limits, strict=True)):
        inside, own = bins[nodes == k][:, COLUMNS], terms[nodes == k]
        np.testing.assert_array_equal(totals[k], own.sum(axis=0))

        def score(part, l2=l2):
            return part[:, 1].sum() ** 2 / (part[:, 0].sum() + l2)

        best = {}
        for c, width in enumerate(WIDTHS):
            for b in range(width - 1):
                low = inside[:, c] <= b
                if min(own[low][:, 0].sum(), own[~low][:, 0].sum()) >= least:
                    best[c, b] = score(own[low]) + score(own[~low]) - score(own)
        if not best:
            assert (column[k], cut[k], gain[k]) == (-1, -1, 0.0)
            continue
        np.testing.assert_allclose(gain[k], max(best.values()), rtol=1e-9)
        assert best[column[k], cut[k]] == max(best.values())
    assert column[2] == -1


@BOTH
def test_wrong_arguments_are_refused(module):
    bins, terms, nodes = rows()
    with pytest.raises(ValueError, match="as many rows"):
        histogram(module, bins, terms[:-1], nodes)
    with pytest.raises(ValueError, match="no such node"):
        histogram(module, bins, terms, nodes + np.int32(1))
    with pytest.raises(ValueError, match="beyond the width"):
        histogram(module, bins + np.uint8(1), terms, nodes)
    with pytest.raises(ValueError, match="no such column"):
        module.add_histograms(bins, terms, nodes, COLUMNS + 1, WIDTHS, np.zeros((3, 14, 2)))
    with pytest.raises(ValueError, match="for each bin"):
        module.add_histograms(bins, terms, nodes, COLUMNS, WIDTHS, np.zeros((3, 13, 2)))
    with pytest.raises(ValueError, match="for each bin"):
        module.best_splits(np.zeros((3, 13, 2)), WIDTHS, np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="each node"):
        module.best_splits(np.zeros((3, 14, 2)), WIDTHS, np.ones(2), np.ones(3))
