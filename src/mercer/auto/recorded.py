"""The result of a search, kept with a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mercer.auto.learned import Learned
from mercer.source.recording import remembered

if TYPE_CHECKING:
    from mercer.auto.run import FitRun


def recorded_search(run: FitRun, search: Callable[[], Learned]) -> Learned:
    """What a search has learned, with its notes in the fit; or what it had learned before an interruption."""
    n_notes = len(run.notes)

    def found() -> tuple[Learned, dict[str, Any]]:
        learned = search()
        return learned, {"notes": run.notes[n_notes:], "roles": run.roles, "from_all": run.from_all}

    learned, noted = remembered("search", found)
    run.notes[n_notes:], run.roles, run.from_all = noted["notes"], noted["roles"], noted["from_all"]
    return learned
