"""What a mapped table takes from its path and from files that are joined to it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import open_regular
from warehouse.importers.tabular.mapping import TabularMapping
from warehouse.importers.tabular.table import Table, groups_of
from warehouse.records import canonical_json

#: Of so many tables the groups are kept as they are; of more, a hash.
_SHOWN = 10


def context_of_tables(mapping: TabularMapping, tables: Sequence[Table]) -> dict[str, Any]:
    """Groups of the path pattern, and hashes of the joined files; empty where there are none."""
    found: dict[str, Any] = {}
    if groups := [table.groups for table in tables if table.groups]:
        found["path"] = _short(groups)
    if mapping.joins and tables:
        joined = [{name: path and _sha256(path) for name, path in _joined(table)} for table in tables]
        found["joined"] = _short(joined)
    return found


def joined_files(tables: Sequence[Table]) -> list[Path]:
    """The files that are joined to some tables, each once."""
    found = (path for table in tables for _, path in _joined(table) if path is not None)
    return list(dict.fromkeys(found))


def has_context(mapping: TabularMapping, path: str, context: Mapping[str, Any]) -> bool:
    """Whether a single table at a path, of which the beginning may be missing, certainly has a
    context."""
    groups = groups_of(mapping, path)
    return not mapping.joins and bool(groups) and context == {"path": _short([groups])}


def _joined(table: Table) -> Iterator[tuple[str, Path | None]]:
    for rule in table.mapping.joins:
        path = None
        with suppress(InputError):  # it is not there: whoever reads it will say so
            path = table.joined_file(rule)
        yield rule.name, path


def _short(parts: Sequence[Any]) -> list[Any]:
    """What some tables have, in their order; a hash where there are many."""
    if len(parts) <= _SHOWN:
        return list(parts)
    return [hashlib.sha256(b"\n".join(map(canonical_json, parts))).hexdigest()]


def _sha256(path: Path) -> str | None:
    """Hash of a file that many tables may be joined to; ``None`` if it cannot be read."""
    try:
        status = path.stat()
        return _hash_of(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _hash_of(path: Path, _changed: int, _entered: int, _size: int) -> str:
    with open_regular(path) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
