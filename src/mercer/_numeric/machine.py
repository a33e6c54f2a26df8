"""What the compiled core runs on, and what can end its loops."""

from collections.abc import Callable

__all__ = ["call_in_loops", "isa"]


def isa() -> str:
    """Return the instruction-set level of the compiled core (v2, v3, v4, baseline), or "numpy" without one."""
    return "numpy"


def call_in_loops(function: Callable[[], None]) -> None:
    """Set the function that long compiled loops call now and then; Python interrupts the definitions by itself."""
