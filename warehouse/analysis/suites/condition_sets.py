"""One row per set of conditions: which of a model's conditions on the leaves belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.errors import MisuseError
from warehouse.records.run_fields import ALWAYS_TOLD, COMMON_FIELDS, WHO_FIELDS

#: Ambiguous places that a message names.
_MOST_NAMED = 12


@dataclass(frozen=True)
class ConditionSet:
    """A model's conditions on the leaves of a suite.

    Attributes:
        who: values of model, revision, … agent.
        settings: what tells it from the model's other sets, by name.
        entries: by leaf; leaves without one are missing.
    """

    who: tuple[Any, ...]
    settings: tuple[tuple[str, Any], ...]
    entries: dict[str, ScoredCondition]

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.who[0])

    @property
    def conditions(self) -> list[Condition]:
        """Its conditions, in the order of the leaves."""
        return [entry.condition for entry in self.entries.values()]

    @property
    def newest(self) -> tuple[int, tuple[Any, ...]]:
        """To order sets of a model: the most leaves, then the last run."""
        return len(self.entries), max(condition.newest for condition in self.conditions)


def match_conditions(leaves: Mapping[str, Sequence[ScoredCondition]], *, latest: bool = False) -> list[ConditionSet]:
    """Sets of conditions, one for each row of a suite's board.

    Where a model has several conditions on a leaf, those settings that differ there split its
    conditions on all leaves; what still leaves several is ambiguous.

    Args:
        leaves: entries by leaf, one for each condition.
        latest: of a model's sets the most complete, of these the newest; of several conditions
            the newest.

    Raises:
        MisuseError: ambiguous conditions; lists them all.
    """
    by_who: dict[tuple[Any, ...], dict[str, list[ScoredCondition]]] = {}
    for leaf, entries in leaves.items():
        for entry in entries:
            who = tuple(entry.condition.setting(name) for name in WHO_FIELDS)
            by_who.setdefault(who, {}).setdefault(leaf, []).append(entry)
    sets: list[ConditionSet] = []
    ambiguous: list[str] = []
    for who, by_leaf in by_who.items():
        for settings, chosen in _split(by_leaf).items():
            ambiguous += [_in_words(str(who[0]), leaf, entries) for leaf, entries in chosen.items() if len(entries) > 1]
            picked = {leaf: max(entries, key=lambda entry: entry.condition.newest) for leaf, entries in chosen.items()}
            sets.append(ConditionSet(who, settings, picked))
    if ambiguous and not latest:
        raise MisuseError(_too_many(ambiguous))
    return _newest_of_each(sets) if latest else sets


def describe_sets(sets: Sequence[ConditionSet]) -> list[str]:
    """For each set what tells it from the others, such as ``step=1000, temperature=0.8``."""
    shown = [name for name in WHO_FIELDS[1:] if _varies(sets, name)]
    if "position" in shown:  # says the same as the checkpoint's key, readably
        shown = [name for name in shown if name not in ("checkpoint", "position_unit", "revision")]
    always = [name for name in ALWAYS_TOLD if name in COMMON_FIELDS and len({_shared(one, name) for one in sets}) > 1]
    return [_label(one, shown, always) for one in sets]


def mixed_settings(one: ConditionSet) -> dict[str, list[str]]:
    """Settings of which a set has several values on its leaves, each with ``leaf value``."""
    mixed = {}
    for name in COMMON_FIELDS:
        values = {leaf: entry.condition.setting(name) for leaf, entry in one.entries.items()}
        if name != "split" and len(set(values.values())) > 1:
            mixed[name] = [f"{leaf} {_text(value)}" for leaf, value in values.items()]
    return mixed


Settings = tuple[tuple[str, Any], ...]


def _split(by_leaf: Mapping[str, list[ScoredCondition]]) -> dict[Settings, dict[str, list[ScoredCondition]]]:
    """Conditions by the settings that vary on some leaf."""
    varying = [
        name
        for name in COMMON_FIELDS
        if any(len({e.condition.setting(name) for e in entries}) > 1 for entries in by_leaf.values())
    ]
    by_settings: dict[Settings, dict[str, list[ScoredCondition]]] = {}
    for leaf, entries in by_leaf.items():
        for entry in entries:
            settings = tuple((name, entry.condition.setting(name)) for name in varying)
            by_settings.setdefault(settings, {}).setdefault(leaf, []).append(entry)
    return by_settings


def _newest_of_each(sets: Iterable[ConditionSet]) -> list[ConditionSet]:
    best: dict[str, ConditionSet] = {}
    for one in sets:
        if one.model not in best or one.newest > best[one.model].newest:
            best[one.model] = one
    return list(best.values())


def _varies(sets: Sequence[ConditionSet], name: str) -> bool:
    """Whether sets of one model differ in it, or any, where it changes what a figure means."""
    place = WHO_FIELDS.index(name)
    values: dict[str, set[Any]] = {}
    for one in sets:
        values.setdefault(one.model, set()).add(one.who[place])
    if name in ALWAYS_TOLD and len(set().union(*values.values())) > 1:
        return True
    return any(len(own) > 1 for own in values.values())


def _shared(one: ConditionSet, name: str) -> Any:
    """The value of a setting on all leaves of a set; None where they differ."""
    values = {condition.setting(name) for condition in one.conditions}
    return values.pop() if len(values) == 1 else None


def _label(one: ConditionSet, shown: Sequence[str], always: Sequence[str]) -> str:
    who = dict(zip(WHO_FIELDS, one.who, strict=True))
    parts = []
    for name in shown:
        if who[name] not in (None, ""):
            parts.append(_named(name, who))
    settings = {name: _shared(one, name) for name in always} | dict(one.settings)
    parts += [f"{name}={_text(value)}" for name, value in settings.items() if value is not None]
    return ", ".join(parts)


def _named(name: str, who: Mapping[str, Any]) -> str:
    if name == "position":
        return f"{who['position_unit'] or 'position'}={who['position']:g}"
    if name == "agent":
        return f"+{who['agent']}"
    return f"{name}={str(who[name])[:12]}"


def _text(value: Any) -> str:
    return "none" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)


def _in_words(model: str, leaf: str, entries: Sequence[ScoredCondition]) -> str:
    runs = "; ".join(
        ", ".join(f"run:{run}" for run in entry.condition.run_ids) + (f" ({entry.label})" if entry.label else "")
        for entry in entries
    )
    return f"  {model} on {leaf}: {runs}"


def _too_many(ambiguous: Sequence[str]) -> str:
    shown = list(ambiguous[:_MOST_NAMED])
    if len(ambiguous) > _MOST_NAMED:
        shown.append(f"  ... and {len(ambiguous) - _MOST_NAMED} more")
    return (
        "several conditions of one model on a benchmark of the suite; narrow them with --where"
        " field=value, or take the newest with --latest:\n" + "\n".join(shown)
    )
