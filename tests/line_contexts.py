"""A plugin of pytest: coverage records for each line the tests that reach it, fixtures and generated cases included.

The contexts that coverage finds by itself are the first functions whose names begin with "test", which may be some of
a library: hypothesis calls `ConjectureRunner.test_function`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coverage import Coverage


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Name the context of all that is executed for a test: what pytest calls the test, without its parameters."""
    measured = Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid.partition("[")[0])
    return (yield)
