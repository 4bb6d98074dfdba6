"""Figures that new sources publish, held against those that their samples give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from warehouse.ingest.report import Reconciled, some
from warehouse.store.connection import Store
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class HeldAgainst:
    """Published figures of new runs with what was recomputed, and notes on those of
    groups."""

    reconciled: tuple[Reconciled, ...] = ()
    notes: tuple[str, ...] = ()


def held_against(store: Store, reports: Sequence[LoadReport]) -> HeldAgainst:
    """Every published figure of the new runs, with the one recomputed from their
    samples; groups that publish the error of another mean than theirs."""
    run_ids = set(chain.from_iterable(report.run_ids for report in reports))
    if not run_ids:
        return HeldAgainst()
    new = {
        "first": min(run_ids),
        "sources": [
            report.source_id
            for report in reports
            if report.run_ids and report.source_id is not None
        ],
    }
    # the view reads all runs, and to plan it takes longer than a small load
    (what,) = store.rows(query_text("store", "publish_anything"), new)
    if what["of_groups"] or (what["of_runs"] and what["have_samples"]):
        rows = store.rows(query_text("store", "published_since"), new)
    elif what["of_runs"]:
        rows = store.rows(query_text("store", "published_alone"), new)
    else:
        return HeldAgainst()
    of_runs = [row for row in rows if row["run_id"] in run_ids]
    policies = _policies(store, of_runs)
    reconciled = [
        replace(_reconciled(row), policy=policies.get(_key(row), "")) for row in of_runs
    ]
    return HeldAgainst(tuple(reconciled), tuple(_on_group_errors(rows)))


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("run_id", "metric", "metric_filter", "statistic", "published")
    return tuple(row[name] for name in names)


def _policies(
    store: Store, rows: Sequence[Mapping[str, Any]]
) -> dict[tuple[Any, ...], str]:
    """The policies under which figures come out that do not as they stand, by figure."""
    differing = [row for row in rows if row["verdict"] in _DIFFERING]
    if not differing:
        return {}
    first = min(row["run_id"] for row in differing)
    found = store.rows(
        query_text("library", "published_policies"), {"benchmark": "", "first": first}
    )
    return {_key(row): row["reproduces_under"] for row in found}


#: Verdicts on figures that samples without a score, or without a row, may explain.
_DIFFERING = ("null_as_worst", "truncated", "contradicts")


def _reconciled(row: Mapping[str, Any]) -> Reconciled:
    return Reconciled(
        run=row["run_id"],
        model=row["model"],
        benchmark=row["benchmark"],
        metric=_named(row),
        published=row["published"],
        recomputed=row["recomputed"],
        verdict=row["verdict"],
    )


def _named(row: Mapping[str, Any]) -> str:
    """Metric with its filter; which figure of it where there are several."""
    name = ",".join(part for part in (row["metric"], row["metric_filter"]) if part)
    if row["statistic"] in ("mean", "aggregate", name):
        return name
    return f"{name} {row['statistic']}"


_MEANS = {
    "benchmarks": "the mean of its benchmarks, each alike",
    "prompts": "the mean weighted by prompts",
    "pooled_prompts": "the mean weighted by prompts",
}


def _on_group_errors(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Groups that publish the mean of their benchmarks with the error of another
    mean."""
    groups = [row for row in rows if row["run_id"] is None]
    groups.sort(key=lambda row: (row["source_id"], row["benchmark"], row["metric"]))
    texts = [
        f"{row['benchmark']}, {row['metric']}: {row['published_standard_error']:.3g} "
        f"is that of {_MEANS[row['published_error_is']]}, that of the published mean "
        f"is {row['recomputed_standard_error']:.3g}"
        for row in groups
    ]
    if texts:
        return [
            "published standard errors of groups that are of another mean: "
            f"{some(texts)}"
        ]
    return []
