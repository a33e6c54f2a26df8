"""The Python code that reproduces a state of the plane with the public library."""

from __future__ import annotations

from typing import Any

from mercer.explore.data_sets import GENERATORS, OWN
from mercer.explore.expressions import import_lines
from mercer.explore.kernel_terms import functions_of
from mercer.explore.plane.models import model_expression, representation_expression
from mercer.explore.source_text import array_code, program


def plane_code(state: dict[str, Any]) -> str:
    """Return lines that define the points, fit the model and print both errors; `scores` are those of the points."""
    model, representation = model_expression(state), representation_expression(state)
    return program(
        data_code(state),
        _model_code(state, model, representation),
        imports=import_lines(model if model is not None else representation),
        functions=used_functions(state),
    )


def data_code(state: dict[str, Any]) -> str:
    """Return the lines that define X and y."""
    if state["points"] is None and state["data"] != OWN:
        return f"X, y = {state['data']}({state['n']}, {state['noise']!r}, {state['seed']})"
    rows = [list(row) for row in state["points"] or ()]
    return f"points = {array_code(rows)}\nX, y = points[:, :2], points[:, 2]"


def used_functions(state: dict[str, Any]) -> list[Any]:
    """Return the functions of this package whose source the code contains."""
    made = [] if state["points"] is not None or state["data"] == OWN else [GENERATORS[state["data"]][1]]
    uses_kernel = state["representation"] in ("random", "landmarks", "kernel")
    return [*made, *(functions_of(state["kernel"]) if uses_kernel else [])]


def _model_code(state: dict[str, Any], model: Any, representation: Any) -> str:
    if model is None:
        return _hand_code(state, representation)
    call = "decision_function" if "KernelRegressor" not in model.code() else "predict"
    lines = [f"model = {model.code()}.fit(X, y)", f"scores = model.{call}(X)"]
    return "\n".join([*lines, 'print("training error:", np.mean(scores * y <= 0))'])


def _hand_code(state: dict[str, Any], representation: Any) -> str:
    features = "X" if representation is None else f"{representation.code()}.fit_transform(X)"
    given = list(state["weights"] or ())
    return "\n".join(
        [
            f"Z = {features}",
            "w = np.zeros(Z.shape[1] + 1)  # the intercept is the last",
            f"w[:{len(given)}] = {given}",
            "scores = Z @ w[:-1] + w[-1]",
            'print("training error:", np.mean(scores * y <= 0))',
        ]
    )
