"""Dumps with something changed at random: read, rejected or refused, never a failure."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.support import lm_eval
from warehouse.errors import InputError

STRANGE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    2**63,
    "",
    "x",
    "\x00",
    "[]",
    [],
    {},
    [None],
    [[1]],
    {"a": None},
    [{}],
    {"value": {"value": 1}},
    "attachment://0",
    "9" * 400,
    float("nan"),
    "2026-13-45",
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))]


def swapped(document: Any, rng: random.Random) -> Any:
    """A document with one part replaced, taken out or said twice."""
    paths = [path for path in places(document) if path and "events" not in path]
    path = rng.choice(paths)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    choice = rng.random()
    if choice < 0.15:
        del parent[path[-1]]
    elif choice < 0.25 and isinstance(parent, list):
        parent.append(parent[path[-1]])
    else:
        parent[path[-1]] = rng.choice(STRANGE)
    return document


def stand_swaps(root: Path, importer: Any, seed: int, *, named: str, turns: int = 50) -> None:
    """Read a dump again and again, each time with one part of one JSON file swapped: an importer
    refuses it with a message that has `named`, or says of each rejected row where and what.

    Args:
        root: a file, or a folder of which all JSON files take part.
    """
    rng = random.Random(seed)
    paths = [root] if root.is_file() else sorted(root.rglob("*.json"))
    texts = {path: path.read_text() for path in paths}
    for _ in range(turns):
        path = rng.choice(paths)
        path.write_text(json.dumps(swapped(json.loads(texts[path]), rng)))
        sound_or_refused(root, importer, named)
        path.write_text(texts[path])


def stand_line_swaps(
    root: Path, importer: Any, seed: int, *, named: str, pattern: str = "*.jsonl", turns: int = 50
) -> None:
    """As :func:`stand_swaps`, of a line of one file of JSON lines."""
    rng = random.Random(seed)
    texts = {path: path.read_text() for path in sorted(root.rglob(pattern))}
    for _ in range(turns):
        path = rng.choice(list(texts))
        lines = texts[path].splitlines()
        place = rng.randrange(len(lines))
        lines[place] = json.dumps(swapped(json.loads(lines[place]), rng))
        path.write_text("\n".join(lines) + "\n")
        sound_or_refused(root, importer, named)
        path.write_text(texts[path])


def sound_or_refused(root: Path, importer: Any, named: str | None = None) -> None:
    """What an importer claims of a dump it reads, rejecting rows in words, or refuses.

    Args:
        named: what the message of a refusal has; None for the file's name.
    """
    for source in lm_eval.claimed(root, importer=importer):
        try:
            taken = lm_eval.take(*source.files, importer=importer, model="org/m")
        except InputError as error:
            assert (named or root.name) in str(error)
        else:
            assert all(item.place and item.found for item in taken.dump.rejections)
