"""Scales of item response models that the store holds; a report fits none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from warehouse.analysis.irt.irt import METHOD_VERSION
from warehouse.analysis.irt.pool import read_pool
from warehouse.analysis.irt.results import AbilityReport
from warehouse.analysis.selection.benchmarks import BenchmarkNames, find_among
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.store.computed import result_cache
from warehouse.store.connection import Store

#: Scales that are shown.
MOST = 5


def stored_abilities(store: Store, names: BenchmarkNames, benchmarks: Collection[str]) -> tuple[AbilityReport, ...]:
    """Stored scales over benchmarks that are all shown, of the answers as they are now, the newest first.

    Args:
        names: of all benchmarks.
        benchmarks: names of those that are shown.
    """
    reports: list[AbilityReport] = []
    for subject in sorted(result_cache.analysed_subjects(store)):
        if not {*subject.split(", ")} <= {*benchmarks}:
            continue
        for kept in result_cache.kept(store, subject, METHOD_VERSION):
            if kept.kind != "irt_ability" or len(reports) >= MOST:
                continue
            report = AbilityReport.from_dict(result_cache.result_of(store, kept))
            if report.input_fingerprint == _fingerprint(store, names, report, kept.parameters):
                reports.append(report)
                break
    return tuple(reports)


def _fingerprint(store: Store, names: BenchmarkNames, report: AbilityReport, asked: dict[str, Any]) -> str:
    """Of the answers as they are now; empty where they make no pool."""
    selection = Selection(None, asked["metric"], tuple(asked["where"]), asked["cluster"], asked["latest"])
    try:
        leaves = [find_among(store, names, name) for name in sorted(report.benchmarks)]
        return read_pool(store, leaves, selection).fingerprint
    except MisuseError:
        return ""
