"""The headline metric of a benchmark and the direction of its metrics, where a person
says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import find_shown
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class MetricEntry:
    """One metric of a benchmark: ``n_runs`` counts current runs that have figures of
    it.

    ``chosen_by`` says who called it the headline metric: person, mapping or tool; None:
    nobody. ``direction_by`` is person where one said which way it points; None: what
    the dumps say holds. ``low`` and ``high`` are the bounds of its scores, None where
    nobody has said them.
    """

    benchmark: str
    metric: str
    is_headline: bool
    n_runs: int
    chosen_by: str | None
    higher_is_better: bool | None
    direction_by: str | None
    low: float | None
    high: float | None


def metrics(store: Store, benchmark: str) -> list[MetricEntry]:
    """The metrics of a benchmark, the headline first, then by runs (MisuseError: no
    such benchmark)."""
    with store.begin() as connection:
        shown = find_shown(connection, "benchmark", benchmark)
        rows = connection.execute(
            sa.text(query_text("store", "metrics_of_benchmark")),
            {"benchmark": shown.id},
        ).all()
    return [
        MetricEntry(
            shown.name,
            row.metric,
            bool(row.is_headline),
            int(row.n_runs),
            "person"
            if row.metric == shown.headline_metric
            else _word(row.lowest, row.highest),
            row.higher_is_better,
            row.direction_by,
            row.low,
            row.high,
        )
        for row in rows
    ]


def _word(*words: str) -> str | None:
    return next((word for word in ("mapping", "tool", "scan") if word in words), None)


def choose(store: Store, benchmark: str, metric: str) -> MetricEntry | None:
    """Make a metric the headline of a benchmark, whatever comes later.

    Args:
        store: a store open for writing.
        benchmark: its name, or one that is an alias.
        metric: ``name`` or ``name,filter``; empty: nobody's choice any more.

    Returns:
        the headline metric from now on; None for a benchmark without metrics.

    Raises:
        MisuseError: no such benchmark, or it has no such metric; names those it has.
    """
    labels = metrics(store, benchmark)
    label = None
    if metric:
        label = label_of(metric, [entry.metric for entry in labels], benchmark)
    with store.changing_catalogue() as connection:
        table = tables.benchmark
        shown = find_shown(connection, "benchmark", benchmark)
        connection.execute(
            sa.update(table).where(table.c.id == shown.id).values(headline_metric=label)
        )
    return next(
        (entry for entry in metrics(store, benchmark) if entry.is_headline), None
    )


def direct(store: Store, benchmark: str, metric: str, higher_is_better: bool) -> None:
    """Say which way a metric of a benchmark points, whatever the dumps say now or
    later.

    Args:
        store: a store open for writing.
        benchmark: its name, or one that is an alias.
        metric: ``name`` or ``name,filter``; empty: the headline metric.
        higher_is_better: the direction.

    Raises:
        MisuseError: no such benchmark, or it has no such metric; names those it has.
    """
    label = _named(store, benchmark, metric)
    with store.changing_catalogue() as connection:
        parameters = {
            "benchmark": find_shown(connection, "benchmark", benchmark).id,
            "metric": label,
            "higher": higher_is_better,
        }
        connection.execute(sa.text(query_text("store", "direct_metric")), parameters)


def bound(store: Store, benchmark: str, metric: str, low: float, high: float) -> None:
    """Say between which values the scores of a metric can lie; intervals then keep
    within them.

    Args:
        store: a store open for writing.
        benchmark: its name, or one that is an alias.
        metric: ``name`` or ``name,filter``; empty: the headline metric.
        low: the smallest possible score.
        high: the largest, above ``low``.

    Raises:
        MisuseError: no such benchmark or metric, bounds that are none, or scores beyond
            them.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise MisuseError(
            f"bounds must be two finite numbers, the smaller first, found {low:g} and "
            f"{high:g}"
        )
    label = _named(store, benchmark, metric)
    with store.changing_catalogue() as connection:
        parameters = {
            "benchmark": find_shown(connection, "benchmark", benchmark).id,
            "metric": label,
        }
        seen = connection.execute(
            sa.text(query_text("store", "range_of_metric")), parameters
        ).one()
        if seen.low is not None and not low <= seen.low <= seen.high <= high:
            raise MisuseError(
                f"{benchmark} has scores of {label} from {seen.low:g} to "
                f"{seen.high:g}, beyond {low:g} to {high:g}"
            )
        connection.execute(
            sa.text(query_text("store", "bound_metric")),
            {**parameters, "low": low, "high": high},
        )
        connection.execute(sa.text(query_text("store", "clear_bounds")), parameters)
        connection.execute(sa.text(query_text("store", "said_bounds")), parameters)


def _named(store: Store, benchmark: str, metric: str) -> str:
    """The label of a metric of a benchmark; empty: that of its headline."""
    labels = metrics(store, benchmark)
    headline = next((entry.metric for entry in labels if entry.is_headline), "")
    return label_of(metric or headline, [entry.metric for entry in labels], benchmark)


def label_of(metric: str, labels: Sequence[str], benchmark: str) -> str:
    """The one of some labels that a metric has by its name, with its filter or without.

    Raises:
        MisuseError: there is none, or several.
    """
    fitting = [label for label in labels if label == metric]
    fitting = fitting or [
        label for label in labels if label.partition(",")[0] == metric
    ]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(fitting or labels) or "none"
    if fitting:
        raise MisuseError(
            f"{benchmark} has several metrics {metric!r}, choose one: {listed}"
        )
    raise MisuseError(f"{benchmark} has no metric {metric!r}; it has: {listed}")
