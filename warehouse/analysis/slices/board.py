"""Every model slice by slice of a field, with an overall figure by which they are
ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.leaderboard.answer import rank_rows
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.row import (
    LeaderboardRow,
    make_row,
    usable_bounds,
)
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    BenchmarkScores,
    ScoredCondition,
    list_differences,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.select import of_some_prompts, select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.slices.answer import (
    FEW_CLUSTERS,
    FEW_PROMPTS,
    OVERLAPPING,
    field_test_of,
)
from warehouse.analysis.slices.board_view import (
    BoardOfSlices,
    SliceBoard,
    SliceScore,
)
from warehouse.analysis.slices.declared import FieldLabel, labels_of
from warehouse.analysis.slices.fields import Slicing, read_fields
from warehouse.analysis.slices.question import EQUAL, LeaderboardBy
from warehouse.analysis.slices.view import NONE, FieldTest
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import Estimate, equal_slices_mean, slice_ranks
from warehouse.stats.slices.mean import WILSON_SLICES, SliceRanks
from warehouse.store.connection import Store
from warehouse.tables.words import listed

#: Random signs of the test whether a score varies.
_SIGNS = 9999
#: Of a slice: the whole of it is what the rows have.
_ANY = BenchmarkCoverage(0, b"")
#: Flags that speak of fewer prompts than a slice is flagged for.
_OF_WHOLE = frozenset({"few_prompts", "few_clusters"})
_LACKS = "no scores on {slices}: its figure is of other slices"
#: Why the mean of slices has no interval of its own.
_NOT_PLAIN = "no interval for the mean of slices of weighted scores, or over seeds"


@answers(LeaderboardBy)
def leaderboard_by(store: Store, question: LeaderboardBy) -> BoardOfSlices:
    """Every field by itself; a row for each condition and slice."""
    scores = select_entries(store, selection_of(question))
    scores = replace(scores, plans=None)
    prompts = all_prompts(scores)
    if not len(prompts):
        raise MisuseError(
            f"no prompt of {question.benchmark} has a score: a published figure has no "
            "slices"
        )
    fields = read_fields(store, scores.benchmark.ids, scores.benchmark.name)
    slicings = fields.slicings(question.by, prompts, question.bins)
    labels = labels_of(
        store,
        scores.benchmark.name,
        [slicing.name for slicing in slicings],
        [run["run_id"] for run in scores.runs],
        question.where,
    )
    boards = [
        _labelled(board_by(scores, slicing, question), label)
        for slicing, label in zip(slicings, labels, strict=True)
    ]
    notes = list(scores.notes)
    if scores.clusters.note:
        notes.append(scores.clusters.note)
    differing = list_differences({entry.group for entry in scores.entries})
    if differing:
        notes.append(f"rows differ in {listed(differing)}; each group is ranked alone")
    return BoardOfSlices(
        benchmark=scores.benchmark.name,
        metric=scores.metric.label,
        higher_is_better=scores.metric.higher_is_better,
        rows=tuple(chain.from_iterable(board.scores for board in boards)),
        boards=tuple(boards),
        weights=question.weights,
        notes=tuple(notes),
        is_share=scores.metric.bounds == (0.0, 1.0),
        policy=scores.policy.text,
        labels=labels,
    )


def _labelled(board: SliceBoard, label: FieldLabel) -> SliceBoard:
    """A board whose rows say what their field counts as."""
    scores = tuple(replace(row, **label.columns) for row in board.scores)
    return replace(board, scores=scores)


def all_prompts(scores: BenchmarkScores) -> NDArray[np.int64]:
    """Ids of the prompts that some row has a score on, ascending."""
    parts = [np.empty(0, np.int64)]
    for entry in scores.entries:
        if entry.usable is not None:
            parts.append(entry.usable.prompts)
    return np.unique(np.concatenate(parts))


def board_by(
    scores: BenchmarkScores,
    slicing: Slicing,
    question: LeaderboardBy,
    *,
    n_resamples: int = 0,
) -> SliceBoard:
    """The leaderboard of one field; asks the store nothing.

    Args:
        scores: every condition with its scores.
        slicing: of all prompts that some row has a score on.
        question: how it is ranked.
        n_resamples: draws behind rank sets, which nobody is shown here; where they are
            those of a leaderboard of these scores, pairs are not tested again.

    Raises:
        MisuseError: a mean of slices that share prompts, or an unknown slice.
    """
    if slicing.overlaps and question.weights == EQUAL:
        raise MisuseError(
            f"{OVERLAPPING} by {slicing.name}: the mean of slices is refused "
            "(--weights prompts)"
        )
    options = question.shared_with(OneLeaderboard, n_resamples=n_resamples)
    ranked_by = _ranked_by(slicing, question)
    lines = []
    for group in rank_rows(_ranked_scores(scores, slicing, question), options):
        lines += group
    lines.sort(key=lambda line: line[1].rank is None)
    entries = {_key(entry): entry for entry in scores.entries}
    found, ranked = [], []
    for entry, row in lines:
        whole = entries[_key(entry)]
        table = _RowOfSlices(whole, row, scores, slicing, options, question.weights)
        own = list(table.scores(question))
        found.append(own)
        ranked.append(_with_figure(row, own[0]))
    return SliceBoard(
        field=slicing.name,
        slices=slicing.values,
        n_without=slicing.n_without,
        ranked_by=ranked_by,
        ranked=tuple(ranked),
        scores=tuple(chain.from_iterable(found)),
        overlaps=slicing.overlaps,
        varies=_varies(scores, slicing, question.seed),
    )


def _with_figure(row: LeaderboardRow, overall: SliceScore) -> LeaderboardRow:
    """A row with the interval of the mean of slices in place of that of a weighted
    mean, by which it is ranked."""
    if overall.method != WILSON_SLICES or not isinstance(row.figure, Estimate):
        return row
    figure = replace(
        row.figure,
        standard_error=overall.standard_error,
        ci_low=overall.ci_low,
        ci_high=overall.ci_high,
        method=overall.method,
        flags=(),
    )
    return replace(row, figure=figure)


def _varies(scores: BenchmarkScores, slicing: Slicing, seed: int) -> FieldTest | None:
    """Of a single row, whether its score varies over the slices."""
    if len(scores.entries) != 1:
        return None
    entry = scores.entries[0]
    own = _plain_scores(entry)
    if own is None:
        return None
    return field_test_of(
        slicing,
        own.values,
        scores.clusters.labels(own.prompts),
        why_none="",
        n_resamples=_SIGNS,
        seed=seed,
    )


def _plain_scores(entry: ScoredCondition) -> PromptScores | None:
    """The scores of a row whose figure is their plain mean; None where it is weighted,
    over training seeds, or of another form."""
    scores = entry.usable
    if scores is None or scores.seeds is not None:
        return None
    if scores.uneven_weights is not None or entry.metric.link != "identity":
        return None
    return scores


def _key(entry: ScoredCondition) -> tuple[Any, ...]:
    """What tells an entry from the others of a benchmark."""
    return entry.condition.key, entry.condition.run_ids, entry.group


def _ranked_by(slicing: Slicing, question: LeaderboardBy) -> str:
    """The slice that rows are ranked by; empty for all prompts."""
    if question.rank_by is None:
        return ""
    value = question.rank_by
    if value not in slicing.values:
        value = value.removeprefix("slice:")
    if value not in slicing.values:
        raise MisuseError(
            f"{slicing.name} has no value {value!r}; it is "
            f"{', '.join(slicing.values[:20])}"
        )
    return value


def _ranked_scores(
    scores: BenchmarkScores, slicing: Slicing, question: LeaderboardBy
) -> BenchmarkScores:
    """The scores that rows are ranked by: all, those of a slice, or weighted so that
    slices count alike; rows that lack slices have no place."""
    lacking = _lacking(scores, slicing)
    is_plain = question.rank_by is None and question.weights != EQUAL
    if is_plain and not lacking:
        return scores
    entries = []
    for entry in scores.entries:
        lacks = lacking.get(id(entry))
        if lacks:
            entry = replace(entry, no_place=_LACKS.format(slices=lacks))
        entries.append(_ranked_entry(entry, slicing, question))
    is_part = scores.is_part or bool(question.rank_by) or question.weights == EQUAL
    return replace(scores, entries=tuple(entries), is_part=is_part, worked_out={})


def _ranked_entry(
    entry: ScoredCondition, slicing: Slicing, question: LeaderboardBy
) -> ScoredCondition:
    if question.rank_by is not None:
        number = slicing.values.index(_ranked_by(slicing, question))
        return of_some_prompts(entry, slicing.prompts_in(number))
    if question.weights != EQUAL:
        return entry
    entry = of_some_prompts(entry, slicing.prompts_with)
    if entry.scores is None or not entry.scores.n:
        return entry
    codes = _codes_of(entry.scores, slicing)
    sizes = np.bincount(codes, minlength=len(slicing.values))
    weights = entry.scores.weights / sizes[codes]
    return replace(entry, scores=replace(entry.scores, weights=weights))


def _codes_of(scores: PromptScores, slicing: Slicing) -> NDArray[np.intp]:
    """Number of the slice of each scored prompt, all of which have one."""
    places, codes = slicing.entries
    ids = slicing.prompts[places]
    return codes[np.searchsorted(ids, scores.prompts)]


def _lacking(scores: BenchmarkScores, slicing: Slicing) -> dict[int, str]:
    """Slices on which a row has no score although another of its group has, by the id
    of the entry."""
    found: dict[int, str] = {}
    for members in scores.groups().values():
        usable = [entry for entry in members if entry.usable is not None]
        sets = [_slices_of(entry, slicing) for entry in usable]
        every = frozenset().union(*sets)
        for entry, own in zip(usable, sets, strict=True):
            if every - own:
                names = [slicing.values[number] for number in sorted(every - own)]
                found[id(entry)] = listed(names[:3])
    return found


def _slices_of(entry: ScoredCondition, slicing: Slicing) -> frozenset[int]:
    places, codes = slicing.entries
    assert entry.usable is not None
    is_scored = np.isin(slicing.prompts[places], entry.usable.prompts)
    return frozenset(codes[is_scored].tolist())


@dataclass(frozen=True)
class _RowOfSlices:
    """A row of the leaderboard with its slices."""

    entry: ScoredCondition  #: with all its scores.
    row: LeaderboardRow  #: by which it is ranked.
    board: BenchmarkScores
    slicing: Slicing
    options: OneLeaderboard
    weights: str  #: of the overall figure.

    def scores(self, question: LeaderboardBy) -> Iterator[SliceScore]:
        """The overall figure, each slice, and the prompts without the field."""
        yield self._overall(question)
        places = self._places(question)
        for number, value in enumerate(self.slicing.values):
            row = self._row_of(self.slicing.prompts_in(number))
            yield self._score(row, value, places.get(number, (None, None)))
        if self.slicing.n_without:
            row = self._row_of(self.slicing.prompts_without)
            yield self._score(row, NONE, (None, None))

    def _row_of(self, prompts: NDArray[np.int64]) -> LeaderboardRow:
        part = of_some_prompts(self.entry, prompts)
        return make_row(part, self.board.clusters, self.options, _ANY)

    def _overall(self, question: LeaderboardBy) -> SliceScore:
        """The figure of all prompts, or the mean of the slices."""
        whole = self.row
        if question.rank_by is not None:
            coverage = self.board.coverages[self.entry.group]
            whole = make_row(self.entry, self.board.clusters, self.options, coverage)
        score = self._score(whole, None, (None, None), is_whole=True)
        if question.weights != EQUAL or self.entry.usable is None:
            return score
        return replace(score, **self._mean_of_slices(question))

    def _mean_of_slices(self, question: LeaderboardBy) -> dict[str, Any]:
        """Figures of the mean in which slices count alike."""
        part = _plain_scores(of_some_prompts(self.entry, self.slicing.prompts_with))
        if part is None:
            return {"reason": _NOT_PLAIN}
        codes = _codes_of(part, self.slicing)
        bounds, _ = usable_bounds(part, self.entry.metric)
        found = equal_slices_mean(
            part.values,
            np.unique(codes, return_inverse=True)[1],
            clusters=self.board.clusters.labels(part.prompts),
            bounds=bounds,
            level=question.level,
            seed=question.seed,
        )
        return {
            "estimate": found.estimate,
            "standard_error": found.standard_error,
            "ci_low": found.ci_low,
            "ci_high": found.ci_high,
            "method": found.method,
            "reason": found.reason,
        }

    def _places(self, question: LeaderboardBy) -> dict[int, tuple[int, int]]:
        """Which places each slice may have among the others of this row, by number;
        empty where it cannot be said."""
        found = self._ranks(question)
        if found is None:
            return {}
        ends = zip(found.lowest.tolist(), found.highest.tolist(), strict=True)
        numbers = sorted(_slices_of(self.entry, self.slicing))
        return dict(zip(numbers, ends, strict=True))

    def _ranks(self, question: LeaderboardBy) -> SliceRanks | None:
        part = _plain_scores(of_some_prompts(self.entry, self.slicing.prompts_with))
        if part is None or self.slicing.overlaps:
            return None
        if self.board.clusters.labels(part.prompts) is not None:
            return None
        codes = np.unique(_codes_of(part, self.slicing), return_inverse=True)[1]
        bounds, _ = usable_bounds(part, self.entry.metric)
        return slice_ranks(part.values, codes, bounds=bounds, level=question.level)

    def _score(
        self,
        row: LeaderboardRow,
        value: str | None,
        places: tuple[int | None, int | None],
        *,
        is_whole: bool = False,
    ) -> SliceScore:
        flags = row.flags
        if not is_whole:
            flags = _flags_of_slice(row, overlaps=self.slicing.overlaps)
        return SliceScore(
            model=row.model,
            condition=row.condition,
            benchmark=row.benchmark,
            split=row.split,
            metric=row.metric,
            rank=self.row.rank,
            field=self.slicing.name,
            slice=value,
            weights=self.weights,
            estimate=row.estimate,
            standard_error=row.standard_error,
            ci_low=row.ci_low,
            ci_high=row.ci_high,
            level=row.level,
            n_prompts=row.n_prompts,
            n_clusters=row.n_clusters,
            place_low=places[0],
            place_high=places[1],
            method=row.method,
            flags=flags,
            reason=row.reason,
            run_ids=row.run_ids,
        )


def _flags_of_slice(row: LeaderboardRow, *, overlaps: bool) -> tuple[str, ...]:
    """The flags of a figure of a slice, which are flagged for fewer prompts."""
    flags = [flag for flag in row.flags if flag not in _OF_WHOLE]
    if 0 < row.n_prompts < FEW_PROMPTS:
        flags.append("few_prompts")
    if row.n_clusters is not None and row.n_clusters < FEW_CLUSTERS:
        flags.append("few_clusters")
    if overlaps:
        flags.append("overlapping")
    return tuple(dict.fromkeys(flags))
