"""The limit of BLAS to one thread holds on every thread of the process, whichever resized its pool before."""

import threading

import pytest
from threadpoolctl import threadpool_limits

from mercer._runtime import blas


def threads():
    return [library.get_num_threads() for library in blas._libraries()]


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def limited():
    with blas.single_threaded_blas():
        return threads()


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_limit_holds_after_another_living_thread_has_set_it():
    before = threads()
    assert set(limited()) == {1}
    assert set(in_a_thread(limited)) == {1}
    assert set(limited()) == {1}
    assert threads() == before


def test_the_limit_holds_within_a_limit_of_another_thread():
    with threadpool_limits(2, user_api="blas"):
        assert set(in_a_thread(limited)) == {1}
        assert set(threads()) == {2}


def test_other_threads_may_resize_the_pool_afterwards():
    limited()

    def resized():
        with threadpool_limits(1, user_api="blas"):
            return threads()

    assert set(in_a_thread(resized)) == {1}
