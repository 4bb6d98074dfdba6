"""Drafts of mappings for made-up files, and what they ask."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def asked(draft: str) -> list[dict[str, Any]]:
    """What a draft leaves to be decided."""
    choices: list[dict[str, Any]] = tomllib.loads(draft).get("choose", [])
    return choices


def readings(draft: str) -> str:
    """What a draft asks, and between which readings, in one text."""
    return " ".join(f"{c['what']}: {'; '.join(c['between'])}" for c in asked(draft))


def document(path: Path, content: Any) -> Path:
    """A file of JSON."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(content))
    return path


def table(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """A file of CSV."""
    path.parent.mkdir(exist_ok=True, parents=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path
