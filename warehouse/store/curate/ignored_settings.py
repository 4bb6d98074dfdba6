"""Settings that a person has said do not matter: runs that differ by nothing else are
repeats of one condition.

What was said is kept in ``ignored_setting`` and can be taken back; what a dump recorded
is never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warehouse.records.settings import condition_key_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: What says who was evaluated, on what and by whom: never the same for all.
NEVER_IGNORED = frozenset({"model", "benchmark", "split", "scorers"})


@dataclass(frozen=True)
class IgnoredSetting:
    """One setting that does not matter, by a person's word."""

    name: str  #: of a setting: its path, or its last name.
    benchmark: str  #: where it does not matter; empty: everywhere.
    reason: str


@dataclass(frozen=True)
class IgnoredSettings:
    """All settings that do not matter by a person's word."""

    entries: tuple[IgnoredSetting, ...]
    #: of benchmarks that are shown under another name that name: what is said of one
    #: holds for all names of it.
    shown_as: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store) -> IgnoredSettings:
        """The ignored settings of a store."""
        rows = store.rows(
            "select name, benchmark, reason from ignored_setting order by name, "
            "benchmark"
        )
        entries = tuple(
            IgnoredSetting(row["name"], row["benchmark"], row["reason"] or "")
            for row in rows
        )
        of_some = any(entry.benchmark for entry in entries)
        named = []
        if of_some:
            named = store.rows(query_text("store", "benchmark_aliases"))
        return cls(entries, {row["benchmark"]: row["shown_as"] for row in named})

    def of_benchmark(self, benchmark: str) -> list[IgnoredSetting]:
        """Settings ignored on a benchmark, by any of its names."""
        shown = self.shown_as.get(benchmark, benchmark)
        return [
            entry
            for entry in self.entries
            if self.shown_as.get(entry.benchmark, entry.benchmark) in ("", shown)
        ]

    def names_of(self, benchmark: str, settings: Mapping[str, str]) -> list[str]:
        """Which of a run's settings do not matter."""
        names: set[str] = set()
        if self.entries:
            names = {entry.name for entry in self.of_benchmark(benchmark)}
        if not names:
            return []
        return [
            path
            for path in settings
            if path in names or path.rpartition(".")[2] in names
        ]

    def condition_key(self, benchmark: str, settings: Mapping[str, str]) -> str | None:
        """The condition of a run without the settings that do not matter; ``None``
        where that leaves none out."""
        left_out = set(self.names_of(benchmark, settings))
        if not left_out:
            return None
        return condition_key_of(
            {path: form for path, form in settings.items() if path not in left_out}
        )
