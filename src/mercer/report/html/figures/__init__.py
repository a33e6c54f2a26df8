"""The pictures of a report: each takes a section of the dict and returns SVG with its finding as alternative text."""

from mercer.report.html.figures.candidates import draw_candidates
from mercer.report.html.figures.columns import (
    draw_effect,
    draw_importances,
    draw_interaction,
    effect_finding,
    effect_ranges,
)
from mercer.report.html.figures.errors import draw_calibration, draw_residual_histogram, draw_residuals, draw_thresholds
from mercer.report.html.figures.maps import draw_boundary, draw_kernel_map
from mercer.report.html.figures.points import draw_points
from mercer.report.html.figures.profiles import draw_target
from mercer.report.html.figures.scores import draw_learning_curve, draw_scores

__all__ = [
    "draw_boundary",
    "draw_calibration",
    "draw_candidates",
    "draw_effect",
    "draw_importances",
    "draw_interaction",
    "draw_kernel_map",
    "draw_learning_curve",
    "draw_points",
    "draw_residual_histogram",
    "draw_residuals",
    "draw_scores",
    "draw_target",
    "draw_thresholds",
    "effect_finding",
    "effect_ranges",
]
