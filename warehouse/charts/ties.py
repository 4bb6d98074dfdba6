"""Critical-difference diagrams, upright: bars join models that no test tells apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.courses import across, dot, upright
from warehouse.charts.picture import WIDTH, Picture, Sheet, fitting
from warehouse.tables.words import fixed

#: Models and groups of a diagram.
MOST_TIED, MOST_GROUPS = 25, 8
#: Pixels from a name to the next.
_PITCH = 19
#: Pixels from a bar to the next.
_BAR = 9

#: Name, figure and letters of a model: it is tied with those that share a letter.
Tied = tuple[str, float, str]


def ties(
    title: str,
    rows: Sequence[Tied],
    *,
    figure: str,
    n_decimals: int,
    note: str,
) -> Picture | None:
    """A critical-difference diagram, upright: names at their figures, bars that join
    those no test tells apart.

    None where it does not fit: fewer than three models, more than `MOST_TIED`, or more
    than `MOST_GROUPS` bars.

    Args:
        title: what it is called.
        rows: name, figure and letters of each model, best first.
        figure: what the figures are.
        n_decimals: of the figures.
        note: what the picture rests on.
    """
    letters = [own for _, _, own in rows]
    groups = _groups(letters)
    if not 3 <= len(rows) <= MOST_TIED:
        return None
    if len(groups) > MOST_GROUPS:
        return None
    diagram = _Diagram(rows, groups)
    diagram.draw_scale()
    diagram.draw_names()
    diagram.draw_bars()
    table: list[tuple[str, ...]] = []
    for name, value, own in rows:
        in_words = fixed(value, n_decimals)
        table.append((name, in_words, own))
    return Picture(
        title=title,
        say=f"{title}: {_in_words(rows, groups)}",
        note=note,
        width=WIDTH,
        height=diagram.height,
        body=diagram.sheet.body,
        head=("Model", figure, "Group"),
        rows=tuple(table),
    )


def _groups(letters: Sequence[str]) -> list[list[int]]:
    """Indices of the rows that share a letter, for each letter that several have."""
    groups: list[list[int]] = []
    used = set("".join(letters))
    for letter in sorted(used):
        group = [at for at, own in enumerate(letters) if letter in own]
        if len(group) > 1:
            groups.append(group)
    return groups


def _in_words(rows: Sequence[Tied], groups: Sequence[Sequence[int]]) -> str:
    if not groups:
        return "all differ"
    joined: list[str] = []
    for group in groups:
        names = [rows[at][0] for at in group]
        joined.append(", ".join(names))
    return f"joined by a bar, as no test tells them apart: {'; '.join(joined)}"


@dataclass
class _Diagram:
    """A diagram that is being drawn: the scale at the left, then bars, then names."""

    rows: Sequence[Tied]  #: best first.
    groups: Sequence[Sequence[int]]  #: indices of the rows of each bar.
    sheet: Sheet = field(default_factory=Sheet)

    def __post_init__(self) -> None:
        self.height = len(self.rows) * _PITCH + 10
        figures = [value for _, value, _ in self.rows]
        axis = make_axis(figures, left=8, width=self.height - 22)
        assert axis is not None  # of at least three figures
        self.axis: Axis = axis
        #: the best stands at the top, be it the highest figure or the lowest.
        self.is_turned = figures[0] > figures[-1]

    def _down(self, position: float) -> float:
        """Pixels from the top to a position on the axis."""
        if self.is_turned:
            return self.height - 6 - position
        return position

    def _height_of(self, row: Tied) -> float:
        position = self.axis.at(row[1])
        assert position is not None  # of a figure
        return self._down(position)

    def draw_scale(self) -> None:
        """The line of the scale, from the best to the worst, with round numbers."""
        top = self._height_of(self.rows[0])
        bottom = self._height_of(self.rows[-1])
        scale = upright(44, f"{top:.1f}", f"{bottom:.1f}")
        self.sheet.line(scale, "dim")
        for at, words in self.axis.ticks:
            y = self._down(at)
            tick = across(40, f"{y:.1f}", 44)
            baseline = round(y + 4, 1)
            self.sheet.text(36, baseline, words, "dim", "end")
            self.sheet.line(tick, "dim")

    def draw_names(self) -> None:
        """Names at even distances, each with a line to its figure."""
        n_bars = len(self.groups)
        left = 82 + _BAR * n_bars
        names = [name for name, _, _ in self.rows]
        short = fitting(names, WIDTH - left)
        for at, name in enumerate(short):
            on_scale = self._height_of(self.rows[at])
            middle = _PITCH * at + 12
            from_scale = f"M44 {on_scale:.1f}"
            to_name = f"L66 {middle}H72"
            self.sheet.line(from_scale + to_name, "faint")
            self.sheet.text(left, middle + 4, name)

    def draw_bars(self) -> None:
        """A bar for each group, with a dot at each of its models."""
        for number, group in enumerate(self.groups):
            x = 78 + _BAR * number
            top = _PITCH * group[0] + 8
            bottom = _PITCH * group[-1] + 16
            bar = upright(x, top, bottom)
            self.sheet.line(bar, "mark", 3)
            dots = ""
            for at in group:
                middle = _PITCH * at + 12
                dots += dot(x, middle)
            self.sheet.line(dots, "mark", 7)
