"""The container of a model file: a zip of `manifest.json` and `arrays.safetensors`, nothing else, nothing executable.

Both members are stored uncompressed, so a small file cannot unfold into a large one. The manifest carries the format's
version and the SHA-256 of the arrays. A file is written under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from typing import Any

import numpy as np

from mercer.io.whole_file import appearing

#: The version this library writes. Readers keep every released one.
FORMAT = 2
MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"
#: More than this is refused before it is read.
MOST_MANIFEST, MOST_ARRAYS = 256 * 2**20, 16 * 2**30


def write_archive(path: str | os.PathLike, manifest: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write manifest and arrays to `path`, all or nothing."""
    from safetensors.numpy import save

    blob = save({name: np.ascontiguousarray(value) for name, value in arrays.items()})
    manifest = {"format": FORMAT, **manifest, "sha256": {ARRAYS: hashlib.sha256(blob).hexdigest()}}
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":")).encode()
    with appearing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        # A fixed date: the same model gives the same bytes.
        for name, member in ((MANIFEST, text), (ARRAYS, blob)):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), member)


def read_archive(path: str | os.PathLike) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Manifest and arrays of a model file, after every check that needs no knowledge of the model."""
    path = os.fspath(path)
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
        raise ValueError(
            f"{path} is not a model file of Mercer, or it is damaged or cut off ({error}). Save the model again."
        ) from error
    if hashlib.sha256(blob).hexdigest() != _recorded_hash(path, manifest):
        raise ValueError(f"{path} is damaged: its arrays do not match their checksum. Save the model again.")
    return manifest, _arrays(path, blob)


def _checked_members(path, archive) -> dict[str, zipfile.ZipInfo]:
    members = {info.filename: info for info in archive.infolist()}
    if sorted(members) != sorted([MANIFEST, ARRAYS]) or len(archive.infolist()) != 2:
        raise ValueError(
            f"{path} is not a model file of Mercer: it should hold {MANIFEST} and {ARRAYS}, and only those."
        )
    for name, most in ((MANIFEST, MOST_MANIFEST), (ARRAYS, MOST_ARRAYS)):
        info = members[name]
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"{path}: {name} is compressed, which model files never are. Save the model again.")
        if info.file_size > most:
            raise ValueError(f"{path}: {name} of {info.file_size:,} bytes is larger than the {most:,} that are read.")
    return members


def _member(path, archive, info) -> bytes:
    try:
        return archive.read(info)
    except (OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged: {info.filename} cannot be read ({error}).") from error


def _manifest(path, text: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its manifest is not JSON ({error}).") from error
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"{path} is not a model file of Mercer: its manifest names no format.")
    if version > FORMAT:
        raise ValueError(
            f"{path} has format {version}, newer than the {FORMAT} this version of Mercer reads: upgrade mercer."
        )
    return manifest


def _recorded_hash(path, manifest) -> str:
    recorded = manifest.get("sha256")
    if not isinstance(recorded, dict) or not isinstance(recorded.get(ARRAYS), str):
        raise ValueError(f"{path} is damaged: its manifest has no checksum of {ARRAYS}.")
    return recorded[ARRAYS]


def _arrays(path, blob: bytes) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(blob)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: its arrays cannot be read ({error}).") from error
