"""Write the golden model files of the current format: PYTHONPATH=src python tests/io/make_golden.py

They are what later versions must still read. Files of a released format are never written again; until a release, run
this whenever a class that they hold changes. `golden/format-1.tar.xz` was written by the last version of that format.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[1]))

import mercer
from contracts import test_estimator_contract as estimators
from contracts import test_machine_contract as machines
from contracts.test_normalize_contract import MAPS
from contracts.test_save_contract import ROLES, TEXTS, WORDS
from contracts.test_save_contract import table as every_kind
from golden import columns_of, rows_of
from mercer.expand import RandomFeatures, lift
from mercer.io import save
from mercer.io.archive import FORMAT
from mercer.kernels import (
    AllSubsets,
    Anova,
    Cauchy,
    Constant,
    ExponentialPower,
    Gaussian,
    Linear,
    Mismatch,
    Overlap,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sinc,
    Spectrum,
    Subsequence,
    SubsetTree,
    WeightedDegree,
)
from mercer.linear import Perceptron
from mercer.machines import KernelPCA, KernelRegressor
from mercer.tables import TableEncoder

GOLDEN = Path(__file__).parent / "golden" / f"format-{FORMAT}.tar.xz"
OUTPUTS = ("predict_proba", "decision_function", "predict", "transform")
#: Sums of float64 in another order, and of float32: the largest difference, relative to the largest output.
DOUBLE, SINGLE = 1e-9, 1e-5
ROWS = 4

RANDOM = [
    AllSubsets(0.01),
    Anova(2),
    Cauchy(2.0),
    ExponentialPower(2.0, p=1.5),
    RationalQuadratic(2.0),
    Gaussian(2.0).on([0, 2]) + Constant(2.0),
    Gaussian(2.0).through(np.eye(4)[:, :2]),
    0.5 * Gaussian(2.0) * Polynomial(2, scale=0.1),
]
LIFTS = [
    Polynomial(2).on([0, 1]) + 1.0,
    AllSubsets().on([1, 2]),
    Anova(2),
    Linear().normalized() * Linear() + Overlap(),
]
KERNELS = [Spectrum(2), Mismatch(3, 1), Subsequence(2), WeightedDegree(2), SubsetTree(), Spectrum(2) + SubsetTree(0.4)]
OTHERS = [Sinc(2.0), Overlap(), RationalQuadratic(1.5), Gaussian("median")]
STRINGS = ["ABAB", "AABB", "BBAA", "BABA", "AAAA", "ABBB", "BBBB", "BAAA"]
TREES = [f"(S (N {noun}) (V {verb}))" for noun in ("dog", "cat", "sun") for verb in ("runs", "sleeps", "shines")]

Case = tuple[str, Any, Any, float]


def fitted() -> Iterator[Case]:
    """(name, fitted object, inputs that JSON can hold, tolerance) of each file."""
    yield from estimator_cases()
    yield from kernel_cases()
    yield from table_cases()
    yield from fitted_cases()


def estimator_cases() -> Iterator[Case]:
    X, y = estimators.problem(60)
    X = np.round(np.abs(X), 1)
    for i, estimator in enumerate([*estimators.TABLE, *estimators.ITERATED, *MAPS]):
        n = 16 if isinstance(estimator, Perceptron) else 60
        fitted = clone(estimator).fit(X[:n], estimators.target(estimator, y)[:n])
        yield f"{slug(estimator)}-{i}", fitted, X[:ROWS].tolist(), SINGLE
    for i, machine in enumerate(machines.TABLE):
        X, y = machines.problem(machine, n=14)
        X = X @ X.T if isinstance(machine.kernel, Precomputed) else X
        yield f"{slug(machine)}-{i}", clone(machine).fit(X, y), X[:ROWS].tolist(), DOUBLE
    for i, text in enumerate(TEXTS):
        yield f"{slug(text)}-{i}", clone(text).fit(WORDS), WORDS[:ROWS], DOUBLE


def kernel_cases() -> Iterator[Case]:
    X, y = machines.problem(KernelRegressor(), n=12)
    bits = (X > 0).astype(float)
    for i, kernel in enumerate(RANDOM):
        yield f"random-kernel-{i}", RandomFeatures(kernel, n_components=8).fit(X), X[:ROWS].tolist(), SINGLE
    for i, kernel in enumerate(LIFTS):
        yield f"lifted-kernel-{i}", lift(kernel).fit(bits), bits[:ROWS].tolist(), DOUBLE
    for i, kernel in enumerate(KERNELS):
        rows = np.array(TREES if "SubsetTree" in repr(kernel) else STRINGS, dtype=object)
        yield f"string-kernel-{i}", KernelPCA(kernel, n_components=2).fit(rows), rows[:ROWS].tolist(), SINGLE
    for i, kernel in enumerate(OTHERS):
        yield f"other-kernel-{i}", KernelRegressor(kernel, alpha=1.0).fit(bits, y), bits[:ROWS].tolist(), DOUBLE


def table_cases() -> Iterator[Case]:
    columns: dict[str, Any] = every_kind(40)
    columns["gene"] = [gene[:5] for gene in columns["gene"]]
    targets = {"number": columns["rooms"] * 1.5, "two": columns["sold"], "several": columns["rooms"] % 3}
    for kind, y in targets.items():
        yield f"table-encoder-{kind}", TableEncoder(roles=ROLES).fit(columns, y), first(columns), DOUBLE


def fitted_cases() -> Iterator[Case]:
    """Models of the search: every kind of block, of target and of column."""
    shrink_search()
    rng = np.random.default_rng(0)
    table, price = homes(150)
    large = np.array([size is not None and size > 80 for size in table["size"]])
    noisy = 5.0 * (large ^ np.array(table["garden"])) + 5.0 * rng.normal(size=150)
    fast: dict[str, Any] = {"effort": "fast", "max_features": 40}
    yield "fit-trees", mercer.fit(table, noisy, **fast), first(table), SINGLE
    yield "fit-two-classes", mercer.fit(table, price > 13, **fast, holdout=0.0), first(table), SINGLE
    yield "fit-weights", mercer.fit(table, price, weight=1.0 + np.arange(150) % 3, **fast), first(table), SINGLE
    table, price = homes(60)
    kinds = np.array(["cheap", "dear", "fair"])[np.digitize(price, np.quantile(price, [0.3, 0.7]))]
    yield "fit-three-classes", mercer.fit(table, kinds, **fast), first(table), SINGLE
    yield from block_models(rng)
    yield from text_models(rng)
    yield from searched_estimators()


def shrink_search() -> None:
    """Few trees and small limits, which keep the files small."""
    from mercer.auto.budget.effort import EFFORTS
    from mercer.auto.text import scored_encoder

    for name, effort in EFFORTS.items():
        params = tuple(replace(params, n_estimators=2) for params in effort.tree_params[:1])
        EFFORTS[name] = replace(effort, tree_params=params, tree_folds=2)
    scored_encoder.MAX_DENSE_TERMS = 30


def block_models(rng: np.random.Generator) -> Iterator[Case]:
    X = rng.normal(size=(900, 4))
    rows = X[:ROWS].tolist()
    smooth = np.sin(2 * X[:, 0] + X[:, 1]) + X[:, 2] * X[:, 3]
    yield "fit-random-features", mercer.fit(X, smooth, max_features=60, holdout=0.0), rows, SINGLE
    seeds = mercer.fit(X, np.sin(X[:, 0] + X[:, 1]), effort="fast", max_features=40, holdout=0.0, n_seeds=2)
    yield "fit-two-seeds", seeds, rows, SINGLE
    product = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=900)
    yield "fit-products", mercer.fit(X, product, max_features=40), rows, SINGLE
    yield "fit-products-classes", mercer.fit(X, product > 0, max_features=40), rows, SINGLE
    bins = np.abs(X[:, 0]) + np.sin(4 * X[:, 1]) + 0.1 * rng.normal(size=900)
    yield "fit-piecewise-bins", mercer.fit(X, bins, max_features=80), rows, SINGLE
    wide = np.round(rng.normal(size=(80, 120)), 2)
    few = wide[:, [7, 30, 100]].sum(axis=1) + 0.3 * rng.normal(size=80)
    rows = wide[:ROWS].tolist()
    yield "fit-chosen-columns", mercer.fit(wide, few, effort="fast", holdout=0.0), rows, SINGLE
    yield "fit-chosen-columns-classes", mercer.fit(wide, few > 0, effort="fast"), rows, SINGLE


def text_models(rng: np.random.Generator) -> Iterator[Case]:
    words = np.array(["red", "green", "blue", "old", "new", "small"])
    notes = [" ".join(rng.choice(words, 5)) for _ in range(60)]
    red = np.array(["red" in note for note in notes])
    fast: dict[str, Any] = {"effort": "fast", "holdout": 0.0, "roles": {"note": "text"}}
    alone = {"note": notes}
    yield "fit-text-two-classes", mercer.fit(alone, red, **fast), first(alone), SINGLE
    which = np.array([sum(word in note for word in ("red", "blue")) for note in notes])
    yield "fit-text-three-classes", mercer.fit(alone, which, task="classify", **fast), first(alone), SINGLE
    yield "fit-text-number", mercer.fit(alone, red * 1.5 + 0.1 * rng.normal(size=60), **fast), first(alone), SINGLE
    beside = {"note": notes, "size": rng.normal(size=60).tolist()}
    size = np.array(beside["size"])
    yield "fit-text-and-numbers", mercer.fit(beside, size + 2.0 * red, **fast), first(beside), SINGLE
    yield "fit-text-and-numbers-classes", mercer.fit(beside, size + 2.0 * red > 1, **fast), first(beside), SINGLE
    columns = {name: values for name, values in every_kind(80).items() if name not in ("note", "gene")}
    y = np.nan_to_num(columns["size"]) * 2 + columns["rooms"]
    roles = {"shop": "high-cardinality"}
    mixed = mercer.fit(columns, y, effort="fast", max_features=40, roles=roles)
    yield "fit-categories-and-dates", mixed, first(columns), SINGLE


def searched_estimators() -> Iterator[Case]:
    X, y = estimators.problem(80)
    yield (
        "mercer-regressor",
        mercer.MercerRegressor(effort="fast", max_features=30).fit(X, y),
        X[:ROWS].tolist(),
        SINGLE,
    )
    classifier = mercer.MercerClassifier(effort="fast", max_features=30).fit(X, y > -0.5)
    yield "mercer-classifier", classifier, X[:ROWS].tolist(), SINGLE


def homes(n: int) -> tuple[dict[str, list], np.ndarray]:
    """A table of all plain kinds with missing values, and a target."""
    rng = np.random.default_rng(1)
    size, rooms = rng.normal(80, 20, size=n), rng.integers(1, 7, size=n)
    city = rng.choice(["Bern", "Oslo", "Rome"], size=n)
    price = size / 10 + rooms + 3 * (city == "Oslo") + np.sin(size / 5)
    table = {
        "size": [None if i % 17 == 3 else float(x) for i, x in enumerate(size)],
        "rooms": rooms.tolist(),
        "city": [None if i % 23 == 5 else str(c) for i, c in enumerate(city)],
        "garden": (rng.random(n) < 0.4).tolist(),
    }
    return table, price


def first(table: dict[str, Any]) -> dict[str, list]:
    """The first rows, in values that JSON can hold."""
    return {name: [plain(value) for value in values[:ROWS]] for name, values in table.items()}


def plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return str(value)
    value = value.item() if isinstance(value, np.generic) else value
    return None if value != value else value


def slug(estimator: Any) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(estimator).__name__).lower()


def output_of(model: Any, inputs: Any) -> tuple[str, np.ndarray]:
    """The method and the values of what a model computes."""
    regression = isinstance(model, mercer.Model) and model.task.startswith("regress")
    method = "predict" if regression else next(name for name in OUTPUTS if hasattr(model, name))
    return method, columns_of(getattr(model, method)(rows_of(inputs)))


def main() -> None:
    cases, folder = [], Path(tempfile.mkdtemp())
    for name, model, inputs, tolerance in fitted():
        path = folder / f"{name}.mercer"
        save(model, path)
        method, expected = output_of(model, inputs)
        case = {"file": path.name, "method": method, "tolerance": tolerance, "inputs": inputs}
        cases.append(json.dumps({**case, "expected": expected.tolist()}))
        print(f"{path.stat().st_size:7,} bytes: {name}")
    (folder / "cases.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")
    GOLDEN.parent.mkdir(exist_ok=True)
    with tarfile.open(GOLDEN, "w:xz", preset=9) as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=_undated)
    print(f"{GOLDEN.stat().st_size:,} bytes in all")


def _undated(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
