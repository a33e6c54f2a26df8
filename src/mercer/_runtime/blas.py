"""BLAS on one thread: the same bits on any number of cores, and no threads that spin where a core is taken.

The threads of BLAS wait for each other by spinning, so a product on two threads of which one has lost its core takes
longer than on one. Mercer uses cores through `mercer._runtime.pool`, over blocks that do not depend on their number.
The public verbs of estimators, kernels and models hold the limit while they run (`on_one_blas_thread`,
`SingleThreadedVerbs`), and so does every call of `mercer._numeric.linalg.dense`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, TypeVar

from mercer._runtime.magnitudes import refuse_extreme_results

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Limit:
    """A limit for the process, entered any number of times on any threads: the first sets it, the last restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._before = [(library, library.get_num_threads()) for library in _libraries()]
                for library, threads in self._before:
                    if threads != 1:
                        _set_threads(library, 1)
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                for library, threads in self._before:
                    if threads != 1:
                        _set_threads(library, threads)

    def forget_other_threads(self) -> None:
        """Replace a lock that a thread of the parent process may have held during a fork."""
        self._lock = threading.Lock()


_limit = _Limit()


def single_threaded_blas() -> _Limit:
    """Limit BLAS to one thread within a `with` block; afterwards it has as many as before.

    >>> with single_threaded_blas():
    ...     pass
    """
    return _limit


def limit_blas_forever() -> None:
    """Limit BLAS to one thread for the rest of the process: for workers that run several items at a time."""
    _limit.__enter__()


def on_one_blas_thread(function: _Function) -> _Function:
    """Decorate a function so that BLAS has one thread while it runs."""

    @wraps(function)
    def limited(*args: Any, **options: Any) -> Any:
        with _limit:
            return function(*args, **options)

    return limited  # type: ignore[return-value]


#: Methods that compute, by the names that users call.
VERBS = (
    "fit",
    "partial_fit",
    "merge",
    "fit_transform",
    "transform",
    "inverse_transform",
    "predict",
    "predict_proba",
    "predict_interval",
    "decision_function",
    "score",
    "certificate",
    "__call__",
    "diag",
    "distance",
)


class SingleThreadedVerbs:
    """A base of estimators and kernels: the public methods of subclasses run with BLAS on one thread.

    Numbers that overflow meanwhile are refused by the name of their column (`refuse_extreme_results`).
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        limit_methods(cls, VERBS)


def limit_methods(kind: type, names: Iterable[str]) -> None:
    """Decorate those of the named methods that a class itself defines: BLAS on one thread, no silent overflow."""
    for name in names:
        method = vars(kind).get(name)
        if callable(method) and not hasattr(method, "__isabstractmethod__"):
            setattr(kind, name, on_one_blas_thread(refuse_extreme_results(method)))


def _set_threads(library: Any, threads: int) -> None:
    """Set the threads of a BLAS library from any thread.

    OpenBLAS has one pool for the process, and threadpoolctl from 3.7 on lets only the first thread that asked resize
    it: for all others `set_num_threads` silently does nothing. `_Limit` needs no owner, because it counts its entries
    under a lock, so it takes the control away before it asks, and leaves it to nobody afterwards.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is None:
        library.set_num_threads(threads)
        return
    release(force=True)
    library.set_num_threads(threads)
    release()


@cache
def _libraries() -> list[Any]:
    # SciPy ships its own BLAS, which is limited only if it is loaded before the libraries are listed.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
