"""What the hot functions run on."""

__all__ = ["isa"]


def isa() -> str:
    """The instruction-set level of the compiled core (v2, v3, v4, baseline), or "numpy" without one."""
    return "numpy"
