"""Every compiled function has a NumPy definition with the same parameters."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from mercer import _numeric

DEFINED = {name: getattr(module, name) for module in _numeric.definitions for name in module.__all__}


def compiled_functions():
    if not _numeric.compiled:
        return {}
    native = _numeric._native_module
    return {name: value for name, value in vars(native).items() if callable(value) and name[0] != "_"}


def compiled_parameters(function):
    """Parameter names of each overload, read from nanobind's own record of the signature."""
    for signature, *_ in function.__nb_signature__:
        inside = signature[signature.index("(") + 1 : signature.rindex(")")]
        yield re.findall(r"(?:^|, )(\w+):", re.sub(r"\[[^\[\]]*\]", "", inside))


@pytest.mark.parametrize("name", sorted(compiled_functions()))
def test_compiled_function_has_a_definition_with_the_same_parameters(name):
    assert name in DEFINED
    expected = list(inspect.signature(DEFINED[name]).parameters)
    for parameters in compiled_parameters(compiled_functions()[name]):
        assert parameters == expected


def test_names_are_defined_once_and_exported():
    names = [name for module in _numeric.definitions for name in module.__all__]
    assert len(names) == len(set(names))
    assert set(names) <= set(_numeric.__all__)


@pytest.mark.parametrize("name", sorted(DEFINED))
def test_the_compiled_twin_is_exported_where_there_is_one(name):
    assert getattr(_numeric, name) is compiled_functions().get(name, DEFINED[name])


def run(code, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)


def test_the_environment_forces_the_definitions_silently():
    code = "from mercer import _numeric; print(_numeric.compiled, _numeric.isa())"
    done = run(code, MERCER_PURE="1", PYTHONWARNINGS="error")
    assert (done.stdout, done.stderr) == ("False numpy\n", "")


def test_a_missing_compiled_core_warns_once(monkeypatch):
    monkeypatch.delenv("MERCER_PURE", raising=False)
    monkeypatch.setitem(sys.modules, "mercer._numeric._native", None)
    monkeypatch.delattr(_numeric, "_native", raising=False)
    with pytest.warns(_numeric.PureDefinitionsWarning, match="pure NumPy definitions"):
        assert _numeric._load_native() is None


def test_an_impossible_level_is_refused_with_a_remedy():
    done = run("from mercer import _numeric", MERCER_PURE="0", MERCER_ISA="v9")
    assert "PureDefinitionsWarning" in done.stderr
    assert "MERCER_ISA=v9 cannot run here" in done.stderr or not _numeric.compiled


def test_importing_is_cheap():
    heavy = "{'scipy', 'sklearn', 'pyarrow', 'matplotlib'}"
    done = run(f"import sys; from mercer import _numeric; print({heavy} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stderr
