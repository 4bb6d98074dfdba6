"""Oracles of statsmodels."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from numpy.typing import ArrayLike, NDArray
from statsmodels.stats.multitest import multipletests


def adjusted(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    """Adjusted p-values. ``multipletests`` collects garbage in each call, which on the
    heap of the whole suite takes a third of a second."""
    with patch("gc.collect"):
        return np.asarray(multipletests(p_values, method=method)[1])
