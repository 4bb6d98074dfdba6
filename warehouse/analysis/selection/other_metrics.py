"""The metrics of a benchmark that a leaderboard does not show, and advice to look at
them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.metric_names import alias_command, may_be_one
from warehouse.tables.words import counted

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class OtherMetric(Row):
    """A metric that a leaderboard does not show."""

    metric: str  #: name, with its filter.
    higher_is_better: bool | None  #: direction; None if unknown.
    n_conditions: int  #: conditions that have figures of it.
    n_elsewhere: int  #: those of them that have no row on the leaderboard.
    #: benchmarks of a suite on which they have them; None for a single benchmark.
    n_benchmarks: int | None = None

    def __str__(self) -> str:
        count = counted(self.n_conditions, "condition")
        if self.n_benchmarks is not None:
            count += f" on {counted(self.n_benchmarks, 'benchmark')}"
        if not self.n_elsewhere:
            return f"{self.metric} ({count})"
        missing = "none"
        if self.n_elsewhere != self.n_conditions:
            missing = f"{self.n_elsewhere} not"
        return f"{self.metric} ({count}, {missing} of them above)"


def most_conditions_first(other: OtherMetric) -> tuple[int, str]:
    """By how many conditions have it, then by name."""
    return -other.n_conditions, other.metric


def others_among(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    conditions: Iterable[Condition],
    shown: Collection[str],
    label: str,
) -> tuple[OtherMetric, ...]:
    """The metrics other than ``label`` that some conditions have figures of: most
    conditions first, then by name.

    Args:
        run_metrics: which runs have figures of which metrics, as ids.
        metrics: of the benchmark.
        conditions: those that a leaderboard is about.
        shown: keys of those that have a row on it.
        label: the metric that it shows.
    """
    keys: dict[int, str] = {}
    for condition in conditions:
        for run in condition.run_ids:
            keys[run] = condition.key
    return others_of_runs(run_metrics, metrics, keys, shown, label)


def others_of_runs(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    keys: Mapping[int, Key],
    shown: Collection[Key],
    label: str,
) -> tuple[OtherMetric, ...]:
    """`others_among` of runs by the condition that each is of.

    Args:
        keys: what names the condition of each run.
    """
    labels = {metric.id: metric.label for metric in metrics if metric.label != label}
    holders: dict[str, set[Key]] = {}
    for row in run_metrics:
        run = row["run_id"]
        name = labels.get(row["metric_id"])
        if name is not None and run in keys:
            holders.setdefault(name, set()).add(keys[run])
    directions = {metric.label: metric.higher_is_better for metric in metrics}
    others: list[OtherMetric] = []
    for name, own in holders.items():
        n_elsewhere = len(own.difference(shown))
        others.append(OtherMetric(name, directions[name], len(own), n_elsewhere))
    return tuple(sorted(others, key=most_conditions_first))


def add_up(leaves: Iterable[Sequence[OtherMetric]]) -> tuple[OtherMetric, ...]:
    """The other metrics of the benchmarks of a suite: conditions are summed over them."""
    by_metric: dict[str, OtherMetric] = {}
    for leaf in leaves:
        for other in leaf:
            name = other.metric
            if name not in by_metric:
                by_metric[name] = OtherMetric(name, other.higher_is_better, 0, 0, 0)
            so_far = by_metric[name]
            by_metric[name] = replace(
                so_far,
                n_conditions=so_far.n_conditions + other.n_conditions,
                n_elsewhere=so_far.n_elsewhere + other.n_elsewhere,
                n_benchmarks=(so_far.n_benchmarks or 0) + 1,
            )
    return tuple(sorted(by_metric.values(), key=most_conditions_first))


def scored_metrics(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    conditions: Sequence[Condition],
) -> Counter[str]:
    """Counts of the conditions that have scored prompts by each metric, by label.

    Args:
        run_metrics: which runs have figures of which metrics, as ids, and how many
            scores.
        metrics: of the benchmark.
        conditions: those that are asked for.
    """
    named = {metric.id: metric.label for metric in metrics if metric.link != "none"}
    scored: dict[int, set[str]] = {}
    for row in run_metrics:
        if row["n_scored"] > 0 and row["metric_id"] in named:
            label = named[row["metric_id"]]
            scored.setdefault(row["run_id"], set()).add(label)
    counts: Counter[str] = Counter()
    for condition in conditions:
        labels: set[str] = set()
        for run in condition.run_ids:
            labels |= scored.get(run, set())
        counts.update(labels)
    return counts


def advise_metric(who: str, labels: Iterable[str]) -> str:
    """Advice behind a refusal: ``; both have --metric f1``; empty if there is
    none."""
    named = " or ".join(sorted(labels))
    if named:
        return f"; {who} --metric {named}"
    return ""


def advise_others(others: Iterable[OtherMetric]) -> str:
    """Advice behind a refusal for want of two conditions: the metrics that two
    have."""
    advice = describe_others([other for other in others if other.n_conditions > 1])
    if advice:
        return f"; {advice}"
    return ""


def advise_names(
    others: Iterable[OtherMetric],
    metrics: Sequence[Metric],
    shown: Metric,
    benchmark: str,
) -> str:
    """What to do about conditions that have another metric in place of the one that is
    shown, which may be it under another name; empty where there are none.

    Args:
        others: the metrics that are not shown.
        metrics: of the benchmark.
        shown: the metric that is.
        benchmark: its name.
    """
    for other in others:
        like = [metric for metric in metrics if metric.label == other.metric]
        are_alike = any(
            metric.link != "none" and may_be_one(metric, shown) for metric in like
        )
        if are_alike and other.n_elsewhere == other.n_conditions:
            has = counted(other.n_conditions, "condition")
            return (
                f"{has} without a row here by {other.metric} in place of "
                f"{shown.label}: if these are two names of one metric: "
                f"{alias_command(other.metric, shown.label, benchmark)}; if not: "
                f"--metric {shlex.quote(other.metric)}"
            )
    return ""


def describe_others(others: Sequence[OtherMetric], most: int | None = None) -> str:
    """One line that names them; empty if there is none.

    Args:
        most: so many by name, and how many more there are; None: all.
    """
    if not others:
        return ""
    named = [str(other) for other in others[:most]]
    more = ""
    if len(others) > len(named):
        more = f" and {len(others) - len(named)} more (--explain)"
    return f"other metrics (--metric NAME): {', '.join(named)}{more}"


#: Other metrics that people are told of by name.
MOST_TOLD = 4
