"""The score of kernel ridge regression: kept where similarities to all rows say more, and nowhere else."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer._runtime.errors import MercerError
from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.rows.training import TrainingRows
from mercer.auto.search.evaluation import Evaluator
from mercer.auto.search.kernel_score import add_kernel_score
from mercer.learn.kernel_score import solver

NORMAL = EFFORTS["normal"]


def table(n=2400, d=3, rough=True, seed=0, n_points=40):
    """Distances to random points, the nearest of which decides: rough, and along no axis; or noise alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    points, values = rng.normal(size=(n_points, d)), rng.normal(size=n_points)
    nearest = np.argmin(((X[:, None] - points) ** 2).sum(axis=2), axis=1)
    return X, (values[nearest] if rough else 0.0) + 0.1 * rng.normal(size=n)


def evaluator(X, y, effort=NORMAL, ids=None, **known):
    ids = np.random.default_rng(1).integers(0, 2**62, len(X)).astype(np.uint64) if ids is None else ids
    rows = TrainingRows(X, ((y - y.mean()) / y.std())[:, None], ids, **known)
    return Evaluator(rows, None, effort, Clock(), 0, Steps())


def searched(search):
    before = search.first(Features([LinearBlock(search.rows.X.shape[1])]))
    return before, add_kernel_score(search, before)


def test_the_score_of_a_rough_function_is_kept():
    before, after = searched(evaluator(*table()))
    assert [block.kind for block in after.features.blocks] == ["linear", "kernel score"]
    assert after.loss < 0.5 * before.loss
    assert after.candidates[-1].kept
    assert after.trees.scores.shape == (2400, 1)


def test_training_rows_have_scores_of_a_fit_that_has_not_seen_them():
    """Their error is that of new rows, not the smaller one of rows that a fit has seen."""
    X, y = table(n=4800)
    search = evaluator(X[:2400], y[:2400])
    block = searched(search)[1].features.blocks[-1]
    scale = y[:2400].std()
    new = (y[2400:] - y[:2400].mean()) / scale
    errors = [
        float(np.mean((scores - truth) ** 2))
        for scores, truth in (
            (block.out_of_fold, search.rows.Y),
            (block.features(X[2400:]), new[:, None]),
            (block.features(X[:2400]), search.rows.Y),
        )
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.2)
    assert errors[2] < 0.5 * errors[1]


def test_nothing_is_kept_on_noise():
    kept = 0
    for seed in range(8):
        before, after = searched(evaluator(*table(rough=False, seed=seed)))
        kept += after.features is not before.features
    assert kept == 0


def test_the_score_is_the_same_in_any_order_of_the_rows():
    X, y = table()
    ids = np.random.default_rng(2).integers(0, 2**62, len(X)).astype(np.uint64)
    order = np.random.default_rng(3).permutation(len(X))
    one, other = (
        searched(evaluator(X[some], y[some], ids=ids[some]))[1].features.blocks[-1]
        for some in (np.arange(len(X)), order)
    )
    np.testing.assert_allclose(one.features(X[:50]), other.features(X[:50]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(one.out_of_fold[order], other.out_of_fold, rtol=0, atol=1e-6)


def test_rows_beyond_the_limit_have_the_score_of_a_fit_without_them():
    search = evaluator(*table(n=3600), effort=replace(NORMAL, max_kernel_rows=2100))
    block = searched(search)[1].features.blocks[-1]
    assert len(block.transformer.centers_) == 2100
    others = search.rows.smallest(3600)[2100:]
    np.testing.assert_array_equal(block.out_of_fold[others], block.features(search.rows.X[others]))


@pytest.mark.parametrize(
    ("n", "effort", "known"),
    [
        (1500, NORMAL, {}),
        (2400, EFFORTS["fast"], {}),
        (2400, replace(NORMAL, max_kernel_rows=1000), {}),
        (2400, NORMAL, {"signs": np.array([1, 0, 0])}),
    ],
    ids=["few rows", "fast", "little memory", "monotone"],
)
def test_it_is_not_tried_where_it_must_not_be(n, effort, known):
    before, after = searched(evaluator(*table(n), effort, **known))
    assert after is before


def test_a_spent_clock_tries_nothing():
    search = evaluator(*table())
    before = search.first(Features([LinearBlock(3)]))
    search.clock = Clock(10.0, now=iter([0.0, *[9.0] * 20]).__next__)
    assert add_kernel_score(search, before) is before


@pytest.mark.parametrize("weighted", [False, True])
def test_iterations_find_what_factorizations_find(weighted):
    rng = np.random.default_rng(0)
    X, Y, folds = rng.normal(size=(500, 3)), rng.normal(size=(500, 2)), rng.integers(3, size=500)
    weight = rng.uniform(0.1, 3.0, 500) if weighted else None
    kernel = mercer.kernels.Laplace(bandwidth=2.0)
    exact = solver.fold_ridge(kernel, X, Y, folds, 0.5, weight)
    K = solver.LowerTriangle(kernel, X)
    roots = np.ones(500) if weight is None else np.sqrt(weight)
    masks = np.concatenate([roots[None], np.where(folds == np.arange(3)[:, None], 0.0, roots)])
    found = K.products(solver._iterated(K, masks, Y, 0.5))
    expected = K.products(exact.coef)
    assert np.linalg.norm(found - expected) < 0.01 * np.linalg.norm(expected)


def frame(n=3200, classes=False):
    X, y = table(n, d=4, n_points=300)
    made = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    made["y"] = np.where(y > 0, "high", "low") if classes else y
    return made


@pytest.fixture(scope="module", params=["regression", "classification"])
def model(request):
    found = mercer.fit(frame(classes=request.param == "classification"), "y")
    assert found.predictor.features.has("kernel score")
    return found


def test_a_fitted_model_is_saved_with_the_same_bits(model, tmp_path):
    model.save(tmp_path / "m.mercer")
    again, rows = mercer.load(tmp_path / "m.mercer"), frame(40)
    for function in ("predict", "transform"):
        np.testing.assert_array_equal(getattr(again, function)(rows), getattr(model, function)(rows))


def test_rows_of_a_file_are_predicted_like_those_of_a_frame(model, tmp_path):
    rows = frame(60)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    np.testing.assert_array_equal(model.predict(tmp_path / "rows.csv"), model.predict(rows))
    np.testing.assert_array_equal(model.predict(rows[7:8]), model.predict(rows)[7:8])


def test_a_model_is_exported_and_updated_but_not_made_to_forget(model, tmp_path):
    rows = frame(40)
    model.to_onnx(tmp_path / "m.onnx", check=rows.drop(columns="y"))  # refuses if its predictions differ
    assert (tmp_path / "m.onnx").exists()
    later = frame(80, classes=model.predictor.classes is not None)[40:].reset_index(drop=True)
    model.update(later)
    with pytest.raises(MercerError, match="scores of kernel ridge regression are out of fold"):
        model.forget(later)


SCRIPT = """
import hashlib, sys
sys.path[:0] = {path!r}
import numpy as np
from test_kernel_score import evaluator, searched, table
block = searched(evaluator(*table()))[1].features.blocks[-1]
print(hashlib.sha256(block.out_of_fold.tobytes() + block.features(table(9)[0]).tobytes()).hexdigest())
"""


def test_one_thread_and_two_give_the_same_bits():
    script = SCRIPT.format(path=[os.path.dirname(__file__)])
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "MERCER_THREADS": threads}, check=True,
            capture_output=True, text=True,
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
