"""Write the golden model files of the current format: python tests/io/make_golden.py

The files of a released format are never written again: they are what later versions must still read. Until a release,
run this whenever a class that they hold changes.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import mercer
from mercer.expand import RandomFeatures
from mercer.io import save
from mercer.kernels import Gaussian, Polynomial
from mercer.linear import RidgeRegressor

FOLDER = Path(__file__).parent / "golden"
#: Sums of float64 in another order, and of float32: the largest difference, relative to the largest prediction.
DOUBLE, SINGLE = 1e-9, 1e-5


def numbers(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


def mixed(n):
    """A table of all plain kinds with gaps, and a target."""
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


def first(table, n=6):
    return {name: values[:n] for name, values in table.items()}


def models():
    """(name, fitted model, method, inputs, tolerance) of each file."""
    X, y = numbers()
    yield "ridge", RidgeRegressor(alpha=[0.1, 1.0]).fit(X, y), "predict", X[:6].tolist(), DOUBLE
    waves = RandomFeatures(Gaussian(2.0) + 0.5 * Polynomial(2, scale=0.1).normalized(), n_components=24).fit(X)
    yield "random-features", waves, "transform", X[:6].tolist(), SINGLE
    table, _ = mixed(150)  # few rows, much noise, small files: with trees here, waves below
    large = np.array([size is not None and size > 80 for size in table["size"]])
    price = 5.0 * (large ^ np.array(table["garden"])) + 5.0 * np.random.default_rng(2).normal(size=150)
    fitted = mercer.fit(table, price, effort="fast", max_features=40)
    yield "fitted-regression", fitted, "predict", first(table), SINGLE
    table, price = mixed(60)
    kinds = np.array(["cheap", "dear", "fair"])[np.digitize(price, np.quantile(price, [0.3, 0.7]))]
    fitted = mercer.fit(table, kinds, effort="fast", max_features=40)
    yield "fitted-classes", fitted, "predict_proba", first(table), SINGLE


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, model, method, inputs, tolerance in models():
        save(model, FOLDER / f"{name}.mercer")
        expected = np.asarray(getattr(model, method)(inputs)).tolist()
        told = {"method": method, "tolerance": tolerance, "inputs": inputs, "expected": expected}
        (FOLDER / f"{name}.json").write_text(json.dumps(told, indent=None) + "\n")
        print(f"{name}: {(FOLDER / f'{name}.mercer').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
