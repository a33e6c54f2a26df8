"""What stages of the search pass on: a frozen state goes in, a new one comes out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.search.kernels import KernelCandidate
from mercer.learn.trees.params import TreeParams
from mercer.linear.ridge.fold_loss import FoldLoss, FoldScore


@dataclass(frozen=True)
class Candidate:
    """One candidate: its stage and name, K-fold loss (as a fraction of the target's variance), cost and outcome."""

    stage: str
    name: str
    loss: float
    seconds: float
    width: int
    kept: bool = False
    why: str = ""
    #: Whether the loss is that of the whole model on all training rows; other losses compare within their stage.
    on_all_rows: bool = False
    per_fold: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


@dataclass(frozen=True)
class Trial:
    """A candidate with the features it stands for, their best penalties, the K-fold score and the equations."""

    candidate: Candidate
    features: Features
    penalties: np.ndarray
    score: FoldScore
    equations: FoldLoss
    #: Seconds of the evaluation alone.
    seconds: float
    #: Out-of-fold squared errors of the distinct rows, where these are few and independent.
    errors: np.ndarray | None = None

    @property
    def loss(self) -> float:
        return self.candidate.loss


@dataclass(frozen=True)
class TreeSearch:
    """What boosting left for later stages: out-of-fold scores, gains per column, and how the trees were grown."""

    scores: np.ndarray | None = None
    gains: np.ndarray | None = None
    gains_per_fold: tuple[np.ndarray, ...] = ()
    n_rounds: tuple[int, ...] = ()
    params: TreeParams | None = None


@dataclass(frozen=True)
class SimplerModel:
    """Features that the search has kept for a while, their penalties and score, and the errors of the rows."""

    features: Features
    penalties: np.ndarray
    score: FoldScore
    errors: np.ndarray | None

    @classmethod
    def of(cls, trial: Trial) -> SimplerModel:
        return cls(trial.features, trial.penalties, trial.score, trial.errors)


@dataclass(frozen=True)
class SearchState:
    """The features so far, evaluated on all rows, and what the stages have learned."""

    kept: Trial
    #: Seconds and features of the last trial on all rows, kept or not.
    last_seconds: float
    last_width: int
    trees: TreeSearch = TreeSearch()
    #: The kernel that random features are drawn from.
    kernel: KernelCandidate | None = None
    candidates: tuple[Candidate, ...] = ()
    #: Where rows are few: what was kept before, from simple to complex.
    simpler: tuple[SimplerModel, ...] = ()

    @property
    def features(self) -> Features:
        return self.kept.features

    @property
    def loss(self) -> float:
        return self.kept.loss

    def penalties_of(self, features: Features) -> np.ndarray:
        """The penalty of each block that was kept, NaN for others."""
        known = {
            id(block): float(penalty) for block, penalty in zip(self.features.blocks, self.kept.penalties, strict=True)
        }
        return np.array([known.get(id(block), np.nan) for block in features.blocks])

    def noted(self, *candidates: Candidate) -> SearchState:
        """The state with more candidates on record."""
        return replace(self, candidates=(*self.candidates, *candidates))

    def tried(self, trial: Trial, kept: bool, why: str) -> SearchState:
        """The state after a trial on all rows."""
        candidate = replace(trial.candidate, kept=kept, why=why)
        after = replace(self, last_seconds=trial.seconds, last_width=trial.features.width).noted(candidate)
        if not kept:
            return after
        before = (*self.simpler, SimplerModel.of(self.kept)) if trial.errors is not None else self.simpler
        return replace(after, kept=replace(trial, candidate=candidate), simpler=before)


@dataclass(frozen=True)
class SearchResult:
    """What the search settled on: features, penalties of their blocks, out-of-fold scores of the training rows."""

    features: Features
    penalties: np.ndarray
    score: FoldScore
    trees: TreeSearch
    candidates: tuple[Candidate, ...] = ()
    #: The penalty of the encoded columns alone.
    linear_penalty: float = 1.0
    kernel: KernelCandidate | None = None
    without_trees: SearchResult | None = None
    #: Where rows are few: models of fewer blocks, from simple to complex.
    simpler: tuple[SearchResult, ...] = ()
    #: Whether several penalties of another loss are worth trying.
    thorough: bool = True

    @property
    def scores(self) -> np.ndarray | None:
        """Out-of-fold scores of the trees for the training rows."""
        return self.trees.scores

    def alternatives(self) -> list[SearchResult]:
        """Itself, and simpler models that another loss may prefer: without trees, and of the columns alone.

        Where rows are few, these are all that the search kept on its way, from complex to simple.
        """
        if self.simpler:
            others = [] if self.without_trees is None else [self.without_trees]
            return [self, *others, *reversed(self.simpler)]
        if len(self.features.blocks) == 1:
            return [self]
        linear = Features([block for block in self.features.blocks if isinstance(block, LinearBlock)])
        trees = replace(self.trees, scores=None)
        alone = replace(self, features=linear, penalties=np.array([self.linear_penalty]), trees=trees)
        return [self, alone] if self.without_trees is None else [self, alone, self.without_trees]
