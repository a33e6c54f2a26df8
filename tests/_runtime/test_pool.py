"""One pool over blocks: ordered, bounded, nestable, with BLAS held to one thread meanwhile."""

import threading
import time
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

from mercer._runtime.blas import single_threaded_blas
from mercer._runtime.pool import n_threads, ordered_map


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_results_come_in_order(monkeypatch, threads):
    monkeypatch.setenv("MERCER_THREADS", threads)

    def slow_when_even(i):
        time.sleep(0.002 * (i % 2 == 0))
        return i * i

    assert list(ordered_map(slow_when_even, range(30))) == [i * i for i in range(30)]


def test_items_are_drawn_only_as_fast_as_results_are_taken(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")
    drawn = []

    def items():
        for i in range(100):
            drawn.append(i)
            yield i

    results = ordered_map(lambda i: i, items())
    assert next(results) == 0
    assert len(drawn) <= 4
    results.close()


def test_nested_maps_do_not_deadlock(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")
    table = list(ordered_map(lambda i: sum(ordered_map(lambda j: i * j, range(5))), range(8)))
    assert table == [10 * i for i in range(8)]


def test_errors_come_through_and_the_pool_survives(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")

    def fail(i):
        if i == 3:
            raise KeyError("three")
        return i

    with pytest.raises(KeyError, match="three"):
        list(ordered_map(fail, range(10)))
    assert list(ordered_map(abs, [-1, -2])) == [1, 2]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_blas_is_held_to_one_thread_and_released(monkeypatch, threads):
    monkeypatch.setenv("MERCER_THREADS", threads)
    before = blas_threads()
    assert set().union(*ordered_map(lambda _: blas_threads(), range(4))) == {1}
    assert blas_threads() == before


def test_limits_nest():
    before = blas_threads()
    with single_threaded_blas():
        with single_threaded_blas():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_the_number_of_threads_can_be_set(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "7")
    assert n_threads() == 7
    monkeypatch.setenv("MERCER_THREADS", "none")
    with pytest.raises(ValueError, match="MERCER_THREADS"):
        n_threads()
    monkeypatch.delenv("MERCER_THREADS")
    assert n_threads() >= 1


def test_arrays_are_filled_in_place_by_many_threads(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "3")
    out = np.zeros(100)

    def fill(i):
        out[i] = i

    list(ordered_map(fill, range(100)))
    assert np.array_equal(out, np.arange(100.0))


def test_small_items_wake_nobody_and_the_next_long_one_is_shared(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")
    here = threading.get_ident()

    def where(work):
        until = time.thread_time() + work
        while time.thread_time() < until:
            pass
        return threading.get_ident()

    assert len(set(ordered_map(where, [0.0] * 3))) <= 2  # not known yet
    assert set(ordered_map(where, [0.0] * 20)) == {here}
    longer = list(ordered_map(where, [0.002] * 40))
    assert longer[0] == here
    assert len(set(longer)) == 2


def test_what_works_here_is_a_worker_for_the_time(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")

    def inner(i):
        return [threading.get_ident() for _ in ordered_map(time.sleep, [0.001] * 3)]

    for many in ordered_map(inner, range(6)):
        assert len(set(many)) == 1
    assert list(ordered_map(abs, [-1, -2, -3])) == [1, 2, 3]


def test_a_map_that_is_given_up_leaves_nothing_behind(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")
    begun = []
    results = ordered_map(lambda i: begun.append(i) or time.sleep(0.005), range(50))
    next(results)
    results.close()
    time.sleep(0.05)
    assert len(begun) <= 4


def test_any_callable_will_do_and_none_is_kept(monkeypatch):
    monkeypatch.setenv("MERCER_THREADS", "2")

    @dataclass
    class Scaled:  # has no hash
        by: np.ndarray

        def __call__(self, i):
            return float(i * self.by[0])

    scaled = Scaled(np.array([2.0]))
    gone = weakref.ref(scaled)
    assert list(ordered_map(scaled, range(5))) == [0.0, 2.0, 4.0, 6.0, 8.0]
    del scaled
    assert gone() is None
