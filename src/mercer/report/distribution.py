"""Numbers and histograms as short texts for a terminal."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

#: Lines of a histogram of numbers, columns of its longest bar.
_MAX_LINES, _WIDTH = 10, 30
_MAX_LABEL = 28


def short_number(value: Any) -> str:
    """A number in at most about eight characters.

    >>> [short_number(x) for x in (0.5, 1234.567, 70.0, 1e7, -0.00012, None)]
    ['0.5', '1235', '70', '1e+07', '-0.00012', '']
    """
    if value is None or isinstance(value, str):
        return str(value or "")
    size = abs(value)
    if not 1e-3 <= size < 1e6:
        return f"{value:.3g}"
    text = f"{value:.{max(0, 3 - math.floor(math.log10(size)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bar_lines(histogram: dict[str, Any]) -> list[str]:
    """A histogram as lines of label, bar and count; neighboring bins of numbers are merged to at most ten.

    >>> print(*bar_lines({"labels": ["no", "yes"], "counts": [30, 10]}), sep="\\n")
      no   ██████████████████████████████ 30 (75%)
      yes  ██████████ 10 (25%)
    """
    counts = histogram["counts"]
    if "labels" in histogram:
        labels = [
            label if len(label) <= _MAX_LABEL else label[: _MAX_LABEL - 3] + "..." for label in histogram["labels"]
        ]
    else:
        edges, step = histogram["edges"], -(-len(counts) // _MAX_LINES)
        counts = [sum(counts[k : k + step]) for k in range(0, len(counts), step)]
        ends = [*edges[: len(edges) - 1 : step], edges[-1]]
        shown = [each if isinstance(each, str) else short_number(each) for each in ends]
        width = max(map(len, shown))
        labels = [f"{a:>{width}} to {b:>{width}}" for a, b in itertools.pairwise(shown)]
    width, largest, total = max(map(len, labels)), max(*counts, 1), max(sum(counts), 1)
    sign = "\u2588" if "utf" in (sys.stdout.encoding or "utf-8").lower() else "#"
    return [
        f"  {label:<{width}}  {sign * round(_WIDTH * n / largest)} {n:,} ({n / total:.0%})"
        for label, n in zip(labels, counts, strict=True)
    ]
