"""The page on guarantees shows what the functions say."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guarantees.rst"


def test_the_page_is_right():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0
