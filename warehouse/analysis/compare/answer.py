"""Two models on the same prompts: the paired difference on each benchmark that both
have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any, ClassVar

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.compare.sentences import by_name, over_all
from warehouse.analysis.comparison.brief import (
    LETTERS,
    Names,
    brief_lines,
    brief_table,
    heading,
    units_of,
)
from warehouse.analysis.comparison.hooks import (
    COSTS_OF_PAIRS,
    RESTS_ON_FEW,
    PairCosting,
    on_plans,
)
from warehouse.analysis.comparison.overall import (
    overall_row,
    sharing_of,
    why_no_overall,
    why_not_over_plans,
)
from warehouse.analysis.comparison.overall_seeds import on_common_seeds
from warehouse.analysis.comparison.pair_tests import (
    PLANNED,
    difference_of,
    run_tests,
)
from warehouse.analysis.comparison.pairing import (
    NotComparable,
    Pair,
    filled_over,
    policy_over,
)
from warehouse.analysis.comparison.read import OnBenchmarks, TwoModels
from warehouse.analysis.comparison.row import (
    INFINITE,
    ComparisonRow,
    Flip,
    flipped,
    flips_of,
    infinite_row,
    make_row,
    with_holm,
)
from warehouse.analysis.comparison.shared import SharedRead, read_shared
from warehouse.analysis.comparison.texts import read_texts
from warehouse.analysis.comparison.tips import tipping_of
from warehouse.analysis.comparison.words import (
    CANNOT_TELL,
    NOT_KNOWN,
    better_in_words,
    comparison_table,
    difference_in_words,
    direction_remarks,
    explain,
    few_in_words,
    models_of,
    remarks,
    taken_in_words,
)
from warehouse.analysis.results import Result, SingleTest
from warehouse.analysis.selection.policies import (
    policy_notes,
    policy_words,
)
from warehouse.analysis.selection.reference import in_words
from warehouse.analysis.selection.score_ranges import mixed_scales, unstated_bounds
from warehouse.analysis.selection.selection import selection_of
from warehouse.questions.question import answers
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.store.sql.query_files import query_text
from warehouse.tables.view import View
from warehouse.tables.words import IF_ONE_SCALE, MIXED_SCALES, visible


@dataclass(frozen=True)
class Comparison(SingleTest, Result):
    """Paired differences, one row per benchmark and split."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "benchmark",
            "split",
            "metric",
            "mean_a",
            "mean_b",
            "difference",
            "standard_error",
            "ci_low",
            "ci_high",
        ),
        *(
            "p_value",
            "p_permutation",
            "p_mcnemar",
            "p_holm",
            "better",
            "equivalent",
            "p_equivalence",
            "n_prompts",
        ),
        *(
            "n_clusters",
            "only_a",
            "only_b",
            "unscored_a",
            "unscored_b",
            "correlation",
            "variance_saved",
            "flags",
        ),
    )

    a: str  #: the first reference, as given.
    b: str  #: the second reference, as given.
    rows: tuple[ComparisonRow, ...]
    #: mean over the benchmarks, each of equal weight; None with one benchmark, and
    #: where their metrics have no common scale (``left_out`` says so).
    overall: ComparisonRow | None
    #: prompts on which they differ most, where they were asked for.
    flips: tuple[Flip, ...]
    left_out: tuple[str, ...]  #: what was not compared, each with the reason.
    n_tests: int  #: that ``p_holm`` is adjusted for: benchmarks with a p, one that has several names once.
    notes: tuple[str, ...]  #: what a reader should know of the rows.
    n_resamples: int  #: random sign patterns of a permutation test that is not exact.
    seed: int  #: of the permutation test.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.

    @property
    def one_line(self) -> str:
        row = self.rows[0] if len(self.rows) == 1 else self.overall
        if row is None:
            return f"{self.a} against {self.b} on {len(self.rows)} benchmarks"
        difference, p = difference_in_words(row)
        if len(self.rows) == 1:
            on = row.benchmark
        else:
            on = f"{len(self.rows)} benchmarks"
        return (
            f"{row.model_a} - {row.model_b} on {on}: {difference} ({row.n_prompts} "
            f"common prompts{p})"
        )

    @property
    def sentence(self) -> str:
        """The answer in words, for one row or over all."""
        return self.in_words()

    def in_words(self, figures: bool = True, names: Names = LETTERS) -> str:
        """The sentence; of one row with its figures or, for whoever shows them beside
        it, without.

        Args:
            names: what the models are called in it.
        """
        if len(self.rows) > 1:
            return over_all(self.rows, names) + self._different_prompts
        row = self.rows[0]
        both = f"{names.a} and {names.b}"
        if INFINITE in row.flags:
            verdict = "No verdict"
            if row.better:
                verdict = f"{names.verdict(row)} is better"
            return f"{verdict} on {row.benchmark}: {row.reason}."
        if row.ci_low is None or row.ci_high is None:
            return f"No verdict on {row.benchmark}: {row.reason or 'no interval'}."
        seen = ""
        if figures:
            seen = f"a - b {difference_in_words(row)[0]}, "
        on = f"on {row.benchmark} ({seen}{row.n_prompts} common questions)"
        if row.better:
            return (
                f"{names.verdict(row)} is better "
                f"{on}{IF_ONE_SCALE * (MIXED_SCALES in row.flags)}."
            )
        if better_in_words(row) == NOT_KNOWN:
            return f"{both} differ {on}; which is better is {NOT_KNOWN}."
        return (
            f"{both} "
            f"{f'are equal within {row.margin:g}' if row.equivalent else CANNOT_TELL} "
            f"{on}."
        )

    @property
    def _different_prompts(self) -> str:
        """How many prompts there are, where some stand in several benchmarks."""
        n_summed = sum(row.n_prompts for row in self.rows)
        if self.overall is None or self.overall.n_prompts == n_summed:
            return ""
        return f" They have {self.overall.n_prompts} different prompts, not {n_summed}."

    @property
    def models(self) -> list[str]:
        """Which model is a and which is b, with the condition where that is the same on
        all benchmarks; else notes say it."""
        same = len({(row.condition_a, row.condition_b) for row in self.rows}) < 2
        return models_of(
            self.rows[0]
            if same
            else replace(self.rows[0], condition_a="", condition_b="")
        )

    def view(self, *, verbose: bool = False) -> View:
        """The command's sentence and table, and how the figures were made."""
        return self.view_of(self._notebook_rows(), verbose=verbose)

    def view_of(self, rows: Sequence[ComparisonRow], *, verbose: bool = False) -> View:
        """The same of some rows."""
        if not verbose:
            return self._brief(rows)
        lines = explain(
            rows,
            self.overall,
            n_tests=self.n_tests,
            n_resamples=self.n_resamples,
            seed=self.seed,
        )
        few = map(visible, few_in_words(rows))
        head = (*self.models, visible(self.sentence), *few, "")
        notes = (
            *direction_remarks(self._notebook_rows()),
            *remarks(rows, verbose=True),
        )
        return View((*head, comparison_table(rows, verbose=True), "", *lines), notes)

    def _brief(self, rows: Sequence[ComparisonRow]) -> View:
        """Both models by name, the differences, and a verdict on each."""
        names = Names.of(self.rows[0])
        units = units_of(rows, in_percent=self.is_share)
        notes = (
            *direction_remarks(self._notebook_rows()),
            *remarks(rows, verbose=False),
        )
        return View(
            (
                heading(rows, self.models, names) + policy_words(self.policy),
                visible(self._brief_sentence(names)),
                *self._mean(),
                *map(visible, few_in_words(rows)),
                "",
                brief_table(rows, names, units),
                *brief_lines(rows, self.overall, self.n_tests, names),
            ),
            notes,
        )

    @property
    def sentences_by_name(self) -> list[str]:
        """Who is better, by name, and the mean over all benchmarks."""
        first = self._brief_sentence(Names.of(self.rows[0]))
        return [first, *self._mean(), *few_in_words(self.rows)]

    def _brief_sentence(self, names: Names) -> str:
        """Who is better, on which benchmarks by name where there are several."""
        if len(self.rows) > 1:
            return by_name(self.rows, names) + self._different_prompts
        return self.in_words(figures=False, names=names)

    def _mean(self) -> list[str]:
        """The difference over all benchmarks, where there are several."""
        row = self.overall
        if row is None or len(self.rows) < 2 or not isfinite(row.difference):
            return []
        (unit,) = units_of([row], in_percent=self.is_share)
        points = " points" if unit.in_percent else ""
        ends = unit.ends(row.ci_low, row.ci_high) or ""
        figure = unit.difference(row.difference)
        return [f"Mean of all: {figure}{points} {ends}".rstrip() + "."]

    def _notebook_rows(self) -> tuple[ComparisonRow, ...]:
        return (*self.rows, *(() if self.overall is None else (self.overall,)))

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows are dictionaries."""
        return super().to_dict() | {
            "overall": None if self.overall is None else self.overall.to_dict()
        }


@answers(Compare)
def compare(store: Store, question: Compare) -> Comparison:
    """Row by row, with the mean over benchmarks where there are several."""
    return compared_pairs(store, question).comparison


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """A comparison with what its rows were made of, in their order, and what these
    share; None with one."""

    question: Compare
    comparison: Comparison
    pairs: tuple[Pair, ...]
    shared: SharedRead | None


def compared_pairs(
    store: Store, question: Compare, benchmarks: Sequence[str] = ()
) -> ComparedPairs:
    """`compare`, with its pairs kept.

    Args:
        benchmarks: names; none for that of the question, or for all that both have.
    """
    shared = SharedReads(store)
    models = TwoModels(
        shared,
        question.a,
        question.b,
        selection_of(question),
        question.force,
        question.across_links,
        question.pair_seeds,
        infinite_ok=True,
        second_metric=question.second_metric,
    )
    return compare_read(shared, models.on_each(models.pair, benchmarks), question)


def compare_read(
    store: Store, both: OnBenchmarks[Pair], question: Compare
) -> ComparedPairs:
    """The comparison of pairs of conditions that were read (MisuseError: none of them
    can be compared)."""
    compared, refused = both.compute(partial(_compared, options=question))
    if not compared:
        raise NotComparable("; ".join(refused))
    if question.cost is not None:
        costing = COSTS_OF_PAIRS.load()(store, question.cost, question.prices)
        compared = [
            (pair, _with_costs(store, pair, row, costing), note)
            for pair, row, note in compared
        ]
    pairs = [pair for pair, _, _ in compared]
    shared = None
    if len(pairs) > 1:
        shared = read_shared(store, pairs, question.cluster)
    if question.flips:
        flips = _flips(store, pairs, question.flips)
    else:
        flips = ()
    comparison = _comparison(
        compared, shared, flips, (*refused, *both.missing), question
    )
    rows = _with_few_units(store, pairs, comparison.rows)
    comparison = replace(comparison, rows=rows)
    return ComparedPairs(question, comparison, tuple(pairs), shared)


#: A pair, its row, and what a reader should know of it.
_Compared = tuple[Pair, ComparisonRow, str]


def _compared(pair: Pair, options: Compare) -> _Compared:
    if pair.has_infinite:
        return pair, infinite_row(pair, options), pair.note
    note = pair.note
    planned = on_plans(pair, level=options.level, estimand=options.estimand)
    if planned is not None:
        note = "; ".join(filter(None, (pair.note, planned.note)))
        if planned.whole is not None:
            return (
                pair,
                make_row(
                    pair,
                    planned.whole.as_paired(),
                    planned.whole.tests(options),
                    options,
                ),
                note,
            )
    paired = difference_of(pair, options)
    row = make_row(pair, paired, run_tests(pair, paired, options), options)
    tipping = tipping_of(pair, row)
    if tipping is not None:
        row = replace(row, tips_at=tipping.n)
        note = "; ".join(filter(None, (note, str(tipping))))
    return pair, row, note


def _with_costs(
    store: Store, pair: Pair, row: ComparisonRow, costing: PairCosting
) -> ComparisonRow:
    costs = costing.of_pair(store, pair, level=row.level)
    flags = row.flags
    if costs.ratio:
        flags += costs.ratio.flags
    if costs.n_missing > 0:
        flags += ("missing_cost",)
    return replace(row, costs=costs, flags=flags)


def _with_few_units(
    store: Store, pairs: Sequence[Pair], rows: Sequence[ComparisonRow]
) -> tuple[ComparisonRow, ...]:
    """Rows with what is found of few units, where one is better by a plain mean of the
    questions."""
    asked = []
    for number, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        is_plain = not (pair.is_ratio or pair.over_seeds or pair.has_infinite)
        if row.better and is_plain and PLANNED not in row.flags:
            asked.append(number)
    if not asked or not _has_fields(store):
        return tuple(rows)
    found = RESTS_ON_FEW.load()(store, [pairs[number] for number in asked])
    made = [*rows]
    for number, few in zip(asked, found, strict=True):
        flags = rows[number].flags
        if few is not None and few.fires:
            flags = (*flags, "rests_on_few")
        made[number] = replace(rows[number], few=few, flags=flags)
    return tuple(made)


def _has_fields(store: Store) -> bool:
    """Whether prompts are clustered by a field, or have declared slices."""
    return bool(store.rows(query_text("analysis/comparison", "any_field")))


def _flips(store: Store, pairs: Sequence[Pair], limit: int) -> tuple[Flip, ...]:
    """The prompts of each pair on which they differ most."""
    flipped_rows = [flipped(pair, limit) for pair in pairs]
    chosen = [
        (pair, pair.prompts[rows].tolist())
        for pair, rows in zip(pairs, flipped_rows, strict=True)
    ]
    texts = read_texts(store, chosen)
    return tuple(
        chain.from_iterable(
            flips_of(*each) for each in zip(pairs, flipped_rows, texts, strict=True)
        )
    )


def _comparison(
    compared: Sequence[_Compared],
    shared: SharedRead | None,
    flips: tuple[Flip, ...],
    left_out: tuple[str, ...],
    options: Compare,
) -> Comparison:
    pairs = [pair for pair, _, _ in compared]
    in_force = policy_over(pairs)
    rows = [row for _, row, _ in compared]
    overall, copies, why = None, [*range(len(rows))], ""
    if shared is not None:
        sharing = sharing_of(pairs, shared)
        copies, why = (
            [*sharing.copies],
            why_no_overall(pairs) or why_not_over_plans(rows, sharing),
        )
        if not why:
            whole, own_rows, of_seeds = on_common_seeds(pairs, rows, options)
            if of_seeds:
                sharing = sharing_of(whole, shared)
            overall = overall_row(whole, sharing, own_rows, options)
            left_out = (*left_out, *of_seeds)
    scored = list(chain.from_iterable(pair.scored for pair in pairs))
    scales = mixed_scales(
        (name, metric, scores.spans) for name, metric, scores in scored
    )
    notes = [
        f"{in_words(pair.a.benchmark_split)}: {note}"
        for pair, _, note in compared
        if note
    ]
    taken = taken_in_words(
        (row.benchmark, (row.model_a, row.condition_a), (row.model_b, row.condition_b))
        for row in rows
    )
    return Comparison(
        a=options.a,
        b=options.b,
        rows=tuple(
            rows
            if shared is None
            else with_holm(rows, (p.metric.higher_is_better for p in pairs), copies)
        ),
        overall=overall,
        flips=flips,
        left_out=(*left_out, *([f"overall: {why}"] if why else [])),
        n_tests=len(
            {
                of
                for of, row in zip(copies, rows, strict=True)
                if row.p_value is not None
            }
        ),
        notes=(
            *policy_notes(in_force, filled_over(pairs)),
            *(*taken, *notes, *scales, *unstated_bounds(scored)),
        ),
        policy=in_force.text,
        n_resamples=options.n_resamples,
        seed=options.seed,
        is_share=all(pair.metric.bounds == (0.0, 1.0) for pair in pairs),
    )
