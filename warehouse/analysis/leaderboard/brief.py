"""The table of a leaderboard as people read it first: places, figures with their errors,
and what each row is beside the best. Methods and further columns are in `view`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from warehouse.analysis.leaderboard.places import APART, TIE, Place, places_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.view import flag_words
from warehouse.analysis.leaderboard.words import first_group
from warehouse.analysis.suites.row import SuiteRow
from warehouse.stats.rows.seed_row import TOO_FEW
from warehouse.tables.units import Unit
from warehouse.tables.view import Table
from warehouse.tables.words import direction, level_column, seeds_in_words, span_of

#: A row of a leaderboard of one benchmark, or of a suite.
RankedRow: TypeAlias = LeaderboardRow | SuiteRow
#: Rows of one of the two kinds.
R = TypeVar("R", LeaderboardRow, SuiteRow)
#: Rows up to which all are shown; of a longer table how many below the tie with the
#: first, and how many in all.
SHORT, BELOW, MOST = 20, 5, 40
#: Columns that a table does without where they are empty.
_HIDE_EMPTY = (
    "place",
    "rank",
    "settings",
    "split",
    "seeds",
    "vs. best",
    "clusters",
    "flags",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("metric", "split", "clusters", "flags", "questions")


def unit_of(rows: Sequence[RankedRow], *, in_percent: bool) -> Unit:
    """The unit of the figures of a leaderboard.

    Args:
        in_percent: the metric is between 0 and 1.
    """
    is_share = in_percent and all(
        0 <= row.estimate <= 1 for row in rows if row.estimate is not None
    )
    return Unit.of((row.standard_error for row in rows), in_percent=is_share)


def heading(
    benchmark: str,
    metric: str,
    rows: Sequence[LeaderboardRow],
    higher_is_better: bool | None,
) -> str:
    """What was measured, by what, and on how much: ``sums · acc, higher is better · 200
    questions × 3 answers``."""
    parts = [benchmark, f"{metric}, {direction(higher_is_better)}"]
    splits = {row.split for row in rows}
    if len(splits) == 1:
        parts.insert(1, splits.pop())
    return " · ".join(filter(None, (*parts, _size(rows))))


def _size(rows: Sequence[LeaderboardRow]) -> str:
    """On how many questions the figures rest, with how many answers to each."""
    scored = [row for row in rows if row.n_prompts and row.rank is not None]
    scored = scored or [row for row in rows if row.n_prompts]
    if not scored:
        return ""
    questions = span_of([row.n_prompts for row in scored])
    noun = "question" if questions == "1" else "questions"
    answers = {row.n_draws / row.n_prompts for row in scored}
    each = ""
    if len(answers) == 1:
        (per_question,) = answers
        is_whole = per_question.is_integer() and per_question > 1
        each = f" × {per_question:g} answers" if is_whole else ""
    clusters = [row.n_clusters for row in scored if row.n_clusters is not None]
    within = f" in {span_of(clusters)} clusters" if clusters else ""
    return f"{questions} {noun}{each}{within}"


def brief_table(
    rows: Sequence[LeaderboardRow],
    unit: Unit,
    higher_is_better: bool | None,
    *,
    top: int | None,
) -> Table:
    """The rows that a reader looks for first.

    Args:
        rows: in order of rank.
        top: rows that are shown; None: of many the tie with the first, the next few and
            the last; 0: all.
    """
    cells = list(_cells(rows, unit, higher_is_better))
    hidden = _hidden(rows)
    for named in cells:
        for name in hidden:
            del named[name]
    return Table.of(
        with_gap(cells, top),
        hide_empty=(*_HIDE_EMPTY, *{level_column(row.level) for row in rows}),
        minor=_MINOR,
    )


def brief_unranked(rows: Sequence[LeaderboardRow], shares: Collection[str]) -> Table:
    """Rows of several benchmarks that have one model each, each in its own unit.

    Args:
        shares: benchmarks whose scores lie between 0 and 1.
    """
    cells = []
    for row in rows:
        unit = unit_of([row], in_percent=row.benchmark in shares)
        cells.append(
            {
                "benchmark": row.benchmark,
                "model": row.model,
                "settings": row.condition,
                "metric": row.metric,
                "split": row.split,
                "score": unit.with_error(row.estimate, row.standard_error),
                level_column(row.level): interval_of(row, unit),
                "questions": row.n_prompts or None,
                "flags": [flag_words(flag, row) for flag in row.flags],
            }
        )
    intervals = {level_column(row.level) for row in rows}
    return Table.of(
        cells,
        hide_empty=("settings", "split", "questions", "flags", *intervals),
        minor=("flags", "split", "metric", "settings"),
    )


def _hidden(rows: Sequence[LeaderboardRow]) -> set[str]:
    """Columns that say what the heading says."""
    hidden = set()
    if len({row.metric for row in rows}) == 1:
        hidden.add("metric")
    if len({row.split for row in rows}) == 1:
        hidden.add("split")
    if len({row.n_prompts for row in rows}) == 1:
        hidden.add("questions")
    if len({row.n_clusters for row in rows}) == 1:
        hidden.add("clusters")
    return hidden


@dataclass(frozen=True)
class Standing(Generic[R]):
    """A row of a leaderboard beside the others."""

    row: R
    place: Place | None  #: by the tests of all pairs; None without.
    beside: str | None  #: the difference from the best, and its verdict; None untested.


def standings(
    rows: Sequence[R], higher_is_better: bool | None, unit: Unit
) -> list[Standing[R]]:
    """What tests say of each row; rows of several groups have their places in each.

    Args:
        rows: in order of rank.
        unit: of the figures.
    """
    found: list[Standing[R]] = []
    for group in _groups(rows):
        places = places_of(group, higher_is_better)
        for row, place in zip(group, places, strict=True):
            said = beside(row, group[0], place, unit) if place else None
            found.append(Standing(row, place, said))
    return found


def order_of(
    standing_rows: Sequence[Standing[Any]],
) -> tuple[str, list[Place | int | None]]:
    """What the first column of a leaderboard is, and what it has of each row: ``place``
    by the tests of all pairs; without tests ``rank`` by the figures, which says nothing
    of fewer than two rows."""
    places = [standing.place for standing in standing_rows]
    if any(places):
        return "place", [*places]
    ranks = [standing.row.rank for standing in standing_rows]
    if sum(rank is not None for rank in ranks) < 2:
        return "rank", [None] * len(ranks)
    return "rank", ranks


def _cells(
    rows: Sequence[LeaderboardRow], unit: Unit, higher_is_better: bool | None
) -> Iterator[dict[str, Any]]:
    """The cells of each row."""
    standing_rows = standings(rows, higher_is_better, unit)
    head, order = order_of(standing_rows)
    for standing, at in zip(standing_rows, order, strict=True):
        row = standing.row
        yield {head: str(at) if isinstance(at, Place) else at} | {
            "model": row.model,
            "settings": row.condition,
            "metric": row.metric,
            "split": row.split,
            "score": unit.with_error(row.estimate, row.standard_error),
            level_column(row.level): interval_of(row, unit),
            "vs. best": standing.beside,
            "seeds": seeds_of(row, unit),
            "questions": row.n_prompts or None,
            "clusters": row.n_clusters,
            "flags": [flag_words(flag, row) for flag in row.flags],
        }


def _groups(rows: Sequence[R]) -> Iterator[list[R]]:
    """Rows that are ranked among one another, and each that has no rank alone."""
    ranked = [row for row in rows if row.rank is not None]
    while ranked:
        group = first_group(ranked)
        yield group
        ranked = ranked[len(group) :]
    for row in rows:
        if row.rank is None:
            yield [row]


def seeds_of(row: RankedRow, unit: Unit) -> str:
    """How many seeds a figure is over, and between which figures they lie."""
    return seeds_in_words(unit.many(row.seed_means), row.n_seeds, unit.digits)


def interval_of(row: RankedRow, unit: Unit) -> Any:
    """The interval; nothing where it says nothing for want of seeds, whose figures
    stand beside it."""
    if TOO_FEW in row.flags:
        return None
    return unit.ends(row.ci_low, row.ci_high, row.estimate)


def beside(row: RankedRow, first: RankedRow, place: Place, unit: Unit) -> str:
    """A row beside the best: the difference, where both answered the same number of
    questions, and what the tests say of it."""
    is_same_size = row.n_prompts == first.n_prompts and place.verdict != APART
    both = (row.estimate, first.estimate)
    if row is first or not is_same_size or None in both:
        return place.verdict
    difference = (row.estimate or 0.0) - (first.estimate or 0.0)
    return f"{unit.difference(difference)}  {place.verdict}"


def with_gap(cells: Sequence[dict[str, Any]], top: int | None) -> list[dict[str, Any]]:
    """The rows that are shown, with a line in place of the others.

    Args:
        cells: of each row, best first, with ``model`` and ``vs. best`` among them.
        top: as in :func:`brief_table`.
    """
    n_shown = _n_shown(cells, top)
    if len(cells) <= n_shown + 1 + (top is None):
        return list(cells)
    left = len(cells) - n_shown - (top is None)
    gap: Mapping[str, Any] = dict.fromkeys(cells[0], "")
    line = {**gap, "model": f"… {left} more (--all)"}
    last = [cells[-1]] if top is None else []
    return [*cells[:n_shown], line, *last]


def _n_shown(cells: Sequence[dict[str, Any]], top: int | None) -> int:
    """How many rows are shown from the first on."""
    if top == 0 or top is None and len(cells) <= SHORT:
        return len(cells)
    if top is not None:
        return top
    ties = [
        number
        for number, named in enumerate(cells)
        if str(named["vs. best"] or "").endswith(TIE)
    ]
    return min(max(ties, default=0) + 1 + BELOW, MOST)
