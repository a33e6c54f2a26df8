"""The search for an explainable model, its final fit, and the same configuration on other rows.

Rows are reduced to their levels along the axes. On these the folds choose among the columns themselves, boosted terms,
piecewise-linear curves and smooth surfaces of the chosen pairs. Whatever they choose is additive over columns and
pairs, and ends as tables of points.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import Effort, sized
from mercer.auto.budget.progress import Steps
from mercer.auto.constants import MIN_ROWS, SELECTED_ERRORS, TIME_FOR_TREES
from mercer.auto.features.base import FeatureBlock
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.features.terms import TermDetails, TermsBlock
from mercer.auto.features.union import Features
from mercer.auto.final.linear import fit_linear
from mercer.auto.final.predictor import Predictor
from mercer.auto.glass.axes import TableAxes
from mercer.auto.glass.blocks import BoostedTermsBlock, PairSurfacesBlock
from mercer.auto.glass.errors import FoldTerms, jackknife, models_without_folds
from mercer.auto.glass.extract import AdditiveWeights, tables_of
from mercer.auto.rows.encoding import EncodedRows
from mercer.auto.rows.targets import NumericTarget
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.learning import constant, prepared
from mercer.auto.search.piecewise import add_piecewise
from mercer.auto.search.state import SearchResult, SearchState, TreeSearch
from mercer.learn.additive.booster import LevelRows, TermParams
from mercer.learn.additive.boosting import BoostedTerms, boost_terms
from mercer.learn.additive.purify import purified
from mercer.learn.additive.tables import AdditiveTables
from mercer.learn.additive.terms import AdditiveTerms
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss, TreeLoss
from mercer.stats.folds import RowFolds

#: Levels of a number, and its levels in a pair.
N_LEVELS, N_PAIR_LEVELS = 240, 64
#: Piecewise-linear bins of a column, at least and at most, and of all columns: boosted terms have the details.
_MIN_BINS, _MAX_BINS, _ALL_BINS = 8, 24, 600
_NO_PAIRS = np.zeros((0, 2), np.int64)


@dataclass(frozen=True)
class GlassConfig:
    """What a refit repeats: pairs by the names of their axes, cycles of boosting, blocks and their penalties."""

    found: SearchResult
    pairs: list[tuple[str, str]]
    cycles: tuple[int, int]
    params: TermParams
    #: There are no random features, so there is no kernel.
    kernel: None = None


@dataclass(frozen=True)
class GlassRows:
    """Training rows reduced to levels: axes, levels, targets and class numbers."""

    table: TableAxes
    data: LevelRows
    rows: TrainingRows
    labels: np.ndarray | None
    target: NumericTarget

    @classmethod
    def of(cls, encoder: Any, encoded: EncodedRows, classify: bool, seed: int) -> GlassRows:
        target, rows, labels = prepared(encoded, classify, seed)
        table = TableAxes.of(encoder, rows.X, rows.weight, N_LEVELS)
        data = LevelRows.of(table.axes, table.codes(rows.X), rows.weight, N_PAIR_LEVELS)
        return cls(table, data, replace(rows, X=table.rows(data.codes)), labels, target)

    def folds(self, n_folds: int) -> RowFolds:
        """The folds that terms are boosted without: numbers 0..K-1 where rows are independent."""
        found = self.rows.tree_folds(n_folds)
        return RowFolds(np.unique(found.labels, return_inverse=True)[1]) if found.is_partition else found

    def loss(self) -> TreeLoss:
        """The loss that terms are boosted with."""
        if self.labels is None:
            return SquaredTreeLoss(self.rows.Y, self.rows.weight)
        return LogisticTreeLoss(self.labels, int(self.labels.max()) + 1, self.rows.weight)


def learn_glass(
    encoder: Any,
    encoded: EncodedRows,
    classify: bool,
    effort: Effort,
    clock: Clock,
    seed: int,
    steps: Steps,
    max_pairs: int,
) -> Predictor:
    """Search on encoded rows, then fit the points to all of them."""
    glass = GlassRows.of(encoder, encoded, classify, seed)
    rows = glass.rows
    n_bins = int(np.clip(_ALL_BINS // max(len(glass.table.axes), 1), _MIN_BINS, _MAX_BINS))
    effort = replace(sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide), n_bins=n_bins)
    if not rows.can_compare or glass.target.scale == 0 or not np.any(rows.Y):
        return tabulated(constant(rows, glass.target), glass, None)
    search = Evaluator(rows, glass.labels, effort, clock, seed, steps)
    first = state = search.first(Features([LinearBlock(rows.X.shape[1])]))
    state, grown, params = _add_terms(search, state, glass, max_pairs)
    state = add_piecewise(search, state)
    state = _add_surfaces(search, state, glass, grown)
    found = SearchResult(
        state.features, state.kept.penalties, state.kept.score, state.trees, state.candidates,
        float(first.kept.penalties[0]), thorough=effort.sharpen,
    )  # fmt: skip
    with steps("final"):
        # The points replace these features, so no map of them may be kept.
        known = (rows, glass.labels, glass.target, seed)
        made, tried = fit_linear(found, state.kept.equations, *known, clock=clock, constant_width=True)
    pairs = _NO_PAIRS if grown is None else grown.pairs
    names = glass.table.names
    cycles = (0, 0) if grown is None else (grown.n_cycles, grown.n_pair_cycles)
    config = GlassConfig(made.result, [(names[j], names[k]) for j, k in pairs.tolist()], cycles, params)
    final = tabulated(made, glass, grown, effort.tree_folds)
    return replace(final, candidates=[*found.candidates, *tried], result=config)


def _add_terms(
    search: Evaluator, state: SearchState, glass: GlassRows, max_pairs: int
) -> tuple[SearchState, BoostedTerms | None, TermParams]:
    """Try the out-of-fold points of boosted terms."""
    params = term_params(search.effort, glass)
    if search.n < MIN_ROWS or not glass.table.axes or not search.clock.allows(TIME_FOR_TREES):
        return state, None, params
    start, clock = time.perf_counter(), search.clock
    with search.steps("trees"):
        folds = glass.folds(search.effort.tree_folds)
        grown = boost_terms(
            glass.data, glass.loss(), folds, params, max_pairs, should_stop=lambda: not clock.allows(0.4)
        )
    if not grown.n_cycles:
        return state, None, params
    state = replace(state, trees=TreeSearch(scores=grown.points))
    larger = Features([BoostedTermsBlock(grown.tables), *state.features.blocks])
    name = f"{grown.n_cycles} cycles of boosting, and {grown.n_pair_cycles} of {len(grown.pairs)} pairs"
    seconds = time.perf_counter() - start
    return search.keep_if_better(state, search.trial(state, "terms", name, larger, seconds=seconds)), grown, params


def term_params(effort: Effort, glass: GlassRows) -> TermParams:
    """Parameters of boosting for rows of this kind: classes take a tree each in every step, so steps are longer."""
    return TermParams(learning_rate=0.2 if glass.rows.Y.shape[1] > 2 or not effort.sharpen else 0.1)


def _add_surfaces(search: Evaluator, state: SearchState, glass: GlassRows, grown: BoostedTerms | None) -> SearchState:
    """Try smooth surfaces of the pairs."""
    if grown is None or len(grown.pairs) == 0 or not search.clock.allows(0.7):
        return state
    block = PairSurfacesBlock(glass.data, grown.pairs)
    if block.width == 0 or block.width + state.features.width > search.effort.max_width:
        return state
    name = f"smooth surfaces of {len(block.parts)} pairs"
    return search.offer(state, "surfaces", name, state.features.plus(block), SELECTED_ERRORS)


def learn_glass_again(
    predictor: Predictor, encoder: Any, encoded: EncodedRows, effort: Effort, seed: int, clock: Clock | None = None
) -> Predictor:
    """The same configuration on other rows: the same pairs, cycles and penalties, new points."""
    config: GlassConfig = predictor.result
    glass = GlassRows.of(encoder, encoded, predictor.classes is not None, seed)
    rows, index = glass.rows, {name: j for j, name in enumerate(glass.table.names)}
    pairs = np.array(
        [(index[a], index[b]) for a, b in config.pairs if a in index and b in index], dtype=np.int64
    ).reshape(-1, 2)
    effort = sized(effort, rows.distinct(), rows.Y.shape[1], rows.wide)
    features, grown = _blocks_again(config, glass, pairs, effort)
    trees = TreeSearch() if grown is None else TreeSearch(scores=grown.points)
    found = replace(config.found, features=features, trees=trees, penalties=config.found.penalties)
    made, _ = fit_linear(found, None, rows, glass.labels, glass.target, seed, predictor, clock, constant_width=True)
    final = tabulated(made, glass, grown, effort.tree_folds, pairs)
    return replace(final, candidates=predictor.candidates, result=config)


def _blocks_again(
    config: GlassConfig, glass: GlassRows, pairs: np.ndarray, effort: Effort
) -> tuple[Features, BoostedTerms | None]:
    rows, grown = glass.rows, None
    blocks: list[FeatureBlock] = []
    for block in config.found.features.blocks:
        if isinstance(block, BoostedTermsBlock):
            cycles = dict(zip(("max_cycles", "max_pair_cycles"), config.cycles, strict=True))
            params = replace(config.params, **cycles, early_stopping_cycles=None)
            grown = boost_terms(glass.data, glass.loss(), glass.folds(effort.tree_folds), params, pairs=pairs)
            blocks.append(BoostedTermsBlock(grown.tables))
        elif isinstance(block, PiecewiseBlock):
            blocks.append(PiecewiseBlock.fitted(rows.X, int(block.bins.n_bins), rows.weight) or block)
        elif isinstance(block, PairSurfacesBlock):
            blocks.append(PairSurfacesBlock(glass.data, pairs))
        else:
            blocks.append(LinearBlock(rows.X.shape[1]))
    return Features(blocks), grown


def tabulated(
    predictor: Predictor,
    glass: GlassRows,
    grown: BoostedTerms | None,
    n_folds: int = 0,
    pairs: np.ndarray | None = None,
) -> Predictor:
    """The predictor as a sum of points: features are the terms, in float32, and weights are one.

    n_folds : folds of the jackknife of the errors of points; 0: no errors. pairs : those of `grown` if not given
    """
    if pairs is None:
        pairs = _NO_PAIRS if grown is None else grown.pairs
    if not predictor.features.has(BoostedTermsBlock.kind) and not predictor.features.has(PairSurfacesBlock.kind):
        pairs = _NO_PAIRS
    boosted = grown if predictor.features.has(BoostedTermsBlock.kind) else None
    models = [AdditiveWeights(predictor.coef, predictor.intercept, None if boosted is None else boosted.tables)]
    folds = glass.folds(n_folds) if n_folds else None
    if folds is not None and folds.is_partition:  # models of earlier rows alone are no jackknife
        parts = ([], None) if boosted is None else (boosted.per_fold, boosted.points)
        known = FoldTerms(folds.labels, *parts)
        models += models_without_folds(predictor, glass.rows, glass.target, glass.labels, known)
    tables, start = tables_of(predictor.features, models, glass.table, glass.data, pairs)
    pure = purified(tables, glass.data.codes, glass.rows.weight)
    n_outputs = predictor.coef.shape[1]
    own, others = (pure.tables.of_outputs(part) for part in (slice(n_outputs), slice(n_outputs, None)))
    final = own.rounded()
    transformer = AdditiveTerms.from_tables(final, glass.table.n_encoded, predictor.classes)
    counts = level_counts(final, glass.data.codes, glass.rows.weight)
    block = TermsBlock(transformer, TermDetails(glass.table.columns, counts, jackknife(others, n_outputs)))
    coef = np.tile(np.eye(n_outputs), (final.n_terms, 1))
    intercept = (start + pure.intercept)[:n_outputs]
    return replace(predictor, features=Features([block]), coef=coef, intercept=intercept, penalties=np.ones(1))


def level_counts(tables: AdditiveTables, codes: np.ndarray, weight: np.ndarray | None) -> list[np.ndarray]:
    """The weight of the rows at each level of the axes, then in each cell of the pairs."""
    mains = [np.bincount(codes[:, j], weight, minlength=len(main)) for j, main in enumerate(tables.mains)]
    cells = []
    for pair in tables.pairs:
        shape = pair.values.shape[:2]
        levels = pair.first_level[codes[:, pair.first]], pair.second_level[codes[:, pair.second]]
        found = np.bincount(np.ravel_multi_index(levels, shape), weight, minlength=shape[0] * shape[1])
        cells.append(found.reshape(shape))
    return [np.asarray(each, dtype=np.float64) for each in [*mains, *cells]]
