"""The files of a path, a pattern, a folder or an address."""

from __future__ import annotations

import fnmatch
import glob
import os
from typing import Any

from mercer._runtime.errors import DataError
from mercer.source.storage import StoredPath, filesystem, is_address

#: Suffixes of the files of a folder that are read; names that begin with . or _ are not.
_SUFFIXES = (".parquet", ".pq", ".csv", ".tsv", ".psv", ".txt")
_PACKED = (".gz", ".zst", ".bz2")


def found_files(path: str, options: dict[str, Any] | None = None) -> list[str]:
    """The files of a path in sorted order: itself, those that match a pattern, or the tables below a folder."""
    if is_address(path):
        if not path.lower().startswith("file://"):
            return _stored_files(path, options)
        path = path[len("file://") :]
    if os.path.isdir(path):
        below = (os.path.join(at, name) for at, _, names in os.walk(path) for name in names)
        return _tables(path, sorted(below), path)
    if os.path.exists(path):
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    if not found:
        if os.path.islink(path):
            raise FileNotFoundError(f"{path} is a symbolic link that leads to no file, or in a circle.")
        where = f"looked from {os.getcwd()}"
        what = "no file matches this pattern" if glob.has_magic(path) else "there is no such file"
        raise FileNotFoundError(f"{path}: {what} ({where}).")
    return found


def _stored_files(address: str, options: dict[str, Any] | None) -> list[str]:
    from pyarrow import fs

    system, inside = filesystem(address, options)
    root = address[: len(address) - len(inside)] if address.endswith(inside) else address.split("://", 1)[0] + "://"
    if glob.has_magic(inside):
        base = inside[: _first_magic(inside)].rpartition("/")[0]
        names = [name for name in _below(system, base, address) if fnmatch.fnmatchcase(name, inside)]
        if not names:
            raise FileNotFoundError(f"{address}: no file matches this pattern.")
    else:
        info = _info(system, inside, address)
        if info.type == fs.FileType.NotFound:
            raise FileNotFoundError(f"{address}: there is no such file.")
        names = [inside]
        if info.type == fs.FileType.Directory:
            names = _tables(address, _below(system, inside, address), inside)
    return [StoredPath(root + name, options) for name in sorted(names)]


def _info(system: Any, inside: str, address: str) -> Any:
    try:
        return system.get_file_info(inside)
    except OSError as error:
        raise _unreadable(address, error) from error


def _below(system: Any, base: str, address: str) -> list[str]:
    """The files below a folder of a file system."""
    from pyarrow import fs

    try:
        infos = system.get_file_info(fs.FileSelector(base, recursive=True))
    except OSError as error:
        raise _unreadable(address, error) from error
    return [info.path for info in infos if info.type == fs.FileType.File]


def _unreadable(address: str, error: OSError) -> DataError:
    remedy = "Check the address, the credentials in the environment, or give storage_options."
    return DataError(f"{address} cannot be read: {str(error).splitlines()[0]}", remedy=remedy, file=address)


def _first_magic(pattern: str) -> int:
    return min(pattern.index(sign) for sign in "*?[" if sign in pattern)


def _tables(folder: str, names: list[str], base: str) -> list[str]:
    """The files of tables below a folder; files and folders whose names begin with . or _ are left out."""
    kept = []
    for name in names:
        parts = name[len(base) :].strip("/" + os.sep).replace(os.sep, "/").split("/")
        bare = parts[-1].lower()
        for packed in _PACKED:
            bare = bare.removesuffix(packed)
        if not any(part.startswith((".", "_")) for part in parts) and bare.endswith(_SUFFIXES):
            kept.append(name)
    if not kept:
        suffixes = ", ".join(_SUFFIXES)
        raise FileNotFoundError(f"{folder}: the folder holds no table. Tables are files named {suffixes}.")
    return kept


def partitions_of(paths: list[str]) -> dict[str, list[Any]]:
    """Columns from folder names such as year=2024: one value for each file; whole numbers if all are.

    >>> partitions_of(["t/year=2023/a.parquet", "t/year=2024/a.parquet"])
    {'year': [2023, 2024]}
    """
    from urllib.parse import unquote

    found = []
    for path in paths:
        folders = path.replace(os.sep, "/").split("/")[:-1]
        pairs = (folder.partition("=") for folder in folders if "=" in folder)
        found.append({unquote(name): unquote(value) for name, _, value in pairs if name})
    if any(set(each) != set(found[0]) for each in found):
        problem = f"{paths[0]} and {next(p for p, e in zip(paths, found, strict=True) if set(e) != set(found[0]))}"
        raise DataError(f"{problem} do not have the same folders of the form name=value.")
    return {name: _typed([each[name] for each in found]) for name in found[0]}


def _typed(values: list[str]) -> list[Any]:
    missing = "__HIVE_DEFAULT_PARTITION__"
    if all(value == missing or value.lstrip("-").isdecimal() for value in values):
        return [None if value == missing else int(value) for value in values]
    return [None if value == missing else value for value in values]
