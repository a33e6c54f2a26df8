"""The report of `mercer.fit`: for every kind of data it conforms to its schema, is saved, and is honest."""

import json

import numpy as np
import pytest

import mercer
from auto.diagnostics.held_out_cases import mixed_table, texts
from auto.diagnostics.schema_check import conforms
from mercer.auto.diagnostics.other_data import evaluate_on
from mercer.auto.diagnostics.schema import Report


def _mixed(n=300):
    return mixed_table(n, np.random.default_rng(0))


def _regression():
    table, signal = _mixed()
    return {**table, "price": 1000 + 100 * signal}, {}


def _classes():
    table, signal = _mixed()
    return {**table, "price": np.where(signal > 1, "yes", "no").astype(object)}, {}


def _many_classes():
    table, signal = _mixed(400)
    return {**table, "price": np.argsort(np.argsort(signal)) // 40}, {"task": "classification"}


def _texts():
    text, good = texts(300, np.random.default_rng(1), 1500)
    return {"text": text, "price": np.where(good, "up", "down").astype(object)}, {}


def _weights():
    table, signal = _mixed()
    return {**table, "price": signal, "w": np.random.default_rng(2).integers(1, 4, 300)}, {"weight": "w"}


def _constant():
    table, _ = _mixed()
    return {**table, "price": np.full(300, 2.5)}, {}


def _few_rows():
    table, signal = _mixed(24)
    return {**table, "price": signal}, {}


def _no_holdout():
    table, signal = _mixed()
    return {**table, "price": signal}, {"holdout": 0}


def _repeated_rows():
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 6, 200)
    return {"kind": np.array(list("abcdef"), dtype=object)[kinds], "price": kinds + rng.normal(size=200)}, {}


KINDS = {
    "regression": _regression,
    "classes": _classes,
    "ten classes": _many_classes,
    "texts": _texts,
    "weights": _weights,
    "constant target": _constant,
    "few rows": _few_rows,
    "no holdout": _no_holdout,
    "repeated rows": _repeated_rows,
}


@pytest.fixture(scope="module", params=list(KINDS))
def model(request):
    data, options = KINDS[request.param]()
    return mercer.fit(data, "price", effort="fast", **options)


def test_the_report_conforms_to_its_schema(model):
    report = model.report()
    assert conforms(report, Report) is None
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_a_saved_model_has_the_same_report(model, tmp_path):
    model.save(tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").report() == model.report()


def test_metrics_of_the_holdout_are_there_for_three_models(model):
    holdout = model.report().get("holdout")
    if holdout is None:
        assert model.report()["verdict"]["level"] == "unknown"
        return
    for scores in (holdout["model"], holdout["linear"], holdout["naive"]):
        assert set(scores["metrics"]) == set(holdout["metrics"])
        for estimate in scores["metrics"].values():
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
    main = {"R2": "r2", "accuracy": "accuracy"}[holdout["metric"]]
    assert holdout["metrics"][main]["value"] == holdout["model"]["value"]


def test_fractions_of_the_gain_add_up(model):
    gains = [block["gain_fraction"] for block in model.report()["blocks"]]
    assert None in gains or np.isclose(sum(gains), 1.0)


def test_repr_has_three_lines(model):
    assert len(repr(model).splitlines()) == 3


def test_without_rows():
    data, _ = _regression()
    data["city"] = np.array([f"secret {k}" for k in range(300)], dtype=object)
    shown = json.dumps(mercer.fit(data, "price", effort="fast", roles={"city": "text"}).report())
    model = mercer.fit(data, "price", effort="fast", report_rows=0, roles={"city": "text"})
    hidden = model.report()
    assert "examples" in json.loads(shown)
    assert "examples" not in hidden
    assert hidden["residuals"]["predicted"] == hidden["residuals"]["actual"] == []
    assert hidden["boundary"]["points"] == []
    assert conforms(hidden, Report) is None
    assert model.report(rows=False) == hidden


def test_without_diagnostics():
    data, _ = _regression()
    report = mercer.fit(data, "price", effort="fast", report=False).report()
    assert conforms(report, Report) is None
    assert not {"effects", "profiles", "learning_curve"} & set(report)
    assert report["verdict"]["level"] in ("gain", "linear")


def test_diagnostics_do_not_change_the_model():
    data, _ = _classes()
    one, other = (mercer.fit(data, "price", effort="fast", report=report) for report in (True, False))
    table = {name: column for name, column in data.items() if name != "price"}
    assert np.array_equal(one.predict_proba(table), other.predict_proba(table))
    assert one.report()["holdout"] == other.report()["holdout"]


def test_noise_has_no_skill():
    """On noise the interval of the gain over guessing excludes zero from above in at most about 1 of 40 fits."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = {f"x{j}": rng.normal(size=200) for j in range(4)}
        model = mercer.fit({**data, "y": rng.normal(size=200)}, "y", effort="fast", report=False)
        found.append(model.report()["verdict"]["level"])
    assert found.count("no-skill") >= 11


def test_origin_is_recorded_and_saved(tmp_path):
    data, _ = _regression()
    model = mercer.fit(data, "price", effort="fast", random_state=3)
    model.record_origin("mercer fit houses.csv --target price", [{"name": "houses.csv", "rows": 300, "sha256": "00"}])
    model.save(tmp_path / "model.mercer")
    found = mercer.load(tmp_path / "model.mercer").report()["reproduction"]
    assert found["command"] == "mercer fit houses.csv --target price"
    assert found["data"][0]["rows"] == 300
    assert found["seed"] == 3
    assert found["code"] == "model = mercer.fit(data, 'price', effort='fast', random_state=3)"


def test_scores_on_other_data(tmp_path):
    data, _ = _regression()
    model = mercer.fit(data, "price", effort="fast")
    found = evaluate_on(model, data)
    assert found["n"] == 300
    table = {name: column for name, column in data.items() if name != "price"}
    assert np.isclose(found["metrics"]["r2"]["value"], model.score(table, data["price"]))
    with pytest.raises(ValueError, match="'price' is 'high' at row 0, but the model predicts numbers"):
        evaluate_on(model, {**data, "price": np.array(["high", "low"] * 150, dtype=object)})


def test_rows_hash_does_not_depend_on_the_order():
    data, _ = _regression()
    order = np.random.default_rng(0).permutation(300)
    turned = {name: np.asarray(column)[order] for name, column in data.items()}
    one, other = (mercer.fit(each, "price", effort="fast", report=False).report() for each in (data, turned))
    assert one["reproduction"]["rows_hash"] == other["reproduction"]["rows_hash"]


def test_the_report_of_an_estimator_conforms_to_the_schema():
    data, _ = _regression()
    y = data.pop("price")
    model = mercer.MercerRegressor(effort="fast").fit(data["size"][:, None], y).model_
    assert conforms(model.report(), Report) is None
    assert model.report()["verdict"]["level"] == "unknown"
