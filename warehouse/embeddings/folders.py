"""Folders that hold a model: which one a text names, and which revision lies in it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from warehouse.errors import InputError

_PATH = ("/", "./", "../", "~", ".\\", "..\\")
#: Files of a model folder that do not change what it computes.
_IDLE = {".md", ".gitattributes", ".lock"}
#: Hexadecimal digits of a revision.
DIGITS = 12


def find_folder(spec: str) -> Path | None:
    """The folder that ``spec`` names; None where it is a name on the hub.

    Raises:
        InputError: it is a path, and there is no model folder.
    """
    path = Path(spec).expanduser()
    if path.is_dir():
        if not any((path / name).exists() for name in ("modules.json", "config.json")):
            raise InputError("the folder holds no model", path=spec, expected="modules.json or config.json")
        return path.resolve()
    if path.exists() or spec.startswith(_PATH) or spec.count("/") > 1:
        raise InputError("no such folder", path=spec, expected="a folder that holds a sentence-transformers model")
    return None


def folder_revision(folder: Path) -> str:
    """The head of a sha256 over the files of a model folder: other weights, other revision."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in _IDLE and not path.name.startswith("."):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGITS]
