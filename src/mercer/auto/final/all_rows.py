"""Tables larger than memory: a random sample to search with, then the weights of a linear model from all rows.

Membership in the sample is decided by the hashes of the rows: no block size, order or machine changes it. Trees, bins
and random features come from the sample. The other rows are new to all of these, so their features are as unbiased as
those of the sample, which are out of fold. For regression the normal equations of both are added, or where rows are
fewer than features solved in the space of the rows; for classes each Newton step from the weights of the sample is one
more pass.

Penalties stay what they were: against a sum of losses a penalty is the variance of the noise over that of the weights,
and neither grows with the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer._numeric.block import Block, stack_rows
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.memory import bytes_of_equations, usable
from mercer.auto.budget.time_model import MARGIN, PassTimer, TimeUp
from mercer.auto.features.union import Features
from mercer.auto.final.linear import column_scales, scaled
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import EncodedRows, dense
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import N_FOLDS, TrainingRows, folds_of_rows
from mercer.auto.text.sparse_model import SparsePredictor
from mercer.linear.optimize.streamed import Descent, descend
from mercer.linear.ridge.fold_loss import FoldLoss, GramFoldLoss
from mercer.linear.ridge.row_space import BlockKernel, RowSpaceFoldLoss
from mercer.source import MemorySource, Source, in_holdout
from mercer.source.recording import current_recorder
from mercer.stats import Gram, LabelCounts

#: The sample must not read the bits of a row's hash that the holdout reads.
_SAMPLE_SEED = 0x53414D504C45
#: Bytes for the scores of trees, by far the most expensive features: if kept, they are computed in the first pass only.
_MAX_KEPT_BYTES = 1e8
#: Classes that a note lists.
_MAX_SHOWN = 12


def sample_of(
    source: Source, fraction: float, seed: int, held_out: Callable[[Block], np.ndarray] | None = None
) -> tuple[Source, Source]:
    """About this fraction of the rows of a source, drawn by their hashes, and the others.

    The sample contains none of the rows that the mask `held_out` of a block chooses.
    """

    def inside(block: Block) -> np.ndarray:
        chosen = in_holdout(block, fraction, seed + _SAMPLE_SEED)
        return chosen if held_out is None else chosen & ~held_out(block)

    return source.where(inside), source.where(lambda block: ~inside(block))


@dataclass
class StreamedRows:
    """The encoded rows that a model was fitted to, and `rest`, a source of tables it has not seen; `n_rows` in all."""

    predictor: Predictor
    encoder: Any
    sample: EncodedRows
    rest: Source
    n_rows: int
    seed: int
    clock: Clock = field(default_factory=Clock)
    #: Rows of the rest by classes that the sample does not have.
    unknown: dict = field(default_factory=dict)
    #: Classes of all rows, where they were counted.
    n_classes: int | None = None
    #: Gigabytes that a fit may take; None is no limit.
    memory: float | None = None

    def __post_init__(self) -> None:
        classes = self.predictor.classes
        self.target = NumericTarget.of(self.sample.y, classes is not None, self.sample.weight)
        self._scores: dict[int, np.ndarray] = {}
        blocks: list[Any] = self.predictor.features.blocks
        self._trees: Any = next((block for block in blocks if block.kind == "trees"), None)
        size = 0 if self._trees is None else 4 * self._trees.score.n_outputs * self.n_rows
        self._keeps = 0 < size <= _MAX_KEPT_BYTES

    def fit_into_memory(self, n_folds: int = 1) -> bool:
        """Whether there is memory for the ridge equations of all rows: matrices no larger than those of the search."""
        width = self.predictor.features.width
        if self.memory is None or width <= len(self.sample.y):
            return True
        return bytes_of_equations(self.n_rows, width, n_folds) <= usable(self.memory)

    def others(self) -> Source:
        """The other rows with their features; on the threads of this process each pass is timed."""
        if self.rest.engine is not None:
            known = self.rest.map(KnownRows(self.predictor.classes))
            trees = self._trees if self._keeps else None
            return self.encoder.transform(known).map(FeaturedRows(self.predictor.features, trees, self.sample.unit))
        timer = PassTimer(self.clock, self.n_rows)

        def featured(block: Block) -> Block:
            made = self._featured(block)
            timer.block()
            return made

        counting = KnownRows(self.predictor.classes) if self._counts_in_own_pass else self._counting
        return self.encoder.transform(self.rest.map(counting)).map(featured)

    @property
    def _counts_in_own_pass(self) -> bool:
        """Whether this process does not see every block: workers do, or a checkpoint has the states of the first."""
        return self.rest.engine is not None or current_recorder() is not None

    def _counting(self, block: Block) -> Block:
        """The rows of positive weight and of classes that the sample has; rows of other classes are counted."""
        known = KnownRows(self.predictor.classes)
        labels = np.asarray(block.y)[known.of_other_classes(block)]
        for label, times in zip(*np.unique(labels, return_counts=True), strict=True):
            self.unknown[block.start, label] = int(times)
        return known(block)

    def count_unknown(self) -> None:
        """Count the rows of unknown classes in a pass of its own, where it was not done in the others."""
        classes = self.predictor.classes
        if classes is None or (self.n_classes is not None and len(classes) >= self.n_classes):
            return
        if self._counts_in_own_pass:
            others = self.rest.map(OtherClasses(self.predictor.classes)).fold(LabelCounts()).finish()
            self.unknown = {(0, label): int(n) for label, n in zip(others.levels, others.counts, strict=True)}

    def _featured(self, block: Block) -> Block:
        featured = FeaturedRows(self.predictor.features, None, self.sample.unit)
        return featured.with_scores(block, lambda encoded: self._scores_of(block.start, encoded))

    def _scores_of(self, start: int, encoded) -> np.ndarray | None:
        """Scores of the trees for the block that begins at `start`, kept from pass to pass."""
        if not self._keeps:
            return None
        if start not in self._scores:
            self._scores[start] = self._trees.scores(encoded).astype(np.float32)
        return self._scores[start]


@dataclass(frozen=True)
class KnownRows:
    """The rows of a block of positive weight and of known classes; without classes, of positive weight."""

    classes: np.ndarray | None

    def __call__(self, block: Block) -> Block:
        keep = _counted(block) & ~self.of_other_classes(block)
        return block if keep.all() else block.rows(keep)

    def of_other_classes(self, block: Block) -> np.ndarray:
        """Mask of the rows of positive weight and of unknown classes."""
        if self.classes is None:
            return np.zeros(len(block), dtype=bool)
        return _counted(block) & ~np.isin(np.asarray(block.y), self.classes)


@dataclass(frozen=True)
class OtherClasses(KnownRows):
    """The rows of a block of positive weight and of unknown classes, without their weights."""

    def __call__(self, block: Block) -> Block:
        return replace(block.rows(self.of_other_classes(block)), weight=None)


@dataclass(frozen=True)
class FeaturedRows:
    """Encoded rows with their features, weights divided by a unit; `trees`, if given, give scores in float32 first."""

    features: Any
    trees: Any
    unit: float

    def __call__(self, block: Block) -> Block:
        return self.with_scores(block, self._scores)

    def with_scores(self, block: Block, scores: Callable[[np.ndarray], np.ndarray | None]) -> Block:
        """The rows with their features, those of trees from the scores of encoded rows (None: from the trees)."""
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64) / self.unit
        if len(block) == 0:
            X: np.ndarray = np.zeros((0, self.features.width), np.float32)
        else:
            encoded = dense(block.X)
            X = self.features.features(encoded, scores(encoded))
        return replace(block, X=X, weight=weight)

    def _scores(self, encoded: np.ndarray) -> np.ndarray | None:
        return None if self.trees is None else self.trees.scores(encoded).astype(np.float32)


def _counted(block: Block) -> np.ndarray:
    return np.ones(len(block), dtype=bool) if block.weight is None else np.asarray(block.weight) > 0


def equations_of_all(rows: StreamedRows, scores: np.ndarray | None, n_folds: int = N_FOLDS) -> FoldLoss:
    """The ridge equations of the features of all rows, those of the sample first: one pass.

    Where rows are fewer than features they are equations of rows: matrices of 10,000 features take 800 MB each.

    scores : of the trees, for the rows of the sample
    n_folds : 1 where penalties are known, and one matrix is enough
    """
    sample, target, features = rows.sample, rows.target, rows.predictor.features
    inside = TrainingRows(sample.X, target.numbers(sample.y), sample.ids, rows.seed, weight=sample.weight)
    others = rows.others().map(lambda block: replace(block, y=target.numbers(np.asarray(block.y))))
    known = features.over(sample.X, scores)
    if rows.n_rows <= features.width:
        return _equations_of_rows(features, inside, known(slice(None)), others)
    started = rows.clock.spent()
    total = inside.summed(known, one_fold=n_folds == 1)
    # Blocks of many columns take so long that a pass of few could not be given up in time.
    per_row = (rows.clock.spent() - started) / len(inside)
    if per_row * rows.n_rows > rows.clock.left():
        raise TimeUp
    total = total.merge(others.fold(Gram(n_folds, rows.seed)))
    return GramFoldLoss(total.finish(), features.block_of_column)


def _equations_of_rows(features: Features, inside: TrainingRows, Z: np.ndarray, others: Source) -> RowSpaceFoldLoss:
    """The equations of few rows of known features and of others."""
    blocks = [block for block in others.blocks() if len(block)]
    Y, ids = (
        np.concatenate([known, *(getattr(block, name) for block in blocks)])
        for name, known in (("y", inside.Y), ("ids", inside.ids))
    )
    weight = None
    if inside.weight is not None:
        weight = np.concatenate([inside.weight, *(np.asarray(block.weight) for block in blocks)])
    Z = stack_rows([Z, *(block.X for block in blocks)])
    del blocks
    kernels = [BlockKernel.of(Z[:, columns], weight) for columns in features.slices()]

    def of_rows(index: np.ndarray, fold: int | None) -> np.ndarray:
        return Z if len(index) == len(Z) else Z[index]

    return RowSpaceFoldLoss(kernels, features.block_of_column, folds_of_rows(ids, inside.seed), Y, of_rows, weight)


def regression_of_all(rows: StreamedRows) -> Predictor:
    """The regression model with the weights of one ridge regression on all rows: one pass."""
    predictor, target = rows.predictor, rows.target
    equations = equations_of_all(rows, predictor.result.scores, n_folds=1)
    penalties = np.maximum(predictor.penalties, equations.floor())  # more rows have a larger rounding error
    coef, intercept = equations.weights(penalties)
    coef, intercept = coef * target.scale, intercept * target.scale + target.mean
    return replace(predictor, coef=coef, intercept=intercept, penalties=penalties)


def classes_of_all(rows: StreamedRows) -> tuple[Predictor, Descent]:
    """The model of classes with the weights of one logistic regression on all rows, and how it was reached."""
    predictor, sample = rows.predictor, rows.sample
    scale = column_scales(predictor.result)
    target = rows.target
    labels: Any = target.labels(sample.y)

    def divided(block: Block) -> Block:
        return replace(block, X=block.X * scale, y=target.labels(np.asarray(block.y)))

    Z = scaled(predictor.result, sample.X, predictor.result.scores)
    inside = MemorySource(Z, labels, sample.weight)
    before = np.vstack([predictor.coef / scale[:, None], predictor.intercept])
    ratio = rows.n_rows / len(labels)

    def has_time(seconds: float) -> bool:
        return MARGIN * seconds <= rows.clock.left()

    def others() -> Source:
        return rows.others().map(divided)

    found = descend(before, predictor.alpha, inside, others, ratio, has_time, rows.clock.spent)
    coef = found.point[:-1] * scale[:, None].astype(np.float64)
    return replace(predictor, coef=coef, intercept=found.point[-1]), found


def _passes(descent: Descent) -> str:
    """Describe the passes of a fit.

    >>> _passes(Descent(np.zeros((1, 1)), 3, True))
    ', in 3 passes'
    """
    passes = f", in {descent.n_passes} pass{'es' if descent.n_passes > 1 else ''}"
    return passes if descent.converged else f"{passes}: more would bring them closer to their best values"


def weights_from_all(rows: StreamedRows, needed: float, notes: list[str]) -> Predictor:
    """The model with weights of all rows, and notes; that of the sample if there is no time for a pass.

    needed : seconds of the preparation for the passes
    """
    predictor = rows.predictor
    if predictor.result is None:
        terms = isinstance(predictor, SparsePredictor)
        why = "the model has one block of sparse terms" if terms else "the features are constant"
        notes.append(f"The linear weights come from the sample as well: {why}.")
        return predictor
    if predictor.classes is None and not rows.fit_into_memory():
        notes.append(
            f"The linear weights come from the sample as well: equations of all rows and {predictor.features.width:,} "
            f"features do not fit into {rows.memory:g} GB of memory."
        )
        return predictor
    how = ""
    try:
        if needed > rows.clock.left():
            raise TimeUp
        if predictor.classes is None:
            predictor = regression_of_all(rows)
        else:
            predictor, descent = classes_of_all(rows)
            how = _passes(descent)
    except TimeUp:
        notes.append("The linear weights come from the sample as well: the time budget left no room for another pass.")
        return predictor
    notes.append(f"Trees, bins and random features come from the sample, the linear weights from all rows{how}.")
    rows.count_unknown()
    if rows.unknown:
        labels = sorted({str(label) for _, label in rows.unknown})
        shown = ", ".join(labels[:_MAX_SHOWN]) + ", ..." * (len(labels) > _MAX_SHOWN)
        notes.append(
            f"{sum(rows.unknown.values())} rows belong to classes that are not in the sample ({shown}): "
            "the model does not know these. Raise memory for a larger sample."
        )
    return predictor
