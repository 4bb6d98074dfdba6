"""Names of a published table found among the names of a store; never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_BREAKS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class StoreName:
    """What a name of a table means in the store."""

    name: str  #: of the model or the benchmark, as views show it.
    metric: str | None = None  #: the metric that a column names; None: it names none.
    metric_filter: str | None = None  #: likewise.


@dataclass
class NameIndex:
    """Names of a store in the ways in which a table may write them, the surest first."""

    levels: tuple[dict[str, set[StoreName]], ...] = field(
        default_factory=lambda: ({}, {}, {}, {})
    )

    def add(self, level: int, written: str, meant: StoreName) -> None:
        """Note that a writing means something."""
        if written:
            self.levels[level].setdefault(written, set()).add(meant)

    def meant_by(self, name: str) -> set[StoreName]:
        """All that a name may mean at the surest level that knows it: several where it
        is ambiguous, nothing where the store does not have it."""
        for level, written in zip(self.levels, _writings(name), strict=True):
            found = level.get(written)
            if found:
                return found
        return set()


def _writings(name: str) -> tuple[str, str, str, str]:
    """A name as it stands, without breaks, and as the end of a path: `org/model`."""
    return name, plain(name), plain(name), plain(last_part(name))


def plain(name: str) -> str:
    """Letters and digits of a name, in lower case."""
    return _BREAKS.sub("", name.casefold())


def last_part(name: str) -> str:
    """What stands behind the last slash of a name."""
    return name.rstrip("/").rpartition("/")[2]


def model_index(store: Store) -> NameIndex:
    """The models of a store by their names and aliases."""
    index = NameIndex()
    for row in store.rows(query_text("analysis/board", "model_names")):
        name, meant = str(row["name"]), StoreName(str(row["shown"]))
        _add_names(index, name, meant)
    return index


def benchmark_index(store: Store) -> NameIndex:
    """The benchmarks of a store by their names and aliases, alone and with a metric."""
    index = NameIndex()
    for row in store.rows(query_text("analysis/board", "benchmark_names")):
        name, shown = str(row["name"]), str(row["shown"])
        _add_names(index, name, StoreName(shown))
        for metric, written in _with_metrics(row):
            meant = StoreName(shown, row["metric"], metric)
            index.add(1, plain(f"{name}{written}"), meant)
    return index


def _add_names(index: NameIndex, name: str, meant: StoreName) -> None:
    """A name as it stands, without breaks; and without what is before the slash, for
    tables that leave it out, or that alone have it."""
    index.add(0, name, meant)
    index.add(1, plain(name), meant)
    index.add(2, plain(last_part(name)), meant)
    if "/" not in name:
        index.add(3, plain(name), meant)


def _with_metrics(row: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    """A metric with its filter and without: of the latter no filter is meant."""
    metric, metric_filter = str(row["metric"]), str(row["metric_filter"])
    found: list[tuple[str | None, str]] = [(None, metric)]
    if metric_filter:
        found.append((metric_filter, f"{metric}{metric_filter}"))
    return found


@dataclass(frozen=True)
class Matched:
    """Which names of a table the store has."""

    found: dict[str, StoreName]  #: what each name means.
    absent: tuple[str, ...]  #: names that the store does not have.
    ambiguous: tuple[str, ...]  #: names that may mean several, or that stand twice.


def matched(index: NameIndex, names: Sequence[str]) -> Matched:
    """Names that mean one thing, and that alone mean it."""
    meanings = {name: index.meant_by(name) for name in dict.fromkeys(names)}
    single: dict[str, StoreName] = {}
    for name, meant in meanings.items():
        if len(meant) == 1:
            single[name] = next(iter(meant))
    shared = _more_than_once(single.values())
    twice = _more_than_once(names)
    found: dict[str, StoreName] = {}
    ambiguous: list[str] = []
    for name, meant in meanings.items():
        if name in single and single[name] not in shared and name not in twice:
            found[name] = single[name]
        elif meant:
            ambiguous.append(name)
    absent = tuple(name for name, meant in meanings.items() if not meant)
    return Matched(found, absent, tuple(ambiguous))


def _more_than_once(items: Iterable[Any]) -> set[Any]:
    once: set[Any] = set()
    more: set[Any] = set()
    for item in items:
        if item in once:
            more.add(item)
        once.add(item)
    return more
