"""Sizes of the benchmark."""

from __future__ import annotations

import os
from dataclasses import dataclass

from benchmarks.harness import size


@dataclass(frozen=True)
class Options:
    """Small sizes by default; the figures of the documentation are those of the full sizes.

    gigabytes : size of the generated CSV, limit : resident size in gigabytes, efforts : of the fits
    enforced : let the kernel end fits beyond the limit
    rows : of throughput and workers, predicted : rows to predict, data : folder of Parquet tables for samples
    """

    gigabytes: float = size(0.3, 1e-4)
    limit: float = 1.0
    efforts: tuple[str, ...] = ("fast",)
    enforced: bool = False
    rows: int = size(400_000, 2000)
    predicted: int = size(500_000, 2000)
    folder: str | None = None
    data: str | None = os.environ.get("MERCER_BENCH_DATA")
