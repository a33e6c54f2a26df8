"""The Python package and the compiled core list the same families of functions."""

from pathlib import Path

import pytest

from mercer._numeric import FAMILIES

NATIVE = Path(__file__).parents[2] / "native"


def test_python_and_native_list_the_same_families():
    listed = (NATIVE / "families.txt").read_text().splitlines()
    families = [line.replace("/", ".") for line in listed if line and not line.startswith("#")]
    assert families == [family for family in FAMILIES if family != "machine"]


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "machine"])
def test_every_family_has_a_source_file_of_its_name(family):
    assert (NATIVE / f"{family.replace('.', '/')}.cpp").is_file()
