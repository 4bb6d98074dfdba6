"""Every figure of a model, with its interval, how it was made, and how far a reference
is from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from warehouse.analysis.card.question import Card
from warehouse.analysis.compare.answer import Comparison, compare_read
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.pairing import NotComparable
from warehouse.analysis.comparison.read import OnBenchmarks, TwoModels
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.comparison.words import NO_VERDICT, better_in_words
from warehouse.analysis.leaderboard.hooks import ROWS_ON_PLANS, Line
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow, make_row
from warehouse.analysis.results import Column, Result, Row
from warehouse.analysis.selection.benchmarks import (
    Metric,
    find_benchmark,
    read_benchmark,
)
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import (
    BySplit,
    by_benchmark_split,
    in_words,
    parse_where,
)
from warehouse.analysis.selection.rows import RowPlan
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
from warehouse.tables.view import Table, View
from warehouse.tables.words import (
    WrittenNumber,
    cell,
    counted,
    decimals,
    interval,
    level_column,
    number,
    p_value,
)

#: What a sentence says where it is the same in all rows, and otherwise a column.
_ONCE = (
    "metric",
    "unit",
    "shots",
    "temperature",
    "checkpoint",
    "seed",
    "harness",
    "date",
    "method",
)
_HIDE_EMPTY = (
    "prompts",
    "split",
    "condition",
    "clusters",
    "generations",
    "p",
    "p Holm",
    "flags",
    *_ONCE,
)
#: Characters of a checkpoint's name, which may be a hash.
LONGEST = 20
#: Columns that a narrow page drops, the first of them first; Markdown has all.
_MINOR = (
    *(
        "method",
        "harness",
        "unit",
        "temperature",
        "date",
        "generations",
        "checkpoint",
        "seed",
        "clusters",
        "shots",
    ),
    *(
        "common prompts",
        "p",
        "se",
        "metric",
        "flags",
        "split",
        "interval of the difference",
        "prompts",
    ),
)
OWN = "From samples; each figure can be recomputed."
AS_PUBLISHED = "As their sources publish them; no sample here recomputes these figures."


def verdicts(rows: Sequence[CardRow]) -> str:
    """How often the model is better, worse, or cannot be told apart."""
    counts = Counter(
        row.verdict.partition(":")[0] for row in rows if row.paired is not None
    )
    named = [f"{verdict} on {n}" for verdict, n in sorted(counts.items())]
    rest = sum(row.paired is None for row in rows)
    if rest:
        left_out = [f"not compared on {rest}"]
    else:
        left_out = []
    return ", ".join([*named, *left_out])


def card_view(rows: Sequence[CardRow], against: str) -> Iterator[str | Table]:
    """Figures from samples, and those of others, each a table with what it says once."""
    for sentence, some in (
        (OWN, [row for row in rows if not row.is_published]),
        (AS_PUBLISHED, [row for row in rows if row.is_published]),
    ):
        if some:
            yield from _part(sentence, some, against)
            yield ""


def _part(
    sentence: str, rows: Sequence[CardRow], against: str
) -> Iterator[str | Table]:
    cells = [_cells(row, against) for row in rows]
    once = {}
    for name in _ONCE:
        if len({str(row[name]) for row in cells}) == 1:
            once[name] = cells[0][name]
    said = [
        f"{name} {cell(value)}"
        for name, value in once.items()
        if value not in (None, "")
    ]
    listing = ""
    if said:
        listing = f" All: {', '.join(said)}."
    yield sentence + listing
    for row in cells:
        for name in once:
            del row[name]
    yield Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    if against and any(row.paired for row in rows):
        holm = ""
        if any(row.p_holm is not None for row in rows):
            holm = "; p Holm is adjusted for the number of tests"
        yield (
            f"difference: this model minus {against} on the prompts that both "
            f"answered, paired{holm}"
        )


def _cells(row: CardRow, against: str) -> dict[str, Any]:
    digits = decimals([row.standard_error])
    written = number if row.standard_error else _as_it_is
    if against:
        difference = _difference(row)
    else:
        difference = {}
    generations = None
    if row.n_draws not in (0, row.n_prompts):
        generations = row.n_draws
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "condition": ", ".join(
            part for part in row.condition.split(", ") if not part.startswith("split=")
        ),
        "metric": row.metric
        + {True: "", False: " (lower is better)", None: " (direction unknown)"}[
            row.higher_is_better
        ],
        "unit": row.unit,
        "estimate": written(row.estimate, digits),
        "se": number(row.standard_error, digits),
        level_column(row.level): interval(
            row.ci_low, row.ci_high, digits, at=row.estimate
        ),
        **difference,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "generations": generations,
        "shots": row.fewshot,
        "temperature": row.temperature,
        "checkpoint": ""
        if row.checkpoint in row.condition
        else row.checkpoint[:LONGEST],
        "seed": row.training_seed,
        "harness": row.harness,
        "date": row.date,
        "method": "" if row.is_published else row.method,
        "flags": _flags(row),
    }


def _as_it_is(value: float | None, _digits: int) -> WrittenNumber | None:
    """A figure without an error: as its source has it, to six digits."""
    if value is None:
        return None
    return WrittenNumber(f"{value:.6g}")


def _flags(row: CardRow) -> list[str]:
    """Warnings, the number of what lacks a score among them, and why there is no
    figure."""
    flags = [
        f"{row.n_unscored} unscored" if flag == "unscored" else flag
        for flag in row.flags
        if flag != "published"
    ]
    if row.estimate is not None:
        return flags
    return [*flags, row.reason]


def _difference(row: CardRow) -> dict[str, Any]:
    digits = decimals([row.difference_standard_error])
    p = None
    if row.p_holm is None:
        p = p_value(row.p_value)
    return {
        "difference": number(row.difference, digits, sign=True),
        "interval of the difference": interval(
            row.difference_ci_low, row.difference_ci_high, digits
        ),
        "p": p,
        "p Holm": p_value(row.p_holm),
        "verdict": row.verdict,
        "common prompts": row.n_common,
    }


#: A figure of this method is its source's own: nothing here recomputes it.
PUBLISHED = "published"
_VERDICTS = {
    "a": "better",
    "b": "worse",
    "neither": "cannot be told apart",
    "not known": "differs, direction unknown",
}


@dataclass(frozen=True)
class CardRow(Row):
    """The figure of one condition on one benchmark, and the difference from a
    reference.

    What is not said here has the meaning that it has in its leaderboard (`figure`) or
    comparison (`paired`).
    """

    benchmark: ClassVar[Column[str]] = Column("figure.benchmark")
    split: ClassVar[Column[str]] = Column("figure.split")
    condition: ClassVar[Column[str]] = Column("figure.condition")
    metric: ClassVar[Column[str]] = Column("figure.metric")
    #: of the figure: as it is stored, ``share of 1`` or ``LOW to HIGH`` by the metric's
    #: bounds; empty: unknown.
    unit: str
    higher_is_better: bool | None  #: direction of the metric; None if unknown.
    estimate: ClassVar[Column[float | None]] = Column("figure.estimate")
    standard_error: ClassVar[Column[float | None]] = Column("figure.standard_error")
    ci_low: ClassVar[Column[float | None]] = Column("figure.ci_low")
    ci_high: ClassVar[Column[float | None]] = Column("figure.ci_high")
    level: ClassVar[Column[float]] = Column("figure.level")
    #: prompts with a score; of a published figure as published, None if unknown.
    n_prompts: int | None
    n_clusters: ClassVar[Column[int | None]] = Column("figure.n_clusters")
    n_draws: ClassVar[Column[int]] = Column("figure.n_draws")
    n_unscored: ClassVar[Column[int]] = Column("figure.n_unscored")
    runs: ClassVar[Column[int]] = Column("figure.runs")
    #: of the interval; ``published``: the source's own figure, which no sample here
    #: gives.
    method: ClassVar[Column[str]] = Column("figure.method")
    flags: ClassVar[Column[tuple[str, ...]]] = Column("figure.flags")
    reason: ClassVar[Column[str]] = Column("figure.reason")
    model: ClassVar[Column[str]] = Column("figure.model")
    checkpoint: str  #: revision or key of the weights, or the position in training; empty if unknown.
    training_seed: str  #: label of the trained replicate.
    harness: str  #: tool and version that made the runs.
    fewshot: int | None  #: examples in the prompt; None if unknown.
    temperature: float | None  #: of the sampling; None if unknown.
    date: str  #: day on which the newest of the runs began [UTC]; empty if unknown.
    reference: ClassVar[Column[str]] = Column("paired.model_b", "")
    #: mean of this model minus the reference's, on common prompts.
    difference: ClassVar[Column[float | None]] = Column("paired.difference")
    difference_standard_error: ClassVar[Column[float | None]] = Column(
        "paired.standard_error"
    )
    difference_ci_low: ClassVar[Column[float | None]] = Column("paired.ci_low")
    difference_ci_high: ClassVar[Column[float | None]] = Column("paired.ci_high")
    n_common: ClassVar[Column[int | None]] = Column("paired.n_prompts")
    p_value: ClassVar[Column[float | None]] = Column("paired.p_value")
    #: adjusted for the number of benchmarks; None with one.
    p_holm: ClassVar[Column[float | None]] = Column("paired.p_holm")
    verdict: str  #: ``better``, ``worse``, ``cannot be told apart``; else why there is no difference.
    run_ids: ClassVar[Column[tuple[int, ...]]] = Column("figure.run_ids")
    figure: LeaderboardRow  #: the row of the leaderboard that figures come from.
    #: the row of the comparison that differences come from.
    paired: ComparisonRow | None = None

    PARTS = ("figure", "paired")

    @property
    def is_published(self) -> bool:
        """True if it is the source's own figure."""
        return self.method == PUBLISHED

    def against(self, paired: ComparisonRow | None, why_not: str) -> CardRow:
        """The row with the difference from a reference, or with the reason why there is
        none."""
        verdict = why_not
        if paired is not None:
            words = better_in_words(paired)
            untested = words == NO_VERDICT or (
                paired.ci_low is None and words == "neither"
            )
            if untested:
                verdict = f"{NO_VERDICT}: {paired.reason}"
            else:
                verdict = _VERDICTS.get(words, words)
        return replace(self, paired=paired, verdict=verdict)


def card_row(figure: LeaderboardRow, condition: Condition, metric: Metric) -> CardRow:
    """The row of a condition, without a reference."""
    newest = max(
        (run["started_at"] for run in condition.runs if run["started_at"]), default=None
    )
    tools = dict.fromkeys(
        f"{run['harness']} {run['harness_version'] or ''}".strip()
        for run in condition.runs
    )
    date = ""
    if newest:
        date = f"{newest:%Y-%m-%d}"
    return CardRow(
        unit=_unit(metric),
        higher_is_better=metric.higher_is_better,
        n_prompts=figure.n_prompts or (None if figure.method == PUBLISHED else 0),
        checkpoint=_checkpoint(condition.runs[0]),
        training_seed=", ".join(
            dict.fromkeys(
                run["training_seed"] for run in condition.runs if run["training_seed"]
            )
        ),
        harness=", ".join(tools),
        fewshot=condition.setting("fewshot"),
        temperature=condition.setting("temperature"),
        date=date,
        verdict="",
        figure=figure,
    )


def _unit(metric: Metric) -> str:
    if metric.link not in (
        "identity",
        "none",
    ):  # the unit is that of a prompt, the figure has another
        return ""
    if metric.unit:
        return metric.unit
    low, high = metric.bounds or (None, None)
    if low is None or high is None:
        return ""
    if (low, high) == (0, 1):
        return "share of 1"
    return f"{low:g} to {high:g}"


def _checkpoint(run: Mapping[str, Any]) -> str:
    if run["position"] is not None:
        return f"{run['position_unit'] or 'position'}={run['position']:g}"
    return str(run["revision"] or run["checkpoint"] or "")


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
            made = list(_rows_on(shared, name, conditions, question))
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
    store: Store, name: str, conditions: Sequence[Condition], question: Card
) -> Iterator[tuple[Condition, CardRow]]:
    """The rows of some conditions on a benchmark, as its leaderboard has them: what is
    a part of it, and what a planned subset says of it, is known by all that is stored.
    """
    benchmark = read_benchmark(store, name)
    rules = row_rules(question)
    selection = Selection(name, question.metric, cluster=question.cluster, rows=rules)
    selected = select_among(store, benchmark, selection)
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
        except NotComparable as error:
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
