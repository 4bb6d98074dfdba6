"""Rows of a leaderboard by slices, and what people are shown of them: who is first,
by which figure, and the slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.leaderboard.brief import heading, unit_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import rows_in_words
from warehouse.analysis.results import ConditionRow, Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.slices.declared import EXPLORATORY, FieldLabel, in_words
from warehouse.analysis.slices.question import EQUAL
from warehouse.analysis.slices.view import (
    ENDS,
    MOST,
    NONE,
    FieldTest,
    varies_in_words,
)
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote, View
from warehouse.tables.words import (
    count_range,
    counted,
    level_column,
    meanings,
    visible,
)

#: Slices up to which each is a column; models up to which each is one where there are
#: more slices.
FEW_SLICES, FEW_MODELS = 4, 4
_MINOR = ("questions", "flags", "clusters")


@dataclass(frozen=True)
class SliceScore(ConditionRow):
    """One condition on one slice of the prompts, or on all."""

    #: place of the condition by the figure that rows are ranked by; None for none.
    rank: int | None
    field: str  #: by which the prompts are sliced.
    #: value of the field; ``(none)``: prompts without it; None: the overall figure, by
    #: the weights that were asked for.
    slice: str | None
    #: of the overall figure, and of the place: ``prompts`` or ``equal`` (slices).
    weights: str
    estimate: float | None  #: the figure; None with a ``reason``.
    standard_error: float | None  #: of it.
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters among them; None without.
    #: best place that the slice may have among the others of the condition, all places
    #: together; None in clusters, and without bounds.
    place_low: int | None
    place_high: int | None  #: worst place.
    method: str  #: of the interval.
    #: ``few_prompts`` (below 30), ``few_clusters`` (below 20), ``overlapping``, and as
    #: of a leaderboard.
    flags: tuple[str, ...]
    reason: str  #: why this method, or why there is no figure or interval.
    run_ids: tuple[int, ...]  #: ids of the runs.
    #: ``declared``: the field was named before the scores were stored; else
    #: ``exploratory``.
    label: str = EXPLORATORY
    declared_at: str | None = None  #: when it was named, UTC; None: never.


@dataclass(frozen=True)
class SliceBoard:
    """The leaderboard of one field."""

    field: str  #: by which the prompts are sliced.
    slices: tuple[str, ...]  #: its values.
    n_without: int  #: prompts without the field.
    ranked_by: str  #: slice that rows are ranked by; empty: the overall figure.
    ranked: tuple[LeaderboardRow, ...]  #: rows as they are ranked.
    scores: tuple[SliceScore, ...]  #: of each row the overall figure and every slice.
    overlaps: bool  #: a prompt may be in several slices.
    #: of a single row: whether its score varies over the slices; else None.
    varies: FieldTest | None = None

    def by_row(self) -> list[list[SliceScore]]:
        """The scores of each row, the overall figure first."""
        size = 1 + len(self.slices) + (self.n_without > 0)
        return [
            list(self.scores[start : start + size])
            for start in range(0, len(self.scores), size)
        ]


@dataclass(frozen=True)
class BoardOfSlices(Result):
    """Every model on a benchmark, slice by slice of a field, or of several."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool | None  #: direction of the ranks; None if unknown.
    rows: tuple[SliceScore, ...]
    boards: tuple[SliceBoard, ...]  #: of each field.
    weights: str  #: of the overall figure: ``prompts`` or ``equal``.
    notes: tuple[str, ...]  #: what a reader should know.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.
    labels: tuple[FieldLabel, ...] = ()  #: what each field counts as.

    @property
    def one_line(self) -> str:
        first = self.boards[0]
        words = rows_in_words(first.ranked, self.higher_is_better)
        return f"{self.benchmark} by {first.field}: {words}"

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; the rows hold what the boards do."""
        own = super().to_dict()
        del own["boards"], own["labels"]
        return own

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """The sentence and the slices of each field.

        Args:
            verbose: every slice of every row, one a line.
            top: rows of the table; None: those that a reader looks for first; 0: all.
        """
        ranked = self.boards[0].ranked
        head = heading(self.benchmark, self.metric, ranked, self.higher_is_better)
        parts: list[Part] = [head + policy_words(self.policy)]
        for board in self.boards:
            parts += self._of_field(board, top, verbose=verbose)
        parts += [TableNote(line) for line in in_words(self.labels)]
        flags = [flag for row in self.rows for flag in row.flags]
        parts += [TableNote(line, "flags") for line in meanings(flags)]
        notes = list(self.notes)
        if self.higher_is_better is None:
            unknown = direction_unknown(self.metric, self.benchmark)
            notes.append(f"higher is ranked first; {unknown}")
        return View(tuple(parts), tuple(notes))

    def _of_field(
        self, board: SliceBoard, top: int | None, *, verbose: bool
    ) -> Iterator[Part]:
        unit = unit_of(board.ranked, in_percent=self.is_share)
        words = rows_in_words(board.ranked, self.higher_is_better, unit)
        yield visible(f"{words}.".replace("..", "."))
        yield _weighted(board, self.weights)
        if board.varies is not None:
            yield visible(
                varies_in_words(board.varies, "The score", self.rows[0].level)
            )
        extreme = self._extreme(board, unit)
        if extreme:
            yield visible(extreme)
        yield ""
        tables = board.by_row()
        if verbose or len(tables) == 1:
            yield _long_table(board, tables, unit, top)
        elif len(board.slices) <= FEW_SLICES:
            yield _wide_table(board, tables, unit, top)
        else:
            yield _turned_table(board, tables, unit, top)
        if board.n_without:
            has_not = counted(board.n_without, "question")
            yield TableNote(f"{NONE}: {has_not} without {board.field}")

    def _extreme(self, board: SliceBoard, unit: Unit) -> str:
        """The slice on which the first row is worst, which is chosen for it."""
        tables = board.by_row()
        known = [
            one
            for one in tables[0][1:]
            if one.estimate is not None and one.slice != NONE
        ]
        if len(known) < 2:
            return ""
        sign = -1.0 if self.higher_is_better is False else 1.0
        worst = min(known, key=lambda one: sign * (one.estimate or 0.0))
        end = "highest" if self.higher_is_better is False else "lowest"
        again = "worse" if self.higher_is_better is None else "better"
        figure = unit.figure(worst.estimate)
        return (
            f"{end.capitalize()} slice of {tables[0][0].model}: {worst.slice}, "
            f"{figure}; chosen as the {end} of {len(known)}: it will look {again} next "
            "time."
        )


def _weighted(board: SliceBoard, weights: str) -> str:
    """What rows are ranked by."""
    if board.ranked_by:
        return f"Ranked by {board.field} {board.ranked_by} alone."
    if weights == EQUAL:
        return (
            f"Overall: the mean of {counted(len(board.slices), 'slice')} by "
            f"{board.field}, each of which counts alike (--weights equal)."
        )
    return "Overall: every question counts alike (--weights prompts)."


def _name(one: SliceScore) -> str:
    if one.condition:
        return f"{one.model} ({one.condition})"
    return one.model


def _wide_table(
    board: SliceBoard, tables: Sequence[list[SliceScore]], unit: Unit, top: int | None
) -> Table:
    """A row for each model, a column for each slice."""
    shown = tables
    if top != 0:
        shown = tables[: top or MOST]
    rows: list[dict[str, Any]] = []
    for scores in shown:
        first = scores[0]
        cells: dict[str, Any] = {
            "rank": first.rank,
            "model": _name(first),
            "overall": unit.figure(first.estimate),
            level_column(first.level): unit.ends(
                first.ci_low, first.ci_high, first.estimate
            ),
        }
        for one in scores[1:]:
            cells[str(one.slice)] = unit.figure(one.estimate)
        rows.append(cells)
    if len(shown) < len(tables):
        line = f"... {len(tables) - len(shown)} more (--all)"
        rows.append(dict.fromkeys(rows[0], "") | {"model": line})
    return Table.of(rows, hide_empty=("rank",))


def _turned_table(
    board: SliceBoard, tables: Sequence[list[SliceScore]], unit: Unit, top: int | None
) -> Table:
    """A row for each slice, a column for each of the first models."""
    shown = tables
    if top != 0:
        shown = tables[: top or FEW_MODELS]
    heads = _heads(shown)
    numbers = _slices_shown(tables[0], top)
    rows: list[dict[str, Any]] = []
    for number in numbers:
        own = [scores[number] for scores in shown]
        rows.append(_turned_row(board, own, heads, unit))
    left = len(board.slices) - sum(0 < n <= len(board.slices) for n in numbers)
    if left:
        line = f"... {left} more (--all)"
        gap = dict.fromkeys(rows[0], "") | {board.field: line}
        rows.insert(1 + 2 * ENDS, gap)
    if len(shown) < len(tables):
        rows.append(
            dict.fromkeys(rows[0], "")
            | {board.field: f"... {len(tables) - len(shown)} more models (--all)"}
        )
    return Table.of(rows, minor=("questions",))


def _turned_row(
    board: SliceBoard, own: Sequence[SliceScore], heads: Sequence[str], unit: Unit
) -> dict[str, Any]:
    name = "overall"
    if own[0].slice is not None:
        name = own[0].slice
    cells: dict[str, Any] = {board.field: name}
    cells["questions"] = max(one.n_prompts for one in own)
    for head, one in zip(heads, own, strict=True):
        cells[head] = unit.figure(one.estimate)
    return cells


def _heads(shown: Sequence[list[SliceScore]]) -> list[str]:
    """Names of models over columns, each another one."""
    last = [_name(scores[0]).rpartition("/")[2] for scores in shown]
    if len(set(last)) == len(last):
        return last
    return [f"{place} {name}" for place, name in enumerate(last, 1)]


def _slices_shown(scores: Sequence[SliceScore], top: int | None) -> list[int]:
    """Places of the slices of a row that a table shows, the overall figure first; of
    many those where the first model is highest and lowest."""
    every = list(range(len(scores)))
    if top == 0 or len(scores) <= MOST + 1:
        return every
    without = [n for n in every if scores[n].slice == NONE]
    own = [n for n in every[1:] if scores[n].estimate is not None]
    own = [n for n in own if n not in without]
    own.sort(key=lambda n: -(scores[n].estimate or 0.0))
    return [0, *own[: 2 * ENDS], *own[-2 * ENDS :], *without]


def _long_table(
    board: SliceBoard, tables: Sequence[list[SliceScore]], unit: Unit, top: int | None
) -> Table:
    """A row for each slice of each model, with its interval and places."""
    rows: list[dict[str, Any]] = []
    for scores in tables:
        chosen = top if len(tables) == 1 else 0
        for number in _slices_shown(scores, chosen):
            rows.append(_long_row(board, scores[number], unit))
    if len(tables) == 1:
        for cells in rows:
            del cells["model"]
        left = len(tables[0]) - len(rows)
        if left:
            line = {board.field: f"... {left} more (--all)"}
            rows.insert(1 + 2 * ENDS, dict.fromkeys(rows[0], "") | line)
    return Table.of(rows, hide_empty=("places", "flags", "clusters"), minor=_MINOR)


def _long_row(board: SliceBoard, one: SliceScore, unit: Unit) -> dict[str, Any]:
    places = None
    if one.place_low is not None and one.place_high is not None:
        places = count_range(one.place_low, one.place_high)
    return {
        "model": _name(one),
        board.field: "overall" if one.slice is None else one.slice,
        "questions": one.n_prompts,
        "score": unit.figure(one.estimate),
        level_column(one.level): unit.ends(one.ci_low, one.ci_high, one.estimate),
        "places": places,
        "clusters": one.n_clusters,
        "flags": one.flags,
    }
