"""A picture, and the sheet that it is drawn on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup, escape

from warehouse.charts.axes import Axis
from warehouse.charts.chart import distinct
from warehouse.tables.markup import pipe_table, with_caption

#: Pixels of a picture, and of a letter.
WIDTH, LETTER = 350, 6.4
NOTHING = Markup("")
#: A text that hides what is below it.
OVER = Markup(' stroke="var(--bg)" stroke-width="3" paint-order="stroke"')


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
        to_right = [False] + [True] * (len(self.head) - 1)
        return with_caption(
            self.title, pipe_table(self.head, self.rows, to_right), self.note
        )

    @cached_property
    def svg(self) -> Markup:
        """The ``svg`` element."""
        return Markup(
            '<svg class="plot own" role="img" aria-label="{}" width="{}" height="{}" '
            'viewBox="0 0 {} {}">{}</svg>'
        ).format(self.say, self.width, self.height, self.width, self.height, self.body)


class Sheet:
    """A drawing, from back to front; colours are names of style.css."""

    def __init__(self) -> None:
        self.parts: list[Markup] = []

    def line(
        self, course: str, colour: str, width: float = 1, *, dashed: bool = False
    ) -> None:
        """A line; one without length is a dot. The course is made of numbers alone."""
        more = ""
        if width != 1:
            more += f' stroke-width="{width:g}" stroke-linecap="round"'
        if dashed:
            more += ' stroke-dasharray="2 2"'
        self.parts.append(
            Markup(f'<path d="{course}" stroke="var(--{colour})"{more}/>')
        )

    def area(self, course: str, colour: str) -> None:
        """A filled area."""
        self.parts.append(Markup(f'<path d="{course}" fill="var(--{colour})"/>'))

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
        at = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(
            Markup(
                f'<text x="{x:g}" y="{y:g}" '
                f'fill="var(--{colour})"{at}{more}>{escape(words)}</text>'
            )
        )

    def ticks(self, axis: Axis, height: int, *, zero: bool) -> None:
        """Lines at the round numbers of an axis, the numbers below them, and a line at
        0."""
        self.line("".join(f"M{at} 6V{height - 16}" for at, _ in axis.ticks), "line")
        if zero:
            self.line(f"M{axis.at(0.0)} 6V{height - 16}", "dim", dashed=True)
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
    return distinct(names, max(int(pixels / LETTER), 4))


def note_of(parts: Iterable[str]) -> str:
    """Sentence on what a picture rests on, from what there is of it."""
    return "; ".join(filter(None, parts))
