"""Level and power of the two-sample test beside classifier two-sample tests (Lopez-Paz and Oquab 2017).

A classifier is trained to tell half of the old rows from half of the new ones, and its accuracy on the other half is
tested against 1/2 (binomial): logistic regression, and a random forest of scikit-learn.
"""

from __future__ import annotations

import os

import numpy as np
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import size, table
from mercer.auto.shift.compare import compare, compared
from mercer.auto.shift.reference import reference_of
from mercer.io import read_table

REPETITIONS = int(os.environ.get("MERCER_BENCH_REPETITIONS", size("500", "5")))
POWER_REPETITIONS = max(size(10, 1), REPETITIONS // 5)
N_ROWS, N_COLUMNS, LEVEL = 200, 5, 0.05
ROLES = {f"x{j}": "number" for j in range(N_COLUMNS)}


def run():
    rng = np.random.default_rng(0)
    _level(rng)
    won, rows = 0, []
    for name, shifted in SHIFTS.items():
        found = np.array([_rejected(rng, shifted) for _ in range(POWER_REPETITIONS)]).mean(axis=0)
        won += found[0] > found[1:].max()
        rows.append([name, *map(float, found)])
        print(f"  {name} {found}", flush=True)
    title = f"Power at level {LEVEL} over {POWER_REPETITIONS} repetitions, {N_ROWS} rows in each sample"
    table(title, ["shift", "mercer", "logistic", "forest"], rows)
    print(f"  more power than both classifier tests on {won} of {len(SHIFTS)} shifts")


def _level(rng):
    """Rejections of true hypotheses: by permutation (two tables), and by the normal limit (a model and a table)."""
    counts = np.zeros(2)
    for _ in range(REPETITIONS):
        old, new = _skewed(rng), _skewed(rng)
        counts += compare(old, new).changed, compared(reference_of(read_table(old), ROLES), read_table(new), 1).changed
    low, high = stats.binom.interval(0.99, REPETITIONS, LEVEL)
    title = f"Level {LEVEL} over {REPETITIONS} repetitions ({low:.0f} to {high:.0f} rejections are 99 % of chance)"
    rows = [[name, int(n), n / REPETITIONS] for name, n in zip(("permutation", "normal limit"), counts, strict=True)]
    table(title, ["null distribution", "rejections", "level"], rows)


def _normal(rng):
    return rng.normal(size=(N_ROWS, N_COLUMNS))


def _skewed(rng):
    X = _normal(rng)
    X[:, 0] = np.exp(X[:, 0])
    X[:, 1] = np.round(X[:, 1])
    return X


def _mean(rng):
    X = _normal(rng)
    X[:, 0] += 0.4
    return X


def _scale(rng):
    X = _normal(rng)
    X[:, :2] *= 1.5
    return X


def _correlation(rng):
    X = _normal(rng)
    X[:, 1] = 0.7 * X[:, 0] + np.sqrt(1 - 0.7**2) * X[:, 1]
    return X


def _mixture(rng):
    """A sixth of the rows from another place."""
    X = _normal(rng)
    X[rng.random(N_ROWS) < 1 / 6, :2] += 2.0
    return X


def _two_modes(rng):
    """Mean and variance of one column stay, its shape changes."""
    X = _normal(rng)
    X[:, 0] = 0.9 * rng.choice([-1.0, 1.0], N_ROWS) + np.sqrt(1 - 0.9**2) * X[:, 0]
    return X


SHIFTS = {
    "mean": _mean,
    "scale": _scale,
    "correlation": _correlation,
    "mixture": _mixture,
    "two modes": _two_modes,
}


def _rejected(rng, shifted):
    old, new = _normal(rng), shifted(rng)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    return compare(old, new).changed, *(_classifier_test(model, old, new) for model in (logistic, forest))


def _classifier_test(model, old, new):
    half = len(old) // 2
    model.fit(np.vstack([old[:half], new[:half]]), np.repeat([0, 1], [half, half]))
    truth = np.repeat([0, 1], [len(old) - half, len(new) - half])
    correct = int(np.sum(model.predict(np.vstack([old[half:], new[half:]])) == truth))
    return stats.binomtest(correct, len(truth), 0.5, alternative="greater").pvalue < LEVEL
