"""Whether loops can be compiled."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec


@cache
def has_compiler() -> bool:
    """Whether numba is installed (the extra ``fast``), and ``WAREHOUSE_COMPILE`` is not 0. Without it the same
    figures come from numpy."""
    return os.environ.get("WAREHOUSE_COMPILE") != "0" and find_spec("numba") is not None
