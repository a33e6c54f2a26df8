"""Fuzzers in Python: model loader, sniffer of text tables, arguments of compiled functions.

`python -m fuzzing loader|sniffer|arguments FIRST LAST` runs the cases of these seeds and prints one line of JSON: the
number of executions and the findings. `make sanitize` runs them on the core built with sanitizers, which end the
process at a bad access to memory; a file named by MERCER_FUZZ_LOG then holds the seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from safetensors.numpy import load as load_arrays

from tampering import _ODD, _WHOLE, _changed_array, _changed_tree, unpack_golden

SECONDS = 20  # per execution
MAX_MANIFEST, MAX_ARRAYS = 4000, 20_000
Fuzzer = Callable[[np.random.Generator], None]


def loader() -> Fuzzer:
    """Changed models and arrays in memory, with the checks of loading: a model, or DataError."""
    from mercer._runtime.errors import DataError
    from mercer.io.save import restored

    models = list(_small_models())

    def run(rng: np.random.Generator) -> None:
        text, arrays = models[rng.integers(len(models))]
        tree, arrays = json.loads(text), dict(arrays)
        for _ in range(rng.integers(1, 4)):
            if arrays and rng.random() < 0.6:
                name = list(arrays)[rng.integers(len(arrays))]
                arrays[name] = _changed_array(arrays[name], rng)[0]
            elif isinstance(tree, dict) and tree:
                tree = _changed_tree(tree, rng)[0]
        with contextlib.suppress(DataError):
            restored("fuzzed", {"model": tree}, arrays)

    return run


def _small_models() -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    with tempfile.TemporaryDirectory() as folder:
        for case in unpack_golden(folder):
            with zipfile.ZipFile(os.path.join(folder, case["file"])) as archive:
                manifest, blob = archive.read("manifest.json"), archive.read("arrays.safetensors")
            text = json.dumps(json.loads(manifest)["model"])
            if len(text) < MAX_MANIFEST and len(blob) < MAX_ARRAYS:
                yield text, load_arrays(blob)


_TABLES = [
    b'a,b,c\n1,2.5,x\n3,4,"y, z"\n',
    b"name;wert\nx;1,5\ny;2,25\n",
    b"a\tb\n1\t2\n",
    b"# a comment\n# another\na|b\n1|2\n",
    b"'a','b'\n'x','1'\n'y, z','2'\n",
    b'a, b, c\n1, 2, 3\n4, "x", 6\n',
    "Straße,größe\nä,1\n".encode("cp1252"),
    "\ufeffa,b\nΣ,1\n".encode(),
    "a,b\nx,1\n".encode("utf-16"),
    b'a,b\r\n"x\r\ny",1\r\n""" ""q",2\r\n',
]
_PARTS = [
    b'"',
    b"'",
    b",",
    b";",
    b"\t",
    b"|",
    b"\n",
    b"\r",
    b"\r\n",
    b"#",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"1.5",
    b'""',
]


def sniffer() -> Fuzzer:
    """Changed tables: a dialect or an error of Mercer; quotes are proved the same in any blocks."""
    from mercer._runtime.errors import MercerError
    from mercer.io.checks.quotes import QuoteProof
    from mercer.io.dialect import dialect_of

    def run(rng: np.random.Generator) -> None:
        data = _mutated(_TABLES[rng.integers(len(_TABLES))], rng)
        try:
            dialect = dialect_of(data, "fuzzed")
        except MercerError:
            dialect = None
        delimiter, quote = (dialect.delimiter, dialect.quote) if dialect else (",", '"')
        whole, parts = QuoteProof(delimiter, quote), QuoteProof(delimiter, quote)
        whole.update(data)
        at = int(rng.integers(len(data) + 1))
        for part in (data[:at], data[at:]):
            parts.update(part)
        if not data.startswith(b"\xef\xbb\xbf"[: max(at, 1)]):  # blocks of a megabyte do not cut it
            assert whole.finish() == parts.finish(), data

    return run


def _mutated(data: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(rng.integers(1, 6)):
        at, length, kind = int(rng.integers(len(data) + 1)), int(rng.integers(1, 6)), rng.integers(5)
        if kind == 0:
            data = data[:at] + data[at + length :]
        elif kind == 1:
            data = data[:at] + _PARTS[rng.integers(len(_PARTS))] + data[at:]
        elif kind == 2:
            data = data[:at] + rng.bytes(length) + data[at:]
        elif kind == 3:
            data = data[: at + length] + data[at:]
        else:
            data = data[:at] + _PARTS[rng.integers(len(_PARTS))] + data[at + length :]
    return data


def arguments() -> Fuzzer:
    """Compiled functions with changed arguments: a result, or an error, never a bad access to memory."""
    calls = [call for each in _recorded_calls().values() for call in each]

    def run(rng: np.random.Generator) -> None:
        function, values = calls[rng.integers(len(calls))]
        values = [_copied(value) for value in values]
        for _ in range(rng.integers(1, 3)):
            at = int(rng.integers(len(values)))
            values[at] = _changed_argument(values[at], rng)
        with contextlib.suppress(ValueError, TypeError, MemoryError, OverflowError, IndexError, RuntimeError):
            function(*values)

    return run


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_copied(each) for each in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _changed_argument(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, np.ndarray):
        return _changed_array(value, rng)[0]
    if isinstance(value, (list, tuple)) and value:
        items = list(value)
        at = int(rng.integers(len(items)))
        items[at] = _changed_argument(items[at], rng)
        return type(value)(items)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return [*_WHOLE[:4], value + 1, value - 1, 2 * value][rng.integers(7)]
    return float(_ODD[rng.integers(len(_ODD))]) if isinstance(value, float) else value


def _recorded_calls() -> dict[str, list[tuple[Callable, list]]]:
    """Calls of compiled functions with small arguments, recorded while estimators are fitted."""
    from mercer import _numeric

    native: Any = _numeric._native_module
    names = [name for name in _numeric.__all__ if callable(getattr(native, name, None))]
    recorded: dict[str, list[tuple[Callable, list]]] = defaultdict(list)

    def recorder(name: str, function: Callable) -> Callable:
        def call(*args: Any, **options: Any) -> Any:
            small = sum(getattr(value, "nbytes", 0) for value in args) < 20_000 or name == "text_units"
            if not options and small and len(recorded[name]) < 4:
                recorded[name].append((function, [_copied(value) for value in args]))
            return function(*args, **options)

        return call

    for name in names:
        setattr(_numeric, name, recorder(name, getattr(native, name)))
    _use_everything()
    for name in names:
        setattr(_numeric, name, getattr(native, name))
    return recorded


def _use_everything() -> None:
    """Fit and apply every golden model's class on small inputs, and a few functions that models do not call."""
    import mercer
    from mercer.io import load

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in unpack_golden(folder):
            model = load(os.path.join(folder, case["file"]))
            inputs = case["inputs"]
            inputs = np.array(inputs) if isinstance(inputs, list) and isinstance(inputs[0], list) else inputs
            getattr(model, case["method"])(inputs)
            fresh = type(model)(**model.get_params(deep=False)) if hasattr(model, "get_params") else None
            with contextlib.suppress(ValueError, TypeError):
                if fresh is not None:
                    fresh.fit(inputs, rng.normal(size=len(inputs)) > 0)
        X = rng.normal(size=(120, 3))
        mercer.fit(X, X[:, 0] * X[:, 1], effort="fast").predict(X)


FUZZERS = {"loader": loader, "sniffer": sniffer, "arguments": arguments}


def fuzz(name: str, first: int, last: int) -> dict[str, Any]:
    """Run the cases of some seeds."""
    run, findings, log = FUZZERS[name](), [], os.environ.get("MERCER_FUZZ_LOG")
    signal.signal(signal.SIGALRM, _too_long)
    file = os.open(log, os.O_WRONLY | os.O_CREAT) if log else -1
    for seed in range(first, last):
        if file >= 0:
            os.pwrite(file, b"%20d\n" % seed, 0)
        signal.alarm(SECONDS)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                run(np.random.default_rng(seed))
        except BaseException:
            findings.append({"seed": seed, "error": traceback.format_exc()[-1500:]})
        signal.alarm(0)
    return {"fuzzer": name, "executions": last - first, "findings": findings}


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


if __name__ == "__main__":
    print(json.dumps(fuzz(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
