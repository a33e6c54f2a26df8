"""All sections of a report that are computed from held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.diagnostics.sections import (
    boundary,
    calibration,
    certificates,
    confusion,
    effects,
    examples,
    importances,
    interactions,
    residuals,
    slices,
    terms,
    thresholds,
)
from mercer.auto.diagnostics.sections.kernel_map import kernel_map
from mercer.auto.diagnostics.sections.outputs import plain
from mercer.auto.rows.encoding import EncodedRows


class Diagnosis:
    """What sections are computed from.

    rows : the held-out rows and the model
    encoded : the training rows of the model, or None
    report_rows : rows to show as worst and as typical examples
    target : the name of the target
    """

    def __init__(self, rows: HeldOutRows, encoded: EncodedRows | None, report_rows: int, target: str | None):
        self.rows, self.encoded, self.report_rows, self.target = rows, encoded, report_rows, target
        self.strongest = list(rows.groups)

    def importances(self) -> Any:
        """Importances, which put the columns in the order that other sections take them in."""
        found = importances.section(self.rows)
        if found is not None:
            first = [each["column"] for each in found["columns"]]
            self.strongest = [*first, *(name for name in self.rows.groups if name not in set(first))]
        return found

    def kernel_map(self) -> Any:
        """The map of bandwidth and penalty, where the training rows are given."""
        if self.encoded is None:
            return None
        rows = self.rows
        return kernel_map(self.encoded, rows.predictor, rows.classes is not None, rows.seed)


#: The sections in the order of their usefulness; importances come first, for others need them.
SECTIONS: dict[str, Callable[[Diagnosis], Any]] = {
    "importances": Diagnosis.importances,
    "residuals": lambda of: residuals.section(of.rows),
    "calibration": lambda of: calibration.section(of.rows),
    "confusion": lambda of: confusion.section(of.rows),
    "effects": lambda of: effects.section(of.rows, of.strongest),
    "terms": lambda of: terms.section(of.rows),
    "examples": lambda of: examples.section(of.rows, of.report_rows, of.target, of.strongest),
    "slices": lambda of: slices.section(of.rows, of.strongest),
    "thresholds": lambda of: thresholds.section(of.rows),
    "interactions": lambda of: interactions.section(of.rows, of.strongest),
    "boundary": lambda of: boundary.section(of.rows, of.strongest),
    "certificates": lambda of: certificates.section(of.rows),
    "kernel_map": Diagnosis.kernel_map,
}


def diagnose(
    rows: HeldOutRows,
    encoded: EncodedRows | None = None,
    report_rows: int = 3,
    seconds: float | None = None,
    target: str | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """The sections that apply, as plain values, and the names of those left out because `seconds` were spent.

    Parameters
    ----------
    rows : held-out rows and the model that has not seen them
    encoded : the training rows, for the map of bandwidth and penalty
    report_rows : rows to show as worst and as typical examples; 0 shows none
    seconds : no further section is begun after this time
    target : the name of the target, in whose units contributions of a regression are
    """
    began, of = time.perf_counter(), Diagnosis(rows, encoded, report_rows, target)
    found: dict[str, Any] = {}
    left_out: list[str] = []
    if len(rows.y) == 0:
        return found, left_out
    for name, section in SECTIONS.items():
        if seconds is not None and time.perf_counter() - began > seconds:
            left_out.append(name)
            continue
        made = section(of)
        if made is not None:
            found[name] = plain(made)
    return found, left_out
