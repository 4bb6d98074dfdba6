"""Compiled functions. Importing this file loads numba: import it where it is needed."""

from __future__ import annotations

from typing import Any

from numba import njit


def compiled(function: Any) -> Any:
    """Compile at first use, without the interpreter's lock, and keep the machine code on disk."""
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # nowhere to keep it: compiled once in each process
        return njit(nogil=True, error_model="numpy")(function)
