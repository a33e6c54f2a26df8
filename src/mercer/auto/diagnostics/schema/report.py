"""The schema of a report: plain dicts, lists, strings and numbers, the same for HTML, Markdown, terminal and JSON.

`Model.report()` returns a `Report`. Sections that do not apply to a model are absent. Numbers are finite; what has no
finite value is None. Texts are as read: renderers escape them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from mercer.auto.diagnostics.schema.columns import ColumnReport, Effect, Importances, Interaction, Scorecard, TermList
from mercer.auto.diagnostics.schema.errors import (
    Boundary,
    Calibration,
    CertificateReport,
    Confusion,
    Examples,
    KernelMap,
    LearningCurve,
    Residuals,
    RowSlice,
    Thresholds,
)
from mercer.auto.diagnostics.schema.scores import (
    BlockReport,
    CandidateReport,
    Check,
    Coverage,
    Decision,
    Holdout,
    Split,
    Verdict,
)

#: Version of the schema. It grows when a key changes its meaning; new keys do not change it.
FORMAT = 1


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
    #: The columns that rows were split by.
    groups: NotRequired[str]
    time: NotRequired[str]
    #: The metric, costs and loss that were asked for, quantiles of the loss, and the signs of monotone columns.
    metric: NotRequired[str]
    costs: NotRequired[dict[str, float] | list[list[float]]]
    loss: NotRequired[str]
    quantiles: NotRequired[list[float]]
    monotone: NotRequired[dict[str, int]]
    #: Rows added and taken away since the fit: `rows` `added` `forgotten` `unseen_by_features` `sentence`.
    updates: NotRequired[dict[str, Any]]
    verdict: Verdict
    split: NotRequired[Split]
    checks: NotRequired[list[Check]]
    holdout: NotRequired[Holdout]
    decision: NotRequired[Decision]
    intervals: NotRequired[Coverage]
    scorecard: NotRequired[Scorecard]
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
