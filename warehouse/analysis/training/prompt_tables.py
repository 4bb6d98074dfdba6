"""Prompt scores of every checkpoint of a recipe, as the statistics of curves take them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark, Metric
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map, clusters_under_links
from warehouse.analysis.selection.prompts import options
from warehouse.analysis.selection.scores import Links, PromptScores, follow_links, read_links, read_scores
from warehouse.analysis.training.trajectories import RecipeScores
from warehouse.stats.training.curve_tests import binomial_p_above
from warehouse.stats.training.seed_means import (
    SeedMean,
    difference_of_figures,
    difference_of_seed_means,
    figure_mean,
    seed_mean,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Floats = NDArray[np.float64]

#: Pairs of recipes whose prompts are compared.
MOST_PAIRS = 100


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint of all seeds.

    Attributes:
        figures: of each seed, shape (S,).
        errors: reported standard errors, NaN where unknown, shape (S,).
        prompts: ids of those that all seeds have a score of; empty where prompts are not stored.
        scores: of each seed on them, shape (S, n).
        zero_one: one run whose scores are single draws of 0 or 1.
    """

    figures: Floats
    errors: Floats
    prompts: NDArray[np.int64]
    scores: Floats
    zero_one: bool

    @property
    def has_prompts(self) -> bool:
        """Whether its scores are stored by prompt."""
        return len(self.prompts) > 0

    def mean(self, clusters: ClusterMap) -> SeedMean:
        """Its mean, with the errors of seeds and prompts."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors)
        return seed_mean(self.scores, clusters=clusters.labels(self.prompts))

    def p_above(self, chance: Floats | float, sign: float, clusters: ClusterMap) -> float:
        """One-sided p of a mean above chance, one number or one by prompt; NaN where there is no test."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors).p_above(float(np.mean(chance)), sign)
        labels, level = clusters.labels(self.prompts), np.broadcast_to(chance, self.prompts.shape)
        if self.zero_one and labels is None and np.ptp(level) == 0 and sign > 0 and 0 <= level[0] <= 1:
            return binomial_p_above(round(self.scores.sum()), len(self.prompts), float(level[0]))
        return seed_mean(self.scores - level, clusters=labels).p_above(0.0, sign)


@dataclass(frozen=True)
class Change:
    """A difference of two checkpoints.

    Attributes:
        mean: the difference with its errors.
        p_rise: one-sided p of a difference above 0; NaN where there is no test.
        p_fall: of one below 0.
    """

    mean: SeedMean
    p_rise: float
    p_fall: float

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return min(1.0, 2 * min(self.p_rise, self.p_fall)) if self.p_rise == self.p_rise else math.nan


def change(after: Checkpoint, before: Checkpoint, clusters: ClusterMap, *, same_seeds: bool) -> Change:
    """``after`` minus ``before``, over common prompts where both have them.

    Args:
        same_seeds: the seeds are the same in both, in the same order, and are paired.
    """
    common, of_a, of_b = np.intersect1d(after.prompts, before.prompts, assume_unique=True, return_indices=True)
    if not len(common):
        return _of_figures(after, before, same_seeds)
    a, b, labels = after.scores[:, of_a], before.scores[:, of_b], clusters.labels(common)
    found = seed_mean(a - b, clusters=labels) if same_seeds else difference_of_seed_means(a, b, clusters=labels)
    if after.zero_one and before.zero_one and labels is None:  # exact: only what changed tells
        won, lost = int((a > b).sum()), int((a < b).sum())
        if won + lost:
            return Change(found, *(binomial_p_above(k, won + lost, 0.5) for k in (won, lost)))
    return Change(found, found.p_above(), found.p_above(sign=-1.0))


def _of_figures(after: Checkpoint, before: Checkpoint, same_seeds: bool) -> Change:
    if same_seeds and len(after.figures) > 1:
        found = figure_mean(after.figures - before.figures)
    else:
        found = difference_of_figures(after.figures, before.figures, after.errors, before.errors)
    return Change(found, found.p_above(), found.p_above(sign=-1.0))


def read_checkpoints(
    store: Store, recipes: Sequence[RecipeScores], metrics: Mapping[int, Metric], links: Links
) -> list[dict[float, Checkpoint]]:
    """The common checkpoints of each recipe, by position.

    Args:
        metrics: of the recipes, by id.
        links: put prompts under those that these lead to.
    """
    cells: dict[tuple[int, int, float], int] = {}
    by_metric: dict[tuple[int, ...], dict[int, int]] = {}
    for number, recipe in enumerate(recipes):
        if any(metrics[one].link != "identity" for one in recipe.metric_ids):
            continue  # the figure is no mean of the prompts' scores
        runs = by_metric.setdefault(recipe.metric_ids, {})
        for seed, one in enumerate(recipe.trajectories):
            for position, ids in zip(one.positions, one.runs, strict=True):
                group = cells.setdefault((number, seed, position), len(cells))
                runs |= dict.fromkeys(ids, group)
    scores: dict[int, PromptScores] = {}
    for metric_ids, runs in by_metric.items():
        scores |= read_scores(store, runs, metric_ids, links=links)
    return [
        {position: _checkpoint(number, recipe, position, cells, scores) for position in recipe.common}
        for number, recipe in enumerate(recipes)
    ]


def _checkpoint(
    number: int,
    recipe: RecipeScores,
    position: float,
    cells: Mapping[tuple[int, int, float], int],
    scores: Mapping[int, PromptScores],
) -> Checkpoint:
    figures, errors = recipe.table([position])[:, 0], recipe.errors([position])[:, 0]
    groups = [cells.get((number, seed, position)) for seed in range(len(recipe.trajectories))]
    found = [None if group is None else scores.get(group) for group in groups]
    kept = [one for one in found if one is not None and one.n and one.uneven_weights is None]
    none = np.empty(0, np.int64)
    if len(kept) < len(found):
        return Checkpoint(figures, errors, none, np.empty((len(found), 0)), False)
    prompts = reduce(_common, (one.prompts for one in kept))
    values = np.array([one.values[np.searchsorted(one.prompts, prompts)] for one in kept])
    zero_one = len(kept) == 1 and bool(np.all(kept[0].zero_one & (kept[0].n_draws == 1)))
    return Checkpoint(figures, errors, prompts, values, zero_one)


def _common(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    return a if np.array_equal(a, b) else np.intersect1d(a, b, assume_unique=True)


def prompt_variance(cells: Sequence[Checkpoint]) -> tuple[float | None, int | None]:
    """ω² of the difference of two recipes on one prompt, mean over pairs, and the prompts stored; None for none."""
    if not all(cell.has_prompts for cell in cells):
        return None, None
    found = []
    for a, b in islice(combinations(cells, 2), MOST_PAIRS):
        common, of_a, of_b = np.intersect1d(a.prompts, b.prompts, assume_unique=True, return_indices=True)
        if len(common) > 1:
            part = difference_of_seed_means(a.scores[:, of_a], b.scores[:, of_b]).prompt_variance
            found.append(part * len(common))
    return (float(np.mean(found)), min(len(cell.prompts) for cell in cells)) if found else (None, None)


@dataclass(frozen=True)
class Chance:
    """What guessing scores.

    Attributes:
        level: its mean over prompts; None with ``reason``.
        source: ``given``, ``metric`` (the dump or mapping says so) or ``options`` (1/their number);
            empty without.
        by_prompt: of each prompt by id, where it comes from the options.
    """

    level: float | None
    source: str
    by_prompt: Mapping[int, float]
    reason: str = ""

    def of(self, prompts: NDArray[np.int64]) -> Floats | float | None:
        """One number for all, or one by prompt; None where it is unknown."""
        if self.source != "options" or not len(prompts):
            return self.level
        return np.array([self.by_prompt[one] for one in prompts.tolist()])


UNKNOWN_CHANCE = Chance(None, "", {}, "what guessing scores is not known; --chance says it")


@dataclass(frozen=True)
class Curve:
    """One recipe with the scores of its checkpoints.

    Attributes:
        recipe: figures of its runs.
        checkpoints: those that all seeds have, by position.
        clusters: of the prompts.
        chance: what guessing scores.
        bounds: of the metric; None if unknown.
        setting: what tells it from other curves.
    """

    recipe: RecipeScores
    checkpoints: Mapping[float, Checkpoint]
    clusters: ClusterMap
    chance: Chance
    bounds: tuple[float | None, float | None] | None
    setting: str


def read_curves(
    store: Store,
    benchmark: Benchmark,
    metrics: Sequence[Metric],
    recipes: Sequence[RecipeScores],
    *,
    chance: float | None = None,
    cluster: str | None = None,
) -> list[Curve]:
    """Those of some recipes that have places in training, with the scores of their checkpoints; none where no
    recipe has two places.

    Args:
        metrics: of the benchmark.
        chance: what guessing scores; None: as the store has it.
        cluster: clustering for the errors; None for the default.
    """
    placed = [one for one in recipes if one.unit]
    if not any(len(set().union(*(each.positions for each in one.trajectories))) > 1 for one in placed):
        return []
    by_id, links = {one.id: one for one in metrics}, read_links(store)
    clusters = clusters_under_links(cluster_map(store, benchmark.ids, benchmark.clusterings, cluster), links)
    stated = store.rows(query_text("analysis", "chance_levels"), {"benchmark_ids": benchmark.ids})
    curves = []
    for recipe, table in zip(placed, read_checkpoints(store, placed, by_id, links), strict=True):
        own = [by_id[one] for one in recipe.metric_ids]
        levels = {
            row["chance_level"]
            for row in stated
            if row["metric_id"] in recipe.metric_ids and row["benchmark_id"] in recipe.benchmark_ids
        }
        if chance is not None:
            guessing = Chance(chance, "given", {})
        elif len(levels) == 1:
            guessing = Chance(levels.pop(), "metric", {})
        elif _is_rate(recipe, own) and table:
            guessing = _from_options(store, recipe, table, links)
        else:
            guessing = UNKNOWN_CHANCE
        curves.append(Curve(recipe, table, clusters, guessing, by_id[recipe.metric_ids[0]].bounds, ""))
    return curves


def _is_rate(recipe: RecipeScores, metrics: Sequence[Metric]) -> bool:
    """Whether the figure is a rate of right choices among options."""
    rates = all(one.bounds == (0.0, 1.0) and one.higher_is_better for one in metrics)
    return rates and recipe.settings.get("formulation") != "generate_until"


def _from_options(store: Store, recipe: RecipeScores, checkpoints: Mapping[float, Checkpoint], links: Links) -> Chance:
    """One over the number of options of each prompt, where all prompts have some."""
    rows = store.rows(query_text("analysis", "prompt_choices"), {"benchmark_ids": recipe.benchmark_ids})
    ids = follow_links(np.array([row["id"] for row in rows], dtype=np.int64), links).tolist()
    counts = [len(options(row["choices"])) for row in rows]
    by_prompt = {one: 1 / n for one, n in zip(ids, counts, strict=True) if n > 1}
    asked = set().union(*(one.prompts.tolist() for one in checkpoints.values()))
    if not asked or not asked <= by_prompt.keys():
        return UNKNOWN_CHANCE
    return Chance(sum(by_prompt[one] for one in asked) / len(asked), "options", by_prompt)
