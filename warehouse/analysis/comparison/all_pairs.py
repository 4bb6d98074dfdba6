"""All pairs of the conditions on one benchmark, adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.comparison.all_pairs_row import PairRow, pair_rows, pairs_view
from warehouse.analysis.comparison.pair_group import PairGroup, others_apart
from warehouse.analysis.comparison.words import direction_remarks, not_compared_notes
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import advise_others
from warehouse.analysis.selection.score_matrix import score_table, tested_pairs
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    is_partial,
    list_editions,
    select_entries,
)
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.comparison import AllPairs
from warehouse.questions.question import answers
from warehouse.stats import AllPairs as PairStatistics
from warehouse.stats import rank_models
from warehouse.stats.core.rejects import rejects
from warehouse.store.connection import Store
from warehouse.tables.view import View


@dataclass(frozen=True)
class Pairs(Result):
    """All pairs on a benchmark, the largest group first; in each the better condition first.

    Attributes:
        benchmark: name of the benchmark.
        metric: name of the metric, with its filter.
        higher_is_better: direction; None if unknown (then higher is first).
        groups: conditions that were compared with one another.
        notes: what was left out, and how the tests were adjusted.
    """

    ROW = PairRow

    benchmark: str
    metric: str
    higher_is_better: bool | None
    rows: tuple[PairRow, ...]
    groups: tuple[PairGroup, ...]
    notes: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        separated = sum(rejects(row.p_holm, 1 - row.level) for row in self.rows)
        models = sum(len(group.models) for group in self.groups)
        return (
            f"{self.benchmark} by {self.metric}: {models} conditions, {len(self.rows)} pairs,"
            f" {separated} differ by Holm"
        )

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
    scores = select_entries(store, selection_of(question))
    return pairs_of(
        scores,
        level=question.level,
        n_resamples=question.n_resamples,
        seed=question.seed,
        with_flags=question.with_flags,
    )


def pairs_of(scores: BenchmarkScores, *, level: float, n_resamples: int, seed: int, with_flags: bool) -> Pairs:
    """`pairs` of scores that were read; asks the store nothing.

    Raises:
        MisuseError: fewer than two conditions that can be compared.
        StatisticsError: ``n_resamples`` or ``seed`` out of range.
    """
    chosen = {group: order_entries(comparable(members, scores)) for group, members in scores.groups().items()}
    sizable = sorted((m for m in chosen.values() if len(m) > 1), key=len, reverse=True)
    if not sizable:
        raise MisuseError(_too_few(scores, list(chosen.values())))
    groups: list[PairGroup] = []
    rows: list[PairRow] = []
    notes = _left_out(scores, list(chosen.values()))
    notes += [scores.clusters.note] if scores.clusters.note else []
    if editions := list_editions(entry for members in sizable for entry in members):
        notes.append(f"conditions differ in {editions} takes one alone")
    for members in sizable:
        table = score_table(members, scores.clusters)
        if not len(table.prompts):
            notes.append(f"{len(members)} conditions have no prompt in common")
            continue
        figures = tested_pairs(
            table,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            higher_is_better=members[0].metric.higher_is_better is not False,
        )
        groups.append(_group(members, figures))
        rows += pair_rows(members, figures, table if with_flags else None)
        notes += [table.note] if table.note else []
        notes += not_compared_notes(zip(groups[-1].labels, others_apart(figures), strict=True))
    if not groups:
        raise MisuseError(f"{scores.benchmark.name}: {notes[-1]}")
    return Pairs(
        benchmark=scores.benchmark.name,
        metric=scores.metric.label,
        higher_is_better=scores.metric.higher_is_better,
        rows=tuple(rows),
        groups=tuple(groups),
        notes=(*notes, *(direction_remarks(rows) if scores.metric.higher_is_better is None else ())),
    )


def comparable(entries: Sequence[ScoredCondition], scores: BenchmarkScores) -> list[ScoredCondition]:
    """Those of one group that have prompts to pair, and all of them where a part will do.

    Where no entry is complete all are compared, as the leaderboard ranks them.
    """
    usable = [entry for entry in entries if entry.usable is not None]
    complete = [entry for entry in usable if not is_partial(coverage_flags(entry, scores.coverages[entry.group]))]
    return usable if scores.subset_ok or not complete else complete


def order_entries(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """The better figure first; ties by name."""

    def place(entry: ScoredCondition) -> tuple[float, str, str]:
        scores, metric = entry.usable, entry.metric
        if scores is None:
            return np.inf, entry.condition.model, entry.label
        mean = float(np.average(scores.values, weights=scores.weights))
        rising = (metric.link == "identity") == (metric.higher_is_better is not False)
        return -mean if rising else mean, entry.condition.model, entry.label

    return sorted(entries, key=place)


def _group(members: Sequence[ScoredCondition], figures: PairStatistics) -> PairGroup:
    split, task_version, label = members[0].group[:3]
    return PairGroup(
        split=split,
        task_version=task_version,
        metric=label,
        models=tuple(entry.condition.model for entry in members),
        conditions=tuple(entry.label for entry in members),
        pairs=figures,
        ranks=rank_models(figures),
    )


def _left_out(scores: BenchmarkScores, chosen: Sequence[Sequence[ScoredCondition]]) -> list[str]:
    """What of the benchmark is in no pair, and why."""
    paired = {id(entry) for members in chosen if len(members) > 1 for entry in members}
    reasons: dict[str, list[str]] = {}
    for entry in scores.entries:
        if id(entry) not in paired:
            reasons.setdefault(_why_not(entry, scores), []).append(entry.condition.model)
    notes = [f"left out, {why}: {_some(models)}" for why, models in reasons.items()]
    if sum(len(members) > 1 for members in chosen) > 1:
        notes.append(
            "conditions differ in split, task version, metric or judge; each group is compared and adjusted alone"
        )
    return notes


def _why_not(entry: ScoredCondition, scores: BenchmarkScores) -> str:
    if entry.stopped is not None:
        return "stopped early because of their scores"
    if entry.usable is None:
        return "no scored prompts to pair"
    if is_partial(coverage_flags(entry, scores.coverages[entry.group])):
        return "a part of the benchmark only (subset_ok compares it)"
    return "nothing comparable beside it"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _too_few(scores: BenchmarkScores, chosen: Sequence[Sequence[ScoredCondition]]) -> str:
    reasons = [f"{scores.benchmark.name} has no two conditions that can be compared"]
    return "; ".join([*reasons, *_left_out(scores, chosen)]) + advise_others(scores.others)
