"""One row of a comparison: the paired difference on one benchmark and split."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.metrics.benchmarks import Metric
from warehouse.metrics.conditions import Condition, describe
from warehouse.metrics.results import Row
from warehouse.stats import PairedDifference


@dataclass(frozen=True)
class ComparisonRow(Row):
    """The difference on one benchmark and split, first minus second.

    Attributes:
        benchmark: name of the benchmark.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        model_a: the first model.
        condition_a: settings that tell it from the second.
        model_b: the second model.
        condition_b: settings that tell it from the first.
        mean_a: figure of the first on the common prompts.
        mean_b: figure of the second on the common prompts.
        difference: ``mean_a - mean_b``.
        standard_error: of the difference; None where not defined or 0.
        ci_low: lower end of the interval.
        ci_high: upper end of the interval.
        level: nominal coverage of the interval.
        p_value: two-sided.
        better: ``"a"`` or ``"b"`` where the interval excludes 0, by the metric's direction;
            empty where it does not or the direction is unknown.
        correlation: of the two over prompts.
        variance_saved: share of the unpaired variance that pairing removes.
        n_prompts: prompts that both have a score of.
        only_a: prompts that only the first has a score of.
        only_b: prompts that only the second has a score of.
        n_clusters: clusters among the common prompts; None without clusters.
        n_draws_a: generations of the first on the common prompts.
        n_draws_b: generations of the second on the common prompts.
        method: of the interval.
        flags: warnings of the statistics.
        reason: why this method, or why there is no interval.
        se_unclustered: error as if prompts were independent (Miller eq. 7).
        runs_a: ids of the runs of the first.
        runs_b: ids of the runs of the second.
    """

    benchmark: str
    split: str
    metric: str
    model_a: str
    condition_a: str
    model_b: str
    condition_b: str
    mean_a: float
    mean_b: float
    difference: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    p_value: float | None
    better: str
    correlation: float | None
    variance_saved: float | None
    n_prompts: int
    only_a: int
    only_b: int
    n_clusters: int | None
    n_draws_a: int
    n_draws_b: int
    method: str
    flags: tuple[str, ...]
    reason: str
    se_unclustered: float | None
    runs_a: tuple[int, ...]
    runs_b: tuple[int, ...]


def make_row(
    pair: tuple[Condition, Condition], metric: Metric, found: PairedDifference,
    draws: tuple[int, int], only: tuple[int, int],
) -> ComparisonRow:  # fmt: skip
    """The row of two conditions.

    Args:
        draws: generations of each on the common prompts.
        only: prompts that each alone has a score of.
    """
    label_a, label_b = describe(pair) if pair[0].model == pair[1].model else ("", "")
    a, b = pair
    return ComparisonRow(
        benchmark=a.place[0], split=a.place[1], metric=metric.label, model_a=a.model,
        condition_a=label_a, model_b=b.model, condition_b=label_b, mean_a=found.mean_a,
        mean_b=found.mean_b, difference=found.difference, standard_error=found.standard_error,
        ci_low=found.ci_low, ci_high=found.ci_high, level=found.level, p_value=found.p_value,
        better=_better(found, metric.higher_is_better), correlation=found.correlation,
        variance_saved=found.variance_saved, n_prompts=found.n_prompts, only_a=only[0],
        only_b=only[1], n_clusters=found.n_clusters, n_draws_a=draws[0], n_draws_b=draws[1],
        method=found.method, flags=found.flags, reason=found.reason,
        se_unclustered=found.se_eq7, runs_a=a.run_ids, runs_b=b.run_ids,
    )  # fmt: skip


def _better(found: PairedDifference, higher_is_better: bool | None) -> str:
    if found.ci_low is None or found.ci_high is None or higher_is_better is None:
        return ""
    if found.ci_low <= 0 <= found.ci_high:
        return ""
    return "a" if (found.difference > 0) == higher_is_better else "b"
