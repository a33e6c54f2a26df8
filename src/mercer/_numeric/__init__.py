"""Arrays in, arrays out: the NumPy definition of every hot function, or its compiled twin where there is one.

Each module of this folder defines functions and lists them in ``__all__``. A function of the same name in
the compiled module ``_native`` takes its place here; ``compiled`` says whether that module was loaded. The
environment variable ``MERCER_PURE=1`` keeps the definitions; ``MERCER_ISA=v2|v3`` holds the compiled code
to a lower instruction set.
"""

import os
import sys
import warnings
from types import ModuleType

# A new family adds itself in two places: the star imports and `definitions`.
from .bins import *  # noqa: F403
from .descent import *  # noqa: F403
from .dual import *  # noqa: F403
from .hadamard import *  # noqa: F403
from .hashing import *  # noqa: F403
from .lasso import *  # noqa: F403
from .machine import *  # noqa: F403
from .monomials import *  # noqa: F403
from .names import *  # noqa: F403
from .ngrams import *  # noqa: F403
from .omp import *  # noqa: F403
from .outer import *  # noqa: F403
from .projection import *  # noqa: F403
from .rounds import *  # noqa: F403
from .scatter import *  # noqa: F403
from .sequences import *  # noqa: F403
from .serving import *  # noqa: F403
from .sums import *  # noqa: F403
from .thin import *  # noqa: F403
from .trees import *  # noqa: F403
from .trig import *  # noqa: F403

#: The modules of definitions, from `sys.modules` because a function may hide the module it is named like.
definitions: tuple[ModuleType, ...] = tuple(
    sys.modules[f"{__name__}.{name}"]
    for name in (
        "bins",
        "descent",
        "dual",
        "hadamard",
        "hashing",
        "lasso",
        "machine",
        "monomials",
        "names",
        "ngrams",
        "omp",
        "outer",
        "projection",
        "rounds",
        "scatter",
        "sequences",
        "serving",
        "sums",
        "thin",
        "trees",
        "trig",
    )
)


class PureDefinitionsWarning(UserWarning):
    """The compiled core is missing: everything works, more slowly."""


def _load_native() -> ModuleType | None:
    if os.environ.get("MERCER_PURE", "") not in ("", "0"):
        return None
    try:
        from . import _native  # type: ignore[attr-defined]
    except ImportError as error:
        warnings.warn(
            "Mercer runs on its pure NumPy definitions, which are slower: its compiled core could not be "
            f"imported ({error}). Reinstall with a C++20 compiler, or set MERCER_PURE=1 to silence this.",
            PureDefinitionsWarning,
            stacklevel=3,
        )
        return None
    return _native


def _twins(native: ModuleType | None) -> dict[str, object]:
    """The compiled function of every defined name that has one."""
    names = [name for module in definitions for name in module.__all__]
    return {name: getattr(native, name) for name in names if hasattr(native, name)}


_native_module = _load_native()
compiled = _native_module is not None
globals().update(_twins(_native_module))

__all__ = ["PureDefinitionsWarning", "compiled", "definitions"]
__all__ += [name for module in definitions for name in module.__all__]
