"""Meanings of names in a run's configuration: a setting, or one of the few things that
do not change what is measured.

The table ``settings_table.tsv`` is the one place that says so, with a reason for each
name, in general (tool ``*``) and by tool. A name that it does not know is a setting:
two runs that differ by a key that means nothing are visible, and ``warehouse list runs
ignore`` joins them; two settings under one row would be invisible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, get_args

#: ``setting``, ``model`` (who was evaluated), ``prompt`` and ``scorer`` are part of the
#: condition. A ``version`` (of a harness or library) is shown. A ``mark`` tells two
#: executions of one condition apart. A ``subset`` says which prompts were asked: part
#: of the condition where figures alone are stored, else the prompts say it. ``ignore``
#: is none of these.
SettingClass = Literal[
    "setting", "model", "prompt", "scorer", "version", "mark", "subset", "ignore"
]

#: Classes that are part of the condition.
IN_CONDITION = frozenset({"setting", "model", "prompt", "scorer"})

#: The tool of rules that hold for every tool.
ANY_TOOL = "*"


#: The tool whose rows name columns of tables; what stands in an object of such a name
#: is none of them.
_COLUMNS = "tabular"
#: Numbers of elements in a path.
_NUMBERS = re.compile(r"\.\d+(?=\.|$)")


@dataclass(frozen=True)
class Rule:
    """What the table says of a name."""

    kind: SettingClass
    reason: str
    #: values, in canonical form, that mean the same as no value at all.
    absent: frozenset[str] = frozenset()

    @property
    def is_in_condition(self) -> bool:
        """Whether two runs that differ by this name are two conditions."""
        return self.kind in IN_CONDITION


#: What holds for names that the table does not know.
UNKNOWN = Rule("setting", "not in the table")


def rule_of(tool: str, path: str) -> Rule:
    """The rule for one leaf of a configuration.

    The tool's own rows come first: of the whole path, then of its last two names, then
    of its last name, then of what stands around the leaf; after them the general rows
    in the same order. A row of one name holds wherever that stands; a row of several
    names (``eval.config.epochs``) wherever its last two do, and says nothing of the
    last name elsewhere.

    Args:
        tool: name of the harness, as ``RunHeader.harness`` has it.
        path: names from the outside in, joined by dots; numbers of elements say
            nothing.
    """
    return _rule_of(tool, path)


@lru_cache(maxsize=20_000)
def _rule_of(tool: str, path: str) -> Rule:
    path = _NUMBERS.sub("", path)
    tool = tool.replace("-", "_").lower()
    own, general = _rules_by_tool().get(tool), _rules_by_tool()[ANY_TOOL]
    if own and (rule := own.at(path)):
        is_top_level = "." not in path
        if tool != _COLUMNS or is_top_level:
            return rule
    if own and tool != _COLUMNS and (rule := own.around(path)):
        return rule
    around = general.around(path)
    if around is not None and around.kind not in (
        "ignore",
        "subset",
    ):  # of a total of tokens each number is a total
        return around
    return general.at(path) or UNKNOWN


class _Rules:
    """The rows of one tool."""

    def __init__(self) -> None:
        self._whole: dict[str, Rule] = {}
        self._by_end: dict[
            str, Rule | None
        ] = {}  # None: rows of this end say different things
        self._patterns: list[tuple[re.Pattern[str], Rule]] = []

    def add(self, name: str, rule: Rule) -> None:
        """Take a row in; ``*`` in a name stands for one name, at its end for all that
        is inside."""
        if name.endswith(".*"):
            name = name[:-2]
        if "*" in name:
            expressions = (
                re.escape(part).replace(r"\*", "[^.]*") for part in name.split(".")
            )
            self._patterns.append((re.compile(r"\.".join(expressions)), rule))
            return
        self._whole.setdefault(name, rule)
        parts = name.split(".")
        if len(parts) < 3:
            return
        end = ".".join(parts[-2:])
        known = self._by_end.setdefault(end, rule)
        if known is not None and known.kind != rule.kind:
            self._by_end[end] = None

    def at(self, path: str) -> Rule | None:
        """The rule of a path itself."""
        if rule := self._whole.get(path):
            return rule
        for pattern, rule in self._patterns:
            if pattern.fullmatch(path):
                return rule
        parts = path.split(".")
        for name in (".".join(parts[-2:]), parts[-1], snake_case(parts[-1])):
            if rule := self._whole.get(name) or self._by_end.get(name):
                return rule
        return None

    def around(self, path: str) -> Rule | None:
        """The rule of the nearest object around a path that is no part of the
        condition."""
        for outer in _outer_paths(path):
            rule = self.at(outer)
            if rule is not None and not rule.is_in_condition:
                return rule
        return None


def _outer_paths(path: str) -> Iterator[str]:
    """The paths of what stands around a leaf, from the inside out."""
    outer, dot, _ = path.rpartition(".")
    while dot:
        yield outer
        outer, dot, _ = outer.rpartition(".")


_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def snake_case(name: str) -> str:
    """A name with its words apart.

    >>> snake_case("experimentName")
    'experiment_name'
    """
    return _HUMPS.sub("_", name).replace("-", "_").lower()


@cache
def _rules_by_tool() -> dict[str, _Rules]:
    rules: dict[str, _Rules] = {}
    for tool, rule, names in table_rows():
        of_tool = rules.setdefault(tool, _Rules())
        for name in names:
            of_tool.add(name, rule)
    return rules


def table_rows() -> Iterator[tuple[str, Rule, list[str]]]:
    """The rows of the table: tool, rule, and the names that it is the rule of."""
    text = (files("warehouse.records") / "settings_table.tsv").read_text(
        encoding="utf-8"
    )
    for line in text.splitlines()[1:]:
        tool, kind, absent, reason, names = line.split("\t")
        assert kind in get_args(SettingClass), line
        yield tool, Rule(kind, reason, frozenset(absent.split())), names.split()  # type: ignore[arg-type]
