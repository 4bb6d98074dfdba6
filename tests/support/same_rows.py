"""Answers of two engines to one question, held against each other."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

#: What rounding leaves of values such as 5000 ± 0.01, on any engine.
ILL_CONDITIONED = {"spread": 1e-10, "discrimination": 1e-10}


def assert_same_rows(one: pa.Table, other: pa.Table) -> None:
    """The same rows in the same order, and some; numbers up to rounding."""
    rows, others = one.to_pylist(), other.to_pylist()
    assert len(rows) == len(others) > 0 and one.column_names == other.column_names
    assert [
        fault
        for pair in zip(rows, others, strict=True)
        for fault in _differences(*pair)
    ] == []


def _differences(
    one: dict[str, Any], other: dict[str, Any]
) -> list[tuple[str, Any, Any]]:
    """Name and both values of what differs."""
    return [
        (name, value, other[name])
        for name, value in one.items()
        if not _is_equal(value, other[name], ILL_CONDITIONED.get(name, 1e-12))
    ]


def _is_equal(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-15)
    return type(one) is type(other) and bool(one == other)
