"""Mercer: features that make linear models strong.

The names of a first session are here (`mercer.read`, `mercer.RandomFeatures`, ...); the rest is in the submodules.
Everything loads when it is first used, so `import mercer` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers know this name; importing `typing` for it would double the cost of `import mercer`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mercer import (
        auto,
        bounds,
        expand,
        io,
        kernels,
        learn,
        linear,
        machines,
        normalize,
        project,
        select,
        source,
        stats,
        tables,
        text,
    )
    from mercer.auto import MercerClassifier, MercerRegressor, Model, fit
    from mercer.expand import Landmarks, RandomFeatures, lift
    from mercer.io.read import read
    from mercer.io.table import read_table
    from mercer.kernels import Gaussian, Laplace, Matern, Polynomial, check_mercer
    from mercer.linear import LogisticClassifier, RidgeClassifier, RidgeRegressor
    from mercer.normalize import Impute, OneHot, Quantile, Standardize
    from mercer.tables import TableEncoder

    __version__: str

_SUBMODULES = {
    "auto",
    "bounds",
    "expand",
    "io",
    "kernels",
    "learn",
    "linear",
    "machines",
    "normalize",
    "project",
    "select",
    "source",
    "stats",
    "tables",
    "text",
}

#: Where each name lives.
_HOMES = {
    "MercerClassifier": "mercer.auto",
    "MercerRegressor": "mercer.auto",
    "Model": "mercer.auto",
    "fit": "mercer.auto",
    "read": "mercer.io",
    "read_table": "mercer.io",
    "TableEncoder": "mercer.tables",
    "Impute": "mercer.normalize",
    "OneHot": "mercer.normalize",
    "Quantile": "mercer.normalize",
    "Standardize": "mercer.normalize",
    "Gaussian": "mercer.kernels",
    "Laplace": "mercer.kernels",
    "Matern": "mercer.kernels",
    "Polynomial": "mercer.kernels",
    "check_mercer": "mercer.kernels",
    "Landmarks": "mercer.expand",
    "RandomFeatures": "mercer.expand",
    "lift": "mercer.expand",
    "LogisticClassifier": "mercer.linear",
    "RidgeClassifier": "mercer.linear",
    "RidgeRegressor": "mercer.linear",
}

__all__ = [
    "Gaussian",
    "Impute",
    "Landmarks",
    "Laplace",
    "LogisticClassifier",
    "Matern",
    "MercerClassifier",
    "MercerRegressor",
    "Model",
    "OneHot",
    "Polynomial",
    "Quantile",
    "RandomFeatures",
    "RidgeClassifier",
    "RidgeRegressor",
    "Standardize",
    "TableEncoder",
    "auto",
    "bounds",
    "check_mercer",
    "expand",
    "fit",
    "io",
    "kernels",
    "learn",
    "lift",
    "linear",
    "machines",
    "normalize",
    "project",
    "read",
    "read_table",
    "select",
    "source",
    "stats",
    "tables",
    "text",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"mercer.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("mercer")
    else:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
