"""The shape of a kernel, its frequencies, and its approximation by random features."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mercer.expand import RandomFeatures
from mercer.explore.expressions import import_lines
from mercer.explore.fields import ChoiceField, Field, NumberField, RequestError
from mercer.explore.kernel_terms import KernelField, functions_of, has_random_features, kernel_expression
from mercer.explore.panels import Topic, answered, bars, lines, series
from mercer.explore.source_text import program

FIELDS: dict[str, Field] = {
    "kernel": KernelField("Kernel", ((("name", "Gaussian"), ("operation", "+"), ("weight", 1.0), ("bandwidth", 0.5)),)),
    "n_components": NumberField("Number of random features", 16, low=2, high=1024, step=1, whole=True, log=True),
    "pairing": ChoiceField(
        "Form", "cos-sin", options=(("cos-sin", "cos and sin"), ("phase", "cos with a random phase"))
    ),
    "center": NumberField("Position of z", 0.0, low=-1.5, high=1.5, step=0.05),
    "seed": NumberField("Seed of the draw", 0, low=0, high=999, step=1, whole=True),
}


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Return k(x, z) along a line, five approximations of it, and the frequencies of one draw."""
    kernel = kernel_expression(state["kernel"]).build()
    x = np.linspace(-2, 2, 161)[:, None]
    z = np.array([[state["center"]]])
    exact = kernel(x, z)[:, 0]
    if not has_random_features(state["kernel"]):
        picture = lines("k(x, z)", [series("k(x, z)", x[:, 0], exact)], "x", "k(x, z)")
        return answered(
            picture, result=exact, text="This similarity is not a Mercer kernel: it has no random features."
        )
    curves, first = [], None
    for draw in range(5):
        features = _map(state, kernel, state["seed"] + draw).fit(x)
        first = first or features
        approximate = features.transform(x) @ features.transform(z).T
        label = f"{state['n_components']} random features, 5 draws" if draw == 0 else ""
        curves.append(series(label, x[:, 0], approximate[:, 0], "thin", 1))
    curves.append(series("k(x, z)", x[:, 0], exact, "line", 0))
    picture = lines("The kernel and its approximations", curves, "x", "k(x, z)", marks=[(state["center"], "z")])
    text = f"Largest error of the first draw on this line: {_error(first, x, z, exact):.3g}."
    return answered(picture, *_frequencies(first), result=exact, text=text)


def _map(state: dict[str, Any], kernel: Any, seed: int) -> RandomFeatures:
    return RandomFeatures(kernel, n_components=state["n_components"], pairing=state["pairing"], random_state=seed)


def _error(features: Any, x: np.ndarray, z: np.ndarray, exact: np.ndarray) -> float:
    if features is None:
        raise RequestError("There is no draw.")
    return float(np.abs(features.transform(x) @ features.transform(z).T - exact[:, None]).max())


def _frequencies(features: Any) -> list[dict[str, Any]]:
    """Return a histogram of the frequencies, if the map is one set of Fourier features."""
    found = getattr(features, "frequencies_", None)
    if found is None:
        return []
    size = float(np.quantile(np.abs(found), 0.95)) * 1.2 or 1.0
    counts, edges = np.histogram(np.clip(found, -size, size), bins=15, range=(-size, size))
    names = [f"{(low + high) / 2:.2g}" for low, high in pairwise(edges)]
    return [
        bars("Frequencies ω of the first draw", names, {"count": counts}, text="The narrower the kernel, the wider.")
    ]


def code(state: dict[str, Any]) -> str:
    """Return the program; `result` are the values of the kernel on the line."""
    kernel = kernel_expression(state["kernel"])
    body = [
        "x = np.linspace(-2, 2, 161)[:, None]",
        f"z = np.array([[{state['center']!r}]])",
        f"kernel = {kernel.code()}",
        "result = kernel(x, z)[:, 0]",
    ]
    imports = import_lines(kernel)
    if has_random_features(state["kernel"]):
        options = f"n_components={state['n_components']}, pairing={state['pairing']!r}, random_state={state['seed']}"
        body += [
            f"features = RandomFeatures(kernel, {options}).fit(x)",
            "approximation = (features.transform(x) @ features.transform(z).T)[:, 0]",
            'print("largest error:", np.abs(approximation - result).max())',
        ]
        imports = [*imports, "from mercer import RandomFeatures"]
    return program(*body, imports=imports, functions=functions_of(state["kernel"]))


TOPIC = Topic("Kernels and their frequencies", FIELDS, answer, code)
