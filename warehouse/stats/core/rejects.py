"""When a test rejects: the one rule by which a p is held against the size of its test."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray

#: ``1 - level`` and sums of p-values are rounded: at level 0.9 a p of 0.1 is above ``1 - 0.9``.
_ROUNDED = 1e-12


@overload
def rejects(p_values: float | None, alpha: float) -> bool: ...
@overload
def rejects(p_values: FloatArray, alpha: float) -> NDArray[np.bool_]: ...
def rejects(p_values: float | FloatArray | None, alpha: float) -> bool | NDArray[np.bool_]:
    """Whether a p is at most ``alpha``, but for rounding; one that is NaN or None never is.

    Args:
        p_values: one, or an array of any shape.
        alpha: size of the test, 1 − level.

    Examples:
        >>> rejects(0.1, 1 - 0.9), rejects(0.11, 1 - 0.9), rejects(None, 0.05)
        (True, False, False)
    """
    found = np.less_equal(np.asarray(p_values, dtype=np.float64), alpha + _ROUNDED)
    return found if found.ndim else bool(found)
