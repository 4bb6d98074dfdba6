"""Trained replicates in the store: figures of runs, scores of checkpoints, what
guessing gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set, Sized
from functools import reduce
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    Metric,
    find_benchmark,
    metrics_of,
)
from warehouse.analysis.selection.clusterings import cluster_map, clusters_under_links
from warehouse.analysis.selection.prompt_links import Links, follow_links, read_links
from warehouse.analysis.selection.prompts import options
from warehouse.analysis.selection.reference_text import Where
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.training.trajectories import (
    SHARED,
    UNKNOWN_CHANCE,
    Chance,
    Checkpoint,
    Curve,
    RecipeScores,
    Trajectory,
    change,
)
from warehouse.errors import MisuseError
from warehouse.stats.training.seed_means import SeedMean
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Columns of a figure, in order.
_FIGURE = (
    *(
        "run_id",
        "metric",
        "metric_filter",
        "metric_id",
        "higher_is_better",
        "low",
        "high",
        "n_prompts",
    ),
    *("estimate", "standard_error"),
)

#: Estimate, error, run, prompts behind it and a number for which they are.
_Figure = tuple[float, float, int, int, int]


def read_recipes(
    store: Store,
    benchmark_ids: Sequence[int] | None = None,
    *,
    metric: str | None = None,
    where: Sequence[Where] = (),
) -> list[RecipeScores]:
    """Replicates by recipe, from the figures of their runs; repeats of one checkpoint
    are averaged.

    Args:
        benchmark_ids: whose; None for all.
        metric: ``name`` or ``name,filter``; None for the headline metric of each
            benchmark, ``*`` for all metrics.
        where: conditions that the runs must fulfil.

    Returns:
        in order of benchmark, metric, model and recipe.
    """
    metrics, named = "s.is_default", {}
    if metric == "*":
        metrics = "1 = 1"
    elif metric is not None:
        name, _, pipeline = metric.partition(",")
        metrics = (
            "s.metric = :metric_name and (s.metric_filter = :metric_filter or "
            ":metric_filter = '')"
        )
        named = {"metric_name": name, "metric_filter": pipeline}
    of_runs = query_text("analysis/training", "training_runs")
    of_scores = query_text("analysis/training", "training_scores")
    here = "1 = 1" if benchmark_ids is None else "run.benchmark_id in (:benchmark_ids)"
    among: dict[str, Any] = (
        {} if benchmark_ids is None else {"benchmark_ids": benchmark_ids}
    )
    runs = store.arrow(
        of_runs.format(here=here), among, per="benchmark_id" if among else ""
    )
    of_these = {"run_ids": runs.column("run_id").to_pylist()} if among else {}
    here = "s.run_id in (:run_ids)" if among else "1 = 1"
    scores = store.arrow(
        of_scores.format(metrics=metrics, here=here),
        of_these | named,
        per="run_id" if among else "",
    )
    sets = _prompt_sets(store, runs, scores, among)
    run_ids = _fulfilling(store, where)
    kinds = _kinds(runs)
    index_of = {
        run: index
        for index, run in enumerate(runs.column("run_id").to_pylist())
        if _is_in(run, run_ids)
    }
    figures = (scores.column(name).to_pylist() for name in _FIGURE)
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for figure in zip(*figures, strict=True):
        index = index_of.get(figure[0])
        if index is not None:
            which = sets.get((figure[0], figure[3]), 0)
            groups.setdefault((*figure[1:3], kinds[index]), []).append(
                (index, *figure, which)
            )
    seeds, positions = (
        runs.column(name).to_pylist() for name in ("training_seed", "position")
    )
    recipes = [_recipe(runs, seeds, positions, rows) for rows in groups.values()]
    return sorted(
        recipes,
        key=lambda r: (
            r.benchmark,
            r.metric,
            r.model,
            r.recipe,
            r.trajectories[0].seed,
        ),
    )


def check_metric(found: Sized, metric: str | None) -> None:
    """Refuse a metric by which there is nothing, where one was named."""
    if metric not in (None, "*") and not found:
        raise MisuseError(
            f"no figure by {metric!r} there; `warehouse list metrics BENCHMARK` "
            "lists metrics"
        )


def no_figure(reference: str) -> str:
    """A note that a model has no figure by the metric asked for."""
    return (
        f"{reference!r} has no figure by this metric; `warehouse list metrics "
        "BENCHMARK` lists others"
    )


def by_other_metrics(
    store: Store,
    benchmark_ids: Sequence[int] | None,
    where: Sequence[Where],
    shown: Sequence[RecipeScores] = (),
    *,
    checkpoints: bool = False,
) -> dict[str, tuple[str, ...]]:
    """For benchmarks that ``shown`` lacks, the metrics by which they have seeds or
    checkpoints: another dump may have made a metric the headline that training runs
    lack.

    Args:
        benchmark_ids: of the benchmarks that were asked for; None for all.
        where: conditions that the runs must fulfil.
        shown: what is shown of them.
        checkpoints: those alone that have two of them, not two seeds.
    """
    table = store.arrow(
        "select distinct benchmark_id from run_current where training_seed <> '' or "
        "position is not null"
    )
    placed = set(table.column("benchmark_id").to_pylist())
    missing = placed.difference(*(recipe.benchmark_ids for recipe in shown))
    if benchmark_ids is not None:
        missing &= set(benchmark_ids)
    metrics: dict[str, set[str]] = {}
    for recipe in (
        read_recipes(store, sorted(missing), metric="*", where=where) if missing else ()
    ):
        if len(recipe.common) > 1 or (recipe.is_telling and not checkpoints):
            metrics.setdefault(recipe.benchmark, set()).add(recipe.metric)
    return {name: tuple(sorted(metrics[name])) for name in sorted(metrics)}


def _is_in(run: int, run_ids: Set[int] | None) -> bool:
    return run_ids is None or run in run_ids


def _prompt_sets(
    store: Store, runs: pa.Table, scores: pa.Table, among: Mapping[str, Any]
) -> dict[tuple[int, int], int]:
    """The part of the benchmark's prompts that a figure rests on, by run and metric,
    where it is not all."""
    here = "1 = 1"
    if among:
        here = "benchmark_id in (:benchmark_ids)"
    per = ""
    if among:
        per = "benchmark_id"
    counted = store.rows(
        query_text("analysis/training", "prompt_counts").format(here=here),
        among,
        per=per,
    )
    totals = {(row["benchmark_id"], row["split"]): row["n_prompts"] for row in counted}
    columns = (
        runs.column(name).to_pylist() for name in ("run_id", "benchmark_id", "split")
    )
    total_of = {
        run: totals.get((benchmark, split or ""), 0)
        for run, benchmark, split in zip(*columns, strict=True)
    }
    behind = zip(
        scores.column("run_id").to_pylist(),
        scores.column("n_prompts").to_pylist(),
        strict=True,
    )
    partial = sorted({run for run, n in behind if n and n < total_of.get(run, 0)})
    if len(partial) < 2:
        return {}
    rows = store.rows(
        query_text("analysis/training", "training_prompt_sets"),
        {"run_ids": partial},
        per="run_id",
    )
    return {(row["run_id"], row["metric_id"]): row["prompt_set"] for row in rows}


def _kinds(runs: pa.Table) -> list[int]:
    """A number for each run, equal where runs agree in all but seed and place in
    training."""
    kind = np.zeros(runs.num_rows, np.int64)
    for name in ("benchmark", "model", "position_unit", *SHARED):
        column = (
            runs.column(name).combine_chunks().dictionary_encode().indices.fill_null(-1)
        )
        codes = column.to_numpy(zero_copy_only=False).astype(np.int64) + 1
        _, kind = np.unique(
            kind * (codes.max(initial=0) + 1) + codes, return_inverse=True
        )
    numbers: list[int] = kind.tolist()
    return numbers


def _fulfilling(store: Store, where: Sequence[Where]) -> set[int] | None:
    """Ids of the runs that fulfil all conditions; None without any."""
    if not where:
        return None
    columns = ", ".join(dict.fromkeys(clause.name for clause in where))
    runs = store.rows(f"select run_id, {columns} from run_current")
    met = set()
    for run in runs:
        if all(clause.holds(run) for clause in where):
            met.add(run["run_id"])
    return met


def _recipe(
    runs: pa.Table,
    seeds: Sequence[str | None],
    positions: Sequence[float | None],
    rows: Sequence[tuple[Any, ...]],
) -> RecipeScores:
    """Figures of runs of one kind: the index of the run in ``runs``, ``_FIGURE``, and
    which prompts they rest on."""
    by_seed: dict[str, dict[float, list[_Figure]]] = {}
    for index, run, *_metric, n_prompts, estimate, error, which in rows:
        # a model without: its end
        position = np.inf if (at := positions[index]) is None else float(at)
        figure = (
            estimate,
            np.nan if error is None else error,
            run,
            n_prompts or 0,
            which,
        )
        by_seed.setdefault(seeds[index] or "", {}).setdefault(position, []).append(
            figure
        )
    taken = sorted({row[0] for row in rows})
    first = runs.slice(taken[0], 1).to_pylist()[0]
    numbers, sizes = (
        set(runs.column(name).take(taken).to_pylist())
        for name in ("benchmark_id", "parameter_count")
    )
    return RecipeScores(
        benchmark=first["benchmark"],
        metric=",".join(filter(None, rows[0][2:4])),
        higher_is_better=rows[0][5],
        model=first["model"],
        recipe=first["recipe"] or "",
        unit=first["position_unit"] or "",
        settings={name: first[name] for name in SHARED},
        trajectories=tuple(
            _trajectory(seed, by_position)
            for seed, by_position in sorted(by_seed.items())
        ),
        metric_ids=tuple(sorted({row[4] for row in rows})),
        benchmark_ids=tuple(sorted(numbers)),
        parameters=float(size) if len(sizes) == 1 and (size := sizes.pop()) else None,
        is_rate=rows[0][5] is not False and rows[0][7] == 1,
        width=_width(rows),
    )


def _width(rows: Sequence[tuple[Any, ...]]) -> float | None:
    """Range of the metric; None where it is not known, or figures lie outside of it."""
    low = rows[0][6]
    high = rows[0][7]
    if low is None or high is None:
        return None
    return (
        high - low if all(low - 1e-9 <= row[9] <= high + 1e-9 for row in rows) else None
    )


def _trajectory(
    seed: str, by_position: Mapping[float, Sequence[_Figure]]
) -> Trajectory:
    positions = tuple(sorted(by_position))
    repeats = [by_position[position] for position in positions]
    scores = []
    errors = []
    runs = []
    counts = []
    for group in repeats:
        scores.append(_mean([figure[0] for figure in group]))
        errors.append(_mean([figure[1] for figure in group]))
        runs.append(tuple(figure[2] for figure in group))
        counts.append(min(figure[3] for figure in group))
    return Trajectory(
        seed,
        positions,
        tuple(scores),
        tuple(errors),
        tuple(runs),
        tuple(counts),
        tuple(group[0][4] for group in repeats),
    )


def _mean(figures: Sequence[float]) -> float:
    """The mean of repeats; a figure alone as it is."""
    if len(figures) == 1:
        return figures[0]
    return fmean(figures)


def read_checkpoints(
    store: Store,
    recipes: Sequence[RecipeScores],
    metrics: Mapping[int, Metric],
    links: Links,
) -> list[dict[float, Checkpoint]]:
    """The common checkpoints of each recipe, by position.

    Args:
        metrics: of the recipes, by id.
        links: put prompts under those that these lead to.
    """
    cells: dict[tuple[int, int, float], int] = {}
    by_metric: dict[tuple[int, ...], dict[int, int]] = {}
    for number, recipe in enumerate(recipes):
        if any(metrics[metric].link != "identity" for metric in recipe.metric_ids):
            continue  # the figure is no mean of the prompts' scores
        runs = by_metric.setdefault(recipe.metric_ids, {})
        for seed, path in enumerate(recipe.trajectories):
            for position, ids in zip(path.positions, path.runs, strict=True):
                group = cells.setdefault((number, seed, position), len(cells))
                runs |= dict.fromkeys(ids, group)
    scores: dict[int, PromptScores] = {}
    for metric_ids, runs in by_metric.items():
        scores |= read_scores(store, runs, metric_ids, links=links)
    return [
        {
            position: _checkpoint(number, recipe, position, cells, scores)
            for position in recipe.common
        }
        for number, recipe in enumerate(recipes)
    ]


def _checkpoint(
    number: int,
    recipe: RecipeScores,
    position: float,
    cells: Mapping[tuple[int, int, float], int],
    scores: Mapping[int, PromptScores],
) -> Checkpoint:
    figures = recipe.table([position])[:, 0]
    errors = recipe.errors([position])[:, 0]
    groups = [
        cells.get((number, seed, position)) for seed in range(len(recipe.trajectories))
    ]
    by_seed = [None if group is None else scores.get(group) for group in groups]
    samples = [
        sample
        for sample in by_seed
        if sample is not None and sample.n and sample.uneven_weights is None
    ]
    none = np.empty(0, np.int64)
    if len(samples) < len(by_seed):
        return Checkpoint(figures, errors, none, np.empty((len(by_seed), 0)), False)
    prompts = reduce(_common, (sample.prompts for sample in samples))
    values = np.array(
        [sample.values[np.searchsorted(sample.prompts, prompts)] for sample in samples]
    )
    zero_one = len(samples) == 1 and bool(
        np.all(samples[0].zero_one & (samples[0].n_draws == 1))
    )
    return Checkpoint(figures, errors, prompts, values, zero_one)


def _common(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    if np.array_equal(a, b):
        return a
    return np.intersect1d(a, b, assume_unique=True)


def read_difference(store: Store, a: RecipeScores, b: RecipeScores) -> SeedMean | None:
    """The difference of two recipes on one benchmark at their last common checkpoints,
    with its error over prompts; None where the seeds of one have no checkpoint in
    common.
    """
    if not (a.common and b.common):
        return None
    benchmark = find_benchmark(store, a.benchmark)
    links = read_links(store)
    clusters = clusters_under_links(
        cluster_map(store, benchmark.ids, benchmark.clusterings, None), links
    )
    metrics = {metric.id: metric for metric in metrics_of(store, benchmark.ids)}
    ends = read_checkpoints(store, [a.last(), b.last()], metrics, links)
    first, second = (next(iter(end.values())) for end in ends)
    return change(first, second, clusters, same_seeds=False).mean


def read_curves(
    store: Store,
    benchmark: Benchmark,
    metrics: Sequence[Metric],
    recipes: Sequence[RecipeScores],
    *,
    chance: float | None = None,
    cluster: str | None = None,
) -> list[Curve]:
    """Curves of those of some recipes that have places in training, with the scores of
    their checkpoints; none where no recipe has two places.

    Args:
        metrics: of the benchmark.
        chance: what guessing scores; None: as the store has it.
        cluster: clustering for the errors; None for the default.
    """
    placed = [recipe for recipe in recipes if recipe.unit]
    if not any(
        len(set().union(*(path.positions for path in recipe.trajectories))) > 1
        for recipe in placed
    ):
        return []
    by_id, links = {metric.id: metric for metric in metrics}, read_links(store)
    clusters = clusters_under_links(
        cluster_map(store, benchmark.ids, benchmark.clusterings, cluster), links
    )
    chance_levels = store.rows(
        query_text("analysis", "chance_levels"), {"benchmark_ids": benchmark.ids}
    )
    curves = []
    for recipe, table in zip(
        placed, read_checkpoints(store, placed, by_id, links), strict=True
    ):
        own = [by_id[metric] for metric in recipe.metric_ids]
        levels = {
            row["chance_level"]
            for row in chance_levels
            if row["metric_id"] in recipe.metric_ids
            and row["benchmark_id"] in recipe.benchmark_ids
        }
        if chance is not None:
            guessing = Chance(chance, "given", {})
        elif len(levels) == 1:
            guessing = Chance(levels.pop(), "metric", {})
        elif _is_rate(recipe, own) and table:
            guessing = _from_options(store, recipe, table, links)
        else:
            guessing = UNKNOWN_CHANCE
        curves.append(
            Curve(
                recipe,
                table,
                clusters,
                guessing,
                by_id[recipe.metric_ids[0]].bounds,
                "",
            )
        )
    return curves


def _is_rate(recipe: RecipeScores, metrics: Sequence[Metric]) -> bool:
    """True if the figure is a rate of right choices among options."""
    rates = all(
        metric.bounds == (0.0, 1.0) and metric.higher_is_better for metric in metrics
    )
    return rates and recipe.settings.get("formulation") != "generate_until"


def _from_options(
    store: Store,
    recipe: RecipeScores,
    checkpoints: Mapping[float, Checkpoint],
    links: Links,
) -> Chance:
    """One over the number of options of each prompt, where all prompts have some."""
    rows = store.rows(
        query_text("analysis/training", "prompt_choices"),
        {"benchmark_ids": recipe.benchmark_ids},
    )
    ids = follow_links(
        np.array([row["id"] for row in rows], dtype=np.int64), links
    ).tolist()
    counts = [len(options(row["choices"])) for row in rows]
    by_prompt = {prompt: 1 / n for prompt, n in zip(ids, counts, strict=True) if n > 1}
    prompt_ids = set().union(
        *(scores.prompts.tolist() for scores in checkpoints.values())
    )
    if not prompt_ids or not prompt_ids <= by_prompt.keys():
        return UNKNOWN_CHANCE
    return Chance(
        sum(by_prompt[prompt] for prompt in prompt_ids) / len(prompt_ids),
        "options",
        by_prompt,
    )
