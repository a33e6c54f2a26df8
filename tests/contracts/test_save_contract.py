"""What every fitted estimator promises of its file: the same bits after loading, the same bytes when saved again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from contracts import test_estimator_contract as estimators
from contracts import test_machine_contract as machines
from contracts.test_normalize_contract import MAPS
from mercer.io import load, save
from mercer.kernels import Precomputed

TABLE = [*estimators.TABLE, *estimators.ITERATED, *MAPS]
OUTPUTS = ("transform", "predict", "predict_proba", "decision_function")


def dense(out):
    return out.toarray() if hasattr(out, "toarray") else np.asarray(out)


def outputs(estimator, X):
    return {name: dense(getattr(estimator, name)(X)).tobytes() for name in OUTPUTS if hasattr(estimator, name)}


def survives(model, X, folder):
    first, second = folder / "first.mercer", folder / "second.mercer"
    save(model, first)
    loaded = load(first)
    save(loaded, second)
    assert outputs(loaded, X) == outputs(model, X)
    assert first.read_bytes() == second.read_bytes()
    assert repr(loaded) == repr(model)
    return loaded


@pytest.mark.parametrize("estimator", TABLE, ids=str)
def test_an_estimator_survives_its_file(estimator, tmp_path):
    X, y = estimators.problem()
    X = np.abs(X)
    model = clone(estimator).fit(X, estimators.target(estimator, y))
    loaded = survives(model, X[:50], tmp_path)
    if hasattr(model, "merge") and vars(model).get("_accumulator") is not None:
        with pytest.raises(ValueError, match="loaded from a file"):
            loaded.merge(model)
        with pytest.raises(ValueError, match="loaded from a file"):
            loaded.partial_fit(X, estimators.target(estimator, y))
        assert outputs(loaded.fit(X, estimators.target(estimator, y)), X) == outputs(model, X)


@pytest.mark.parametrize("machine", machines.TABLE, ids=str)
def test_a_machine_survives_its_file(machine, tmp_path):
    X, y = machines.problem(machine)
    if isinstance(machine.kernel, Precomputed):
        X = X @ X.T
    survives(clone(machine).fit(X, y), X, tmp_path)
