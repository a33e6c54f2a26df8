"""The bits of results: arrays by their bytes, everything else by what it is made of."""

from dataclasses import fields, is_dataclass

import numpy as np


def bits(value):
    """A nested tuple that is equal for two results exactly if all of their numbers have the same bits."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (float, np.floating)):
        return "float", np.float64(value).tobytes()
    if hasattr(value, "tocsr"):
        return bits(value.toarray())
    if hasattr(value, "to_pydict"):
        return bits(value.to_pydict())
    if is_dataclass(value):
        return type(value).__name__, tuple(bits(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, dict):
        return tuple((key, bits(each)) for key, each in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return tuple(map(bits, value))
    if hasattr(value, "__dict__"):
        return type(value).__name__, bits(vars(value))
    return value


def learned_bits(estimator):
    """The bits of what an estimator has learned."""
    names = [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]
    return {name: bits(getattr(estimator, name)) for name in sorted(names)}
