"""What tells the settings of a few conditions apart, in words short enough for a row of a table."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

#: Settings that a label names, at most, and characters of a value in it.
NAMED, LENGTH = 2, 24
_BOUNDARY = re.compile(r"[/\\\s,;:=|\"'{}\[\]]")

Settings = Mapping[str, str]


def differing_paths(settings: Sequence[Settings], told: Iterable[str] = ()) -> list[str]:
    """Paths of settings in which some conditions differ, the least nested first.

    A setting that stands in several places of a dump, with the same values, is told once.

    Args:
        settings: of each condition, by path.
        told: paths that are told otherwise: they, and what says the same under the same last name, are left out.
    """
    paths = sorted({path for own in settings for path in own}, key=lambda path: (path.count("."), path))
    seen: set[tuple[str, tuple[str | None, ...]]] = set()
    for path in told:
        seen.add((_last_name(path), _values(settings, path)))
    differing = []
    for path in paths:
        values = _values(settings, path)
        if len(set(values)) < 2 or path in told:
            continue
        said = (_last_name(path), values)
        if said not in seen:
            seen.add(said)
            differing.append(path)
    return differing


def _values(settings: Sequence[Settings], path: str) -> tuple[str | None, ...]:
    return tuple(own.get(path) for own in settings)


def _last_name(path: str) -> str:
    return path.rpartition(".")[2]


def in_words(settings: Sequence[Settings], paths: Sequence[str]) -> list[str]:
    """For each condition its values of some settings: ``max_steps=50, tools=bash``.

    Those that tell most conditions apart are named; of more is said how many there are.
    """
    ordered = sorted(paths, key=lambda path: -len(set(_values(settings, path))))
    named = [path for path in paths if path in ordered[:NAMED]]
    names = short_names(named, paths)
    shown = {path: short_values(_values(settings, path)) for path in named}
    n_more = len(paths) - len(named)
    more = [f"{n_more} more settings" if n_more > 1 else "1 more setting"] if n_more else []
    return [
        ", ".join([f"{names[path]}={shown[path][index]}" for path in named] + more) for index in range(len(settings))
    ]


def short_names(paths: Sequence[str], among: Sequence[str]) -> dict[str, str]:
    """As much of the end of each path as tells it from others."""
    ends: dict[str, set[str]] = defaultdict(set)
    for path in among:
        parts = path.split(".")
        for count in range(1, len(parts) + 1):
            ends[".".join(parts[-count:])].add(path)
    names = {}
    for path in paths:
        parts = path.split(".")
        candidates = (".".join(parts[-count:]) for count in range(1, len(parts) + 1))
        names[path] = next(end for end in candidates if len(ends[end]) == 1 or end == path)
    return names


def short_values(values: Sequence[str | None]) -> list[str]:
    """Values as a label shows them: whole where they are short, else what differs in them."""
    said = [value for value in values if value is not None]
    if all(len(value) <= LENGTH for value in said):
        return [" ".join((value or "unset").split()) for value in values]
    start = len(os.path.commonprefix(said)) if len(said) > 1 else 0
    end = len(os.path.commonprefix([value[::-1] for value in said])) if len(said) > 1 else 0
    return ["unset" if value is None else _middle(value, start, end) for value in values]


def _middle(value: str, start: int, end: int) -> str:
    """What of a text lies between what it has in common with others, from one boundary of words to the next."""
    first = start
    while first > 0 and not _BOUNDARY.match(value[first - 1]):
        first -= 1
    last = max(len(value) - end, first)
    while last < len(value) and not _BOUNDARY.match(value[last]):
        last += 1
    middle = " ".join(value[first:last].split()) or " ".join(value.split())
    lead = "…" if first > 0 else ""
    tail = "…" if last < len(value) else ""
    if len(middle) > LENGTH:
        middle, tail = middle[: LENGTH - 1], "…"
    return f"{lead}{middle}{tail}"
