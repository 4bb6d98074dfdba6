"""Scores of trained replicates by seed and checkpoint, as the statistics of training take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.selection.reference import Where
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: What replicates of a recipe share: all but their seed and what names a checkpoint.
SHARED = tuple(name for name in LABEL_FIELDS if name not in ("training_seed", *CHECKPOINT_FIELDS))

#: Settings that have columns of their own.
_SAID_ELSEWHERE = ("recipe", "split", "benchmark_recorded")

#: Columns of a figure, in order.
_FIGURE = ("run_id", "metric", "metric_filter", "metric_id", "higher_is_better", "estimate", "standard_error")


@dataclass(frozen=True)
class Trajectory:
    """One replicate along its training; the other fields by position, in its order; ``runs`` holds
    the ids of the repeats of each checkpoint."""

    seed: str
    positions: tuple[float, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    runs: tuple[tuple[int, ...], ...]

    def until(self, place: int) -> Trajectory:
        """Its beginning, up to one of its checkpoints."""
        end = slice(place + 1)
        return Trajectory(self.seed, self.positions[end], self.scores[end], self.errors[end], self.runs[end])

    def at(self, position: float) -> Trajectory:
        """One of its checkpoints alone."""
        place = self.positions.index(position)
        only = slice(place, place + 1)
        return Trajectory(self.seed, self.positions[only], self.scores[only], self.errors[only], self.runs[only])


@dataclass(frozen=True)
class RecipeScores:
    """Replicates of one recipe on one benchmark, by one metric.

    Attributes:
        settings: every setting that all replicates share, by name.
        metric_ids: of the metric; several where judges or scales differ.
        benchmark_ids: of the rows of the benchmark that the runs are on.
        unit: of the positions; empty where there are none.
        trajectories: one per training seed, by its label.
    """

    benchmark: str
    metric: str
    higher_is_better: bool | None
    model: str
    recipe: str
    unit: str
    settings: Mapping[str, Any]
    trajectories: tuple[Trajectory, ...]
    metric_ids: tuple[int, ...] = ()
    benchmark_ids: tuple[int, ...] = ()

    @property
    def sign(self) -> float:
        """−1 where lower is better, else 1."""
        return -1.0 if self.higher_is_better is False else 1.0

    @property
    def is_telling(self) -> bool:
        """Whether it has two seeds or two common checkpoints."""
        return len(self.trajectories) > 1 or len(self.common) > 1

    @property
    def common(self) -> tuple[float, ...]:
        """Positions that every replicate has, in order."""
        shared = set(self.trajectories[0].positions)
        for one in self.trajectories[1:]:
            shared &= set(one.positions)
        return tuple(sorted(shared))

    def only(self, runs: Set[int]) -> RecipeScores | None:
        """Cut to checkpoints of some runs and those before them; None if none is of this recipe."""
        kept = []
        for one in self.trajectories:
            meant = [place for place, ids in enumerate(one.runs) if not runs.isdisjoint(ids)]
            if meant:
                kept.append(one.until(meant[-1]))
        return replace(self, trajectories=tuple(kept)) if kept else None

    def last(self) -> RecipeScores:
        """Cut to the last checkpoint that every replicate has; there must be one."""
        place = self.common[-1]
        return replace(self, trajectories=tuple(one.at(place) for one in self.trajectories))

    def table(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Scores at some common positions, shape (seeds, positions)."""
        return np.array([_at(one.positions, one.scores, positions) for one in self.trajectories])

    def errors(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Standard errors of the single runs there, NaN where unknown, shape (seeds, positions)."""
        return np.array([_at(one.positions, one.errors, positions) for one in self.trajectories])


def _at(places: Sequence[float], values: Sequence[float], wanted: Sequence[float]) -> list[float]:
    found = dict(zip(places, values, strict=True))
    return [found[place] for place in wanted]


def read_recipes(
    store: Store, benchmark_ids: Sequence[int] | None = None, *, metric: str | None = None, where: Sequence[Where] = ()
) -> list[RecipeScores]:
    """Replicates by recipe, from the figures of their runs; repeats of one checkpoint are averaged.

    Args:
        benchmark_ids: whose; None for all.
        metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark,
            ``*`` for all metrics.
        where: conditions that the runs must fulfil.

    Returns:
        in order of benchmark, metric, model and recipe.
    """
    metrics, named = "s.is_default", {}
    if metric == "*":
        metrics = "1 = 1"
    elif metric is not None:
        name, _, pipeline = metric.partition(",")
        metrics = "s.metric = :metric_name and (s.metric_filter = :metric_filter or :metric_filter = '')"
        named = {"metric_name": name, "metric_filter": pipeline}
    of_runs = query_text("analysis", "training_runs")
    of_scores = query_text("analysis", "training_scores")
    here = "1 = 1" if benchmark_ids is None else "run.benchmark_id in (:benchmark_ids)"
    among: dict[str, Any] = {} if benchmark_ids is None else {"benchmark_ids": benchmark_ids}
    runs = store.arrow(of_runs.format(here=here), among, per="benchmark_id" if among else "")
    of_these = {"run_ids": runs.column("run_id").to_pylist()} if among else {}
    here = "s.run_id in (:run_ids)" if among else "1 = 1"
    scores = store.arrow(of_scores.format(metrics=metrics, here=here), of_these | named, per="run_id" if among else "")
    wanted = _fulfilling(store, where)
    kinds = _kinds(runs)
    places = {run: place for place, run in enumerate(runs.column("run_id").to_pylist()) if _is_in(run, wanted)}
    figures = (scores.column(name).to_pylist() for name in _FIGURE)
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for figure in zip(*figures, strict=True):
        place = places.get(figure[0])
        if place is not None:
            groups.setdefault((*figure[1:3], kinds[place]), []).append((place, *figure))
    seeds, positions = (runs.column(name).to_pylist() for name in ("training_seed", "position"))
    found = [_recipe(runs, seeds, positions, rows) for rows in groups.values()]
    return sorted(found, key=lambda one: (one.benchmark, one.metric, one.model, one.recipe, one.trajectories[0].seed))


def by_other_metrics(
    store: Store, benchmark_ids: Sequence[int] | None, where: Sequence[Where], shown: Sequence[RecipeScores]
) -> dict[str, tuple[str, ...]]:
    """For benchmarks that ``shown`` lacks, the metrics by which they have seeds or checkpoints: another dump
    may have made a metric the headline that training runs lack.

    Args:
        benchmark_ids: of the benchmarks that were asked for; None for all.
        where: conditions that the runs must fulfil.
        shown: what is shown of them.
    """
    table = store.arrow(
        "select distinct benchmark_id from run_current where training_seed <> '' or position is not null"
    )
    placed = set(table.column("benchmark_id").to_pylist())
    missing = placed.difference(*(one.benchmark_ids for one in shown))
    if benchmark_ids is not None:
        missing &= set(benchmark_ids)
    metrics: dict[str, set[str]] = {}
    for one in read_recipes(store, sorted(missing), metric="*", where=where) if missing else ():
        if one.is_telling:
            metrics.setdefault(one.benchmark, set()).add(one.metric)
    return {name: tuple(sorted(metrics[name])) for name in sorted(metrics)}


def describe_others(others: Mapping[str, Sequence[str]]) -> str:
    """One line that names such benchmarks, at most three; empty if there are none."""
    named = [f"{name} (--metric {' or '.join(metrics[:3])})" for name, metrics in list(others.items())[:3]]
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"by another metric than the headline: {', '.join(named)}{more}" if named else ""


def settings_apart(recipes: Sequence[RecipeScores]) -> list[str]:
    """For each recipe the settings in which it differs from the others, such as ``fewshot=2``; empty
    where nothing differs but what a table of recipes says by itself."""
    differing = [
        name for name in SHARED if name not in _SAID_ELSEWHERE and len({str(one.settings[name]) for one in recipes}) > 1
    ]
    return [
        ", ".join(f"{name}={value}" for name in differing if (value := one.settings[name]) is not None)
        for one in recipes
    ]


def settings_in_groups(recipes: Sequence[RecipeScores], group: Callable[[RecipeScores], object]) -> list[str]:
    """As `settings_apart`, among those of its group only."""
    members: dict[object, list[int]] = {}
    for place, one in enumerate(recipes):
        members.setdefault(group(one), []).append(place)
    labels = [""] * len(recipes)
    for places in members.values():
        for place, words in zip(places, settings_apart([recipes[place] for place in places]), strict=True):
            labels[place] = words
    return labels


def _is_in(run: int, wanted: Set[int] | None) -> bool:
    return wanted is None or run in wanted


def _kinds(runs: pa.Table) -> list[int]:
    """A number for each run, equal where runs agree in all but seed and place in training."""
    kind = np.zeros(runs.num_rows, np.int64)
    for name in ("benchmark", "model", "position_unit", *SHARED):
        column = runs.column(name).combine_chunks().dictionary_encode().indices.fill_null(-1)
        codes = column.to_numpy(zero_copy_only=False).astype(np.int64) + 1
        _, kind = np.unique(kind * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    numbers: list[int] = kind.tolist()
    return numbers


def _fulfilling(store: Store, where: Sequence[Where]) -> set[int] | None:
    """Ids of the runs that fulfil all conditions; None without any."""
    if not where:
        return None
    columns = ", ".join(dict.fromkeys(one.name for one in where))
    runs = store.rows(f"select run_id, {columns} from run_current")
    return {run["run_id"] for run in runs if all(one.holds(run) for one in where)}


def _recipe(
    runs: pa.Table, seeds: Sequence[str | None], positions: Sequence[float | None], rows: Sequence[tuple[Any, ...]]
) -> RecipeScores:
    """Figures of runs of one kind: the place of the run in ``runs``, then ``_FIGURE``."""
    by_seed: dict[str, dict[float, list[tuple[float, float, int]]]] = {}
    for place, run, _metric, _filter, _id, _direction, estimate, error in rows:
        position = np.inf if (at := positions[place]) is None else float(at)  # a model without: its end
        found = (estimate, np.nan if error is None else error, run)
        by_seed.setdefault(seeds[place] or "", {}).setdefault(position, []).append(found)
    places = sorted({row[0] for row in rows})
    first = runs.slice(places[0], 1).to_pylist()[0]
    numbers = runs.column("benchmark_id").take(places).to_pylist()
    return RecipeScores(
        benchmark=first["benchmark"],
        metric=",".join(filter(None, rows[0][2:4])),
        higher_is_better=rows[0][5],
        model=first["model"],
        recipe=first["recipe"] or "",
        unit=first["position_unit"] or "",
        settings={name: first[name] for name in SHARED},
        trajectories=tuple(_trajectory(seed, found) for seed, found in sorted(by_seed.items())),
        metric_ids=tuple(sorted({row[4] for row in rows})),
        benchmark_ids=tuple(sorted(set(numbers))),
    )


def _trajectory(seed: str, by_position: Mapping[float, Sequence[tuple[float, float, int]]]) -> Trajectory:
    positions = tuple(sorted(by_position))
    repeats = [by_position[position] for position in positions]
    scores, errors = (
        tuple(each[0][part] if len(each) == 1 else fmean(one[part] for one in each) for each in repeats)
        for part in (0, 1)
    )
    runs = tuple(tuple(run for _, _, run in each) for each in repeats)
    return Trajectory(seed, positions, scores, errors, runs)
