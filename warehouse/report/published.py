"""Published tables as a page: the cells marked of which something was found, and what
that is beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.view import (
    HEADINGS,
    LAST_LINE,
    RULES,
    BoardReport,
    BoardRow,
)
from warehouse.report.page import source_hash
from warehouse.tables.words import visible

#: Cells of a table from which only the rows with findings are shown, how many of these,
#: and columns.
_MOST_CELLS, _MOST_ROWS, _MOST_COLUMNS = 20_000, 200, 200


@dataclass
class PageCell:
    """A cell, a name or a header as it is shown."""

    text: str
    grade: str = ""  #: the worst of what was found of it; empty: nothing.
    numbers: list[int] = field(default_factory=list)  #: of what was found.
    is_text: bool = False  #: whether its column holds no figures.

    @property
    def classes(self) -> str:
        """What the style knows it by."""
        if self.is_text:
            return f"t {self.grade}".strip()
        return self.grade


@dataclass
class PageRow:
    """A row: its name, and its cells."""

    name: PageCell
    cells: list[PageCell]


@dataclass(frozen=True)
class PageFinding:
    """Something found, with its number on the page."""

    number: int
    grade: str
    who: str
    text: str
    rule: str
    about: str  #: what the rule looks at.


@dataclass(frozen=True)
class FindingGroup:
    """All findings of a table of one grade."""

    heading: str
    findings: tuple[PageFinding, ...]


@dataclass(frozen=True)
class PagePart:
    """A table with what was found of it."""

    name: str
    caption: str
    head: list[PageCell]
    rows: list[PageRow]
    findings: list[FindingGroup]


def published_page(report: BoardReport) -> str:
    """A page of published tables that stands alone: HTML without scripts, legible on a
    telephone and in the dark."""
    style = _text("style.css") + _text("published.css")
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True
    ).from_string(_text("published.html.j2"))
    above = [report.in_store, report.not_in_store, *report.unread]
    return template.render(
        title="Published tables",
        report=str(report),
        style=Markup(style),
        style_hash=source_hash(style),
        above=[visible(line) for line in above if line],
        parts=list(_parts(report)),
        leaders=list(map(visible, report.leaders)),
        numbers=_links,
        last_line=LAST_LINE,
        version=version("eval-warehouse"),
    )


def _text(name: str) -> str:
    return files("warehouse.report").joinpath(name).read_text(encoding="utf-8")


def _links(cell: PageCell) -> Markup:
    """The numbers of what was found of a cell, each a link."""
    links = Markup("")
    for number in cell.numbers:
        links += Markup('<sup><a href="#f{0}">{0}</a></sup>').format(number)
    return links


def _parts(report: BoardReport) -> Iterator[PagePart]:
    """The tables, those of which something was found first; of the others only as many
    as are shown whole."""
    rows_of: dict[str, list[tuple[int, BoardRow]]] = {}
    for number, row in enumerate(report.rows, 1):
        rows_of.setdefault(row.board, []).append((number, row))
    boards = sorted(report.boards, key=lambda named: named.name not in rows_of)
    told: set[str] = set()
    for named in boards:
        if named.name in told:
            continue  # tables of one name share what was found of them
        if named.name in rows_of or len(boards) == 1:
            told.add(named.name)
            yield _part(named, rows_of.get(named.name, []))


def _part(named: NamedBoard, found: Sequence[tuple[int, BoardRow]]) -> PagePart:
    board = named.board
    kept = board.columns[:_MOST_COLUMNS]
    head = [PageCell(visible(name)) for name in kept]
    rows: list[PageRow] = []
    for place, entry in enumerate(board.entries):
        cells: list[PageCell] = []
        for name, texts in zip(kept, board.cells, strict=False):
            is_text = name in board.texts
            cells.append(PageCell(visible(texts[place]), is_text=is_text))
        rows.append(PageRow(PageCell(visible(entry)), cells))
    _mark(named, found, head, rows)
    caption = f"{len(rows):,} entries, {len(board.columns):,} columns, as printed."
    if len(rows) * len(kept) > _MOST_CELLS:
        rows = [row for row in rows if _is_marked(row)][:_MOST_ROWS]
        caption += f" Shown: {len(rows):,} entries of which something was found."
    if len(kept) < len(board.columns):
        caption += f" The first {len(kept):,} columns."
    return PagePart(visible(named.name), caption, head, rows, list(_groups(found)))


def _is_marked(row: PageRow) -> bool:
    return any(cell.numbers for cell in (row.name, *row.cells))


def _mark(
    named: NamedBoard,
    found: Sequence[tuple[int, BoardRow]],
    head: Sequence[PageCell],
    rows: Sequence[PageRow],
) -> None:
    """Mark what each finding is of: a cell, a whole row by its name, or a column."""
    columns = {name: place for place, name in enumerate(named.board.columns)}
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(named.board.entries):
        places.setdefault(entry, []).append(place)
    for number, row in found:
        column = columns.get(row.column)
        marked = list(_cells(row, column, places, head, rows))
        for cell in marked:
            cell.grade = cell.grade or row.grade  # the worst comes first
            cell.numbers.append(number)


def _cells(
    row: BoardRow,
    column: int | None,
    places: Mapping[str, Sequence[int]],
    head: Sequence[PageCell],
    rows: Sequence[PageRow],
) -> Iterator[PageCell]:
    is_shown = column is not None and column < len(head)
    if not row.entries and is_shown:
        assert column is not None
        yield head[column]
    for entry in dict.fromkeys(row.entries):
        for place in places.get(entry, ()):
            if is_shown:
                assert column is not None
                yield rows[place].cells[column]
            else:
                yield rows[place].name


def _groups(found: Sequence[tuple[int, BoardRow]]) -> Iterator[FindingGroup]:
    for grade, heading in HEADINGS.items():
        own = []
        for number, row in found:
            if row.grade == grade:
                who, text = visible(row.who), visible(row.found)
                about = RULES[row.rule]
                own.append(PageFinding(number, grade, who, text, row.rule, about))
        if own:
            yield FindingGroup(heading, tuple(own))
