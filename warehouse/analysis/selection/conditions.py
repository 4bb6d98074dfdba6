"""Conditions: what was measured, with the runs that repeat it, and labels that tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.analysis.selection.arrow import rows_among
from warehouse.records.run_fields import ALWAYS_TOLD, HASHES, LABEL_FIELDS
from warehouse.store.connection import Store

Run = Mapping[str, Any]

_EARLY = datetime.min


@dataclass(frozen=True)
class Condition:
    """One condition on one benchmark and split.

    Attributes:
        key: condition key; equal for repeats.
        runs: rows of ``run_current``, its repeats, by id.
    """

    key: str
    runs: tuple[Run, ...]

    @property
    def run_ids(self) -> tuple[int, ...]:
        """Ids of the repeats."""
        return tuple(run["run_id"] for run in self.runs)

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.runs[0]["model"])

    @property
    def benchmark_split(self) -> tuple[str, str]:
        """Benchmark and split."""
        return str(self.runs[0]["benchmark"]), str(self.runs[0]["split"])

    def setting(self, name: str) -> Any:
        """A column of ``run_current``; equal for all repeats."""
        return self.runs[0][name]

    @property
    def newest(self) -> tuple[datetime, int]:
        """Start of the last repeat, and its id, to order by time."""
        return max((run["started_at"] or _EARLY, run["run_id"]) for run in self.runs)


def read_runs(store: Store, condition: str, parameters: Mapping[str, Any]) -> list[Run]:
    """Current runs that fulfil an SQL condition on ``run_current``, by id."""
    table = store.arrow(f"select * from run_current where {condition} order by run_id", parameters)
    rows: list[Run] = table.to_pylist()
    return rows


def runs_on(store: Store, benchmark_ids: Sequence[int]) -> list[Run]:
    """Current runs on some benchmarks, by id."""
    query = "select * from run_current where {here} order by run_id"
    runs = rows_among(store, query, "benchmark_id", benchmark_ids)
    return sorted(runs, key=lambda run: int(run["run_id"]))


def group_runs(runs: Iterable[Run]) -> list[Condition]:
    """Runs by condition, in the order of their first run."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run["condition_key"], []).append(run)
    return [Condition(key, tuple(members)) for key, members in groups.items()]


def describe(conditions: Sequence[Condition]) -> list[str]:
    """For each condition the settings that tell it from the others, such as ``fewshot=5``.

    A setting is told if it varies between conditions of one model, or between any two where it
    changes what the figure means. What still looks alike gets the head of its key.
    """
    told = [name for name in LABEL_FIELDS if _is_told(conditions, name)]
    labels = [", ".join(filter(None, (_in_words(condition, name) for name in told))) for condition in conditions]
    seen = [(item.model, label) for item, label in zip(conditions, labels, strict=True)]
    return [
        _with_key(label, condition.key) if seen.count((condition.model, label)) > 1 else label
        for condition, label in zip(conditions, labels, strict=True)
    ]


def _is_told(conditions: Sequence[Condition], name: str) -> bool:
    if name == "checkpoint" and any(c.setting("position") is not None for c in conditions):
        return False  # the position says the same, readably
    values: dict[str, set[Any]] = {}
    for condition in conditions:
        values.setdefault(condition.model, set()).add(condition.setting(name))
    if name in ALWAYS_TOLD and len(set().union(*values.values())) > 1:
        return True
    return any(len(found) > 1 for found in values.values())


def _in_words(condition: Condition, name: str) -> str:
    value = condition.setting(name)
    if value in (None, ""):
        return ""
    if name == "position":
        return f"{condition.setting('position_unit') or 'position'}={value:g}"
    if name == "agent":
        return f"+{value}"
    return f"{name}={str(value)[:8] if name in HASHES else value}"


def _with_key(label: str, key: str) -> str:
    return f"{label}, condition={key[:8]}" if label else f"condition={key[:8]}"
