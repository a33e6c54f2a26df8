"""Rounds of boosting: gradients match the losses, compiled rounds match the definition, and the loss falls."""

import numpy as np
import pytest

from mercer import _numeric
from mercer._numeric.trees import boosting

BOTH = pytest.mark.parametrize("module", [boosting, _numeric], ids=["definition", "twin"])
LOSSES = pytest.mark.parametrize(("logistic", "c"), [(False, 1), (False, 2), (True, 1), (True, 4)])


def problem(logistic, c, n=400, d=5, m=300, seed=0):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 30, size=(n, d)).astype(np.uint8)
    signal = np.sin(bins[:m, :1] / 5.0 + np.arange(c)) + 0.3 * rng.normal(size=(m, c))
    classes = (signal > 0).astype(float) if c == 1 else np.eye(c)[signal.argmax(axis=1)]
    return bins, rng.normal(size=(n, c)), classes if logistic else signal, rng.uniform(0.5, 2.0, m)


def loss_of(scores, targets, weight, logistic):
    if not logistic:
        return weight @ np.sum((scores - targets) ** 2, axis=1) / 2
    if scores.shape[1] == 1:
        return weight @ np.logaddexp(0, np.where(targets > 0, -scores, scores))[:, 0]
    return weight @ (np.log(np.exp(scores).sum(axis=1)) - np.sum(scores * targets, axis=1))


@BOTH
@LOSSES
def test_gradients_are_derivatives(module, logistic, c):
    _, scores, targets, weight = problem(logistic, c)
    scores = np.ascontiguousarray(scores[:300])
    gradient, hessian = module.tree_gradients(scores, targets, weight, logistic)
    step = 1e-4
    factor = c / (c - 1) if logistic and c > 1 else 1.0
    for o in range(c):
        for i in (0, 7, 299):
            there, back = scores.copy(), scores.copy()
            there[i, o] += step
            back[i, o] -= step
            up, here, down = (loss_of(s, targets, weight, logistic) for s in (there, scores, back))
            assert gradient[o, i] == pytest.approx((up - down) / (2 * step), abs=1e-6)
            # a difference of sums of about 300: 300 eps / step^2 of rounding
            assert hessian[o, i] == pytest.approx(factor * (up - 2 * here + down) / step**2, abs=3e-4)


@LOSSES
def test_compiled_gradients_are_those_of_the_definition(logistic, c):
    _, scores, targets, weight = problem(logistic, c)
    scores = np.ascontiguousarray(scores[:300])
    scores[:6, 0] = [-800.0, 800.0, -36.0, 36.0, 0.0, -0.0]
    for ours, theirs in zip(
        *(module.tree_gradients(scores, targets, weight, logistic) for module in (_numeric, boosting)), strict=True
    ):
        assert ours.shape == theirs.shape == (c, 300)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@LOSSES
@pytest.mark.parametrize("seed", range(3))
def test_compiled_rounds_are_those_of_the_definition(logistic, c, seed):
    bins, start, targets, weight = problem(logistic, c, seed=seed)
    columns = np.array([[0, 1, 2], [0, 3, 4], [1, 2, 4], [0, 1, 4]] * c)
    results = []
    for module in (_numeric, boosting):
        scores = start.copy()
        trees = module.grow_rounds(bins, scores, targets, weight, logistic, columns, np.full(5, 30), 8, 2.0, 1.0, 0.3)
        results.append((*trees, scores))
    for k, (ours, theirs) in enumerate(zip(*results, strict=True)):
        assert ours.dtype == theirs.dtype
        if k < 5:
            np.testing.assert_array_equal(ours, theirs)
        else:  # gradients differ by rounding, which the 22-bit grid of sums may amplify
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@BOTH
@LOSSES
def test_rounds_lower_the_loss_and_score_the_other_rows(module, logistic, c):
    bins, scores, targets, weight = problem(logistic, c)
    bins[300:] = bins[:100]
    scores[:] = 0.0
    lost = [loss_of(scores[:300], targets, weight, logistic)]
    for _ in range(6):
        module.grow_rounds(
            bins, scores, targets, weight, logistic, np.tile(np.arange(5), (c, 1)), np.full(5, 30), 8, 2.0, 1.0, 0.3
        )
        lost.append(loss_of(scores[:300], targets, weight, logistic))
    assert np.all(np.diff(lost) < 0)
    np.testing.assert_array_equal(scores[300:], scores[:100])


@BOTH
def test_several_rounds_at_once_are_the_same_as_one_by_one(module):
    bins, start, targets, weight = problem(True, 4)
    columns = np.tile(np.arange(5), (12, 1))
    given = (targets, weight, True)
    limits = (np.full(5, 30), 8, 2.0, 1.0, 0.3)
    at_once, one_by_one = start.copy(), start.copy()
    whole = module.grow_rounds(bins, at_once, *given, columns, *limits)
    parts = [module.grow_rounds(bins, one_by_one, *given, columns[k : k + 4], *limits) for k in (0, 4, 8)]
    np.testing.assert_array_equal(at_once, one_by_one)
    for one, many in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(one, np.concatenate(many))


@BOTH
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.zeros((4, 2))}, "scores"),
        ({"weight": np.ones(2)}, "weight"),
        ({"columns": np.zeros((1, 0), dtype=np.int64)}, "columns"),
        ({"columns": np.array([[7]])}, None),
        ({"targets": np.zeros((5, 1)), "weight": np.ones(5)}, "rows"),
        ({"targets": np.zeros((3, 2)), "scores": np.zeros((4, 2))}, "each output"),
        ({"targets": np.full((3, 1), np.nan)}, "finite"),
    ],
)
def test_invalid_arguments_are_rejected(module, change, message):
    given = {
        "bins": np.zeros((4, 2), np.uint8), "scores": np.zeros((4, 1)), "targets": np.zeros((3, 1)),
        "weight": np.ones(3), "logistic": False, "columns": np.array([[0]]), "widths": np.array([1, 1]),
        "max_leaf_nodes": 3, "min_hessian": 1.0, "l2": 1.0, "learning_rate": 0.1,
    } | change  # fmt: skip
    with pytest.raises((ValueError, IndexError), match=message):
        module.grow_rounds(**given)
