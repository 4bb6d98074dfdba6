"""Items in parts of a bounded size, so that what is read of a part at once fits into memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
_SCALARS = frozenset({str, int, float, bool, type(None)})


def in_parts(
    items: Iterable[Item], size: Callable[[Item], int], most: int, most_items: int | None = None
) -> Iterator[list[Item]]:
    """Items in their order, in parts that are not empty.

    Args:
        size: of an item, in rows or whatever ``most`` counts.
        most: of a part; an item that is larger is a part of its own.
        most_items: of a part; None for any number.
    """
    part: list[Item] = []
    total = 0
    for item in items:
        own = size(item)
        if part and (total + own > most or len(part) == most_items):
            yield part
            part, total = [], 0
        part.append(item)
        total += own
    if part:
        yield part


def held_bytes(value: object) -> dict[int, int]:
    """Bytes of the arrays and packed texts in a value, by the identity of what owns them: views are counted as that."""
    todo, seen, held = [value], set[int](), dict[int, int]()
    while todo:
        item = todo.pop()
        if isinstance(item, np.ndarray):
            while isinstance(item.base, np.ndarray):
                item = item.base
            held[id(item)] = item.nbytes
        elif isinstance(item, bytes):
            held[id(item)] = len(item)
        elif id(item) not in seen and not isinstance(item, type):
            seen.add(id(item))
            inside = item if isinstance(item, dict) else getattr(item, "__dict__", ())
            parts = item if isinstance(item, list | tuple) else inside.values() if inside else ()
            todo += [part for part in parts if type(part) not in _SCALARS]
    return held


def give_back_memory() -> None:
    """To the system, what a long computation left: the allocator would keep it, and more with each that follows."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
