"""The difference of two models over settings that both have (statistics.md §27, "Two
models")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.facets.answer import (
    facet_figures,
    usable_conditions,
    why_none,
)
from warehouse.analysis.facets.difference_view import difference_view
from warehouse.analysis.facets.question import TotalDifference, wanted_facets
from warehouse.analysis.facets.read import FacetTable, read_tables
from warehouse.analysis.facets.row import TotalDifferenceRow
from warehouse.analysis.results import Result, part_fields
from warehouse.analysis.selection.reference import find_conditions
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
from warehouse.stats import TotalDifference as Found
from warehouse.stats import total_difference
from warehouse.store.connection import Store
from warehouse.tables.view import View


@dataclass(frozen=True)
class TotalDifferenceReport(Result):
    """Differences of two models with the error that counts other settings."""

    a: str  #: the first reference, as given.
    b: str  #: the second.
    over: tuple[str, ...]  #: settings that are a sample of their kind.
    rows: tuple[TotalDifferenceRow, ...]  #: one for each benchmark that both have.
    left_out: tuple[str, ...]  #: what has no scores.
    is_share: bool = False  #: scores lie between 0 and 1: people read points.

    @property
    def one_line(self) -> str:
        return f"{self.a} - {self.b} over {', '.join(self.over)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        return self.left_out

    def view(self, *, verbose: bool = False) -> View:
        """Whether one is better, on these settings and on settings like these.

        Args:
            verbose: with the p of both, and the settings' figures.
        """
        return difference_view(self.rows, self.is_share, verbose=verbose)


@answers(TotalDifference)
def total_difference_of(
    store: Store, question: TotalDifference
) -> TotalDifferenceReport:
    """One row for each benchmark."""
    over = wanted_facets(question)
    benchmarks = _benchmarks(store, question)
    rows, left_out = [], []
    shares = set()
    for benchmark in benchmarks:
        selection = selection_of(question, benchmark=benchmark)
        first = read_tables(store, question.a, selection, question)
        second = read_tables(store, question.b, selection, question)
        left_out += [*first.left_out, *second.left_out]
        for one, other in product(first.tables, second.tables):
            if _are_alike(one, other):
                rows.append(_row(one, other, over, question))
                shares.add(one.target.metric.bounds)
    if not rows:
        raise MisuseError(
            f"{question.a} and {question.b} have no benchmark in common on which "
            f"{', '.join(over)} is told of both"
        )
    return TotalDifferenceReport(
        a=question.a,
        b=question.b,
        over=over,
        rows=tuple(rows),
        left_out=tuple(dict.fromkeys(left_out)),
        is_share=shares == {(0.0, 1.0)},
    )


def _benchmarks(store: Store, question: TotalDifference) -> list[str]:
    """The benchmark that was named, or all that both models have."""
    if question.benchmark is not None:
        return [question.benchmark]
    found = []
    for reference in (question.a, question.b):
        conditions = find_conditions(store, reference)
        found.append({condition.benchmark_split[0] for condition in conditions})
    return sorted(found[0] & found[1])


def _are_alike(one: FacetTable, other: FacetTable) -> bool:
    """Whether rows of two models are of one thing but for the model."""
    same = (
        one.target.condition.benchmark_split == other.target.condition.benchmark_split
    )
    return same and one.label == other.label


def _row(
    one: FacetTable,
    other: FacetTable,
    over: Sequence[str],
    question: TotalDifference,
) -> TotalDifferenceRow:
    first, second, levels, prompts = _common(one, other)
    metric = one.target.metric
    usable = usable_conditions(first - second, levels)
    columns = list(usable.columns)
    found: Found | None = None
    reason = ""
    try:
        found = total_difference(
            first[:, columns],
            second[:, columns],
            usable.levels,
            over=over,
            clusters=one.target.clusters.labels(prompts),
            bounds=metric.bounds,
            level=question.level,
            two_levels=question.two_levels,
        )
    except StatisticsError as refused:
        reason = why_none(usable.levels, over, question) or str(refused)
    of_error = None if found is None else found.error
    names = ("standard_error", "ci_low", "ci_high", "prompts_low", "prompts_high")
    figures = part_fields(of_error, *names, difference="estimate")
    figures |= part_fields(found, "p_prompts", "p_settings")
    n_prompts, n_conditions = len(prompts), len(columns)
    flags: tuple[str, ...] = ()
    if of_error is not None:
        n_prompts, n_conditions = of_error.n_prompts, of_error.n_conditions
        flags = of_error.flags
    return TotalDifferenceRow(
        a=one.target.condition.model,
        b=other.target.condition.model,
        condition=one.label,
        benchmark=one.target.condition.benchmark_split[0],
        metric=metric.label,
        **figures,
        level=question.level,
        verdict="open" if found is None else found.verdict,
        better=_better(one, other, found),
        n_prompts=n_prompts,
        n_conditions=n_conditions,
        n_left_out=0 if found is None else found.n_left_out,
        facets=facet_figures(of_error, usable.levels, over),
        flags=flags,
        reason=reason,
        run_ids=tuple(sorted({*one.run_ids, *other.run_ids})),
    )


def _better(one: FacetTable, other: FacetTable, found: Found | None) -> str:
    """The model that is better on these settings; empty where that is open."""
    higher = one.target.metric.higher_is_better
    if found is None or found.verdict == "open" or higher is None:
        return ""
    if (found.difference > 0) == higher:
        return one.target.condition.model
    return other.target.condition.model


def _common(
    one: FacetTable, other: FacetTable
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    Mapping[str, tuple[str, ...]],
    NDArray[np.int64],
]:
    """Scores of both on the prompts and conditions that both have."""
    prompts = np.intersect1d(one.prompts, other.prompts)
    places = {level: j for j, level in enumerate(_conditions(other))}
    shared = [
        (i, places[level], level)
        for i, level in enumerate(_conditions(one))
        if level in places
    ]
    if not shared or not len(prompts):
        raise MisuseError(
            f"{one.target.condition.model} and {other.target.condition.model} have no "
            f"{'prompt' if shared else 'combination of settings'} in common on "
            f"{one.target.condition.benchmark_split[0]}"
        )
    of_one = np.searchsorted(one.prompts, prompts)
    of_other = np.searchsorted(other.prompts, prompts)
    first = one.cells[of_one][:, [i for i, _, _ in shared]]
    second = other.cells[of_other][:, [j for _, j, _ in shared]]
    levels = {
        name: tuple(level[place] for _, _, level in shared)
        for place, name in enumerate(one.levels)
    }
    return first, second, levels, prompts


def _conditions(table: FacetTable) -> list[tuple[str, ...]]:
    """Levels of each condition, in the order of the facets."""
    return list(zip(*table.levels.values(), strict=True))
