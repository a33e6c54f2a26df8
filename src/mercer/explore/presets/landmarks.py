"""Presets of landmarks."""

from mercer.explore.presets.base import Preset, gaussian

_GROUP = "Landmarks"
_NOTES = "Data-dependent features"
#: The bandwidth of exp(-||x - z||^2) in Mercer's form.
_UNIT = 0.7071
_THREE = [[-0.7, -0.6], [0.0, 0.8], [0.8, -0.1]]

LANDMARKS = (
    Preset(
        "black-hole",
        _GROUP,
        "A black hole",
        f"{_NOTES}, Figure 20",
        "One landmark adds a third feature, a bump, beside x1 and x2; a plane cuts its top off. Drag the landmark off "
        "the center and watch the separation fail.",
        state={
            "data": "circles",
            "noise": 0.08,
            "representation": "landmarks",
            "kernel": gaussian(0.5),
            "choose": "placed",
            "landmarks": [[0.0, 0.0]],
            "with_raw": True,
            "learner": "hinge",
            "alpha": 0.1,
        },
    ),
    Preset(
        "three-landmarks",
        _GROUP,
        "Three landmarks",
        f"{_NOTES}, picture of three landmarks",
        "Similarities to three landmarks are three features, and every plane among them is a curve in the left "
        "picture. Drag the landmarks, or change the bandwidth, and rotate the space of features.",
        state={
            "data": "three_clouds",
            "noise": 0.05,
            "representation": "landmarks",
            "kernel": gaussian(0.5),
            "choose": "placed",
            "landmarks": _THREE,
            "learner": "logistic",
            "alpha": 0.1,
        },
    ),
    Preset(
        "find-the-hyperplane",
        _GROUP,
        "Food for thought: find the hyperplane",
        f"{_NOTES}, margin figure and Figure 21",
        "Set the three weights and the intercept by hand so that only the surroundings of the north landmark are "
        "predicted as the class 1. One answer: weight 2 for the second landmark, 0 for the others, and intercept −1.",
        state={
            "data": "three_clouds",
            "noise": 0.05,
            "representation": "landmarks",
            "kernel": gaussian(0.5),
            "choose": "placed",
            "landmarks": _THREE,
            "learner": "hand",
            "weights": [1.0, -1.0, -1.0, 0.0],
        },
    ),
    Preset(
        "every-point",
        _GROUP,
        "Every point a landmark",
        f"{_NOTES}, landmarks at every training point",
        "With one feature per point the learner can fit anything, and the penalty decides how it generalizes. Compare "
        "the test error at α = 0.001 and at α = 1.",
        state={
            "data": "moons",
            "noise": 0.3,
            "n": 100,
            "representation": "landmarks",
            "kernel": gaussian(0.35),
            "choose": "all",
            "learner": "hinge",
            "alpha": 0.5,
        },
    ),
    Preset(
        "chosen-landmarks",
        _GROUP,
        "Landmarks chosen by RPCholesky",
        f"{_NOTES}, “how do we choose our landmarks?”",
        "RPCholesky draws each landmark where the kernel is still badly approximated, so it finds small clusters. "
        "Compare the error curve with random points at the same number of landmarks.",
        state={
            "data": "spirals",
            "noise": 0.04,
            "n": 200,
            "representation": "landmarks",
            "kernel": gaussian(0.3),
            "whiten": True,
            "n_landmarks": 30,
            "learner": "logistic",
            "alpha": 0.01,
        },
    ),
    Preset(
        "penalty-and-bandwidth",
        _GROUP,
        "Penalty and bandwidth",
        f"{_NOTES}, picture of λ and σ, and Figure 22",
        "Both control how wrinkled the boundary is: σ blurs the plane, α shrinks the weights. Click into the map, or "
        "walk along one of its rows, and find the valley of the test error.",
        state={
            "data": "moons",
            "noise": 0.3,
            "representation": "kernel",
            "kernel": gaussian(0.3),
            "learner": "hinge",
            "penalty": "coefficients",
            "alpha": 0.1,
        },
    ),
    Preset(
        "always-separable",
        _GROUP,
        "Food for thought: always separable?",
        f"{_NOTES}, “Is training data always linearly separable?”",
        "In exact arithmetic yes, for distinct points and any bandwidth: the Gram matrix is positive definite. In "
        "floating point its rank at σ = 1 of the notes, 0.7071 here, is far below the number of points; lower σ.",
        state={
            "data": "moons",
            "noise": 0.6,
            "n": 200,
            "representation": "kernel",
            "kernel": gaussian(_UNIT),
            "learner": "ridge",
            "alpha": 1e-6,
        },
    ),
    Preset(
        "tiny-bandwidth",
        _GROUP,
        "Tiny σ: nearest neighbors",
        f"{_NOTES}, Figure 22",
        "For tiny σ all features are small, but that of the closest point is by far the largest. Between points the "
        "score vanishes while its sign still follows the nearest neighbor.",
        state={
            "data": "checkerboard",
            "n": 120,
            "noise": 0.0,
            "representation": "kernel",
            "kernel": gaussian(0.05),
            "learner": "hinge",
            "alpha": 0.01,
            "nearest": True,
        },
    ),
)
