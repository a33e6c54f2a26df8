"""Model files made to do harm: each gives a model that computes numbers, or an error, in bounded time and memory."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

import mercer
from estimates import LONG
from mercer import KernelRegressor, Landmarks, MercerRegressor, RandomFeatures, Standardize, _numeric
from mercer._runtime.errors import DataError
from mercer.io import load, save
from mercer.learn import TreeFeatures
from mercer.linear import RidgeRegressor
from mercer.text import TextFeatures

N_CASES = 20_000 if LONG else 600
PER_TEST = N_CASES // (10 if LONG else 2)
N_STRICT = 500 if LONG else 40
PER_STRICT = 250 if LONG else 40
SECONDS = 60  # without a sign of life
WORDS = ["the quick brown fox", "jumps over", "the lazy dog", "the end"] * 5


def run_cases(first, last, folder, *more):
    """The outcomes of tampered files; a process that dies or hangs is an outcome of its own."""
    found = []
    while first < last:
        process = _started(first, last, folder, *more)
        begun = {"begin": first}
        for line in _lines(process):
            outcome = json.loads(line)
            if "begin" in outcome:
                begun = outcome
            else:
                found.append(outcome)
                first = outcome["seed"] + 1
        if first < last:
            found.append({**begun, "stage": "died", "code": process.returncode, "stderr": process.stderr.read()[-500:]})
            first = begun["begin"] + 1
        process.stderr.close()
    return found


def _started(first, last, folder, *more):
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "tampering", str(first), str(last), str(folder), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def _lines(process):
    while True:
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        line = process.stdout.readline()
        watch.cancel()
        if not line:
            process.stdout.close()
            process.wait()
            return
        yield line


@pytest.mark.parametrize("first", range(0, N_CASES, PER_TEST))
def test_tampered_files_give_a_model_or_an_error(first, tmp_path, record_property):
    record_property("cases", PER_TEST)
    found = run_cases(first, first + PER_TEST, tmp_path)
    assert len(found) == PER_TEST
    assert [each for each in found if each["stage"] == "died"] == []
    assert [each for each in found if each["stage"] == "load" and each["error"] != "DataError"] == []
    assert [each for each in found if each["stage"] == "done" and not each["finite"]] == []
    # What is left is a file that says it was never fitted, or to rows of another width.
    assert sum(each["stage"] == "apply" for each in found) < 0.03 * PER_TEST


@pytest.mark.parametrize("first", range(1_000_000, 1_000_000 + N_STRICT, PER_STRICT))
def test_files_cause_no_import_and_cost_little(first, tmp_path, record_property):
    record_property("cases", PER_STRICT)
    found = run_cases(first, first + PER_STRICT, tmp_path, "strict")
    assert [each for each in found if each["stage"] == "died"] == []
    assert [each for each in found if each["megabytes"] > 200] == []
    assert not LONG or [each for each in found if each["cpu"] > 1] == []


def rewritten(path, change):
    """Change the model and the arrays of a file, and mend its checksum."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = load_arrays(archive.read("arrays.safetensors"))
    change(manifest["model"], arrays)
    blob = save_arrays(arrays)
    manifest["sha256"] = {"arrays.safetensors": hashlib.sha256(blob).hexdigest()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("arrays.safetensors", blob)


def shortened(*names):
    """A change of a file: the arrays of these attributes lose their last rows, wherever they are."""

    def change(tree, arrays):
        if isinstance(tree, dict):
            for name in set(names) & set(tree):
                if isinstance(tree[name], dict) and "array" in tree[name]:
                    array = arrays[tree[name]["array"]]
                    arrays[tree[name]["array"]] = np.ascontiguousarray(array[:-1])
        for each in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
            change(each, arrays)

    return change


PARTS = {
    "scales": (lambda X, y: Standardize().fit(X), ["mean_"]),
    "weights": (lambda X, y: RidgeRegressor(alpha=1.0).fit(X, y), ["coef_", "_coef"]),
    "landmarks": (lambda X, y: Landmarks(n_components=5).fit(X), ["landmarks_", "_landmarks"]),
    "dual weights": (lambda X, y: KernelRegressor().fit(X, y), ["dual_coef_"]),
    "features and weights": (lambda X, y: mercer.fit(X, y, effort="fast"), ["coef"]),
    "the mean row": (lambda X, y: mercer.fit(X, y, effort="fast"), ["baseline"]),
    "an estimator": (lambda X, y: MercerRegressor(effort="fast").fit(X, y), ["coef"]),
    "classes": (lambda X, y: mercer.fit(X, np.digitize(y, [-1, 1]), effort="fast"), ["classes_", "classes"]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, name):
    fit, names = PARTS[name]
    X = np.random.default_rng(0).normal(size=(200, 3))
    save(fit(X, X[:, 0] + X[:, 1] ** 2), tmp_path / "model.mercer")
    load(tmp_path / "model.mercer")
    rewritten(tmp_path / "model.mercer", shortened(*names))
    with pytest.raises(DataError, match=r"model.mercer cannot be loaded"):
        load(tmp_path / "model.mercer")


def test_features_that_a_map_does_not_write_are_refused(tmp_path):
    save(RandomFeatures(n_components=16).fit(np.eye(3)), tmp_path / "map.mercer")

    def widen(tree, arrays):
        tree["state"]["n_components"] = 1024

    rewritten(tmp_path / "map.mercer", widen)
    with pytest.raises(DataError, match=r"do not fit together.* 1024 features"):
        load(tmp_path / "map.mercer")


def test_the_hash_table_of_a_vocabulary_is_not_read(tmp_path):
    text = TextFeatures().fit(WORDS)
    expected = text.transform(WORDS).toarray()
    save(text, tmp_path / "text.mercer")

    def add_slots(tree, arrays):
        (vocabulary,) = tree["state"]["_vocabularies"]
        arrays["slots"] = np.full(64, 2**64 - 1, np.uint64)  # no empty slot: a search would never end
        vocabulary["state"]["_slots"] = {"array": "slots"}

    rewritten(tmp_path / "text.mercer", add_slots)
    assert np.array_equal(load(tmp_path / "text.mercer").transform(WORDS).toarray(), expected)


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("value", [0, 1, 2**31, 2**62])
def test_tables_of_terms_are_checked(tmp_path, position, value):
    save(TextFeatures().fit(WORDS), tmp_path / "text.mercer")

    def change(tree, arrays):
        (vocabulary,) = tree["state"]["_vocabularies"]
        table = vocabulary["state"]["_terms"] or vocabulary["state"]["_table"]
        name = table["state"]["items"][position]["array"]
        arrays[name] = np.full_like(arrays[name], np.array(value).astype(arrays[name].dtype))

    rewritten(tmp_path / "text.mercer", change)
    if position < 3:
        with pytest.raises(DataError, match=r"cannot be loaded.*(bounds|hashes)"):
            load(tmp_path / "text.mercer")
    else:
        assert np.isfinite(load(tmp_path / "text.mercer").transform(WORDS).data).all()


def test_hash_tables_of_chosen_hashes_are_refused():
    hashes = np.arange(1, 20_000, dtype=np.uint64) << np.uint64(32)  # all in one slot
    with pytest.raises(ValueError, match=r"not those of distinct terms"):
        _numeric.term_slots(hashes)


def test_lookups_stay_within_the_terms():
    bounds, data = np.array([0, 1], np.int64), np.frombuffer(b"a", np.uint8)
    hashes = _numeric.term_hashes(bounds, data, 0)
    known = (hashes, bounds, data)
    assert _numeric.find_terms(_numeric.term_slots(hashes), *known, *known).tolist() == [0]
    for slots in (np.full(16, 2**64 - 1, np.uint64), np.full(16, 1, np.uint64)):
        with pytest.raises(ValueError, match=r"slots must be those"):
            _numeric.find_terms(slots, *known, *known)


@pytest.mark.parametrize("attribute", ["left", "right", "roots", "column", "output", "threshold"])
@pytest.mark.parametrize("value", [0, -7, 2**31, 2**62])
def test_trees_that_would_not_end_are_refused(tmp_path, attribute, value):
    X = np.random.default_rng(0).normal(size=(80, 3))
    save(TreeFeatures().fit(X, X[:, 0] * X[:, 1]), tmp_path / "trees.mercer")
    changed = []

    def change(tree, arrays):
        if isinstance(tree, list):
            for each in tree:
                change(each, arrays)
        elif isinstance(tree, dict):
            if attribute in tree.get("state", {}) and "roots" in tree["state"]:
                name = tree["state"][attribute]["array"]
                arrays[name] = np.full_like(arrays[name], value)
                changed.append(name)
            for each in tree.values():
                change(each, arrays)

    rewritten(tmp_path / "trees.mercer", change)
    assert changed
    try:
        model = load(tmp_path / "trees.mercer")
    except DataError:
        return
    out = model.transform(X)
    assert np.isfinite(out.data if hasattr(out, "tocsr") else out).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("attribute", ["coef_", "intercept_"])
def test_weights_that_are_no_numbers_are_refused(tmp_path, attribute, value):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = RidgeRegressor(alpha=1.0).fit(X, X @ [1.0, 2.0, 3.0])
    setattr(model, attribute, np.multiply(getattr(model, attribute), value))
    save(model, tmp_path / "ridge.mercer")
    with pytest.raises(DataError, match=rf"ridge.mercer cannot be loaded.*{attribute} holds NaN or infinity"):
        load(tmp_path / "ridge.mercer")


def objects(text, n):
    return {"objects": [text] * n, "shape": [n], "dtype": "<U262144"}


@pytest.mark.parametrize(
    "tree",
    [
        {"list": objects("a", 4000)},
        {"list": {"records": [[f"f{i}", {"array": "a0"}] for i in range(40_000)], "shape": [3], "dotted": False}},
    ],
)
def test_a_small_file_does_not_unfold_to_gigabytes(tmp_path, tree):
    model = RidgeRegressor(alpha=1.0).fit(np.eye(3), np.arange(3.0))
    save(model, tmp_path / "ridge.mercer")

    def change(old, arrays):
        arrays["a0"] = np.zeros((3, 2000))
        old["state"]["memory"] = tree["list"]

    rewritten(tmp_path / "ridge.mercer", change)
    with pytest.raises(DataError, match=r"unfolds to more memory"):
        load(tmp_path / "ridge.mercer")


@pytest.mark.parametrize("text", ["1", "(2,3)f8", "f8,f8", "V1000000000", "1099511627776", 7, "<U9;import os"])
def test_dtypes_are_a_closed_list(tmp_path, text):
    save(RidgeRegressor(alpha=1.0).fit(np.eye(3), np.arange(3.0)), tmp_path / "ridge.mercer")
    rewritten(tmp_path / "ridge.mercer", lambda tree, arrays: tree["state"].update(kind={"dtype": text}))
    with pytest.raises(DataError, match=r"unknown dtype"):
        load(tmp_path / "ridge.mercer")


def test_a_killed_worker_is_noticed(tmp_path):
    process = _started(0, 1000, tmp_path)
    assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    assert sum(1 for _ in _lines(process)) < 2000
    process.stderr.close()
    assert process.returncode == -signal.SIGKILL
