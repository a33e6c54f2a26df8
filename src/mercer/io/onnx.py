"""ONNX graphs, built node by node, and run to verify their outputs.

Values are names; `Graph.add` appends a node and gives the name of its result. The packages `onnx` and `onnxruntime` are
loaded when they are first needed.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np

from mercer.io.atomic_file import atomic_write

#: Versions of the operator sets: old enough for runtimes of 2022.
OPSET, TREE_OPSET, IR = 17, 3, 8
TREES = "ai.onnx.ml"


def package(name: str) -> Any:
    """`onnx` or `onnxruntime`, or an error that says how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"ONNX needs the package {name}: pip install 'mercer[onnx]'.") from error


class Graph:
    """A graph under construction; the first axis of every value is that of the rows."""

    def __init__(self) -> None:
        self._onnx = package("onnx")
        self._nodes: list[Any] = []
        self._inputs: dict[str, Any] = {}
        self._constants: dict[tuple, Any] = {}
        self._outputs: list[Any] = []

    def input(self, name: str, dtype: Any = np.float64) -> str:
        """A column of the table, of shape (rows, 1); the dtype is float64 or str."""
        self._inputs[name] = self._value(name, dtype, ("rows", 1))
        return name

    def constant(self, array: Any) -> str:
        """An array stored in the graph; equal ones are stored once."""
        array = np.asarray(array)
        array = array.astype(object) if array.dtype.kind == "U" else np.ascontiguousarray(array)
        content = tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._constants:
            name = f"mercer.constant.{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(array, name)
        return self._constants[key].name

    def tensor(self, values: Any) -> Any:
        """Numbers in float64 as the attribute of a node."""
        return self._onnx.numpy_helper.from_array(np.asarray(values, dtype=np.float64))

    def add(self, operator: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Append a node and return the name of its result; inputs are names of values, or arrays."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        result = f"mercer.{operator}.{len(self._nodes)}"
        node = self._onnx.helper.make_node(operator, names, [result], domain=domain, **attributes)
        self._nodes.append(node)
        return result

    def cast(self, value: str, dtype: Any) -> str:
        """The value converted to another dtype."""
        return self.add("Cast", value, to=self._type(dtype))

    def concat(self, values: list[str]) -> str:
        """Columns side by side."""
        return values[0] if len(values) == 1 else self.add("Concat", *values, axis=1)

    def columns(self, value: str, indices: Any) -> str:
        """The columns at these indices."""
        return self.add("Gather", value, np.asarray(indices, dtype=np.int64), axis=1)

    def output(self, name: str, value: str, dtype: Any, shape: tuple) -> str:
        """Declare a value as an output and return its name, which differs from those of the inputs."""
        while name in self._inputs:
            name += "_"
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._value(name, dtype, shape))
        return name

    def model(self, about: str) -> Any:
        """The graph as a checked `onnx.ModelProto`."""
        from importlib.metadata import version

        helper = self._onnx.helper
        stored = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "mercer", list(self._inputs.values()), self._outputs, stored, about)
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(TREES, TREE_OPSET)]
        made = helper.make_model(
            graph, opset_imports=sets, ir_version=IR, producer_name="mercer", producer_version=version("mercer")
        )
        self._onnx.checker.check_model(made)
        return made

    def _type(self, dtype: Any) -> int:
        kind = np.dtype(object) if np.dtype(dtype).kind == "U" else np.dtype(dtype)
        return self._onnx.helper.np_dtype_to_tensor_dtype(kind)

    def _value(self, name: str, dtype: Any, shape: tuple) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._type(dtype), shape)


def run(model: Any, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a model for columns of shape (rows, 1)."""
    runtime = package("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip((out.name for out in session.get_outputs()), session.run(None, columns), strict=True))


def write(model: Any, path: str | os.PathLike) -> None:
    """Write the model to a file, which appears when it is complete."""
    with atomic_write(path) as file:
        file.write(model.SerializeToString(deterministic=True))
