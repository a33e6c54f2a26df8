"""Mergeable statistics: what one pass over the data can learn."""

from mercer.stats.base import Statistic, Together
from mercer.stats.counts import Counts, LabelCounts
from mercer.stats.extremes import Extremes
from mercer.stats.gram import Gram, LabelGram
from mercer.stats.loss import LossAt, LossesAt
from mercer.stats.moments import Moments
from mercer.stats.sample import Sample

__all__ = [
    "Counts",
    "Extremes",
    "Gram",
    "LabelCounts",
    "LabelGram",
    "LossAt",
    "LossesAt",
    "Moments",
    "Sample",
    "Statistic",
    "Together",
]
