"""What columns do, and what is in them."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from mercer.auto.diagnostics.schema.scores import ScoreEstimate


class Histogram(TypedDict):
    """Counts between edges (numbers; dates as ISO strings), or counts of labels. One of both is there."""

    edges: NotRequired[list[Any]]
    labels: NotRequired[list[str]]
    counts: list[int]


class ColumnImportance(TypedDict):
    """Increase of the held-out loss when the column is shuffled, and that as a fraction of all columns."""

    column: str
    increase: ScoreEstimate
    fraction: float


class Importances(TypedDict):
    #: "rmse" or "log_loss"
    metric: str
    columns: list[ColumnImportance]


class Effect(TypedDict):
    """Partial dependence: the mean prediction as one column takes other values, the other columns as in the data.

    `low` and `high` are the quartiles over the rows of the change from each row's own mean, added to the mean curve.
    """

    column: str
    role: str
    #: None for regression; else the class whose probability is shown.
    output: str | None
    #: Numbers, ISO dates or categories.
    x: list[Any]
    mean: list[float]
    low: list[float]
    high: list[float]
    density: Histogram


class Interaction(TypedDict):
    """Two columns that act together: the mean prediction on a grid less the effects of each alone.

    `strength` is the standard deviation of this remainder over the rows, in units of the prediction.
    """

    columns: list[str]
    strength: float
    output: str | None
    x: list[Any]
    y: list[Any]
    #: One row per y.
    remainder: list[list[float]]


class TermStrength(TypedDict):
    """A term of an explainable model: standard deviation of its points over the rows, smallest and largest points."""

    term: str
    output: str | None
    strength: float
    low: float
    high: float


class TermCurve(TypedDict):
    """The points of a column of an explainable model, with a band of two standard errors on either side."""

    column: str
    role: str
    #: None for one target; else the class or target where the column is strongest.
    output: str | None
    strength: float
    #: Numbers, ISO dates or categories.
    x: list[Any]
    mean: list[float]
    low: list[float]
    high: list[float]
    density: Histogram
    #: Points of a missing value; None if there was none.
    missing: float | None


class ScorecardPair(TypedDict):
    """The points of a pair of columns of an explainable model."""

    columns: list[str]
    strength: float
    output: str | None
    x: list[Any]
    y: list[Any]
    #: One row per y.
    remainder: list[list[float]]


class Scorecard(TypedDict):
    """The terms of an explainable model, from the strongest to the weakest; their points add up to the score."""

    #: Of points: "prediction" or "log-odds"
    unit: str
    n_columns: int
    n_pairs: int
    terms: list[TermStrength]
    curves: list[TermCurve]
    pairs: list[ScorecardPair]


class TermWeight(TypedDict):
    term: str
    weight: float


class TermList(TypedDict):
    """The heaviest terms of a text column for one output, by weight times standard deviation."""

    column: str
    output: str | None
    positive: list[TermWeight]
    negative: list[TermWeight]


class TargetAssociation(TypedDict):
    """How much of the target one column alone explains, out of sample: between 0 and 1."""

    name: str
    value: float


class ColumnReport(TypedDict):
    """The profile of one column."""

    column: str
    type: str
    role: str
    reason: str
    n_missing: int
    n_distinct: int
    n_distinct_is_exact: bool
    min: Any
    max: Any
    mean: float | None
    sd: float | None
    #: At 5, 25, 50, 75 and 95 %.
    quantiles: list[float] | None
    top: list[dict[str, Any]]  # category, rows
    histogram: Histogram | None
    association: TargetAssociation | None
