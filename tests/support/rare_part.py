"""A part of the rare tests: CI runs one a time, which its commit chooses, so that all have
their turn and a commit is tested alike whenever it is tested."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest


def part_of_rare(
    items: Sequence[pytest.Item], part: str
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that are not rare with those rare ones that fall into a part, and the
    rare ones of other parts.

    Args:
        items: of a session.
        part: ``K/N``: the K-th of N parts, from 0.
    """
    number, of = _numbers(part)
    kept, left_out = [], []
    for item in items:
        is_rare = item.get_closest_marker("rare") is not None
        if is_rare and zlib.crc32(item.nodeid.encode()) % of != number:
            left_out.append(item)
        else:
            kept.append(item)
    return kept, left_out


def _numbers(part: str) -> tuple[int, int]:
    try:
        number, of = map(int, part.split("/"))
    except ValueError:
        number, of = 0, 0
    if not 0 <= number < of:
        raise pytest.UsageError(f"--rare-part {part}: expected K/N, such as 0/4")
    return number, of
