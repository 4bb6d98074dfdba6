"""Conditions: what was measured, with the runs that repeat it, and distinguishing
labels."""

from __future__ import annotations

import dataclasses
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
from warehouse.store.curate import catalogue
from warehouse.store.curate.ignored_settings import IgnoredSettings
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
        """What was asked: ``MODEL[@CHECKPOINT][#SEED][+AGENT]``."""
        signs = (("@", "checkpoint"), ("#", "training_seed"), ("+", "agent"))
        return self.model + "".join(
            f"{sign}{self.setting(name)}" for sign, name in signs if self.setting(name)
        )

    @property
    def benchmark_split(self) -> tuple[str, str]:
        """Benchmark and split."""
        return str(self.runs[0]["benchmark"]), str(self.runs[0]["split"])

    def setting(self, name: str) -> Any:
        """A column of ``run_current``; equal for all repeats."""
        return self.runs[0][name]

    @cached_property
    def newest(self) -> tuple[datetime, int]:
        """Start of the last repeat, and its id, to order by time."""
        return max((run["started_at"] or _EARLY, run["run_id"]) for run in self.runs)


def read_runs(
    store: Store, condition: str, parameters: Mapping[str, Any], *, per: str = ""
) -> list[Run]:
    """Current runs that fulfil an SQL condition on ``run_current``, by id."""
    runs = store.rows(
        f"select * from run_current where {condition} order by run_id",
        parameters,
        per=per,
    )
    return list(name_scorers(store, sorted(runs, key=itemgetter("run_id"))))


def group_runs(runs: Iterable[Run]) -> list[Condition]:
    """Runs by condition, in the order of their first run."""
    return [
        Condition(key, tuple(members))
        for key, members in grouped(runs, itemgetter("condition_key")).items()
    ]


def describe(conditions: Sequence[Condition]) -> list[str]:
    """For each condition the settings that distinguish it from the others, such as
    ``fewshot=5``.

    A setting is told if it varies between conditions of one model, or between any two
    where it changes what the figure means. What still looks alike gets the head of its
    key.
    """
    is_one_each = len({condition.model for condition in conditions}) == len(conditions)
    names = [name for name in LABEL_FIELDS if not is_one_each or name in ALWAYS_TOLD]
    differing = []
    for name in names:
        if len({condition.runs[0][name] for condition in conditions}) > 1:
            differing.append(name)
    shown = [name for name in differing if _is_shown(conditions, name)]
    if is_one_each and not shown:
        return [""] * len(conditions)
    one_sided = _told_by_one_harness(conditions, shown)
    labels = []
    for condition in conditions:
        names = [name for name in shown if (condition.model, name) not in one_sided]
        labels.append(
            ", ".join(filter(None, (_in_words(condition, name) for name in names)))
        )
    seen = Counter(
        (item.model, label) for item, label in zip(conditions, labels, strict=True)
    )
    return [
        _with_key(label, condition.key) if seen[condition.model, label] > 1 else label
        for condition, label in zip(conditions, labels, strict=True)
    ]


def _is_shown(conditions: Sequence[Condition], name: str) -> bool:
    """Whether labels tell a setting in which some conditions differ."""
    if name == "checkpoint" and any(
        c.setting("position") is not None for c in conditions
    ):
        return False  # the position says the same, readably
    values: dict[str, set[Any]] = {}
    for condition in conditions:
        values.setdefault(condition.model, set()).add(condition.setting(name))
    if name in ALWAYS_TOLD and len(set().union(*values.values())) > 1:
        return True
    return any(len(own) > 1 for own in values.values())


def _told_by_one_harness(
    conditions: Sequence[Condition], names: Sequence[str]
) -> set[tuple[str, str]]:
    """The settings of each model that some harness never tells: they tell its rows from
    none of another's, which the harness does."""
    left_out: set[tuple[str, str]] = set()
    for model, own in grouped(conditions, lambda condition: condition.model).items():
        by_harness = grouped(own, lambda condition: condition.setting("harness"))
        if len(by_harness) < 2:
            continue
        for name in names:
            values = []
            for of_one in by_harness.values():
                values.append({condition.setting(name) for condition in of_one})
            is_never_told = any(not told - {None, ""} for told in values)
            is_one_each = all(len(told) == 1 for told in values)
            if name != "harness" and is_never_told and is_one_each:
                left_out.add((model, name))
    return left_out


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


def label_conditions(store: Store, conditions: Sequence[Condition]) -> list[str]:
    """`describe`, with all other settings in which conditions of one model differ,
    where the store has them.

    One that was taken as the newest is told from those that it was taken from too.
    """
    n_given, keys = len(conditions), {condition.key for condition in conditions}
    others = {}
    for condition in conditions:
        for other in condition.others:
            if other.key not in keys:
                others[other.key] = other
    conditions = [*conditions, *others.values()]
    labels = describe(conditions)
    labels = _with_scorers(store, conditions, labels)
    alike = grouped(range(len(conditions)), lambda at: conditions[at].model)
    several = [group for group in alike.values() if len(group) > 1]
    indices = list(chain.from_iterable(several))
    if not indices or len(indices) > MOST:
        return labels[:n_given]
    settings = settings_of_conditions(store, [conditions[index] for index in indices])
    for group in several:
        own = [settings.get(conditions[index].key, {}) for index in group]
        harnesses = {conditions[index].setting("harness") for index in group}
        told = _with_settings(
            [labels[index] for index in group], own, told_by_all=len(harnesses) > 1
        )
        for index, label in zip(group, told, strict=True):
            labels[index] = label
    return labels[:n_given]


def _with_scorers(
    store: Store, conditions: Sequence[Condition], labels: list[str]
) -> list[str]:
    """Labels with the names of scorers in place of their hash, where these tell them
    apart."""
    hashed = [index for index, label in enumerate(labels) if "scorers_key=" in label]
    if not hashed:
        return labels
    names = scorers_of(store, [conditions[index].run_ids[0] for index in hashed])
    told = {
        index: names.get(conditions[index].run_ids[0], (0, ""))[1] for index in hashed
    }
    keys = {conditions[index].setting("scorers_key") for index in hashed}
    if not all(told.values()) or len(set(told.values())) < len(keys):
        return labels
    return [
        _SCORERS_KEY.sub(f"by {told[index]}", label) if index in told else label
        for index, label in enumerate(labels)
    ]


def settings_of_conditions(
    store: Store, conditions: Sequence[Condition]
) -> dict[str, dict[str, str]]:
    """The settings of each condition, by its key, without those that do not matter by a
    person's word."""
    first_runs = {condition.run_ids[0]: condition.key for condition in conditions}
    ignored = IgnoredSettings.read(store)
    settings = {condition.key: dict[str, str]() for condition in conditions}
    for row in store.rows(
        query_text("analysis", "settings_of_runs"), {"run_ids": sorted(first_runs)}
    ):
        own = parse_json(row["settings"]) if row["settings"] else {}
        left_out = set(ignored.names_of(row["benchmark"], own))
        settings[first_runs[row["run_id"]]] = {
            path: form for path, form in own.items() if path not in left_out
        }
    return settings


#: What names a checkpoint or a replicate of a training: rows go over these.
_OF_TRAINING = frozenset(
    """
    training_seed initialisation_seed data_order_seed step epoch tokens revision base_checkpoint model model_name
    model_id model_name_or_path pretrained engine deployment_name path model_path local_model_path checkpoint
    checkpoint_path ckpt weights model_revision model_sha model_hash subfolder code_revision tokenizer_revision
    """.split()
)


def settings_of_rows(
    store: Store, conditions: Sequence[Condition]
) -> dict[str, frozenset[tuple[str, str]]]:
    """By key of each condition, the settings that seeds and checkpoints of one row
    share: all but what names them."""
    settings = settings_of_conditions(store, conditions)
    others = {}
    for key, own in settings.items():
        others[key] = frozenset(
            (path, form)
            for path, form in own.items()
            if path.rpartition(".")[2] not in _OF_TRAINING
        )
    return others


def names_that_differ(store: Store, run_ids: Sequence[int]) -> list[str]:
    """Names of the settings, marks and versions in which some runs differ."""
    told: list[dict[str, str]] = []
    for row in store.rows(
        query_text("analysis", "settings_of_runs"), {"run_ids": sorted(run_ids)}
    ):
        parts = [
            parse_json(row[name])
            for name in ("settings", "versions", "marks")
            if row[name]
        ]
        told.append(dict(chain.from_iterable(part.items() for part in parts)))
    return differing_paths(told)


def differing_settings(
    store: Store, conditions: Sequence[Condition], alike: Sequence[Sequence[Condition]]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """By key of each condition, the settings in which conditions that are alike
    differ.

    Args:
        conditions: all that are to be told apart.
        alike: groups of them that should be one but for such settings.
    """
    settings = settings_of_conditions(store, conditions)
    paths: set[str] = set()
    for group in alike:
        own = [settings[condition.key] for condition in group]
        for path in set(chain.from_iterable(own)):
            if len({other.get(path) for other in own}) > 1:
                paths.add(path)
    named = sorted(paths)
    told = {}
    for key, values in settings.items():
        told[key] = tuple((path, values.get(path, "")) for path in named)
    return told


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
    told = [*LABEL_FIELDS, *_TOLD_AS_FIELDS, *_HASHED.values()]
    paths = [
        path
        for path in differing_paths(settings, told)
        if last_name(path) not in _REVISIONS and not _says_fewshot(settings, path)
    ]
    if told_by_all:
        everywhere = set(paths).intersection(*settings)
        paths = [path for path in paths if path in everywhere]
    words = in_words(settings, paths) if paths else [""] * len(labels)
    stripped = [_without_hashes(label) for label in labels]
    complete = [
        ", ".join(filter(None, pair)) for pair in zip(stripped, words, strict=True)
    ]
    if len(set(complete)) == len(set(labels)):
        return complete
    return [
        ", ".join(filter(None, (label if _has_hash(label) else part, said)))
        for label, part, said in zip(labels, stripped, words, strict=True)
    ]


def _says_fewshot(settings: Sequence[Mapping[str, str]], path: str) -> bool:
    """Whether a setting is the number of examples once more, under the name that a tool
    has for it."""
    if not last_name(path).endswith(("shot", "shots")):
        return False
    return all(own[path] == own.get("fewshot") for own in settings if path in own)


def _has_hash(label: str) -> bool:
    return label != _without_hashes(label)


def _without_hashes(label: str) -> str:
    hashes = tuple(f"{name}=" for name in (*_HASHED, "condition"))
    return ", ".join(part for part in label.split(", ") if not part.startswith(hashes))


@dataclass(frozen=True)
class ListedRun(catalogue.RunEntry):
    """One run, and ``condition``: what differs between its settings and those of other
    runs on its benchmark.

    Empty where nothing differs, and for a run that was superseded or invalidated.
    """

    condition: str


def list_runs(
    store: Store, *, where: Sequence[str] = (), everything: bool = False
) -> list[ListedRun]:
    """The runs of a store, oldest first, with what sets them apart.

    Args:
        where: as of :func:`warehouse.store.curate.catalogue.runs`.
        everything: superseded and invalidated runs too.

    Raises:
        MisuseError: a text of ``where`` of another form, or no such field.
    """
    runs = catalogue.runs(store, where=where, everything=everything)
    labels = _labels(store) if runs else {}
    entries = (
        {field.name: getattr(run, field.name) for field in dataclasses.fields(run)}
        for run in runs
    )
    return [
        ListedRun(**entry, condition=labels.get(entry["run_id"], ""))
        for entry in entries
    ]


def _labels(store: Store) -> dict[int, str]:
    """For each current run the label of its condition among those on its benchmark and
    split."""
    alike = grouped(
        group_runs(read_runs(store, "true", {})),
        lambda condition: condition.benchmark_split,
    )
    labels_of_runs = {}
    for conditions in alike.values():
        told = label_conditions(store, conditions)
        for condition, label in zip(conditions, told, strict=True):
            labels_of_runs.update(dict.fromkeys(condition.run_ids, label))
    return labels_of_runs
