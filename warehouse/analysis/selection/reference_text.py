"""References and conditions on settings, as they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from warehouse.analysis.selection.conditions import (
    Run,
)
from warehouse.analysis.selection.scorers import SCORER
from warehouse.errors import MisuseError, did_you_mean
from warehouse.records.run_fields import LABEL_FIELDS

_RUN = re.compile(r"run:(\d+)")
_POSITION = re.compile(r"(step|tokens|epoch)=([0-9.eE+]+)")
_WHERE = re.compile(r"(?P<name>\w+)(?P<sign>!?=)(?P<value>.*)", re.DOTALL)
_ROUNDED = re.compile(r"(?P<number>\d+(?:\.(?P<decimals>\d+))?)(?P<unit>[KMBTkmbt])")
#: Other names of columns of ``run_current`` in ``--where``.
_SYNONYMS = {"seed": "training_seed", "step": "position"}
_WHERE_FIELDS = (
    *(
        *LABEL_FIELDS,
        "model",
        "family",
        "developer",
        "parameter_count",
        "status",
        "harness_version",
        "is_final",
    ),
    *("tokens", "position_unit", "sampling_seed", "run_key", "run_id", SCORER),
)


@dataclass(frozen=True)
class Reference:
    """One way to read a reference."""

    run: int | None = None  #: of ``run:ID``; then nothing else is set.
    model: str = ""  #: name or glob.
    revision: str | None = None  #: glob on revision or checkpoint key, or None.
    #: (unit, number) of ``@step=N``, or None.
    training_position: tuple[str, float] | None = None
    agent: str | None = None  #: glob on the agent's name, or None.


@dataclass(frozen=True)
class Where:
    """A condition ``name=value`` or ``name!=value`` on a column of ``run_current``."""

    name: str
    equal: bool
    value: str

    def holds(self, run: Run) -> bool:
        """True if a run fulfils it. Numbers compare as numbers, texts as globs."""
        return agrees(run[self.name], self.value) == self.equal


def parse_reference(text: str) -> list[Reference]:
    """The ways to read ``text``, the most literal first: names may hold ``@`` and
    ``+``."""
    run = _RUN.fullmatch(text)
    if run:
        return [Reference(run=int(run[1]))]
    readings = [Reference(model=text)]
    before, plus, agent = text.rpartition("+")
    if plus and before:
        splits = [(text, None), (before, agent)]
    else:
        splits = [(text, None)]
    for rest, scaffold in splits:
        if scaffold is not None:
            readings.append(Reference(model=rest, agent=scaffold))
        model, at, version = rest.rpartition("@")
        if at and model:
            readings.append(_with_version(model, version, scaffold))
    return readings


def parse_where(conditions: Sequence[str]) -> list[Where]:
    """Read ``field=value`` conditions; a single text is one of them.

    Raises:
        MisuseError: another form, or an unknown field; names the fields.
    """
    texts = conditions
    if isinstance(conditions, str):
        texts = [conditions]
    return [_parse_one(text) for text in texts]


def _with_version(model: str, version: str, agent: str | None) -> Reference:
    match = _POSITION.fullmatch(version)
    if match is None:
        return Reference(model=model, revision=version, agent=agent)
    try:
        return Reference(
            model=model, training_position=(match[1], float(match[2])), agent=agent
        )
    except ValueError:
        raise MisuseError(f"@{version}: {match[2]!r} is not a number") from None


def _parse_one(text: str) -> Where:
    match = _WHERE.fullmatch(text)
    if text.startswith("prompt."):
        raise MisuseError(
            f"condition {text!r} is on prompts, which leaderboard (of a benchmark), "
            "compare, pairs and gate take"
        )
    if match is None:
        raise MisuseError(
            f"condition {text!r}; expected field=value, such as temperature=0.8"
        )
    name = _SYNONYMS.get(match["name"], match["name"])
    if name not in _WHERE_FIELDS:
        field_names = f"there are: {', '.join(sorted(_WHERE_FIELDS))}"
        close = did_you_mean(name, {*_WHERE_FIELDS, *_SYNONYMS}, field_names)
        raise MisuseError(f"condition {text!r}: no field {name!r}; {close}")
    return Where(name, match["sign"] == "=", match["value"])


def agrees(value: Any, expected: str) -> bool:
    """Whether a value is what a condition names: numbers compare as numbers, texts as
    globs; nothing is the empty text, and of several values one is enough."""
    if value in (None, "", ()):
        return expected == ""
    if isinstance(value, tuple):
        return any(agrees(one, expected) for one in value)
    if isinstance(value, bool):
        return str(value).lower() == expected.lower()
    if isinstance(value, int | float):
        return _is_number(float(value), expected)
    return str(value) == expected or fnmatchcase(str(value), expected)


def _is_number(value: float, expected: str) -> bool:
    """True if it is that number; one with an ending, as 1.4B or 29B of tokens, stands
    for all that round to it."""
    rounded = _ROUNDED.fullmatch(expected)
    if rounded:
        unit = 1000.0 ** (1 + "KMBT".index(rounded["unit"].upper()))
        return round(value / unit, len(rounded["decimals"] or "")) == float(
            rounded["number"]
        )
    try:
        return value == float(expected)
    except ValueError:
        return False
