"""Every figure of a model, with its interval, how it was made, and how far a reference
is from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from warehouse.analysis.card.question import Card
from warehouse.analysis.card.row import CardRow, card_row
from warehouse.analysis.card.view import card_view, verdicts
from warehouse.analysis.compare.answer import Comparison, compare_read
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.read import OnBenchmarks, TwoModels
from warehouse.analysis.leaderboard.hooks import ROWS_ON_PLANS, Line
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.row import make_row
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import (
    find_benchmark,
    read_benchmark,
)
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import BySplit, by_benchmark_split, in_words
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.row_plans import RowPlan
from warehouse.analysis.selection.select import (
    entries_as_rows,
    rows_by_split,
    select_among,
)
from warehouse.analysis.selection.selection import Selection, row_rules, selection_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
from warehouse.records.run_fields import COMMON_FIELDS
from warehouse.store.connection import Store
from warehouse.store.shared_reads import in_blocks, runs_by_benchmark
from warehouse.tables.view import View
from warehouse.tables.words import (
    counted,
)


@dataclass(frozen=True)
class ModelCard(Result):
    """The figures of a model, a row for each condition on each benchmark, by name."""

    model: str  #: name of the model.
    against: str  #: reference of the other model, as given; empty without one.
    rows: tuple[CardRow, ...]
    #: what a reader should know: what was left out, checkpoints that are several.
    notes: tuple[str, ...] = ()

    @property
    def one_line(self) -> str:
        published = sum(row.is_published for row in self.rows)
        own = len(self.rows) - published
        kinds = []
        if own:
            kinds.append(f"{own} from samples")
        if published:
            kinds.append(f"{published} as published")
        n_benchmarks = len({row.benchmark for row in self.rows})
        benchmarks = counted(n_benchmarks, "benchmark")
        figures = counted(len(self.rows), "figure")
        line = f"{self.model}: {benchmarks}, {figures} ({', '.join(kinds)})"
        if self.against:
            line += f"; against {self.against}: {verdicts(self.rows)}"
        return line

    def view(self, *, verbose: bool = False) -> View:
        """Its tables: figures from samples, and apart from them those that sources
        publish."""
        return View(tuple(card_view(self.rows, self.against)), self.notes)


@answers(Card)
def card(store: Store, question: Card) -> ModelCard:
    """Row by row; figures that the sources publish stand beside those from samples only
    where there are no others."""
    store = store.under(None)
    own = _conditions(store, question, question.model)
    rows: list[CardRow] = []
    notes: list[str] = []
    chosen: list[Condition] = []
    runs = runs_by_benchmark(store)
    for name, shared in in_blocks(
        store, {benchmark: runs[benchmark] for benchmark, _ in own}
    ):
        conditions = list(
            chain.from_iterable(
                some for (benchmark, _), some in own.items() if benchmark == name
            )
        )
        try:
            made = list(_rows_on(shared, name, conditions, question, notes))
        except StatisticsError:
            raise
        except MisuseError as error:  # such as a metric that this benchmark has not
            notes.append(str(error))
            continue
        rows += [row for _, row in made]
        chosen += [condition for condition, _ in made]
        if lacking := len(conditions) - len({condition.key for condition, _ in made}):
            notes.append(
                f"{name}: {lacking} of {len(conditions)} conditions have no figure by "
                "the metric"
            )
    if not rows:
        raise MisuseError(
            notes[0]
            if len(notes) == 1
            else f"{question.model!r} has no figure: {'; '.join(notes[:3])}"
        )
    if question.against is not None:
        rows, why = _against(store, question, question.against, chosen, rows)
        notes += why
    notes += _several(rows)
    return ModelCard(chosen[0].model, question.against or "", tuple(rows), tuple(notes))


def _conditions(store: Store, question: Card, reference: str) -> BySplit:
    """The conditions of a model by benchmark and split (MisuseError: nothing fits, or
    several models do)."""
    ids = list(
        chain.from_iterable(
            find_benchmark(store, name).ids for name in question.benchmarks
        )
    )
    where = parse_where(question.where)
    asked = None
    if question.benchmarks:
        asked = ids
    every = by_benchmark_split(store, reference, asked, where)
    found = rows_by_split(store, every, question.metric, row_rules(question))
    if not question.latest:
        return found
    return {
        split: [max(some, key=lambda condition: condition.newest)]
        for split, some in found.items()
    }


def _rows_on(
    store: Store,
    name: str,
    conditions: Sequence[Condition],
    question: Card,
    notes: list[str],
) -> Iterator[tuple[Condition, CardRow]]:
    """The rows of some conditions on a benchmark, as its leaderboard has them: what is
    a part of it, and what a planned subset says of it, is known by all that is stored.
    """
    benchmark = read_benchmark(store, name)
    rules = row_rules(question)
    selection = Selection(name, question.metric, cluster=question.cluster, rows=rules)
    selected = select_among(store, benchmark, selection)
    if selected.policy.text:
        notes.append(f"{name}: policy {selected.policy.text}")
    plans = [RowPlan.of(condition, rules) for condition in conditions]
    entries = entries_as_rows(store, plans, selected.metrics, selected.clusters, rules)
    ranking = question.shared_with(OneLeaderboard, benchmark=name, n_resamples=0)
    own = replace(selected, entries=tuple(entries), conditions=tuple(conditions))
    lines: list[Line] = [
        (
            entry,
            make_row(
                entry, selected.clusters, ranking, selected.coverages[entry.group]
            ),
        )
        for entry in entries
    ]
    if own.plans is not None:
        plain, planned = ROWS_ON_PLANS.load()(own, ranking).divide(lines)
        lines = [*plain, *planned]
    for entry, row in sorted(lines, key=_sort_key):
        yield entry.condition, card_row(row, entry.condition, entry.metric)


def _sort_key(line: Line) -> tuple[str, float, str]:
    """By split, along training, then by settings."""
    condition = line[0].condition
    return (
        condition.benchmark_split[1],
        condition.setting("position") or 0.0,
        line[1].condition,
    )


def _against(
    store: Store,
    question: Card,
    reference: str,
    conditions: Sequence[Condition],
    rows: Sequence[CardRow],
) -> tuple[list[CardRow], list[str]]:
    """The rows with the differences from a reference, each from its condition of the
    same settings; and notes."""
    others = _conditions(store, question, reference)
    partners = [
        _partner(condition, others.get(condition.benchmark_split, ()))
        for condition in conditions
    ]
    models = TwoModels(
        store,
        question.model,
        reference,
        selection_of(question),
        force=False,
        infinite_ok=True,
    )
    both = tuple(
        models.on_one(models.pair, condition, other)
        for condition, other, row in zip(conditions, partners, rows, strict=True)
        if isinstance(other, Condition) and not row.is_published
    )
    compared: Comparison | None = None
    notes: list[str] = []
    if both:
        try:
            compare = question.shared_with(Compare, a=question.model, b=reference)
            compared = compare_read(store, OnBenchmarks(both, ()), compare).comparison
            notes += compared.notes
        except MisuseError as error:  # nothing to compare, or two policies
            notes.append(f"no difference from {reference}: {error}")
    by_runs = {
        (row.runs_a, row.metric): row for row in (compared.rows if compared else ())
    }
    made = []
    for row, partner, condition in zip(rows, partners, conditions, strict=True):
        where = f"{in_words(condition.benchmark_split)}: "
        refused = [
            why.removeprefix(where)
            for why in (compared.left_out if compared else ())
            if why.startswith(where)
        ]
        paired = by_runs.get((condition.run_ids, row.metric))
        made.append(row.against(paired, refused[0] if refused else _why(partner, row)))
    return made, notes


def _partner(condition: Condition, others: Sequence[Condition]) -> Condition | str:
    """The reference's condition of the same settings, or why there is none."""
    if len(others) < 2:
        if others:
            return others[0]
        return "the reference lacks it"
    same = []
    for other in others:
        if all(
            other.setting(name) == condition.setting(name) for name in COMMON_FIELDS
        ):
            same.append(other)
    if len(same) == 1:
        return same[0]
    return f"the reference has {len(same) or len(others)} conditions there (--latest)"


def _why(partner: Condition | str, row: CardRow) -> str:
    if isinstance(partner, str):
        return partner
    if row.is_published:
        return "published figures cannot be paired"
    return "not compared"


def _several(rows: Sequence[CardRow]) -> list[str]:
    """A note that a card is of several weights, and how to take one."""
    fields = {
        "checkpoint": "MODEL@CHECKPOINT",
        "training_seed": "--where training_seed=...",
    }
    several = {}
    for name in fields:
        several[name] = len({getattr(row, name) for row in rows} - {""})
    return [
        f"{n} {name}s stand side by side; {fields[name]} takes one"
        for name, n in several.items()
        if n > 1
    ]
