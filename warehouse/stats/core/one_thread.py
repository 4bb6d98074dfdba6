"""Linear algebra in one thread, for many small products."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """No further BLAS threads inside: with small products they wait for each other."""
    with _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=2)
def _controller(_with_scipy: bool) -> ThreadpoolController:
    """The loaded libraries. To look for them takes 2 ms, so it is done once; SciPy brings one of its own."""
    return ThreadpoolController()
