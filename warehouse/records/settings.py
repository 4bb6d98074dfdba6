"""Which settings a run was made with: all that its dump says of how it was made, unless
it is known not to matter.

Two runs of one model on one benchmark are repeats where their settings are equal; see
``docs/reference/rules_identity.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from warehouse.records.canonical_json import canonical_digest, canonical_json
from warehouse.records.dump import MetricSpec, RunHeader
from warehouse.records.run_fields import CONDITION_FIELDS
from warehouse.records.setting_names import rule_of, snake_case
from warehouse.records.setting_values import (
    LONGEST_LIST,
    UNORDERED,
    canonical_value,
    looks_like_place,
    number_in,
    unpacked,
)

#: Header fields that are objects whose entries are settings.
_OBJECTS = ("sampling", "agent_parameters", "configuration")
#: Deepest object that is looked into; what lies below it is one value.
DEEPEST = 12
#: Settings of the sampling that nothing is made of where the likeliest token is always
#: taken.
_VOID_WHEN_GREEDY = frozenset({"top_p", "top_k", "min_p", "typical_p", "seed"})
_TOKENIZERS = frozenset({"tokenizer", "tokenizer_path", "tokenizer_name"})


@dataclass(frozen=True)
class LeftOut:
    """A name that is no part of the condition, and why."""

    #: class of the table; ``void`` where another setting makes it mean nothing,
    #: ``absent`` where it holds anyway.
    kind: str
    reason: str
    value: str


@dataclass(frozen=True)
class RunSettings:
    """What a header says of how its run was made, each value in its one form, by path."""

    settings: Mapping[str, str]  #: what changes what is measured: the condition.
    marks: Mapping[str, str]  #: what tells two executions of one condition apart.
    versions: Mapping[str, str]  #: of harness and libraries.
    left_out: Mapping[str, LeftOut]

    @property
    def condition_key(self) -> str:
        """sha256 over the settings."""
        return condition_key_of(self.settings)

    def of_figures_alone(self) -> RunSettings:
        """The same of a run without samples, of which nothing but its settings says
        which prompts were asked."""
        subset = {
            path: found.value
            for path, found in self.left_out.items()
            if found.kind == "subset"
        }
        if not subset:
            return self
        left_out = {
            path: found for path, found in self.left_out.items() if path not in subset
        }
        return replace(self, settings={**self.settings, **subset}, left_out=left_out)


def condition_key_of(settings: Mapping[str, str]) -> str:
    """sha256 over settings in their one form."""
    return canonical_digest(dict(settings))


def settings_of(header: RunHeader) -> RunSettings:
    """What a header says of how its run was made."""
    sorter = _Sorter(header)
    for name in CONDITION_FIELDS:
        sorter.add_field(name, getattr(header, name))
    for name in _OBJECTS:
        sorter.add_object(name, getattr(header, name))
    if scorers := scorers_of(header):
        sorter.settings["scorers"] = canonical_digest(scorers)
    sorter.add_marks_of_header()
    return RunSettings(sorter.settings, sorter.marks, sorter.versions, sorter.left_out)


def scorers_of(header: RunHeader) -> list[str]:
    """The judges and scorers of a run, in one order; empty if every score is a plain
    comparison."""
    return sorted(
        _scorer(spec) for spec in header.metrics if spec.scorer or spec.judge_model
    )


def _scorer(spec: MetricSpec) -> str:
    parameters = _with_numbers("", dict(spec.scorer_parameters))
    parts = [
        spec.name,
        spec.filter,
        spec.scorer,
        spec.scorer_kind,
        spec.judge_model,
        parameters,
    ]
    return canonical_json(parts).decode()


def _with_numbers(name: str, value: Any) -> Any:
    """A parameter in which numbers that are written as texts, or with a point, are the
    numbers that they are."""
    if isinstance(value, Mapping):
        return {inner: _with_numbers(inner, item) for inner, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(name, item) for item in value]
    if isinstance(value, str) and (number := number_in(name, value)) is not None:
        value = number
    is_whole = isinstance(value, float) and value.is_integer()
    if is_whole:
        return int(value)
    return value


class _Sorter:
    """Sorts what a header says into settings, marks and versions."""

    def __init__(self, header: RunHeader) -> None:
        self.header = header
        self.settings: dict[str, str] = {}
        self.marks: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.left_out: dict[str, LeftOut] = {}
        self.is_greedy = header.temperature == 0

    def add_field(self, name: str, value: Any) -> None:
        """Take in a field that is part of the condition whatever it is called in the
        dump."""
        if value is None or value == "":
            return
        if is_object(value):
            if (
                name not in _OBJECTS
            ):  # of a training: its batch size and its seed are what was trained
                self.settings |= dict(_plain_leaves(name, value))
            return
        form = canonical_value(name, value)
        if form is None:
            return
        if name == "top_p" and self.is_greedy:
            self.left_out[name] = LeftOut(
                "void", "the likeliest token is always taken", form
            )
        elif name == "fewshot_seed" and self.header.fewshot == 0:
            self.left_out[name] = LeftOut("void", "no examples are shown", form)
        else:
            self.settings[name] = form

    def add_object(self, name: str, value: Mapping[str, Any]) -> None:
        """Take in an object of the dump, each leaf by what its name means."""
        prefix = name
        if name == "configuration":
            prefix = ""
        is_greedy = name == "sampling" and self.is_greedy
        for path, leaf, is_void in _leaves(prefix, value, 0, is_greedy):
            self._add_leaf(path, leaf, is_void)

    def _add_leaf(self, path: str, value: Any, is_void: bool) -> None:
        name = path.rpartition(".")[2]
        form = canonical_value(name, value)
        if form is None:
            return
        rule = rule_of(self.header.harness, path)
        if rule.kind == "mark":
            self.marks[path] = form
        elif rule.kind == "version":
            self.versions[path] = form
        elif rule.kind in ("ignore", "subset"):
            word: str = rule.kind
            if rule.kind == "subset" and form in rule.absent:
                word = "absent"
            self.left_out[path] = LeftOut(word, rule.reason, form)
        elif form in rule.absent:
            self.left_out[path] = LeftOut("absent", "the same as not saying it", form)
        elif is_void:
            self.left_out[path] = LeftOut(
                "void", "the likeliest token is always taken", form
            )
        elif self.header.fewshot == 0 and snake_case(name).startswith(
            ("fewshot", "few_shot")
        ):
            self.left_out[path] = LeftOut("void", "no examples are shown", form)
        elif snake_case(name) in _TOKENIZERS and self._is_own_model(form):
            self.left_out[path] = LeftOut("absent", "the model's own", form)
        else:
            self.settings[path] = form

    def _is_own_model(self, form: str) -> bool:
        return form == self.header.model or (
            looks_like_place(form) and form.endswith(f"/{self.header.model}")
        )

    def add_marks_of_header(self) -> None:
        """Take in what the header's own fields say of one execution."""
        header = self.header
        own: dict[str, Any] = {"run_id": header.run_id}
        if not self.is_greedy:
            own["sampling_seed"] = header.sampling_seed
        if header.started_at is not None:
            own["started_at"] = header.started_at.isoformat()
        own["cost"] = header.cost
        for name, value in own.items():
            form = canonical_value(name, value)
            if form is not None:
                self.marks[name] = form
        if header.harness_version:
            self.versions["harness_version"] = header.harness_version
        if header.harness_commit:
            self.versions["harness_commit"] = header.harness_commit


def _leaves(
    path: str, value: Mapping[str, Any], depth: int, is_greedy: bool
) -> Iterator[tuple[str, Any, bool]]:
    """Path and value of everything inside an object, and whether a setting beside it
    makes it mean nothing.

    A list is one value, unless it has an order and holds objects: these are looked
    into, by their numbers.
    """
    is_greedy = is_greedy or _is_greedy(value)
    for key, item in value.items():
        name = str(key)
        inner = name
        if path:
            inner = f"{path}.{name}"
        item = unpacked(name, item)
        if is_object(item) and depth < DEEPEST:
            yield from _leaves(inner, item, depth + 1, False)
        elif (
            _is_list_of_objects(item)
            and snake_case(name) not in UNORDERED
            and depth < DEEPEST
        ):
            numbered = {str(number): element for number, element in enumerate(item)}
            yield from _leaves(inner, numbered, depth + 1, False)
        else:
            yield inner, item, is_greedy and snake_case(name) in _VOID_WHEN_GREEDY


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a mapping; to ask a plain value whether it is one takes longer
    than all else of it."""
    if value is None or isinstance(value, str | int | float | list):
        return False
    return isinstance(value, Mapping)


def _is_list_of_objects(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) > LONGEST_LIST:
        return False
    return any(is_object(element) for element in value)


def _is_greedy(settings: Mapping[str, Any]) -> bool:
    """Whether settings of one place say that the likeliest token is always taken."""
    if canonical_value("do_sample", settings.get("do_sample")) == "false":
        return True
    return canonical_value("temperature", settings.get("temperature")) == "0"


def _plain_leaves(path: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Path and form of everything inside an object of which each name counts."""
    for inner, leaf, _ in _leaves(path, value, 0, False):
        form = canonical_value(inner.rpartition(".")[2], leaf)
        if form is not None:
            yield inner, form
