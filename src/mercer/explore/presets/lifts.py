"""Presets of exact lifts."""

from mercer.explore.presets.base import Preset

_GROUP = "Lifts"
_HSU = "Feature maps and kernels (Hsu 2023)"
_LIFTINGS = "Building embeddings: liftings"

LIFTS = (
    Preset(
        "not-separable",
        _GROUP,
        "Not linearly separable",
        f"{_HSU}, picture “Not linearly separable”",
        "No line separates the two circles: almost half of the points stay on the wrong side. Choose the parabolic "
        "lift or all monomials of degree 2, and the same learner separates them.",
        state={"data": "circles", "representation": "raw", "learner": "logistic"},
    ),
    Preset(
        "parabolic-ball",
        _GROUP,
        "Halfspaces become balls",
        f"{_LIFTINGS}, parabolic lifting",
        "Rotate the lifted space: the inner circle lies deeper on the paraboloid, and a plane cuts it off. Drag points "
        "and watch the center and the radius that are recovered from the weights.",
        state={"data": "circles", "representation": "parabolic", "learner": "hinge", "alpha": 0.1},
    ),
    Preset(
        "parabolic-complement",
        _GROUP,
        "The outside of a ball",
        f"{_LIFTINGS}, “only feasible regions”",
        "The class on the outside makes the weight of x1² + x2² positive: the region is the complement of a ball, "
        "which the notes leave out. Relabel points until it becomes a ball, and move them until it is a half-plane.",
        state={
            "data": "own",
            "points": [
                *(
                    [round(r * c, 3), round(r * s, 3), label]
                    for r, label in ((0.4, -1), (1.1, 1))
                    for c, s in (
                        (1, 0),
                        (0.71, 0.71),
                        (0, 1),
                        (-0.71, 0.71),
                        (-1, 0),
                        (-0.71, -0.71),
                        (0, -1),
                        (0.71, -0.71),
                    )
                ),
            ],
            "representation": "parabolic",
            "learner": "ridge",
            "alpha": 0.01,
        },
    ),
    Preset(
        "conic-ellipse",
        _GROUP,
        "Conic sections: an ellipse",
        f"{_HSU}, picture “conic sections”",
        "Six weights of the quadratic features describe a conic section, here a tilted ellipse with its half-axes. "
        "Raise the noise and the penalty and see how long the curve stays an ellipse.",
        state={"data": "ellipse", "n": 200, "noise": 0.02, "representation": "polynomial", "alpha": 0.01},
    ),
    Preset(
        "conic-hyperbola",
        _GROUP,
        "Conic sections: a hyperbola",
        f"{_HSU}, picture “conic sections”",
        "The same features separate the two sides of a hyperbola from the strip between them. Set the degree to 1 and "
        "nothing is left but a line.",
        state={"data": "hyperbola", "n": 200, "noise": 0.02, "representation": "polynomial", "alpha": 0.01},
    ),
    Preset(
        "conic-parabola",
        _GROUP,
        "Conic sections: a parabola",
        f"{_HSU}, picture “conic sections”",
        "A parabola needs one curvature to be exactly zero, so the fit is an ellipse or a hyperbola that looks like "
        "one here. Change the seed: which of the two it is depends on the sample.",
        state={"data": "parabola", "n": 200, "noise": 0.02, "representation": "polynomial", "alpha": 0.01},
    ),
    Preset(
        "quadratic-features",
        _GROUP,
        "Five quadratic features",
        f"{_LIFTINGS}, polynomial lifting",
        "Every boundary of degree 2 is a plane in the space of x1, x2, x1², x1x2, x2². Choose x1², x1x2 and x2² as the "
        "axes of the lifted space, and compare the two weightings of the monomials under a strong penalty.",
        state={
            "data": "ellipse",
            "n": 150,
            "noise": 0.02,
            "representation": "polynomial",
            "learner": "ridge",
            "axes": [2, 3, 4],
        },
    ),
    Preset(
        "degree-p",
        _GROUP,
        "Any polynomial boundary",
        f"{_LIFTINGS}, polynomial lifting",
        "Three lines in each direction, multiplied, make a polynomial of degree 6 that solves the board; 5 is too low. "
        "Watch the test error beside the training error when you lower the penalty.",
        state={
            "data": "checkerboard",
            "n": 300,
            "noise": 0.0,
            "representation": "polynomial",
            "degree": 6,
            "learner": "logistic",
            "alpha": 1e-5,
        },
    ),
    Preset(
        "xor-subsets",
        _GROUP,
        "Products of all subsets",
        "Features (Hsu 2015), products of all feature subsets",
        "One product, x1x2, solves XOR: the other weights are close to zero. Remove the points of one corner and see "
        "which of the weights takes over.",
        state={"data": "xor", "representation": "subsets", "learner": "logistic", "alpha": 0.1},
    ),
    Preset(
        "univariate-polynomial",
        _GROUP,
        "A polynomial through points",
        f"{_HSU}, univariate polynomials",
        "A polynomial of degree k is linear in 1, x, …, x^k. Raise the degree to 14 and lower the penalty: the curve "
        "meets every point and misses everything between them.",
        topic="curve",
        state={"model": "polynomial", "degree": 3, "alpha": 1e-6},
    ),
)
