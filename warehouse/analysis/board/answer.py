"""Boards to what is found of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
#: A table, and what was found of it.
_Looked = tuple[NamedBoard, BoardFindings]


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
    beside = None
    known: list[tuple[Finding, ...]] = [() for _ in boards]
    named = list(boards)
    if store is not None:
        beside = _beside(boards, store)
        named = [one.board for one in beside.boards]
        known = [one.findings for one in beside.boards]
    looked: list[_Looked] = []
    leaders: list[str] = []
    for place, one in enumerate(named):
        of_others = _beside_others(one, named[:place])
        looked.append((one, _found(one, as_of, [*known[place], *of_others])))
        if not one.of_tasks:
            of_one = list(unclear_leaders(one.board))
            if len(named) > 1:
                of_one = [f"{one.name}: {sentence}" for sentence in of_one]
            leaders += of_one
    report = _report(looked)
    report = replace(
        report, n_files=n_files, unread=tuple(unread), leaders=tuple(leaders)
    )
    if beside is not None:
        said, not_found = beside.said, beside.not_found
        report = replace(report, in_store=said, not_in_store=not_found)
    return report


def audit_published(boards: Sequence[PublishedBoard]) -> BoardReport:
    """What is found of the figures that the sources of a store publish."""
    looked: list[_Looked] = []
    for published in boards:
        found = audit_stored(published.named.board, published.findings)
        looked.append((published.named, found))
    return _report(looked)


def _report(looked: Sequence[_Looked]) -> BoardReport:
    """What was found of tables, the worst first."""
    rows: list[BoardRow] = []
    for named, found in looked:
        rows += [_row(named, one) for one in found.findings]
    order = {grade: place for place, grade in enumerate(GRADES)}
    rows.sort(key=lambda row: order[row.grade])
    return BoardReport(
        rows=tuple(rows),
        n_figures=sum(found.n_figures for _, found in looked),
        n_entries=sum(found.n_entries for _, found in looked),
        n_boards=len(looked),
        n_files=0,
        n_not_shown=sum(found.n_not_shown for _, found in looked),
        boards=tuple(named for named, _ in looked),
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
