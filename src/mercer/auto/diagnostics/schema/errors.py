"""Where the model errs, and its limits."""

from __future__ import annotations

from typing import TypedDict

from mercer.auto.diagnostics.schema.columns import Histogram
from mercer.auto.diagnostics.schema.scores import ScoreEstimate


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
