"""Conditions on prompts, ``prompt.FIELD=VALUE``: which prompts fulfil them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from warehouse.analysis.selection.hooks import PROMPTS_WITH, OnlyPrompts
from warehouse.analysis.selection.reference_text import agrees
from warehouse.analysis.slices.fields import PromptFields, read_fields
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.tables.words import listed

_CONDITION = re.compile(r"prompt\.(?P<name>.+?)(?P<sign>!?=)(?P<value>.*)", re.DOTALL)


def prompts_with(
    store: Store, benchmark_ids: Sequence[int], name: str, conditions: Sequence[str]
) -> OnlyPrompts:
    """The prompts of which all conditions hold.

    Args:
        benchmark_ids: whose prompts are meant.
        name: of the benchmark, for messages.
        conditions: ``prompt.FIELD=VALUE`` or ``!=``; no value: prompts without.

    Raises:
        MisuseError: another form, an unknown field, or no such prompt.
    """
    fields = read_fields(store, benchmark_ids, name)
    parsed = [_parsed(text, fields) for text in conditions]
    ids = []
    for prompt in fields.splits:
        if all(_holds(fields, prompt, *condition) for condition in parsed):
            ids.append(prompt)
    words = listed([_in_words(*condition) for condition in parsed])
    if not ids:
        raise MisuseError(f"no prompt of {name} has {words}{_values(fields, parsed)}")
    note = (
        f"only prompts with {words}: {len(ids):,} of {len(fields.splits):,}, chosen by "
        "hand"
    )
    return OnlyPrompts(np.array(sorted(ids), np.int64), note)


def _parsed(text: str, fields: PromptFields) -> tuple[str, bool, str]:
    """Field, whether it is to be equal, and the value."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise MisuseError(
            f"condition {text!r}; expected prompt.FIELD=VALUE, such as "
            "prompt.language=sw"
        )
    return fields.find(found["name"]), found["sign"] == "=", found["value"]


def _holds(
    fields: PromptFields, prompt: int, name: str, is_equal: bool, expected: str
) -> bool:
    value: Any = fields.value(prompt, name)
    if isinstance(value, list):
        value = tuple(value)
    return agrees(value, expected) == is_equal


def _in_words(name: str, is_equal: bool, value: str) -> str:
    if not value:
        return f"no {name}" if is_equal else f"a {name}"
    return f"{name} {value}" if is_equal else f"{name} other than {value}"


def _values(fields: PromptFields, parsed: Sequence[tuple[str, bool, str]]) -> str:
    """The values of the field that a condition is on; of several nothing."""
    if len(parsed) > 1:
        return ""
    prompts = np.array(sorted(fields.splits), np.int64)
    try:
        values = fields.slicing(parsed[0][0], prompts).values
    except MisuseError:  # it names prompts
        return ""
    shown = ", ".join(values[:10])
    if len(values) > 10:
        shown += f" and {len(values) - 10} more"
    return f"; it is {shown}"


PROMPTS_WITH.fill(prompts_with)
