"""The context of a source, which its identity is taken from besides its bytes, its
names and the user's settings.

The same bytes are another source where they lie in folders that name another model,
seed or step, or are joined to another file. Importers say what that is: by ``folders``,
the number of folders above the source whose names they may look at, or by a method
``context`` of their own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Protocol, runtime_checkable

from warehouse.importers.base import Importer
from warehouse.records import SourceFiles
from warehouse.records.canonical_json import sha256_of

#: Folders above a source that an importer may look at which says nothing about it.
FOLDERS = 4


@runtime_checkable
class KnowsContext(Protocol):
    """An importer that reports by itself which other files it reads."""

    def context(self, source: SourceFiles) -> dict[str, Any]:
        """The context that an importer takes from the paths of a source's files, or
        from files that are not its own.

        Returns:
            JSON; empty where there is nothing.
        """

    def companions(self, source: SourceFiles) -> Sequence[Path]:
        """Files that are not the source's own and are read with it."""

    def says_same(self, places: Sequence[str], context: Mapping[str, Any]) -> bool:
        """True if a source with runs at these places (``RunHeader.place``) certainly
        has that context."""


def context_of(tool: Importer, source: SourceFiles) -> dict[str, Any]:
    """The context of a source as JSON; empty where there is nothing."""
    if isinstance(tool, KnowsContext):
        return tool.context(source)
    count = getattr(tool, "folders", FOLDERS)
    if not count:
        return {}
    within = sorted(os.path.relpath(path, source.root) for path in source.files)
    context = {"folders": list(_folders(Path(os.path.abspath(source.root)), count))}
    if any(os.sep in name for name in within):
        context["files"] = [sha256_of(os.fsencode("\0".join(within)))]
    return context


def companions_of(tool: Importer, source: SourceFiles) -> Sequence[Path]:
    """Files that are not the source's own and are read with it."""
    if isinstance(tool, KnowsContext):
        return tool.companions(source)
    return ()


def says_same(
    tool: Importer,
    source: SourceFiles,
    path: str,
    places: Sequence[str],
    context: Mapping[str, Any],
) -> bool:
    """True if a source that the ledger shows at ``path`` with runs at ``places``, of
    the same bytes and settings, certainly has a context: entries of earlier versions do
    not hold theirs."""
    if isinstance(tool, KnowsContext):
        return tool.says_same(places, context)
    is_folder = source.name == str(source.root)
    if is_folder:
        folder = path
    else:
        folder = os.path.dirname(path)
    root = PurePath(os.path.normpath(folder))
    folders = context["folders"]
    return bool(list(_folders(root, len(folders))) == folders)


def _folders(root: PurePath, count: int) -> tuple[str, ...]:
    """Names of a folder and of those above it, the last ``count``."""
    names = [name for name in root.parts if name != root.anchor]
    return tuple(
        os.fsencode(name).decode("utf-8", "backslashreplace") for name in names[-count:]
    )
