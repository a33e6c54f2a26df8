"""Objects as bytes for other processes: functions by value, arrays in aligned memory, tables without unused rows.

An array that arrives in the buffer of a message may be unaligned, and a matrix product of unaligned arrays is computed
by another routine with other rounding. So arrays travel inside one string of bytes and are copied out of it when they
are loaded. Arrays that are not contiguous keep the order and the direction of their axes for the same reason.
"""

from __future__ import annotations

import io
import pickle
import threading
from functools import cache
from typing import Any

import numpy as np

_LOCK = type(threading.Lock())


def dumps(value: Any) -> bytes:
    """The bytes of a value: lambdas and closures too, which plain pickle refuses."""
    out = io.BytesIO()
    dump(value, out)
    return out.getvalue()


def dump(value: Any, file: Any) -> None:
    """Write the bytes of `dumps` to a file, large arrays without a copy."""
    _pickler()(file, protocol=5).dump(value)


def loads(data: bytes | bytearray | memoryview) -> Any:
    """The value of `dumps`, its arrays aligned."""
    return pickle.loads(data)


class Shipped:
    """A value that travels as the bytes of `dumps`, whichever way the object itself is sent."""

    def __init__(self, value: Any):
        self.value = value

    @classmethod
    def of(cls, data: bytes | bytearray | memoryview) -> Shipped:
        """The value of these bytes."""
        return cls(loads(data))

    def __reduce_ex__(self, protocol: Any) -> tuple:
        data = dumps(self.value)
        return Shipped.of, (pickle.PickleBuffer(data) if protocol >= 5 else data,)  # sent without another copy

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + _array_bytes(self.value)  # what a scheduler weighs before it moves a state


def _array_bytes(value: Any) -> int:
    """Bytes of the arrays in a value, its attributes and its items."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple)):
        return sum(_array_bytes(item) for item in value)
    if isinstance(value, dict):
        return sum(_array_bytes(item) for item in value.values())
    return _array_bytes(vars(value)) if hasattr(value, "absorb") else 0


@cache
def _pickler() -> type:
    """The pickler of `dumps`, made when it is first needed: cloudpickle takes a while to import."""
    import cloudpickle

    class ShippingPickler(cloudpickle.Pickler):
        """Pickles functions by value, and objects of `_reduced` in their own way."""

        def reducer_override(self, obj: Any) -> Any:
            reduced = _reduced(obj)
            return super().reducer_override(obj) if reduced is NotImplemented else reduced

    return ShippingPickler


def _reduced(obj: Any) -> Any:
    """Instructions to rebuild an object, where they differ from those of pickle."""
    if getattr(type(obj), "stays_here", False):  # statistics and sources that a fitted map keeps for a later fit
        return _nothing, ()
    if type(obj) is threading.local:
        return threading.local, ()
    if type(obj) is _LOCK:
        return threading.Lock, ()
    if type(obj) is np.ndarray and not (obj.flags.c_contiguous or obj.flags.f_contiguous):
        return _laid_out, _layout(obj)
    if type(obj).__module__ == "pyarrow.lib" and type(obj).__name__ == "Table":
        return _read_table, (_written(obj),)  # pickle would send the whole buffers of a slice
    if type(obj).__module__ == "pyarrow.lib" and type(obj).__name__.endswith("Array"):
        return _read_array, (_written(_as_table(obj)), type(obj).__name__ == "ChunkedArray")
    return NotImplemented


def _nothing() -> None:
    return None


def _layout(array: np.ndarray) -> tuple[np.ndarray, list[int], list[bool], bool]:
    """A contiguous copy with the slowest axis first, the order of its axes, which run backward, and whether of unit
    stride."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    backward = [array.strides[axis] < 0 for axis in order]
    forward = array.transpose(order)[tuple(slice(None, None, -1 if back else 1) for back in backward)]
    return np.ascontiguousarray(forward), order, backward, abs(array.strides[order[-1]]) <= array.itemsize


def _laid_out(values: np.ndarray, order: list[int], backward: list[bool], unit: bool) -> np.ndarray:
    """The array of `_layout`."""
    if not unit:
        gaps = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        gaps[..., ::2] = values
        values = gaps[..., ::2]
    values = values[tuple(slice(None, None, -1 if back else 1) for back in backward)]
    return values.transpose(np.argsort(order))


def _written(table: Any) -> bytes:
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


def _as_table(array: Any) -> Any:
    import pyarrow as pa

    return pa.table({"": array})


def _read_array(data: bytes, chunked: bool) -> Any:
    column = _read_table(data).column(0)
    return column if chunked else column.combine_chunks()


def _read_table(data: bytes) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
