"""The keys that say which run is which (``docs/reference/rules_identity.md``)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from warehouse.records import MetricSpec, PublishedScore, RunHeader, canonical_json
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.settings import scorers_of, settings_of


def condition_key(header: RunHeader) -> str:
    """sha256 over everything that changes what is measured: never dates, devices or
    places of output."""
    return settings_of(header).condition_key


def execution_key(marks: Mapping[str, str]) -> str:
    """sha256 over what marks one execution; empty where nothing does."""
    if marks:
        return canonical_digest(dict(marks))
    return ""


def stored_marks(marks: Mapping[str, str] | None) -> dict[str, str] | None:
    """Marks as a run has them, by name whoever said them first; None without any."""
    if marks:
        return dict(sorted(marks.items()))
    return None


def marks_of_samples(latency: float | None, cost: float | None) -> dict[str, str]:
    """Totals over the samples of a run, as marks of its execution.

    To six digits, which the same values read from another form of a file add up to; 0
    is written by tools that do not measure it.

    Args:
        latency: sum of the samples' seconds; None: none says any.
        cost: sum of their dollars.
    """
    taken = {"sample_latencies": latency, "sample_costs": cost}
    return {
        name: f"{value:.6g}"
        for name, value in taken.items()
        if value and isfinite(value)
    }


def run_key(header: RunHeader) -> str | None:
    """sha256 over the harness, the tool's own run id, the benchmark and the split.

    ``None`` where the tool has no run id: such runs are told apart by condition and
    content.
    """
    if header.run_id is None:
        return None
    return canonical_digest(
        [header.harness, header.run_id, header.model, header.benchmark, header.split]
    )


def group_key(header: RunHeader, invocation: str) -> str:
    """One invocation of a harness: its run id, or the source where it has none."""
    return canonical_digest([header.harness, header.run_id or invocation])


def scorers_key(header: RunHeader) -> str:
    """sha256 over the judges and scorers; empty if every score is a plain comparison."""
    scorers = scorers_of(header)
    if scorers:
        return canonical_digest(scorers)
    return ""


def checkpoint_key(header: RunHeader) -> str:
    """Name of a checkpoint among those of its training seed: ``step=400@main``."""
    position, unit = checkpoint_position(header)
    words = ""
    if position is not None:
        words += f"{unit}={position:.15g}"
    if header.revision:
        words += f"@{header.revision}"
    if header.base_checkpoint:
        words += f"+{header.base_checkpoint}"
    return words


def checkpoint_position(header: RunHeader) -> tuple[float | None, str | None]:
    """How far training had come, and in what unit: step before tokens before epoch."""
    for unit in ("step", "tokens", "epoch"):
        value = getattr(header, unit)
        if value is not None:
            return float(value), unit
    return None, None


def published_digest(published: tuple[PublishedScore, ...]) -> str:
    """Order-free digest of the figures of a run that has no samples."""
    rows = sorted(
        canonical_json(
            [
                row.benchmark,
                row.metric,
                row.filter,
                row.statistic,
                row.perturbation,
                row.split,
                row.value,
                row.standard_error,
            ]
        ).decode()
        for row in published
    )
    return "published:" + canonical_digest(rows)


def parameters_key(parameters: Mapping[str, Any]) -> str:
    """Hash of a scorer's or agent's parameters; empty where there are none."""
    if parameters:
        return canonical_digest(dict(parameters))
    return ""


def spec_of(header: RunHeader, name: str, filter_name: str) -> MetricSpec:
    """The header's specification of a metric; a bare specification if it says
    nothing."""
    for spec in header.metrics:
        if (spec.name, spec.filter) == (name, filter_name):
            return spec
    return MetricSpec(name=name, filter=filter_name)
