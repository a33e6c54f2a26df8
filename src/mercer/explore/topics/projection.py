"""Random projections: how far the length of a vector changes, with the interval of the theorem."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.bounds import jl_interval
from mercer.explore.expressions import Call, import_lines
from mercer.explore.fields import ChoiceField, Field, NumberField
from mercer.explore.numbers import rounded
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program

DRAWS = 150
WIDTH = 64
FIELDS: dict[str, Field] = {
    "projection": ChoiceField(
        "Projection",
        "gaussian",
        options=(("gaussian", "Gaussian matrix"), ("sparse", "sparse matrix (hashing)"), ("hadamard", "Hadamard")),
    ),
    "m": NumberField("Dimension m", 64, low=4, high=1024, step=1, whole=True, log=True),
    "nonzeros": NumberField(
        "Nonzeros per column s", 4, low=1, high=16, step=1, whole=True, only=("projection", ("sparse",))
    ),
    "signed": ChoiceField(
        "Signs", "yes", options=(("yes", "random signs"), ("no", "no signs")), only=("projection", ("sparse",))
    ),
    "vector": ChoiceField(
        "Vector v",
        "dense",
        options=(("dense", "Gaussian entries"), ("positive", "positive entries"), ("sparse", "two nonzero entries")),
    ),
    "delta": NumberField("Probability δ", 0.05, low=0.001, high=0.5, log=True),
}


def fixed_vector(kind: str, width: int) -> np.ndarray:
    """A unit vector: of Gaussian, of positive, or of two nonzero entries."""
    v = np.random.default_rng(1).normal(size=width)
    if kind == "positive":
        v = np.abs(v)
    elif kind == "sparse":
        v[2:] = 0
    return v / np.linalg.norm(v)


def map_of(state: dict[str, Any], seed: Any) -> Call:
    """Return one draw of the projection as an expression."""
    options = {"n_components": state["m"], "random_state": seed}
    if state["projection"] == "gaussian":
        return Call("GaussianProjection", (), options)
    if state["projection"] == "hadamard":
        return Call("HadamardProjection", (), options)
    nonzeros = min(state["nonzeros"], state["m"])
    return Call("SparseProjection", (), {**options, "nonzeros": nonzeros, "signed": state["signed"] == "yes"})


def squared_lengths(state: dict[str, Any]) -> np.ndarray:
    """Return ||Av||^2 for independent draws of A."""
    v = fixed_vector(state["vector"], WIDTH)[None]
    return np.array([float(np.sum(map_of(state, seed).build().fit(v).transform(v) ** 2)) for seed in range(DRAWS)])


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return a histogram of ||Av||^2 and the interval that holds with probability 1 - delta."""
    found = squared_lengths(state)
    low, high = jl_interval(state["m"], state["delta"])
    outside = float(np.mean((found < low) | (found > high)))
    counts, edges = np.histogram(found, bins=25)
    middle = (edges[:-1] + edges[1:]) / 2
    marks = [(1.0, "‖v‖²"), (max(low, 0.0), "theorem"), (high, "theorem")]
    histogram = lines(
        "‖Av‖² over the draws", [series("draws", middle, counts, "bars", 0)], "‖Av‖² / ‖v‖²", "draws", marks=marks
    )
    sizes = np.geomspace(4, 1024, 25)
    intervals = np.array([jl_interval(int(m), state["delta"]) for m in sizes])
    curves = [
        series("upper end", sizes, intervals[:, 1], "line", 0),
        series("lower end", sizes, np.maximum(intervals[:, 0], 0), "line", 0),
        series("these draws", np.full(len(found), state["m"]), found, "points", 1),
    ]
    theorem = lines(
        "Interval of Theorem 1 against m", curves, "m", "‖Av‖² / ‖v‖²", log_x=True, marks=[(state["m"], "m")]
    )
    text = (
        f"{outside:.1%} of {DRAWS} draws are outside the interval [{low:.3g}, {high:.3g}], which allows "
        f"{state['delta']:.1%}. The mean is {found.mean():.3g}."
    )
    quantiles = np.quantile(found, [0.05, 0.5, 0.95])
    spread = bars("Quantiles of ‖Av‖²", ["5 %", "50 %", "95 %"], {"‖Av‖²": rounded(quantiles, 5)})
    return answered(histogram, theorem, spread, result=found, text=text)


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the squared lengths of all draws."""
    from mercer.explore.expressions import Snippet

    made = map_of(state, Snippet("seed", 0))
    body = [
        f"v = fixed_vector({state['vector']!r}, {WIDTH})[None]",
        f"maps = [{made.code()}.fit(v) for seed in range({DRAWS})]",
        "result = np.array([np.sum(each.transform(v) ** 2) for each in maps])",
        f"print(result.mean(), jl_interval({state['m']}, {state['delta']!r}))",
    ]
    imports = [*import_lines(made), "from mercer import jl_interval"]
    return program(*body, imports=imports, functions=[fixed_vector])


TOPIC = Topic("Random projections", FIELDS, answer, code)
