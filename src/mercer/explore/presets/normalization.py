"""Presets of feature manipulation and normalization."""

from mercer.explore.presets.base import Preset

_GROUP = "Normalization"
_NOTES = "Lecture 13: Features (Shalev-Shwartz)"

NORMALIZATION = (
    Preset(
        "ridge-and-scale",
        _GROUP,
        "Ridge fooled by scale",
        f"{_NOTES}, two-dimensional ridge regression",
        "x2 knows y exactly but is tiny, so its weight would cost λ·10⁸; ridge takes the noisy x1. Standardize, and "
        "the error falls to zero for every small λ.",
        topic="scale",
        state={"scale": 1e-4, "penalty": 1e-4},
    ),
    Preset(
        "clipping",
        _GROUP,
        "Outliers, cured by clipping",
        f"{_NOTES}, one-dimensional regression with large values",
        "Rare values a·y drag the weight towards zero: for large a the error tends to 1, that of predicting nothing. "
        "Clip at 1 and the error is zero.",
        topic="outliers",
        state={"a": 30.0, "example": "sign", "bound": 1.0},
    ),
    Preset(
        "clipping-hurts",
        _GROUP,
        "Clipping can hurt",
        f"{_NOTES}, “prior knowledge can be wrong”",
        "Here large values are real, y = x, and least squares needs no help. Clip at 1 and the error grows with a; "
        "raise the bound to a and it vanishes.",
        topic="outliers",
        state={"a": 30.0, "example": "value", "bound": 1.0},
    ),
    Preset(
        "transformations",
        _GROUP,
        "Transformations of one feature",
        f"{_NOTES}, list of transformations",
        "Centering, scaling, clipping, sigmoid and logarithm change the histogram in different ways. Raise the "
        "skewness and find the transformation after which the values are spread evenly.",
        topic="normalization",
        state={"map": "Log", "skew": 1.0},
    ),
    Preset(
        "quantiles",
        _GROUP,
        "Quantiles",
        "Data-dependent features, quantiles and decision trees",
        "Ranks depend on the data but not on the scale: any monotone change of the column gives the same features. "
        "Change the skewness and see that the right histogram stays.",
        topic="normalization",
        state={"map": "Quantile", "skew": 1.5},
    ),
)
