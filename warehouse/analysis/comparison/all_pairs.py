"""All pairs of the conditions on one benchmark, adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.words import better_in_words, not_compared_notes
from warehouse.analysis.results import PairedRow, Result, finite_or_none
from warehouse.analysis.selection.benchmarks import Metric, advise_others, direction_unknown
from warehouse.analysis.selection.clusterings import outside_clusters
from warehouse.analysis.selection.score_matrix import LastPairs, RankedPairs, ScoreTable, score_table, too_many
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    is_partial,
    list_editions,
    select_entries,
)
from warehouse.analysis.selection.scores import mixed_scales
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.comparison import AllPairs
from warehouse.questions.question import answers
from warehouse.stats import AllPairs as PairStatistics
from warehouse.stats import Ranks, pair_flags, paired_flags
from warehouse.stats.core.inputs import rejects
from warehouse.store.connection import Store
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import decimals, direction, interval, meanings, number, p_value


@dataclass(frozen=True)
class PairRow(PairedRow):
    """The difference of two conditions on the prompts that both have, first minus second.

    The better one by its figure comes first.
    """

    mean_a: float | None  #: figure of the first over its own scored prompts.
    mean_b: float | None  #: figure of the second over its own scored prompts.
    difference: float | None  #: mean of first minus second over the common prompts.
    standard_error: float | None  #: paired; CR2 with clusters. None where 0 or not defined.
    #: lower end of the simultaneous interval (max-|T|): all intervals of the group hold together at the level.
    ci_low: float | None
    ci_high: float | None  #: upper end of it.
    level: float  #: of the intervals; 1 - level is the size of the tests.
    p_value: float | None  #: two-sided t test of this pair alone.
    p_holm: float | None  #: Holm's adjustment over all pairs of the group.
    p_bh: float | None  #: Benjamini and Hochberg's.
    p_step_down: float | None  #: from random signs of all pairs together, step by step (max-|T|); at least ``p_value``.
    p_max_t: float | None  #: ``p_step_down``, under its former name.
    #: ``"a"`` or ``"b"`` where Holm's p is at most 1 - level, by the metric's direction; empty where it is not or the
    #: direction is unknown.
    better: str
    correlation: float | None  #: of the two over the common prompts.
    n_prompts: int  #: prompts that both have a score of.
    n_clusters: int | None  #: clusters among them; None without clusters.
    n_pairs: int  #: pairs of the group that were adjusted for.
    n_resamples: int  #: draws of max-|T|; all vectors of signs, where these are no more than were asked for.
    seed: int  #: of the draws.
    #: of max-|T|, by which errors are multiplied; None without draws, and where there are too few prompts (clusters) to
    #: tell any difference.
    critical_value: float | None
    reason: str  #: why there is no error, empty where there is one.
    runs_a: tuple[int, ...]  #: ids of the runs of the first.
    runs_b: tuple[int, ...]  #: ids of the runs of the second.
    flags: tuple[str, ...] = ()  #: warnings, as a comparison of the pair gives them.


def _label(model: str, condition: str) -> str:
    """A name for a condition, with its settings in brackets."""
    return f"{model} ({condition})" if condition else model


@dataclass(frozen=True)
class PairGroup:
    """Conditions that can be compared with one another, best figure first."""

    split: str  #: part of the benchmark.
    task_version: str  #: of the benchmark's definition, empty if unknown.
    metric: str  #: name of the metric, with its filter.
    models: tuple[str, ...]  #: name of the model of each condition.
    conditions: tuple[str, ...]  #: settings that tell conditions apart.
    tested: RankedPairs  #: all pairs, and what they say about places.

    @property
    def pairs(self) -> PairStatistics:
        """The statistics of all pairs."""
        return self.tested.pairs

    @property
    def ranks(self) -> Ranks:
        """What they say about places."""
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


def pair_rows(
    entries: Sequence[ScoredCondition],
    pairs: PairStatistics,
    table: ScoreTable | None = None,
    *,
    only_first: bool = False,
) -> Iterator[PairRow]:
    """The rows of all pairs of ``entries``, which are the models of ``pairs`` in order.

    Args:
        table: the scores behind them, for the flags; None: no flags.
        only_first: the pairs of the first entry alone: a page that shows no others shall not hold them.
    """
    n_rows = len(entries) - 1 if only_first else len(pairs)
    flags = [()] * n_rows if table is None else _flags(table, pairs, entries[0].metric)
    better = _better(pairs, entries[0].metric.higher_is_better, n_rows)
    benchmark, split = entries[0].condition.benchmark_split
    group: dict[str, Any] = {
        "benchmark": benchmark,
        "split": split,
        "metric": entries[0].metric.label,
        "level": pairs.level,
        "n_pairs": int(np.count_nonzero(~np.isnan(pairs.p_value))),
        "n_resamples": pairs.n_resamples,
        "seed": pairs.seed,
        "critical_value": finite_or_none(pairs.critical_value),
    }
    sides = [_side(entry, mean) for entry, mean in zip(entries, pairs.means.tolist(), strict=True)]
    for pair, figures in enumerate(_figures(pairs, n_rows)):
        first, second = int(pairs.first[pair]), int(pairs.second[pair])
        (model_a, condition_a, mean_a, runs_a), (model_b, condition_b, mean_b, runs_b) = sides[first], sides[second]
        yield PairRow(
            model_a=model_a,
            condition_a=condition_a,
            mean_a=mean_a,
            runs_a=runs_a,
            model_b=model_b,
            condition_b=condition_b,
            mean_b=mean_b,
            runs_b=runs_b,
            better=better[pair],
            reason=pairs.reasons[pair],
            flags=flags[pair],
            **group,
            **figures,
        )


def _side(entry: ScoredCondition, mean: float) -> tuple[str, str, float | None, tuple[int, ...]]:
    """What the rows of a condition share: its model, its settings, its figure, its runs."""
    return entry.condition.model, entry.label, finite_or_none(mean), entry.condition.run_ids


def _flags(table: ScoreTable, pairs: PairStatistics, metric: Metric) -> list[tuple[str, ...]]:
    """The flags of each pair."""
    ends = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    if metric.link == "identity" and not table.is_weighted:
        found = pair_flags(table.values, pairs.first, pairs.second, table.clusters, bounds=table.bounds)
        shared = _shared_outside(table)
        if shared is None:
            return found
        return [own + ("prompts_outside_clusters",) * bool(shared[pair]) for own, pair in zip(found, ends, strict=True)]
    weights = (None,) * len(pairs.means) if table.weights is None else table.weights.T
    return [
        paired_flags(
            table.values[:, a],
            table.values[:, b],
            table.clusters,
            bounds=table.bounds,
            weights_a=weights[a],
            weights_b=weights[b],
        )
        + outside_clusters(table.clusters)
        for a, b in ends
    ]


def _shared_outside(table: ScoreTable) -> NDArray[np.bool_] | None:
    """Which two models share a prompt that is in no cluster, shape (M, M); None where all are in one."""
    if table.clusters is None or not outside_clusters(table.clusters):
        return None
    scored = ~np.isnan(table.values[table.clusters < 0])
    return scored.T @ scored


def _figures(pairs: PairStatistics, n_rows: int) -> Iterator[dict[str, Any]]:
    """Figures of each of the first rows by field; None for NaN and infinity."""
    names = ("difference", "standard_error", "p_value", "p_holm", "p_bh", "p_step_down", "correlation")
    columns = {name: name for name in names} | {"p_max_t": "p_step_down"}
    columns |= {"ci_low": "simultaneous_low", "ci_high": "simultaneous_high"}
    found: dict[str, list[Any]] = {
        field: np.asarray(np.where(np.isfinite(values), values, None)).tolist()
        for field, name in columns.items()
        for values in [getattr(pairs, name)[:n_rows]]
    }
    found["n_prompts"] = pairs.n_prompts[:n_rows].tolist()
    found["n_clusters"] = [None] * n_rows if pairs.n_clusters is None else pairs.n_clusters[:n_rows].tolist()
    return (dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True))


def _better(pairs: PairStatistics, higher_is_better: bool | None, n_rows: int) -> list[str]:
    """``a``, ``b`` or empty for each of the first rows."""
    if higher_is_better is None:
        return [""] * n_rows
    first = (pairs.difference[:n_rows] > 0) == higher_is_better
    return [
        ("a" if is_first else "b") if differs else ""
        for differs, is_first in zip(pairs.differ[:n_rows].tolist(), first.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class Pairs(Result):
    """All pairs on a benchmark, the largest group first; in each the better condition first."""

    ROW = PairRow

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool | None  #: direction; None if unknown (then higher is first).
    rows: tuple[PairRow, ...]
    groups: tuple[PairGroup, ...]  #: conditions that were compared with one another.
    notes: tuple[str, ...]  #: what was left out, and how the tests were adjusted.

    @property
    def one_line(self) -> str:
        """The result in one line."""
        separated = sum(rejects(row.p_holm, 1 - row.level) for row in self.rows)
        models = sum(len(group.models) for group in self.groups)
        counts = f"{models} conditions, {len(self.rows)} pairs, {separated} differ by Holm"
        return f"{self.benchmark} by {self.metric}: {counts}"

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, how the pairs were tested, and what was left out."""
        return pairs_view(self.benchmark, self.metric, self.higher_is_better, self.rows, self.groups, self.notes)

    def to_dict(self) -> dict[str, object]:
        """Fields by name, without the groups (their figures are in the rows)."""
        own = {name: getattr(self, name) for name in ("benchmark", "metric", "higher_is_better")}
        return own | {"rows": [row.to_dict() for row in self.rows], "notes": list(self.notes)}


@answers(AllPairs)
def pairs(store: Store, question: AllPairs) -> Pairs:
    """Conditions are those of the leaderboard: compared within one split, task version, metric and
    judge; published figures have no prompts to pair; a part of the benchmark is not compared with
    runs that have all of it. Adjustments are over the pairs of one group.
    """
    return pairs_of(
        select_entries(store, selection_of(question)),
        level=question.level,
        n_resamples=question.n_resamples,
        seed=question.seed,
        with_flags=question.with_flags,
    )


def pairs_of(
    scores: BenchmarkScores, *, level: float, n_resamples: int, seed: int, with_flags: bool, only_first: bool = False
) -> Pairs:
    """`pairs` of scores that were read, or the rows `only_first` of each group; asks the store nothing.

    Raises:
        MisuseError: fewer than two conditions that can be compared.
        StatisticsError: ``n_resamples`` or ``seed`` out of range.
    """
    chosen = [order_entries(comparable(members, scores)) for members in scores.groups().values()]
    sizable = sorted((members for members in chosen if len(members) > 1), key=len, reverse=True)
    if not sizable:
        why = [f"{scores.benchmark.name} has no two conditions that can be compared", *_left_out(scores, chosen)]
        raise MisuseError("; ".join(why) + advise_others(scores.others))
    groups: list[PairGroup] = []
    rows: list[PairRow] = []
    notes = _notes(scores, chosen, sizable)
    for members in sizable:
        if too := too_many(len(members)):
            notes.append(too)
            continue
        table = score_table(members, scores.clusters)
        if not len(table.prompts):
            notes.append(f"{len(members)} conditions have no prompt in common")
            continue
        rising = members[0].metric.higher_is_better is not False
        found = LastPairs.among(scores).of(
            table, level=level, n_resamples=n_resamples, seed=seed, higher_is_better=rising
        )
        groups.append(_group(members, found))
        rows += pair_rows(members, found.pairs, table if with_flags else None, only_first=only_first)
        notes += [table.note] if table.note else []
        notes += not_compared_notes(zip(groups[-1].labels, found.apart, strict=True))
    if not groups:
        raise MisuseError(f"{scores.benchmark.name}: {notes[-1]}")
    name, metric = scores.benchmark.name, scores.metric
    if metric.higher_is_better is None and any(group.pairs.differ.any() for group in groups):
        notes.append(direction_unknown(metric.label, name))
    return Pairs(name, metric.label, metric.higher_is_better, tuple(rows), tuple(groups), tuple(notes))


def _notes(
    scores: BenchmarkScores, chosen: Sequence[Sequence[ScoredCondition]], sizable: Sequence[Sequence[ScoredCondition]]
) -> list[str]:
    """What is to be said before any pair is formed."""
    editions = list_editions(entry for members in sizable for entry in members)
    notes = _left_out(scores, chosen) + [scores.clusters.note] * bool(scores.clusters.note)
    name, entries = scores.benchmark.name, (entry for members in sizable for entry in members)
    notes += mixed_scales((name, entry.metric, entry.usable) for entry in entries if entry.usable is not None)
    return notes + ([f"conditions differ in {editions} takes one alone"] if editions else [])


def comparable(entries: Sequence[ScoredCondition], scores: BenchmarkScores) -> list[ScoredCondition]:
    """Those of one group that have prompts to pair, and all of them where a part will do.

    Where no entry is complete all are compared, as the leaderboard ranks them.
    """
    usable = [entry for entry in entries if entry.usable is not None]
    complete = [entry for entry in usable if not is_partial(coverage_flags(entry, scores.coverages[entry.group]))]
    return usable if scores.subset_ok or not complete else complete


def order_entries(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """The better figure first; ties by name."""

    def order(entry: ScoredCondition) -> tuple[float, str, str]:
        scores, metric = entry.usable, entry.metric
        if scores is None:
            return np.inf, entry.condition.model, entry.label
        mean = float(np.average(scores.values, weights=scores.weights))
        rising = (metric.link == "identity") == (metric.higher_is_better is not False)
        return -mean if rising else mean, entry.condition.model, entry.label

    return sorted(entries, key=order)


def _group(members: Sequence[ScoredCondition], found: RankedPairs) -> PairGroup:
    models = tuple(entry.condition.model for entry in members)
    labels = tuple(entry.label for entry in members)
    split, version, metric = members[0].group[:3]
    return PairGroup(split, version, metric, models, labels, found)


def _left_out(scores: BenchmarkScores, chosen: Sequence[Sequence[ScoredCondition]]) -> list[str]:
    """What of the benchmark is in no pair, and why."""
    paired = {id(entry) for members in chosen if len(members) > 1 for entry in members}
    reasons: dict[str, list[str]] = {}
    for entry in scores.entries:
        if id(entry) not in paired:
            reasons.setdefault(why_not(entry, scores), []).append(entry.condition.model)
    more = {why: f" and {len(models) - 3} more" if len(models) > 3 else "" for why, models in reasons.items()}
    notes = [f"left out, {why}: {', '.join(models[:3])}{more[why]}" for why, models in reasons.items()]
    if sum(len(members) > 1 for members in chosen) > 1:
        notes.append(
            "conditions differ in split, task version, metric or judge; each group is compared and adjusted alone"
        )
    return notes


def why_not(entry: ScoredCondition, scores: BenchmarkScores) -> str:
    """Why an entry stands in no pair."""
    if entry.stopped is not None:
        return "stopped early because of their scores"
    if entry.usable is None:
        return "no scored prompts to pair"
    if is_partial(coverage_flags(entry, scores.coverages[entry.group])):
        return "a part of the benchmark only (subset_ok compares it)"
    return "nothing comparable beside it"


#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("correlation", "p", "p BH", "prompts", "clusters", "se", "p step-down", "split", "p Holm")


def pairs_view(
    benchmark: str,
    metric: str,
    higher_is_better: bool | None,
    rows: Sequence[PairRow],
    groups: Sequence[PairGroup],
    notes: Sequence[str],
) -> View:
    """The rows of each group with its conditions' labels, and how they were tested."""
    digits = decimals(row.standard_error for row in rows)
    hide_empty = ("split", "clusters", "flags", "why not", _simultaneous(rows[0].level))
    table = Table.of([_cells(row, digits) for row in rows], hide_empty=hide_empty, minor=MINOR)
    flags = [TableNote(line, "flags") for line in meanings(flag for row in rows for flag in row.flags)]
    head = (pairs_head(benchmark, metric, higher_is_better), *counted(groups))
    return View((*head, table, *tests(groups), *flags), tuple(notes))


def pairs_head(benchmark: str, metric: str, higher_is_better: bool | None) -> str:
    """What the pairs are compared by."""
    return f"{benchmark} by {metric} ({direction(higher_is_better)})"


def counted(groups: Sequence[PairGroup]) -> list[str]:
    """How many pairs of each group differ, in a sentence."""
    return [f"{group.pairs}." for group in groups]


def tests(groups: Sequence[PairGroup]) -> list[str]:
    """How each group was tested, in a sentence."""
    sentences = []
    for group in groups:
        pairs = group.pairs
        width = f"{pairs.critical_value:.3g} errors each side or more"
        if math.isinf(pairs.critical_value):
            width = f"none, too few {'prompts' if pairs.n_clusters is None else 'clusters'} to tell a difference"
        draws = f"all {pairs.n_resamples} signs" if pairs.exact else f"{pairs.n_resamples} draws, seed {pairs.seed}"
        together = f"; simultaneous intervals by max-|T|, {draws}: {width}"
        errors = "paired" if pairs.n_clusters is None else "paired, clustered (CR2)"
        sentences.append(f"errors {errors}{'' if math.isnan(pairs.critical_value) else together}")
    return sentences


def _simultaneous(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _cells(row: PairRow, digits: int) -> dict[str, Any]:
    return {
        "split": row.split,
        "a": _label(row.model_a, row.condition_a),
        "b": _label(row.model_b, row.condition_b),
        "a - b": number(row.difference, digits, sign=True),
        "se": number(row.standard_error, digits),
        _simultaneous(row.level): interval(row.ci_low, row.ci_high, digits, at=row.difference),
        "p": p_value(row.p_value),
        "p Holm": p_value(row.p_holm),
        "p BH": p_value(row.p_bh),
        "p step-down": p_value(row.p_step_down),
        "better": better_in_words(row),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "correlation": number(row.correlation, 2),
        "flags": row.flags,
        "why not": row.reason,
    }
