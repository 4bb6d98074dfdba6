"""Rows contain their parts: columns come from them, flat and in the order of
declaration."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from warehouse.analysis.compare.unpaired import UnpairedRow
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Column, Row


@dataclass(frozen=True)
class Ends:
    low: float | None


@dataclass(frozen=True)
class Figure:
    value: float
    ends: Ends | None


@dataclass(frozen=True)
class Example(Row):
    name: str
    value: ClassVar[Column[float | None]] = Column("figure.value")
    low: ClassVar[Column[float | None]] = Column("figure.ends.low")
    method: ClassVar[Column[str]] = Column("figure.ends.low", "none")
    flags: tuple[str, ...]
    figure: Figure | None = None

    PARTS = ("figure",)


def test_columns_are_flat_in_order_and_none_where_a_part_is() -> None:
    row = Example("a", ("x",), Figure(1.5, Ends(0.5)))
    assert list(row.to_dict().items()) == [
        ("name", "a"),
        ("value", 1.5),
        ("low", 0.5),
        ("method", 0.5),
        ("flags", ["x"]),
    ]
    without = replace(row, figure=Figure(2.0, None))
    assert (without.value, without.low, without.method) == (2.0, None, "none")
    assert replace(row, figure=None).value is None


@pytest.mark.parametrize("row", [LeaderboardRow, ComparisonRow, UnpairedRow])
def test_what_is_documented_is_a_column_or_a_part(row: type[Row]) -> None:
    text = (inspect.getdoc(row) or "").split("Attributes:")[1]
    documented = [
        line.split(":")[0].strip()
        for line in text.splitlines()
        if line[4:5].strip() and ":" in line
    ]
    assert set(documented) == {*row.columns(), *row.PARTS}
    assert not set(row.columns()) & set(row.PARTS)
