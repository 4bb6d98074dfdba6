"""Boards to what is found of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.view import BoardReport, BoardRow
from warehouse.stats.board.audit import BoardFindings, audit_board, audit_tasks
from warehouse.stats.board.finding import GRADES, Finding


def audit_boards(
    boards: Sequence[NamedBoard],
    *,
    n_files: int = 1,
    unread: Sequence[str] = (),
    as_of: date | None = None,
) -> BoardReport:
    """All that is found of some boards.

    Args:
        boards: tables, each with its name.
        n_files: files that were looked at.
        unread: files that could not be read, each with the reason.
        as_of: when the tables were written; None: nobody says it.
    """
    rows: list[BoardRow] = []
    n_figures, n_entries, n_not_shown = 0, 0, 0
    for named in boards:
        found = _found(named, as_of)
        n_figures += found.n_figures
        n_entries += found.n_entries
        n_not_shown += found.n_not_shown
        rows += [_row(named, one) for one in found.findings]
    order = {grade: place for place, grade in enumerate(GRADES)}
    rows.sort(key=lambda row: order[row.grade])
    return BoardReport(
        rows=tuple(rows),
        n_figures=n_figures,
        n_entries=n_entries,
        n_boards=len(boards),
        n_files=n_files,
        n_not_shown=n_not_shown,
        unread=tuple(unread),
    )


def _found(named: NamedBoard, as_of: date | None) -> BoardFindings:
    if named.of_tasks:
        return audit_tasks(named.board)
    return audit_board(named.board, as_of=as_of)


def _row(named: NamedBoard, one: Finding) -> BoardRow:
    names = tuple(named.board.entries[row] for row in one.entries)
    return BoardRow(
        board=named.name,
        grade=one.grade,
        rule=one.rule,
        entries=names,
        n_entries=len(names),
        column=one.column,
        printed=one.printed if len(names) == 1 else "",
        expected=one.expected,
        found=one.text,
        score=one.score,
        is_suspicion=one.is_suspicion,
    )
