"""Conditions: what was measured, with the runs that repeat it, and distinguishing
labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.scorers import name_scorers, scorers_of
from warehouse.records import parse_json
from warehouse.records.run_fields import ALWAYS_TOLD, HASHES, LABEL_FIELDS
from warehouse.records.setting_labels import differing_paths, in_words, last_name
from warehouse.store.connection import Store
from warehouse.store.curate.ignored_settings import IgnoredSettings
from warehouse.store.sql.query_files import query_text

Run = Mapping[str, Any]
#: Settings of a run, as they are compared, by their paths.
Settings = dict[str, str]
#: Two words: a setting by its path with its value, or a model with a setting's name.
Told = tuple[str, str]

_EARLY = datetime.min
#: What tells the runs of a model apart, and the sign before each.
_SIGNS = (("@", "checkpoint"), ("#", "training_seed"), ("+", "agent"))


@dataclass(frozen=True)
class Condition:
    """One condition on one benchmark and split."""

    key: str  #: condition key; equal for repeats.
    runs: tuple[Run, ...]  #: rows of ``run_current``, its repeats, by id.
    #: what else fitted where this was taken as the newest; labels tell it from them.
    others: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    #: of a row over several training seeds the condition of each; empty where it is one
    #: itself.
    members: tuple[Condition, ...] = field(default=(), compare=False, repr=False)
    #: what the row leaves out.
    row_notes: tuple[str, ...] = field(default=(), compare=False, repr=False)
    #: of its checkpoints.
    row_flags: tuple[str, ...] = field(default=(), compare=False, repr=False)
    #: places in training of the row's model.
    n_checkpoints: int = field(default=1, compare=False, repr=False)

    @property
    def run_ids(self) -> tuple[int, ...]:
        """Ids of the repeats."""
        return tuple([run["run_id"] for run in self.runs])

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.runs[0]["model"])

    @cached_property
    def who(self) -> str:
        """The reference that was asked for: ``MODEL[@CHECKPOINT][#SEED][+AGENT]``."""
        told = self.model
        for sign, name in _SIGNS:
            value = self.setting(name)
            if value:
                told += f"{sign}{value}"
        return told

    @property
    def benchmark_split(self) -> tuple[str, str]:
        """Benchmark and split."""
        benchmark = self.setting("benchmark")
        split = self.setting("split")
        return str(benchmark), str(split)

    def setting(self, name: str) -> Any:
        """A column of ``run_current``; equal for all repeats."""
        return self.runs[0][name]

    @cached_property
    def newest(self) -> tuple[datetime, int]:
        """Start of the last repeat, and its id, to order by time."""
        starts: list[tuple[datetime, int]] = []
        for run in self.runs:
            start = run["started_at"] or _EARLY
            starts.append((start, run["run_id"]))
        return max(starts)


def read_runs(
    store: Store, condition: str, parameters: Mapping[str, Any], *, per: str = ""
) -> list[Run]:
    """Current runs that fulfil an SQL condition on ``run_current``, by id."""
    query = f"select * from run_current where {condition} order by run_id"
    runs = store.rows(query, parameters, per=per)
    runs.sort(key=itemgetter("run_id"))
    return list(name_scorers(store, runs))


def group_runs(runs: Iterable[Run]) -> list[Condition]:
    """Runs by condition, in the order of their first run."""
    by_key = grouped(runs, itemgetter("condition_key"))
    return [Condition(key, tuple(members)) for key, members in by_key.items()]


def labels_of_runs(store: Store, runs: Iterable[Run]) -> dict[int, str]:
    """For each run the label of its condition among those on its benchmark and split,
    by id."""
    alike = grouped(group_runs(runs), lambda condition: condition.benchmark_split)
    labels: dict[int, str] = {}
    for members in alike.values():
        told = label_conditions(store, members)
        for condition, label in zip(members, told, strict=True):
            labels.update(dict.fromkeys(condition.run_ids, label))
    return labels


def describe(conditions: Sequence[Condition]) -> list[str]:
    """For each condition the settings that distinguish it from the others, such as
    ``fewshot=5``.

    A setting is told if it varies between conditions of one model, or between any two
    where it changes what the figure means. What still looks alike gets the head of its
    key.
    """
    models = {condition.model for condition in conditions}
    is_one_each = len(models) == len(conditions)
    shown = _shown_settings(conditions, is_one_each=is_one_each)
    if is_one_each and not shown:
        return [""] * len(conditions)
    one_sided = _told_by_one_harness(conditions, shown)
    labels: list[str] = []
    for condition in conditions:
        words: list[str] = []
        for name in shown:
            if (condition.model, name) not in one_sided:
                words.append(_in_words(condition, name))
        labels.append(_listed(words))
    return _told_apart(conditions, labels)


def _listed(words: Iterable[str]) -> str:
    """The words that there are of some, in their order."""
    return ", ".join(filter(None, words))


def _told_apart(conditions: Sequence[Condition], labels: Sequence[str]) -> list[str]:
    """Labels, with the head of the key where those of one model look alike."""
    models = [condition.model for condition in conditions]
    seen = Counter(zip(models, labels, strict=True))
    told: list[str] = []
    for condition, label in zip(conditions, labels, strict=True):
        if seen[condition.model, label] > 1:
            told.append(_with_key(label, condition.key))
        else:
            told.append(label)
    return told


def _shown_settings(conditions: Sequence[Condition], *, is_one_each: bool) -> list[str]:
    """Fields in which conditions differ, and which labels tell."""
    shown: list[str] = []
    for name in LABEL_FIELDS:
        if is_one_each and name not in ALWAYS_TOLD:
            continue
        values = {condition.setting(name) for condition in conditions}
        if len(values) > 1 and _is_shown(conditions, name):
            shown.append(name)
    return shown


def _is_shown(conditions: Sequence[Condition], name: str) -> bool:
    """True if labels tell a setting in which some conditions differ."""
    if name == "checkpoint":
        positions = [condition.setting("position") for condition in conditions]
        if any(position is not None for position in positions):
            return False  # the position says the same, readably
    values: dict[str, set[Any]] = {}
    for condition in conditions:
        own = values.setdefault(condition.model, set())
        own.add(condition.setting(name))
    if name in ALWAYS_TOLD:
        of_all = set().union(*values.values())
        return len(of_all) > 1
    return any(len(own) > 1 for own in values.values())


def _told_by_one_harness(
    conditions: Sequence[Condition], names: Sequence[str]
) -> set[Told]:
    """The settings of each model that some harness never tells: they tell its rows from
    none of another's, which the harness does."""
    left_out: set[Told] = set()
    for model, own in grouped(conditions, lambda condition: condition.model).items():
        by_harness = grouped(own, lambda condition: condition.setting("harness"))
        if len(by_harness) < 2:
            continue
        for name in names:
            if name != "harness" and _is_one_sided(by_harness.values(), name):
                left_out.add((model, name))
    return left_out


def _is_one_sided(groups: Iterable[Sequence[Condition]], name: str) -> bool:
    """True where some group never tells a setting, and each has one value of it."""
    values: list[set[Any]] = []
    for group in groups:
        values.append({condition.setting(name) for condition in group})
    is_never_told = any(told <= {None, ""} for told in values)
    is_one_each = all(len(told) == 1 for told in values)
    return is_never_told and is_one_each


def _in_words(condition: Condition, name: str) -> str:
    value = condition.setting(name)
    if value in (None, ""):
        return ""
    if name == "position":
        unit = condition.setting("position_unit") or "position"
        return f"{unit}={value:g}"
    if name == "agent":
        return f"+{value}"
    if name in HASHES:
        value = str(value)[:8]
    return f"{name}={value}"


def _with_key(label: str, key: str) -> str:
    if label:
        return f"{label}, condition={key[:8]}"
    return f"condition={key[:8]}"


#: Conditions whose settings are read; of more the fields of ``run_current`` are told,
#: and a hash where these are equal.
MOST = 200
#: Settings that labels tell by names of their own: where a checkpoint stands, and what
#: was asked.
_TOLD_AS_FIELDS = frozenset(
    """
    model benchmark step epoch tokens base_checkpoint initialisation_seed data_order_seed benchmark_recorded
    """.split()
)
#: The part of a label that is the hash of scorers.
_SCORERS_KEY = re.compile(r"scorers_key=\w+")
#: Names under which tools repeat the revision, which has a column of its own.
_REVISIONS = frozenset({"revision", "model_revision", "model_sha"})
#: Parts of a label that are a hash, and the setting that each is of.
_HASHED = {
    "template_hash": "template_hash",
    "system_prompt_hash": "system_prompt_hash",
    "scorers_key": "scorers",
}
#: How the parts of a label begin that are a hash.
_HASH_PARTS = tuple(f"{name}=" for name in (*_HASHED, "condition"))


def label_conditions(store: Store, conditions: Sequence[Condition]) -> list[str]:
    """`describe`, with all other settings in which conditions of one model differ,
    where the store has them.

    One that was taken as the newest is told from those that it was taken from too.
    """
    n_given = len(conditions)
    conditions = [*conditions, *_others_of(conditions)]
    labels = describe(conditions)
    labels = _with_scorers(store, conditions, labels)
    indices_of_all = range(len(conditions))
    alike = grouped(indices_of_all, lambda index: conditions[index].model)
    several = [group for group in alike.values() if len(group) > 1]
    indices = list(chain.from_iterable(several))
    if not indices or len(indices) > MOST:
        return labels[:n_given]
    told_apart = [conditions[index] for index in indices]
    settings = settings_of_conditions(store, told_apart)
    for group in several:
        members = [conditions[index] for index in group]
        harnesses = {condition.setting("harness") for condition in members}
        told = _with_settings(
            [labels[index] for index in group],
            [settings.get(condition.key, {}) for condition in members],
            told_by_all=len(harnesses) > 1,
        )
        for index, label in zip(group, told, strict=True):
            labels[index] = label
    return labels[:n_given]


def _others_of(conditions: Sequence[Condition]) -> Iterable[Condition]:
    """Conditions that some were taken from as the newest, and that are not among
    them."""
    keys = {condition.key for condition in conditions}
    others: dict[str, Condition] = {}
    for condition in conditions:
        for other in condition.others:
            if other.key not in keys:
                others[other.key] = other
    return others.values()


def _with_scorers(
    store: Store, conditions: Sequence[Condition], labels: list[str]
) -> list[str]:
    """Labels with the names of scorers in place of their hash, where these tell them
    apart."""
    hashed = [index for index, label in enumerate(labels) if "scorers_key=" in label]
    if not hashed:
        return labels
    first_runs = {index: conditions[index].run_ids[0] for index in hashed}
    names = scorers_of(store, list(first_runs.values()))
    told: dict[int, str] = {}
    for index, run in first_runs.items():
        _, told[index] = names.get(run, (0, ""))
    keys = {conditions[index].setting("scorers_key") for index in hashed}
    n_told = len(set(told.values()))
    if not all(told.values()) or n_told < len(keys):
        return labels
    named = list(labels)
    for index, words in told.items():
        named[index] = _SCORERS_KEY.sub(f"by {words}", labels[index])
    return named


def settings_of_conditions(
    store: Store, conditions: Sequence[Condition]
) -> dict[str, Settings]:
    """The settings of each condition, by its key, without those that do not matter by a
    person's word."""
    first_runs = {condition.run_ids[0]: condition.key for condition in conditions}
    ignored = IgnoredSettings.read(store)
    settings: dict[str, Settings] = {}
    for condition in conditions:
        settings[condition.key] = {}
    query = query_text("analysis", "settings_of_runs")
    for row in store.rows(query, {"run_ids": sorted(first_runs)}, per="run_id"):
        own = parsed_settings(row["settings"])
        for path in ignored.names_of(row["benchmark"], own):
            own.pop(path, None)
        settings[first_runs[row["run_id"]]] = own
    return settings


def parsed_settings(settings: str | None) -> Settings:
    """Settings from a column of the store; empty where it has none."""
    if not settings:
        return {}
    return dict(parse_json(settings))


def _with_settings(
    labels: Sequence[str],
    settings: Sequence[Mapping[str, str]],
    *,
    told_by_all: bool = False,
) -> list[str]:
    """Labels of the conditions of one model, with the settings in which they differ
    besides; a hash is told only where nothing that can be read says the same.

    Args:
        told_by_all: of several harnesses only what each condition tells: the others say
            little that these would.
    """
    words = _differences(settings, told_by_all=told_by_all)
    stripped = [_without_hashes(label) for label in labels]
    complete: list[str] = []
    with_hashes: list[str] = []
    for label, part, said in zip(labels, stripped, words, strict=True):
        complete.append(_listed((part, said)))
        if part == label:
            with_hashes.append(_listed((part, said)))
        else:
            with_hashes.append(_listed((label, said)))
    n_complete = len(set(complete))
    if n_complete == len(set(labels)):
        return complete
    return with_hashes


def _differences(
    settings: Sequence[Mapping[str, str]], *, told_by_all: bool
) -> list[str]:
    """The settings of each in words, as far as they differ and no field of the run says
    the same."""
    told = [*LABEL_FIELDS, *_TOLD_AS_FIELDS, *_HASHED.values()]
    paths: list[str] = []
    for path in differing_paths(settings, told):
        if last_name(path) in _REVISIONS or _says_fewshot(settings, path):
            continue
        if told_by_all and not all(path in own for own in settings):
            continue
        paths.append(path)
    if not paths:
        return [""] * len(settings)
    return in_words(settings, paths)


def _says_fewshot(settings: Sequence[Mapping[str, str]], path: str) -> bool:
    """True if a setting is the number of examples once more, under the name that a tool
    has for it."""
    name = last_name(path)
    if not name.endswith(("shot", "shots")):
        return False
    told = [own for own in settings if path in own]
    return all(own[path] == own.get("fewshot") for own in told)


def _without_hashes(label: str) -> str:
    parts = label.split(", ")
    told = [part for part in parts if not part.startswith(_HASH_PARTS)]
    return ", ".join(told)
