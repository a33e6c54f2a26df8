"""The fuzzers of `make sanitize` in their short form, on the core as it is installed."""

import pytest

import mutation
from estimates import LONG
from fuzzing import fuzz
from mercer import _numeric

N_RUNS = {"loader": 400, "sniffer": 2000, "arguments": 500}


@pytest.mark.parametrize("name", N_RUNS)
def test_fuzzers_find_nothing(name, record_property):
    if name == "arguments" and not _numeric.compiled:
        pytest.skip("there is no compiled core")
    n = N_RUNS[name] * (20 if LONG else 1)
    record_property("cases", n)
    assert fuzz(name, 2_000_000, 2_000_000 + n)["findings"] == []


@pytest.mark.parametrize("room", mutation.ROOMS)
def test_mutants_are_faults_of_one_place(room):
    everything = list(mutation.mutants(room))
    assert len(everything) > 500
    for mutant in everything[:: len(everything) // 5]:
        original, changed = (mutation.ROOT / mutant.file).read_text(), mutation.mutated(mutant)
        compile(changed, mutant.file, "exec")
        assert changed != mutation.ast.unparse(mutation.ast.parse(original))


SOURCE = """LIMIT = 3
def small(n):
    return n < LIMIT
def unused():
    return 1
"""
TESTS = """from hypothesis import given, strategies as st
import pytest
@pytest.fixture
def small():
    from mercer.room import small
    return small
@given(n=st.integers())
def test_generated(n):
    from mercer.room import small
    assert small(n) == (n < 3)
@pytest.mark.parametrize("n", [1, 2])
def test_listed(small, n):
    assert small(n)
def test_nothing():
    pass
"""


def test_the_tests_of_a_line_are_found(tmp_path, monkeypatch):
    files = {"src/mercer/__init__.py": "", "src/mercer/room.py": SOURCE, "tests/test_room.py": TESTS}
    files["tests/line_contexts.py"] = (mutation.ROOT / "tests" / "line_contexts.py").read_text()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setitem(mutation.ROOMS, "room", ["tests"])
    lines = mutation.LineTests(mutation.measure("room", tmp_path), tmp_path)
    tests = {f"tests/test_room.py::{name}" for name in ("test_generated", "test_listed")}
    for line in (1, 3, 5):  # run at import, in a function, and in a function that no test calls
        assert set(lines.of(mutation.Mutant("src/mercer/room.py", line, "", 0))) == tests


def test_the_interval_of_a_score():
    low, high = mutation.interval(80, 100)
    assert low == pytest.approx(0.711, abs=1e-3)  # Wilson 1927
    assert high == pytest.approx(0.867, abs=1e-3)
