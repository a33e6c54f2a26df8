"""The heaviest terms of texts, by weight times standard deviation."""

import numpy as np
import pytest

from auto.diagnostics.held_out_cases import fitted, texts
from mercer.auto.diagnostics.sections import terms


def _rows(beside, classify=True, n=600, words=1500):
    rng = np.random.default_rng(0)
    text, good = texts(n, rng, words)
    table = {"a text": text} | ({"x": rng.normal(size=n)} if beside else {})
    labels = np.where(good, "yes", "no").astype(object)
    return fitted(table, labels if classify else good * 2.0 + 0.01 * rng.normal(size=n), classify)[0]


@pytest.mark.parametrize(("beside", "n", "words"), [(False, 600, 1500), (True, 600, 1500), (True, 200, 10)])
def test_the_words_that_decide_are_the_heaviest(beside, n, words):
    (found,) = terms.section(_rows(beside, n=n, words=words))
    assert (found["column"], found["output"]) == ("a text", "yes")
    assert found["positive"][0]["term"] == "good"
    assert found["negative"][0]["term"] == "bad"
    assert found["positive"][0]["weight"] > 0 > found["negative"][0]["weight"]
    assert len(found["positive"]) <= 15


def test_terms_are_ranked_by_weight_times_standard_deviation():
    rows = _rows(False)
    (found,) = terms.section(rows)
    weights = rows.predictor.coef[:, 0] / rows.predictor.temperature
    ranks = weights * np.std(rows.X.toarray(), axis=0)
    names = [name.removeprefix("a text:") for name in rows.encoder.get_feature_names_out()]
    best = np.argsort(-ranks, kind="stable")[:15]
    assert [each["term"] for each in found["positive"]] == [names[k] for k in best]
    assert [each["weight"] for each in found["positive"]] == pytest.approx(weights[best])


def test_a_regression_has_no_output():
    (found,) = terms.section(_rows(True, classify=False))
    assert found["output"] is None
    assert found["positive"][0]["term"] == "good"


def test_several_classes_have_a_list_each_ten_at_most():
    rng = np.random.default_rng(1)
    codes = np.minimum(rng.integers(16, size=900), 12)
    text, _ = texts(900, rng, 1500)
    labeled = np.array([f"{each} class{k}" for each, k in zip(text, codes, strict=True)], dtype=object)
    rows, _ = fitted({"text": labeled}, codes, True)
    found = terms.section(rows)
    assert len(found) == 10
    assert "12" in {each["output"] for each in found}
    assert all(each["positive"][0]["term"] == f"class{each['output']}" for each in found)


def test_without_texts_there_are_no_terms():
    rng = np.random.default_rng(2)
    x = rng.normal(size=100)
    assert terms.section(fitted({"x": x}, x, False)[0]) is None
