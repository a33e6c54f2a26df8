"""The table of docs/guide/scale.rst: passes, bytes of state and kind of each estimator, measured."""

import re
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.source import MemorySource, Source
from mercer.source.shipping import dumps

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "scale.rst"
ROW = re.compile(r"^   \* - (\w+)\n     - (.+)\n     - (.+)\n     - (\w+)$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))[1:]
N, D = 17_000, 40
PARAMETERS = {
    "RandomFeatures": {"n_components": 64},
    "Landmarks": {"n_components": 40},
    "GaussianProjection": {"n_components": 8},
    "SparseProjection": {"n_components": 8},
    "PCA": {"n_components": 3},
    "ClusterFeatures": {"n_clusters": 3},
    "FilterSelector": {"k": 3},
    "GreedySelector": {"k": 3},
    "OrthogonalMatchingPursuit": {"k": 3},
    "BestSubset": {"k": 2},
    "AdaBoost": {"n_rounds": 3},
    "TreeFeatures": {"n_estimators": 3, "task": "regression"},
    "AdditiveTerms": {"max_cycles": 3, "task": "regression"},
}


class CountedSource(MemorySource):
    """Counts how often the last rows are read: once in each pass."""

    passes = 0

    def read(self, start, stop):
        self.passes += stop == self.n_rows
        return super().read(start, stop)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, X[:, 0] + 0.5 * rng.normal(size=N)


def evaluated(formula, **known):
    """The value of a formula such as 16384 (8 d + 16)."""
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula)
    return eval(product, {"__builtins__": {}}, known)


def test_the_table_is_read():
    assert len(ROWS) > 25
    assert {kind for *_, kind in ROWS} == {"exact", "sample", "rows"}
    assert evaluated("16384 (8 d + 16)", d=2) == 16384 * 32


@pytest.mark.parametrize(("name", "passes", "state", "kind"), ROWS, ids=[row[0] for row in ROWS])
def test_passes_and_state_are_those_of_the_table(name, passes, state, kind, rows, monkeypatch):
    sizes, collected = [0], []
    accumulate, collect = Source.accumulate, Source.collect

    def measured(self, statistic):
        total = accumulate(self, statistic)
        sizes.append(len(dumps(total.result())))
        return total

    def noted(self):
        collected.append(self)
        return collect(self)

    monkeypatch.setattr(Source, "accumulate", measured)
    monkeypatch.setattr(Source, "collect", noted)
    X, y = rows
    estimator = getattr(mercer, name)(**PARAMETERS.get(name, {}))
    labels = name.endswith("Classifier") or name == "AdaBoost"
    source = CountedSource(X, (y > 0).astype(int) if labels else y)
    estimator.fit(source)
    wanted = evaluated(passes.removeprefix("about "), t=getattr(estimator, "n_iter_", None))
    assert abs(source.passes - wanted) <= (2 if passes.startswith("about") else 0)
    expected = evaluated(state, d=D)
    assert abs(max(sizes) - expected) <= 0.1 * expected + 4096 * (expected > 0)
    assert (len(sizes) == 1 and source.passes > 0) == (kind == "rows")  # rows are read, but nothing is folded
    assert not collected or kind == "rows"
