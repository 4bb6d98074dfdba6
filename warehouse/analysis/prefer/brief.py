"""Strengths by votes as people read them first: who is preferred, who may be the first,
and how often each beats a model of mean strength."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.prefer.rows import Judge, PreferenceRow
from warehouse.stats.preferences.fit import ELO
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table
from warehouse.tables.words import (
    counted,
    interval,
    level_column,
    number,
    some_of,
    visible,
)

#: Rows up to which a table is shown whole; of a longer one how many, beside the last.
_SHORT, _MOST = 20, 15
#: Models that a sentence names.
_NAMED = 3
#: Points of Elo of a model of mean strength.
_MEAN_ELO = 1000


def brief_parts(
    judge: Judge,
    rows: Sequence[PreferenceRow],
    said: str,
    *,
    elo: bool,
    top: int | None,
) -> Iterator[Part]:
    """What people are shown of one scorer's votes.

    Args:
        judge: who judged.
        rows: strengths by those votes, the strongest first; none where there are none.
        said: what they say, as a sentence.
        elo: strengths as points of Elo, in place of how often a model beats others.
        top: rows of the table; None: of many those that matter most; 0: all.
    """
    yield visible(_heading(judge))
    yield visible(_leader(judge, rows) or said)
    if not rows:
        return
    yield ""
    cells = list(_cells(rows, elo=elo))
    yield Table.of(
        _shown(cells, top), hide_empty=("place", level_column(rows[0].level))
    )


def _heading(judge: Judge) -> str:
    """Who judged how much: ``people (human) · 8931 votes on 59 models``."""
    votes = counted(judge.n_votes, "vote")
    ties = ""
    if judge.n_votes:
        ties = f", {judge.n_ties / judge.n_votes:.0%} ties".replace("%", " %")
    models = counted(len(judge.models), "model")
    return f"{judge.scorer} ({judge.kind}) · {votes} on {models}{ties}"


def _leader(judge: Judge, rows: Sequence[PreferenceRow]) -> str:
    """Who leads, and which others may be the first; empty where the tests of all pairs
    do not say, or there are only two models."""
    is_whole = len(rows) == len(judge.models) > 2
    if not is_whole or judge.n_apart is None or judge.n_first is None:
        return ""
    first = rows[0].model
    if judge.n_first == 1:
        return f"{first} is preferred to all others."
    others = [row.model for row in rows[1:] if row.rank_low == 1]
    verb = "may be the first as well"
    return f"{first} has the highest figure; {some_of(others, _NAMED)} {verb}."


def _cells(rows: Sequence[PreferenceRow], *, elo: bool) -> Iterator[dict[str, Any]]:
    errors = []
    for row in rows:
        if row.win_low is not None and row.win_high is not None:
            errors.append((row.win_high - row.win_low) / 4)
    unit = Unit.of(errors, in_percent=True)
    for row in rows:
        place = None
        if row.rank_low is not None:
            place = _place(row.rank_low, row.rank_high)
        figure = _elo(row) if elo else _wins(row, unit)
        yield {"place": place, "model": row.model, **figure, "votes": row.n_votes}


def _place(low: int, high: int | None) -> str:
    if high in (None, low):
        return str(low)
    return f"{low}–{high}"


def _wins(row: PreferenceRow, unit: Unit) -> dict[str, Any]:
    """How often a model beats the reference, a tie as half a win."""
    return {
        f"beats {row.reference or 'mean'}": unit.figure(row.win_probability),
        level_column(row.level): unit.ends(
            row.win_low, row.win_high, row.win_probability
        ),
    }


def _elo(row: PreferenceRow) -> dict[str, Any]:
    """Strength in points of Elo."""
    start = _MEAN_ELO
    if row.reference:
        start = 0
    estimate = start + ELO * row.estimate
    ends = None
    if row.low is not None and row.high is not None:
        ends = interval(start + ELO * row.low, start + ELO * row.high, 0, at=estimate)
    return {"Elo": number(estimate, 0), level_column(row.level): ends}


def _shown(cells: Sequence[dict[str, Any]], top: int | None) -> list[dict[str, Any]]:
    """The rows that are shown, with a line in place of the others."""
    n_shown = len(cells)
    if top is None and len(cells) > _SHORT:
        n_shown = _MOST
    elif top:
        n_shown = top
    last = [cells[-1]] if top is None else []
    left = len(cells) - n_shown - len(last)
    if left < 1:
        return list(cells)
    gap = dict.fromkeys(cells[0], "") | {"model": f"… {left} more (--all)"}
    return [*cells[:n_shown], gap, *last]
