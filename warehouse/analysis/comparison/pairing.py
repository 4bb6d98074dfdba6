"""The scores of two conditions, prompt by prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import (
    Metric,
    advise_metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
    run_metrics_of,
    scored_metrics,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map, clusters_under_links
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.scores import PromptScores, read_links, read_scores
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.stopped import stopped_early
from warehouse.errors import MisuseError
from warehouse.stats.core.inputs import is_constant
from warehouse.stats.core.sample import find_link
from warehouse.store.connection import Store

if TYPE_CHECKING:
    from warehouse.stats import PairedDifference

Floats = NDArray[np.float64]


class NotComparable(MisuseError):
    """Two runs that should not be compared; ``--force`` overrides where that can be."""


@dataclass(frozen=True)
class Pair:
    """Two conditions on one benchmark and split, and the prompts that both have a score of.

    Attributes:
        a: the first condition.
        b: the second.
        metric: that both are judged by.
        scores_a: all scores of the first.
        scores_b: all scores of the second.
        prompts: ids of the common prompts, ascending, shape (n,).
        of_a: place of each in ``scores_a``.
        of_b: place of each in ``scores_b``.
        clusters: cluster of each, below 0 for one of its own; None without clusters.
        labels: what tells either condition from the other.
        note: what a reader must know of the clusters, empty for nothing.
    """

    a: Condition
    b: Condition
    metric: Metric
    scores_a: PromptScores
    scores_b: PromptScores
    prompts: NDArray[np.int64]
    of_a: NDArray[np.intp]
    of_b: NDArray[np.intp]
    clusters: NDArray[np.int64] | None
    labels: tuple[str, str] = ("", "")
    note: str = ""

    @property
    def n(self) -> int:
        """Common prompts."""
        return len(self.prompts)

    @property
    def is_ratio(self) -> bool:
        """The figure is no plain mean of the prompts: weights differ, or there is a link."""
        weights = (self.scores_a.weights[self.of_a], self.scores_b.weights[self.of_b])
        return self.metric.link != "identity" or not all(map(is_constant, weights))

    @property
    def is_zero_one(self) -> bool:
        """Every common prompt has one draw in both, 0 or 1."""
        sides = ((self.scores_a, self.of_a), (self.scores_b, self.of_b))
        return all(bool(np.all(side.zero_one[rows]) and np.all(side.n_draws[rows] == 1)) for side, rows in sides)

    @property
    def n_draws(self) -> tuple[int, int]:
        """Generations of each on the common prompts."""
        return (int(self.scores_a.n_draws[self.of_a].sum()), int(self.scores_b.n_draws[self.of_b].sum()))

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """One number per common prompt of each, whose mean is the reported figure."""
        from warehouse.stats.paired.paired import figure_values  # only where pairs are formed

        link = find_link(self.metric.link)
        a, b = (figure_values(scores, weights, link) for scores, weights in self._sides)
        return a, b

    @property
    def _sides(self) -> tuple[tuple[Floats, Floats], ...]:
        """Scores and weights of each on the common prompts."""
        sides = ((self.scores_a, self.of_a), (self.scores_b, self.of_b))
        return tuple((side.values[rows], side.weights[rows]) for side, rows in sides)

    def difference(self, level: float, *, seed: int = 0, turned: bool = False) -> PairedDifference:
        """The paired difference, prompts sampled.

        Args:
            level: nominal coverage of its interval.
            seed: of the bootstrap of scores without bounds.
            turned: second minus first.

        Raises:
            StatisticsError: ``level`` or ``seed`` out of range.
        """
        from warehouse.stats import paired_difference  # only where pairs are formed

        (a, weights_a), (b, weights_b) = self._sides[::-1] if turned else self._sides
        return paired_difference(
            a,
            b,
            clusters=self.clusters,
            level=level,
            weights_a=weights_a,
            weights_b=weights_b,
            link=self.metric.link,
            bounds=self.metric.bounds_of(min(a.min(), b.min()), max(a.max(), b.max())),
            seed=seed,
        )

    @property
    def differences(self) -> Floats:
        """First minus second, per common prompt."""
        return self.values[0] - self.values[1]

    @property
    def score_range(self) -> float | None:
        """Largest difference that two scores can have; None where the figure is no plain mean, or
        scores have no bounds."""
        low, high = self.metric.bounds or (None, None)
        return None if self.is_ratio or low is None or high is None else high - low

    @property
    def units(self) -> NDArray[np.int64]:
        """What is independent: the cluster of each common prompt, else the prompt (below 0)."""
        return -1 - self.prompts if self.clusters is None else self.clusters


def read_pair(store: Store, a: Condition, b: Condition, selection: Selection, *, force: bool) -> Pair:
    """The scores of two conditions on one benchmark.

    Args:
        selection: of metric and clustering.
        force: also where judge, scale or task version differ.

    Raises:
        NotComparable: they are the same run, have nothing in common, or should not be compared.
        MisuseError: unknown metric or clustering.
    """
    shared = sorted(set(a.run_ids) & set(b.run_ids))
    if shared:
        raise NotComparable(f"both references mean run {shared[0]}")
    refuse_stopped(store, a, b)
    metric_a, metric_b, scores_a, scores_b = scores_of_both(store, a, b, selection.metric)
    refuse_incomparable(a, b, metric_a, metric_b, force)
    benchmarks = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
    defaults = find_benchmark(store, a.setting("benchmark")).clusterings
    own = cluster_map(store, benchmarks, defaults, selection.cluster)
    clusters = clusters_under_links(own, read_links(store))
    pair = pair_up(a, b, metric_a, scores_a, scores_b, clusters)
    first, second = label_conditions(store, (a, b))
    return replace(pair, labels=(first, second), note=clusters.note)


def refuse_stopped(store: Store, a: Condition, b: Condition) -> None:
    """Refuse runs that were ended early because of their scores: no test with a fixed n holds.

    Raises:
        NotComparable: names the run and the rule.
    """
    records = stopped_early(store, (a, b))
    for condition in (a, b):
        if condition.key in records:
            raise NotComparable(
                f"{condition.model} was stopped early by {records[condition.key].name}, so that tests and intervals"
                " for a fixed number of prompts do not hold; see: warehouse gate --sequential"
            )


def pair_up(
    a: Condition, b: Condition, metric: Metric, scores_a: PromptScores, scores_b: PromptScores, clusters: ClusterMap
) -> Pair:
    """Two conditions whose scores are read, with links followed, on the prompts that both have.

    Raises:
        NotComparable: there is none.
    """
    common, of_a, of_b = np.intersect1d(scores_a.prompts, scores_b.prompts, assume_unique=True, return_indices=True)
    if not len(common):
        raise NotComparable(
            f"no prompt in common: {a.model} has {scores_a.n} scored prompts, {b.model} has"
            f" {scores_b.n}, none of them the same (`warehouse link` joins equal prompts;"
            " `warehouse compare --unpaired` compares them all the same)"
        )
    labels = clusters.labels(common)
    return Pair(a, b, metric, scores_a, scores_b, common, of_a, of_b, labels)


def scores_of_both(
    store: Store, a: Condition, b: Condition, wanted: str | None
) -> tuple[Metric, Metric, PromptScores, PromptScores]:
    """The metric that both have scores of, else the first of each, with the scores.

    Raises:
        NotComparable: one of them has no scored prompt.
    """
    ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
    known = metrics_of(store, ids)
    chosen = choose_metrics(known, wanted, a.setting("benchmark"))
    runs = dict.fromkeys(a.run_ids, 0) | dict.fromkeys(b.run_ids, 1)
    sides: tuple[list[tuple[Metric, PromptScores]], ...] = ([], [])
    for metric in {metric.id: metric for metric in chosen if metric.link != "none"}.values():
        by_side = read_scores(store, runs, [metric.id], links=read_links(store))
        usable = {side: scores for side, scores in by_side.items() if scores.n}
        if len(usable) == 2:
            return metric, metric, usable[0], usable[1]
        for side, scores in usable.items():
            sides[side].append((metric, scores))
    for condition, usable_here in zip((a, b), sides, strict=True):
        if not usable_here:
            scored = scored_metrics(run_metrics_of(store, ids), known, (a, b))
            common = {label for label, holders in scored.items() if holders == 2} - {chosen[0].label}
            advice = advise_metric("both have", common)
            raise NotComparable(
                f"{condition.model} has no scored prompt by {chosen[0].label} (published figures"
                f" cannot be paired){advice}"
            )
    (metric_a, scores_a), (metric_b, scores_b) = sides[0][0], sides[1][0]
    return metric_a, metric_b, scores_a, scores_b


def refuse_incomparable(a: Condition, b: Condition, metric_a: Metric, metric_b: Metric, force: bool) -> None:
    """Refuse what differs in scale, judge, metric or version, unless forced.

    Raises:
        NotComparable: names what differs.
    """
    parts = ("unit", "link", "scorer", "judge model", "scorer settings")
    differ = [
        f"{part} {one or 'none'!r} against {other or 'none'!r}"
        for part, one, other in zip(parts, metric_a.scale, metric_b.scale, strict=True)
        if one != other
    ]
    versions = (a.setting("task_version"), b.setting("task_version"))
    if versions[0] != versions[1]:
        differ.append(f"task version {versions[0] or 'none'!r} against {versions[1] or 'none'!r}")
    editions = (a.setting("benchmark_version"), b.setting("benchmark_version"))
    if all(editions) and editions[0] != editions[1]:
        differ.append(f"benchmark version {editions[0]!r} against {editions[1]!r}")
    if metric_a.label != metric_b.label:
        differ.append(f"metric {metric_a.label!r} against {metric_b.label!r}")
    if differ and not force:
        raise NotComparable(f"they differ in {', '.join(differ)}; --force compares them all the same")
