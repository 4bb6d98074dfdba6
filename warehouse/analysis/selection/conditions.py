"""Conditions: what was measured, with the runs that repeat it, and distinguishing labels."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.records.run_fields import ALWAYS_TOLD, HASHES, LABEL_FIELDS
from warehouse.store.connection import Store
from warehouse.store.curate import catalogue
from warehouse.store.sql.query_files import query_text

Run = Mapping[str, Any]

_EARLY = datetime.min


@dataclass(frozen=True)
class Condition:
    """One condition on one benchmark and split."""

    key: str  #: condition key; equal for repeats.
    runs: tuple[Run, ...]  #: rows of ``run_current``, its repeats, by id.
    #: what else fitted where this was taken as the newest; labels tell it from them.
    others: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    #: of a row over several training seeds the condition of each; empty where it is one itself.
    members: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    row_notes: tuple[str, ...] = field(default=(), compare=False, repr=False)  #: what the row leaves out.
    row_flags: tuple[str, ...] = field(default=(), compare=False, repr=False)  #: of its checkpoints.
    n_checkpoints: int = field(default=1, compare=False, repr=False)  #: places in training of the row's model.

    @property
    def run_ids(self) -> tuple[int, ...]:
        """Ids of the repeats."""
        return tuple(run["run_id"] for run in self.runs)

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.runs[0]["model"])

    @property
    def who(self) -> str:
        """What was asked: ``MODEL[@CHECKPOINT][#SEED][+AGENT]``."""
        signs = (("@", "checkpoint"), ("#", "training_seed"), ("+", "agent"))
        return self.model + "".join(f"{sign}{self.setting(name)}" for sign, name in signs if self.setting(name))

    @property
    def benchmark_split(self) -> tuple[str, str]:
        """Benchmark and split."""
        return str(self.runs[0]["benchmark"]), str(self.runs[0]["split"])

    def setting(self, name: str) -> Any:
        """A column of ``run_current``; equal for all repeats."""
        return self.runs[0][name]

    @property
    def newest(self) -> tuple[datetime, int]:
        """Start of the last repeat, and its id, to order by time."""
        return max((run["started_at"] or _EARLY, run["run_id"]) for run in self.runs)


def read_runs(store: Store, condition: str, parameters: Mapping[str, Any], *, per: str = "") -> list[Run]:
    """Current runs that fulfil an SQL condition on ``run_current``, by id."""
    runs = store.rows(f"select * from run_current where {condition} order by run_id", parameters, per=per)
    return sorted(runs, key=itemgetter("run_id"))


def group_runs(runs: Iterable[Run]) -> list[Condition]:
    """Runs by condition, in the order of their first run."""
    return [Condition(key, tuple(members)) for key, members in grouped(runs, itemgetter("condition_key")).items()]


def describe(conditions: Sequence[Condition]) -> list[str]:
    """For each condition the settings that distinguish it from the others, such as ``fewshot=5``.

    A setting is told if it varies between conditions of one model, or between any two where it
    changes what the figure means. What still looks alike gets the head of its key.
    """
    shown = [name for name in LABEL_FIELDS if _is_shown(conditions, name)]
    labels = [", ".join(filter(None, (_in_words(condition, name) for name in shown))) for condition in conditions]
    seen = [(item.model, label) for item, label in zip(conditions, labels, strict=True)]
    return [
        _with_key(label, condition.key) if seen.count((condition.model, label)) > 1 else label
        for condition, label in zip(conditions, labels, strict=True)
    ]


def _is_shown(conditions: Sequence[Condition], name: str) -> bool:
    if name == "checkpoint" and any(c.setting("position") is not None for c in conditions):
        return False  # the position says the same, readably
    settings = [condition.setting(name) for condition in conditions]
    if len(set(settings)) < 2:
        return False
    values: dict[str, set[Any]] = {}
    for condition, value in zip(conditions, settings, strict=True):
        values.setdefault(condition.model, set()).add(value)
    if name in ALWAYS_TOLD and len(set().union(*values.values())) > 1:
        return True
    return any(len(own) > 1 for own in values.values())


def _in_words(condition: Condition, name: str) -> str:
    value = condition.setting(name)
    if value in (None, ""):
        return ""
    if name == "position":
        return f"{condition.setting('position_unit') or 'position'}={value:g}"
    if name == "agent":
        return f"+{value}"
    return f"{name}={str(value)[:8] if name in HASHES else value}"


def _with_key(label: str, key: str) -> str:
    return f"{label}, condition={key[:8]}" if label else f"condition={key[:8]}"


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
    *("id", "ids", "date", "time", "created", "started", "completed", "path", "location", "file", "dir", "folder"),
    *("output", "hash", "git", "commit", "uuid", "host", "user", "limit", "samples", "stats", "results", "key"),
    *("token", "secret", "password", "auth", "url", "name"),
}
_WORD = re.compile(r"[a-z]+")
#: Parts of a label that are a hash.
_NAMES = (*_ABOUT, "condition")


def label_conditions(store: Store, conditions: Sequence[Condition]) -> list[str]:
    """`describe`, with hashes replaced by the fields that differ, where the store has them.

    One that was taken as the newest is told from those that it was taken from too.
    """
    n_given, keys = len(conditions), {condition.key for condition in conditions}
    others = {other.key: other for condition in conditions for other in condition.others if other.key not in keys}
    conditions = [*conditions, *others.values()]
    labels = describe(conditions)
    hashed = [index for index, label in enumerate(labels) if any(_part(label, name) for name in _NAMES)]
    if not hashed or len(hashed) > MOST:
        return labels[:n_given]
    run_ids = [conditions[index].run_ids[0] for index in hashed]
    rows = store.rows(query_text("analysis", "run_settings"), {"run_ids": run_ids})
    leaves = {row.pop("run_id"): dict(_leaves(row)) for row in rows}
    for name in _NAMES:
        group = [index for index in hashed if _part(labels[index], name)]
        settings = [leaves[conditions[index].run_ids[0]] for index in group]
        words = _differences(settings, _ABOUT.get(name, ()))
        if all(words) and len(set(words)) == len({_part(labels[index], name) for index in group}):
            for index, difference in zip(group, words, strict=True):
                labels[index] = labels[index].replace(_part(labels[index], name), difference)
    return labels[:n_given]


def differing_settings(
    store: Store, conditions: Sequence[Condition], alike: Sequence[Sequence[Condition]]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Of each condition, by key, the settings without a column of their own in which conditions that are alike differ.

    Args:
        conditions: all that are to be told apart.
        alike: groups of them that should be one but for such settings.
    """
    rows = store.rows(query_text("analysis", "run_settings"), {"run_ids": [own.run_ids[0] for own in conditions]})
    by_run = {row.pop("run_id"): dict(_leaves(row)) for row in rows}
    leaves = {condition.key: by_run.get(condition.run_ids[0], {}) for condition in conditions}
    paths: dict[str, None] = {}
    for group in alike:
        own = [leaves[condition.key] for condition in group]
        for path in {path for values in own for path in values}:
            if len({values.get(path) for values in own}) > 1 and _is_what(path):
                paths[path] = None
    named = sorted(paths)
    hashes = ("scorers_key", "template_hash", "system_prompt_hash", "revision", "checkpoint")
    told: dict[str, tuple[tuple[str, str], ...]] = {}
    for condition in conditions:
        values = [(path, leaves[condition.key].get(path, "")) for path in named]
        for name in hashes:
            if any(len({str(own.setting(name)) for own in group}) > 1 for group in alike):
                values.append((name, str(condition.setting(name))))
        told[condition.key] = tuple(values)
    return told


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
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}.{index}")
    elif value is not None:
        yield path, str(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _differences(settings: Sequence[Mapping[str, str]], about: Sequence[str]) -> list[str]:
    """For each of some conditions the values of the settings in which they differ."""
    paths = {path for values in settings for path in values}
    differing = [
        path
        for path in sorted(paths, key=lambda path: (path.count("."), path))
        if len({values.get(path) for values in settings}) > 1
        and _is_what(path)
        and (not about or any(word in path.lower() for word in about))
    ][:NAMED]
    return [
        ", ".join(f"{path.rpartition('.')[2]}={_short(values.get(path))}" for path in differing) for values in settings
    ]


def _is_what(path: str) -> bool:
    return not _NOT_WHAT & set(_WORD.findall(path.lower()))


def _short(value: str | None) -> str:
    text = " ".join((value or "none").split())
    return text if len(text) <= LENGTH else f"{text[: LENGTH - 3]}..."


@dataclass(frozen=True)
class ListedRun(catalogue.RunEntry):
    """One run, and ``condition``: what differs between its settings and those of other runs on its benchmark.

    Empty where nothing differs, and for a run that was superseded or invalidated.
    """

    condition: str


def list_runs(store: Store, *, where: Sequence[str] = (), everything: bool = False) -> list[ListedRun]:
    """The runs of a store, oldest first, with what sets them apart.

    Args:
        where: as of :func:`warehouse.store.curate.catalogue.runs`.
        everything: superseded and invalidated runs too.

    Raises:
        MisuseError: a text of ``where`` of another form, or no such field.
    """
    runs = catalogue.runs(store, where=where, everything=everything)
    labels = _labels(store) if runs else {}
    entries = ({field.name: getattr(run, field.name) for field in dataclasses.fields(run)} for run in runs)
    return [ListedRun(**entry, condition=labels.get(entry["run_id"], "")) for entry in entries]


def _labels(store: Store) -> dict[int, str]:
    """For each current run the label of its condition among those on its benchmark and split."""
    alike = grouped(group_runs(read_runs(store, "true", {})), lambda condition: condition.benchmark_split)
    return {
        run_id: label
        for conditions in alike.values()
        for condition, label in zip(conditions, label_conditions(store, conditions), strict=True)
        for run_id in condition.run_ids
    }
