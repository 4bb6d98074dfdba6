"""The runs of a store, with what sets each apart from the others on its benchmark."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.conditions import (
    group_runs,
    label_conditions,
    read_runs,
)
from warehouse.store.connection import Store
from warehouse.store.curate import catalogue


@dataclass(frozen=True)
class ListedRun(catalogue.RunEntry):
    """One run, and ``condition``: what differs between its settings and those of other
    runs on its benchmark.

    Empty where nothing differs, and for a run that was superseded or invalidated.
    """

    condition: str


def list_runs(
    store: Store, *, where: Sequence[str] = (), everything: bool = False
) -> list[ListedRun]:
    """The runs of a store, oldest first, with what sets them apart.

    Args:
        where: as of :func:`warehouse.store.curate.catalogue.runs`.
        everything: superseded and invalidated runs too.

    Raises:
        MisuseError: a text of ``where`` of another form, or no such field.
    """
    runs = catalogue.runs(store, where=where, everything=everything)
    if not runs:
        return []
    labels = _labels(store)
    listed: list[ListedRun] = []
    for run in runs:
        fields = {
            item.name: getattr(run, item.name) for item in dataclasses.fields(run)
        }
        label = labels.get(fields["run_id"], "")
        listed.append(ListedRun(**fields, condition=label))
    return listed


def _labels(store: Store) -> dict[int, str]:
    """For each current run the label of its condition among those on its benchmark and
    split."""
    conditions = group_runs(read_runs(store, "true", {}))
    alike = grouped(conditions, lambda condition: condition.benchmark_split)
    labels_of_runs: dict[int, str] = {}
    for members in alike.values():
        told = label_conditions(store, members)
        for condition, label in zip(members, told, strict=True):
            labels_of_runs.update(dict.fromkeys(condition.run_ids, label))
    return labels_of_runs
