"""Numerical functions on arrays: a NumPy definition of each, replaced by its compiled twin where available.

Each module of `FAMILIES` defines functions and lists them in ``__all__``. A function of the same name in the compiled
module ``_native`` replaces the definition here; ``compiled`` tells whether that module was loaded. The environment
variable ``MERCER_PURE=1`` keeps the definitions; ``MERCER_ISA=v2|v3`` limits the compiled code to a lower instruction
set.
"""

import os
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

from mercer._runtime.pool import raise_if_canceled

#: Modules of definitions as folder.family; native/families.txt lists the same families.
FAMILIES = (
    "machine",
    "hashing.names",
    "hashing.splitmix",
    "linalg.exact_sums",
    "linalg.outer",
    "linalg.products",
    "linalg.scatter",
    "linalg.thin",
    "sketch.hadamard",
    "sketch.monomials",
    "sketch.projection",
    "sketch.trig",
    "solvers.descent",
    "solvers.dual",
    "solvers.lasso",
    "solvers.omp",
    "text.ngrams",
    "text.sequences",
    "trees.binning",
    "trees.boosting",
    "trees.grower",
    "trees.histograms",
    "trees.prediction",
)
definitions: tuple[ModuleType, ...] = tuple(import_module(f"{__name__}.{family}") for family in FAMILIES)


class PureDefinitionsWarning(UserWarning):
    """The compiled core is missing; the slower NumPy definitions are used."""


def _load_native() -> ModuleType | None:
    if os.environ.get("MERCER_PURE", "") not in ("", "0"):
        return None
    try:
        from . import _native
    except ImportError as error:
        warnings.warn(
            "Mercer runs on its pure NumPy definitions, which are slower: its compiled core could not be "
            f"imported ({error}). Reinstall with a C++20 compiler, or set MERCER_PURE=1 to silence this.",
            PureDefinitionsWarning,
            stacklevel=3,
        )
        return None
    return _native


def _functions(native: ModuleType | None) -> dict[str, Any]:
    """Map each name to its compiled function where there is one, else to its definition."""
    defined = {name: getattr(module, name) for module in definitions for name in module.__all__}
    return {name: getattr(native, name, function) for name, function in defined.items()}


def __getattr__(name: str) -> Any:  # tells type checkers that the functions below exist
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_native_module = _load_native()
compiled = _native_module is not None
globals().update(_functions(_native_module))
globals()["call_in_loops"](raise_if_canceled)

__all__ = ["FAMILIES", "PureDefinitionsWarning", "compiled", "definitions"]
__all__ += [name for module in definitions for name in module.__all__]
