"""Figures that sources publish, of runs that they bring and of runs that others have
given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.records import PublishedScore
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import as_arrow
from warehouse.store.load.decisions import Decision
from warehouse.store.load.run_keys import (
    spec_of,
)
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load
from warehouse.store.schema.later import tables

if TYPE_CHECKING:
    from warehouse.store.load.state import SourcePart


def publish(
    store: Store, scratch: Scratch, state: _Load, run_ids: Mapping[int, int]
) -> None:
    """Figures that the source publishes, of new runs and of its groups."""
    rows: list[dict[str, Any]] = []
    for part in state.parts:
        fresh = [run for run in part.runs if run in run_ids]
        for run in fresh:
            header = state.dump.runs[run]
            for item in header.published:
                metric = state.metric_ids[spec_of(header, item.metric, item.filter)]
                rows.append(
                    _published_row(state, part, item, run, run_ids[run], metric)
                )
        if fresh:
            rows += _published_of_suites(state, part)
    if rows:
        published = as_arrow(tables.published_score, rows)
        store.dialect.append(
            store.connection, "published_score", published, scratch.replaced
        )


def suites_published_again(
    state: _Load, decisions: Sequence[Decision], run_ids: Mapping[int, int]
) -> dict[int, list[dict[str, Any]]]:
    """Figures that sources publish of groups of runs that other sources have given, by
    source."""
    seen = {decision.run for decision in decisions if decision.action == "seen"}
    again: dict[int, list[dict[str, Any]]] = {}
    for part in state.parts:
        is_new = any(run in run_ids for run in part.runs)
        if part.dump.published and not is_new and not seen.isdisjoint(part.runs):
            again[part.source.id] = _published_of_suites(state, part)
    return again


def _published_of_suites(state: _Load, part: SourcePart) -> list[dict[str, Any]]:
    from warehouse.store.load.state import group_spec

    rows = []
    for item in part.dump.published:
        metric = state.metric_ids[group_spec(part.dump, item)]
        rows.append(_published_row(state, part, item, part.runs[0], None, metric))
    return rows


def published_again(
    state: _Load, decisions: Sequence[Decision], run_ids: Mapping[int, int]
) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Figures that sources publish of runs with samples that another source has given,
    by source and run."""
    given = {(state.part_of(run).source.id, run_id) for run, run_id in run_ids.items()}
    again: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for decision in decisions:
        if decision.action != "seen" or decision.run not in state.measured:
            continue
        part = state.part_of(decision.run)
        header = state.dump.runs[decision.run]
        run_id = decision.stored_as(run_ids)
        if (part.source.id, run_id) in given:
            continue
        rows = again.setdefault((part.source.id, run_id), [])
        for item in header.published:
            metric = state.metric_ids[spec_of(header, item.metric, item.filter)]
            rows.append(_published_row(state, part, item, decision.run, run_id, metric))
    return again


def _published_row(
    state: _Load,
    part: SourcePart,
    item: PublishedScore,
    run: int,
    run_id: int | None,
    metric_id: int,
) -> dict[str, Any]:
    references = state.references[run]
    benchmark = state.benchmark_ids.get(item.benchmark, references["benchmark_id"])
    value = _usable(item.value)
    return {
        "run_group_id": references["run_group_id"],
        "run_id": run_id,
        "source_id": part.source.id,
        "benchmark_id": benchmark,
        "metric_id": metric_id,
        "statistic": item.statistic,
        "perturbation": item.perturbation,
        "split": item.split or state.dump.runs[run].split,
        "value": value,
        "standard_error": _usable(item.standard_error),
        "n": item.n,
        "raw": str(item.value)
        if item.raw is None and value != item.value
        else item.raw,
    }


def _usable(value: float | None) -> float | None:
    """A figure that every engine can calculate with, as for scores
    (``stage_score.sql``)."""
    if value is None or not math.isfinite(value) or abs(value) >= 1e140:
        return None
    if abs(value) >= 1e-140:
        return value
    return 0.0
