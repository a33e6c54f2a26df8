"""Models as ONNX graphs: the same encodings to the bit, the same predictions up to float32, clear errors."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mercer
from mercer.auto import Model
from mercer.auto.features.base import FeatureBlock
from mercer.auto.features.fourier import FourierBlock
from mercer.auto.features.linear import LinearBlock, SelectedBlock
from mercer.auto.features.piecewise import PiecewiseBlock
from mercer.auto.features.products import ProductBlock
from mercer.auto.features.trees import TreeScoreBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.onnx import export
from mercer.auto.onnx.columns import encoded_columns
from mercer.auto.onnx.export import likely_rows, onnx_inputs
from mercer.auto.rows.encoding import dense
from mercer.io import onnx as graphs
from mercer.learn import TreeFeatures
from mercer.learn.trees.boosting import boost
from mercer.learn.trees.categories import TreeColumns
from mercer.learn.trees.ensemble import TreeEnsemble
from mercer.learn.trees.losses import LogisticTreeLoss, SquaredTreeLoss
from mercer.learn.trees.params import TreeParams
from mercer.learn.trees.score import EnsembleScore
from mercer.learn.trees.training_data import TrainingData
from mercer.normalize import Quantile
from mercer.tables import TableEncoder


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, n)
    age[::13] = np.nan
    city = rng.choice(["Bern", "Oslo", "Rome"], n).tolist()
    city[5] = None
    return {
        "age": age,
        "income": rng.lognormal(9, 2, n),
        "rooms": rng.integers(1, 9, n),
        "city": city,
        "shop": [f"shop {k}" for k in rng.integers(0, 60, n)],
        "owner": rng.random(n) < 0.3,
        "country": ["Earth"] * n,
    }


ROLES = [
    {"shop": "id"},
    {"shop": "category", "rooms": "category", "owner": "number"},
    {"shop": "category", "rooms": "number", "owner": "category"},
]
TARGETS = {"number": None, "two": 2, "several": 4}


def target(columns, n_classes=None):
    y = np.nan_to_num(columns["age"]) / 10 + np.sin(columns["rooms"]) + 2 * (np.array(columns["city"]) == "Oslo")
    return y if n_classes is None else np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))


def grown(X, loss, params, codes):
    """An ensemble grown without the first half of the rows."""
    return boost(TrainingData(X, codes), loss, np.arange(len(X)) * 2 // len(X), params).ensembles[0]


def tree_block(ensembles, scale, columns, n_classes):
    classes = None if n_classes is None else np.arange(n_classes)
    score = EnsembleScore(ensembles, columns, scale, n_classes is not None)
    return TreeScoreBlock(TreeFeatures.from_score(score, classes))


ALL = "linear selected piecewise products fourier trees"


def made_up(columns=None, roles=ROLES[0], n_classes=None, classes=None, blocks=ALL):
    """A model with every kind of block and random weights: its numbers matter, its accuracy does not."""
    rng = np.random.default_rng(1)
    columns = table() if columns is None else columns
    y = target(columns, n_classes)
    encoder = TableEncoder(roles=roles)
    X = encoder.fit_transform(columns, y)
    loss = SquaredTreeLoss(y) if n_classes is None else LogisticTreeLoss(y, n_classes)
    slices = [slice(b.start, b.stop) for b in encoder.blocks_ if b.kind == "onehot" and b.stop - b.start > 2]
    columns_of_trees = TreeColumns.of(X.shape[1], slices)
    codes = [
        columns_of_trees.codes,
        columns_of_trees.codes[1:],
    ]  # the second ensemble takes the first category's codes as they are
    ensembles = [
        grown(columns_of_trees(X), loss, TreeParams(n_estimators=5, max_leaf_nodes=6, random_state=k), codes[k])
        for k in range(2)
    ]
    outputs = len(ensembles[0].base)
    kinds = {
        "linear": lambda: LinearBlock(X.shape[1]),
        "selected": lambda: SelectedBlock(np.array([X.shape[1] - 1, 1, 0]), X.shape[1]),
        "piecewise": lambda: PiecewiseBlock.fitted(X, 5),
        "products": lambda: ProductBlock.fitted(X, [(0, 1), (1, 1), (0, X.shape[1] - 1)]),
        "fourier": lambda: FourierBlock(rng.normal(size=(20, X.shape[1]))),
        "trees": lambda: tree_block(ensembles, rng.uniform(0.5, 2.0, size=outputs), columns_of_trees, n_classes),
    }
    features = Features([kinds[name]() for name in blocks.split()])
    coef, intercept = rng.normal(size=(features.width, outputs)), rng.normal(size=outputs)
    if n_classes is not None and classes is None:
        classes = np.arange(n_classes)
    predictor = Predictor(features, coef, intercept, classes, np.ones(5), temperature=1.3)
    return Model("regression" if classes is None else "classification", encoder, predictor, X, {})


@pytest.mark.parametrize("roles", ROLES, ids=str)
@pytest.mark.parametrize("kind", TARGETS)
def test_the_graph_predicts_what_the_model_does(roles, kind):
    model = made_up(roles=roles, n_classes=TARGETS[kind])
    graph = model.to_onnx(check=table(50, seed=3))
    rows = likely_rows(model.encoder, seed=5)
    found = graphs.run(graph, onnx_inputs(model.encoder, rows))
    if kind == "number":
        np.testing.assert_allclose(found["prediction"], model.predict(rows), rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-5)
        assert np.mean(found["prediction"] == model.predict(rows)) > 0.99


@pytest.mark.parametrize(
    "classes", [np.array(["no", "yes"]), np.array(["no", "yes"], object), np.array([False, True]), np.array([-0.5, 2])]
)
def test_labels_keep_their_type(classes):
    model = made_up(n_classes=2, classes=classes)
    rows = likely_rows(model.encoder)
    found = graphs.run(model.to_onnx(), onnx_inputs(model.encoder, rows))["prediction"]
    assert found.dtype.kind == (classes.dtype.kind if classes.dtype.kind in "bf" else "O")
    assert found.tolist() == model.predict(rows).tolist()


def test_labels_that_onnx_lacks_are_refused():
    with pytest.raises(ValueError, match="None is a NoneType"):
        made_up(n_classes=2, classes=np.array([None, "yes"])).to_onnx()


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_columns_are_encoded_to_the_same_bits(roles):
    encoder = TableEncoder(roles=roles).fit(table(), target(table()))
    rows = likely_rows(encoder, seed=2)
    np.testing.assert_array_equal(encoded_by_graph(encoder, rows), dense(encoder.transform(rows)))


def encoded_by_graph(encoder, rows):
    graph = graphs.Graph()
    x = encoded_columns(graph, encoder)
    graph.output("encoded", x, np.float64, ("rows", None))
    return graphs.run(graph.model("encoder"), onnx_inputs(encoder, rows))["encoded"]


@settings(max_examples=30, deadline=None)
@example([1.7e308, -1.7e308, 5e-324])
@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=20))
def test_any_number_is_encoded_to_the_same_bits(values):
    encoder = TableEncoder().fit(
        {"x": [*np.random.default_rng(0).normal(size=50), np.nan], "huge": np.geomspace(1e-300, 1e300, 51)}
    )
    rows = {"x": np.array(values), "huge": np.array(values[::-1])}
    rows = mercer.source.Columns.of(rows)
    np.testing.assert_array_equal(encoded_by_graph(encoder, rows), encoder.transform(rows))


@pytest.mark.parametrize("block", ["linear", "selected", "piecewise", "products", "trees"])
def test_blocks_without_random_features_differ_by_an_ulp_at_most(block):
    model = made_up(n_classes=3, blocks=block)
    rows = likely_rows(model.encoder, seed=4)
    graph = graphs.Graph()
    made = model.predictor.features.blocks[0]
    graph.output("features", made.onnx_nodes(graph, encoded_columns(graph, model.encoder)), np.float32, ("n", "m"))
    found = graphs.run(graph.model("features"), onnx_inputs(model.encoder, rows))["features"]
    np.testing.assert_allclose(found, model.transform(rows), rtol=2e-7, atol=1e-7)


def test_pooled_and_unseen_categories():
    columns = {"city": ["a"] * 40 + ["b"] * 40 + [f"c{k}" for k in range(20)], "x": np.arange(100.0)}
    encoder = TableEncoder(roles={"city": "category"}, max_onehot=3).fit(columns)
    rows = likely_rows(encoder)
    np.testing.assert_array_equal(encoded_by_graph(encoder, rows), encoder.transform(rows))


def test_trees_without_a_split_are_constants():
    model = made_up(blocks="trees")
    stump = TreeEnsemble(
        np.array([0.5]), *np.zeros((2, 1), int), np.array([-1]), np.zeros(1), *-np.ones((2, 1), int), np.ones(1)
    )
    model.predictor.features.blocks[0].score.ensembles = [stump]
    rows = likely_rows(model.encoder)
    found = graphs.run(model.to_onnx(), onnx_inputs(model.encoder, rows))["prediction"]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-6)
    assert np.ptp(found) == 0


def test_an_ensemble_without_trees():
    model = made_up(blocks="trees")
    empty = TreeEnsemble(np.array([0.5]), *np.zeros((3, 0), int), np.zeros(0), *np.zeros((2, 0), int), np.zeros(0))
    score = model.predictor.features.blocks[0].score
    score.ensembles = [*score.ensembles, empty]
    rows = likely_rows(model.encoder)
    found = graphs.run(model.to_onnx(), onnx_inputs(model.encoder, rows))["prediction"]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-5)


@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_trees_of_categories_alone(n_classes):
    rng = np.random.default_rng(7)
    columns = {"a": rng.choice(list("pqrst"), 300).tolist(), "b": rng.choice(list("uvwxyz"), 300).tolist()}
    effect = {letter: k * k % 7 for k, letter in enumerate("psrqtyuwzxv")}
    y = np.array([effect[a] * effect[b] for a, b in zip(columns["a"], columns["b"], strict=True)], dtype=float)
    y = y if n_classes is None else np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    encoder = TableEncoder()
    X = encoder.fit_transform(columns, y)
    columns_of_trees = TreeColumns.of(X.shape[1], [slice(block.start, block.stop) for block in encoder.blocks_])
    loss = SquaredTreeLoss(y) if n_classes is None else LogisticTreeLoss(y, n_classes)
    ensembles = [
        grown(
            columns_of_trees(X),
            loss,
            TreeParams(n_estimators=20, max_leaf_nodes=8, random_state=k),
            columns_of_trees.codes,
        )
        for k in range(2)
    ]
    assert all(ensemble.ranks[0].tolist() != sorted(ensemble.ranks[0]) for ensemble in ensembles)
    assert {0, 1} <= set(ensembles[1].column.tolist())
    block = tree_block(ensembles, np.ones(len(ensembles[0].base)), columns_of_trees, n_classes)
    graph, rows = graphs.Graph(), likely_rows(encoder)
    graph.output("found", block.onnx_nodes(graph, encoded_columns(graph, encoder)), np.float32, ("n", "m"))
    found = graphs.run(graph.model("trees"), onnx_inputs(encoder, rows))["found"]
    np.testing.assert_allclose(found, block.features(encoder.transform(rows)), rtol=2e-7, atol=1e-6)


def test_a_model_of_one_class():
    columns = {"x": np.arange(20.0), "c": list("ab") * 10}
    model = mercer.fit(columns, ["only"] * 20, task="classification", holdout=0)
    found = graphs.run(model.to_onnx(), onnx_inputs(model.encoder, likely_rows(model.encoder, n=4)))
    assert found["prediction"].tolist() == ["only"] * 4
    assert found["probabilities"].tolist() == [[1.0]] * 4


def test_a_fitted_model_end_to_end(tmp_path):
    columns = {name: values for name, values in table().items() if name != "shop"}
    model = mercer.fit(columns, target(columns), effort="fast", max_features=200, holdout=0)
    model.to_onnx(tmp_path / "model.onnx")
    onnx = graphs.package("onnx")
    loaded = onnx.load(tmp_path / "model.onnx")
    assert [each.name for each in loaded.graph.input] == [name for name in columns if name != "country"]
    found = graphs.run(loaded, onnx_inputs(model.encoder, mercer.source.Columns.of(columns)))
    predicted = model.predict(columns)
    rounding = 16 * np.finfo(np.float32).eps * np.abs(predicted).max()  # sums of terms as large as that
    np.testing.assert_allclose(found["prediction"], predicted, rtol=1e-5, atol=rounding)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_classes_end_to_end(n_classes):
    columns = {name: values for name, values in table().items() if name != "shop"}
    model = mercer.fit(columns, target(columns, n_classes), effort="fast", max_features=200, holdout=0)
    graph = model.to_onnx(check=columns)
    found = graphs.run(graph, onnx_inputs(model.encoder, mercer.source.Columns.of(columns)))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(columns), atol=1e-5)
    assert {"trees"} <= {block.kind for block in model.predictor.features.blocks}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("shop", [f"shop {k % 40}" for k in range(100)], "high-cardinality"),
        ("day", np.arange("2020-01-01", "2020-04-10", dtype="M8[D]"), "date"),
        ("note", [f"some words about {k} things" for k in range(100)], "text"),
        ("gene", ["".join(np.random.default_rng(k).choice(list("ACGT"), 12)) for k in range(100)], "sequence"),
    ],
)
def test_columns_without_translation_are_named(name, values, role):
    columns = {"x": np.arange(100.0) ** 2, name: values}
    encoder = TableEncoder(roles={name: role}).fit(columns, np.arange(100.0))
    with pytest.raises(ValueError, match=f"Column '{name}' is a {role} column"):
        encoded_columns(graphs.Graph(), encoder)


def test_the_empty_string_as_a_category_is_refused():
    encoder = TableEncoder().fit({"c": ["", "a"] * 10, "x": np.arange(20.0) ** 2})
    with pytest.raises(ValueError, match="'c' has the empty string"):
        encoded_columns(graphs.Graph(), encoder)


def test_an_unknown_block_is_refused():
    class OtherBlock(FeatureBlock):
        kind = "other"

    block = OtherBlock(Quantile().fit(np.arange(6.0).reshape(3, 2)))
    with pytest.raises(ValueError, match="block of kind 'other'"):
        block.onnx_nodes(graphs.Graph(), "x")


@pytest.mark.parametrize("n_classes", [None, 2, 4])
def test_a_graph_that_differs_does_not_pass(n_classes, monkeypatch):
    model = made_up(n_classes=n_classes)
    graph = export.onnx_model(model)
    model.predictor.coef = model.predictor.coef * (1 + 3e-3)
    with pytest.raises(ValueError, match="disagree"):
        export.check_parity(model, graph)


def test_other_classes_do_not_pass():
    model = made_up(n_classes=2)
    graph = export.onnx_model(model)
    model.predictor.classes = model.predictor.classes[::-1]
    with pytest.raises(ValueError, match="other classes"):
        export.check_parity(model, graph)


def test_a_column_may_have_the_name_of_an_output():
    columns = {"prediction": np.arange(50.0) ** 1.5, "x": np.cos(np.arange(50.0))}
    model = mercer.fit(columns, columns["x"] ** 2, effort="fast", max_features=10, holdout=0)
    assert [out.name for out in model.to_onnx().graph.output] == ["prediction_"]


def test_a_missing_package_says_how_to_get_it(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(graphs, "import_module", absent)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[onnx\]'"):
        graphs.Graph()
