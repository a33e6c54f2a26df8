"""Tampered model files: golden files with changed arrays or manifests and mended checksums, loaded and applied.

`python -m tampering FIRST LAST FOLDER [strict]` runs the cases of these seeds and writes one line of JSON for each. An
audit hook ends the process if a file causes code to be executed, a process or a connection to be started, or a file to
be written; if strict, also if it causes any module to be imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

GOLDEN = Path(__file__).parent / "io" / "golden" / "format-2.tar.xz"
MAX_BYTES = 4 * 2**30  # of addresses; the libraries alone take 1 GB of them
# No number beyond the square root of the largest: a loader cannot know that a sum will overflow.
_WHOLE = [0, -1, 1, 7, 2**15, 2**31 - 1, 2**31, -(2**31), 2**40, 2**62, -(2**63)]
_ODD = [*_WHOLE, float("nan"), float("inf"), 1e9, -1e-300]
_FORBIDDEN = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.", "ctypes.")


def unpack_golden(folder: str) -> list[dict]:
    """The descriptions of the golden files, which are unpacked to `folder`."""
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(folder, filter="data")
    return json.loads((Path(folder) / "cases.json").read_text())


def tamper(path: str, out: str, rng: np.random.Generator) -> str:
    """Write a changed copy of a model file with the right checksum; return what was changed."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = load_arrays(archive.read("arrays.safetensors"))
    if arrays and rng.random() < 0.7:
        name = str(rng.choice(sorted(arrays)))
        arrays[name], what = _changed_array(arrays[name], rng)
        what = f"{name}: {what}"
    else:
        manifest["model"], what = _changed_tree(manifest["model"], rng)
    blob = save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    manifest["sha256"] = {"arrays.safetensors": hashlib.sha256(blob).hexdigest()}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("arrays.safetensors", blob)
    return what


def _changed_array(array: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    how = str(rng.choice(["one", "all", "bytes", "short", "long", "empty", "dtype", "shuffle", "transpose", "scalar"]))
    array = array.copy()
    flat = array.reshape(-1)
    if how in ("one", "all") and array.size:
        value = _ODD[int(rng.integers(len(_ODD)))]
        with np.errstate(all="ignore"):
            odd = np.array(value).astype(array.dtype)
        flat[int(rng.integers(array.size)) if how == "one" else slice(None)] = odd
        return array, f"{how} = {odd!r}"
    if how == "bytes" and array.size and array.dtype != bool:
        raw = flat.view(np.uint8)
        at = rng.integers(len(raw), size=max(1, len(raw) // 4))
        # Not the exponents of floats, see above.
        raw[at[at % array.itemsize < array.itemsize - 2 * (array.dtype.kind == "f")]] = rng.integers(256)
        return array, how
    if how == "short":
        return array[: len(array) // 2] if array.ndim else array, how
    if how == "long":
        return np.concatenate([array, array]) if array.ndim else array, how
    if how == "dtype":
        kind = str(rng.choice(["float32", "float64", "int8", "int64", "uint64"]))
        with np.errstate(all="ignore"):
            return array.astype(kind), f"{how} {kind}"
    if how == "shuffle":
        rng.shuffle(flat)
        return array, how
    if how == "transpose":
        return np.ascontiguousarray(array.T), how
    if how == "scalar":
        return flat[:1].reshape(()) if array.size else array, how
    return array[:0] if array.ndim else array, how


def _changed_tree(tree: object, rng: np.random.Generator) -> tuple[object, str]:
    """The tree with one leaf or branch changed."""
    spots: list[tuple] = []

    def walk(node: object) -> None:
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            spots.append((node, key))
            walk(node[key])  # type: ignore[index]

    walk(tree)
    node, key = spots[int(rng.integers(len(spots)))]
    others = [*_WHOLE, "x", None, [], {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"array": "a0"}, True]
    how = str(rng.choice(["value", "value", "value", "delete", "swap"]))
    if how == "delete":
        del node[key]
        return tree, f"delete {key!r}"
    if how == "swap":
        other, there = spots[int(rng.integers(len(spots)))]
        node[key], other[there] = json.loads(json.dumps(other[there])), json.loads(json.dumps(node[key]))
        return tree, f"swap {key!r} and {there!r}"
    node[key] = others[int(rng.integers(len(others)))]
    return tree, f"{key!r} = {node[key]!r}"


def run(seed: int, cases: list[dict], folder: str) -> dict:
    """The outcome of one case: a class of error, or "model", with the time and whether all outputs were finite."""
    from mercer.io import load

    rng = np.random.default_rng(seed)
    case = cases[int(rng.integers(len(cases)))]
    path, tampered = os.path.join(folder, case["file"]), os.path.join(folder, f"tampered-{os.getpid()}.mercer")
    _apply(load(path), case)  # imports what this model needs
    what = tamper(path, tampered, rng)
    begin, cpu, peak, stage, result = time.perf_counter(), time.process_time(), _peak(), "load", {}
    print(json.dumps({"begin": seed, "file": case["file"], "change": what}), flush=True)
    try:
        _Guard.armed = True
        model = load(tampered)
        stage = "apply"
        result["finite"] = _finite(_apply(model, case))
        stage = "done"
    except BaseException as error:
        result |= {"error": type(error).__name__, "message": str(error)[:300]}
    finally:
        _Guard.armed = False
    cost = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu, "megabytes": _peak() - peak}
    return {"seed": seed, "file": case["file"], "change": what, "stage": stage, **cost, **result}


def _peak() -> float:
    """The largest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _apply(model: object, case: dict) -> object:
    inputs = case["inputs"]
    inputs = np.array(inputs) if isinstance(inputs, list) and isinstance(inputs[0], list) else inputs
    return getattr(model, case["method"])(inputs)


def _finite(output: object) -> bool:
    values = np.asarray(output.data if hasattr(output, "toarray") else output)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


class _Guard:
    """An audit hook that refuses what no model file may cause."""

    armed = strict = False

    def __call__(self, event: str, args: tuple) -> None:
        if not _Guard.armed:
            return
        writes = event == "open" and isinstance(args[1], str) and any(letter in args[1] for letter in "wax+")
        imports = _Guard.strict and event == "import" and args[0] not in sys.modules
        if (
            writes
            or imports
            or event.startswith(_FORBIDDEN)
            or (event in ("exec", "compile") and not _is_module(event, args))
        ):
            _Guard.armed = False
            os.write(2, f"forbidden: {event} {args!r:.200}\n".encode())
            os._exit(66)


def _is_module(event: str, args: tuple) -> bool:
    """Whether this is the code of an installed module, which the libraries import on demand, or of a named tuple."""
    if event == "exec":
        return os.path.isfile(args[0].co_filename) or args[0].co_names == ("_tuple_new",) or not args[0].co_names
    return os.path.isfile(os.fspath(args[1] or "")) or bytes(args[0] or b"").startswith(b"lambda _cls, ")


def _import_all(cases: list[dict], folder: str) -> None:
    """Import every class that a file may name, and what models need to be applied."""
    from mercer.io import load
    from mercer.io.registry import TYPES, class_of

    for name in TYPES:
        class_of(name)
    for case in cases:
        _apply(load(os.path.join(folder, case["file"])), case)


def main() -> None:
    """Run the cases from the first to the last seed."""
    first, last, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    cases = unpack_golden(folder)
    if sys.argv[4:] == ["strict"]:
        _Guard.strict = True
        _import_all(cases, folder)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_Guard())
    for seed in range(first, last):
        print(json.dumps(run(seed, cases, folder)), flush=True)


if __name__ == "__main__":
    main()
