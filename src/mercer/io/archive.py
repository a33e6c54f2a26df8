"""The container of a model file: a zip of `manifest.json` and `arrays.safetensors`, nothing else, nothing executable.

Both members are stored uncompressed, so a small file cannot expand into a large one. The manifest carries the format's
version and the SHA-256 of the arrays. A file is written under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from typing import Any

import numpy as np

from mercer._runtime.errors import DataError
from mercer.io.atomic_file import atomic_write

#: The version this library writes. Readers keep every released one.
FORMAT = 2
MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"
_AGAIN = "Save the model again."
#: Larger members are refused before they are read.
MAX_MANIFEST_BYTES, MAX_ARRAYS_BYTES = 256 * 2**20, 16 * 2**30


def write_archive(path: str | os.PathLike, manifest: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write manifest and arrays to `path` atomically."""
    from safetensors.numpy import save

    blob = save({name: np.ascontiguousarray(value) for name, value in arrays.items()})
    manifest = {"format": FORMAT, **manifest, "sha256": {ARRAYS: hashlib.sha256(blob).hexdigest()}}
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":")).encode()
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        # The fixed date of a new ZipInfo: the same model gives the same bytes.
        for name, member in ((MANIFEST, text), (ARRAYS, blob)):
            archive.writestr(zipfile.ZipInfo(name), member)


def is_model_file(path: str | os.PathLike) -> bool:
    """Whether a file looks like a model file, complete or not: by its name, or by a manifest in an archive."""
    if os.fspath(path).endswith(".mercer"):
        return True
    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return MANIFEST in archive.namelist()


def read_archive(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Manifest and arrays of a model file, after all checks that do not depend on the model."""
    path = os.fspath(path)
    if os.path.islink(path) and not os.path.exists(path):
        raise FileNotFoundError(f"{path} is a symbolic link that leads to no file, or in a circle.")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no such file (looked from {os.getcwd()}).")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a model file.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked_members(path, archive)
            text = _member(path, archive, members[MANIFEST])
            manifest = _manifest(path, text)
            blob = _member(path, archive, members[ARRAYS])
    except zipfile.BadZipFile as error:
        problem = f"{path} is not a model file of Mercer, or it is damaged or cut off ({error})."
        raise DataError(problem, remedy=_AGAIN, file=path) from error
    if hashlib.sha256(blob).hexdigest() != _recorded_hash(path, manifest):
        raise DataError(f"{path} is damaged: its arrays do not match their checksum.", remedy=_AGAIN, file=path)
    return manifest, _arrays(path, blob)


def _checked_members(path: str, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members = {info.filename: info for info in archive.infolist()}
    if sorted(members) != sorted([MANIFEST, ARRAYS]) or len(archive.infolist()) != 2:
        problem = f"{path} is not a model file of Mercer: it should hold {MANIFEST} and {ARRAYS}, and only those."
        raise DataError(problem, file=path)
    for name, max_bytes in ((MANIFEST, MAX_MANIFEST_BYTES), (ARRAYS, MAX_ARRAYS_BYTES)):
        info = members[name]
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            problem = f"{path}: {name} is compressed, which model files never are."
            raise DataError(problem, remedy=_AGAIN, file=path)
        if info.file_size > max_bytes:
            problem = f"{path}: {name} of {info.file_size:,} bytes is larger than the {max_bytes:,} that are read."
            raise DataError(problem, file=path)
    return members


def _member(path: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)
    except (OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is damaged: {info.filename} cannot be read ({error}).", file=path) from error


def _manifest(path: str, text: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is damaged: its manifest is not JSON ({error}).", file=path) from error
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DataError(f"{path} is not a model file of Mercer: its manifest names no format.", file=path)
    if version > FORMAT:
        problem = f"{path} has format {version}, newer than the {FORMAT} this version of Mercer reads:"
        raise DataError(problem, remedy="upgrade mercer.", file=path)
    return manifest


def _recorded_hash(path: str, manifest: dict[str, Any]) -> str:
    recorded = manifest.get("sha256")
    if not isinstance(recorded, dict) or not isinstance(recorded.get(ARRAYS), str):
        raise DataError(f"{path} is damaged: its manifest has no checksum of {ARRAYS}.", file=path)
    return recorded[ARRAYS]


def _arrays(path: str, blob: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(blob)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is damaged: its arrays cannot be read ({error}).", file=path) from error
