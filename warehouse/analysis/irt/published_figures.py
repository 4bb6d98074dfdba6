"""Figures of whole benchmarks by model: what others published, and the means of stored
samples, each as a share of its benchmark's range."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import chain

import numpy as np

from warehouse.analysis.selection.benchmarks import Metric, direction_unknown
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import RunFigures
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.entries import LeafEntries, read_leaves
from warehouse.analysis.suites.tree import benchmarks_named
from warehouse.errors import MisuseError
from warehouse.stats.items.published_figures import Figures, as_figures, with_enough
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_RELEASED = re.compile(r'"release_date"\s*:\s*"(\d{4}-\d\d-\d\d)')


@dataclass(frozen=True)
class Range:
    """The range that a benchmark's figures are taken between: 0 and 1 of the fit."""

    metric: Metric
    zero: float
    one: float

    def share(self, figure: float) -> float:
        return (figure - self.zero) / (self.one - self.zero)

    def figure(self, share: float) -> float:
        return self.zero + share * (self.one - self.zero)


@dataclass(frozen=True)
class Cell:
    """The figure of a model on a benchmark, as a share of its range."""

    value: float
    error: float
    n_sources: int
    is_of_samples: bool


@dataclass(frozen=True)
class FigureTable:
    """All cells by model and benchmark, with the range of each benchmark and the days
    of release."""

    cells: Mapping[tuple[str, str], Cell]
    ranges: Mapping[str, Range]
    days: Mapping[str, date]
    left_out: tuple[str, ...]

    def all_figures(self, since: date | None = None) -> Figures:
        """The figures of all models, or of those released since a day (MisuseError:
        there are none)."""
        kept = sorted(
            key
            for key in self.cells
            if since is None or self.days.get(key[0], date.min) >= since
        )
        if not kept:
            dated = ""
            if since:
                dated = f" of models released since {since}; a day is known of {len(self.days)}"
            raise MisuseError(
                "; ".join(
                    (f"no figures on these benchmarks{dated}", *self.left_out[:5])
                )
            )
        cells = [self.cells[key] for key in kept]
        values = np.clip([cell.value for cell in cells], 0, 1)
        errors = [cell.error for cell in cells]
        models, benchmarks = [key[0] for key in kept], [key[1] for key in kept]
        return as_figures(values, models, benchmarks, errors)

    def figures(
        self, min_benchmarks: int, min_models: int, since: date | None
    ) -> tuple[Figures, tuple[str, ...]]:
        """The figures of models and benchmarks that have enough of them, and what is
        left out (MisuseError: all)."""
        all_figures = self.all_figures(since)
        figures = with_enough(all_figures, min_benchmarks, min_models)
        if not len(figures.values):
            raise MisuseError(
                f"none of {len(all_figures.models)} models has figures on "
                f"{min_benchmarks} benchmarks that {min_models} "
                "models have: name more benchmarks, or lower --min-benchmarks and "
                "--min-models"
            )
        n_models = len(all_figures.models) - len(figures.models)
        few = []
        if n_models > 0:
            few.append(
                f"{n_models} models: figures on fewer than {min_benchmarks} "
                "of the benchmarks"
            )
        names = sorted(set(all_figures.benchmarks) - set(figures.benchmarks))
        few += [
            f"{name}: figures of fewer than {min_models} of the models"
            for name in names
        ]
        return figures, (*self.left_out, *few)


def read_figures(
    store: Store, benchmarks: Sequence[str], selection: Selection
) -> FigureTable:
    """The figures of all models on some benchmarks: of samples where there are any,
    else what was published."""
    leaves, left_out = read_leaves(
        store, benchmarks_named(store, benchmarks), selection
    )
    chances = _chances(store, leaves)
    cells: dict[tuple[str, str], Cell] = {}
    ranges: dict[str, Range] = {}
    for leaf in leaves:
        found = _figures_of(store, leaf.entries)
        name = leaf.benchmark.name
        figures = [figure for figure, _, _ in chain.from_iterable(found.values())]
        between = _range(leaf.metric, chances, figures, name)
        if isinstance(between, str):
            left_out.append(between)
            continue
        ranges[name] = between
        cells |= {(model, name): _cell(own, between) for model, own in found.items()}
    entries = chain.from_iterable(leaf.entries for leaf in leaves)
    days = _days(store, [entry.condition for entry in entries])
    return FigureTable(cells, ranges, days, tuple(left_out))


def _who(condition: Condition) -> str:
    """A model whose checkpoints and training seeds are others; its agents are its own."""
    return condition.who.removesuffix(f"+{condition.setting('agent')}")


Figure = tuple[float, float, bool]


def _figures_of(
    store: Store, entries: Sequence[ScoredCondition]
) -> dict[str, list[Figure]]:
    """Figures of each model, with the standard error (0: unknown) and whether they are
    of samples.

    Repeats whose figures were published are figures of their own, as a mean of them is
    nobody's.
    """
    found: dict[str, list[Figure]] = {}
    for entry in entries:
        if (scores := entry.usable) is not None and entry.metric.link == "identity":
            mean = float(np.average(scores.values, weights=scores.weights))
            error = 0.0
            if scores.n > 1:
                error = float(scores.values.std(ddof=1)) / scores.n**0.5
            found.setdefault(_who(entry.condition), []).append((mean, error, True))
    published = [entry for entry in entries if entry.usable is None]
    runs = {}
    for entry in published:
        for run in entry.condition.run_ids:
            runs[run] = entry
    figures = RunFigures(
        store, {run: run for run in runs}, {entry.metric.id for entry in published}
    )
    for metric_id in sorted({entry.metric.id for entry in published}):
        for run, figure in figures.published(metric_id).items():
            if runs[run].metric.id == metric_id and math.isfinite(figure.value):
                value = (figure.value, figure.standard_error or 0.0, False)
                found.setdefault(_who(runs[run].condition), []).append(value)
    return found


def _cell(figures: Sequence[Figure], between: Range) -> Cell:
    """The best of the figures; samples come before what was published."""
    own = [figure for figure in figures if figure[2]] or figures
    value, error, is_of_samples = max(own, key=lambda figure: between.share(figure[0]))
    width = abs(between.one - between.zero)
    return Cell(between.share(value), error / width, len(own), is_of_samples)


def _chances(
    store: Store, leaves: Sequence[LeafEntries]
) -> dict[tuple[int, int], float]:
    ids = sorted(set(chain.from_iterable(leaf.benchmark.ids for leaf in leaves)))
    rows = []
    if ids:
        rows = store.rows(
            query_text("analysis", "chance_levels"), {"benchmark_ids": ids}
        )
    return {
        (row["benchmark_id"], row["metric_id"]): row["chance_level"] for row in rows
    }


def _range(
    metric: Metric,
    chances: Mapping[tuple[int, int], float],
    values: Sequence[float],
    name: str,
) -> Range | str:
    """Between chance and the best figure; or why the benchmark has no place on the
    scale."""
    bounds = metric.bounds
    if bounds is None and values and min(values) >= 0 and max(values) <= 1:
        bounds = (0.0, 1.0)  # a rate, as far as anybody can see
    if metric.link not in ("identity", "none"):
        return f"{name}: {metric.label} is no share of a range"
    if bounds is None or None in bounds:
        return (
            f"{name}: {metric.label} has no lowest and highest value that are known; "
            f"this says them: warehouse fix metric {shlex.quote(name)} "
            f"--metric {shlex.quote(metric.label)} --bounds LOW HIGH"
        )
    if metric.higher_is_better is None:
        return f"{name}: {direction_unknown(metric.label, name)}"
    low, high = (float(end) for end in bounds if end is not None)
    worst, best = (high, low)
    if metric.higher_is_better:
        worst, best = (low, high)
    chance = chances.get((metric.benchmark_id, metric.id), worst)
    floor = worst
    if low <= chance <= high and chance != best:
        floor = chance
    return Range(metric, floor, best)


def _days(store: Store, conditions: Sequence[Condition]) -> dict[str, date]:
    """The day of release of each model that a dump gives one of; the first of several."""
    models = {}
    for condition in conditions:
        for run in condition.run_ids:
            models[run] = _who(condition)
    days: dict[str, date] = {}
    for run, day in release_days(store, models).items():
        days[models[run]] = min(day, days.get(models[run], day))
    return days


def release_days(store: Store, run_ids: Collection[int]) -> dict[int, date]:
    """The day of release of the model of each run of which it is known: as a person
    said, else as a dump."""
    rows = store.rows(
        query_text("analysis/irt", "release_dates"),
        {"run_ids": sorted(run_ids)},
        per="run_id",
    )
    said = {row["run_id"]: row["said"] for row in rows if row["said"]}
    found = {row["run_id"]: list(released_in(row["settings"] or "")) for row in rows}
    released = {run: min(days) for run, days in found.items() if days}
    return released | {run: date.fromisoformat(day) for run, day in said.items()}


def released_in(settings: str) -> Iterator[date]:
    """Days of release that the settings of a run name."""
    for text in _RELEASED.findall(settings):
        with suppress(ValueError):
            yield date.fromisoformat(text)
