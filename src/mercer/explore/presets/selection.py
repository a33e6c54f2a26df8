"""Presets of feature selection."""

from mercer.explore.presets.base import Preset

_GROUP = "Feature selection"
_NOTES = "Lecture 13: Features (Shalev-Shwartz)"

SELECTION = (
    Preset(
        "which-feature",
        _GROUP,
        "Which feature is better?",
        f"{_NOTES}, first example",
        "x2 is almost y, but x1 determines y exactly: linear predictors prefer x2, quadratic ones x1. Raise the error "
        "of x2, and move the mean of x1 away from zero.",
        topic="hypotheses",
    ),
    Preset(
        "blind-filter",
        _GROUP,
        "Weakness of filters",
        f"{_NOTES}, weakness of filters",
        "y = x1 + 2 x2 needs x1, whose correlation with y is zero; greedy selection takes it second. Change the target "
        "to the sign of the product: now single scores see neither column.",
        topic="filters",
        state={"example": "sum"},
    ),
    Preset(
        "omp",
        _GROUP,
        "Matching pursuit, column by column",
        f"{_NOTES}, orthogonal matching pursuit",
        "Play the steps: each one takes the column with the highest score given those chosen before. Raise the noise "
        "and see which of the columns that matter is found last.",
        topic="greedy",
        state={"t": 0, "d": 12, "k": 4},
    ),
    Preset(
        "omp-or-stepwise",
        _GROUP,
        "Two rules under one name",
        f"{_NOTES}, derivation of the rule",
        "The rule derived in the notes divides by ‖u_j‖², which is forward stepwise regression; matching pursuit "
        "divides by ‖x_j‖². On strongly correlated columns they choose differently: try seeds.",
        topic="greedy",
        state={"correlation": 0.9, "d": 12, "k": 4, "noise": 1.0, "t": 1, "seed": 12},
    ),
    Preset(
        "adaboost",
        _GROUP,
        "Exercise: AdaBoost is greedy",
        f"{_NOTES}, AdaBoost as forward greedy selection",
        "Each round adds the stump that lowers log Σ exp(−y f) most. The objective falls in every round, also where "
        "the training error does not.",
        topic="boosting",
        state={"data": "circles", "t": 10},
    ),
    Preset(
        "soft-threshold",
        _GROUP,
        "Soft thresholding",
        f"{_NOTES}, the Lasso in one dimension",
        "The weight is zero while |x| ≤ λ, because the objective has a kink at zero. Move x across λ and watch the "
        "minimum leave the kink.",
        topic="soft_threshold",
        state={"x": 1.0, "penalty": 0.6},
    ),
    Preset(
        "ridge-is-not-sparse",
        _GROUP,
        "Exercise: the squared penalty is not sparse",
        f"{_NOTES}, exercise on the ℓ2 norm",
        "With λw² the weight is x/(1 + 2λ): smaller, but never zero unless x is. Raise λ to 3 and compare both minima.",
        topic="soft_threshold",
        state={"x": 0.5, "penalty": 1.0},
    ),
    Preset(
        "lasso-path",
        _GROUP,
        "The Lasso path",
        f"{_NOTES}, ℓ1 norm",
        "From right to left, columns enter one by one; those that matter come first. Raise the correlation until a "
        "wrong neighbor enters early, and compare with ridge, which keeps all columns.",
        topic="lasso",
        state={"d": 12, "k": 4},
    ),
)
