"""Graphs built node by node: they compute what their nodes say, and are checked before they are used."""

import numpy as np
import onnx
import pytest

from mercer.io.onnx import IR, OPSET, TREE_OPSET, TREES, Graph, package, run, write


def doubled(graph):
    """A graph with the inputs a and b and the output 2 a."""
    a, _ = graph.input("a"), graph.input("b", str)
    graph.output("twice", graph.add("Mul", a, np.array([[2.0]])), np.float64, ("rows", 1))
    return graph.model("doubles a column")


def column(*values):
    return np.array(values)[:, None]


def test_nodes_compute():
    graph = Graph()
    a, b = graph.input("a"), graph.input("b")
    both = graph.concat([a, b])
    swapped = graph.columns(both, [1, 0])
    assert graph.concat([a]) == a
    graph.output("difference", graph.add("MatMul", swapped, np.array([[1.0], [-1.0]])), np.float64, ("rows", 1))
    graph.output("whole", graph.cast(a, np.int64), np.int64, ("rows", 1))
    found = run(graph.model("a test"), {"a": column(1.5, -2.5, 3.0), "b": column(1.0, 1.0, 4.0)})
    assert list(found) == ["difference", "whole"]
    assert found["difference"].ravel().tolist() == [-0.5, 3.5, 1.0]
    assert found["whole"].ravel().tolist() == [1, -2, 3]
    assert found["whole"].dtype == np.int64


def test_text_goes_through_a_graph():
    graph = Graph()
    same = graph.add("Equal", graph.add("StringNormalizer", graph.input("a", str), case_change_action="NONE"), "b")
    assert same.startswith("mercer.Equal.")
    graph = Graph()
    graph.output("a", graph.input("a", str), str, ("rows", 1))
    found = run(graph.model("a test"), {"a": np.array([["x"], ["ß"]], dtype=object)})
    assert {name: values.ravel().tolist() for name, values in found.items()} == {"a_": ["x", "ß"]}


def test_equal_constants_are_stored_once():
    graph = Graph()
    first = graph.constant([1.0, 2.0])
    assert graph.constant(np.array([1.0, 2.0])) == first
    others = [np.array([1.0, 2.0], np.float32), [[1.0, 2.0]], [1, 2], ["1.0", "2.0"], ["1.0", "3.0"], [1.0, 3.0]]
    assert len({first, *(graph.constant(each) for each in others)}) == 7
    assert graph.constant(np.array(["1.0", "2.0"], dtype=object)) == graph.constant(["1.0", "2.0"])


def test_names_of_outputs_differ_from_those_of_inputs():
    graph = Graph()
    a, _ = graph.input("a"), graph.input("a_")
    assert graph.output("a", a, np.float64, ("rows", 1)) == "a__"
    assert graph.output("b", a, np.float64, ("rows", 1)) == "b"


def test_a_model_says_what_it_needs(tmp_path):
    made = doubled(Graph())
    assert (made.ir_version, made.producer_name, made.graph.doc_string) == (IR, "mercer", "doubles a column")
    assert {each.domain: each.version for each in made.opset_import} == {"": OPSET, TREES: TREE_OPSET}
    write(made, tmp_path / "model.onnx")
    write(doubled(Graph()), tmp_path / "again.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == (tmp_path / "again.onnx").read_bytes()
    found = run(onnx.load(tmp_path / "model.onnx"), {"a": column(1.0, 3.5), "b": np.array([["x"], ["y"]], object)})
    assert found["twice"].ravel().tolist() == [2.0, 7.0]


@pytest.mark.parametrize("operator", ["NoSuchOperator", "Mul"])
def test_an_invalid_graph_is_refused(operator):
    graph = Graph()
    graph.output("out", graph.add(operator, graph.input("a")), np.float64, ("rows", 1))
    with pytest.raises(onnx.checker.ValidationError):
        graph.model("a test")


def test_a_missing_package_is_named():
    with pytest.raises(ImportError, match=r"needs the package no_such_runtime: pip install 'mercer\[onnx\]'"):
        package("no_such_runtime")
