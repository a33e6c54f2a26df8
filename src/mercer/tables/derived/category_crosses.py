"""Two categories as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mercer import _numeric
from mercer._runtime.checks import check_whole
from mercer.source import Columns
from mercer.source.arrow import keys_of
from mercer.tables.derived.base import CATEGORIES, TableTransformer, check_pairs, chosen_pairs


class CategoryCrosses(TableTransformer):
    """Crosses of two categories: the pair (a, b) as a category of its own, written "a x b".

    The crosses are categories again, for an encoder to follow: `mercer.learn.TargetEncoding` gives out-of-fold target
    means, `mercer.normalize.OneHot` indicators. With `n_buckets` a cross is its hash modulo n_buckets, 0, 1, ..., which
    bounds the number of categories whatever the data hold. A missing category is "missing".

    Use it where the effect of one category depends on the other, as that of a road does on the weekday: above all in
    linear models, for trees find crosses by one split after the other. Nothing is learned, so a pair that fit has not
    seen is crossed all the same; what it means is up to the encoder. Cost: one string, or hash, for each pair and row.

    Parameters
    ----------
    pairs : sequence of pairs of columns, by name or index, default=None
        None takes all pairs of columns of text and booleans, in their order.
    n_buckets : int or None, default=None

    Attributes
    ----------
    pairs_ : list of pairs of names

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer.learn import TargetEncoding
    >>> from mercer.tables import CategoryCrosses
    >>> rows = {"road": ["A1", "A1", "A2", "A2"], "weekend": [False, True, False, True]}
    >>> CategoryCrosses().fit_transform(rows).ravel().tolist()
    ['A1 x false', 'A1 x true', 'A2 x false', 'A2 x true']
    >>> encoded = make_pipeline(CategoryCrosses(), TargetEncoding(shrinkage=0.0))
    >>> encoded.fit(rows, [1.5, 4.0, 4.5, 2.0]).transform(rows).ravel().tolist()
    [1.5, 4.0, 4.5, 2.0]
    """

    def __init__(self, pairs: Any = None, n_buckets: int | None = None):
        self.pairs = pairs
        self.n_buckets = n_buckets

    def _check_parameters(self) -> None:
        check_pairs(self.pairs)
        if self.n_buckets is not None:
            check_whole("n_buckets", self.n_buckets, 2)

    def _finish(self, learned: Any) -> None:
        self.pairs_ = chosen_pairs(self._schema, self.pairs, CATEGORIES)
        self._n_buckets = None if self.n_buckets is None else int(self.n_buckets)

    def _apply(self, X: Any) -> np.ndarray:
        if self._n_buckets is not None:
            return np.stack([_buckets(X, pair, self._n_buckets) for pair in self.pairs_], axis=1)
        out = np.empty((len(X), len(self.pairs_)), dtype=object)
        for j, pair in enumerate(self.pairs_):
            out[:, j] = _crossed(X, pair)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as "road x weekend"."""
        shown = dict(zip(self._schema, self._input_names(input_features), strict=True))
        return np.array([f"{shown[a]} x {shown[b]}" for a, b in self.pairs_], dtype=object)


def _crossed(table: Columns, pair: tuple[str, str]) -> list[str]:
    parts = [pc.fill_null(table.table[name].cast(pa.string()), "missing") for name in pair]
    return pc.binary_join_element_wise(*parts, " x ").to_pylist()


def _buckets(table: Columns, pair: tuple[str, str], n_buckets: int) -> np.ndarray:
    keys = _numeric.hash_keyed_rows([keys_of(table.table[name], j) for j, name in enumerate(pair)])
    return (keys % np.uint64(n_buckets)).astype(np.int64)
