"""The metrics of a benchmark that a leaderboard does not show, so that none is hidden."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.arrow import rows_among
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.store.connection import Store

_HELD = """
select run.benchmark_id, run_metric.run_id, run_metric.metric_id
from run_metric
join run on run.id = run_metric.run_id
where run.status <> 'invalidated' and run.superseded_by is null and {here}
"""


@dataclass(frozen=True)
class OtherMetric:
    """A metric that a leaderboard does not show.

    Attributes:
        metric: name, with its filter.
        higher_is_better: direction; None if unknown.
        n_conditions: conditions that have figures of it.
        n_elsewhere: those of them that have no row on the leaderboard.
    """

    metric: str
    higher_is_better: bool | None
    n_conditions: int
    n_elsewhere: int

    def __str__(self) -> str:
        count = f"{self.n_conditions} condition{'' if self.n_conditions == 1 else 's'}"
        if not self.n_elsewhere:
            return f"{self.metric} ({count})"
        missing = "none" if self.n_elsewhere == self.n_conditions else f"{self.n_elsewhere} not"
        return f"{self.metric} ({count}, {missing} of them above)"


def other_metrics(
    store: Store, benchmark_ids: Sequence[int], metrics: Sequence[Metric],
    conditions: Iterable[Condition], shown: Collection[str], label: str,
) -> tuple[OtherMetric, ...]:  # fmt: skip
    """The metrics beside ``label`` that some conditions have figures of: most conditions first,
    then by name.

    Args:
        metrics: of the benchmark.
        conditions: those that a leaderboard is about.
        shown: keys of those that have a row on it.
        label: the metric that it shows.
    """
    if all(metric.label == label for metric in metrics):
        return ()
    keys = {run: condition.key for condition in conditions for run in condition.run_ids}
    named = {metric.id: metric for metric in metrics}
    holders: dict[str, set[str]] = {}
    for row in rows_among(store, _HELD, "run.benchmark_id", benchmark_ids):
        run, metric_id = row["run_id"], row["metric_id"]
        if run in keys and metric_id in named and named[metric_id].label != label:
            holders.setdefault(named[metric_id].label, set()).add(keys[run])
    directions = {metric.label: metric.higher_is_better for metric in metrics}
    found = [
        OtherMetric(name, directions[name], len(own), len(own.difference(shown)))
        for name, own in holders.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.n_conditions, one.metric)))


def describe_others(others: Sequence[OtherMetric]) -> str:
    """One line that names them; empty if there is none."""
    return f"other metrics (--metric NAME): {', '.join(map(str, others))}" if others else ""
