"""Effect curves and interactions against direct loops over tables with changed columns."""

import numpy as np
import pyarrow as pa
import pytest

from auto.diagnostics.held_out_cases import fitted, linear_rows, mixed_table, texts
from mercer.auto.diagnostics.sections import effects, interactions
from mercer.auto.diagnostics.sections.interactions import doubly_centered
from mercer.auto.rows.encoding import dense
from mercer.source import Columns

TARGETS = {
    "regression": lambda s: s,
    "two classes": lambda s: np.where(s > 1, "yes", "no").astype(object),
    "three classes": lambda s: np.digitize(s, [0.5, 1.5]),
}


def _rows(kind):
    rng = np.random.default_rng(0)
    table, signal = mixed_table(320, rng)
    return fitted(table, TARGETS[kind](signal), kind != "regression", roles={"shop": "high-cardinality"})[0]


def _with(table, name, value):
    """The table with one value in all rows of a column."""
    kind = table.schema.field(name).type
    if pa.types.is_temporal(kind):
        value = np.datetime64(value, "us")
    elif pa.types.is_boolean(kind):
        value = value == "True"
    column = pa.array([value] * table.num_rows).cast(kind)
    return table.set_column(table.schema.get_field_index(name), name, column)


def _predicted(rows, table, output):
    X = dense(rows.encoder.transform(Columns(table)))
    if output is None:
        return rows.predictor.scores(X)[:, 0]
    return rows.predictor.probabilities(X)[:, [str(each) for each in rows.classes.tolist()].index(output)]


@pytest.mark.parametrize("kind", TARGETS)
def test_a_curve_is_the_mean_prediction_of_changed_tables(kind):
    rows = _rows(kind)
    assert len(rows.y) <= 100  # all rows are background
    found = {each["column"]: each for each in effects.section(rows, list(rows.groups))}
    assert found.keys() == {"size", "rooms", "new", "city", "shop", "day"}
    for name, each in found.items():
        values = np.array([_predicted(rows, _with(rows.table.table, name, x), each["output"]) for x in each["x"]])
        mean = values.mean(axis=1)
        assert each["mean"] == pytest.approx(mean, abs=1e-9)
        changes = values - values.mean(axis=0)
        low, high = np.quantile(changes - changes.mean(axis=1)[:, None], [0.25, 0.75], axis=1)
        assert each["low"] == pytest.approx(mean + low, abs=1e-9)
        assert each["high"] == pytest.approx(mean + high, abs=1e-9)


def test_grids_are_values_of_the_data():
    found = {
        each["column"]: each for each in effects.section(_rows("regression"), ["size", "rooms", "city", "day", "shop"])
    }
    assert all(isinstance(x, int) for x in found["rooms"]["x"])
    assert found["rooms"]["x"] == sorted(set(found["rooms"]["x"]))
    assert set(found["city"]["x"]) == {"Bern", "Oslo", "Lima", "Rome"}
    assert found["city"]["density"]["counts"] == sorted(found["city"]["density"]["counts"], reverse=True)
    assert len(found["shop"]["x"]) == 12
    assert found["day"]["x"][0].startswith("202")
    assert len(found["day"]["x"][0]) == len("2020-01-01")
    edges, counts = found["size"]["density"]["edges"], found["size"]["density"]["counts"]
    assert len(edges) == len(counts) + 1
    assert (edges[0], edges[-1]) == (found["size"]["x"][0], found["size"]["x"][-1])


def test_the_curve_of_several_classes_is_that_which_varies_most():
    rows = _rows("three classes")
    each = effects.effect(rows, "size")
    tables = [_with(rows.table.table, "size", x) for x in each["x"]]
    spans = [np.std([_predicted(rows, table, output).mean() for table in tables]) for output in ("0", "1", "2")]
    assert each["output"] == str(np.argmax(spans))


def test_texts_have_no_curve():
    rng = np.random.default_rng(1)
    text, good = texts(400, rng, words=1500)
    rows, _ = fitted({"text": text, "x": rng.normal(size=400)}, good, True)
    assert [each["column"] for each in effects.section(rows, ["text", "x"])] == ["x"]
    alone, _ = fitted({"text": text}, good, True)
    assert effects.section(alone, ["text"]) is None


def test_double_centering_is_that_of_weighted_means():
    rng = np.random.default_rng(2)
    F, p, q = rng.normal(size=(4, 5)), rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(5))
    R = doubly_centered(F, p, q)
    assert R @ q == pytest.approx(np.zeros(4), abs=1e-12)
    assert p @ R == pytest.approx(np.zeros(5), abs=1e-12)
    additive = np.add.outer(rng.normal(size=4), rng.normal(size=5))
    assert doubly_centered(F + additive, p, q) == pytest.approx(R, abs=1e-12)


def test_an_additive_model_has_no_interaction():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    rows = linear_rows(X, X[:, 0], [1.0, 2.0, 3.0])
    assert interactions.interaction(rows, "x0", "x1")["strength"] < 1e-12
    assert interactions.section(rows, ["x0", "x1", "x2"]) == []


def test_the_planted_interaction_is_found():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=1500)
    rows, _ = fitted({f"x{j}": column for j, column in enumerate(X.T)}, y, False)
    found = interactions.section(rows, ["x0", "x1", "x2", "x3"])
    assert found[0]["columns"] == ["x1", "x2"]
    assert found[0]["strength"] == pytest.approx(1.0, rel=0.3)  # the standard deviation of the product
    remainder = np.array(found[0]["remainder"])
    assert np.corrcoef(remainder.ravel(), np.outer(found[0]["y"], found[0]["x"]).ravel())[0, 1] > 0.95


def test_a_remainder_is_that_of_changed_tables():
    rows = _rows("regression")
    found = interactions.interaction(rows, "size", "city")
    background = rows.table[np.linspace(0, len(rows.y) - 1, 40).astype(int)].table
    surface = np.array(
        [
            [_predicted(rows, _with(_with(background, "size", x), "city", y), None).mean() for y in found["y"]]
            for x in found["x"]
        ]
    )
    # Remainders differ from the surface by functions of one column each: differences of differences are the same.
    remainder = np.array(found["remainder"]).T
    crossed = [each - each[:1] - each[:, :1] + each[0, 0] for each in (surface, remainder)]
    assert crossed[0] == pytest.approx(crossed[1], abs=1e-9)
