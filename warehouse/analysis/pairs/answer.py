"""All pairs of the conditions on one benchmark, adjusted for their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from warehouse.analysis.comparison.notes import not_compared_notes
from warehouse.analysis.comparison.pair_rows import PairColumns, PairRow
from warehouse.analysis.pairs.brief import brief_view
from warehouse.analysis.pairs.group import PairGroup
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.pairs.view import pairs_view
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.other_metrics import advise_others
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.selection.score_matrix import (
    LastPairs,
    RankedPairs,
    score_table,
    too_many,
)
from warehouse.analysis.selection.score_ranges import mixed_scales
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    is_partial,
    list_editions,
    notes_of_row,
    scorers_in_words,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import (
    direction,
)


@dataclass(frozen=True)
class Pairs(Result):
    """All pairs on a benchmark, the largest group first; in each the better condition
    first."""

    DRAWN_BY = "warehouse.analysis.pairs.charts:heat_maps"

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool | None  #: direction; None if unknown (then higher is first).
    groups: tuple[PairGroup, ...]  #: conditions that were compared with one another.
    notes: tuple[str, ...]  #: what was left out, and how the tests were adjusted.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.

    @cached_property
    def rows(self) -> tuple[PairRow, ...]:  # type: ignore[override]
        """The pairs of all groups; made when they are asked for."""
        return tuple(chain.from_iterable(group.columns for group in self.groups))

    @property
    def one_line(self) -> str:
        parts = [group.columns for group in self.groups]
        separated = 0
        for part in parts:
            separated += int(part.pairs.differ[: len(part)].sum())
        models = sum(len(group.models) for group in self.groups)
        counts = (
            f"{models} conditions, {sum(map(len, parts))} pairs, {separated} differ by "
            "Holm"
        )
        return f"{self.benchmark} by {self.metric}: {counts}"

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """How many pairs differ, and by how much.

        Args:
            verbose: every figure of each pair, and how pairs were tested.
            top: rows of a list of pairs; None: of many the first; 0: all.
        """
        if verbose:
            return pairs_view(
                self.benchmark,
                self.metric,
                self.higher_is_better,
                self.groups,
                self.notes,
            )
        head = f"{self.benchmark} · {self.metric}, {direction(self.higher_is_better)}"
        head += policy_words(self.policy)
        return brief_view(
            head, self.groups, self.notes, in_percent=self.is_share, top=top
        )

    def each_record(self) -> Iterator[dict[str, Any]]:
        """The rows, a dictionary each, without keeping them."""
        return chain.from_iterable(group.columns.records() for group in self.groups)

    def to_dict(self) -> dict[str, object]:
        """Fields by name, without the groups (their figures are in the rows)."""
        own = {
            name: getattr(self, name)
            for name in ("benchmark", "metric", "higher_is_better")
        }
        return own | {
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }


@answers(AllPairs)
def pairs(store: Store, question: AllPairs) -> Pairs:
    """Conditions are those of the leaderboard: compared within one split, task version,
    metric and judge; published figures have no prompts to pair; a part of the benchmark
    is not compared with runs that have all of it. Adjustments are over the pairs of one
    group.
    """
    scores = select_entries(store, selection_of(question))
    found = pairs_of(
        scores,
        level=question.level,
        n_resamples=question.n_resamples,
        seed=question.seed,
        with_flags=question.with_flags,
        pair_seeds=question.pair_seeds,
    )
    return replace(found, policy=scores.policy.text)


def pairs_of(
    scores: BenchmarkScores,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    with_flags: bool,
    only_first: bool = False,
    pair_seeds: bool = False,
) -> Pairs:
    """`pairs` of scores that were read, or the rows `only_first` of each group; asks
    the store nothing.

    Raises:
        MisuseError: fewer than two conditions that can be compared.
        StatisticsError: ``n_resamples`` or ``seed`` out of range.
    """
    chosen = [
        order_entries(comparable(members, scores))
        for members in scores.groups().values()
    ]
    sizable = sorted(
        (members for members in chosen if len(members) > 1), key=len, reverse=True
    )
    if not sizable:
        why = [
            f"{scores.benchmark.name} has no two conditions that can be compared",
            *_left_out(scores, chosen),
        ]
        why += filter(None, [scores.names_advice])
        raise MisuseError("; ".join(why) + advise_others(scores.others))
    groups: list[PairGroup] = []
    notes = _notes(scores, chosen, sizable)
    for members in sizable:
        if too := too_many(len(members)):
            notes.append(too)
            continue
        table = score_table(members, scores.clusters, pair_seeds=pair_seeds)
        if not len(table.prompts):
            notes.append(f"{len(members)} conditions have no prompt in common")
            continue
        rising = members[0].metric.higher_is_better is not False
        found = LastPairs.among(scores).of(
            table,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            higher_is_better=rising,
        )
        n_rows = len(members) - 1 if only_first else len(found.pairs)
        columns = PairColumns.of(
            members, found.pairs, table if with_flags else None, n_rows
        )
        groups.append(_group(members, found, columns))
        notes += [table.note] if table.note else []
        notes += not_compared_notes(zip(groups[-1].labels, found.apart, strict=True))
    if not groups:
        raise MisuseError(f"{scores.benchmark.name}: {notes[-1]}")
    name, metric = scores.benchmark.name, scores.metric
    if metric.higher_is_better is None and any(
        group.pairs.differ.any() for group in groups
    ):
        notes.append(direction_unknown(metric.label, name))
    return Pairs(
        name,
        metric.label,
        metric.higher_is_better,
        tuple(groups),
        tuple(notes),
        is_share=metric.bounds == (0.0, 1.0) and metric.link == "identity",
    )


def _notes(
    scores: BenchmarkScores,
    chosen: Sequence[Sequence[ScoredCondition]],
    sizable: Sequence[Sequence[ScoredCondition]],
) -> list[str]:
    """Notes that stand before any pair is formed."""
    editions = list_editions(chain.from_iterable(sizable))
    notes = [*_left_out(scores, chosen)]
    if scores.clusters.note:
        notes.append(scores.clusters.note)
    notes += scores.notes
    of_rows = (notes_of_row(entry) for entry in chain.from_iterable(chosen))
    notes += dict.fromkeys(chain.from_iterable(of_rows))
    name = scores.benchmark.name
    entries = chain.from_iterable(sizable)
    notes += mixed_scales(
        (name, entry.metric, entry.usable.spans)
        for entry in entries
        if entry.usable is not None
    )
    if editions:
        edition_notes = [f"conditions differ in {editions} takes one alone"]
    else:
        edition_notes = []
    return notes + edition_notes


def comparable(
    entries: Sequence[ScoredCondition], scores: BenchmarkScores
) -> list[ScoredCondition]:
    """Rows of one group that have prompts to pair, and all of them where a part will
    do.

    Where no entry is complete all are compared, as the leaderboard ranks them.
    """
    usable = [
        entry for entry in entries if entry.usable is not None and not entry.no_place
    ]
    complete = [
        entry
        for entry in usable
        if not is_partial(coverage_flags(entry, scores.coverages[entry.group]))
    ]
    if scores.subset_ok or not complete:
        return usable
    return complete


def order_entries(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """The better figure first; ties by name."""

    def order(entry: ScoredCondition) -> tuple[float, str, str]:
        scores, metric = entry.usable, entry.metric
        if scores is None:
            return np.inf, entry.condition.model, entry.label
        mean = float(np.average(scores.values, weights=scores.weights))
        rising = (metric.link == "identity") == (metric.higher_is_better is not False)
        rank = mean
        if rising:
            rank = -mean
        return rank, entry.condition.model, entry.label

    return sorted(entries, key=order)


def _group(
    members: Sequence[ScoredCondition], found: RankedPairs, columns: PairColumns
) -> PairGroup:
    models = tuple(entry.condition.model for entry in members)
    labels = tuple(entry.label for entry in members)
    split, version, metric = members[0].group[:3]
    return PairGroup(split, version, metric, models, labels, found, columns)


def _left_out(
    scores: BenchmarkScores, chosen: Sequence[Sequence[ScoredCondition]]
) -> list[str]:
    """Notes on what of the benchmark is in no pair, and why."""
    paired = set()
    for members in chosen:
        if len(members) > 1:
            for entry in members:
                paired.add(id(entry))
    reasons: dict[str, list[str]] = {}
    for entry in scores.entries:
        if id(entry) not in paired:
            reasons.setdefault(why_not(entry, scores), []).append(entry.condition.model)
    more = {
        why: f" and {len(models) - 3} more" if len(models) > 3 else ""
        for why, models in reasons.items()
    }
    notes = [
        f"left out, {why}: {', '.join(models[:3])}{more[why]}"
        for why, models in reasons.items()
    ]
    if sum(len(members) > 1 for members in chosen) > 1:
        notes.append(
            "conditions differ in split, task version, metric or scorer; each group is "
            "compared and adjusted alone"
        )
    if scorers := scorers_in_words(chain.from_iterable(chosen)):
        notes.append(scorers)
    return notes


def why_not(entry: ScoredCondition, scores: BenchmarkScores) -> str:
    """Why an entry stands in no pair."""
    if entry.stopped is not None:
        return "stopped early because of their scores"
    if entry.infinite is not None:
        return (
            "an infinite score, so that no difference of means has an error (compare "
            "tests two)"
        )
    if entry.usable is None:
        return "no scored prompts to pair"
    if entry.no_place:
        return entry.no_place
    if is_partial(coverage_flags(entry, scores.coverages[entry.group])):
        return "a part of the benchmark only (subset_ok compares it)"
    return "nothing comparable beside it"
