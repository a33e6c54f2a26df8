"""Fitted objects as plain data: whatever a tree holds, it is restored within limits or refused."""

import sys
from collections import namedtuple

import numpy as np
import pytest

from mercer.io import pack as packing
from mercer.io.pack import pack, unpack
from mercer.io.save import about

WRAPPED = {
    "list": lambda inner: [inner],
    "tuple": lambda inner: {"tuple": [inner]},
    "object": lambda inner: {"type": "ridge-regressor", "state": {"memory": inner}},
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_the_depth_is_limited(kind):
    tree = 1
    for _ in range(packing._MAX_DEPTH):
        tree = WRAPPED[kind](tree)
    unpack(tree, {})
    with pytest.raises(ValueError, match="nests deeper than 200 levels"):
        unpack(WRAPPED[kind](tree), {})


def texts(n, dtype="<U1"):
    return {"objects": ["a"] * n, "shape": [n], "dtype": dtype}


def records(n):
    return {"records": [[f"f{i}", {"array": "a0"}] for i in range(n)], "shape": [10], "dotted": False}


@pytest.mark.parametrize(
    ("fits", "too_large"),
    [
        (texts(105), texts(106)),
        (records(5), records(6)),
        ([texts(100), texts(5)], [texts(100), texts(6)]),
        ([texts(1), records(5), texts(4)], [texts(6), records(5)]),
    ],
)
def test_memory_is_limited_by_that_of_the_arrays(monkeypatch, fits, too_large):
    """To so many bytes and 4 times those of the arrays, which are 80 here: a text takes 4, a field of records 80."""
    monkeypatch.setattr(packing, "_MAX_BYTES", 100)
    arrays = {"a0": np.arange(10.0)}
    unpack(fits, arrays)
    with pytest.raises(ValueError, match="more memory than a file of its size"):
        unpack(too_large, arrays)


def test_texts_are_limited_to_a_megabyte_each():
    assert unpack(texts(2, f"<U{2**18}"), {}).tolist() == ["a", "a"]
    assert unpack({"objects": ["YQ=="], "shape": [1], "dtype": "<U4"}, {}).dtype == "<U4"
    for dtype in (f"<U{2**18 + 1}", f"S{2**20 + 1}", "<f8", "bool"):
        with pytest.raises(ValueError, match="strings of the unknown kind"):
            unpack(texts(2, dtype), {})


@pytest.mark.parametrize("dtype", ["<U1", "S1", "object"])
def test_numbers_are_no_strings(dtype):
    with pytest.raises(ValueError, match="a number of the unknown kind"):
        unpack({"scalar": dtype, "value": 1}, {})


ARRAYS = {"data": np.array([1.0, 2.0]), "indices": np.array([0, 2]), "pointers": np.array([0, 1, 2])}
ARRAYS |= {"outside": np.array([0, 3]), "below": np.array([0, -1]), "backwards": np.array([0, 3, 2])}


def csr(data="data", indices="indices", pointers="pointers", shape=(2, 3)):
    return {"csr": [{"array": name} for name in (data, indices, pointers)], "shape": list(shape)}


def test_sparse_matrices_are_checked():
    assert unpack(csr(), ARRAYS).toarray().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    damaged = [
        csr(indices="outside"),
        csr(indices="below"),
        csr(pointers="backwards"),
        csr(shape=(2, 2)),
        csr(shape=(3, 3)),
    ]
    for tree in damaged:
        with pytest.raises(ValueError, match=r".+"):
            unpack(tree, ARRAYS)


def test_records_have_fields_of_one_length():
    arrays = {"a": np.arange(3), "b": np.arange(6).reshape(3, 2), "c": np.arange(4)}
    fields = [["a", {"array": "a"}], ["b", {"array": "b"}]]
    found = unpack({"records": fields, "shape": [3], "dotted": True}, arrays)
    assert found.b.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match="different shapes"):
        unpack({"records": [*fields, ["c", {"array": "c"}]], "shape": [3], "dotted": True}, arrays)


def test_what_is_packed_does_not_change_with_the_object():
    array = np.arange(3.0)
    tree, arrays = pack({"a": array})
    array += 1
    assert unpack(tree, arrays)["a"].tolist() == [0.0, 1.0, 2.0]


def test_arrays_come_back_in_the_order_of_their_elements():
    for array in (np.arange(6.0).reshape(2, 3).T, np.arange(6)[::-2], np.array(3.0), np.zeros((0, 2))):
        tree, arrays = pack(array)
        assert all(each.flags.c_contiguous for each in arrays.values())
        assert np.array_equal(unpack(tree, arrays), array)
        assert unpack(tree, arrays).shape == array.shape


@pytest.mark.parametrize(
    "thing", [{"b", "a"}, frozenset({3, 1}), slice(None, 3, 2), np.str_("x"), np.bool_(True), np.int8(-3), -(2**80), ()]
)
def test_small_things_come_back(thing):
    tree, arrays = pack(thing)
    assert unpack(tree, arrays) == thing
    assert arrays == {}
    assert pack(thing)[0] == tree


@pytest.mark.parametrize("thing", [namedtuple("Pair", "a b")(1, 2), object(), 1j, range(3), {"a": [1, {"b": print}]}])
def test_other_things_are_refused_by_their_place(thing):
    place = r"dict\['a'\]\[1\]\['b'\] is a" if isinstance(thing, dict) else type(thing).__name__
    with pytest.raises(TypeError, match=rf"{place}.* which a model file cannot hold"):
        pack(thing)


class Told:
    """Has parameters for the manifest."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def get_params(self):
        return self.parameters


def test_the_manifest_shows_parameters_in_json():
    given = {"a": (1, 2.5, None), "b": {3: True}, "c": np.inf, "d": object(), "e": np.float64(0.5), "f": Told}
    shown = {"a": [1, 2.5, None], "b": {"3": True}, "c": "inf", "d": "object", "e": 0.5, "f": repr(Told)}
    assert about(Told(**given)) == {
        "schema": {"columns": None, "names": None},
        "parameters": shown,
        "metrics": {},
    }


@pytest.mark.parametrize(("length", "shown"), [(100, 100), (200, 200), (201, 200), (10_000, 200)])
def test_long_parameters_are_cut_in_the_manifest(length, shown):
    class Long:
        def __repr__(self):
            return "x" * length

    found = about(Told(a=Long()))["parameters"]["a"]
    assert len(found) == shown
    assert found == "x" * length if length <= 200 else found == "x" * 197 + "..."


def test_the_manifest_names_versions(tmp_path):
    import json
    import zipfile

    import sklearn

    from mercer.io import save
    from mercer.linear import RidgeRegressor

    save(RidgeRegressor(), tmp_path / "m.mercer")
    with zipfile.ZipFile(tmp_path / "m.mercer") as archive:
        versions = json.loads(archive.read("manifest.json"))["versions"]
        assert [info.date_time for info in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)] * 2
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (versions["numpy"], versions["scikit-learn"]) == (np.__version__, sklearn.__version__)
