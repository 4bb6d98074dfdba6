"""Which stored sources an earlier version of their importer has read: read anew they
may say more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.importers import importers
from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class OutdatedSource:
    """A source that its importer reads otherwise by now."""

    source_id: int  #: its row in the ledger.
    path: str  #: where it lay when it came.
    format: str  #: the importer.
    read_by: str  #: version of the importer that read it.
    current: str  #: version of the importer that is installed.
    command: str  #: what reads it anew, in place of what is stored of it.

    def __str__(self) -> str:
        return (
            f"source {self.source_id} ({self.path}): {self.format} {self.read_by}, now "
            f"{self.current}: {self.command}"
        )


def outdated_sources(store: Store) -> list[OutdatedSource]:
    """The loaded sources whose importer has another, later version by now, by id; no
    dump is looked at.

    A source of an importer that is not installed, or that a later version has read, is
    not among them.

    Args:
        store: an open store with a ledger.
    """
    current = {name: tool.version for name, tool in importers().items()}
    rows = store.rows(query_text("store", "read_sources"))
    return [_outdated(row, current[row["format"]]) for row in _earlier(rows, current)]


def _earlier(
    rows: Iterable[Mapping[str, Any]], current: Mapping[str, str]
) -> Iterable[Mapping[str, Any]]:
    for row in rows:
        installed = current.get(row["format"])
        if installed is not None and _is_earlier(row["importer_version"], installed):
            yield row


def _is_earlier(version: str, installed: str) -> bool:
    """True if a version comes before another; of versions that are no numbers every
    other one does."""
    one = _numbers(version)
    other = _numbers(installed)
    if one is None or other is None:
        return version != installed
    return one < other


def _numbers(version: str) -> tuple[int, ...] | None:
    if re.fullmatch(r"\d+(\.\d+)*", version) is None:
        return None
    return tuple(map(int, version.split(".")))


def _outdated(row: Mapping[str, Any], installed: str) -> OutdatedSource:
    settings = {}
    if row["settings"]:
        settings = parse_json(row["settings"])
    command = _command(row["path"], settings)
    return OutdatedSource(
        row["id"],
        row["path"],
        row["format"],
        row["importer_version"],
        installed,
        command,
    )


def _command(path: str, settings: Mapping[str, Any]) -> str:
    """The command that reads a source anew as it was read; the name of a mapping is not
    kept, what it says is."""
    words = ["warehouse", "ingest", path]
    if settings.get("mapping") is not None:
        words += ["--map", "MAPPING.toml"]
    for option, values in (
        ("--set", settings.get("values")),
        ("--default", settings.get("defaults")),
    ):
        for name, value in (values or {}).items():
            words += [option, f"{name}={value}"]
    if settings.get("higher_is_better") is not None:
        words.append(
            "--higher-is-better"
            if settings["higher_is_better"]
            else "--lower-is-better"
        )
    if settings.get("text", "all") != "all":
        words += ["--text", settings["text"]]
    if settings.get("on_duplicate", "error") != "error":
        words += ["--on-duplicate", settings["on_duplicate"]]
    for field in settings.get("cluster_by") or ():
        words += ["--cluster-by", field]
    return " ".join(map(shlex.quote, words))
