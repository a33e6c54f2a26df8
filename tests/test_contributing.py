"""The worked example of CONTRIBUTING runs as it is printed."""

import re
from pathlib import Path

import numpy as np

import mercer
from mercer.auto.search import search

CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"


def test_a_new_kind_of_block_is_one_file_and_one_row(monkeypatch, tmp_path):
    code = re.search(r"```python\n(.*?)```", CONTRIBUTING.read_text(), re.DOTALL).group(1)
    assert code.count("\n") <= 60
    example: dict = {}
    exec(compile(code, "quantiles.py", "exec"), example)
    monkeypatch.setattr(search, "STAGES", (*search.STAGES, example["add_quantiles"]))
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(600, 4)))
    y = np.log(X[:, 0] * X[:, 1]) + 0.1 * rng.normal(size=600)
    model = mercer.fit(X, y, effort="fast")
    assert model.report()["blocks"][-1]["kind"] == "quantiles"
    assert "quantiles" in model.report()["seconds"]
    names = model.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert names[-4:] == ["quantiles_x0", "quantiles_x1", "quantiles_x2", "quantiles_x3"]
    assert sum(model.explain(X[:1]).contributions.values()) != 0
    model.save(tmp_path / "model.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(X), model.predict(X))
    np.testing.assert_allclose(model.to_pipeline().predict(X), model.predict(X), atol=1e-9 * np.abs(y).max())
