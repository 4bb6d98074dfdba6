"""Tables of HTML, as pages and READMEs have them."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from warehouse.boards.grid import Cell, table_of_rows
from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable

_MOST_TABLES = 200
_SILENT = frozenset(("script", "style", "template", "svg"))


def html_tables(text: str, name: str) -> Iterator[RawTable]:
    """The tables of a page, each called by its file, its caption or its number.

    Args:
        text: HTML, or Markdown in which some stands.
        name: of the file.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    for number, found in enumerate(reader.tables[:_MOST_TABLES], 1):
        place = found.caption.strip() or f"table {number}"
        head, body = found.parted()
        if head and body:
            yield table_of_rows(f"{name}: {place}", head, body)


class _Table:
    """A table as it is read."""

    def __init__(self) -> None:
        self.caption = ""
        self.rows: list[list[Cell]] = []
        self.are_heads: list[bool] = []

    def parted(self) -> tuple[list[list[Cell]], list[list[Cell]]]:
        """The rows of headers at its top, the first where none is marked as one; and
        the others."""
        n_heads = 0
        while n_heads < len(self.rows) and self.are_heads[n_heads]:
            n_heads += 1
        n_heads = n_heads or 1
        return self.rows[:n_heads], self.rows[n_heads:]


class _Reader(HTMLParser):
    """Reads the outermost tables; what stands in tables within is text of their cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self._depth = 0
        self._silent = 0
        self._row: list[Cell] | None = None
        self._in_head = False
        self._is_all_head = True
        self._spans = (1, 1)
        self._text: list[str] | None = None
        self._in_caption = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag == "table":
            self._depth += 1
            if self._depth == 1:
                self.tables.append(_Table())
        elif self._depth == 1 and tag in ("td", "th"):
            self._begin_cell(tag, dict(attrs))
        elif self._depth == 1:
            self._begin_part(tag)

    def _begin_cell(self, tag: str, attributes: dict[str, str | None]) -> None:
        self._end_cell()
        if self._row is None:
            self._row = []
        if tag == "td":
            self._is_all_head = False
        self._spans = _span(attributes, "colspan"), _span(attributes, "rowspan")
        self._text = []

    def _begin_part(self, tag: str) -> None:
        if tag == "thead":
            self._in_head = True
        elif tag == "caption":
            self._in_caption = True
        elif tag == "tr":
            self._end_row()
            self._row = []
            self._is_all_head = True
        elif tag == "br" and self._text is not None:
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        elif tag == "table" and self._depth:
            if self._depth == 1:
                self._end_row()
                self._in_head = False
            self._depth -= 1
        elif self._depth != 1:
            return
        elif tag == "thead":
            self._end_row()
            self._in_head = False
        elif tag == "caption":
            self._in_caption = False
        elif tag == "tr":
            self._end_row()
        elif tag in ("td", "th"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._text is not None:
            self._text.append(data)
        elif self._in_caption and self.tables:
            self.tables[-1].caption += data

    def _end_cell(self) -> None:
        if self._text is None or self._row is None:
            return
        text = " ".join("".join(self._text).split())
        if len(self._row) < MOST_COLUMNS:
            self._row.append(Cell(text, *self._spans))
        self._text = None

    def _end_row(self) -> None:
        self._end_cell()
        if self._row and len(self.tables[-1].rows) < MOST_ROWS:
            self.tables[-1].rows.append(self._row)
            self.tables[-1].are_heads.append(self._in_head or self._is_all_head)
        self._row = None


def _span(attributes: dict[str, str | None], name: str) -> int:
    """Columns or rows that a cell reaches over."""
    said = attributes.get(name) or ""
    if not said.strip().isdecimal():
        return 1
    return min(max(int(said[:6]), 1), MOST_COLUMNS)
