"""What people are shown of how few questions carry the places of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.handful.row import PlaceRow
from warehouse.analysis.handful.view import NARROW, NO_TEST, folded
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote
from warehouse.tables.words import counted, listed, visible

#: Rows up to which all are shown; of a longer table how many.
_SHORT, _MOST = 20, 15
#: What the columns say.
_HANDFUL = "handful: fewest questions without which the row below leads"
_OF_FIRST = (
    "first rows: fewest without which any row further below leads any row down to this "
    "one"
)
_HOW = (
    "pairs are held on the questions that both have; the largest differences go first, "
    "which is exact, and of first rows all pairs are tried"
)


def places_parts(
    rows: Sequence[PlaceRow], *, is_share: bool, verbose: bool, top: int | None
) -> list[Part]:
    """What would put another first, and a line for each place.

    Args:
        rows: best first.
        is_share: scores lie between 0 and 1.
        verbose: how it was found, too.
        top: rows of the table; None: of many the first; 0: all.
    """
    unit = _unit_of(rows, in_percent=is_share)
    parts: list[Part] = [
        folded(visible(_sentence(rows, unit))),
        "",
        _table(rows, unit, top),
        TableNote(_HANDFUL, "handful", NARROW),
        TableNote(_OF_FIRST, "first rows", NARROW),
        TableNote(NO_TEST, width=NARROW),
    ]
    if verbose:
        parts.append(TableNote(_HOW, width=NARROW))
    return parts


def _unit_of(rows: Sequence[PlaceRow], *, in_percent: bool) -> Unit:
    """Percent where all figures are shares."""
    figures = [row.estimate for row in rows if row.estimate is not None]
    are_shares = in_percent and all(0 <= figure <= 1 for figure in figures)
    errors = [row.standard_error for row in rows]
    return Unit.of(errors, in_percent=are_shares)


def _sentence(rows: Sequence[PlaceRow], unit: Unit) -> str:
    """What the first place rests on."""
    first, second = rows[0], rows[1]
    tied = [row for row in rows if row.rank == first.rank]
    if len(tied) > 1:
        names = listed([_named(row.model, row.condition) for row in tied])
        return f"{names} share the first place with {unit.figure(first.estimate)}."
    name = _named(first.model, first.condition)
    lead = (first.estimate or 0.0) - (second.estimate or 0.0)
    ahead = f"{name} is first by {_lead(abs(lead), unit)}"
    rival = _named(first.outside, first.outside_condition)
    if first.handful_first is None:
        return f"{ahead}, and no number of questions puts another first."
    if not first.handful_first:
        return f"{ahead}, but {rival} is as good or better on the questions both have."
    without = f"{first.handful_first} of {counted(first.n_prompts, 'question')}"
    return f"{ahead}: without {without} {rival} leads."


def _lead(lead: float, unit: Unit) -> str:
    """How far the first is ahead of the second; points of shares."""
    if unit.in_percent:
        return f"{unit.points(lead)} points"
    return str(unit.points(lead))


def _named(model: str, condition: str) -> str:
    """A model with what tells its row from the others'."""
    if condition:
        return f"{model} ({condition})"
    return model


def _table(rows: Sequence[PlaceRow], unit: Unit, top: int | None) -> Table:
    """A line for each place; the sets of first rows only where they say more."""
    cells = [_cells(row, unit) for row in rows]
    cells[-1] = cells[-1] | {"handful": None, "first rows": None}
    if all(row.handful == row.handful_first for row in rows):
        for named in cells:
            del named["first rows"]
    return Table.of(
        _shown(cells, top),
        hide_empty=("settings", "first rows"),
        minor=("first rows", "score", "settings"),
    )


def _cells(row: PlaceRow, unit: Unit) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "model": row.model,
        "settings": row.condition,
        "score": unit.figure(row.estimate),
        "handful": _count(row.handful),
        "first rows": _count(row.handful_first),
    }


def _count(count: int | None) -> str:
    """So many questions, or that they are tied, or that no number does."""
    if count is None:
        return "none"
    if not count:
        return "tied"
    return str(count)


def _shown(cells: list[dict[str, Any]], top: int | None) -> list[dict[str, Any]]:
    """The rows that are shown, with a line in place of the others."""
    n_shown = len(cells)
    if top is None and len(cells) > _SHORT:
        n_shown = _MOST
    elif top:
        n_shown = top
    left = len(cells) - n_shown
    if left < 1:
        return cells
    gap = dict.fromkeys(cells[0], "") | {"model": f"… {left} more (--all)"}
    return [*cells[:n_shown], gap]
