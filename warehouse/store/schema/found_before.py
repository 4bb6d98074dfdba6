"""Findings about a store from before, in the user's cache.

Each finding is a file of its own, named by the digest of what it is about: processes
that open several stores at once do not write over each other's. Only this program
writes there, and only what it found itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from warehouse.files import replace_file

#: Where the user's cache lies, if that is not ``~/.cache``.
CACHE_VARIABLE = "XDG_CACHE_HOME"
#: Findings that stay, the latest.
KEPT = 200


def read(subject: str, made_by: str) -> Any:
    """The kept finding; None where nothing is kept, or what another version found.

    Args:
        subject: what it is about: the path of a store, for one.
        made_by: the version of what looks.
    """
    path = _file(subject)
    if path is None:
        return None
    try:
        kept = json.loads(path.read_bytes())
        if (kept["subject"], kept["made_by"]) == (subject, made_by):
            return kept["found"]
    except (OSError, ValueError, TypeError, KeyError):
        pass  # as if there were none
    return None


def keep(subject: str, made_by: str, found: Any) -> None:
    """Keep a finding in place of an earlier one, where there is a place for it."""
    path = _file(subject)
    if path is None:
        return
    content = json.dumps(
        {"subject": subject, "made_by": made_by, "found": found}
    ).encode()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        replace_file(path, content, mode=0o600, lasting=False)
        if is_new:
            _drop_oldest(path.parent)


def _drop_oldest(folder: Path) -> None:
    files = [file for file in os.scandir(folder) if file.name.endswith(".json")]
    if len(files) <= KEPT:
        return
    latest_last = sorted(files, key=lambda file: file.stat().st_mtime_ns)
    for file in latest_last[:-KEPT]:
        with suppress(FileNotFoundError):  # another process drops them too
            os.unlink(file)


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where this program's part of the user's cache lies; None where nobody says."""
    base = environment.get(CACHE_VARIABLE, "")
    home = environment.get("HOME") or environment.get("USERPROFILE")
    if os.path.isabs(base):
        return Path(base) / "warehouse"
    if home:
        return Path(home) / ".cache" / "warehouse"
    return None


def _file(subject: str) -> Path | None:
    cache = cache_folder(os.environ)
    if cache is None:
        return None
    name = hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return cache / "stores" / f"{name}.json"
