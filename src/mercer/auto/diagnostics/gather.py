"""The sections of the report of a fit, beside its scores and its candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.auto.diagnostics.reproduction import reproduction
from mercer.auto.diagnostics.schema import FORMAT
from mercer.auto.diagnostics.split import split_section
from mercer.auto.diagnostics.without_rows import without_rows
from mercer.auto.glass.section import scorecard_section
from mercer.source import Source
from mercer.tables.overview import overview

#: The most severe checks come first.
_SEVERITIES = ("error", "warning", "info", "passed")

#: Time of a pass for profiles, in units of that of reading.
_PROFILES_READ = 2.0

if TYPE_CHECKING:
    from mercer.auto.run import FitRun, Learned


def gather(
    run: FitRun, learned: Learned, source: Source, scores: dict[str, Any] | None, origin: tuple, holdout: float
) -> dict[str, Any]:
    """Plain values by the keys of `mercer.auto.diagnostics.schema.Report`.

    `origin` holds data, target and options of the call, for the section that repeats it.
    """
    from mercer import __version__

    all_in_memory = len(learned.rows.ids) == run.n_rows
    ids = np.asarray(learned.rows.ids) if all_in_memory and run.splits is None else None
    sections = run.sections if run.report_rows else without_rows(run.sections)
    found: dict[str, Any] = {"format": FORMAT, "mercer": __version__, **sections}
    if scores is not None:
        by_hash = run.n_distinct is None or run.n_distinct > run.n_rows // 2
        refitted = all_in_memory or len(learned.rows.ids) > run.n_rows - scores["n"]
        found["split"] = split_section(run.n_rows, scores["n"], holdout, by_hash, refitted, ids, run.splits)
    reading = run.steps.seconds_of({"read": 1.0})
    if run.report and run.clock.left() < _PROFILES_READ * reading:
        run.notes.append("The time budget left no room for the profiles and checks of the columns.")
        found.pop("model_checks", None)
    elif run.report:
        with run.steps("profiles"):
            table = overview(source, roles=run.roles, task="classification" if run.classify else "regression")
        checks = [*table.checks, *found.pop("model_checks", [])]
        checks.sort(key=lambda check: _SEVERITIES.index(check["severity"]))
        found |= {"profiles": table.profiles, "checks": checks}
        found |= {} if table.target is None else {"target_profile": table.target}
    if run.shape.explainable:
        found["scorecard"] = scorecard_section(learned.encoder, learned.predictor)
    data, target, options = origin
    return found | {"reproduction": reproduction(data, target, options, ids, run.steps.log)}
