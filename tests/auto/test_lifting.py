"""The comparison of plain columns and random features."""

import numpy as np
import pytest
from sklearn.datasets import make_circles

from mercer import read
from mercer.auto import Steps, compare_lifts
from mercer.source import MemorySource, split_holdout


def circles():
    X, y = make_circles(400, noise=0.1, factor=0.4, random_state=0)
    return read(X, target=np.array(["inner", "outer"])[y])


def test_lifting_wins_on_circles():
    search = compare_lifts(circles(), "classification", n_components=64)
    assert not search.best.plain
    assert search.best is search.lifted
    block = circles().read(0, 400)
    assert np.mean(search.best.model.predict(block.X) == block.y) > 0.95


def test_plain_wins_on_a_plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    search = compare_lifts(MemorySource(X, X @ np.arange(6.0)), "regression", n_components=32)
    assert search.best.plain


def test_the_loss_is_that_of_the_chosen_penalty():
    for trial in compare_lifts(circles(), "classification", n_components=16, multiples=(1.0,)).trials:
        ridge = trial.model[-1]
        assert trial.loss == ridge.losses_[list(ridge.alphas_).index(trial.alpha)]


def test_steps_are_announced_and_timed():
    names: list[str] = []
    steps = Steps(names.append)
    compare_lifts(circles(), "classify", n_components=16, multiples=(0.5, 2.0), steps=steps)
    assert names == [name for name, _ in steps.log]
    assert len(names) == 3 + 2


def test_holdout_rows_are_never_touched():
    """Changing the values of the held-out targets changes nothing that was learned."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    spoiled = y.copy()
    _, hold = split_holdout(MemorySource(X, np.arange(300)))
    (held,) = hold.blocks()
    spoiled[held.y] = 1e9
    losses = [
        [trial.loss for trial in compare_lifts(split_holdout(MemorySource(X, t))[0], "regression", 16).trials]
        for t in (y, spoiled)
    ]
    assert losses[0] == losses[1]


def test_unknown_task():
    with pytest.raises(ValueError, match="must be 'classification' or 'regression'"):
        compare_lifts(circles(), "rank")
