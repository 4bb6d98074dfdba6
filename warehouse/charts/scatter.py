"""Scatter plots with names, as pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.courses import across, upright
from warehouse.charts.picture import (
    OVER,
    WIDTH,
    Picture,
    Sheet,
    end_at,
    fitting,
    note_of,
)
from warehouse.tables.words import fixed

#: Pixels of a plot, and from its top to the lower axis.
_HEIGHT, _FLOOR = 220, 190
#: Pixels before the left axis.
_LEFT = 40.0


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
    ordered = _marked(spots, higher_is_better=higher_is_better)
    ticks: list[tuple[float, str]] = []
    if ordered and ordered[0].x > 0:
        ordered = [_by_logarithm(spot) for spot in ordered]
        ticks = _ticks_of_logarithms(ordered[0].x, ordered[-1].x)
        x = f"{x}, logarithmic"
    return scatter(
        title,
        ordered,
        x=x,
        y=y,
        n_decimals=n_decimals,
        note=note_of([note, "blue: better than all that cost no more"]),
        ticks=ticks,
        joined=True,
    )


def _marked(spots: Iterable[Spot], *, higher_is_better: bool) -> list[Spot]:
    """Points by what they cost; those are named that are better than all that cost no
    more."""
    sign = -1
    if higher_is_better:
        sign = 1
    marked: list[Spot] = []
    best: Spot | None = None
    for spot in sorted(spots, key=lambda spot: (spot.x, -sign * spot.y)):
        is_named = (
            best is None
            or sign * spot.y > sign * best.y
            or (spot.x, spot.y) == (best.x, best.y)
        )
        spot = replace(spot, named=is_named)
        marked.append(spot)
        if is_named:
            best = spot
    return marked


def _by_logarithm(spot: Spot) -> Spot:
    """A point at the logarithm of what it costs."""
    ends = spot.x_ends
    if ends:
        ends = (math.log10(ends[0]), math.log10(ends[1]))
    return replace(spot, x=math.log10(spot.x), x_ends=ends)


def _ticks_of_logarithms(low: float, high: float) -> list[tuple[float, str]]:
    """Round numbers between two logarithms."""
    steps: tuple[int, ...] = (1,)
    if high - low < 1.5:
        steps = (1, 2, 5)
    ticks: list[tuple[float, str]] = []
    for power in range(math.floor(low) - 1, math.ceil(high) + 1):
        for step in steps:
            mark = step * 10.0**power
            place = math.log10(mark)
            if low <= place <= high:
                ticks.append((place, f"{mark:g}"))
    return ticks


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
    axes = _axes_of(spots)
    if len(spots) < 2 or axes is None:
        return None
    plot = _Plot(*axes)
    plot.draw_lower_axis(ticks)
    plot.draw_left_axis()
    plot.draw_title(x)
    plot.draw_points(spots, joined=joined)
    named = [spot.name for spot in spots if spot.named]
    table: list[tuple[str, ...]] = []
    for spot in spots:
        y_words = fixed(spot.y, n_decimals)
        table.append((spot.name, spot.x_words, y_words))
    return Picture(
        title=title,
        say=f"{title}: {len(spots)} models; stand out: {', '.join(named)}",
        note=note,
        width=WIDTH,
        height=_HEIGHT,
        body=plot.sheet.body,
        head=("Model", x, y),
        rows=tuple(table),
    )


def _axes_of(spots: Sequence[Spot]) -> tuple[Axis, Axis] | None:
    """The lower and the left axis, which hold all points and intervals."""
    xs: list[float] = []
    ys: list[float] = []
    for spot in spots:
        xs += [spot.x, *(spot.x_ends or ())]
        ys += [spot.y, *(spot.y_ends or ())]
    across = make_axis(xs, left=_LEFT + 6, width=WIDTH - _LEFT - 16)
    up = make_axis(ys, left=8, width=_HEIGHT - 46)
    if across is None or up is None:
        return None
    return across, up


@dataclass(frozen=True)
class _Point:
    """A point in its place."""

    spot: Spot
    at: float  #: pixels from the left.
    top: float  #: pixels from the top.


@dataclass(frozen=True)
class _Plot:
    """A plot that is being drawn."""

    across: Axis
    up: Axis
    sheet: Sheet = field(default_factory=Sheet)

    def point(self, spot: Spot) -> _Point:
        """A point in its place."""
        at = self.across.at(spot.x) or 0.0
        return _Point(spot, at, self._height_of(spot.y))

    def _height_of(self, value: float) -> float:
        """Pixels from the top to a value of the left axis."""
        above = self.up.at(value) or 0.0
        return round(_FLOOR - above, 1)

    def draw_lower_axis(self, ticks: Sequence[tuple[float, str]]) -> None:
        """A line with numbers, or with what stands in their place."""
        floor = across(_LEFT, _FLOOR, WIDTH)
        self.sheet.line(floor, "dim")
        numbers = self.across.ticks
        if ticks:
            numbers = tuple(
                (self.across.at(value) or 0.0, says) for value, says in ticks
            )
        for at, words in numbers:
            anchor = end_at(at, _LEFT)
            self.sheet.text(at, _FLOOR + 13, words, "dim", anchor)

    def draw_left_axis(self) -> None:
        """Lines at round numbers, with the numbers before them."""
        for above, words in self.up.ticks:
            y = _FLOOR - above
            grid = across(_LEFT, f"{y:.1f}", WIDTH)
            baseline = round(y + 4, 1)
            self.sheet.line(grid, "line")
            self.sheet.text(_LEFT - 4, baseline, words, "dim", "end")

    def draw_title(self, title: str) -> None:
        """Draw the title of the lower axis, below it."""
        self.sheet.text(WIDTH, _HEIGHT - 3, title, anchor="end")

    def draw_points(self, spots: Iterable[Spot], *, joined: bool) -> None:
        """Points with their intervals and names, and steps between those that are
        named where they are joined."""
        points = [self.point(spot) for spot in spots]
        for point in points:
            self.draw_intervals(point)
        if joined:
            self.draw_steps(points)
        self.draw_dots(points)
        self.draw_names(points)

    def draw_intervals(self, point: _Point) -> None:
        """The intervals of a point along both axes."""
        spot = point.spot
        colour = "line"
        if spot.named:
            colour = "mark"
        if spot.x_ends:
            left, right = map(self.across.at, spot.x_ends)
            course = across(left or 0.0, point.top, right or 0.0)
            self.sheet.line(course, colour)
        if spot.y_ends:
            low, high = map(self._height_of, spot.y_ends)
            course = upright(point.at, low, high)
            self.sheet.line(course, colour)

    def draw_steps(self, points: Sequence[_Point]) -> None:
        """Steps from each point that is named to the next."""
        corners = sorted((point.at, point.top) for point in points if point.spot.named)
        if len(corners) < 2:
            return
        at, top = corners[0]
        course = f"M{at} {top}"
        for at, top in corners[1:]:
            course += f"H{at}V{top}"
        self.sheet.line(course, "dim", dashed=True)

    def draw_dots(self, points: Sequence[_Point]) -> None:
        """The points, those that are named above the others."""
        for point in sorted(points, key=lambda point: point.spot.named):
            colour = "faint"
            if point.spot.named:
                colour = "mark"
            self.sheet.dot(point.at, point.top, colour, 7)

    def draw_names(self, points: Sequence[_Point]) -> None:
        """Names beside their points, from the top, as far as there is room."""
        taken: list[float] = []
        for point in sorted(points, key=lambda point: point.top):
            below = _free_below(point.top, taken)
            if point.spot.named and below is not None:
                middle = point.top + below
                taken.append(middle)
                self._draw_name(point, middle + 4)

    def _draw_name(self, point: _Point, baseline: float) -> None:
        """A name on the side of its point that has more room."""
        if point.at < WIDTH / 2:
            room = WIDTH - point.at
            x = point.at + 7
            anchor = "start"
        else:
            room = point.at - _LEFT
            x = point.at - 7
            anchor = "end"
        short = fitting([point.spot.name], room - 8)
        self.sheet.text(x, baseline, short[0], anchor=anchor, more=OVER)


def _free_below(top: float, taken: Sequence[float]) -> int | None:
    """Steps down from a point to where a name fits between those that stand there;
    None where there is no room."""
    for step in (0, 13, 26):
        if all(abs(top + step - other) > 12 for other in taken):
            return step
    return None
