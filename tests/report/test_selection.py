"""The report of `mercer select`: texts stay sparse, and targets may have many classes."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.report import selection
from mercer.report.selection import gather_selection
from mercer.source.table import table_in_memory

WORDS = np.array([f"{a}{b}" for a in ("kal", "mir", "ton", "vex", "sul") for b in "aeiou"])


def table(n=300):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(n)]
    hits = np.array([text.count("kala") - text.count("mire") for text in texts])
    size, noise = rng.normal(size=(2, n))
    target = np.array(["low", "mid", "high"])[np.digitize(hits + 0.5 * size, [-0.5, 0.5])]
    return {"text": texts, "size": size, "noise": noise, "target": target}, hits


@pytest.mark.parametrize(
    ("how", "score"), [("greedy", "pearson"), ("filter", "pearson"), ("filter", "pair_information")]
)
def test_texts_are_ranked_without_being_made_dense(how, score, monkeypatch):
    columns, _ = table()
    seen = []
    encoded = selection._Encoded.of

    def watched(*given):
        found = encoded(*given)
        seen.append(hasattr(found.rows.collect().X, "tocsr"))
        return found

    monkeypatch.setattr(selection._Encoded, "of", watched)
    source = table_in_memory(columns, "target")
    found = gather_selection(source, "memory", "target", k=3, how=how, score=score, seed=0, announce=lambda step: None)
    assert seen == [True]
    assert found["ranked"][0]["column"] == "text"
    assert found["ranked"][-1]["column"] == "noise"


def test_lasso_keeps_texts_sparse_and_separates_two_classes():
    columns, hits = table()
    asked = {"k": 3, "how": "lasso", "score": "pearson", "seed": 0, "announce": lambda step: None}
    with pytest.raises(ValueError, match=r"separates only two\. Use how='greedy' or 'filter'"):
        gather_selection(table_in_memory(columns, "target"), "memory", "target", **asked)
    columns["target"] = hits.astype(float) + 0.01 * columns["noise"]
    found = gather_selection(table_in_memory(columns, "target"), "memory", "target", **asked)
    assert "text" in [each["column"] for each in found["ranked"]]
