"""Tables larger than memory: a uniform sample to search with, then the weights of a linear model from all rows.

Which rows are in the sample is decided by their hashes: no block size, order or machine changes it, and nothing has to
be kept while the rows stream by. What is searched for, trees, bins and waves, comes from the sample. The other rows are
new to all of that, so their features are as honest as those of the sample, which are out of fold; for a quantity the
normal equations of both are added, and the weights are those of all rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.auto.effort import Effort
from mercer.auto.encoding import Encoded, dense
from mercer.auto.numbers import Target
from mercer.auto.penalties import Equations
from mercer.auto.predictor import Predictor
from mercer.auto.rows import N_FOLDS, Rows
from mercer.source import Source, in_holdout
from mercer.stats import Gram

#: The sample must not read the bits of a row's hash that the holdout reads.
_SAMPLE_SEED = 0x53414D504C45
#: Columns that a column of the table becomes, and copies of encoded rows (each number takes 8 bytes), by experience.
_WIDENING, _COPIES = 4, 4


def bytes_per_row(n_columns: int, effort: Effort) -> int:
    """About the memory that a row takes while it is searched with: encoded in float64, features in float32."""
    return 8 * _COPIES * _WIDENING * max(n_columns, 1) + 4 * min(effort.most_waves, effort.most_features)


def sample_of(source: Source, share: float, seed: int) -> tuple[Source, Source]:
    """About this share of the rows of a source, drawn evenly by their hashes, and the others."""
    key = seed + _SAMPLE_SEED
    chosen = source.where(lambda block: in_holdout(block, share, key))
    return chosen, source.where(lambda block: ~in_holdout(block, share, key))


def with_all_rows(predictor: Predictor, encoder, sample: Encoded, rest: Source, seed: int) -> Predictor:
    """A model of a quantity with weights from the rows it was learned from and `rest`, which it has not seen."""
    found = predictor.found
    target = Target.of(sample.y, False)
    rows = Rows(sample.X, target.numbers(sample.y), sample.ids, seed)
    scores = found.scores

    def known(span):
        return predictor.dictionary.features(rows.X[span], None if scores is None else scores[span])

    def new(block):
        if len(block) == 0:
            return replace(block, X=np.zeros((0, predictor.dictionary.width), np.float32), y=np.zeros((0, 1)))
        return replace(block, X=predictor.dictionary.features(dense(block.X)), y=target.numbers(block.y))

    total = rows.summed(known).merge(encoder.transform(rest).map(new).fold(Gram(N_FOLDS, seed)))
    equations = Equations(total.finish(), predictor.dictionary.block_of_column)
    coef, intercept = equations.weights(predictor.penalties)
    return replace(predictor, coef=coef * target.scale, intercept=intercept * target.scale + target.mean)
