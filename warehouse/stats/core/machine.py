"""What the machine has: a compiler for loops, and threads that small products do better
without."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.util import find_spec

from threadpoolctl import ThreadpoolController


@cache
def has_compiler() -> bool:
    """Whether numba is installed (the extra ``fast``), and ``WAREHOUSE_COMPILE`` is not
    0. Without it the same figures come from numpy."""
    return os.environ.get("WAREHOUSE_COMPILE") != "0" and find_spec("numba") is not None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """No further BLAS threads inside: with small products they wait for each other."""
    with _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=2)
def _controller(_with_scipy: bool) -> ThreadpoolController:
    """The loaded libraries. To look for them takes 2 ms, so it is done once; SciPy
    brings one of its own."""
    return ThreadpoolController()
