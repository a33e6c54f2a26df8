"""Model files: safe to open, clear about what is wrong with them, written all or not at all."""

import hashlib
import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from scipy import sparse

import mercer
from mercer.expand import Landmarks, RandomFeatures
from mercer.io import archive, load, save
from mercer.io.former import FORMER
from mercer.io.pack import pack, unpack
from mercer.io.registry import TYPES, class_of, id_of
from mercer.io.save import about
from mercer.kernels import Custom, Gaussian
from mercer.linear import RidgeRegressor


@pytest.fixture
def saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    path = tmp_path / "model.mercer"
    save(RidgeRegressor(alpha=1.0).fit(X, X[:, 0]), path)
    return path


def rewritten(path, change=lambda manifest: manifest, arrays=None, kind=zipfile.ZIP_STORED, extra=()):
    """The same file after a change of its manifest."""
    with zipfile.ZipFile(path) as old:
        manifest, blob = json.loads(old.read(archive.MANIFEST)), old.read(archive.ARRAYS)
    manifest = change(manifest)
    with zipfile.ZipFile(path, "w", kind) as new:
        new.writestr(archive.MANIFEST, json.dumps(manifest) if not isinstance(manifest, bytes) else manifest)
        new.writestr(archive.ARRAYS, blob if arrays is None else arrays)
        for name in extra:
            new.writestr(name, b"x")
    return path


def with_model(model):
    return lambda manifest: {**manifest, "model": model}


def test_the_list_of_classes_is_true():
    for type_id in TYPES:
        assert id_of(class_of(type_id)) == type_id
    assert set(FORMER.values()) <= set(TYPES)
    for name, type_id in FORMER.items():
        assert class_of(name, former=True) is class_of(type_id)


def test_no_file_holds_the_layout_of_a_machine():
    X = np.random.default_rng(0).normal(size=(20, 3))
    waves = RandomFeatures(Gaussian(1.0), n_components=8).fit(X)
    before = pack(waves)[0]
    expected = waves.transform(X)
    assert waves._map._laid_out  # made for this machine, on the way
    tree, arrays = pack(waves)
    assert tree == before
    state = tree["state"]["_map"]["state"]
    state["_laid_out"] = {"dict": [[{"tuple": [{"dtype": "<f8"}, False]}, {"array": "a0"}]]}  # of another machine
    np.testing.assert_array_equal(unpack(tree, arrays).transform(X), expected)


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "io.pack._Packer", "expand.maps.Nothing", "", None, 3, ["a"], "..os.system"]
)
def test_no_other_class_can_be_named(saved, name):
    for key in ("type", "class"):
        rewritten(saved, with_model({key: name, "state": {}}))
        with pytest.raises(ValueError, match=r"cannot be loaded.*names the type"):
            load(saved)


@pytest.mark.parametrize("attribute", ["__class__", "__dict__", "__reduce__", "a b", "", "1x"])
def test_attributes_are_plain_names(saved, attribute):
    rewritten(saved, with_model({"type": "ridge-regressor", "state": {attribute: 1}}))
    with pytest.raises(ValueError, match="cannot have"):
        load(saved)


@pytest.mark.parametrize(
    "tree",
    [
        {"what": 1},
        {"array": "nowhere"},
        {"array": ["a0"]},
        {"type": "ridge-regressor"},
        {"type": "ridge-regressor", "state": 3},
        {"class": "linear.ridge.RidgeRegressor"},
        {"class": "linear.ridge.RidgeRegressor", "state": 3},
        {"tuple": "abc"},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"slice": [1, 2, 3, 4]},
        {"float": "exit()"},
        {"scalar": "O", "value": 1},
        {"objects": [1], "shape": [2], "dtype": "object"},
        {"objects": ["a"], "shape": [1], "dtype": "f8"},
        {"records": [["x", 1]], "shape": [1], "dotted": True},
        {"records": [["x", {"array": "a0"}]], "shape": [10**15], "dotted": True},
        {"records": [["x", {"array": "a0"}], ["x", {"array": "a0"}]], "shape": [], "dotted": False},
        {"dtype": "nonsense"},
        {"csr": [[1], [2], [3]], "shape": [1, 1]},
        {"expand.maps": 1},
    ],
    ids=str,
)
def test_damaged_trees_are_refused(saved, tree):
    rewritten(saved, with_model(tree))
    with pytest.raises(ValueError, match="cannot be loaded"):
        load(saved)


def test_deep_nesting_is_refused(saved):
    text = b'{"format":1,"sha256":{},"model":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    rewritten(saved, lambda manifest: text)
    with pytest.raises(ValueError, match="not JSON"):
        load(saved)
    tree = 0
    for _ in range(300):
        tree = [tree]
    with pytest.raises(ValueError, match="nests deeper"):
        unpack(tree, {})


def test_newer_wrong_and_missing_formats_are_refused(saved):
    for change, message in [
        (lambda m: {**m, "format": 3}, "newer than the 2"),
        (lambda m: {**m, "format": "1"}, "names no format"),
        (lambda m: {**m, "format": True}, "names no format"),
        (lambda m: [m], "names no format"),
        (lambda m: {k: v for k, v in m.items() if k != "sha256"} | {"format": 1}, "no checksum"),
        (lambda m: b"{", "not JSON"),
    ]:
        fresh = saved.with_name("fresh.mercer")
        fresh.write_bytes(saved.read_bytes())
        with pytest.raises(ValueError, match=message):
            load(rewritten(fresh, change))


@pytest.mark.parametrize("version", [0, -1, 1.5, None])
def test_formats_are_numbered_from_1(saved, version):
    with pytest.raises(ValueError, match="names no format"):
        load(rewritten(saved, lambda manifest: {**manifest, "format": version}))


@pytest.mark.parametrize("recorded", [None, "x", ["arrays.safetensors"], {}, {archive.ARRAYS: None}])
def test_a_file_without_a_checksum_is_refused(saved, recorded):
    with pytest.raises(ValueError, match="no checksum of"):
        load(rewritten(saved, lambda manifest: {**manifest, "sha256": recorded}))


def test_a_member_that_is_there_twice_is_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate name"):
        rewritten(saved, extra=[archive.ARRAYS])
    with pytest.raises(ValueError, match="only those"):
        load(saved)


def test_model_files_are_recognized(saved, tmp_path):
    renamed = saved.rename(tmp_path / "model")
    assert archive.is_model_file(renamed)
    assert archive.is_model_file("nowhere.mercer")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as packed:
        packed.writestr("rows.csv", "a,b\n")
    for name in ("rows.csv", "rows.zip", "nowhere", "."):
        assert not archive.is_model_file(tmp_path / name)


def test_a_file_without_a_model_is_refused(saved):
    rewritten(saved, lambda manifest: {k: v for k, v in manifest.items() if k != "model"})
    with pytest.raises(ValueError, match="holds no model"):
        load(saved)


def test_changed_arrays_do_not_pass(saved):
    with zipfile.ZipFile(saved) as file:
        blob = bytearray(file.read(archive.ARRAYS))
    blob[-1] ^= 1
    with pytest.raises(ValueError, match="checksum"):
        load(rewritten(saved, arrays=bytes(blob)))


def test_arrays_that_are_none_do_not_pass(saved):
    blob = b"\xff" * 64
    sha = {archive.ARRAYS: hashlib.sha256(blob).hexdigest()}
    with pytest.raises(ValueError, match="arrays cannot be read"):
        load(rewritten(saved, lambda manifest: {**manifest, "sha256": sha}, arrays=blob))


def test_compressed_and_further_members_are_refused(saved):
    with pytest.raises(ValueError, match="compressed"):
        load(rewritten(saved, kind=zipfile.ZIP_DEFLATED))
    with pytest.raises(ValueError, match="only those"):
        load(rewritten(saved, extra=["code.py"]))


def test_sizes_are_limited(saved, monkeypatch):
    with zipfile.ZipFile(saved) as file:
        sizes = [file.getinfo(name).file_size for name in (archive.MANIFEST, archive.ARRAYS)]
    for name, size in zip(("MAX_MANIFEST_BYTES", "MAX_ARRAYS_BYTES"), sizes, strict=True):
        with monkeypatch.context() as patched:
            patched.setattr(archive, name, size)
            load(saved)
            patched.setattr(archive, name, size - 1)
            with pytest.raises(ValueError, match=rf"of {size:,} bytes is larger than the {size - 1:,}"):
                load(saved)


@given(cut=st.floats(0, 0.999))
def test_a_file_cut_anywhere_is_refused(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "model.mercer"
    save(RidgeRegressor(alpha=1.0).fit(np.eye(4), np.arange(4.0)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(cut * len(whole))])
    with pytest.raises(ValueError, match="model file"):
        load(path)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "nothing.mercer")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        save(RidgeRegressor(), tmp_path / "nowhere" / "model.mercer")


def test_what_cannot_be_saved_is_named_and_leaves_no_file(tmp_path):
    model = Landmarks(2, Custom(lambda x, z: float(x @ z))).fit(np.eye(3))
    with pytest.raises(TypeError, match=r"Landmarks\.kernel is a mercer\.kernels\.custom\.Custom"):
        save(model, tmp_path / "model.mercer")
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(RidgeRegressor(), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_plain_data_come_back(thing):
    tree, arrays = pack(thing)
    assert unpack(json.loads(json.dumps(tree, allow_nan=False)), arrays) == thing


@given(arrays_of.arrays(st.sampled_from(["f4", "f8", "i4", "i8", "u1", "?", ">f8"]), arrays_of.array_shapes()))
def test_arrays_come_back(array):
    tree, arrays = pack(array)
    again = unpack(tree, arrays)
    assert again.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(again, array)


def test_other_things_come_back():
    strings, mixed = np.array(["a", "b\0c"]), np.array([1, "x", None], dtype=object)
    csr = sparse.random(5, 4, 0.5, format="csr", random_state=0)
    things = [strings, mixed, csr, slice(1, None), np.dtype("f4"), np.float32(1.5), {1, 2}, float("inf"), (1, (2,))]
    tree, arrays = pack(things)
    again = unpack(json.loads(json.dumps(tree, allow_nan=False)), arrays)
    assert again[0].tolist() == strings.tolist()
    assert again[1].tolist() == mixed.tolist()
    assert (again[2] != csr).nnz == 0
    assert again[3:] == things[3:]
    assert isinstance(again[5], np.float32)


def test_records_come_back():
    plain = np.array([(1, 0.5, [1, 2]), (2, -0.0, [3, 4])], dtype=[("a", "i8"), ("b", "f4"), ("pair", "i4", 2)])
    for records in (plain, plain.view(np.recarray), plain[:0], plain.reshape(1, 2)):
        tree, arrays = pack(records)
        again = unpack(json.loads(json.dumps(tree)), arrays)
        assert type(again) is type(records)
        assert again.dtype == records.dtype
        assert again.tobytes() == records.tobytes()


def test_an_array_used_twice_is_stored_once():
    array = np.arange(5.0)
    tree, arrays = pack([array, {"again": array}])
    assert len(arrays) == 1
    assert unpack(tree, arrays)[1]["again"].tolist() == array.tolist()


def manifest_of(model, path):
    save(model, path)
    with zipfile.ZipFile(path) as opened:
        return json.loads(opened.read(archive.MANIFEST))


def test_the_manifest_holds_schema_parameters_and_metrics(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = mercer.fit({"a": X[:, 0], "b": X[:, 1], "y": X @ [1.0, 2.0]}, "y", effort="fast")
    manifest = manifest_of(model, tmp_path / "model.mercer")
    assert manifest["schema"] == {name: {"kind": "number", "role": "number"} for name in "ab"}
    assert manifest["parameters"] == {"task": "regression", "effort": "fast", "target": "y"}
    assert manifest["metrics"]["holdout"]["model"] == model.report()["holdout"]["model"]


def test_the_manifest_of_an_estimator_has_its_parameters(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    fitted = RidgeRegressor(alpha=[0.1], random_state=np.random.RandomState(0)).fit(X, X[:, 0])
    found = {name: manifest_of(RidgeRegressor(alpha=0.5).fit(X, X[:, 0]), tmp_path / name) for name in "ab"}
    assert found["a"] == found["b"]
    assert found["a"]["schema"] == {"columns": 2, "names": None}
    assert found["a"]["parameters"]["alpha"] == 0.5
    assert found["a"]["metrics"] == {}
    assert about(fitted)["parameters"]["random_state"] == "RandomState"
