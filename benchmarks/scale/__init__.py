"""Data larger than memory, and clusters: memory over time, throughput, workers, predictions, samples, stragglers.

    python -m benchmarks.scale                                    # all sections at small sizes
    python -m benchmarks.scale memory --gigabytes 5 --limit 1     # one section at its full size

Sections: `memory` (a fit of a generated CSV and the same as Parquet under a limit of the resident size), `throughput`
(a streamed Gram matrix against reading and the bare product), `workers` (one and two Dask workers against threads),
`predict` (rows per second and memory of `mercer predict`), `sample` (what a search on a sample costs against all rows),
`stragglers` (a simulation of slow and failing workers).
"""

from __future__ import annotations

from benchmarks.scale.options import Options
from benchmarks.scale.sections import SECTIONS


def run(options: Options | None = None, names: list[str] | None = None) -> None:
    options = options or Options()
    for name in names or list(SECTIONS):
        print(f"\n-- {name}", flush=True)
        SECTIONS[name](options)
