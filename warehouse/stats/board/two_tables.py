"""Two tables of one board: figures that should be the same (B6, §25.5)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from warehouse.stats.board.finding import CHECK, Finding
from warehouse.stats.board.table import Board, FigureColumn

#: Figures that agree from which two tables are of one board, and their share of those
#: that both have.
_FEWEST, _MOSTLY = 5, 2 / 3
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_BREAKS = re.compile(r"[\W_]+")


def differing_findings(board: Board, other: Board, where: str) -> Iterator[Finding]:
    """Figures of a table that another table of the same board prints otherwise: of
    entries and columns of one name, beyond what both may have rounded.

    Args:
        board: the table of which cells are named.
        other: that with which it is compared.
        where: what the other is called.

    Yields:
        nothing where most figures differ: they are then of another setting.
    """
    rows = list(_common_rows(board, other))
    if not rows:
        return
    n_agreeing = 0
    differing: list[Finding] = []
    others = {column.name.casefold().strip(): column for column in other.scores}
    for column in board.scores:
        same = others.get(column.name.casefold().strip())
        if same is None or same.scale != column.scale:
            continue
        for row, other_row in rows:
            gap = _gap(column, row, same, other_row)
            if gap is None:
                continue
            if gap <= 1:
                n_agreeing += 1
                continue
            printed = other.cells[other.columns.index(same.name)][other_row]
            text = f"{column.name} {{printed}}, but {printed} in {where}"
            differing.append(Finding(CHECK, "B6", (row,), column.name, text, gap))
    n_both = n_agreeing + len(differing)
    if n_agreeing >= _FEWEST and n_agreeing >= _MOSTLY * n_both:
        yield from differing


def _common_rows(board: Board, other: Board) -> Iterator[tuple[int, int]]:
    """Rows of one name, of the names that each table has once: as they stand, else where
    one has brackets and the other none."""
    bare, others = _rows(other, bare=True), _rows(other, bare=False)
    own_bare = _rows(board, bare=True)
    for name, row in _rows(board, bare=False).items():
        short = _plain(board.entries[row], bare=True)
        found = others.get(name)
        if found is None and own_bare.get(short) == row and short in bare:
            found = bare[short]
            if name != short and _plain(other.entries[found], bare=False) != short:
                continue  # both have brackets, and other ones
        if found is not None:
            yield row, found


def _rows(board: Board, *, bare: bool) -> dict[str, int]:
    """Rows by the names that stand once, without their brackets or with."""
    names = [_plain(name, bare=bare) for name in board.entries]
    counts = Counter(names)
    return {name: row for row, name in enumerate(names) if name and counts[name] == 1}


def _plain(name: str, *, bare: bool) -> str:
    """Letters and digits of a name."""
    if bare:
        name = _BRACKETS.sub("", name)
    return _BREAKS.sub("", name.casefold())


def _gap(
    column: FigureColumn, row: int, other: FigureColumn, other_row: int
) -> float | None:
    """How far two figures are apart, in what both may have rounded; None where one is
    missing."""
    if not (column.there[row] and other.there[other_row]):
        return None
    slack = column.tolerances[row] + other.tolerances[other_row]
    apart = abs(float(column.values[row]) - float(other.values[other_row]))
    return apart / max(float(slack), 1e-300)
