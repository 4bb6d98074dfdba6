"""Forms of benchmarks: a benchmark as one harness asks it, whose prompts are items of
their own."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.suites.entries import LeafEntries
from warehouse.records.run_fields import ALWAYS_TOLD


def by_form(read: Sequence[LeafEntries]) -> dict[str, list[ScoredCondition]]:
    """Entries with prompt scores by what makes items the same: benchmark, split,
    version, metric, harness."""
    groups: dict[tuple[str, ...], list[ScoredCondition]] = {}
    for leaf in read:
        for entry in leaf.entries:
            if entry.usable is None:
                continue
            harness = str(entry.condition.setting("harness") or "")
            key = (leaf.benchmark.name, harness, *entry.group)
            groups.setdefault(key, []).append(entry)
    ordered = sorted(groups)
    return {_label(key, ordered): groups[key] for key in ordered}


def _label(key: tuple[str, ...], keys: Sequence[tuple[str, ...]]) -> str:
    """The benchmark, and of the rest what differs among its forms."""
    own = [other for other in keys if other[0] == key[0]]
    differs = []
    for index, part in enumerate(key):
        if index and len({other[index] for other in own}) > 1:
            differs.append(part)
    settings = ", ".join(part or "none" for part in differs)
    if settings:
        return f"{key[0]} ({settings})"
    return key[0]


def notes_on_mixed(label: str, entries: Sequence[ScoredCondition]) -> list[str]:
    """A note on settings that make the same prompt another question for some models."""
    notes = []
    for name in ALWAYS_TOLD:
        values = {entry.condition.setting(name) for entry in entries}
        if name in ("split", "agent") or len(values) < 2:
            continue
        told: list[str] = []
        for value in values:
            if value in (None, ""):
                told.append("none")
            else:
                told.append(str(value))
        first = ", ".join(sorted(told)[:4])
        notes.append(
            f"{label}: models were asked with different {name} ({first}); "
            f"--where {name}=... chooses"
        )
    return notes
