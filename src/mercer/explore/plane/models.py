"""The representation and the learner of a state as expressions of the public library."""

from __future__ import annotations

from typing import Any

from mercer.explore.expressions import Call, Snippet
from mercer.explore.fields import RequestError
from mercer.explore.kernel_terms import has_random_features, kernel_expression

_LINEAR_LEARNERS = {
    "ridge": "RidgeClassifier",
    "logistic": "LogisticClassifier",
    "hinge": "HingeClassifier",
}


def representation_expression(state: dict[str, Any]) -> Call | None:
    """Return the transformer, or None where the points are used as they are or only through a kernel."""
    kind = state["representation"]
    if kind == "parabolic":
        return Call("ParabolicLift")
    if kind == "polynomial":
        # The learners have an intercept of their own; the constant is one of the features of the kernel.
        extra = {"scaling": "kernel"} if state["scaling"] == "kernel" else {"include_bias": False}
        return Call("PolynomialLift", (state["degree"],), extra)
    if kind == "subsets":
        return Call("SubsetLift")
    if kind == "random":
        return _random_features(state)
    return _landmarks(state) if kind == "landmarks" else None


def _random_features(state: dict[str, Any]) -> Call:
    if not has_random_features(state["kernel"]):
        raise RequestError("This similarity has no random features: it is not a Mercer kernel. Choose landmarks.")
    options = {name: state[name] for name in ("n_components", "sampling", "pairing")}
    return Call("RandomFeatures", (kernel_expression(state["kernel"]),), {**options, "random_state": state["map_seed"]})


def _landmarks(state: dict[str, Any]) -> Call:
    options: dict[str, Any] = {"kernel": kernel_expression(state["kernel"]), "whiten": state["whiten"]}
    if state["choose"] == "placed":
        if not state["landmarks"]:
            raise RequestError("No landmarks are placed: add one, or let the points choose.")
        options["landmarks"] = [list(point) for point in state["landmarks"]]
    else:
        options |= {"n_components": state["n_landmarks"], "choose": state["choose"], "random_state": state["map_seed"]}
    landmarks = Call("Landmarks", (), options)
    if not state["with_raw"]:
        return landmarks
    return Call("make_union", (Snippet('"passthrough"', "passthrough"), landmarks), home="sklearn.pipeline")


def learner_expression(state: dict[str, Any]) -> Call:
    """Return the learner: a linear model on explicit features, or a kernel machine."""
    learner, alpha = state["learner"], state["alpha"]
    if learner == "perceptron":
        if state["representation"] == "kernel":
            return Call("KernelPerceptron", (kernel_expression(state["kernel"]),), {"n_epochs": state["n_epochs"]})
        return Call("Perceptron", (), {"n_epochs": state["n_epochs"]})
    if state["representation"] != "kernel":
        return Call(_LINEAR_LEARNERS[learner], (), {"alpha": alpha})
    kernel = kernel_expression(state["kernel"])
    if learner == "hinge":
        return Call("KernelHinge", (kernel,), {"alpha": alpha, "penalty": state["penalty"]})
    if learner == "ridge":
        return Call("KernelRegressor", (kernel,), {"alpha": alpha})
    return Call("LogisticClassifier", (), {"alpha": alpha})


def model_expression(state: dict[str, Any]) -> Call | None:
    """Return the whole model; None if the weights are set by hand."""
    if state["learner"] == "hand":
        return None
    representation, learner = representation_expression(state), learner_expression(state)
    if state["representation"] == "kernel" and state["learner"] == "logistic":
        # Coordinates in the span of all points: kernel logistic regression, by the representer theorem.
        kernel = kernel_expression(state["kernel"])
        representation = Call("Landmarks", (), {"kernel": kernel, "choose": "all"})
    if representation is None:
        return learner
    return Call("make_pipeline", (representation, learner), home="sklearn.pipeline")
