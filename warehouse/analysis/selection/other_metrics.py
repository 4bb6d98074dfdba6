"""The metrics of a benchmark that a leaderboard does not show, so that none is hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition


@dataclass(frozen=True)
class OtherMetric(Row):
    """A metric that a leaderboard does not show.

    Attributes:
        metric: name, with its filter.
        higher_is_better: direction; None if unknown.
        n_conditions: conditions that have figures of it.
        n_elsewhere: those of them that have no row on the leaderboard.
        n_benchmarks: benchmarks of a suite on which they have them; None for a single benchmark.
    """

    metric: str
    higher_is_better: bool | None
    n_conditions: int
    n_elsewhere: int
    n_benchmarks: int | None = None

    def __str__(self) -> str:
        count = f"{self.n_conditions} condition{'' if self.n_conditions == 1 else 's'}"
        if self.n_benchmarks is not None:
            count += f" on {self.n_benchmarks} benchmark{'' if self.n_benchmarks == 1 else 's'}"
        if not self.n_elsewhere:
            return f"{self.metric} ({count})"
        missing = "none" if self.n_elsewhere == self.n_conditions else f"{self.n_elsewhere} not"
        return f"{self.metric} ({count}, {missing} of them above)"


def others_among(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    conditions: Iterable[Condition],
    shown: Collection[str],
    label: str,
) -> tuple[OtherMetric, ...]:
    """The metrics beside ``label`` that some conditions have figures of: most conditions first,
    then by name.

    Args:
        run_metrics: which runs have figures of which metrics, as ids.
        metrics: of the benchmark.
        conditions: those that a leaderboard is about.
        shown: keys of those that have a row on it.
        label: the metric that it shows.
    """
    keys = {run: condition.key for condition in conditions for run in condition.run_ids}
    named = {metric.id: metric for metric in metrics}
    holders: dict[str, set[str]] = {}
    for row in run_metrics:
        run, metric_id = row["run_id"], row["metric_id"]
        if run in keys and metric_id in named and named[metric_id].label != label:
            holders.setdefault(named[metric_id].label, set()).add(keys[run])
    directions = {metric.label: metric.higher_is_better for metric in metrics}
    others = [
        OtherMetric(name, directions[name], len(own), len(own.difference(shown))) for name, own in holders.items()
    ]
    return tuple(sorted(others, key=lambda one: (-one.n_conditions, one.metric)))


def add_up(leaves: Iterable[Sequence[OtherMetric]]) -> tuple[OtherMetric, ...]:
    """The other metrics of the benchmarks of a suite: conditions are summed over them."""
    by_metric: dict[str, OtherMetric] = {}
    for leaf in leaves:
        for one in leaf:
            sum_ = by_metric.get(one.metric, OtherMetric(one.metric, one.higher_is_better, 0, 0, 0))
            by_metric[one.metric] = replace(
                sum_,
                n_conditions=sum_.n_conditions + one.n_conditions,
                n_elsewhere=sum_.n_elsewhere + one.n_elsewhere,
                n_benchmarks=(sum_.n_benchmarks or 0) + 1,
            )
    return tuple(sorted(by_metric.values(), key=lambda one: (-one.n_conditions, one.metric)))


def scored_metrics(
    run_metrics: Iterable[Mapping[str, Any]], metrics: Sequence[Metric], conditions: Sequence[Condition]
) -> Counter[str]:
    """Of how many conditions each metric, by label, has scored prompts.

    Args:
        run_metrics: which runs have figures of which metrics, as ids, and how many scores.
        metrics: of the benchmark.
        conditions: those that are asked for.
    """
    named = {metric.id: metric.label for metric in metrics if metric.link != "none"}
    scored: dict[int, set[str]] = {}
    for row in run_metrics:
        if row["n_scored"] > 0 and row["metric_id"] in named:
            scored.setdefault(row["run_id"], set()).add(named[row["metric_id"]])
    return Counter(
        label for condition in conditions for label in set().union(*(scored.get(run, ()) for run in condition.run_ids))
    )


def advise_metric(who: str, labels: Iterable[str]) -> str:
    """What to say behind a refusal: ``; both have --metric f1``; empty if there is none."""
    named = " or ".join(sorted(labels))
    return f"; {who} --metric {named}" if named else ""


def advise_others(others: Iterable[OtherMetric]) -> str:
    """What to say behind a refusal for want of two conditions: the metrics that two have."""
    advice = describe_others([other for other in others if other.n_conditions > 1])
    return f"; {advice}" if advice else ""


def describe_others(others: Sequence[OtherMetric]) -> str:
    """One line that names them; empty if there is none."""
    return f"other metrics (--metric NAME): {', '.join(map(str, others))}" if others else ""
