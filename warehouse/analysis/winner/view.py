"""The corrected figure of a winner, and what people are shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import BenchmarkRow
from warehouse.tables.text import wrap
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote
from warehouse.tables.words import counted, level_column, listed, visible

#: Characters of a line, also where nobody says how many there is room for.
_WIDTH = 80
#: Winners of equal figures that are shown.
_SHOWN = 5


@dataclass(frozen=True)
class WinnerRow(BenchmarkRow):
    """The first of a leaderboard; of equal figures one row each."""

    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    n_rows: int  #: rows that it was picked from.
    n_tied: int  #: of these: with the highest figure, this one among them.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters among them; None without clusters.
    estimate: float  #: the figure as it is measured, which keeps its place.
    standard_error: float | None  #: of it.
    ci_low: float | None  #: lower end of its own interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the intervals.
    method: str  #: of the interval.
    #: b: what the first of such rows gains on average by having been picked, never below
    #: 0.
    luck: float
    #: whether it is taken off; not where it is below a tenth of the error, as the first
    #: is clearly ahead.
    is_corrected: bool
    corrected: float  #: the figure without it; ``estimate`` where nothing is taken off.
    corrected_low: (
        float | None
    )  #: lower end of the interval, moved as far; None without.
    corrected_high: float | None  #: upper end, which stays.
    #: normal quantile for a lower end that holds whichever row is first.
    critical: float
    #: lower end by ``critical``, wide also where the first is clearly ahead; None for
    #: other intervals than Wilson's and t.
    simultaneous_low: float | None
    n_draws: int  #: draws behind ``luck`` and ``critical``.


def winner_parts(rows: Sequence[WinnerRow], *, is_share: bool) -> list[Part]:
    """The corrected figure in a sentence, beside the one that was measured.

    Args:
        rows: all winners of one figure.
        is_share: scores lie between 0 and 1.
    """
    unit = _unit_of(rows, is_share)
    sentence = visible(_sentence(rows, unit))
    parts: list[Part] = ["\n".join(wrap(sentence, _WIDTH)), ""]
    parts.append(_table(rows, unit))
    line = _below(rows[0], unit)
    return [*parts, TableNote(line, width=_WIDTH)]


def how_made(
    rows: Sequence[WinnerRow], *, higher_is_better: bool | None, is_share: bool
) -> list[Part]:
    """How it was made.

    Args:
        rows: all winners of one figure.
        higher_is_better: direction of the metric.
        is_share: scores lie between 0 and 1.
    """
    lines = _methods(rows[0], _unit_of(rows, is_share), higher_is_better)
    return [TableNote(line, width=_WIDTH) for line in lines]


def _unit_of(rows: Sequence[WinnerRow], is_share: bool) -> Unit:
    return Unit.of([row.standard_error for row in rows], in_percent=is_share)


def _sentence(rows: Sequence[WinnerRow], unit: Unit) -> str:
    """Who is first, of how many, and with what figure."""
    row = rows[0]
    names = [_named(own) for own in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        names.append(f"{len(rows) - _SHOWN} more")
    verb = "are" if len(rows) > 1 else "is"
    measured = unit.figure(row.estimate)
    first = f"First of {row.n_rows} {verb} {listed(names)}, {measured}"
    if not row.is_corrected:
        ends = unit.ends(row.ci_low, row.ci_high, row.estimate) or ""
        figure = f"{first} {ends}".rstrip()
        return f"{figure}, by a clear margin: no correction for having been picked."
    ends = unit.ends(row.corrected_low, row.corrected_high, row.corrected) or ""
    figure = f"{unit.figure(row.corrected)} {ends}".rstrip()
    return f"{first}; corrected for having been picked {figure}."


def _named(row: WinnerRow) -> str:
    """A model with what tells its row from the others'."""
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


def _table(rows: Sequence[WinnerRow], unit: Unit) -> Table:
    """As measured, and corrected; of several winners the same of each."""
    cells = []
    for row in rows[:_SHOWN]:
        cells.append(_cells(row, unit, is_corrected=False))
        if row.is_corrected:
            cells.append(_cells(row, unit, is_corrected=True))
    return Table.of(cells)


def _cells(row: WinnerRow, unit: Unit, *, is_corrected: bool) -> dict[str, Any]:
    figure, low, high = row.estimate, row.ci_low, row.ci_high
    what = "as measured"
    if is_corrected:
        figure, low, high = row.corrected, row.corrected_low, row.corrected_high
        what = "corrected"
    cells = {"figure": what, "score": unit.figure(figure)}
    return cells | {level_column(row.level): unit.ends(low, high, figure)}


def _below(row: WinnerRow, unit: Unit) -> str:
    """What was taken off, and what it holds for."""
    of = f"{row.n_rows} rows, {counted(row.n_prompts, 'question')}"
    said = "places and comparisons go by the figures as measured"
    if not row.is_corrected:
        return f"{of}; {said}"
    return (
        f"correction {_luck(row.luck, unit)}: what the first of such rows gains by luck "
        f"on average ({of}); {said}"
    )


def _luck(luck: float, unit: Unit) -> str:
    """The correction, with one digit more than figures have."""
    finer = Unit(unit.digits + 1, unit.in_percent)
    if unit.in_percent:
        return f"{finer.points(luck)} points"
    return str(finer.points(luck))


def _methods(row: WinnerRow, unit: Unit, higher_is_better: bool | None) -> list[str]:
    """How it was made."""
    lines = [
        f"correction: in {row.n_draws} draws of all figures around those measured, with "
        "their joint error, how much luckier the first of each draw is than this one; "
        "below a tenth of the error nothing is corrected",
        "corrected interval: the lower end moves as far, the upper end stays, as no true "
        "figure of the first is better than that of the best",
    ]
    if higher_is_better is False:
        lines[-1] = lines[-1].replace("lower end", "upper end", 1)
        lines[-1] = lines[-1].replace("the upper end stays", "the lower end stays")
    if row.simultaneous_low is not None:
        end = unit.figure(row.simultaneous_low)
        lines.append(
            f"whichever row is first, its true figure is beyond {end} (all intervals "
            f"together, {row.critical:.2f} errors)"
        )
    return lines
