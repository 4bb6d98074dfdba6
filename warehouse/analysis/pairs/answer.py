"""All pairs of the conditions on one benchmark, adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from warehouse.analysis.comparison.notes import not_compared_notes
from warehouse.analysis.comparison.pair_rows import PairColumns, PairRow
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.analysis.selection.other_metrics import advise_others
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
from warehouse.stats import AllPairs as PairStatistics
from warehouse.stats import Ranks
from warehouse.store.connection import Store
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import (
    decimals,
    direction,
    intervals,
    meanings,
    numbers,
    p_values,
)


def _label(model: str, condition: str) -> str:
    """A name for a condition, with its settings in brackets."""
    if condition:
        return f"{model} ({condition})"
    return model


@dataclass(frozen=True)
class PairGroup:
    """Conditions that can be compared with one another, best figure first."""

    split: str  #: part of the benchmark.
    task_version: str  #: of the benchmark's definition, empty if unknown.
    metric: str  #: name of the metric, with its filter.
    models: tuple[str, ...]  #: name of the model of each condition.
    conditions: tuple[str, ...]  #: settings that tell conditions apart.
    tested: RankedPairs  #: all pairs, and what they say about places.
    columns: PairColumns  #: their rows, or the first ones.

    @property
    def pairs(self) -> PairStatistics:
        """The statistics of all pairs."""
        return self.tested.pairs

    @property
    def ranks(self) -> Ranks:
        """Their ranks."""
        return self.tested.ranks

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each condition, with its settings in brackets."""
        return tuple(map(_label, self.models, self.conditions))

    @property
    def groups(self) -> tuple[str, ...]:
        """Letters of the conditions (`letters_of`)."""
        return self.tested.letters

    @property
    def n_not_compared(self) -> int:
        """Conditions that have no prompt in common with the first."""
        return self.tested.apart[0]


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

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, how the pairs were tested, and what was left out."""
        return pairs_view(
            self.benchmark, self.metric, self.higher_is_better, self.groups, self.notes
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
    return pairs_of(
        select_entries(store, selection_of(question)),
        level=question.level,
        n_resamples=question.n_resamples,
        seed=question.seed,
        with_flags=question.with_flags,
        pair_seeds=question.pair_seeds,
    )


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
        name, metric.label, metric.higher_is_better, tuple(groups), tuple(notes)
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


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    "correlation",
    "p",
    "p BH",
    "prompts",
    "clusters",
    "se",
    "p step-down",
    "split",
    "p Holm",
)


def pairs_view(
    benchmark: str,
    metric: str,
    higher_is_better: bool | None,
    groups: Sequence[PairGroup],
    notes: Sequence[str],
) -> View:
    """The rows of each group with its conditions' labels, and how they were tested."""
    parts = [group.columns for group in groups]
    digits = decimals(
        chain.from_iterable(part.column("standard_error") for part in parts)
    )
    together = _simultaneous(groups[0].pairs.level)
    cells = [_cells(group, digits, together) for group in groups]
    columns = {}
    for name in cells[0]:
        columns[name] = [*chain.from_iterable(part[name] for part in cells)]
    table = Table.of_columns(
        columns,
        hide_empty=("split", "clusters", "flags", "why not", together),
        minor=MINOR,
    )
    seen = dict.fromkeys(chain.from_iterable(part.column("flags") for part in parts))
    flags = [TableNote(line, "flags") for line in meanings(chain.from_iterable(seen))]
    head = (pairs_head(benchmark, metric, higher_is_better), *counted(groups))
    return View((*head, table, *tests(groups), *flags), tuple(notes))


def pairs_head(benchmark: str, metric: str, higher_is_better: bool | None) -> str:
    """A heading that says what the pairs are compared by."""
    return f"{benchmark} by {metric} ({direction(higher_is_better)})"


def counted(groups: Sequence[PairGroup]) -> list[str]:
    """How many pairs of each group differ, in a sentence."""
    return [f"{group.pairs}." for group in groups]


def max_t_words(pairs: PairStatistics) -> str:
    """The method of simultaneous intervals, with its draws, by whose number the ends
    differ a little."""
    if pairs.exact:
        draws = f"all {pairs.n_resamples} signs"
    else:
        draws = f"{pairs.n_resamples} draws, seed {pairs.seed}"
    return f"max-|T|, {draws}"


def tests(groups: Sequence[PairGroup]) -> list[str]:
    """How each group was tested, in a sentence."""
    sentences = []
    for group in groups:
        pairs = group.pairs
        if pairs.over_seeds:
            sentences.append(
                "errors over training seeds and prompts; simultaneous intervals by "
                "Bonferroni"
            )
            continue
        width = f"each at least {pairs.critical_value:.3g} errors to either side"
        if math.isinf(pairs.critical_value):
            width = (
                "none, too few "
                f"{'prompts' if pairs.n_clusters is None else 'clusters'} to tell a "
                "difference"
            )
        together = f"; simultaneous intervals by {max_t_words(pairs)}: {width}"
        errors = "paired, clustered (CR2)"
        if pairs.n_clusters is None:
            errors = "paired"
        by_holm = ""
        if pairs.places_by_holm:
            by_holm = "; p step-down and places by Holm, as the units are few"
        sentences.append(
            "errors "
            f"{errors}{'' if math.isnan(pairs.critical_value) else together}{by_holm}"
        )
    return sentences


def _simultaneous(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _cells(group: PairGroup, digits: int, together: str) -> dict[str, Sequence[Any]]:
    columns, labels = group.columns, group.labels
    differences = columns.column("difference")
    return {
        "split": columns.column("split"),
        "a": columns.of_side("a", labels),
        "b": columns.of_side("b", labels),
        "a - b": numbers(differences, digits, sign=True),
        "se": numbers(columns.column("standard_error"), digits),
        together: intervals(
            columns.column("ci_low"), columns.column("ci_high"), digits, at=differences
        ),
        "p": p_values(columns.column("p_value")),
        "p Holm": p_values(columns.column("p_holm")),
        "p BH": p_values(columns.column("p_bh")),
        "p step-down": p_values(columns.column("p_step_down")),
        "better": columns.better_in_words(),
        "prompts": columns.column("n_prompts"),
        "clusters": columns.column("n_clusters"),
        "correlation": numbers(columns.column("correlation"), 2),
        "flags": columns.column("flags"),
        "why not": columns.column("reason"),
    }
