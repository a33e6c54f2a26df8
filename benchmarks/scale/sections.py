"""The sections of the benchmark by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.scale.memory import memory
from benchmarks.scale.options import Options
from benchmarks.scale.predict import predict
from benchmarks.scale.sample import sample
from benchmarks.scale.simulation import stragglers
from benchmarks.scale.speed import throughput, workers

SECTIONS: dict[str, Callable[[Options], None]] = {
    "memory": memory,
    "throughput": throughput,
    "workers": workers,
    "predict": predict,
    "sample": sample,
    "stragglers": stragglers,
}
