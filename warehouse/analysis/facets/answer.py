"""The error of a score, and of a difference, that counts other settings of their kind
(statistics.md §27)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.facets.question import (
    OverFacets,
    TotalError,
    wanted_facets,
)
from warehouse.analysis.facets.read import FacetTable, read_tables
from warehouse.analysis.facets.row import (
    PROMPTS,
    SETTINGS,
    DesignRow,
    FacetFigure,
    TotalErrorRow,
)
from warehouse.analysis.facets.view import brief_view, whole_view
from warehouse.analysis.results import Result, part_fields
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import StatisticsError
from warehouse.questions.question import answers
from warehouse.stats import DesignStudy, design_study, total_error
from warehouse.stats import TotalError as Found
from warehouse.stats.facets.conditions import FEWEST_LEVELS
from warehouse.stats.facets.design import Design
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import counted, plural

#: A condition counts that shares so many prompts with another.
FEWEST_SHARED = 20


@dataclass(frozen=True)
class TotalErrorReport(Result):
    """Scores with the error that counts other settings."""

    target: str  #: as given.
    over: tuple[str, ...]  #: settings that are a sample of their kind.
    rows: tuple[TotalErrorRow, ...]  #: one a model, the best first.
    left_out: tuple[str, ...]  #: what has no scores.
    #: settings that keep rows of one model apart.
    apart: tuple[str, ...] = ()
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def one_line(self) -> str:
        return f"{self.target}: {counted(len(self.rows), 'row')} over {', '.join(self.over)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What keeps rows apart, and what was left out."""
        notes = []
        if self.apart:
            notes.append(
                f"rows apart by {', '.join(self.apart)}: average over it with --fixed"
            )
        for row in self.rows:
            if row.n_unscored:
                notes.append(
                    f"{row.model}: {row.n_unscored} of {row.n_samples} samples have no "
                    "score and are left out"
                )
            if row.n_left_out:
                notes.append(
                    f"{row.model}: {counted(row.n_left_out, 'condition')} left out: not "
                    "run in all fixed settings, or with too few common prompts"
                )
        return (*notes, *self.left_out)

    def view(self, *, verbose: bool = False) -> View:
        """Each score with both errors; of a single one what its error is made of.

        Args:
            verbose: every part of the error, and what columns mean.
        """
        if verbose:
            return whole_view(self.rows, self.is_share)
        return brief_view(self.rows, self.is_share)


@answers(TotalError)
def total_error_of(store: Store, question: TotalError) -> TotalErrorReport:
    """One row for each model."""
    over = wanted_facets(question)
    found = read_tables(store, question.target, selection_of(question), question)
    rows = [_row(table, over, question) for table in found.tables]
    better = {table.target.metric.higher_is_better for table in found.tables}
    sign = -1 if better == {True} else 1
    if better <= {True, False} and len(better) == 1:
        rows.sort(key=lambda row: (row.estimate is None, sign * (row.estimate or 0.0)))
    bounds = {table.target.metric.bounds for table in found.tables}
    return TotalErrorReport(
        target=question.target,
        over=over,
        rows=tuple(rows),
        left_out=found.left_out,
        apart=tuple(found.apart),
        is_share=bounds == {(0.0, 1.0)},
    )


@dataclass(frozen=True)
class Usable:
    """The conditions of a table that can be told from prompts."""

    cells: np.ndarray  #: prompts × conditions.
    levels: Mapping[str, Sequence[str]]  #: of each facet.
    columns: tuple[int, ...]  #: conditions of the table.
    n_left_out: int  #: conditions that share too few prompts with others.


def usable_conditions(cells: np.ndarray, levels: Mapping[str, Sequence[str]]) -> Usable:
    """The conditions that share at least 20 prompts with another; all, where a
    benchmark has fewer or none shares any."""
    scored = np.isfinite(cells).astype(np.int64)
    shared = scored.T @ scored
    np.fill_diagonal(shared, 0)
    fewest = min(FEWEST_SHARED, int(shared.max(initial=0)))
    enough = shared.max(axis=1, initial=0) >= fewest
    kept = tuple(int(condition) for condition in np.flatnonzero(enough))
    return Usable(
        cells[:, list(kept)],
        {name: [of[i] for i in kept] for name, of in levels.items()},
        kept,
        cells.shape[1] - len(kept),
    )


def _row(table: FacetTable, over: Sequence[str], question: TotalError) -> TotalErrorRow:
    metric = table.target.metric
    usable = usable_conditions(table.cells, table.levels)
    found, reason = None, ""
    columns = list(usable.columns)
    try:
        found = total_error(
            usable.cells,
            usable.levels,
            over=over,
            clusters=table.clusters,
            bounds=metric.bounds,
            level=question.level,
            two_levels=question.two_levels,
            variances=table.within[:, columns],
            n_draws=table.n_draws[:, columns],
        )
    except StatisticsError as error:
        reason = why_none(usable.levels, over, question) or str(error)
    study = _study(found, question.half_width, table.n_draws[:, columns])
    names = (
        *("estimate", "standard_error", "standard_error_prompts"),
        *("ci_low", "ci_high", "prompts_low", "prompts_high"),
        *("other_low", "other_high", "n_clusters", "v_prompts", "df_prompts"),
    )
    figures = part_fields(
        found,
        *names,
        v_settings="v_all",
        noise="r_all",
        t="t",
        df_settings="df_facets",
    )
    if found is None:
        figures["estimate"] = _plain_mean(usable.cells)
    head = table.target.head | {"condition": table.label}
    return TotalErrorRow(
        **head,
        **figures,
        level=question.level,
        estimand=SETTINGS if found else PROMPTS,
        n_prompts=found.n_prompts if found else len(table.prompts),
        n_conditions=found.n_conditions if found else table.cells.shape[1],
        n_left_out=usable.n_left_out + (len(found.left_out) if found else 0),
        n_unscored=table.n_unscored,
        n_samples=table.n_samples,
        facets=facet_figures(found, usable.levels, over),
        v=found.v if found else {},
        r=found.r if found else {},
        df=found.df if found else {},
        variance_parts=found.parts if found else {},
        shares=found.shares if found else {},
        designs=_designs(study, _times(found)),
        cheapest=_cheapest(study, _times(found)),
        floor=study.floor if study else None,
        flags=found.flags if found else (),
        reason=reason,
        run_ids=table.run_ids,
    )


def why_none(
    levels: Mapping[str, Sequence[str]], over: Sequence[str], question: OverFacets
) -> str:
    """Why no setting can be counted: each has too few values; empty where some has
    enough."""
    fewest = 2 if question.two_levels else FEWEST_LEVELS
    short = []
    for name in over:
        values = list(dict.fromkeys(levels.get(name, ())))
        if len(values) >= fewest:
            return ""
        short.append(f"{name} has {len(values)} ({', '.join(values[:FEWEST_LEVELS])})")
    words = f"three values of a setting are needed: {'; '.join(short)}"
    if fewest == FEWEST_LEVELS and any(
        len(set(levels.get(name, ()))) == 2 for name in over
    ):
        words += "; two count with --two-levels"
    return words


def _plain_mean(cells: np.ndarray) -> float | None:
    """Mean over the conditions' means."""
    if not np.isfinite(cells).any():
        return None
    columns = cells[:, np.isfinite(cells).any(axis=0)]
    return float(np.nanmean(columns, axis=0).mean())


def facet_figures(
    found: Found | None, levels: Mapping[str, Sequence[str]], over: Sequence[str]
) -> tuple[FacetFigure, ...]:
    """Every setting that was named, with its values and what they score."""
    figures = []
    random = {one.facet: one for one in found.facets} if found else {}
    for name, of in levels.items():
        told = tuple(dict.fromkeys(of))
        if name in random:
            one = random[name]
            values = tuple(str(level) for level in one.levels)
            figures.append(FacetFigure(name, "random", values, one.means))
        elif name in over:
            figures.append(FacetFigure(name, "too_few", told, ()))
        else:
            figures.append(FacetFigure(name, "fixed", told, ()))
    return tuple(figures)


def _study(
    found: Found | None, wanted: float | None, n_draws: np.ndarray
) -> DesignStudy | None:
    """What to add; None where that is not defined."""
    if found is None or found.ci_low is None:
        return None
    draws = n_draws[n_draws > 0]
    try:
        return design_study(
            found, n_draws=max(1, round(float(np.median(draws)))), wanted=wanted
        )
    except StatisticsError:
        return None


def _times(found: Found | None) -> int:
    """Combinations of the fixed settings: each takes the answers of a design."""
    if found is None:
        return 1
    of_random = 1
    for one in found.facets:
        of_random *= len(one.levels)
    return max(1, found.n_conditions // of_random)


def _designs(study: DesignStudy | None, times: int) -> tuple[DesignRow, ...]:
    if study is None:
        return ()
    rows = [_as_row(study.now, "now", times)]
    rows += [_as_row(one, _added(one, study.now), times) for one in study.designs]
    return tuple(rows)


def _cheapest(study: DesignStudy | None, times: int) -> DesignRow | None:
    """In words what the cheapest design is made of."""
    if study is None or study.cheapest is None:
        return None
    design = study.cheapest
    told = [f"{design.n_prompts} prompts"]
    told += [counted(count, name) for name, count in design.levels.items()]
    if design.n_draws > 1:
        told.append(f"{design.n_draws} draws of each")
    return _as_row(design, ", ".join(told), times)


def _as_row(design: Design, adds: str, times: int) -> DesignRow:
    return DesignRow(
        adds, design.half_width, design.low, design.high, design.n_answers * times
    )


def _added(design: Design, now: Design) -> str:
    """What a design has more than there is."""
    for name, count in design.levels.items():
        more = count - now.levels[name]
        if more:
            return f"{more} more {plural(name, more)}"
    if design.n_prompts > now.n_prompts:
        return f"{design.n_prompts - now.n_prompts} more prompts"
    return f"{design.n_draws - now.n_draws} more draws of each"
