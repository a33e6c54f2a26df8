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


def test_the_interval_of_a_score():
    low, high = mutation.interval(80, 100)
    assert low == pytest.approx(0.711, abs=1e-3)  # Wilson 1927
    assert high == pytest.approx(0.867, abs=1e-3)
