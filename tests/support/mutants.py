"""JSON values with something changed at random."""

from __future__ import annotations

import random
from typing import Any

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
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(found for key, item in inner for found in places(item, (*path, key))),
    ]


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
