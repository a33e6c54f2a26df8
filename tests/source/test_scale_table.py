"""The table of docs/guide/scale.rst: passes, bytes of state and kind of each estimator, measured, and their bits."""

import importlib
import inspect
import multiprocessing
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

import mercer
from bits import learned_bits
from mercer import base as mercer_base
from mercer._numeric.block import Block
from mercer.learn.trees import tree_features
from mercer.source import MemorySource, Source, StreamSource, accumulator, base, files, memory
from mercer.source.shipping import dumps

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "scale.rst"
ROW = re.compile(r"^   \* - (.+)\n     - (.+)\n     - (.+)\n     - (\w+)$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))[1:]
NAMES = [row[0] for row in ROWS]
KINDS = {"exact", "sample", "mixed", "ordered", "rows"}
N, D = 17_000, 40
#: Rows of estimators with a threshold of their own, and of those whose cost grows with the square.
LENGTHS = {"TreeFeatures(max_rows=None)": 51_000, "KernelScore": 9000} | dict.fromkeys(
    ["KernelRegressor", "KernelHinge", "KernelPCA", "KernelKMeans", "KernelPerceptron"], 400
)
ROOMS = ("expand", "learn", "linear", "machines", "normalize", "project", "select", "tables", "text")
PARAMETERS = {
    "Aggregates": {"by": [0], "of": list(range(1, D))},
    "Frequencies": {"columns": list(range(D))},
    "CategoryCrosses": {"pairs": [(0, 1)]},
    "ColumnPicker": {"columns": [0, 2]},
    "SubsetLift": {"max_size": 2},
    "ProductLift": {"pairs": [(0, 1), (2, 2)]},
    "RandomFeatures": {"n_components": 64},
    "Landmarks": {"n_components": 40},
    "GaussianProjection": {"n_components": 8},
    "HadamardProjection": {"n_components": 8},
    "SparseProjection": {"n_components": 8},
    "PCA": {"n_components": 3},
    "ClusterFeatures": {"n_clusters": 3},
    "SparseCoding": {"n_components": 8, "nonzeros": 2, "n_epochs": 2},
    "SupervisedBins": {"n_bins": 4, "task": "regression"},
    "TargetEncoding": {"task": "regression"},
    "LearnedMetric": {"n_rounds": 1, "n_components": 32, "task": "regression"},
    "FilterSelector": {"k": 3},
    "GreedySelector": {"k": 3},
    "OrthogonalMatchingPursuit": {"k": 3},
    "BestSubset": {"k": 2},
    "StabilitySelector": {"n_pairs": 2},
    "AdaBoost": {"n_rounds": 3},
    "HingeClassifier": {"alpha": 100.0},
    "TreeFeatures": {"n_estimators": 3, "task": "regression"},
    "AdditiveTerms": {"max_cycles": 3, "task": "regression"},
    "KernelScore": {"task": "regression"},
    "KernelRegressor": {"n_centers": 50},
    "KernelHinge": {"alpha": 10.0},
    "KernelPerceptron": {"n_epochs": 3},
    "Perceptron": {"n_epochs": 3},
}
CLASSIFIERS = {"AdaBoost", "KernelHinge", "KernelPerceptron", "Perceptron"}
#: Categories of the columns of small whole numbers, or words of the documents.
LEVELS = 50


class CountedSource(MemorySource):
    """Counts how often the last rows are read: once in each pass."""

    passes = 0

    def read(self, start, stop):
        self.passes += stop == self.n_rows
        return super().read(start, stop)


def parsed(entry):
    """The class, its parameters, and whether the source counts as large."""
    name, _, given = entry.removesuffix(", large").partition("(")
    named = eval(f"dict({given.removesuffix(')')})", {"__builtins__": {}, "dict": dict})
    return name, PARAMETERS.get(name, {}) | named, entry.endswith(", large")


def estimator_of(entry):
    name, parameters, _ = parsed(entry)
    return getattr(mercer, name)(**parameters)


def rows_for(entry, n):
    """Columns of numbers, of category codes or of documents, and a continuous target or classes."""
    name, parameters, _ = parsed(entry)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    if name == "DateDifferences":
        X = np.datetime64("2020-01-01", "us") + rng.integers(0, 10**6, size=(n, D)).astype("timedelta64[m]")
    if name in ("OneHot", "TargetEncoding", "Aggregates", "Frequencies", "CategoryCrosses"):
        X = rng.integers(0, LEVELS, size=(n, D)).astype(np.float64)
    if name == "TextFeatures":
        words = rng.integers(0, LEVELS, size=(n, 6))
        X = np.array([" ".join(f"w{word}" for word in row) for row in words], dtype=object)[:, None]
    losses = parameters.get("loss"), parameters.get("score")
    if name.endswith("Classifier") or name in CLASSIFIERS or {"logistic", "hinge"} & set(losses):
        y = (y > 0).astype(int)
    return X, y


def evaluated(formula, **known):
    """The value of a formula such as 16384 (8 d + 16)."""
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula)
    return eval(product, {"__builtins__": {}}, known)


def test_the_table_holds_every_public_estimator():
    assert len(set(NAMES)) == len(NAMES)
    assert {kind for *_, kind in ROWS} == KINDS
    assert evaluated("16384 (8 d + 16)", d=2) == 16384 * 32
    named = {parsed(entry)[0] for entry in NAMES}
    for room in ROOMS:
        module = importlib.import_module(f"mercer.{room}")
        for name in module.__all__:
            if inspect.isclass(thing := getattr(module, name)) and issubclass(thing, BaseEstimator):
                assert name in named, f"{name} is missing from the table of estimators"


def iterations(estimator):
    """t: iterations, epochs, rounds of boosting, or metrics tried."""
    if hasattr(estimator, "history_"):
        return len(estimator.history_)
    names = ("n_iter_", "n_epochs", "n_rounds", "n_estimators")
    return next((found for name in names if (found := getattr(estimator, name, None)) is not None), None)


def categories(estimator, entry):
    if entry == "Aggregates":  # of one column
        return LEVELS
    vocabulary = getattr(estimator, "vocabulary_", None)
    return D * LEVELS if vocabulary is None else len(vocabulary)


@pytest.mark.parametrize(("entry", "passes", "state", "kind"), ROWS, ids=NAMES)
def test_passes_and_state_are_those_of_the_table(entry, passes, state, kind, monkeypatch):
    sizes, collected = [0], []
    accumulate, collect, blocks = Source.accumulate, Source.collect, Source.blocks

    def measured(self, statistic):
        total = accumulate(self, statistic)
        if not isinstance(self, MemorySource):  # rows that were collected are folded in memory
            sizes.append(len(dumps(total.result())))
        return total

    def noted(function):
        def inner(self):
            collected.append(self)
            return function(self)

        return inner

    monkeypatch.setattr(Source, "accumulate", measured)
    monkeypatch.setattr(Source, "collect", noted(collect))
    monkeypatch.setattr(Source, "blocks", noted(blocks))
    monkeypatch.setattr(CountedSource, "collect", noted(MemorySource.collect))
    if parsed(entry)[2]:
        monkeypatch.setattr(mercer_base, "MAX_COLLECTED_ENTRIES", 0)
    X, y = rows_for(entry, LENGTHS.get(entry, N))
    estimator, source = estimator_of(entry), CountedSource(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(source)
    wanted = evaluated(passes.removeprefix("about "), t=iterations(estimator))
    assert abs(source.passes - wanted) <= (max(2, 0.2 * wanted) if passes.startswith("about") else 0)
    assert bool(collected) == (kind in ("rows", "ordered"))
    if kind == "rows":
        return
    sizes_known = {"d": D, "c": categories(estimator, entry), "k": 8 if "Coding" in entry else 3}
    expected = evaluated(state, **sizes_known, n=len(X), n_buckets=getattr(estimator, "n_buckets", None))
    assert abs(max(sizes) - expected) <= 0.2 * expected + 4096 * (expected > 0)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def _small_blocks(monkeypatch):
    """Small blocks and parts, and small data that count as large."""
    for module in (accumulator, base, files, memory):
        monkeypatch.setattr(module, "BLOCK_ROWS", 128)
        monkeypatch.setattr(module, "PART_ROWS", 256, raising=False)
    monkeypatch.setattr(tree_features, "SAMPLE_ROWS", 500)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("entry", NAMES)
def test_pieces_and_processes_do_not_change_a_bit(entry, processes, monkeypatch):
    if parsed(entry)[2]:
        monkeypatch.setattr(mercer_base, "MAX_COLLECTED_ENTRIES", 0)
    n = 600
    X, y = rows_for(entry, n)
    pieces = StreamSource(lambda: (Block(X[i : i + 97], y[i : i + 97]) for i in range(0, n, 97)), n_rows=n)
    sources = (MemorySource(X, y), pieces, MemorySource(X, y).on(processes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        here, streamed, there = (learned_bits(estimator_of(entry).fit(source)) for source in sources)
    assert here == streamed
    assert here == there
