"""Steps of a fit: messages, the fraction done, and the best loss so far."""

import numpy as np
import pytest

import mercer
from mercer.auto import Steps
from mercer.auto.budget.progress import DONE_BEFORE, MESSAGES, StepMessage


def messages_of(y, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    seen = []

    def progress(message):
        seen.append((message, message.fraction, message.best_loss))

    model = mercer.fit(X, y(X), effort="fast", progress=progress, **options)
    return model, seen


@pytest.mark.parametrize(
    ("y", "task"),
    [(lambda X: np.sin(2 * X[:, 0]) + X[:, 1], "regression"), (lambda X: X[:, 0] * X[:, 1] > 0, "classification")],
    ids=["regression", "classification"],
)
def test_progress_of_a_fit(y, task):
    """Messages are texts; the fraction never falls; the best loss is that of the search, whatever is tried later."""
    model, seen = messages_of(y)
    texts = [message for message, *_ in seen]
    assert all(isinstance(message, str) for message in texts)
    assert texts[0] == "read"
    assert MESSAGES["holdout"] in texts
    fractions = [fraction for _, fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] < 1
    assert all(message.fraction < message.end <= 1 for message in texts)
    losses = [loss for *_, loss in seen if loss is not None]
    assert losses == sorted(losses, reverse=True)
    assert texts[0].task == task
    final = {"final", "terms"}  # compared by another loss
    kept = [each["loss"] for each in model.report()["candidates"] if each["kept"] and each["stage"] not in final]
    assert min(kept) <= texts[0].best_loss < 1


def test_a_step_out_of_order_does_not_lower_the_fraction():
    seen: list[StepMessage] = []
    steps = Steps(seen.append)
    for step in ("fourier", "kernels", "own stage"):
        with steps(step):
            pass
    assert [message.fraction for message in seen] == [DONE_BEFORE["fourier"]] * 3
    assert [message.step for message in seen] == ["fourier", "kernels", "own stage"]
    assert seen[2] == "own stage"


def test_fractions_are_known_for_steps_that_have_messages():
    assert set(DONE_BEFORE) <= set(MESSAGES)
    assert all(0 < fraction < 1 for fraction in DONE_BEFORE.values())
