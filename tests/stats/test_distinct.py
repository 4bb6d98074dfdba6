"""Distinct whole numbers with their places, close together and far apart."""

from __future__ import annotations

import numpy as np
import pytest

from warehouse.stats.core.sample import distinct


@pytest.mark.parametrize("values", [[], [5], [3, 1, 3, -2, 1], [10**12, 7, 10**12, -(10**12)]])
def test_they_are_those_of_numpy(values: list[int]) -> None:
    numbers = np.array(values, np.int64)
    names, places = distinct(numbers)
    slow_names, slow_places = np.unique(numbers, return_inverse=True)
    assert names.tolist() == slow_names.tolist() and places.tolist() == slow_places.tolist()
