"""Fitted models as files that are safe to open: see `archive` for the container and `pack` for what is inside."""

from __future__ import annotations

import os
import sys
from typing import Any

from mercer.io.archive import read_archive, write_archive
from mercer.io.pack import pack, unpack


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted Mercer object to `path`: what it learned, not the statistics it learned it from.

    The file holds data only, no code. The same model gives the same bytes. A model that was loaded predicts and
    transforms with the same bits; it cannot be continued with `partial_fit` or `merge`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from mercer.io import load, save
    >>> from mercer.linear import RidgeRegressor
    >>> X = np.arange(12.0).reshape(6, 2) ** 1.5
    >>> ridge = RidgeRegressor(alphas=1.0).fit(X, X @ [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ridge, os.path.join(folder, "ridge.mercer"))
    ...     again = load(os.path.join(folder, "ridge.mercer"))
    >>> bool(np.all(again.predict(X) == ridge.predict(X)))
    True
    """
    tree, arrays = pack(model)
    write_archive(path, {"versions": _versions(), "model": tree}, arrays)


def load(path: str | os.PathLike) -> Any:
    """The model that was saved to `path`. Nothing in the file is executed, wherever it comes from."""
    manifest, arrays = read_archive(path)
    if "model" not in manifest:
        raise ValueError(f"{os.fspath(path)} holds no model.")
    try:
        return unpack(manifest["model"], arrays)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be loaded. {error}") from error


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"python": sys.version.split()[0], **{name: version(name) for name in ("mercer", "numpy", "scikit-learn")}}
