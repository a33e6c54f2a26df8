"""The schema of a report: plain dicts, lists, strings and numbers, the same for HTML, Markdown, terminal and JSON.

`Model.report()` returns a `Report`. Sections that do not apply to a model are absent. Numbers are finite; what has no
finite value is None. Texts are as read: renderers escape them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

#: Version of the schema. It grows when a key changes its meaning; new keys do not change it.
FORMAT = 1


class ScoreEstimate(TypedDict):
    """A number with its 95 % confidence interval; the ends are None where there is none."""

    value: float
    low: float | None
    high: float | None


class Verdict(TypedDict):
    """What to expect on new rows, in words."""

    #: "gain": clearly better than the linear model; "linear": not clearly better than it; "no-skill": not clearly
    #: better than the naive guess; "unknown": there is no holdout.
    level: Literal["gain", "linear", "no-skill", "unknown"]
    sentence: str
    #: Up to five short sentences on what carried the score.
    details: list[str]


class Split(TypedDict):
    """How rows were held out."""

    n_train: int
    n_holdout: int
    fraction: float
    n_duplicates: int | None
    method: str
    sentence: str


class Check(TypedDict):
    """One check of the data or of the model. The codes are those of `mercer inspect` and `mercer fit`."""

    code: str
    severity: Literal["error", "warning", "info", "passed"]
    title: str
    count: int
    #: Columns, classes or rows concerned, at most 20 of them.
    where: list[str]
    message: str
    remedy: str


class ModelScores(TypedDict):
    """All metrics of one model on the held-out rows; value, low and high are those of the main metric."""

    name: str
    value: float
    low: float | None
    high: float | None
    metrics: dict[str, ScoreEstimate]


class Holdout(TypedDict):
    """Scores on the held-out rows. Keys of metrics: r2 rmse mae median_absolute_error, or accuracy balanced_accuracy
    auc log_loss brier f1."""

    metric: str
    n: int
    #: The model, the linear model of the columns, the naive guess (mean or most frequent class).
    model: ModelScores
    linear: ModelScores
    naive: ModelScores
    gain: ScoreEstimate
    #: Paired gains over "linear" and "naive" by metric, positive where the model is better.
    gains: dict[str, dict[str, ScoreEstimate]]
    interval: str
    baseline: str
    metrics: dict[str, ScoreEstimate]


class BlockReport(TypedDict):
    """A block of features of the final model."""

    kind: str
    #: In words: "score of 430 boosting rounds".
    title: str
    width: int
    penalty: float
    note: str
    #: Part of the held-out gain over the naive guess that the block carries; all blocks add up to 1.
    gain_fraction: float | None


class CandidateReport(TypedDict):
    """A representation that was tried, and its loss by cross-validation: lower is better.

    `measure` is "squared error", as a fraction of the target's variance, or "log-loss", of the final models of classes.
    Stages "kernel", "finalist" and "metric" were compared on a sample of the rows.
    """

    stage: str
    name: str
    measure: str
    loss: float
    seconds: float
    width: int
    kept: bool
    why: str


class ColumnImportance(TypedDict):
    """Increase of the held-out loss when the column is shuffled, and that as a fraction of all columns."""

    column: str
    increase: ScoreEstimate
    fraction: float


class Importances(TypedDict):
    #: "rmse" or "log_loss"
    metric: str
    columns: list[ColumnImportance]


class Histogram(TypedDict):
    """Counts between edges (numbers; dates as ISO strings), or counts of labels. One of both is there."""

    edges: NotRequired[list[Any]]
    labels: NotRequired[list[str]]
    counts: list[int]


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


class TermWeight(TypedDict):
    term: str
    weight: float


class TermList(TypedDict):
    """The heaviest terms of a text column for one output, by weight times standard deviation."""

    column: str
    output: str | None
    positive: list[TermWeight]
    negative: list[TermWeight]


class Residuals(TypedDict):
    """Held-out residuals, target less prediction: points (at most 400), their histogram, and the trend over
    predictions in at most 20 groups of equal size."""

    predicted: list[float]
    actual: list[float]
    histogram: Histogram
    trend: list[dict[str, float]]  # predicted, residual, low, high, n


class CalibrationBin(TypedDict):
    predicted: float
    observed: float
    low: float
    high: float
    n: int


class Calibration(TypedDict):
    """Predicted against observed frequencies: of the second of two classes, or of the most probable of several."""

    output: str | None
    bins: list[CalibrationBin]
    #: Mean absolute difference of predicted and observed, weighted by rows.
    error: float


class Confusion(TypedDict):
    """Rows by true (row) and predicted (column) class; of more than 15 classes the rarer ones are pooled."""

    classes: list[str]
    counts: list[list[int]]


class ThresholdPoint(TypedDict):
    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    accuracy: float
    #: Fraction of rows predicted as the class.
    selected: float


class CostChoice(TypedDict):
    """The threshold of least cost per row where a false positive and a false negative cost so much."""

    false_positive: float
    false_negative: float
    threshold: float
    cost: float
    #: The cost per row at threshold 0.5.
    cost_at_half: float


class Thresholds(TypedDict):
    """What each threshold on the probability of `output` gives; of two classes only."""

    output: str
    points: list[ThresholdPoint]
    costs: list[CostChoice]


class Contribution(TypedDict):
    column: str
    #: The value of the row, as text.
    value: str
    contribution: float


class ExampleRow(TypedDict):
    """A held-out row. `baseline` + contributions + `other` = `score`; for classes these are log-odds of `output`."""

    row: int
    actual: str
    predicted: str
    probability: float | None
    output: str | None
    baseline: float
    score: float
    contributions: list[Contribution]
    #: The sum of the contributions that are not listed.
    other: float


class Examples(TypedDict):
    #: "log-odds", or the name of the target.
    unit: str
    worst: list[ExampleRow]
    typical: list[ExampleRow]


class RowSlice(TypedDict):
    """Rows on which the model is worse than on the others: `score` of them, `rest` of the others."""

    column: str
    condition: str
    n: int
    metric: str
    score: ScoreEstimate
    rest: float
    #: Of the difference, after the correction for the number of slices looked at.
    p_value: float


class LearningPoint(TypedDict):
    n: int
    score: ScoreEstimate


class LearningCurve(TypedDict):
    """The score on the holdout of the same configuration fitted to parts of the training rows."""

    metric: str
    points: list[LearningPoint]
    sentence: str


class KernelMap(TypedDict):
    """Cross-validated loss (as a fraction of the target's variance) by bandwidth and penalty of the random features."""

    kernel: str
    bandwidths: list[float]
    penalties: list[float]
    #: One row per bandwidth.
    loss: list[list[float]]
    #: Indices of the chosen bandwidth and penalty.
    chosen: list[int]
    sentence: str


class BoundaryPoint(TypedDict):
    x: float
    y: float
    label: str


class Boundary(TypedDict):
    """Predictions over two directions of the data, the others at their means: the probability of `output`, or the
    prediction."""

    x_title: str
    y_title: str
    output: str | None
    x: list[float]
    y: list[float]
    #: One row per y.
    values: list[list[float]]
    points: list[BoundaryPoint]


class CertificateReport(TypedDict):
    """The error of an approximation: the bound that holds beforehand, and the error measured on held-out rows."""

    block: str
    quantity: str
    n_features: int
    bound: float | None
    measured: float
    confidence: float
    sentence: str


class Association(TypedDict):
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
    association: Association | None


class StageSeconds(TypedDict):
    stage: str
    seconds: float


class Reproduction(TypedDict):
    """What is needed to get the same model again."""

    command: str | None
    code: str
    seed: int
    versions: dict[str, str]
    #: Name, rows and SHA-256 of the files, where the data came from files.
    data: list[dict[str, Any]]
    #: Sum of the hashes of all rows as read, whatever their order; None if they were not all in memory.
    rows_hash: str | None
    seconds: list[StageSeconds]
    created: str


class Report(TypedDict):
    """All sections. `rows` is the number of rows, `notes` and `columns` are remarks on the data and on columns."""

    format: int
    mercer: str
    task: Literal["classification", "regression"]
    target: str | None
    classes: list[str] | None
    rows: int
    effort: str
    model: str
    notes: list[str]
    columns: list[str]
    schema: dict[str, dict[str, str]]
    seconds: dict[str, float]
    importance: dict[str, float]
    blocks: list[BlockReport]
    candidates: list[CandidateReport]
    weight: NotRequired[str]
    verdict: Verdict
    split: NotRequired[Split]
    checks: NotRequired[list[Check]]
    holdout: NotRequired[Holdout]
    importances: NotRequired[Importances]
    effects: NotRequired[list[Effect]]
    interactions: NotRequired[list[Interaction]]
    terms: NotRequired[list[TermList]]
    residuals: NotRequired[Residuals]
    calibration: NotRequired[Calibration]
    confusion: NotRequired[Confusion]
    thresholds: NotRequired[Thresholds]
    examples: NotRequired[Examples]
    slices: NotRequired[list[RowSlice]]
    learning_curve: NotRequired[LearningCurve]
    kernel_map: NotRequired[KernelMap]
    boundary: NotRequired[Boundary]
    certificates: NotRequired[list[CertificateReport]]
    profiles: NotRequired[list[ColumnReport]]
    target_profile: NotRequired[ColumnReport]
    reproduction: NotRequired[Reproduction]
    #: Sections that a short time left no room for.
    left_out: NotRequired[list[str]]
    #: Scores on other data, of `mercer report MODEL DATA`: name of the file, and the same keys as `holdout`.
    other_data: NotRequired[dict[str, Any]]
