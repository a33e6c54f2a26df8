"""Fitted objects as plain data and back: JSON for structure, arrays apart from it, classes by a closed list of ids.

    None, bool, int, float, str, list      themselves (floats that JSON lacks as {"float": "nan"})
    tuple, dict, set, slice, dtype         {"tuple": [...]}, {"dict": [[key, value], ...]}, ...
    arrays of numbers                      {"array": name}, of anything else {"objects": [...], "shape": [...]}
    arrays of records                      {"records": [[field, array], ...], "shape": [...], "dotted": a.field works}
    CSR matrices                           {"csr": [data, indices, indptr], "shape": [rows, columns]}
    objects                                {"type": id, "state": {attribute: value}}

Unpacking creates objects without calling their code, but for `_check_loaded`, by which a class refuses arrays that it
cannot work with. `_rebuilt` names attributes that are computed again rather than read.

Files of format 1 have {"class": module and name} instead of a type. A class that has changed since then states how to
read them: `_former` maps former names of attributes to the present ones, and `_from_former(state)` makes an object from
the former attributes.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import numpy as np
from scipy import sparse

from mercer._runtime.loaded import SCALES, WEIGHTS, require_finite
from mercer.io.registry import class_of, id_of

_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*\Z")
_NUMBERS = "biuf"
#: Deeper nesting is refused.
_MAX_DEPTH = 200
#: Memory for arrays of text and records, which may be larger than their description, beyond 4 times all other arrays.
_MAX_BYTES = 2**29
_DTYPE = re.compile(r"[<>|=]?[biufUSO]\d*\Z|bool\Z|object\Z|u?int\d+\Z|float\d+\Z")


def pack(thing: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """The tree and the arrays that `unpack` turns into an equal object."""
    packer = _Packer()
    return packer.tree(thing, type(thing).__name__), packer.arrays


def unpack(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The object that was packed. Whatever `tree` holds, nothing of it is executed."""
    return _Unpacker(arrays).thing(tree, 0)


class _Packer:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._kept: dict[int, tuple[Any, str]] = {}

    def tree(self, thing: Any, where: str) -> Any:
        if thing is None or isinstance(thing, (bool, str)):
            return str(thing) if isinstance(thing, np.str_) else thing
        if isinstance(thing, (np.ndarray, np.generic)):
            return self._numpy(thing, where)
        if isinstance(thing, int):
            return thing
        if isinstance(thing, float):
            return thing if math.isfinite(thing) else {"float": repr(thing)}
        if isinstance(thing, np.dtype):
            return {"dtype": thing.str}
        if sparse.issparse(thing):
            return self._sparse(thing, where)
        return self._container(thing, where)

    def _numpy(self, thing: Any, where: str) -> Any:
        if isinstance(thing, np.generic):
            if thing.dtype.kind not in _NUMBERS:
                return self.tree(thing.item(), where)
            return {"scalar": thing.dtype.str, "value": self.tree(thing.item(), where)}
        if thing.dtype.kind in _NUMBERS and thing.dtype.itemsize <= 8:
            return {"array": self._put(thing)}
        if thing.dtype.names:
            fields = [[name, self._numpy(np.asarray(thing[name]), f"{where}.{name}")] for name in thing.dtype.names]
            return {"records": fields, "shape": list(thing.shape), "dotted": isinstance(thing, np.recarray)}
        kind = "object" if thing.dtype.kind == "O" else thing.dtype.str
        items = [self.tree(item, f"{where}[{i}]") for i, item in enumerate(thing.ravel().tolist())]
        return {"objects": items, "shape": list(thing.shape), "dtype": kind}

    def _put(self, array: np.ndarray) -> str:
        if id(array) not in self._kept:
            name = f"a{len(self.arrays)}"
            # Arrays must outlive their identity; byte order is the machine's in memory and little-endian in the file.
            self._kept[id(array)] = array, name
            self.arrays[name] = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
        return self._kept[id(array)][1]

    def _sparse(self, matrix: Any, where: str) -> dict[str, Any]:
        csr = matrix.tocsr()
        csr = sparse.csr_matrix(
            (csr.data, csr.indices, csr.indptr), shape=csr.shape
        )  # the narrowest indices, as on loading
        parts = [self.tree(part, where) for part in (csr.data, csr.indices, csr.indptr)]
        return {"csr": parts, "shape": [int(n) for n in csr.shape]}

    def _container(self, thing: Any, where: str) -> Any:
        kind = type(thing)
        if kind is list:
            return [self.tree(item, f"{where}[{i}]") for i, item in enumerate(thing)]
        if kind in (tuple, set, frozenset):
            items = thing if kind is tuple else sorted(thing, key=repr)
            return {kind.__name__: [self.tree(item, f"{where}[{i}]") for i, item in enumerate(items)]}
        if kind is dict:
            return {"dict": [[self.tree(k, where), self.tree(v, f"{where}[{k!r}]")] for k, v in thing.items()]}
        if kind is slice:
            return {"slice": [self.tree(part, where) for part in (thing.start, thing.stop, thing.step)]}
        type_id = id_of(kind)
        if type_id is None:
            raise TypeError(
                f"{where} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold: only "
                "Mercer's own objects, numbers, strings and containers of them can be saved."
            )
        if issubclass(kind, tuple):  # a NamedTuple
            return {"type": type_id, "state": {"items": [self.tree(item, where) for item in thing]}}
        state = {key: self.tree(value, f"{where}.{key}") for key, value in self._state(thing).items()}
        return {"type": type_id, "state": state}

    def _state(self, thing: Any) -> dict[str, Any]:
        from mercer.base import NotSaved  # its module needs scikit-learn, which reading a table does not

        kind = type(thing)
        left_out, made, rebuilt = getattr(kind, "_transient", ()), _made_again(kind), _rebuilt(kind)
        state = {key: None if key in rebuilt else value for key, value in vars(thing).items()}
        return {key: NotSaved() if key in left_out else {} if key in made else value for key, value in state.items()}


def _made_again(kind: type) -> tuple[str, ...]:
    """Names of the dicts of a class that are caches of this process: in a file they are empty."""
    return getattr(kind, "_made_again", ())


def _rebuilt(kind: type) -> tuple[str, ...]:
    """Names of the attributes of a class that follow from the others: they are neither written nor read."""
    return getattr(kind, "_rebuilt", ())


class _Unpacker:
    def __init__(self, arrays: dict[str, np.ndarray]):
        self._arrays = arrays
        self._left = _MAX_BYTES + 4 * sum(array.nbytes for array in arrays.values())

    def _allocate(self, shape: Any, itemsize: int) -> None:
        """Refuse arrays that together need more memory than a file of this size can account for."""
        self._left -= math.prod(shape) * itemsize
        if self._left < 0:
            raise ValueError("The model unfolds to more memory than a file of its size can hold.")

    def thing(self, tree: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError(f"The model nests deeper than {_MAX_DEPTH} levels, which none of Mercer's does.")
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if isinstance(tree, list):
            return [self.thing(item, depth + 1) for item in tree]
        kind = next((k for k in _READERS if k in tree), None)
        if kind is None:
            raise ValueError(f"The model holds a thing of no known kind, with the keys {sorted(map(str, tree))[:5]}.")
        try:
            return _READERS[kind](self, tree, depth + 1)
        except (TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
            raise ValueError(f"The model is damaged: {kind} cannot be restored ({error}).") from error

    def _items(self, items: Any, depth: int) -> list:
        if not isinstance(items, list):
            raise TypeError("a list is missing")
        return [self.thing(item, depth) for item in items]

    def _array(self, tree: dict, depth: int) -> np.ndarray:
        return self._arrays[tree["array"]]

    def _objects(self, tree: dict, depth: int) -> np.ndarray:
        kind = object if tree["dtype"] == "object" else _text_dtype(tree["dtype"])
        self._allocate([len(tree["objects"])], np.dtype(kind).itemsize)
        flat = np.empty(len(tree["objects"]), dtype=kind)
        for i, item in enumerate(self._items(tree["objects"], depth)):
            flat[i] = item
        return flat.reshape([int(n) for n in tree["shape"]])

    def _records(self, tree: dict, depth: int) -> np.ndarray:
        shape = tuple(int(n) for n in tree["shape"])
        fields = [(str(name), self.thing(column, depth)) for name, column in tree["records"]]
        if any(column.shape[: len(shape)] != shape for _, column in fields):
            raise TypeError("its fields are of different shapes")
        for _, column in fields:
            self._allocate(column.shape, column.itemsize)
        records = np.empty(shape, [(name, column.dtype, column.shape[len(shape) :]) for name, column in fields])
        for name, column in fields:
            records[name] = column
        return records.view(np.recarray) if tree["dotted"] else records

    def _scalar(self, tree: dict, depth: int) -> Any:
        return _number_dtype(tree["scalar"]).type(self.thing(tree["value"], depth))

    def _csr(self, tree: dict, depth: int) -> sparse.csr_matrix:
        parts = tuple(self._items(tree["csr"], depth))
        matrix = sparse.csr_matrix(parts, shape=tuple(int(n) for n in tree["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def _float(self, tree: dict, depth: int) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[tree["float"]]

    def _object(self, tree: dict, depth: int) -> Any:
        kind: Any = class_of(tree["type"])
        state = self._state(tree)
        if issubclass(kind, tuple):
            return _checked(kind._make(self._items(state["items"], depth)))
        values = {key: self._value(kind, key, value, depth) for key, value in state.items()}
        lacking = {key: value for key, value in _default_parameters(kind).items() if key not in values}
        return self._made(kind, values | lacking)

    def _former_object(self, tree: dict, depth: int) -> Any:
        """An object of a file of format 1, with the present attributes of its class."""
        kind: Any = class_of(tree["class"], former=True)
        state = self._state(tree)
        if issubclass(kind, tuple):
            return _checked(kind._make(self._items(state["items"], depth)))
        renamed = getattr(kind, "_former", {})
        values = {renamed.get(key, key): self._value(kind, key, value, depth) for key, value in state.items()}
        convert = getattr(kind, "_from_former", None)
        return self._made(kind, _default_parameters(kind) | values) if convert is None else _checked(convert(values))

    def _state(self, tree: dict) -> dict[str, Any]:
        if not isinstance(tree["state"], dict):
            raise TypeError("its state is missing")
        return tree["state"]

    def _value(self, kind: type, key: str, value: Any, depth: int) -> Any:
        if not _ATTRIBUTE.match(key) or (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"The model gives a {kind.__name__} an attribute {key!r}, which it cannot have.")
        if key in _rebuilt(kind):
            return None
        found = {} if key in _made_again(kind) else self.thing(value, depth)
        if key in WEIGHTS or key in SCALES:
            require_finite(f"{kind.__name__}.{key}", found, infinite=key in SCALES)
        return found

    def _made(self, kind: type, values: dict[str, Any]) -> Any:
        thing: Any = object.__new__(kind)
        vars(thing).update(values)
        return _checked(thing)


def _checked(thing: Any) -> Any:
    """The object after the checks of its class: those of its parameters and of what it has learned."""
    for name in ("_check_parameters", "_check_loaded"):
        check = getattr(thing, name, None)
        if check is not None:
            check()
    return thing


def _default_parameters(kind: type) -> dict[str, Any]:
    """The default of each parameter of an estimator: a file lacks those that were added after it was written."""
    takes_some = hasattr(kind, "get_params") and kind.__init__ is not object.__init__  # type: ignore[misc]
    parameters = inspect.signature(kind).parameters.values() if takes_some else ()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def _number_dtype(text: Any) -> np.dtype:
    kind = _any_dtype(text)
    if kind.kind not in _NUMBERS:
        raise ValueError(f"The model holds a number of the unknown kind {text!r}.")
    return kind


def _text_dtype(text: Any) -> np.dtype:
    kind = _any_dtype(text)
    if kind.kind not in "US" or kind.itemsize > 2**20:
        raise ValueError(f"The model holds strings of the unknown kind {text!r}.")
    return kind


_READERS = {
    "type": _Unpacker._object,
    "class": _Unpacker._former_object,
    "array": _Unpacker._array,
    "objects": _Unpacker._objects,
    "records": _Unpacker._records,
    "scalar": _Unpacker._scalar,
    "csr": _Unpacker._csr,
    "float": _Unpacker._float,
    "tuple": lambda self, tree, depth: tuple(self._items(tree["tuple"], depth)),
    "set": lambda self, tree, depth: set(self._items(tree["set"], depth)),
    "frozenset": lambda self, tree, depth: frozenset(self._items(tree["frozenset"], depth)),
    "dict": lambda self, tree, depth: dict(self._items(pair, depth) for pair in tree["dict"]),
    "slice": lambda self, tree, depth: slice(*self._items(tree["slice"], depth)),
    "dtype": lambda self, tree, depth: _any_dtype(tree["dtype"]),
}


def _any_dtype(text: Any) -> np.dtype:
    if not isinstance(text, str) or not _DTYPE.match(text):  # NumPy evaluates other strings
        raise ValueError(f"The model names the unknown dtype {text!r}.")
    return np.dtype(text)
