"""A picture, and the sheet that it is drawn on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup, escape

from warehouse.charts.axes import Axis
from warehouse.charts.chart import distinct
from warehouse.charts.courses import Number, dot, upright
from warehouse.tables.markup import pipe_table, with_caption

#: Pixels of a picture, and of a letter.
WIDTH, LETTER = 350, 6.4
NOTHING = Markup("")
#: A text that hides what is below it.
OVER = Markup(' stroke="var(--bg)" stroke-width="3" paint-order="stroke"')

_SVG = Markup(
    '<svg class="plot own" role="img" aria-label="{say}" '
    'width="{width}" height="{height}" '
    'viewBox="0 0 {width} {height}">{body}</svg>'
)


@dataclass(frozen=True)
class Picture:
    """A picture."""

    title: str  #: what it is called.
    say: str  #: what is seen, in words, for those who cannot see it.
    note: str  #: how many, when and by which method; goes with every copy.
    width: int  #: in pixels.
    height: int  #: in pixels.
    body: Markup  #: what is in the ``svg`` element; text is escaped.
    head: tuple[str, ...]  #: of the same as a table.
    rows: tuple[tuple[str, ...], ...]  #: of it.

    @cached_property
    def markdown(self) -> str:
        """The picture as a table for Markdown."""
        n_figures = len(self.head) - 1
        to_right = [False] + [True] * n_figures
        table = pipe_table(self.head, self.rows, to_right)
        return with_caption(self.title, table, self.note)

    @cached_property
    def svg(self) -> Markup:
        """The ``svg`` element."""
        return _SVG.format(
            say=self.say,
            width=self.width,
            height=self.height,
            body=self.body,
        )


class Sheet:
    """A drawing, from back to front; colours are names of style.css."""

    def __init__(self) -> None:
        self.parts: list[Markup] = []

    @property
    def body(self) -> Markup:
        """All that is drawn, one after the other."""
        return NOTHING.join(self.parts)

    def line(
        self, course: str, colour: str, width: float = 1, *, dashed: bool = False
    ) -> None:
        """A line; one without length is a dot. The course is made of numbers alone."""
        attributes = f'd="{course}" stroke="var(--{colour})"'
        if width != 1:
            attributes += f' stroke-width="{width:g}" stroke-linecap="round"'
        if dashed:
            attributes += ' stroke-dasharray="2 2"'
        self._path(attributes)

    def area(self, course: str, colour: str) -> None:
        """A filled area."""
        self._path(f'd="{course}" fill="var(--{colour})"')

    def _path(self, attributes: str) -> None:
        self.parts.append(Markup(f"<path {attributes}/>"))

    def text(
        self,
        x: float,
        y: float,
        words: str,
        colour: str = "fg",
        anchor: str = "start",
        *,
        more: Markup = NOTHING,
    ) -> None:
        """Words at a place, which `anchor` says the end of."""
        attributes = f'x="{x:g}" y="{y:g}" fill="var(--{colour})"'
        if anchor != "start":
            attributes += f' text-anchor="{anchor}"'
        element = f"<text {attributes}{more}>{escape(words)}</text>"
        self.parts.append(Markup(element))

    def figure(self, y: float, words: str) -> None:
        """Words at the right edge, dimmer than a name."""
        self.text(WIDTH, y, words, "dim", "end")

    def dot(self, x: Number, y: Number, colour: str, width: float) -> None:
        """A dot."""
        self.line(dot(x, y), colour, width)

    def ticks(self, axis: Axis, height: int, *, zero: bool) -> None:
        """Lines at the round numbers of an axis, the numbers below them, and a line at
        0."""
        floor = height - 16
        grid = ""
        for at, _ in axis.ticks:
            grid += upright(at, 6, floor)
        self.line(grid, "line")
        origin = axis.at(0.0)
        if zero and origin is not None:
            course = upright(origin, 6, floor)
            self.line(course, "dim", dashed=True)
        for at, words in axis.ticks:
            self.text(at, height - 3, words, "dim", end_at(at, 0))


def end_at(at: float, left: float) -> str:
    """Where words stand at a place, so that they stay inside."""
    if at < left + 20:
        return "start"
    if at > WIDTH - 20:
        return "end"
    return "middle"


def fitting(names: Sequence[str], pixels: float) -> list[str]:
    """Names that fit, and no two alike."""
    n_letters = int(pixels / LETTER)
    return distinct(names, max(n_letters, 4))


def note_of(parts: Iterable[str]) -> str:
    """Sentence on what a picture rests on, from what there is of it."""
    return "; ".join(filter(None, parts))
