"""Fitted models as files that are safe to open: see `archive` for the container and `pack` for what is inside."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

from mercer._runtime.errors import DataError
from mercer._runtime.loaded import require_applies
from mercer.io.archive import read_archive, write_archive
from mercer.io.pack import pack, unpack

#: What a file causes that does not hold what it should.
_DAMAGES = (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)
#: Maximum length of a parameter in the manifest.
_MAX_LENGTH = 200


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted Mercer object to `path`: its learned attributes, not the statistics it learned them from.

    The file holds data only, no code. The same model gives the same bytes. A loaded model predicts and transforms with
    the same bits; it cannot be continued with `partial_fit` or `merge`.

    Use it for models that others open, or that a later release should open. Use `pickle` only between processes of one
    program: it keeps statistics for `partial_fit`, and executes code when it is opened.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from mercer.io import load, save
    >>> from mercer.linear import RidgeRegressor
    >>> X = np.arange(12.0).reshape(6, 2) ** 1.5
    >>> ridge = RidgeRegressor(alpha=1.0).fit(X, X @ [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ridge, os.path.join(folder, "ridge.mercer"))
    ...     again = load(os.path.join(folder, "ridge.mercer"))
    >>> print(again.predict(X[:2]), ridge.predict(X[:2]))
    [ 2.23122126 13.17878002] [ 2.23122126 13.17878002]
    """
    tree, arrays = pack(model)
    write_archive(path, {"versions": _versions(), **about(model), "model": tree}, arrays)


def about(model: Any) -> dict[str, Any]:
    """The input columns, the parameters and the scores of the model, for readers of the manifest.

    Loading ignores them: the model has its own section.
    """
    report = model.report() if hasattr(model, "report") else {}
    schema = getattr(model, "schema", None)
    if not isinstance(schema, dict):
        names = getattr(model, "feature_names_in_", None)
        schema = {"columns": getattr(model, "n_features_in_", None), "names": None if names is None else list(names)}
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    parameters |= {name: report[name] for name in ("task", "effort", "target") if name in report}
    metrics = {name: report[name] for name in ("holdout",) if name in report}
    return {"schema": _plain(schema), "parameters": _plain(parameters), "metrics": _plain(metrics)}


def _plain(value: Any) -> Any:
    """A value in JSON types; others as their repr."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    text = repr(value)
    if " at 0x" in text:  # an address differs from run to run, and the same model gives the same bytes
        return type(value).__name__
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."


def load(path: str | os.PathLike) -> Any:
    """Load the model that was saved to `path`. Nothing in the file is executed, so any file is safe to open.

    Use it for files of `save` and of `Model.save`, also from strangers. Files of `joblib` and `pickle` need their own
    loader.

    >>> import os, tempfile
    >>> import numpy as np
    >>> from mercer import RidgeRegressor, load, save
    >>> x = np.arange(6.0)[:, None]
    >>> path = os.path.join(tempfile.mkdtemp(), "line.mercer")
    >>> save(RidgeRegressor(alpha=1e-9).fit(x, 2 * x[:, 0] + 1), path)
    >>> load(path).predict([[10.0]]).round(3).tolist()
    [21.0]
    """
    manifest, arrays = read_archive(path)
    return restored(os.fspath(path), manifest, arrays)


def restored(path: str, manifest: dict[str, Any], arrays: dict[str, Any]) -> Any:
    """The model of a manifest and its arrays, which were read from `path`."""
    if "model" not in manifest:
        raise DataError(f"{path} holds no model.", file=path)
    tree = manifest["model"]
    try:
        _try(unpack(tree, arrays), path)
        return unpack(tree, arrays)
    except _DAMAGES as error:
        if isinstance(error, DataError) and error.file == path:
            raise
        raise DataError(f"{path} cannot be loaded. {error}", file=path) from error


def _try(model: Any, path: str) -> None:
    """Apply a model, not the one that is returned: it keeps what it computes once."""
    try:
        require_applies(model)
    except (*_DAMAGES, MemoryError) as error:
        reason = str(error) or type(error).__name__
        problem = f"{path} cannot be loaded. The parts of the model do not fit together: {reason}"
        raise DataError(problem, file=path) from error


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"python": sys.version.split()[0], **{name: version(name) for name in ("mercer", "numpy", "scikit-learn")}}
