"""The instruction set of the compiled core."""

__all__ = ["isa"]


def isa() -> str:
    """Return the instruction-set level of the compiled core (v2, v3, v4, baseline), or "numpy" without one."""
    return "numpy"
