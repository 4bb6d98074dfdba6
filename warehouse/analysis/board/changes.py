"""Two versions of published tables: the cells that changed, and whether they had been
found wrong or doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.view import BoardChange, BoardReport
from warehouse.stats.board.finding import NOTE
from warehouse.stats.board.table import Board


def changes_between(
    before: Sequence[NamedBoard], found: BoardReport, now: Sequence[NamedBoard]
) -> tuple[BoardChange, ...]:
    """The cells that differ, of entries and columns that both versions have.

    Args:
        before: the tables of the earlier version.
        found: what is found of these.
        now: those of the later one.
    """
    doubtful: set[tuple[str, str, str]] = set()
    for row in found.rows:
        if row.grade != NOTE:
            doubtful.update((row.board, entry, row.column) for entry in row.entries)
    changes: list[BoardChange] = []
    for old, new in _pairs(before, now):
        for entry, column, was, is_now in _cells(old.board, new.board):
            flagged = (old.name, entry, column) in doubtful
            changes.append(BoardChange(new.name, entry, column, was, is_now, flagged))
    changes.sort(key=lambda change: not change.was_found)
    return tuple(changes)


def _pairs(
    before: Sequence[NamedBoard], now: Sequence[NamedBoard]
) -> Iterator[tuple[NamedBoard, NamedBoard]]:
    """Tables of the same place: the only ones, or those of one name within the file."""
    if len(before) == len(now) == 1:
        yield before[0], now[0]
        return
    old = {_place(named): named for named in before}
    for named in now:
        if _place(named) in old:
            yield old[_place(named)], named


def _place(named: NamedBoard) -> str:
    return named.name.partition(": ")[2] or named.name


def _cells(old: Board, new: Board) -> Iterator[tuple[str, str, str, str]]:
    rows_before, rows_now = _rows(old), _rows(new)
    columns = dict(zip(old.columns, old.cells, strict=True))
    for column, texts in zip(new.columns, new.cells, strict=True):
        earlier = columns.get(column)
        if earlier is None:
            continue
        for entry, row in rows_now.items():
            if entry in rows_before and earlier[rows_before[entry]] != texts[row]:
                yield entry, column, earlier[rows_before[entry]], texts[row]


def _rows(board: Board) -> dict[str, int]:
    """Rows by the names that stand once."""
    counts = Counter(board.entries)
    return {entry: row for row, entry in enumerate(board.entries) if counts[entry] == 1}
