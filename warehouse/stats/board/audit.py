"""All that is found of a board, in the order in which it is told (§25)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from warehouse.stats.board.costs import cost_findings
from warehouse.stats.board.dates import date_findings
from warehouse.stats.board.exchanged import (
    block_findings,
    sibling_findings,
    swap_findings,
)
from warehouse.stats.board.finding import GRADES, Finding
from warehouse.stats.board.gaps import gap_findings
from warehouse.stats.board.gaps import size_findings as other_size_findings
from warehouse.stats.board.headers import chance_findings, headline_findings
from warehouse.stats.board.kept_rules import kept_rules, rule_findings
from warehouse.stats.board.ladders import ladder_findings
from warehouse.stats.board.listed_twice import size_findings, twice_findings
from warehouse.stats.board.order import order_findings, tie_findings
from warehouse.stats.board.ranges import range_findings
from warehouse.stats.board.same_figures import same_figure_findings
from warehouse.stats.board.shares import share_findings
from warehouse.stats.board.standard_errors import error_findings
from warehouse.stats.board.table import Board
from warehouse.stats.board.unlikely import (
    median_residuals,
    scored_board,
    unlikely_findings,
)

#: Suspicions of a board that are shown: so many, or one in so many figures.
_FEWEST_SUSPICIONS, _FIGURES_EACH = 3, 2_000
#: Rules that say what a cell contradicts, and those that find the same cell odd.
_SURER = frozenset(("B1", "B2", "B3", "B4", "B5", "B9", "B10"))
_LESS_SURE = frozenset(("B7", "B12", "B13"))


@dataclass(frozen=True)
class BoardFindings:
    """What was found of one board."""

    findings: tuple[Finding, ...]  #: wrong, check, note; the strongest first.
    n_figures: int  #: figures that were looked at.
    n_entries: int  #: rows that are entries.
    n_not_shown: int  #: further entries with an unlikely figure.

    def of_grade(self, grade: str) -> tuple[Finding, ...]:
        """Those of one grade."""
        return tuple(one for one in self.findings if one.grade == grade)


def audit_board(
    board: Board,
    *,
    as_of: date | None = None,
    suspicions: bool = True,
    known: Sequence[Finding] = (),
) -> BoardFindings:
    """What of a published table cannot be right, is to be asked, or to be known.

    Args:
        board: the table.
        as_of: when it was written, for its dates; None: nobody says it.
        suspicions: whether figures are looked for that are only unlikely.
        known: what is known of it already, of its samples or other tables.
    """
    found = [*_certain(board, as_of), *known]
    doubtful = [one for one in found if one.is_suspicion]
    found = [one for one in found if not one.is_suspicion]
    if suspicions:
        doubtful += _unlikely(board)
    shown, n_not_shown = _strongest(doubtful, board.n_figures)
    told = _once([*found, *shown])
    lines = [_with_text(board, one) for one in _joined(told)]
    order = {grade: place for place, grade in enumerate(GRADES)}
    lines.sort(key=lambda one: (order[one.grade], -one.score, one.entries, one.text))
    n_entries = int(board.is_entry.sum())
    return BoardFindings(tuple(lines), board.n_figures, n_entries, n_not_shown)


def audit_tasks(board: Board) -> BoardFindings:
    """The same of a table whose rows are tasks of one model: their standard errors."""
    found = list(error_findings(board, of_tasks=True))
    lines = [_with_text(board, one) for one in _joined(found)]
    order = {grade: place for place, grade in enumerate(GRADES)}
    lines.sort(key=lambda one: (order[one.grade], -one.score, one.entries, one.text))
    return BoardFindings(tuple(lines), board.n_figures, len(board.entries), 0)


def audit_stored(board: Board, known: Sequence[Finding] = ()) -> BoardFindings:
    """The same of figures that are stored as numbers: rules that do not look at how they
    were printed (B2, B5, B10), and what is known already."""
    found = [
        *rule_findings(board),
        *error_findings(board),
        *gap_findings(board),
        *known,
    ]
    lines = [_with_text(board, one) for one in _joined(_once(found))]
    order = {grade: place for place, grade in enumerate(GRADES)}
    lines.sort(key=lambda one: (order[one.grade], -one.score, one.entries, one.text))
    n_entries = int(board.is_entry.sum())
    return BoardFindings(tuple(lines), board.n_figures, n_entries, 0)


def _certain(board: Board, as_of: date | None) -> Iterator[Finding]:
    for rule in (
        *(rule_findings, share_findings, error_findings, twice_findings, size_findings),
        *(same_figure_findings, gap_findings, ladder_findings, range_findings),
        *(order_findings, tie_findings, other_size_findings, cost_findings),
        *(chance_findings, headline_findings),
    ):
        yield from rule(board)
    yield from date_findings(board, as_of=as_of)


def _unlikely(board: Board) -> Iterator[Finding]:
    yield from swap_findings(board)
    made = {rule.column.name for rule in kept_rules(board) if rule.rank > 3}
    scored = scored_board(board, made)
    if scored is None:
        return
    medians = median_residuals(scored)
    yield from unlikely_findings(scored, medians)
    yield from block_findings(scored, medians)
    yield from sibling_findings(scored)


def _once(found: list[Finding]) -> list[Finding]:
    """Findings without those of a cell of which a surer rule says more."""
    surest: dict[tuple[int, str], str] = {}
    for one in found:
        if len(one.entries) == 1 and one.rule in _SURER:
            cell = (one.entries[0], one.column)
            if surest.get(cell) != "B9":
                surest[cell] = one.rule
    kept = []
    for one in found:
        by = surest.get((one.entries[0], one.column)) if len(one.entries) == 1 else None
        is_less = by is not None and one.rule in _LESS_SURE
        if by == "B9" and one.rule == "B1":
            is_less = True  # its samples say what it would have to be
        if not is_less:
            kept.append(one)
    return kept


def _strongest(doubtful: list[Finding], n_figures: int) -> tuple[list[Finding], int]:
    """The suspicions that are shown, and how many further entries there are."""
    most = max(_FEWEST_SUSPICIONS, math.ceil(n_figures / _FIGURES_EACH))
    ordered = sorted(doubtful, key=lambda one: (-one.score, one.entries, one.column))
    entries: list[tuple[int, ...]] = []
    for one in ordered:
        if one.entries not in entries:
            entries.append(one.entries)
    kept = entries[:most]
    shown = [one for one in ordered if one.entries in kept]
    return shown, len(entries) - len(kept)


def _joined(found: list[Finding]) -> Iterator[Finding]:
    """One line for an entry and a rule: the strongest, with the columns of the others."""
    lines: dict[tuple[object, ...], list[Finding]] = {}
    for place, one in enumerate(found):
        key: tuple[object, ...] = (one.grade, one.rule, one.entries, one.is_suspicion)
        if len(one.entries) != 1:
            key = (place,)
        lines.setdefault(key, []).append(one)
    for alike in lines.values():
        first = max(alike, key=lambda one: one.score)
        others = [one.column for one in alike if one.column != first.column]
        if others:
            text = f"{first.text}; so in {len(others)} further columns"
            if len(others) == 1:
                text = f"{first.text}; so in {others[0] or 'one further column'}"
            first = replace(first, text=text, n_more=len(others))
        yield first


def _with_text(board: Board, one: Finding) -> Finding:
    """A finding with the text of its cell."""
    printed = one.printed
    if not printed and len(one.entries) >= 1 and one.column in board.columns:
        cells = board.cells[board.columns.index(one.column)]
        printed = cells[one.entries[0]]
    return replace(one, printed=printed, text=one.text.replace("{printed}", printed))
