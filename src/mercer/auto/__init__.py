"""Choices made by the data: which features, how wide, how strong a penalty, and an honest score of the result."""

from mercer.auto.judge import Judgment, judge
from mercer.auto.lifting import Search, Trial, compare_lifts
from mercer.auto.steps import Steps

__all__ = ["Judgment", "Search", "Steps", "Trial", "compare_lifts", "judge"]
