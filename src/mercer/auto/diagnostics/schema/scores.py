"""Scores of a model on held-out rows, and what was tried for it."""

from __future__ import annotations

from typing import Literal, TypedDict


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


class Decision(TypedDict):
    """How probabilities become a class, where that is not the most probable one."""

    #: What the rule was chosen for, in words.
    why: str
    #: The probability of the second of two classes from which on it is predicted.
    threshold: float | None
    #: The class j of the largest sum over c of p_c utility[c][j] is predicted.
    utility: list[list[float]]
    sentence: str


class Holdout(TypedDict):
    """Scores on the held-out rows. Keys of metrics: r2 rmse mae median_absolute_error, or accuracy balanced_accuracy
    auc log_loss brier f1; also pinball, cost, or the name of a scorer of scikit-learn where these were asked for."""

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


class LevelCoverage(TypedDict):
    """Coverage of intervals or sets of one level, with its 95 % interval; mean width, or mean number of classes."""

    level: float
    value: float
    low: float | None
    high: float | None
    #: None if an interval is infinite.
    width: float | None


class Coverage(TypedDict):
    """How many held-out rows prediction intervals, or sets of classes, contain."""

    kind: Literal["intervals", "sets"]
    method: str
    n: int
    level: float
    coverage: ScoreEstimate
    width: float | None
    levels: list[LevelCoverage]
    #: Coverage of the third of the rows with the narrowest intervals, of the next third, and of the widest.
    coverage_by_width: list[float]
    sentence: str


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
    `on_all_rows` says that the loss is that of the whole model on all training rows; others compare within their stage.
    """

    stage: str
    name: str
    measure: str
    on_all_rows: bool
    loss: float
    seconds: float
    width: int
    kept: bool
    why: str
