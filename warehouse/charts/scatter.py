"""Scatter plots with names, as pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.picture import (
    NOTHING,
    OVER,
    WIDTH,
    Picture,
    Sheet,
    end_at,
    fitting,
    note_of,
)
from warehouse.tables.words import fixed


@dataclass(frozen=True)
class Spot:
    """A point of a scatter plot: its name, places as numbers and in words, and whether
    it stands out by its name; the ends of the intervals along both axes, where there
    are any."""

    name: str
    x: float
    x_words: str
    y: float
    named: bool
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None


def by_cost(
    title: str,
    spots: Iterable[Spot],
    *,
    x: str,
    y: str,
    n_decimals: int,
    note: str,
    higher_is_better: bool,
) -> Picture | None:
    """Scores against costs, by logarithms where none is 0; those stand out, joined by a
    line, that are better than all that cost no more."""
    ordered, frontier = list[Spot](), list[Spot]()
    sign = 1 if higher_is_better else -1
    for spot in sorted(spots, key=lambda spot: (spot.x, -sign * spot.y)):
        named = (
            not frontier
            or sign * spot.y > sign * frontier[-1].y
            or (spot.x, spot.y) == (frontier[-1].x, frontier[-1].y)
        )
        ordered.append(replace(spot, named=named))
        frontier += ordered[-1:] if named else []
    ticks: list[tuple[float, str]] = []
    if ordered and ordered[0].x > 0:
        ordered = [
            replace(
                spot,
                x=math.log10(spot.x),
                x_ends=spot.x_ends and _logarithms(spot.x_ends),
            )
            for spot in ordered
        ]
        low, high = ordered[0].x, ordered[-1].x
        steps = (1, 2, 5) if high - low < 1.5 else (1,)
        marks: list[float] = []
        for power in range(math.floor(low) - 1, math.ceil(high) + 1):
            marks += [step * 10.0**power for step in steps]
        ticks = [
            (math.log10(mark), f"{mark:g}")
            for mark in marks
            if low <= math.log10(mark) <= high
        ]
        x = f"{x}, logarithmic"
    note = note_of([note, "blue: better than all that cost no more"])
    return scatter(
        title,
        ordered,
        x=x,
        y=y,
        n_decimals=n_decimals,
        note=note,
        ticks=ticks,
        joined=True,
    )


def _logarithms(ends: tuple[float, float]) -> tuple[float, float]:
    return math.log10(ends[0]), math.log10(ends[1])


def scatter(
    title: str,
    spots: Sequence[Spot],
    *,
    x: str,
    y: str,
    n_decimals: int,
    note: str,
    ticks: Sequence[tuple[float, str]] = (),
    joined: bool = False,
) -> Picture | None:
    """Points with names at those that are named; None for fewer than two.

    Args:
        title: what it is called.
        spots: the points.
        x: what the lower axis is.
        y: what the left axis is.
        n_decimals: of the left axis' figures.
        note: what the picture rests on.
        ticks: of the lower axis, where its numbers are none to read, as of dates and
            logarithms.
        joined: a line of steps joins those that are named.
    """
    left, height = 40.0, 220
    xs: list[float] = []
    ys: list[float] = []
    for spot in spots:
        xs += [spot.x, *(spot.x_ends or ())]
        ys += [spot.y, *(spot.y_ends or ())]
    across = make_axis(xs, left=left + 6, width=WIDTH - left - 16)
    up = make_axis(ys, left=8, width=height - 46)
    if len(spots) < 2 or across is None or up is None:
        return None
    floor, sheet = height - 30, Sheet()
    sheet.line(f"M{left} {floor}H{WIDTH}", "dim")
    for at, words in [
        (across.at(value) or 0.0, words) for value, words in ticks
    ] or across.ticks:
        sheet.text(at, floor + 13, words, "dim", end_at(at, left))
    for at, words in up.ticks:
        sheet.line(f"M{left} {floor - at:.1f}H{WIDTH}", "line")
        sheet.text(left - 4, round(floor - at + 4, 1), words, "dim", "end")
    sheet.text(WIDTH, height - 3, x, anchor="end")
    positions = [
        (spot, across.at(spot.x) or 0.0, round(floor - (up.at(spot.y) or 0.0), 1))
        for spot in spots
    ]
    for spot, at, top in positions:
        _whiskers(sheet, spot, (at, top), across, up, floor)
    ends = sorted((at, top) for spot, at, top in positions if spot.named)
    if joined and len(ends) > 1:
        sheet.line(
            f"M{ends[0][0]} {ends[0][1]}"
            + "".join(f"H{at}V{top}" for at, top in ends[1:]),
            "dim",
            dashed=True,
        )
    for spot, at, top in sorted(positions, key=lambda position: position[0].named):
        sheet.line(f"M{at} {top}h0", "mark" if spot.named else "faint", 7)
    taken: list[float] = []
    for spot, at, top in sorted(positions, key=lambda position: position[2]):
        below = _free_below(top, taken)
        if spot.named and below is not None:
            taken.append(top + below)
            is_left = at < WIDTH / 2
            name = fitting([spot.name], (WIDTH - at if is_left else at - left) - 8)[0]
            x_at, anchor = (at + 7, "start") if is_left else (at - 7, "end")
            sheet.text(x_at, top + below + 4, name, anchor=anchor, more=OVER)
    return Picture(
        title,
        f"{title}: {len(spots)} models; stand out: "
        f"{', '.join(spot.name for spot in spots if spot.named)}",
        note,
        WIDTH,
        height,
        NOTHING.join(sheet.parts),
        ("Model", x, y),
        tuple((spot.name, spot.x_words, fixed(spot.y, n_decimals)) for spot in spots),
    )


def _free_below(top: float, taken: Sequence[float]) -> int | None:
    """Steps down from a point to where a name fits between those that stand there;
    None where there is no room."""
    for step in (0, 13, 26):
        if all(abs(top + step - other) > 12 for other in taken):
            return step
    return None


def _whiskers(
    sheet: Sheet,
    spot: Spot,
    position: tuple[float, float],
    across: Axis,
    up: Axis,
    floor: float,
) -> None:
    """The intervals of a point along both axes."""
    (at, top), colour = position, "mark" if spot.named else "line"
    if spot.x_ends:
        sheet.line(
            f"M{across.at(spot.x_ends[0])} {top}H{across.at(spot.x_ends[1])}", colour
        )
    if spot.y_ends:
        low, high = (round(floor - (up.at(end) or 0.0), 1) for end in spot.y_ends)
        sheet.line(f"M{at} {low}V{high}", colour)
