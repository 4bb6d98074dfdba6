"""Two models on the same prompts: the paired difference on each benchmark that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from warehouse.analysis.comparison.pair_tests import (
    PlannedPair,
    check_estimand,
    difference_of,
    planned_pair,
    planned_tests,
    run_tests,
)
from warehouse.analysis.comparison.pairing import NotComparable, Pair, read_pair
from warehouse.analysis.comparison.row import ComparisonRow, Flip, make_row, read_flips, which_better
from warehouse.analysis.comparison.view import comparison_table, explain, models_of, remarks
from warehouse.analysis.comparison.words import CANNOT_TELL, NOT_KNOWN, better_in_words, direction_remarks
from warehouse.analysis.results import Result, SingleTest
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import (
    by_benchmark_split,
    common_benchmarks,
    in_words,
    parse_where,
    pick_all,
)
from warehouse.analysis.selection.scores import unstated_bounds
from warehouse.analysis.selection.selection import Selection, selection_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.comparison import Compare
from warehouse.questions.question import answers
from warehouse.stats.core.results import ends_text
from warehouse.stats.multiple.adjust import holm_of_distinct
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import visible


@dataclass(frozen=True)
class Comparison(SingleTest, Result):
    """Paired differences, one row per benchmark and split.

    Attributes:
        a: the first reference, as given.
        b: the second reference, as given.
        overall: mean over the benchmarks, each of equal weight; None with one benchmark, and
            where their metrics have no common scale (``left_out`` says so).
        flips: prompts on which they differ most, where they were asked for.
        left_out: what was not compared, each with the reason.
        n_tests: that ``p_holm`` is adjusted for: benchmarks with a p, one that has several names once.
        notes: what a reader should know of the rows.
        n_resamples: random sign patterns of a permutation test that is not exact.
        seed: of the permutation test.
    """

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "benchmark",
        "split",
        "metric",
        "mean_a",
        "mean_b",
        "difference",
        "standard_error",
        "ci_low",
        "ci_high",
        "p_value",
        "p_permutation",
        "p_mcnemar",
        "p_holm",
        "better",
        "equivalent",
        "p_equivalence",
        "n_prompts",
        "n_clusters",
        "only_a",
        "only_b",
        "unscored_a",
        "unscored_b",
        "correlation",
        "variance_saved",
        "flags",
    )

    ROW = ComparisonRow

    a: str
    b: str
    rows: tuple[ComparisonRow, ...]
    overall: ComparisonRow | None
    flips: tuple[Flip, ...]
    left_out: tuple[str, ...]
    n_tests: int
    notes: tuple[str, ...]
    n_resamples: int
    seed: int

    @property
    def one_line(self) -> str:
        """The result in one line."""
        row = self.rows[0] if len(self.rows) == 1 else self.overall
        if row is None:
            return f"{self.a} against {self.b} on {len(self.rows)} benchmarks"
        interval = "" if row.ci_low is None or row.ci_high is None else f" {ends_text(row.ci_low, row.ci_high)}"
        p = "" if row.p_value is None else f", p={row.p_value:.3g}"
        on = row.benchmark if len(self.rows) == 1 else f"{len(self.rows)} benchmarks"
        return (
            f"{row.model_a} - {row.model_b} on {on}: {row.difference:+.4g}{interval}"
            f" ({row.n_prompts} common prompts{p})"
        )

    @property
    def sentence(self) -> str:
        """The answer in words, for one row or over all."""
        if len(self.rows) > 1:
            return _over_all(self.rows) + self._different_prompts
        row = self.rows[0]
        if row.ci_low is None or row.ci_high is None:
            return f"No verdict on {row.benchmark}: {row.reason or 'no interval'}."
        on = f"on {row.benchmark} (a - b {row.difference:+.3g} [{row.ci_low:.3g}, {row.ci_high:.3g}], "
        on += f"{row.n_prompts} common prompts)"
        if row.better:
            return f"{row.better} is better {on}."
        if better_in_words(row) == NOT_KNOWN:
            return f"a and b differ {on}; which is better is {NOT_KNOWN}."
        return f"a and b {f'are equal within {row.margin:g}' if row.equivalent else CANNOT_TELL} {on}."

    @property
    def _different_prompts(self) -> str:
        """How many prompts there are, where some stand in several benchmarks."""
        every = sum(row.n_prompts for row in self.rows)
        if self.overall is None or self.overall.n_prompts == every:
            return ""
        return f" They have {self.overall.n_prompts} different prompts, not {every}."

    def view(self, *, verbose: bool = False) -> View:
        """The command's sentence and table, and how the figures were made."""
        return self.view_of(self._notebook_rows(), verbose=verbose)

    def view_of(self, rows: Sequence[ComparisonRow], *, verbose: bool = False) -> View:
        """The same of some rows."""
        lines = explain(rows, self.overall, n_tests=self.n_tests, n_resamples=self.n_resamples, seed=self.seed)
        head = (*models_of(rows[0]), visible(self.sentence), "")
        notes = (*direction_remarks(self._notebook_rows()), *remarks(rows, verbose=verbose))
        return View((*head, comparison_table(rows, verbose=verbose), "", *lines), notes)

    def _notebook_rows(self) -> tuple[ComparisonRow, ...]:
        return (*self.rows, *(() if self.overall is None else (self.overall,)))

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows are dictionaries."""
        return super().to_dict() | {
            "overall": None if self.overall is None else self.overall.to_dict(),
            "flips": [flip.to_dict() for flip in self.flips],
        }


def _over_all(rows: Sequence[ComparisonRow]) -> str:
    """On how many benchmarks each is better."""
    a, b, differ = (sum(better_in_words(row) == name for row in rows) for name in ("a", "b", NOT_KNOWN))
    rest = len(rows) - a - b - differ
    if rest == len(rows):
        return f"a and b {CANNOT_TELL} on any of {rest} benchmarks."
    wins = [f"{name} is better on {n}" for name, n in (("a", a), ("b", b)) if n]
    if differ:
        wins.append(f"they differ on {differ}, where which is better is {NOT_KNOWN}")
    apart = f"; on {rest} they {CANNOT_TELL}" if rest else ""
    return f"Of {len(rows)} benchmarks {', '.join(wins)}{apart}."


@answers(Compare)
def compare(store: Store, question: Compare) -> Comparison:
    """Row by row, with the mean over benchmarks where there are several."""
    selection = selection_of(question)
    both, missing = find_both(store, question.a, question.b, selection)
    compared, refused = _compared(store, both, question, selection)
    pairs, rows = [pair for pair, _ in compared], [row for _, row in compared]
    overall, copies, why = _overall(store, pairs, rows, question)
    return Comparison(
        a=question.a,
        b=question.b,
        rows=tuple(_adjusted(pairs, rows, copies, question)),
        overall=overall,
        flips=tuple(flip for pair in pairs if question.flips for flip in read_flips(store, pair, question.flips)),
        left_out=(*refused, *missing, *why),
        n_tests=len({of for of, row in zip(copies, rows, strict=True) if row.p_value is not None}),
        notes=(
            *(f"{in_words(pair.a.benchmark_split)}: {pair.note}" for pair in pairs if pair.note),
            *unstated_bounds(
                (pair.a.benchmark_split[0], pair.metric, scores)
                for pair in pairs
                for scores in (pair.scores_a, pair.scores_b)
            ),
        ),
        n_resamples=question.n_resamples,
        seed=question.seed,
    )


def find_both(store: Store, a: str, b: str, selection: Selection) -> tuple[list[tuple[Condition, ...]], list[str]]:
    """Both conditions for each benchmark that both have; the benchmarks that only one has."""
    ids = None if selection.benchmark is None else find_benchmark(store, selection.benchmark).ids
    wanted = parse_where(selection.where)
    of_a, of_b = by_benchmark_split(store, a, ids, wanted), by_benchmark_split(store, b, ids, wanted)
    places = common_benchmarks(a, of_a, b, of_b)
    missing = sorted((of_a.keys() | of_b.keys()) - set(places))
    chosen = pick_all(store, places, ((a, of_a), (b, of_b)), latest=selection.latest)
    return chosen, [f"{in_words(place)}: only one of them has it" for place in missing]


def _compared(
    store: Store, both: Sequence[tuple[Condition, ...]], options: Compare, selection: Selection
) -> tuple[list[tuple[Pair, ComparisonRow]], list[str]]:
    """Every pair that can be compared with its row, and why the others cannot.

    Raises:
        MisuseError: none can.
    """
    compared, refused = [], []
    for one, other in both:
        try:
            pair = read_pair(store, one, other, selection, force=options.force)
            planned = planned_pair(store, pair, selection, level=options.level, estimand=options.estimand)
            pair = replace(pair, note="; ".join(filter(None, (pair.note, planned.note))))
            compared.append((pair, _row(pair, options, planned)))
        except (NotComparable, StatisticsError) as reason:
            refused.append(f"{in_words(one.benchmark_split)}: {reason}")
    if not compared:
        raise MisuseError("; ".join(refused))
    return compared, refused


def _row(pair: Pair, options: Compare, planned: PlannedPair) -> ComparisonRow:
    check_estimand(pair, options)
    if planned.estimate is not None:
        return make_row(pair, planned.as_paired(), planned_tests(planned.estimate, options), options)
    paired = difference_of(pair, options)
    return make_row(pair, paired, run_tests(pair, paired, options), options)


def _adjusted(
    pairs: Sequence[Pair], rows: Sequence[ComparisonRow], copies: Sequence[int], options: Compare
) -> list[ComparisonRow]:
    """With p adjusted for the number of benchmarks where there are several, and what is better
    by that p; one under several names is one test."""
    if len(rows) < 2:
        return list(rows)
    adjusted = holm_of_distinct([np.nan if row.p_value is None else row.p_value for row in rows], copies)
    return [
        replace(row, p_holm=p, better=which_better(p, row.difference, direction, options.level))
        for row, p, direction in zip(
            rows,
            (None if np.isnan(p) else float(p) for p in adjusted),
            (pair.metric.higher_is_better for pair in pairs),
            strict=True,
        )
    ]


def _overall(
    store: Store, pairs: Sequence[Pair], rows: Sequence[ComparisonRow], options: Compare
) -> tuple[ComparisonRow | None, Sequence[int], list[str]]:
    """The mean over several benchmarks, for each the place of the first that is the same one, and why there is no
    mean."""
    if len(rows) < 2:
        return None, range(len(rows)), []
    from warehouse.analysis.comparison import overall  # scipy.sparse takes a while

    sharing = overall.read_sharing(store, pairs, options.cluster)
    why = overall.why_no_overall(pairs) or overall.why_not_over_plans(rows, sharing)
    if why:
        return None, sharing.copies, [f"overall: {why}"]
    return overall.overall_row(pairs, sharing, rows, options), sharing.copies, []
