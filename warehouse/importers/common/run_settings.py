"""Which rows of one dump were made under the same settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from typing import Any

from warehouse.importers.common.header_values import fingerprint
from warehouse.records import RunHeader
from warehouse.records.setting_names import rule_of
from warehouse.records.settings import settings_of


def key_of_settings(harness: str, configuration: Mapping[str, Any]) -> str:
    """A key that is equal for configurations which are the same settings; marks,
    versions and what the table leaves out tell none apart.

    Args:
        harness: name of the tool.
        configuration: under the names that the tool writes.
    """
    return settings_of(
        RunHeader(harness, "", "", configuration=configuration)
    ).condition_key


def fingerprint_of_settings(harness: str, parts: Mapping[str, Any]) -> str | None:
    """A fingerprint of the settings in a part of a dump, each value in its one form;
    ``None`` where it holds none.

    Args:
        harness: name of the tool.
        parts: the part, under the name that it has there.
    """
    settings = settings_of(RunHeader(harness, "", "", configuration=parts)).settings
    known = {name: form for name, form in settings.items() if name not in _OWN_FIELDS}
    if known:
        return fingerprint(known)
    return None


def without_what_does_not_count(tool: str, value: Any, path: str = "") -> Any:
    """A part of a dump without the leaves that the rows of a tool leave out of
    conditions.

    For formats whose runs are called by another harness, of which the rows then hold.

    Args:
        tool: whose rows hold.
        value: what JSON can hold.
        path: names around it, joined by dots.
    """
    if isinstance(value, Mapping):
        inner = {name: f"{path}.{name}" if path else str(name) for name in value}
        kept = {
            name: item
            for name, item in value.items()
            if rule_of(tool, inner[name]).is_in_condition
        }
        return {
            name: without_what_does_not_count(tool, item, inner[name])
            for name, item in kept.items()
        }
    if isinstance(value, list):
        return [without_what_does_not_count(tool, item, path) for item in value]
    return value


class SameInAll:
    """Fields that hold one value in all rows of a run: what they say is of the run, not
    of its rows.

    Args:
        known: names that are read as something else.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = frozenset(known)
        self._same: dict[Hashable, dict[str, Any]] = {}
        self._n_rows: Counter[Hashable] = Counter()

    def add(self, run: Hashable, row: Mapping[str, Any]) -> None:
        """Take in a row of a run."""
        self._n_rows[run] += 1
        same = self._same.get(run)
        if same is None:
            scalars = {
                name: value
                for name, value in row.items()
                if not isinstance(value, list | dict)
            }
            self._same[run] = {
                name: value
                for name, value in scalars.items()
                if name not in self._known
            }
            return
        for name in [name for name, value in same.items() if row.get(name) != value]:
            del same[name]

    @property
    def runs(self) -> list[Hashable]:
        """The runs, in the order in which they were met."""
        return list(self._same)

    def of(self, run: Hashable) -> dict[str, Any]:
        """The fields of a run; none of one with a single row, of which nothing tells
        which are the row's."""
        if self._n_rows[run] > 1:
            return dict(self._same.get(run, {}))
        return {}


#: Settings of the header itself.
_OWN_FIELDS = frozenset(("harness", "model", "benchmark"))
