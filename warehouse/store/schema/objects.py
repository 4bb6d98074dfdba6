"""Whether what stands in a store under names of ours is ours.

The file of a store may come from anybody. Under the name of a table it may hold a view, in a view of ours another
text, and a macro called ``avg``: then figures change, and nothing that counts rows sees it. So a store is looked
through when it is opened: tables are tables, views have the text that this version gives them, and no function is
called like one of the engine's own. Objects under other names are the user's, and allowed.

What the engine prints of our views is kept in the user's cache, since making it takes longer than most answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import StoreError
from warehouse.files import replace_file
from warehouse.store.schema.head import HEAD, TABLES, VERSION_TABLE
from warehouse.store.sql.query_files import query_text, view_names

if TYPE_CHECKING:
    from warehouse.store.connection import Store

#: Where the user's cache lies, if that is not ``~/.cache``.
CACHE_VARIABLE = "XDG_CACHE_HOME"
#: Differences that a message names.
_NAMED = 3

#: Files that stay in the cache as proven, the latest.
_KEPT = 200


class Look:
    """One look at what stands in a store, when it is opened. A file that was found to be ours, and has not changed
    since, is not looked through again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = _look_of(store)
        self._is_proven = self._seen is not None and _Cache.read().proven.get(self._seen.path) == self._seen.look
        self._rows: list[dict[str, Any]] = []
        if not self._is_proven:
            self._rows = _objects_of(store)

    def require_kinds(self) -> None:
        """Refuse a view for a table, and a function called like one of the engine's; before anything is read.

        Raises:
            StoreError: names what differs.
        """
        if differences := [*_other_kinds(self._rows), *_functions(self._store, self._rows)]:
            raise StoreError(
                f"{self._store.name} holds under names of ours what no version makes: {_some(differences)}. It may be"
                " hostile: ingest the dumps into a new store"
            )

    def require_texts(self) -> None:
        """Refuse other texts of views, of a store with the schema of this version.

        Raises:
            StoreError: names the views, and says what to do.
        """
        if self._is_proven:
            return
        differences = _other_texts(self._rows) if self._store.dialect.embedded else []
        if differences:
            name = self._store.name
            raise StoreError(
                f"{name} holds under names of ours what this version does not make: {_some(differences)}. A store that"
                f" comes from elsewhere may be hostile; of one that is yours the views are made anew by: warehouse"
                f" --db {name} db upgrade"
            )
        if self._seen is not None:
            _Cache.read().with_proven(self._seen).write()


def _some(differences: list[str]) -> str:
    more = f" and {len(differences) - _NAMED} more" if len(differences) > _NAMED else ""
    return "; ".join(differences[:_NAMED]) + more


def _objects_of(store: Store) -> list[dict[str, Any]]:
    if store.dialect.objects is None:
        return []
    return store.rows(query_text("objects", store.dialect.objects))


def remember(store: Store) -> None:
    """A file that this program alone has written since it was proven needs no second proof."""
    seen = _look_of(store)
    if seen is not None:
        _Cache.read().with_proven(seen).write()


@dataclass(frozen=True)
class _Seen:
    """A file as the disk tells it."""

    path: str
    look: list[int]  #: of the file and of its log: number on the disk, size, times of the last change.


def _look_of(store: Store) -> _Seen | None:
    if not store.dialect.embedded:
        return None
    path = Path(store.url.database or "").resolve()
    look: list[int] = []
    for file in (path, path.with_name(path.name + ".wal")):
        try:
            found = file.stat()
        except OSError:
            look.append(0)
        else:
            look += [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
    return _Seen(str(path), look)


def foreign_objects(store: Store) -> list[str]:
    """What stands under names of ours and is not ours, in words; texts of views where all else is ours."""
    rows = _objects_of(store)
    differences = [*_other_kinds(rows), *_functions(store, rows)]
    if not differences and store.dialect.embedded:
        differences += _other_texts(rows)
    return differences


def _other_kinds(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    views = frozenset(view_names())
    tables = TABLES | {VERSION_TABLE}
    found = []
    for row in rows:
        name, kind = row["name"], row["kind"]
        if kind in ("trigger", "rule") and name in tables:
            found.append(f"{kind} {row['text']} of {name}")
        elif kind in ("table", "view", "other"):
            expected = "table" if name in tables else "view" if name in views else kind
            if kind != expected:
                found.append(f"{name}, which is a {expected}, is none there")
    return sorted(found)


def _functions(store: Store, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    names = sorted({row["name"] for row in rows if row["kind"] == "function"})
    if not names:
        return []
    if store.dialect.embedded:
        own = store.rows(query_text("objects", "engine_functions"), {"names": names})
        names = [row["name"] for row in own]
    return [f"a function {name}, as the engine has one" for name in names]


# --- the texts of views ----------------------------------------------------------------------


def _other_texts(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    expected_names = frozenset(view_names())
    found = {row["name"]: row["text"] for row in rows if row["kind"] == "view" and row["name"] in expected_names}
    digest = _digest(found)
    cache = _Cache.read()
    if digest == cache.views:
        return []
    expected = expected_views()
    replace(cache, views=_digest(expected)).write()
    if digest == _digest(expected):
        return []
    differing = [name for name, text in sorted(found.items()) if text != expected[name]]
    printed = _printed_here([(name, found[name]) for name in differing])
    return [f"the view {name} has another text" for name in differing if printed.get(name) != expected[name]]


def expected_views() -> dict[str, str]:
    """What the engine prints of each view that this version makes."""
    from warehouse.store.engines.duckdb import empty_store

    raw = empty_store()
    try:
        return dict(raw.execute("select view_name, sql from duckdb_views() where not internal").fetchall())
    finally:
        raw.close()


def _printed_here(views: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What this version of the engine prints of views that another one printed: texts that are no view, or that ask for
    what a store has not, are left out."""
    import duckdb

    from warehouse.store.engines.duckdb import empty_store

    raw = empty_store()
    printed: dict[str, str] = {}
    try:
        for name, text in views:
            if not re.match(rf"create view \"?{name}\"? as ", text, re.IGNORECASE):
                continue
            with suppress(duckdb.Error):
                raw.execute(re.sub("^create view", "create or replace view", text, flags=re.IGNORECASE))
                query = "select sql from duckdb_views() where view_name = ?"
                printed[name] = raw.execute(query, [name]).fetchone()[0]
    finally:
        raw.close()
    return printed


def _digest(views: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(sorted(views.items())).encode()).hexdigest()


# --- the user's cache ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cache:
    """What was found before. Only this program writes it, and only what it found itself."""

    views: str = ""  #: digest of what the engine prints of our views.
    proven: Mapping[str, list[int]] = field(default_factory=dict)  #: look of each file that was found to be ours.

    @classmethod
    def read(cls) -> _Cache:
        """Empty where there is none, or another version's."""
        path = _cache_file()
        if path is None:
            return cls()
        try:
            kept = json.loads(path.read_bytes())
            if kept["version"] == _version():
                return cls(str(kept["views"]), dict(kept["proven"]))
        except (OSError, ValueError, TypeError, KeyError):
            pass  # as if there were none
        return cls()

    def with_proven(self, seen: _Seen) -> _Cache:
        """With a file that was found to be ours, before those that were found earlier."""
        proven = {seen.path: seen.look}
        for path, look in self.proven.items():
            if len(proven) < _KEPT:
                proven.setdefault(path, look)
        return replace(self, proven=proven)

    def write(self) -> None:
        """Keep it, where there is a place for it."""
        path = _cache_file()
        if path is None:
            return
        kept = {"version": _version(), "views": self.views, "proven": dict(self.proven)}
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, json.dumps(kept).encode(), mode=0o600, lasting=False)


def _version() -> str:
    import duckdb

    return f"{HEAD} duckdb {duckdb.__version__}"


def _cache_file() -> Path | None:
    base = os.environ.get(CACHE_VARIABLE, "")
    if os.path.isabs(base):
        return Path(base) / "warehouse" / "objects.json"
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    return Path(home) / ".cache" / "warehouse" / "objects.json" if home else None
