"""`import mercer` and `mercer --help` load nothing heavy; the lazy names are all there."""

import subprocess
import sys

import pytest

import mercer

HEAVY = ("numpy", "scipy", "sklearn", "rich", "pandas", "polars", "pyarrow", "narwhals", "matplotlib")


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
        "from mercer.cli import _run\nassert _run(['--version']) == 0",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded_after(code).isdisjoint(HEAVY)


def test_every_name_is_there_and_at_home():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
        assert name in dir(mercer)
    for name, home in mercer._HOMES.items():
        assert getattr(mercer, name) is getattr(sys.modules[home], name)


def test_all_is_the_table_of_lazy_names():
    assert set(mercer.__all__) == set(mercer._HOMES) | mercer._SUBMODULES


def test_version_is_a_version():
    assert mercer.__version__.split(".")[0].isdigit()


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'RandomFeature'"):
        _ = mercer.RandomFeature
