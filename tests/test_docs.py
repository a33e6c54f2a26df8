"""The examples in the guide run and print what they say."""

import doctest
from pathlib import Path

import pytest

GUIDE = sorted((Path(__file__).parents[1] / "docs" / "guide").glob("*.rst"))


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_examples_of_the_guide(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
