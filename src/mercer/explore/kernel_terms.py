"""Kernels as a list of terms: sums of products of scaled leaves, in the order in which they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.explore.expressions import Call, Operation, Snippet
from mercer.explore.fields import ChoiceField, Field, FlagField, NumberField, RequestError, read_fields

MAX_TERMS = 4
_BANDWIDTH = NumberField("bandwidth σ", 0.5, low=0.01, high=20.0, log=True)


def one_plus_distance(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """s(x, z) = 1 + ||x - z||: symmetric and positive on the diagonal, but not a Mercer kernel."""
    return 1 + np.sqrt(((X[:, None] - Z[None]) ** 2).sum(axis=2))


def negative_gaussian(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """s(x, z) = -exp(-||x - z||^2 / 2): a point is less similar to itself than to any other."""
    return -np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / 2)


@dataclass(frozen=True)
class Leaf:
    """A kernel of the list: its label, the fields of its parameters, and whether it has random features."""

    label: str
    fields: dict[str, Field]
    has_random_features: bool = True


LEAVES: dict[str, Leaf] = {
    "Gaussian": Leaf("Gaussian", {"bandwidth": _BANDWIDTH}),
    "Laplace": Leaf(
        "Laplace",
        {
            "bandwidth": _BANDWIDTH,
            "norm": ChoiceField("norm", "l2", options=(("l2", "Euclidean"), ("l1", "sum of absolute values"))),
        },
    ),
    "Cauchy": Leaf("Cauchy", {"bandwidth": _BANDWIDTH}),
    "Matern": Leaf(
        "Matérn", {"bandwidth": _BANDWIDTH, "nu": NumberField("smoothness ν", 1.5, low=0.5, high=5.5, step=0.5)}
    ),
    "RationalQuadratic": Leaf(
        "Rational quadratic",
        {"bandwidth": _BANDWIDTH, "alpha": NumberField("mixture α", 1.0, low=0.1, high=20.0, log=True)},
    ),
    "ExponentialPower": Leaf(
        "Exponential power",
        {
            "bandwidth": _BANDWIDTH,
            "p": NumberField("norm p", 2.0, low=0.5, high=2.0, step=0.1),
            "q": NumberField("power q", 1.0, low=0.1, high=2.0, step=0.1),
        },
    ),
    "Sinc": Leaf("Sinc", {"bandwidth": _BANDWIDTH, "radial": FlagField("radial", False)}),
    "Linear": Leaf("Linear", {}),
    "Polynomial": Leaf(
        "Polynomial",
        {
            "degree": NumberField("degree p", 2, low=1, high=9, step=1, whole=True),
            "offset": NumberField("offset", 1.0, low=0.0, high=10.0, step=0.1),
            "scale": NumberField("scale", 1.0, low=0.01, high=10.0, log=True),
        },
    ),
    "AllSubsets": Leaf("All subsets", {"scale": NumberField("scale", 1.0, low=0.01, high=10.0, log=True)}),
    "Anova": Leaf("ANOVA", {"degree": NumberField("degree", 2, low=1, high=2, step=1, whole=True)}),
    "Constant": Leaf("Constant", {"value": NumberField("value", 1.0, low=0.0, high=10.0, step=0.1)}),
    "one_plus_distance": Leaf("1 + distance (not Mercer)", {}, has_random_features=False),
    "negative_gaussian": Leaf("−Gaussian (not Mercer)", {}, has_random_features=False),
}
_FUNCTIONS = {"one_plus_distance": one_plus_distance, "negative_gaussian": negative_gaussian}
_COMMON: dict[str, Field] = {
    "operation": ChoiceField("operation", "+", options=(("+", "+"), ("*", "×"))),
    "weight": NumberField("weight", 1.0, low=0.001, high=1000.0, log=True),
}


@dataclass(frozen=True)
class KernelField(Field):
    """One to four terms {name, operation, weight, parameters}; "*" binds more tightly than "+"."""

    kind = "kernel"

    def check(self, name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_TERMS:
            raise RequestError(f"{name} must be a list of one to {MAX_TERMS} terms.")
        return tuple(_term(f"{name}[{i}]", term) for i, term in enumerate(value))

    def describe(self, name: str) -> dict[str, Any]:
        leaves = [
            {"name": key, "label": leaf.label, "fields": [each.describe(n) for n, each in leaf.fields.items()]}
            for key, leaf in LEAVES.items()
        ]
        common = [each.describe(n) for n, each in _COMMON.items()]
        default = [dict(term) for term in self.default]
        return {
            **super().describe(name),
            "default": default,
            "leaves": leaves,
            "common": common,
            "max_terms": MAX_TERMS,
        }


def _term(where: str, term: Any) -> tuple[tuple[str, Any], ...]:
    if not isinstance(term, dict) or not isinstance(term.get("name"), str) or term["name"] not in LEAVES:
        raise RequestError(f"{where} must be an object whose name is one of {', '.join(LEAVES)}.")
    given = {key: value for key, value in term.items() if key != "name"}
    checked = read_fields({**_COMMON, **LEAVES[term["name"]].fields}, given, where)
    return (("name", term["name"]), *checked.items())


def kernel_expression(terms: tuple[Any, ...]) -> Any:
    """Return the kernel of checked terms as an expression."""
    groups: list[Any] = []
    for i, term in enumerate(terms):
        entry = dict(term)
        leaf = _leaf(entry)
        if i and entry["operation"] == "*":
            groups[-1] = Operation("*", groups[-1], leaf)
        else:
            groups.append(leaf)
    total = groups[0]
    for group in groups[1:]:
        total = Operation("+", total, group)
    return total


def _leaf(entry: dict[str, Any]) -> Any:
    name = entry["name"]
    parameters = {key: entry[key] for key in LEAVES[name].fields}
    if name in _FUNCTIONS:
        leaf: Any = Call("Custom", (Snippet(name, _FUNCTIONS[name]),), {"vectorized": True})
    else:
        leaf = Call(name, (), parameters)
    return leaf if entry["weight"] == 1.0 else Operation("*", entry["weight"], leaf)


def functions_of(terms: tuple[Any, ...]) -> list[Any]:
    """Return the similarity functions that the code of a kernel mentions by name."""
    return [_FUNCTIONS[name] for name in dict.fromkeys(dict(term)["name"] for term in terms) if name in _FUNCTIONS]


def has_random_features(terms: tuple[Any, ...]) -> bool:
    """Whether every leaf has random features."""
    return all(LEAVES[dict(term)["name"]].has_random_features for term in terms)
