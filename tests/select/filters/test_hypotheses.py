"""Scores of columns by hypothesis class: the lecture's examples, and no score on noise."""

import numpy as np
import pytest

from mercer.select import FilterSelector, compare_hypotheses

rng = np.random.default_rng(0)
N = 800


def test_the_better_column_depends_on_the_class():
    """y = x1^2, x2 within 0.01 of y: a linear predictor prefers x2, a quadratic one x1."""
    x1 = rng.uniform(-1, 1, N)
    x2 = x1**2 + rng.uniform(-0.01, 0.01, N)
    table = compare_hypotheses(np.column_stack([x1, x2]), x1**2)
    assert (table.best("linear"), table.best("quadratic")) == ("x1", "x0")
    # Pearson's coefficient of x1 is zero, though it determines y: zero means useless for affine predictors only.
    assert abs(table["x0", "linear"]) < 0.03
    assert table["x0", "quadratic"] == pytest.approx(1.0, abs=1e-9)
    assert table["x1", "linear"] == pytest.approx(1 - (0.01**2 / 3) / np.var(x1**2), abs=1e-3)
    assert table["x0", "kernel"] > 0.99
    # The best threshold of x1^2 against |x1| in two pieces: far from perfect.
    assert 0.2 < table["x0", "threshold"] < 0.6


def test_a_column_that_is_useless_alone_and_indispensable_together():
    """y = x1 + 2 x2 with x2 = (z - x1) / 2: y is z, which x1 does not know; x2 alone explains half of it."""
    x1, z = rng.choice([-1.0, 1.0], size=(2, N))
    X = np.column_stack([x1, (z - x1) / 2])
    y = X @ [1.0, 2.0]
    assert np.array_equal(y, z)
    table = compare_hypotheses(X, y)
    assert np.all(np.abs(table.scores[0]) < 0.03)
    np.testing.assert_allclose(table.scores[1, [0, 1, 3]], 0.5, atol=0.06)
    assert table["all", "linear"] == pytest.approx(1.0, abs=1e-9)
    known = X[:, 1] != 0  # where x2 = +-1, y is known exactly: accuracy 75 %, not nothing
    assert np.array_equal(np.sign(X[known, 1]), y[known])
    assert known.mean() == pytest.approx(0.5, abs=0.06)
    for score in ("pearson", "spearman", "mutual_information", "squared"):
        scores = FilterSelector(score).fit(X, y).scores_
        assert scores[0] < 0.15
        assert scores[1] > 0.3
    assert FilterSelector().fit(X, y).scores_[1] == pytest.approx(np.sqrt(0.5), abs=0.06)


def test_noise_has_no_score():
    table = compare_hypotheses(rng.normal(size=(N, 3)), rng.normal(size=N))
    assert table.scores.max() < 0.05


def test_classes_names_and_conversions():
    import pandas as pd

    x = rng.normal(size=(N, 2))
    y = np.where(np.abs(x[:, 0]) < 0.7, "in", "out")
    table = compare_hypotheses(pd.DataFrame(x, columns=["r", "noise"]), y)
    assert table.columns == ("linear", "quadratic", "threshold", "kernel")
    assert table["r", "kernel"] > 0.7 > table["r", "quadratic"] > 0.2 > table["r", "linear"]
    assert table.to_dict()["noise"].keys() == set(table.columns)
    assert str(table).splitlines()[0].split() == list(table.columns)
    assert [line.split()[0] for line in str(table).splitlines()[1:]] == ["r", "noise", "all"]
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["r", "kernel"] == table["r", "kernel"]
    assert frame.columns.tolist() == list(table.columns)
    for backend in ("polars", "pyarrow"):
        pytest.importorskip(backend)
        other = table.to_frame(backend)
        assert type(other).__module__.startswith(backend)
        assert np.asarray(other["feature"]).tolist() == list(table.features)
        assert np.asarray(other["linear"]).tolist() == table.scores[:, 0].tolist()
    step = compare_hypotheses(x, (x[:, 1] > 0.5).astype(float))
    assert step["x1", "threshold"] > 0.98
    assert step.best("threshold") == "x1"


def test_constant_columns_and_wrong_input():
    constant = compare_hypotheses(np.column_stack([np.ones(40), np.arange(40.0)]), np.arange(40.0))
    assert np.abs(constant.scores[0]).max() < 0.2
    assert compare_hypotheses(np.ones((20, 1)), np.ones(20)).scores.max() == 0
    with pytest.raises(ValueError, match="n_folds=5 is too large"):
        compare_hypotheses(np.ones((4, 1)), np.ones(4))
    with pytest.raises(ValueError, match="column 1"):
        compare_hypotheses(np.array([[0.0, np.nan]] * 20), np.ones(20))
