"""Drawings inside the tables of a page: one axis for a column, an interval in each
cell."""

from __future__ import annotations

from collections.abc import Iterable

from warehouse.charts.axes import Axis
from warehouse.tables.page import PageColumn, is_finite


def drawing(head: str, axis: Axis | None, cells: Iterable[str]) -> PageColumn | None:
    """Drawings on one axis, hidden where there is no room; None without an axis."""
    if axis is None:
        return None
    ticks = "".join(
        f'<path class="tick" d="M{at} 15V20"/><text x="{at}" y="11">{words}</text>'
        for at, words in axis.ticks
    )
    return PageColumn(
        f'{head}<svg aria-hidden="true">{ticks}</svg>',
        "figure",
        tuple(f'<td class="x drawn">{cell}' for cell in cells),
        None,
        True,
    )


def interval_drawn(
    axis: Axis, value: float | None, low: float | None, high: float | None
) -> str:
    """An estimate and its interval on an axis."""
    if not is_finite(value):
        return ""
    bar = ""
    if is_finite(low) and is_finite(high):
        bar = f'<path class="bar" d="M{axis.at(low)} 10H{axis.at(high)}"/>'
    return (
        f'<svg aria-hidden="true">{bar}<circle class="dot" cx="{axis.at(value)}" '
        'cy="10" r="4"/></svg>'
    )
