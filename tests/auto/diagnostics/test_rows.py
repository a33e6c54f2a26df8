"""Residuals, explained rows and slices."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import false_discovery_control, ttest_ind

from auto.diagnostics.held_out_cases import fitted, linear_rows, linear_table_rows, mixed_table, texts
from mercer.auto.diagnostics.sections import examples, residuals, slices
from mercer.select.filters.false_discovery import adjusted_pvalues


def test_residuals_of_the_true_model_have_no_trend():
    rng, covered, total = np.random.default_rng(0), 0, 0
    for _ in range(60):
        X = rng.normal(size=(300, 2))
        rows = linear_rows(X, np.zeros(300), [1.0, 2.0])
        rows = replace(rows, y=rows.scores[:, 0] + rng.normal(size=300))
        found = residuals.section(rows)
        covered += sum(each["low"] <= 0 <= each["high"] for each in found["trend"])
        total += len(found["trend"])
    assert 0.93 < covered / total < 0.97
    assert sum(found["histogram"]["counts"]) == 300
    assert sum(each["n"] for each in found["trend"]) == 300


def test_residuals_are_target_less_prediction():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 1))
    rows = linear_rows(X, X[:, 0] ** 2, [1.0])
    found = residuals.section(rows)
    assert len(found["predicted"]) == len(found["actual"]) == 400
    trend = found["trend"]
    assert len(trend) == 20
    order = np.argsort(rows.scores[:, 0])[:25]
    assert trend[0]["residual"] == pytest.approx(np.mean(rows.y[order] - rows.scores[order, 0]))


@pytest.mark.parametrize(
    "kind", ["regression", "two classes", "three classes", "many columns", "texts", "scored texts"]
)
def test_contributions_add_up_to_the_score(kind):
    rng = np.random.default_rng(2)
    table, signal = mixed_table(300, rng)
    targets = {"two classes": signal > 1, "three classes": np.digitize(signal, [0.5, 1.5])}
    if kind in ("texts", "scored texts"):
        text, good = texts(400, rng, words=1500)
        table = {"text": text} | ({} if kind == "texts" else {"x": rng.normal(size=400)})
        targets[kind] = good
    if kind == "many columns":
        table = {f"x{j}": column for j, column in enumerate(rng.normal(size=(260, 300)).T)}
        signal = table["x1"] + table["x2"]
    rows, _ = fitted(table, targets.get(kind, signal), kind in targets)
    found = examples.section(rows, 4)
    assert [len(found[name]) for name in ("worst", "typical")] == [4, 4]
    for each in (*found["worst"], *found["typical"]):
        k = int(np.flatnonzero(rows.positions == each["row"])[0])
        parts = [part["contribution"] for part in each["contributions"]]
        assert each["baseline"] + sum(parts) + each["other"] == pytest.approx(each["score"], abs=1e-9)
        assert len(parts) <= 8
        assert np.all(np.diff(np.abs(parts)) <= 1e-12)
        assert each["actual"] == examples.short_text(rows.y[k].item())
        if kind in targets:
            index = [str(name) for name in rows.classes.tolist()].index(each["output"])
            assert each["probability"] == pytest.approx(rows.probabilities[k, index])
            assert each["predicted"] == str(rows.predictor.predict(rows.X[k : k + 1])[0])
        else:
            assert each["score"] == pytest.approx(rows.predictor.predict(rows.X[k : k + 1])[0])
        if kind in ("two classes", "texts"):
            assert each["probability"] == pytest.approx(expit(each["score"]))
    assert found["unit"] == ("log-odds" if kind in ("two classes", "texts", "scored texts") else found["unit"])


def test_contributions_of_a_linear_model_are_weights_times_differences():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    rows = linear_rows(X, rng.normal(size=60), [1.0, -2.0, 0.5], 0.3)
    for each in examples.section(rows, 3, "price")["worst"]:
        expected = [1.0, -2.0, 0.5] * (rows.X[each["row"]] - rows.baseline)
        assert {part["column"]: part["contribution"] for part in each["contributions"]} == pytest.approx(
            dict(zip(["x0", "x1", "x2"], expected, strict=True)), abs=1e-6
        )
    assert examples.section(rows, 3, "price")["unit"] == "price"


def test_the_worst_rows_have_the_largest_losses():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 1))
    rows = linear_rows(X, rng.normal(size=100), [1.0])
    errors = (rows.y - rows.scores[:, 0]) ** 2
    found = examples.section(rows, 5)
    assert [each["row"] for each in found["worst"]] == np.argsort(-errors)[:5].tolist()
    middle = np.sort(errors)[[35, 65]]
    assert all(middle[0] <= errors[each["row"]] <= middle[1] for each in found["typical"])
    scores = [each["score"] for each in found["typical"]]
    assert scores == sorted(scores)
    assert scores[-1] - scores[0] > np.std(rows.scores)


def test_long_values_are_cut():
    table = {"x": np.arange(40.0) % 7, "city": np.array(["a" * 100, "b"] * 20, dtype=object)}
    rows = linear_table_rows(table, np.arange(40.0), lambda encoder: np.arange(len(encoder.get_feature_names_out())))
    values = [part["value"] for each in examples.section(rows, 20)["worst"] for part in each["contributions"]]
    assert max(map(len, values)) == 60


def _noisy(rng, n, classify, slope=0.0):
    """A table, and a true model that is no worse anywhere: classes of one probability, or noise of one variance."""
    table, _ = mixed_table(n, rng)
    table |= {f"x{j}": rng.normal(size=n) for j in range(4)}
    y = rng.random(n) < 0.3 if classify else table["x0"] + rng.normal(size=n)
    classes, intercept = ([False, True], np.log(3 / 7)) if classify else (None, 0.0)

    def coef(encoder):
        return (encoder.get_feature_names_out() == "x0") * (slope if classify else 1.35)

    return linear_table_rows(table, y, coef, intercept, classes)


@pytest.mark.parametrize("classify", [False, True])
def test_noise_has_no_slices(classify):
    rng, n_found, n = np.random.default_rng(5), 0, 200
    for _ in range(n):
        n_found += bool(slices.section(_noisy(rng, 300, classify)))
    assert n_found <= 0.05 * n + 2 * np.sqrt(0.05 * 0.95 * n)


@pytest.mark.parametrize("classify", [False, True])
def test_a_planted_slice_is_found(classify):
    rng = np.random.default_rng(6)
    rows = _noisy(rng, 800, classify, slope=2.0)
    bad = rows.table.array("city") == "Lima"
    if classify:
        y = np.where(bad, rows.scores[:, 0] < 0, rows.scores[:, 0] > 0)
    else:
        y = rows.scores[:, 0] + np.where(bad, 5.0, 1.0) * rng.normal(size=800)
    rows = replace(rows, y=y)
    first = slices.section(rows)[0]
    assert (first["column"], first["condition"], first["n"]) == ("city", "is Lima", int(bad.sum()))
    assert first["p_value"] < 1e-3
    if classify:
        assert (first["metric"], first["score"]["value"], first["rest"]) == ("accuracy", 0.0, 1.0)
    else:
        assert first["metric"] == "rmse"
        assert first["score"]["value"] == pytest.approx(np.sqrt(np.mean((rows.y - rows.scores[:, 0])[bad] ** 2)))
        assert first["score"]["low"] < 5.0 < first["score"]["high"]


def test_slices_cover_missing_values_quartiles_and_quarters_of_dates():
    rng = np.random.default_rng(7)
    rows = _noisy(rng, 800, False)
    conditions = {name: [each.condition for each in slices.slices_of(rows, name)] for name in rows.table.columns}
    assert conditions["size"][0] == "is missing"
    assert len(conditions["size"]) == 5
    assert conditions["city"] != conditions["new"]
    assert sorted(conditions["new"]) == ["is False", "is True"]
    assert len(conditions["day"]) == 4
    assert conditions["day"][0].startswith("at most 2020-")
    covered = np.sum([each.rows for each in slices.slices_of(rows, "size")], axis=0)
    assert np.array_equal(covered, np.ones(800))


def test_p_values_are_those_of_scipy():
    rng = np.random.default_rng(8)
    rows = _noisy(rng, 500, False)
    rows = replace(rows, y=rows.scores[:, 0] + np.where(rows.table.array("new"), 3.0, 1.0) * rng.normal(size=500))
    losses = (rows.y - rows.scores[:, 0]) ** 2
    every = [each for name in rows.table.columns for each in slices.slices_of(rows, name)]
    p = [ttest_ind(losses[s.rows], losses[~s.rows], equal_var=False, alternative="greater").pvalue for s in every]
    worse = [losses[s.rows].mean() > losses[~s.rows].mean() for s in every]
    adjusted = false_discovery_control(np.where(worse, p, 1.0))
    expected = {(s.column, s.condition): q for s, q in zip(every, adjusted, strict=True) if q < 0.05}
    found = {(each["column"], each["condition"]): each["p_value"] for each in slices.section(rows)}
    assert found == pytest.approx({key: expected[key] for key in found})
    assert ("new", "is True") in found


def test_adjusted_p_values_are_those_of_scipy():
    p = np.random.default_rng(9).random(50) ** 3
    assert adjusted_pvalues(p) == pytest.approx(false_discovery_control(p))
