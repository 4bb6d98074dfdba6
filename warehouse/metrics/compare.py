"""Two models on the same prompts: the paired difference on each benchmark that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.errors import MisuseError
from warehouse.metrics.benchmarks import Metric, choose_metrics, find_benchmark, metrics_of
from warehouse.metrics.clusterings import cluster_map
from warehouse.metrics.comparison_rows import ComparisonRow, make_row
from warehouse.metrics.conditions import Condition
from warehouse.metrics.reference import Where, find_conditions, parse_where, pick_one
from warehouse.metrics.results import Result
from warehouse.metrics.scores import PromptScores, read_scores
from warehouse.stats import paired_difference
from warehouse.store.engine import Store

Place = tuple[str, str]


@dataclass(frozen=True)
class Comparison(Result):
    """Paired differences, one row per benchmark and split.

    Attributes:
        a: the first reference, as given.
        b: the second reference, as given.
        left_out: benchmarks that were not compared, each with the reason.
    """

    a: str
    b: str
    rows: tuple[ComparisonRow, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        if len(self.rows) != 1:
            return f"{self.a} against {self.b} on {len(self.rows)} benchmarks"
        row = self.rows[0]
        interval = "" if row.ci_low is None else f" [{row.ci_low:.4g}, {row.ci_high:.4g}]"
        p = "" if row.p_value is None else f", p={row.p_value:.3g}"
        return (
            f"{row.model_a} - {row.model_b} on {row.benchmark}: {row.difference:+.4g}{interval}"
            f" ({row.n_prompts} common prompts{p})"
        )


class _Unlike(MisuseError):
    """Two runs that should not be compared; ``--force`` overrides."""


@dataclass(frozen=True)
class _Options:
    metric: str | None
    cluster: str | None
    level: float
    force: bool


def compare(
    store: Store,
    a: str,
    b: str,
    *,
    benchmark: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    cluster: str | None = None,
    level: float = 0.95,
    latest: bool = False,
    force: bool = False,
) -> Comparison:
    """The paired difference of two models, on one benchmark or on all that both have.

    Args:
        a: reference of the first (``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``).
        b: reference of the second.
        benchmark: name of a benchmark; None for all.
        metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
        where: conditions ``field=value`` on the runs of both.
        cluster: clustering for the errors: None for the benchmark's default, ``"none"``,
            ``"same_text"``, or a name.
        level: nominal coverage of the intervals, in (0, 1).
        latest: where a reference means several conditions, take the one that ran last.
        force: compare what differs in judge, metric scale or task version.

    Raises:
        MisuseError: an unknown or ambiguous reference, nothing in common, or runs that should
            not be compared.
        StatisticsError: ``level`` out of range.
    """
    ids = None if benchmark is None else find_benchmark(store, benchmark).ids
    wanted, options = parse_where(where), _Options(metric, cluster, level, force)
    of_a, of_b = _by_place(store, a, ids, wanted), _by_place(store, b, ids, wanted)
    places = [place for place in of_a if place in of_b]
    if not places:
        raise MisuseError(f"{a} and {b} have no benchmark in common: {_lists(a, of_a, b, of_b)}")
    rows, refused = [], []
    for place in places:
        one, other = (
            pick_one(of_a[place], a, latest=latest),
            pick_one(of_b[place], b, latest=latest),
        )
        try:
            rows.append(_compare_on(store, one, other, options))
        except _Unlike as reason:
            refused.append(f"{_in_words(place)}: {reason}")
    if not rows:
        raise MisuseError("; ".join(refused))
    missing = [place for place in of_a.keys() | of_b.keys() if place not in places]
    absent = [f"{_in_words(place)}: only one of them has it" for place in sorted(missing)]
    return Comparison(a, b, tuple(rows), tuple(refused + absent))


def _by_place(
    store: Store, text: str, ids: Sequence[int] | None, where: Sequence[Where]
) -> dict[Place, list[Condition]]:
    found = find_conditions(store, text, benchmark_ids=ids, where=where)
    models = sorted({condition.model for condition in found})
    if len(models) > 1:
        raise MisuseError(f"{text!r} means {len(models)} models, choose one: {', '.join(models)}")
    places: dict[Place, list[Condition]] = {}
    for condition in found:
        places.setdefault(condition.place, []).append(condition)
    return dict(sorted(places.items()))


def _compare_on(store: Store, a: Condition, b: Condition, options: _Options) -> ComparisonRow:
    shared = sorted(set(a.run_ids) & set(b.run_ids))
    if shared:
        raise _Unlike(f"both references mean run {shared[0]}")
    metric_a, metric_b, scores_a, scores_b = _scores(store, a, b, options)
    _refuse_unlike(a, b, metric_a, metric_b, options.force)
    common, of_a, of_b = np.intersect1d(
        scores_a.prompts, scores_b.prompts, assume_unique=True, return_indices=True
    )
    if not len(common):
        raise _Unlike(
            f"no prompt in common: {a.model} has {scores_a.n} scored prompts, {b.model} has"
            f" {scores_b.n}, none of them the same"
        )
    benchmarks = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
    defaults = find_benchmark(store, a.setting("benchmark")).clusterings
    clusters = cluster_map(store, benchmarks, defaults, options.cluster)
    found = paired_difference(
        scores_a.values[of_a], scores_b.values[of_b], clusters=clusters.labels(common),
        level=options.level, weights_a=scores_a.weights[of_a], weights_b=scores_b.weights[of_b],
        link=metric_a.link,
    )  # fmt: skip
    draws = (int(scores_a.n_draws[of_a].sum()), int(scores_b.n_draws[of_b].sum()))
    only = (scores_a.n - found.n_prompts, scores_b.n - found.n_prompts)
    return make_row((a, b), metric_a, found, draws, only)


def _scores(
    store: Store, a: Condition, b: Condition, options: _Options
) -> tuple[Metric, Metric, PromptScores, PromptScores]:
    """The metric that both have scores of, else the first of each, with the scores."""
    ids = sorted({a.setting("benchmark_id"), b.setting("benchmark_id")})
    chosen = choose_metrics(metrics_of(store, ids), options.metric, a.setting("benchmark"))
    runs = dict.fromkeys(a.run_ids, 0) | dict.fromkeys(b.run_ids, 1)
    sides: tuple[list[tuple[Metric, PromptScores]], ...] = ([], [])
    for metric in {metric.id: metric for metric in chosen if metric.link != "none"}.values():
        found = read_scores(store, runs, [metric.id], linked=True)
        usable = {side: scores for side, scores in found.items() if scores.n}
        if len(usable) == 2:
            return metric, metric, usable[0], usable[1]
        for side, scores in usable.items():
            sides[side].append((metric, scores))
    for condition, usable_here in zip((a, b), sides, strict=True):
        if not usable_here:
            raise _Unlike(
                f"{condition.model} has no scored prompt by {chosen[0].label} (published figures"
                " cannot be paired)"
            )
    (metric_a, scores_a), (metric_b, scores_b) = sides[0][0], sides[1][0]
    return metric_a, metric_b, scores_a, scores_b


def _refuse_unlike(
    a: Condition, b: Condition, metric_a: Metric, metric_b: Metric, force: bool
) -> None:
    parts = ("unit", "link", "scorer", "judge model", "scorer settings")
    differ = [
        f"{part} {one or 'none'!r} against {other or 'none'!r}"
        for part, one, other in zip(parts, metric_a.scale, metric_b.scale, strict=True)
        if one != other
    ]
    versions = (a.setting("task_version"), b.setting("task_version"))
    if versions[0] != versions[1]:
        differ.append(f"task version {versions[0] or 'none'!r} against {versions[1] or 'none'!r}")
    if metric_a.label != metric_b.label:
        differ.append(f"metric {metric_a.label!r} against {metric_b.label!r}")
    if differ and not force:
        raise _Unlike(f"they differ in {', '.join(differ)}; --force compares them all the same")


def _lists(
    a: str, of_a: Mapping[Place, Sequence[Condition]], b: str,
    of_b: Mapping[Place, Sequence[Condition]],
) -> str:  # fmt: skip
    parts = [
        f"{name} has {', '.join(_in_words(place) for place in list(places)[:10])}"
        for name, places in ((a, of_a), (b, of_b))
    ]
    return "; ".join(parts)


def _in_words(place: Place) -> str:
    benchmark, split = place
    return f"{benchmark} ({split})" if split else benchmark
