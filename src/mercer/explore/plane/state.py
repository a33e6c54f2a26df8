"""The state of the plane: data, representation, learner and view, each a checked field."""

from __future__ import annotations

from typing import Any

from mercer.explore.data_sets import GENERATORS, OWN
from mercer.explore.fields import (
    ChoiceField,
    Field,
    FlagField,
    NumberField,
    NumbersField,
    PointsField,
    TextField,
)
from mercer.explore.kernel_terms import KernelField

_KERNEL_USERS = ("random", "landmarks", "kernel")
_LINEAR = ("raw", "parabolic", "polynomial", "subsets")
_EXPLICIT = (*_LINEAR, "random", "landmarks")

DATA: dict[str, Field] = {
    "data": ChoiceField(
        "Points",
        "circles",
        options=(*((name, label) for name, (label, _) in GENERATORS.items()), (OWN, "Own points")),
    ),
    "n": NumberField("Number of points", 120, low=2, high=300, step=1, whole=True),
    "noise": NumberField("Noise", 0.1, low=0.0, high=0.6, step=0.01),
    "seed": NumberField("Seed", 0, low=0, high=999, step=1, whole=True),
    "points": PointsField("Points"),
    "test_points": PointsField("Test points"),
    "x_name": TextField("Name of the first column", "x1"),
    "y_name": TextField("Name of the second column", "x2"),
}
REPRESENTATION: dict[str, Field] = {
    "representation": ChoiceField(
        "Representation",
        "raw",
        options=(
            ("raw", "As is: (x1, x2)"),
            ("parabolic", "Parabolic lift: (x1, x2, x1² + x2²)"),
            ("polynomial", "All monomials up to degree p"),
            ("subsets", "Products of all subsets"),
            ("random", "Random features of a kernel"),
            ("landmarks", "Similarity to landmarks"),
            ("kernel", "Kernel (implicit features)"),
        ),
    ),
    "degree": NumberField("Degree p", 2, low=1, high=9, step=1, whole=True, only=("representation", ("polynomial",))),
    "scaling": ChoiceField(
        "Weights of the monomials",
        "raw",
        options=(("raw", "all 1"), ("kernel", "those of (1 + ⟨x, z⟩)^p, with √2")),
        only=("representation", ("polynomial",)),
    ),
    "kernel": KernelField(
        "Kernel",
        ((("name", "Gaussian"), ("operation", "+"), ("weight", 1.0), ("bandwidth", 0.5)),),
        only=("representation", _KERNEL_USERS),
    ),
    "n_components": NumberField(
        "Number of random features",
        64,
        low=1,
        high=2048,
        step=1,
        whole=True,
        log=True,
        only=("representation", ("random",)),
    ),
    "sampling": ChoiceField(
        "Frequencies",
        "orthogonal",
        options=(("orthogonal", "orthogonal"), ("iid", "independent"), ("quasi", "quasi-random")),
        only=("representation", ("random",)),
    ),
    "pairing": ChoiceField(
        "Form",
        "cos-sin",
        options=(("cos-sin", "cos and sin"), ("phase", "cos with a random phase")),
        only=("representation", ("random",)),
    ),
    "map_seed": NumberField(
        "Seed of the draw", 0, low=0, high=999, step=1, whole=True, only=("representation", ("random", "landmarks"))
    ),
    "choose": ChoiceField(
        "Choice of landmarks",
        "rpcholesky",
        options=(
            ("rpcholesky", "RPCholesky"),
            ("uniform", "random points"),
            ("kmeans", "centers of clusters"),
            ("all", "every point"),
            ("placed", "placed by hand"),
        ),
        only=("representation", ("landmarks",)),
    ),
    "n_landmarks": NumberField(
        "Number of landmarks", 8, low=1, high=150, step=1, whole=True, only=("representation", ("landmarks",))
    ),
    "landmarks": PointsField("Landmarks placed by hand", width=2, labeled=False, max_length=24),
    "whiten": FlagField("Whiten (Nyström)", False, only=("representation", ("landmarks",))),
    "with_raw": FlagField("Keep x1 and x2 beside them", False, only=("representation", ("landmarks",))),
}
LEARNER: dict[str, Field] = {
    "learner": ChoiceField(
        "Learner",
        "logistic",
        options=(
            ("perceptron", "Perceptron"),
            ("ridge", "Ridge (squared loss)"),
            ("logistic", "Logistic regression"),
            ("hinge", "Support vector machine (hinge loss)"),
            ("hand", "Weights set by hand"),
        ),
    ),
    "alpha": NumberField(
        "Penalty α", 1.0, low=1e-6, high=1e4, log=True, only=("learner", ("ridge", "logistic", "hinge"))
    ),
    "penalty": ChoiceField(
        "Penalty on",
        "function",
        options=(("function", "the function, α‖w‖²"), ("coefficients", "the coefficients, α‖a‖²")),
        only=("representation", ("kernel",)),
        help="For the hinge loss with a kernel.",
    ),
    "n_epochs": NumberField(
        "Passes over the points", 20, low=1, high=200, step=1, whole=True, only=("learner", ("perceptron",))
    ),
    "weights": NumbersField("Weights set by hand, the intercept last", max_length=24),
}
VIEW: dict[str, Field] = {
    "nearest": FlagField("Compare with nearest neighbor", False),
    "show_test": FlagField("Show test points", False),
    "axes": NumbersField("Features on the axes of the lifted space", max_length=3, bound=2048),
}
FIELDS: dict[str, Field] = {**DATA, **REPRESENTATION, **LEARNER, **VIEW}

#: The fields on which a fit depends: a change of any other needs no new one.
MODEL_FIELDS = ("data", "n", "noise", "seed", "points", *REPRESENTATION, *LEARNER)


def fit_key(state: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return what a fit depends on, as a key of the cache."""
    return tuple((name, state[name]) for name in MODEL_FIELDS)
