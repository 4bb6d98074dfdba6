"""Boards to what is found of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.view import BoardReport, BoardRow
from warehouse.stats.board.audit import (
    BoardFindings,
    audit_board,
    audit_stored,
    audit_tasks,
)
from warehouse.stats.board.finding import GRADES, Finding
from warehouse.stats.board.noise import unclear_leaders
from warehouse.stats.board.two_tables import differing_findings

if TYPE_CHECKING:
    from warehouse.analysis.board.beside_store import BesideStore
    from warehouse.analysis.board.published import PublishedBoard
    from warehouse.store.connection import Store

#: Earlier tables with which one is compared.
_MOST_TABLES = 200


def audit_boards(
    boards: Sequence[NamedBoard],
    *,
    n_files: int = 1,
    unread: Sequence[str] = (),
    as_of: date | None = None,
    store: Store | None = None,
) -> BoardReport:
    """All that is found of some boards.

    Args:
        boards: tables, each with its name.
        n_files: files that were looked at.
        unread: files that could not be read, each with the reason.
        as_of: when the tables were written; None: nobody says it.
        store: whose samples, items and costs they are held against; None: none.
    """
    rows: list[BoardRow] = []
    leaders: list[str] = []
    n_figures, n_entries, n_not_shown = 0, 0, 0
    beside = None if store is None else _beside(boards, store)
    for place, alone in enumerate(boards):
        named = alone
        known: tuple[Finding, ...] = ()
        if beside is not None:
            named, known = beside.boards[place].board, beside.boards[place].findings
        known += tuple(_beside_others(named, boards[:place]))
        found = _found(named, as_of, known)
        n_figures += found.n_figures
        n_entries += found.n_entries
        n_not_shown += found.n_not_shown
        if not named.of_tasks:
            leaders += unclear_leaders(named.board)
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
        boards=tuple(boards),
        leaders=tuple(leaders),
        in_store="" if beside is None else beside.said,
        not_in_store="" if beside is None else beside.not_found,
    )


def _beside_others(
    named: NamedBoard, before: Sequence[NamedBoard]
) -> Iterator[Finding]:
    """Figures that an earlier table of the same entries prints otherwise."""
    if named.of_tasks:
        return
    for other in before[-_MOST_TABLES:]:
        if not other.of_tasks:
            yield from differing_findings(named.board, other.board, other.name)


def audit_published(boards: Sequence[PublishedBoard]) -> BoardReport:
    """What is found of the figures that the sources of a store publish."""
    rows: list[BoardRow] = []
    n_figures, n_entries = 0, 0
    for published in boards:
        found = audit_stored(published.named.board, published.findings)
        n_figures += found.n_figures
        n_entries += found.n_entries
        rows += [_row(published.named, one) for one in found.findings]
    order = {grade: place for place, grade in enumerate(GRADES)}
    rows.sort(key=lambda row: order[row.grade])
    return BoardReport(
        rows=tuple(rows),
        n_figures=n_figures,
        n_entries=n_entries,
        n_boards=len(boards),
        n_files=0,
        n_not_shown=0,
        boards=tuple(published.named for published in boards),
    )


def _beside(boards: Sequence[NamedBoard], store: Store) -> BesideStore:
    """The tables with what a store has of them; most tables are asked about alone, and
    load nothing of it."""
    from warehouse.analysis.board.beside_store import beside_store

    return beside_store(boards, store)


def _found(
    named: NamedBoard, as_of: date | None, known: Sequence[Finding]
) -> BoardFindings:
    if named.of_tasks:
        return audit_tasks(named.board)
    return audit_board(named.board, as_of=as_of, known=known)


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
