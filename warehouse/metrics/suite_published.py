"""Figures that sources publish for whole suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.metrics.selecting import one_of
from warehouse.store.engine import Store

_FIGURES = """
select published_score.run_group_id, published_score.value, published_score.standard_error,
    metric.name, metric.filter
from published_score
join metric on metric.id = published_score.metric_id
where published_score.statistic in ('mean', 'pass@1') and published_score.perturbation = ''
    and published_score.value is not null and {suites}
order by published_score.run_group_id, published_score.source_id
"""


@dataclass(frozen=True)
class SuiteFigure:
    """A published figure of a suite.

    Attributes:
        run_group_id: the invocation that it sums up.
        value: as published.
        standard_error: as published, above 0, or None.
    """

    run_group_id: int
    value: float
    standard_error: float | None


def read_suite_figures(store: Store, suite_ids: Sequence[int], metric: str) -> list[SuiteFigure]:
    """Figures on some suites by the metric of this label (``name`` or ``name,filter``)."""
    if not suite_ids:
        return []
    condition, parameters = one_of("published_score.benchmark_id", list(suite_ids), "b")
    rows = store.arrow(_FIGURES.format(suites=condition), parameters).to_pylist()
    return [
        SuiteFigure(row["run_group_id"], row["value"], row["standard_error"] or None)
        for row in rows
        if (f"{row['name']},{row['filter']}" if row["filter"] else row["name"]) == metric
    ]
