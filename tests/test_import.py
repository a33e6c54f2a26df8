"""`import mercer` and `mercer --help` load nothing heavy; every public name is at the top."""

import ast
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import mercer

HEAVY = ("numpy", "scipy", "sklearn", "rich", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "starlette")


def loaded_after(code: str) -> set[str]:
    show = "import sys; print(); print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import mercer; dir(mercer)",
        "from mercer.cli import _run\nassert _run(['--help']) == 0",
        "from mercer.cli import _run\nassert _run(['demo', '--help']) == 0",
        "from mercer.cli import _run\nassert _run(['inspect', '--help']) == 0",
        "from mercer.cli import _run\nassert _run(['report', '--help']) == 0",
        "from mercer.cli import _run\nassert _run(['explain', '--help']) == 0",
        "from mercer.cli import _run\nassert _run(['explore', '--help']) == 0",
        "from mercer.cli import _run\nassert _run(['--version']) == 0",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded_after(code).isdisjoint(HEAVY)


def test_an_overview_needs_no_scikit_learn():
    code = "from mercer.io import read_table\nfrom mercer.tables.overview import overview\n"
    code += "import mercer.report.inspect, mercer.report.progress\noverview(read_table({'x': [1.0, 2.0]}, [0, 1]))"
    assert "sklearn" not in loaded_after(code)


@pytest.mark.parametrize("package", mercer._PUBLIC)
def test_top_level_has_every_public_name_of_a_subpackage(package):
    home = getattr(mercer, package)
    assert mercer._PUBLIC[package].split() == home.__all__
    assert set(home.__all__) <= set(dir(home))
    assert not hasattr(home, "no_such_name")
    for name in home.__all__:
        assert getattr(mercer, name) is getattr(home, name)


def test_every_subpackage_for_users_is_listed():
    folders = {entry.parent.name for entry in Path(mercer.__file__).parent.glob("*/__init__.py")}
    internal = {"_numeric", "_runtime", "cli", "report", "explore"}
    assert folders - internal == set(mercer._PUBLIC)


def test_no_public_name_has_two_homes():
    names = [name for listed in mercer._PUBLIC.values() for name in listed.split()]
    assert [name for name in names if names.count(name) > 1 or name in mercer._PUBLIC] == []


def test_dir_shows_public_names_only():
    assert dir(mercer) == sorted(["__version__", *mercer.__all__])
    assert [name for name in mercer.__all__ if name.startswith("_")] == []


def test_version_is_a_version():
    assert mercer.__version__.split(".")[0].isdigit()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("RandomFeature", "RandomFeatures"), ("lasso", "Lasso"), ("Standardise", "Standardize"), ("kernel", "Kernel")],
)
def test_misspelled_name_is_answered_with_the_closest_one(wrong, right):
    with pytest.raises(AttributeError, match=f"no attribute '{wrong}'. Did you mean '{right}'") as caught:
        getattr(mercer, wrong)
    assert "".join(traceback.format_exception(caught.value)).count("Did you mean") == 1


def test_unlike_name_gets_no_suggestion():
    with pytest.raises(AttributeError, match=r"no attribute 'Zzyzx'\.$"):
        _ = mercer.Zzyzx


def test_type_checkers_see_the_same_subpackages():
    tree = ast.parse(Path(mercer.__file__).read_text(encoding="utf-8"))
    stars = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    assert stars == [f"mercer.{package}" for package in mercer._PUBLIC]
