"""States as bytes and back. Loading creates objects of Mercer, arrays and tables, and calls nothing else.

The bytes are those that engines send (`mercer.source.shipping`), in the format of pickle, which by itself calls any
function that a file names. Here a file may name classes of Mercer, whose constructors are not called, and a closed list
of functions that rebuild arrays, tables and values of the standard library.
"""

from __future__ import annotations

import hashlib
import pickle
from importlib import import_module
from io import BufferedReader
from typing import Any, BinaryIO, ClassVar

from mercer.source.shipping import dump, dumps

__all__ = ["dump_hashed", "dumps", "load_hashed", "load_state"]

#: Length of a SHA-256 in hexadecimal.
_DIGITS = 64

#: What may be called, by module: with any arguments they make a value and have no other effect.
_CALLED = {
    "builtins": ("set", "frozenset", "slice", "complex", "bytearray"),
    "collections": ("OrderedDict", "Counter", "deque"),
    "datetime": ("date", "datetime", "timedelta", "timezone"),
    "mercer.source.shipping": ("_nothing", "_laid_out", "_read_array", "_read_table"),
    "mercer.source.table": ("Columns",),
    "numpy": ("dtype",),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.numeric": ("_frombuffer",),
    "numpy.core.numeric": ("_frombuffer",),
    "threading": ("local", "Lock"),
}
#: Classes of other packages whose objects are made without a call.
_CREATED = {
    "builtins": ("object", "tuple", "list", "dict", "str", "int", "float", "bool"),
    "numpy": ("ndarray", "recarray"),
    "scipy.sparse._csr": ("csr_matrix", "csr_array"),
}
_REFUSED = (pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.PERSID, pickle.BINPERSID)


class StateUnpickler(pickle._Unpickler):  # the one in Python: the other decides by itself what a file may call
    """Restores a state; anything that is not on the lists above is an error."""

    dispatch: ClassVar[Any] = dict(pickle._Unpickler.dispatch)
    stack: Any

    def find_class(self, module: str, name: str) -> Any:
        known = name in _CALLED.get(module, ()) or name in _CREATED.get(module, ())
        if not known and module.split(".")[0] != "mercer":
            raise pickle.UnpicklingError(f"a checkpoint cannot hold {module}.{name}")
        found = getattr(import_module(module), name, None)
        if name in _CALLED.get(module, ()):
            self.called = [*getattr(self, "called", ()), found]
        if not known and not (isinstance(found, type) and found.__module__.split(".")[0] == "mercer"):
            raise pickle.UnpicklingError(f"{module}.{name} is no class of Mercer")
        return found

    def load_reduce(self) -> None:
        if not any(self.stack[-2] is each for each in getattr(self, "called", ())):
            raise pickle.UnpicklingError(f"a checkpoint cannot call {self.stack[-2]!r}")
        super().load_reduce()  # type: ignore[misc]

    def refuse(self) -> None:
        """Refuse an instruction that `dumps` never writes."""
        raise pickle.UnpicklingError("a checkpoint holds plain states")

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch.update(dict.fromkeys((opcode[0] for opcode in _REFUSED), refuse))


class _Hashed:
    """A file that hashes what is written to it."""

    def __init__(self, file: BinaryIO):
        self.file, self.digest = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.file.write(data)


def dump_hashed(value: Any, file: BinaryIO) -> None:
    """Write the SHA-256 of the bytes of a value, a line end, and the bytes; large arrays are not copied."""
    file.write(b"0" * _DIGITS + b"\n")
    out = _Hashed(file)
    dump(value, out)
    file.seek(0)
    file.write(out.digest.hexdigest().encode())


def load_hashed(file: BufferedReader) -> Any:
    """The value of `dump_hashed`; `pickle.UnpicklingError` if the bytes are others than were written."""
    known = file.readline(_DIGITS + 1)
    if hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n" != known:
        raise pickle.UnpicklingError("the bytes have another hash")
    file.seek(_DIGITS + 1)
    return load_state(file)


def load_state(file: BinaryIO) -> Any:
    """The value of `dumps` in a file, its arrays aligned; `pickle.UnpicklingError` for any other bytes."""
    try:
        return StateUnpickler(file).load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # damaged bytes fail in any way
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from error
