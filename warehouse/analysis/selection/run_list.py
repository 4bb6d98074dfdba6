"""The runs of a store, listed, each with the settings that tell it from the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.conditions import Condition, group_runs, label_conditions, read_runs
from warehouse.store.connection import Store
from warehouse.store.curate import catalogue


@dataclass(frozen=True)
class ListedRun(catalogue.RunEntry):
    """One run, and ``condition``: what differs between its settings and those of other runs on its benchmark.

    Empty where nothing differs, and for a run that was superseded or invalidated.
    """

    condition: str


def list_runs(store: Store, *, where: Sequence[str] = (), everything: bool = False) -> list[ListedRun]:
    """The runs of a store, oldest first, with what sets them apart.

    Args:
        store: an open store.
        where: as of :func:`warehouse.store.curate.catalogue.runs`.
        everything: superseded and invalidated runs too.

    Raises:
        MisuseError: a text of ``where`` of another form, or no such field.
    """
    runs = catalogue.runs(store, where=where, everything=everything)
    labels = _labels(store) if runs else {}
    entries = ({field.name: getattr(run, field.name) for field in dataclasses.fields(run)} for run in runs)
    return [ListedRun(**entry, condition=labels.get(entry["run_id"], "")) for entry in entries]


def _labels(store: Store) -> dict[int, str]:
    """For each current run what tells its condition from the others on its benchmark and split."""
    alike: dict[tuple[str, str], list[Condition]] = {}
    for condition in group_runs(read_runs(store, "true", {})):
        alike.setdefault(condition.benchmark_split, []).append(condition)
    return {
        run_id: label
        for conditions in alike.values()
        for condition, label in zip(conditions, label_conditions(store, conditions), strict=True)
        for run_id in condition.run_ids
    }
