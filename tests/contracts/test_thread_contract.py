"""The same bits on any number of threads, of the pool as of BLAS, for every public estimator and for `mercer.fit`.

The tables are those of the other contracts. Rows and columns are enough for BLAS to use several threads if it may.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from threadpoolctl import threadpool_info, threadpool_limits

import mercer
from bits import bits, learned_bits
from contracts import test_estimator_contract, test_machine_contract, test_normalize_contract, test_text_contract
from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.select import BestSubset

THREADS = (1, 2, 4)
ESTIMATORS = [
    *test_estimator_contract.TABLE,
    *test_estimator_contract.ITERATED,
    *test_normalize_contract.NUMERIC,
    *test_machine_contract.TABLE,
]


def on_threads(monkeypatch, function):
    """The results of a function on each number of threads."""
    found = []
    for threads in THREADS:
        monkeypatch.setenv("MERCER_THREADS", str(threads))
        with threadpool_limits(threads, user_api="blas"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(function())
            assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {threads}
    return found


def rows(estimator):
    """Rows and a target that the estimator can learn; products of all of them would be divided among threads."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 12 if isinstance(estimator, BestSubset) else 24))
    X[:, 1] = np.abs(X[:, 1])  # for logarithms of the others see the contract of normalization
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=len(X))
    if isinstance(getattr(estimator, "kernel", None), Precomputed):
        X = (Gaussian(3.0) + Linear())(X)
    if type(estimator).__name__ == "Log":
        X = np.abs(X)
    return X, np.where(y > -0.5, "high", "low") if is_classifier(estimator) else y


def applied(estimator, X):
    """The bits of what the fitted estimator makes of rows."""
    verbs = ("transform", "predict", "predict_proba", "decision_function")
    return {verb: bits(getattr(estimator, verb)(X)) for verb in verbs if hasattr(estimator, verb)}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_estimators_have_the_same_bits_on_any_number_of_threads(monkeypatch, estimator):
    X, y = rows(estimator)

    def fitted():
        again = clone(estimator).fit(X, y)
        return learned_bits(again), applied(again, X)

    one, two, four = on_threads(monkeypatch, fitted)
    assert one == two == four


@pytest.mark.parametrize("estimator", test_text_contract.TEXTS, ids=str)
def test_texts_have_the_same_bits_on_any_number_of_threads(monkeypatch, estimator):
    rng = np.random.default_rng(0)
    texts = [
        " ".join(rng.choice(["cat", "dog", "bird", "fish", "cow", "hen", "yak", "fox", "pig"], 3)) for _ in range(300)
    ]
    one, two, four = on_threads(monkeypatch, lambda: bits(clone(estimator).fit(texts).transform(texts)))
    assert one == two == four


def table(kind):
    """Columns and a target of each kind that `mercer.fit` distinguishes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 8))
    score = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X))
    if kind == "texts":
        words = np.array(["good", "bad", "fine", "poor", "nice", "dull", "film", "plot"])
        texts = [" ".join(words[rng.integers(0, 8, 12)]) + (" good" * 3 if s > 0 else " bad" * 3) for s in score]
        return {"text": texts, "y": np.where(score > 0, "yes", "no")}
    columns = {f"x{j}": x for j, x in enumerate(X.T)} | {"city": rng.choice(list("abcdef"), len(X))}
    target = {"regression": score, "two classes": score > 0, "classes": np.digitize(score, [-1, 0, 1])}[kind]
    return columns | {"y": target}


@pytest.mark.parametrize("kind", ["regression", "two classes", "classes", "texts"])
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_models_have_the_same_bits_on_any_number_of_threads(monkeypatch, kind, effort):
    data = table(kind)

    def fitted():
        model = mercer.fit(data, "y", effort=effort, report=False)
        outputs = model.predict_proba if model.task == "classification" else model.predict
        return bits(model.predictor.coef), bits(outputs(data)), bits(model.importance())

    one, two, four = on_threads(monkeypatch, fitted)
    assert one == two == four


PROCESS = """
import hashlib, json, mercer
from bits import bits
from contracts.test_thread_contract import table

def digest(kind):
    data = table(kind)
    model = mercer.fit(data, "y", effort="fast", report=False)
    outputs = model.predict_proba if model.task == "classification" else model.predict
    found = bits(model.predictor.coef), bits(outputs(data)), bits(model.importance())
    return hashlib.sha256(repr(found).encode()).hexdigest()

print(json.dumps([digest(kind) for kind in ("regression", "classes", "texts")]))
"""


def test_processes_have_the_same_bits_with_any_number_of_threads():
    """Limits in the environment, which BLAS reads when it is loaded."""
    found = []
    for threads in map(str, THREADS if os.environ.get("MERCER_TEST_LENGTH") == "long" else THREADS[::2]):
        limits = dict.fromkeys(("MERCER_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
        environment = os.environ | limits | {"PYTHONPATH": str(Path(__file__).parents[1])}
        command = [sys.executable, "-W", "ignore", "-c", PROCESS]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.append(done.stdout.splitlines()[-1])
    assert len(set(found)) == 1
