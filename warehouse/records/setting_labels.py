"""Labels that tell the settings of a few conditions apart, in words short enough for a
row of a table."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

#: Settings that a label names, at most, and characters of a value in it.
NAMED, LENGTH = 2, 24
#: What a label says of a condition that does not have the setting.
UNSET = "unset"
_BOUNDARY = re.compile(r"[/\\\s,;:=|\"'{}\[\]]")

Settings = Mapping[str, str]
Values = tuple[str | None, ...]


def differing_paths(
    settings: Sequence[Settings], told: Iterable[str] = ()
) -> list[str]:
    """Paths of settings in which some conditions differ, the least nested first.

    A setting that stands in several places of a dump, with the same values, is told
    once.

    Args:
        settings: of each condition, by path.
        told: paths that are told otherwise: they, and what says the same under the same
            last name, are left out.
    """
    paths: set[str] = set()
    for own in settings:
        paths.update(own)
    left_out = set(told)
    said = {(last_name(path), _values_of(settings, path)) for path in left_out}
    differing = []
    for path in sorted(paths - left_out, key=_by_depth):
        values = _values_of(settings, path)
        if len(set(values)) < 2:
            continue
        if (last_name(path), values) in said:
            continue
        said.add((last_name(path), values))
        differing.append(path)
    return differing


def _by_depth(path: str) -> tuple[int, str]:
    return path.count("."), path


def _values_of(settings: Sequence[Settings], path: str) -> Values:
    return tuple(own.get(path) for own in settings)


def last_name(path: str) -> str:
    """The innermost name of a path."""
    return path.rpartition(".")[2]


def in_words(settings: Sequence[Settings], paths: Sequence[str]) -> list[str]:
    """For each condition its values of some settings: ``max_steps=50, tools=bash``.

    Those that tell most conditions apart are named; of more is said how many there are.
    """
    named = _most_telling(settings, paths)
    names = short_names(named, paths)
    parts: list[list[str]] = [[] for _ in settings]
    for path in named:
        values = short_values(_values_of(settings, path))
        for own, value in zip(parts, values, strict=True):
            own.append(f"{names[path]}={value}")
    n_more = len(paths) - len(named)
    if n_more:
        if n_more == 1:
            more = "1 more setting"
        else:
            more = f"{n_more} more settings"
        for own in parts:
            own.append(more)
    return [", ".join(own) for own in parts]


def _most_telling(settings: Sequence[Settings], paths: Sequence[str]) -> list[str]:
    """The first of some paths by how many values they have, in their own order."""
    n_values = {path: len(set(_values_of(settings, path))) for path in paths}
    ordered = sorted(paths, key=lambda path: -n_values[path])
    chosen = set(ordered[:NAMED])
    return [path for path in paths if path in chosen]


def short_names(paths: Sequence[str], among: Sequence[str]) -> dict[str, str]:
    """As much of the end of each path as tells it from others."""
    n_paths: Counter[str] = Counter()
    for path in among:
        n_paths.update(_ends(path))
    names = {}
    for path in paths:
        for end in _ends(path):
            names[path] = end
            if n_paths[end] == 1:
                break
    return names


def _ends(path: str) -> list[str]:
    """The ends of a path, from its last name to all of it."""
    parts = path.split(".")
    return [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]


def short_values(values: Sequence[str | None]) -> list[str]:
    """Values as a label shows them: whole where they are short, else what differs in
    them."""
    said = [value for value in values if value is not None]
    if all(len(value) <= LENGTH for value in said):
        return [_on_one_line(value) for value in values]
    start, end = _in_common(said)
    short = []
    for value in values:
        if value is None:
            short.append(_on_one_line(None))
        else:
            short.append(_middle(value, start, end))
    return short


def _on_one_line(value: str | None) -> str:
    if value is None:
        return UNSET
    return " ".join(value.split()) or repr(value)


def _in_common(values: Sequence[str]) -> tuple[int, int]:
    """How many characters some texts have in common at their beginning, and at their
    end."""
    if len(values) < 2:
        return 0, 0
    reversed_values = [value[::-1] for value in values]
    return len(os.path.commonprefix(list(values))), len(
        os.path.commonprefix(reversed_values)
    )


def _middle(value: str, start: int, end: int) -> str:
    """The part of a text that lies between what it has in common with others, from one
    boundary of words to the next."""
    first = start
    while first > 0 and not _BOUNDARY.match(value[first - 1]):
        first -= 1
    last = max(len(value) - end, first)
    while last < len(value) and not _BOUNDARY.match(value[last]):
        last += 1
    middle = " ".join(value[first:last].split())
    if not middle:
        first, last = 0, len(value)
        middle = " ".join(value.split())
    lead = ""
    if first > 0:
        lead = "…"
    tail = ""
    if last < len(value):
        tail = "…"
    if len(middle) > LENGTH:
        return f"{lead}{middle[: LENGTH - 1]}…"
    return f"{lead}{middle}{tail}"
