"""Which records of a benchmark over time stand (statistics.md §28.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from warehouse.analysis.comparison.pairing import NotComparable, Pair, pair_up
from warehouse.analysis.pairs.answer import comparable
from warehouse.analysis.records.days import Dated, dated_entries, days_of
from warehouse.analysis.records.question import RecordsOverTime
from warehouse.analysis.records.row import OF_RELEASE, RecordRow
from warehouse.analysis.records.view import no_record, records_parts
from warehouse.analysis.results import Result, finite_or_none
from warehouse.analysis.selection.benchmarks import Metric, direction_unknown
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    notes_of_row,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import Lead, Record, mcnemar_test, records_over_time
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import counted, some_of, visible


@dataclass(frozen=True)
class RecordsAnswer(Result):
    """The records of a benchmark after its first day, in the order of their days."""

    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool  #: direction of the metric.
    first: str  #: the best row of the first day: the first record.
    first_day: str  #: that day.
    first_estimate: float  #: its figure.
    n_entries: int  #: rows with a day.
    n_days: int  #: different days.
    undated: tuple[str, ...]  #: rows without a day, which are left out.
    by_release: tuple[str, ...]  #: rows of which the day is that of the release.
    is_steps: bool  #: records are held against the one that they replaced.
    rows: tuple[RecordRow, ...]
    notes: tuple[str, ...]  #: what a reader should know of the rows.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    def view(self, *, verbose: bool = False) -> View:
        """How many records stand, which, and by how much each was ahead; with
        ``verbose`` how each was tested."""
        head = visible(f"{self.benchmark} · {self.metric}")
        if not self.rows:
            said = no_record(self.benchmark, self.first, self.first_day)
            return View((head, said), self.notes)
        parts = records_parts(
            self.rows,
            self.benchmark,
            (self.first, self.first_day, self.first_estimate),
            is_steps=self.is_steps,
            is_share=self.is_share,
            verbose=verbose,
        )
        return View((head, *parts), self.notes)


@dataclass
class _Leads:
    """Tests rows against earlier ones by number, as `compare` would: McNemar's exact
    test of right and wrong without clusters, else t."""

    entries: Sequence[Dated]
    scores: BenchmarkScores
    level: float
    #: questions that both have, clusters among them and the test, by both numbers.
    found: dict[tuple[int, int], tuple[int, int | None, str]] = field(
        default_factory=dict
    )

    def __call__(self, new: int, old: int) -> Lead:
        """The lead of a row over an earlier one; not a number where they have no
        question in common."""
        try:
            pair = self._pair(self.entries[new].entry, self.entries[old].entry)
        except NotComparable:
            self.found[new, old] = (0, None, "")
            return Lead(math.nan, None)
        difference = pair.difference(self.level)
        p, test = difference.p_value, "t"
        if pair.clusters is None and not pair.is_ratio and pair.is_zero_one:
            p, test = mcnemar_test(*pair.values).p_value, "mcnemar"
        n_clusters = None
        if pair.clusters is not None:
            n_clusters = len(np.unique(pair.clusters))
        self.found[new, old] = (pair.n, n_clusters, test)
        sign = _sign(pair.metric)
        return Lead(sign * difference.difference, p)

    def _pair(self, new: ScoredCondition, old: ScoredCondition) -> Pair:
        """Both on the questions that both have (NotComparable: there are none)."""
        if new.usable is None or old.usable is None:
            raise NotComparable("no scores of questions")
        pair = pair_up(
            new.condition,
            old.condition,
            new.metric,
            new.usable,
            old.usable,
            self.scores.clusters,
        )
        return replace(pair, trained=(new.is_trained, old.is_trained))


@answers(RecordsOverTime)
def records(store: Store, question: RecordsOverTime) -> RecordsAnswer:
    """Of the rows that are compared with one another, those with a day."""
    scores = select_entries(store, selection_of(question))
    name, metric = scores.benchmark.name, scores.metric
    if metric.higher_is_better is None:
        raise MisuseError(direction_unknown(metric.label, name))
    members, notes = scores.largest_group()
    members = comparable(members, scores)
    dated, undated = dated_entries(members, days_of(store, members))
    _refuse_few(name, dated, undated)
    figures = [_sign(metric) * item.figure for item in dated]
    leads = _Leads(dated, scores, question.level)
    found = records_over_time(
        figures, [item.day.day for item in dated], leads, level=question.level
    )
    by_release = tuple(item.name for item in dated if item.day.day_of == OF_RELEASE)
    first = dated[found.first]
    return RecordsAnswer(
        benchmark=name,
        metric=members[0].metric.label,
        higher_is_better=metric.higher_is_better,
        first=first.name,
        first_day=first.day.day,
        first_estimate=first.figure,
        n_entries=len(dated),
        n_days=found.n_days,
        undated=undated,
        by_release=by_release,
        is_steps=question.steps,
        rows=tuple(_row(record, leads, question) for record in found.records),
        notes=(
            *_notes_on_days(undated, by_release, dated),
            *_notes(scores, members, len(scores.entries) - len(members)),
            *notes,
        ),
        is_share=metric.bounds == (0.0, 1.0),
    )


def _sign(metric: Metric) -> float:
    """1, or −1 of a metric of which lower is better."""
    return -1.0 if metric.higher_is_better is False else 1.0


def _refuse_few(name: str, dated: Sequence[Dated], undated: Sequence[str]) -> None:
    """Refuse rows of fewer than two days (MisuseError)."""
    n_days = len({item.day.day for item in dated})
    if n_days >= 2:
        return
    without = ""
    if undated:
        without = f"; without a day: {some_of(undated)}"
    raise MisuseError(
        f"{name} has rows with scores of questions of {counted(n_days, 'day')}; records "
        f"over time need two at least{without} (a day is that of the run or submission, "
        "else of the model's release: warehouse fix released MODEL YYYY-MM-DD)"
    )


def _row(record: Record, leads: _Leads, question: RecordsOverTime) -> RecordRow:
    """What is known of a record."""
    own = leads.entries[record.entry]
    standing = leads.entries[record.standing]
    replaced = leads.entries[record.replaced]
    condition = own.entry.condition
    benchmark, split = condition.benchmark_split
    n_prompts, n_clusters, test = leads.found[record.entry, record.standing]
    return RecordRow(
        model=condition.model,
        condition=own.entry.label,
        benchmark=benchmark,
        split=split,
        metric=own.entry.metric.label,
        day=own.day.day,
        day_of=own.day.day_of,
        estimate=own.figure,
        standing=standing.entry.condition.model,
        standing_condition=standing.entry.label,
        standing_day=standing.day.day,
        gain=finite_or_none(record.gain),
        p_value=record.p_value,
        test=test,
        n_prompts=n_prompts,
        n_clusters=n_clusters,
        n_entries=record.n_entries,
        p_times_entries=record.p_times_entries,
        needed=record.needed,
        stands=record.stands,
        replaced=replaced.entry.condition.model,
        replaced_condition=replaced.entry.label,
        step_gain=finite_or_none(record.step_gain),
        step_p=record.step_p,
        step_p_holm=record.step_p_holm,
        step_stands=record.step_stands,
        is_shown=record.step_stands if question.steps else record.stands,
        level=question.level,
        run_ids=tuple(condition.run_ids),
    )


def _notes_on_days(
    undated: Sequence[str], by_release: Sequence[str], dated: Sequence[Dated]
) -> list[str]:
    """Where days are from, and who has none."""
    notes = []
    if undated:
        notes.append(f"left out, without a day: {len(undated)} ({some_of(undated)})")
    if by_release:
        notes.append(
            f"day of the model's release, as no run has one: {len(by_release)} "
            f"({some_of(by_release)})"
        )
    several = [item.name for item in dated if item.day.n_days > 1]
    if several:
        notes.append(
            "runs of several days in one row, which has the last of them (--repeats "
            f"split takes them apart): {some_of(several)}"
        )
    return notes


def _notes(
    scores: BenchmarkScores, members: Sequence[ScoredCondition], n_left: int
) -> list[str]:
    """What was left out before days were looked at, and what rows say themselves."""
    notes = []
    if n_left:
        verb = "is" if n_left == 1 else "are"
        notes.append(
            f"{counted(n_left, 'row')} that cannot be compared with these {verb} left "
            "out"
        )
    if scores.clusters.note:
        notes.append(scores.clusters.note)
    notes += scores.notes
    for entry in members:
        notes += [note for note in notes_of_row(entry) if note not in notes]
    return notes
