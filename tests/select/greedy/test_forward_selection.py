"""Forward selection for the squared loss: the same path as trying every column, from rows and from a Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import OrthogonalMatchingPursuit as PeerPursuit

from mercer._numeric.block import Block
from mercer.select import GreedySelector, OrthogonalMatchingPursuit
from mercer.source import MemorySource, StreamSource, listening


def design(seed, n=30, d=10):
    """Correlated columns of unequal variance and offset, a target that some of them explain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * rng.uniform(0.1, 10.0, d) + rng.normal(size=d)
    return X, X[:, :3] @ rng.normal(size=3) + rng.normal(size=n) + 3.0


def residual(X, y, columns, w, intercept=True):
    A = X[:, columns]
    A = np.column_stack([np.ones(len(y)), A]) if intercept else A
    root = np.sqrt(w)
    left = root * y - (root[:, None] * A) @ np.linalg.lstsq(root[:, None] * A, root * y, rcond=None)[0]
    return left @ left / w.sum()


def brute_path(X, y, k, w, intercept=True):
    """Columns and risks by trying every column at every step; None where the best two are all but equal."""
    chosen, risks = [], []
    for _ in range(k):
        left = [j for j in range(X.shape[1]) if j not in chosen]
        found = np.array([residual(X, y, [*chosen, j], w, intercept) for j in left])
        order = np.argsort(found)
        if len(order) > 1 and found[order[1]] - found[order[0]] < 1e-9 * found[order[1]]:
            return None
        chosen.append(left[order[0]])
        risks.append(found[order[0]])
    return chosen, np.array(risks)


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_the_path_is_that_of_brute_force_on_100_designs(solver):
    compared = 0
    for seed in range(100):
        X, y = design(seed, n=25, d=7)
        expected = brute_path(X, y, 4, np.ones(25))
        if expected is None:
            continue
        path = GreedySelector(k=4, solver=solver).fit(X, y).path_
        assert path.feature.tolist() == expected[0]
        np.testing.assert_allclose(path.risk, expected[1], rtol=1e-8)
        compared += 1
    assert compared > 95


@pytest.mark.parametrize("solver", ["gram", "rows"])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_and_intercept(solver, intercept):
    X, y = design(1, n=40)
    w = np.random.default_rng(1).uniform(0.1, 3.0, 40)
    model = GreedySelector(k=5, solver=solver, fit_intercept=intercept).fit(X, y, w)
    chosen, risks = brute_path(X, y, 5, w, intercept)
    assert model.path_.feature.tolist() == chosen
    np.testing.assert_allclose(model.path_.risk, risks, rtol=1e-8)
    peer = LinearRegression(fit_intercept=intercept).fit(X[:, model.support_], y, w)
    np.testing.assert_allclose(model.coef_[model.support_], peer.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), peer.predict(X[:, model.support_]), rtol=1e-7)


@given(st.integers(0, 10**6), st.integers(1, 29), st.permutations(range(30)))
@settings(max_examples=25)
def test_merges_row_orders_and_repetitions_agree(seed, cut, order):
    X, y = design(seed)
    w = np.random.default_rng(seed).integers(1, 4, 30).astype(float)
    whole = GreedySelector(k=4).fit(X, y, w)
    merged = (
        GreedySelector(k=4).fit(X[:cut], y[:cut], w[:cut]).merge(GreedySelector(k=4).fit(X[cut:], y[cut:], w[cut:]))
    )
    shuffled = GreedySelector(k=4).fit(X[list(order)], y[list(order)], w[list(order)])
    repeated = GreedySelector(k=4, solver="rows").fit(X.repeat(w.astype(int), axis=0), y.repeat(w.astype(int)))
    for other in (merged, shuffled, repeated):
        np.testing.assert_allclose(other.path_.risk, whole.path_.risk, rtol=1e-7)


def test_a_stream_needs_one_pass_for_any_width_and_equals_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 600))
    y = X[:, [5, 50, 500]] @ [1.0, -2.0, 3.0] + rng.normal(size=900)
    starts = []

    def start():
        starts.append(1)
        return (Block(X[i : i + 100], y[i : i + 100]) for i in range(0, 900, 100))

    streamed = GreedySelector(k=6).fit(StreamSource(start))
    seen = len(starts)
    rows = GreedySelector(k=6).fit(X, y)
    assert seen == 2  # reading the first block, and the pass
    assert rows.path_.feature.tolist() == streamed.path_.feature.tolist()
    assert set(rows.path_.feature[:3]) == {5, 50, 500}
    np.testing.assert_allclose(streamed.coef_, rows.coef_, atol=1e-9)
    with pytest.raises(ValueError, match="solver='gram'"):
        rows.merge(streamed)


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_sparse_float32_and_far_from_zero(solver):
    rng = np.random.default_rng(2)
    X = sparse.random_array((200, 30), density=0.2, rng=rng, format="csr")
    y = np.asarray(X[:, [3, 7]] @ [4.0, -3.0]) + 0.05 * rng.normal(size=200)
    exact = GreedySelector(k=5, solver=solver).fit(X.toarray(), y)
    for other in (X, X.toarray().astype(np.float32), X.toarray() + 1e6, np.asfortranarray(X.toarray())):
        found = GreedySelector(k=5, solver=solver).fit(other, y)
        assert found.path_.feature[:2].tolist() == exact.path_.feature[:2].tolist()
        np.testing.assert_allclose(found.path_.risk, exact.path_.risk, atol=30 * 2**-24 * y.var())  # of float32
    assert sparse.issparse(found.fit(X, y).transform(X))


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_constant_duplicated_and_dependent_columns_are_left_out(solver):
    X, y = design(3, n=50, d=3)
    X = np.column_stack([X, np.full(50, 7.3), X[:, 0], X[:, 1] - 2 * X[:, 2], np.zeros(50)])
    model = GreedySelector(k=7, solver=solver).fit(X, y)
    assert len(model.path_) == 3
    assert not model.support_[[3, 6]].any()
    np.testing.assert_allclose(model.path_.risk[-1], residual(X, y, [0, 1, 2], np.ones(50)), rtol=1e-8)


def test_more_columns_than_rows_end_in_interpolation():
    X, y = design(4, n=8, d=20)
    model = GreedySelector(k=20).fit(X, y)
    assert len(model.path_) == 7
    assert model.path_.risk[-1] < 1e-12
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-5)


@pytest.mark.parametrize("selector", [GreedySelector, OrthogonalMatchingPursuit])
@pytest.mark.parametrize("noise", [0.1, 10.0])
def test_prefetching_changes_nothing(monkeypatch, selector, noise):
    from mercer.select.greedy import inner_products, prefetch

    rng = np.random.default_rng(17)
    X = rng.normal(size=(100, 700)) + rng.normal(size=(100, 1))
    y, w = X[:, ::100] @ rng.normal(size=7) + noise * rng.normal(size=100), rng.uniform(0.5, 2.0, 100)
    plain = selector(k=40, include=[3], solver="rows").fit(X, y, w)
    monkeypatch.setattr(inner_products, "MIN_COLUMNS", 1)
    for active in (4, 40, 512):  # few active columns make predictions fail often
        monkeypatch.setattr(prefetch, "_ACTIVE_COLUMNS", active)
        prefetched = selector(k=40, include=[3], solver="rows").fit(X, y, w)
        assert prefetched.path_.feature.tolist() == plain.path_.feature.tolist()
        np.testing.assert_allclose(prefetched.path_.risk, plain.path_.risk, rtol=1e-9)
        np.testing.assert_allclose(prefetched.coef_, plain.coef_, atol=1e-9)


def test_the_risk_falls_by_the_gain():
    X, y = design(5, n=60, d=12)
    for model in (GreedySelector(k=12), GreedySelector(k=12, solver="rows")):
        path = model.fit(X, y).path_
        np.testing.assert_allclose(-np.diff(path.risk, prepend=y.var()), path.gain, atol=1e-9 * y.var())
        assert np.all(np.diff(path.risk) <= 0)
    for model in (OrthogonalMatchingPursuit(k=12), GreedySelector(k=30, step="gradient", refit=False)):
        assert np.all(np.diff(model.fit(X, y).path_.risk) <= 1e-12)


def test_all_rules_agree_on_orthogonal_columns():
    rng = np.random.default_rng(6)
    X = np.linalg.qr(np.column_stack([np.ones(40), rng.normal(size=(40, 8))]))[0][:, 1:]
    y = rng.normal(size=40)
    paths = [
        GreedySelector(k=8, step=step, refit=refit).fit(X, y).path_
        for step, refit in (("refit", True), ("line", True), ("gradient", True), ("line", False), ("gradient", False))
    ]
    for path in paths[1:]:
        assert path.feature.tolist() == paths[0].feature.tolist()
        np.testing.assert_allclose(path.risk, paths[0].risk, rtol=1e-9)


def test_orthogonal_matching_pursuit_equals_scikit_learns_and_not_the_notes():
    differ = 0
    for seed in range(20):
        X, y = design(seed, n=40, d=12)
        Z = X - X.mean(axis=0)
        Z /= np.linalg.norm(Z, axis=0)
        peer = PeerPursuit(n_nonzero_coefs=5).fit(Z, y)
        ours = OrthogonalMatchingPursuit(k=5).fit(X, y)
        assert set(ours.get_support(indices=True)) == set(np.flatnonzero(peer.coef_))
        np.testing.assert_allclose(ours.predict(X), peer.predict(Z), rtol=1e-7)
        differ += ours.path_.feature.tolist() != GreedySelector(k=5).fit(X, y).path_.feature.tolist()
    assert differ >= 5  # the two rules differ on about half of random designs


def test_matching_pursuit_repeats_columns_and_tends_to_least_squares():
    X, y = design(7, n=50, d=4)
    model = GreedySelector(k=4000, step="line", refit=False).fit(X, y)
    assert len(model.path_) > 4
    np.testing.assert_allclose(model.path_.risk[-1], residual(X, y, [0, 1, 2, 3], np.ones(50)), rtol=1e-6)


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_groups_are_scored_by_their_joint_fit(solver):
    rng = np.random.default_rng(8)
    categories = rng.integers(0, 4, 80)
    hot = np.eye(4)[categories]  # its columns sum to one: with the intercept, one too many
    X = np.column_stack([rng.normal(size=(80, 3)), hot, rng.normal(size=(80, 2))])
    y = np.array([2.0, -1.0, 0.5, 0.0])[categories] + X[:, 0] + 0.1 * rng.normal(size=80)
    groups = ["a", "b", "c", "h", "h", "h", "h", "z", "z"]
    model = GreedySelector(k=2, groups=groups, solver=solver).fit(X, y)
    assert model.groups_[model.path_.feature].tolist() == ["h", "a"]
    assert model.get_support(indices=True).tolist() == [0, 3, 4, 5, 6]
    np.testing.assert_allclose(model.path_.risk[0], residual(X, y, [3, 4, 5, 6], np.ones(80)), rtol=1e-8)
    np.testing.assert_allclose(model.path_.gain[1], model.path_.risk[0] - model.path_.risk[1], rtol=1e-7)
    assert model.ranking_.tolist() == [2, 3, 3, 1, 1, 1, 1, 3, 3]


def test_included_columns_are_selected_from_the_start():
    import pandas as pd

    X, y = design(9, n=60, d=8)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = GreedySelector(k=2, include=["h", 6]).fit(frame, y)
    found = [j for j in range(8) if j < 6]
    best = min(found, key=lambda j: residual(X, y, [6, 7, j], np.ones(60)))
    assert model.path_.feature[0] == best
    assert model.ranking_[[6, 7]].tolist() == [0, 0]
    assert model.support_[[6, 7]].all()
    assert model.support_.sum() == 4
    with pytest.raises(ValueError, match="include names 'q'"):
        GreedySelector(include=["q"]).fit(frame, y)


@pytest.mark.parametrize("stop", [None, "folds", "aic"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "parameters",
    [
        {"step": "line", "refit": False, "k": 9},
        {"k": 3, "groups": [0, 0, 1, 1, 2, 2, 3, 3, 3]},
        {"k": 4, "include": [8, 1]},
        {"k": 2, "groups": [0, 0, 1, 1, 2, 2, 3, 3, 3], "step": "line", "include": [0]},
    ],
    ids=str,
)
def test_rows_and_gram_agree_for_all_parameters(parameters, intercept, stop):
    X, y = design(18, n=80, d=9)
    w = np.random.default_rng(18).uniform(0.3, 2.0, 80)
    asked = {**parameters, "fit_intercept": intercept, "stop": stop}
    gram, rows = (GreedySelector(**asked, solver=solver).fit(X, y, w) for solver in ("gram", "rows"))
    assert gram.path_.feature.tolist() == rows.path_.feature.tolist()
    assert gram.n_steps_ == rows.n_steps_
    np.testing.assert_allclose(gram.path_.score, rows.path_.score, rtol=1e-6)
    np.testing.assert_allclose(gram.coef_, rows.coef_, rtol=1e-4, atol=1e-6)
    for model in (gram, rows):
        np.testing.assert_allclose(
            w @ (y - model.predict(X)) ** 2 / w.sum(), model.path_.risk[model.n_steps_ - 1], rtol=1e-6
        )


@pytest.mark.parametrize("solver", ["gram", "rows"])
def test_folds_choose_what_direct_cross_validation_chooses(solver):
    from mercer.select.greedy.stopping import folds_of

    rng = np.random.default_rng(10)
    X = rng.normal(size=(150, 20))
    y = X[:, :4] @ [3.0, 2.0, 1.0, 1.0] + rng.normal(size=150)
    w = rng.uniform(0.5, 2.0, 150)
    model = GreedySelector(k=10, stop="folds", n_folds=4, solver=solver).fit(X, y, w)
    folds = folds_of(Block(X), 4, 0)
    direct = np.zeros(10)
    for fold in range(4):
        out = folds == fold
        chosen, _ = brute_path(X[~out], y[~out], 10, w[~out])
        for t in range(10):
            fit = LinearRegression().fit(X[~out][:, chosen[: t + 1]], y[~out], w[~out])
            direct[t] += w[out] @ (y[out] - fit.predict(X[out][:, chosen[: t + 1]])) ** 2
    np.testing.assert_allclose(model.path_.score, direct / w.sum(), rtol=1e-8)
    assert model.n_steps_ == 1 + np.argmin(direct) == model.support_.sum()
    assert model.support_[:4].all()


def test_information_criteria():
    X, y = design(11, n=200, d=10)
    model = GreedySelector(k=10, stop="bic").fit(X, y)
    p = np.arange(1, 11) + 1
    np.testing.assert_allclose(model.path_.score, 200 * np.log(model.path_.risk) + p * np.log(200), rtol=1e-12)
    assert model.n_steps_ <= GreedySelector(k=10, stop="aic").fit(X, y).n_steps_ < 10


def test_planted_columns_of_friedman_and_madelon_are_found():
    rng = np.random.default_rng(12)
    X = rng.uniform(size=(2000, 60))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    linear = GreedySelector(k=4).fit(X, y + rng.normal(size=2000))
    assert set(linear.path_.feature) == {0, 1, 3, 4}  # column 2 enters by its square alone
    squares = GreedySelector(k=5).fit(np.hstack([X, (X - 0.5) ** 2]), y)
    assert set(squares.path_.feature % 60) == {0, 1, 2, 3, 4}


def test_progress_is_reported_step_by_step():
    X, y = design(13)
    reports = []
    with listening(lambda done, total: reports.append((done, total))):
        GreedySelector(k=3, solver="rows").fit(X, y)
    assert reports == [(1, 3), (2, 3), (3, 3)]


def test_names_transform_and_inverse_transform():
    import pandas as pd

    X, y = design(14)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(10)])
    model = GreedySelector(k=3).fit(frame, y)
    names = model.get_feature_names_out().tolist()
    kept = model.transform(frame)
    np.testing.assert_array_equal(kept, frame[names])
    back = model.inverse_transform(kept)
    np.testing.assert_array_equal(back[:, model.support_], kept)
    assert not back[:, ~model.support_].any()
    mapped = model.transform(MemorySource(X, y))
    assert mapped.names == names


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be a whole number"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"refit": False}, "contradicts"),
        ({"step": "line", "refit": False, "include": [0]}, "need refit=True"),
        ({"groups": [0] * 10, "interactions": 2}, "cannot be combined"),
        ({"interactions": 3}, "interactions must be 1 or 2, not 3"),
        ({"groups": [0, 1]}, "each of 10 columns"),
        ({"loss": "logistic", "solver": "gram"}, "squared loss of single columns"),
        ({"loss": "hinge", "stop": "bic"}, "not likelihoods"),
        ({"loss": "hinge", "fit_intercept": False}, "with an intercept"),
        ({"alpha": 0.0}, "positive"),
        ({"n_folds": 1}, "at least 2"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    X, y = design(15)
    with pytest.raises(ValueError, match=message):
        GreedySelector(**parameters).fit(X, y > 3 if parameters.get("loss") else y)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_interactions_is_a_number_not_a_flag(value):
    X, y = design(15)
    with pytest.raises(TypeError, match=r"interactions must be 1 or 2, not .*interactions=2 for products of pairs"):
        GreedySelector(interactions=value).fit(X, y)


def test_huge_values_are_refused_with_a_remedy():
    X, y = design(16)
    for solver in ("gram", "rows"):
        with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match="Standardize"):
            GreedySelector(solver=solver).fit(1e200 * X, y)


@pytest.mark.parametrize("solver", ["gram", "rows"])
@pytest.mark.parametrize("seed", range(6))
def test_two_rows_are_refused_in_one_fold_and_in_two(solver, seed):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 1.0])
    with pytest.raises(ValueError, match="stop='folds' needs"):
        GreedySelector(k=1, stop="folds", n_folds=3, solver=solver, random_state=seed).fit(X, y)
