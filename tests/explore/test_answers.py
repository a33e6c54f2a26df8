"""Answers equal what the library computes; copied code reproduces them; presets are complete."""

import base64
import contextlib
import io
import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import mercer
from mercer.explore.answers import PLANE_QUESTIONS, TOPICS, about, answer
from mercer.explore.data_sets import GENERATORS
from mercer.explore.presets import PRESETS

X, Y = GENERATORS["moons"][1](60, 0.2, 3)
BASE = {"data": "moons", "n": 60, "noise": 0.2, "seed": 3}
KERNEL = mercer.Gaussian(0.4)
TERMS = [{"name": "Gaussian", "bandwidth": 0.4}]
MODELS = {
    "raw ridge": ({"learner": "ridge", "alpha": 0.5}, mercer.RidgeClassifier(alpha=0.5)),
    "parabolic hinge": (
        {"representation": "parabolic", "learner": "hinge", "alpha": 0.5},
        make_pipeline(mercer.ParabolicLift(), mercer.HingeClassifier(alpha=0.5)),
    ),
    "cubic logistic": (
        {"representation": "polynomial", "degree": 3, "alpha": 0.1},
        make_pipeline(mercer.PolynomialLift(3, include_bias=False), mercer.LogisticClassifier(alpha=0.1)),
    ),
    "subsets perceptron": (
        {"representation": "subsets", "learner": "perceptron", "n_epochs": 7},
        make_pipeline(mercer.SubsetLift(), mercer.Perceptron(n_epochs=7)),
    ),
    "random ridge": (
        {"representation": "random", "kernel": TERMS, "n_components": 30, "learner": "ridge", "map_seed": 4},
        make_pipeline(
            mercer.RandomFeatures(KERNEL, n_components=30, random_state=4), mercer.RidgeClassifier(alpha=1.0)
        ),
    ),
    "landmarks logistic": (
        {"representation": "landmarks", "kernel": TERMS, "n_landmarks": 9, "whiten": True},
        make_pipeline(mercer.Landmarks(9, KERNEL), mercer.LogisticClassifier(alpha=1.0)),
    ),
    "kernel perceptron": (
        {"representation": "kernel", "kernel": TERMS, "learner": "perceptron", "n_epochs": 9},
        mercer.KernelPerceptron(KERNEL, n_epochs=9),
    ),
    "kernel hinge": (
        {"representation": "kernel", "kernel": TERMS, "learner": "hinge", "alpha": 0.3, "penalty": "coefficients"},
        mercer.KernelHinge(KERNEL, alpha=0.3, penalty="coefficients"),
    ),
    "kernel logistic": (
        {"representation": "kernel", "kernel": TERMS, "learner": "logistic", "alpha": 0.3},
        make_pipeline(mercer.Landmarks(kernel=KERNEL, choose="all"), mercer.LogisticClassifier(alpha=0.3)),
    ),
    "kernel ridge": (
        {"representation": "kernel", "kernel": TERMS, "learner": "ridge", "alpha": 0.3},
        mercer.KernelRegressor(KERNEL, alpha=0.3),
    ),
    "sum and product": (
        {
            "representation": "kernel",
            "kernel": [
                {"name": "Linear", "weight": 0.5},
                {"name": "Gaussian", "bandwidth": 0.4, "operation": "*"},
                {"name": "Polynomial", "degree": 2},
            ],
            "learner": "hinge",
        },
        mercer.KernelHinge(0.5 * mercer.Linear() * KERNEL + mercer.Polynomial(2)),
    ),
}


def scores_of(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


@pytest.mark.parametrize("name", MODELS)
def test_boundary_equals_the_library(name):
    fields, model = MODELS[name]
    found = answer("boundary", {"topic": "plane", "state": {**BASE, **fields}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a perceptron that does not converge
        model.fit(X, Y)
    np.testing.assert_allclose(found["points"], np.column_stack([X, Y]))
    scores = scores_of(model, X)
    np.testing.assert_allclose(found["scores"], scores, rtol=1e-6, atol=1e-6)
    axis = np.linspace(-found["limit"], found["limit"], found["size"])
    grid = np.frombuffer(base64.b64decode(found["grid"]), "<f4").reshape(found["size"], found["size"])
    rows = np.array([[axis[j], axis[i]] for i, j in ((0, 0), (10, 50), (60, 3))])
    np.testing.assert_allclose([grid[0, 0], grid[10, 50], grid[60, 3]], scores_of(model, rows), rtol=1e-5, atol=1e-5)
    assert found["train_error"] == np.mean(scores * Y <= 0)
    X_test, y_test = GENERATORS["moons"][1](500, 0.2, 3 + 1_000_003)
    assert found["test_error"] == np.mean(scores_of(model, X_test) * y_test <= 0)


def test_ball_of_the_weights_is_the_boundary():
    found = answer(
        "boundary", {"topic": "plane", "state": {"representation": "parabolic", "learner": "hinge", "alpha": 0.1}}
    )
    region = found["region"]
    assert region["kind"] == "ball"
    rows = np.array(found["points"])
    inside = np.linalg.norm(rows[:, :2] - region["center"], axis=1) < region["radius"]
    np.testing.assert_array_equal(inside, np.array(found["scores"]) > 0)


def test_conic_of_the_weights_is_an_ellipse_on_which_the_scores_vanish():
    for scaling in ("raw", "kernel"):
        state = {
            "data": "ellipse",
            "n": 200,
            "noise": 0.0,
            "representation": "polynomial",
            "alpha": 0.01,
            "scaling": scaling,
        }
        region = answer("boundary", {"topic": "plane", "state": state})["region"]
        assert region["kind"] == "ellipse"
        angle = np.linspace(0, 6, 9)
        offsets = np.stack([region["axes"][0] * np.cos(angle), region["axes"][1] * np.sin(angle)], axis=1)
        rows = np.array(region["center"]) + offsets @ np.array(region["directions"])
        X, y = GENERATORS["ellipse"][1](200, 0.0, 0)
        lift = (
            mercer.PolynomialLift(2, scaling="kernel")
            if scaling == "kernel"
            else mercer.PolynomialLift(2, include_bias=False)
        )
        model = make_pipeline(lift, mercer.LogisticClassifier(alpha=0.01)).fit(X, y)
        assert np.abs(model.decision_function(rows)).max() < 1e-6 * np.abs(model.decision_function(X)).max()


@pytest.mark.parametrize("data", ["hyperbola", "parabola", "xor"])
def test_conics_have_their_kind(data):
    state = {"data": data, "n": 200, "noise": 0.0, "representation": "polynomial", "alpha": 0.01}
    kinds = {"hyperbola": {"hyperbola"}, "parabola": {"ellipse", "hyperbola", "parabola"}, "xor": {"hyperbola"}}
    assert answer("boundary", {"topic": "plane", "state": state})["region"]["kind"] in kinds[data]


@pytest.mark.parametrize("name", MODELS)
def test_separating_plane_of_the_lifted_space_is_the_boundary(name):
    state = {**BASE, **MODELS[name][0]}
    space = answer("space", {"topic": "plane", "state": state})
    scores = np.array(answer("boundary", {"topic": "plane", "state": state})["scores"])
    heights = np.array(space["points"]) @ space["normal"] + space["offset"]
    np.testing.assert_allclose(heights, scores, rtol=1e-3, atol=2e-4 * np.abs(scores).max())


def test_lifted_space_of_a_kernel_keeps_distances_along_the_weights():
    state = {**BASE, "representation": "kernel", "kernel": TERMS, "learner": "ridge", "alpha": 0.3}
    space = answer("space", {"topic": "plane", "state": state})
    model = mercer.KernelRegressor(KERNEL, alpha=0.3).fit(X, Y)
    norm = np.sqrt(model.dual_coef_ @ KERNEL(X) @ model.dual_coef_)
    assert space["normal"][0] == pytest.approx(norm, rel=1e-5)


def test_gram_matrix_is_that_of_the_kernel():
    state = {**BASE, "representation": "kernel", "kernel": TERMS}
    found = answer("gram", {"topic": "plane", "state": state})
    K = KERNEL(X[found["order"]])
    shown = np.frombuffer(base64.b64decode(found["matrix"]), np.uint8).reshape(K.shape)
    np.testing.assert_allclose(shown / 127.5 - 1, K, atol=1 / 127)
    assert found["valid"]
    assert np.all(np.diff(found["labels"]) >= 0)


def test_gram_matrix_of_a_distance_is_not_positive():
    state = {**BASE, "representation": "kernel", "kernel": [{"name": "one_plus_distance"}], "penalty": "coefficients"}
    assert not answer("gram", {"topic": "plane", "state": {**state, "learner": "hinge"}})["valid"]


def test_approximation_error_and_its_bound():
    state = {**BASE, "representation": "random", "kernel": TERMS, "sampling": "iid"}
    found = answer("approximation", {"topic": "plane", "state": state})
    Z = mercer.RandomFeatures(KERNEL, n_components=128, sampling="iid").fit_transform(X)
    at = found["sizes"].index(128)
    assert found["largest"][at] == pytest.approx(np.abs(Z @ Z.T - KERNEL(X)).max(), rel=1e-4)
    # The bound is the smallest accuracy that so many features guarantee.
    assert mercer.fourier_dimension(found["bound"][at] * 1.001, 0.05, 60) <= 128
    assert mercer.fourier_dimension(found["bound"][at] * 0.99, 0.05, 60) > 128
    assert np.all(np.array(found["largest"]) <= found["bound"])


def test_penalty_map_holds_the_errors_of_single_fits():
    state = {**BASE, "representation": "kernel", "kernel": TERMS, "learner": "hinge", "alpha": 0.3}
    found = answer("penalty_map", {"topic": "plane", "state": state})
    i, j = 4, 5
    at = {**state, "alpha": found["alphas"][i], "kernel": [{"name": "Gaussian", "bandwidth": found["bandwidths"][j]}]}
    single = answer("boundary", {"topic": "plane", "state": at})
    assert found["train"][i][j] == pytest.approx(single["train_error"], rel=1e-3)
    assert (found["alpha"], found["bandwidth"]) == (0.3, 0.4)


def test_small_bandwidth_is_the_nearest_neighbor():
    state = {**BASE, "representation": "kernel", "learner": "ridge", "alpha": 1e-6, "nearest": True}
    agreements = [
        answer("boundary", {"topic": "plane", "state": {**state, "kernel": [{"name": "Gaussian", "bandwidth": b}]}})[
            "nearest"
        ]["agreement"]
        for b in (0.08, 1.0)
    ]
    assert agreements[0] > 0.98 > agreements[1]


def test_steps_of_the_perceptron_are_those_of_the_library():
    state = {"data": "circles", "n": 40, "noise": 0.1, "seed": 0, "passes": 4, "t": 900}
    found = answer("panels", {"topic": "steps", "state": state})
    X, y = GENERATORS["circles"][1](40, 0.1, 0)
    kernel = mercer.Polynomial(2)
    special = mercer.KernelPerceptron(kernel, n_epochs=4).fit(X, y)
    assert found["steps"] == len(special.mistake_rows_)
    np.testing.assert_allclose(found["result"], special.decision_function(X), rtol=1e-6, atol=1e-6)


def test_update_without_positivity_makes_the_prediction_worse():
    state = {"data": "two_points", "n": 2, "kernel": [{"name": "negative_gaussian"}], "passes": 2}
    scores = [answer("panels", {"topic": "steps", "state": {**state, "t": t}})["result"][0] for t in (0, 1, 2)]
    assert scores[0] > scores[1] > scores[2]  # the point has the label 1


def test_distance_as_a_similarity_goes_the_wrong_way():
    state = {"data": "two_points", "n": 2, "kernel": [{"name": "one_plus_distance"}], "passes": 1, "t": 2}
    found = answer("panels", {"topic": "steps", "state": state})["result"]
    assert found[0] < 0 < found[1]  # the labels are 1 and -1


def test_presets_are_complete():
    names = [preset.name for preset in PRESETS]
    assert len(set(names)) == len(names) >= 50
    assert {preset.topic for preset in PRESETS} == set(TOPICS)
    for preset in PRESETS:
        assert preset.title, preset.name
        assert preset.note, preset.name
        sentences = preset.text.replace("?", ".").count(". ") + 1
        assert 2 <= sentences <= 3, preset.name
    food = [preset for preset in PRESETS if preset.title.startswith("Food for thought")]
    assert len(food) >= 10


def test_description_has_every_field():
    described = about(None)
    assert set(described["topics"]) == set(TOPICS)
    for topic in described["topics"].values():
        for field in topic["fields"]:
            assert {"name", "kind", "label", "default"} <= set(field)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_copied_code_gives_the_numbers_of_the_page(preset):
    body = {"topic": preset.topic, "state": preset.state}
    found = answer("panels", body)
    code = answer("code", body)["code"]
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # similarities that are not Mercer, perceptrons that do not converge
        exec(compile(code, preset.name, "exec"), names)
    expected = found["scores"] if preset.topic == "plane" else found["result"]
    computed = np.ravel(names["scores" if preset.topic == "plane" else "result"])
    np.testing.assert_allclose(computed, expected, rtol=2e-6, atol=1e-7 * (1 + np.abs(computed).max()))
    assert max(map(len, code.splitlines())) <= 130


@pytest.mark.parametrize("preset", [each for each in PRESETS if each.topic == "plane"], ids=lambda preset: preset.name)
def test_every_view_of_a_preset_has_an_answer(preset):
    for question in ("points", "space", "gram"):
        assert PLANE_QUESTIONS[question]
        assert answer(question, {"topic": "plane", "state": preset.state})
