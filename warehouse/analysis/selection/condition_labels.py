"""What differs between conditions that only a hash tells apart, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.analysis.selection.arrow import one_of
from warehouse.analysis.selection.conditions import Condition, describe
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Conditions whose configurations are read; more are told by their hash.
MOST = 60
#: Differences that a label names, and characters of a value in it.
NAMED, LENGTH = 2, 24
#: Words in the path of a setting that a hash is made of.
_ABOUT = {
    "template_hash": ("template", "doc_to", "description", "prompt", "instruction"),
    "system_prompt_hash": ("system",),
    "scorers_key": ("scorer", "metric", "judge", "grader"),
}
#: Words in a path that say when or where, not what, and those of secrets.
_NOT_WHAT = {
    "id",
    "ids",
    "date",
    "time",
    "created",
    "started",
    "completed",
    "path",
    "location",
    "file",
    "dir",
    "folder",
    "output",
    "hash",
    "git",
    "commit",
    "uuid",
    "host",
    "user",
    "limit",
    "samples",
    "stats",
    "results",
    "key",
    "token",
    "secret",
    "password",
    "auth",
    "url",
    "name",
}
_WORD = re.compile(r"[a-z]+")
#: Parts of a label that are a hash.
_NAMES = (*_ABOUT, "condition")


def label_conditions(store: Store, conditions: Sequence[Condition]) -> list[str]:
    """`describe`, with what differs in place of a hash where the store tells it."""
    labels = describe(conditions)
    hashed = [place for place, label in enumerate(labels) if _hash_of(label)]
    if not hashed or len(hashed) > MOST:
        return labels
    runs, parameters = one_of("run.id", [conditions[place].run_ids[0] for place in hashed], "r")
    rows = store.arrow(query_text("analysis", "run_settings").format(runs=runs), parameters).to_pylist()
    leaves = {row.pop("run_id"): dict(_leaves(row)) for row in rows}
    for name in _NAMES:
        group = [place for place in hashed if _part(labels[place], name)]
        settings = [leaves[conditions[place].run_ids[0]] for place in group]
        words = _differences(settings, _ABOUT.get(name, ()))
        if len(set(words)) == len({_part(labels[place], name) for place in group}):
            for place, said in zip(group, words, strict=True):
                labels[place] = labels[place].replace(_part(labels[place], name), said)
    return labels


def _hash_of(label: str) -> bool:
    return any(_part(label, name) for name in _NAMES)


def _part(label: str, name: str) -> str:
    """The part ``name=…`` of a label, empty where it has none."""
    return next((part for part in label.split(", ") if part.startswith(f"{name}=")), "")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Path and value of everything inside a document."""
    if isinstance(value, str) and not path.count("."):
        value = _parsed(value)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}.{place}")
    elif value is not None:
        yield path, str(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _differences(settings: Sequence[Mapping[str, str]], about: Sequence[str]) -> list[str]:
    """For each of some conditions the values of the settings in which they differ."""
    paths = {path for one in settings for path in one}
    differing = [
        path
        for path in sorted(paths, key=lambda path: (path.count("."), path))
        if len({one.get(path) for one in settings}) > 1
        and _is_what(path)
        and (not about or any(word in path.lower() for word in about))
    ][:NAMED]
    return [", ".join(f"{path.rpartition('.')[2]}={_short(one.get(path))}" for path in differing) for one in settings]


def _is_what(path: str) -> bool:
    return not _NOT_WHAT & set(_WORD.findall(path.lower()))


def _short(value: str | None) -> str:
    text = " ".join((value or "none").split())
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."
