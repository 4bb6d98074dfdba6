"""What the elements of a list of records are, of several such lists in a document:
conditions of what they lie in, or items that it was asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from warehouse.importers.tabular.column_names import Grade, grade_of, plain_name

#: Names of what tells the elements of a list apart, and elements of one at least.
_NAMES_EACH, _ITEMS = re.compile(r"(.*_)?(id|key|name)"), 5
#: Characters of a name.
_NAME = 100


def is_list_of_records(value: Any) -> bool:
    """True if a value is a list of objects, with one at least."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def are_conditions(lists: Sequence[Any]) -> bool:
    """True if a number tells the elements of a list apart by the same values in all
    records, which are no mere numbers of elements: how much a prompt was changed, or a
    step, and no generations.

    Args:
        lists: what each record holds under one key.
    """
    if len(lists) < 2 or not all(map(is_list_of_records, lists)):
        return False
    for name in lists[0][0]:
        if grade_of(str(name)) >= Grade.LIKELY:
            continue
        columns = [[item.get(name) for item in items] for items in lists]
        if _are_steps(columns[0]) and all(own == columns[0] for own in columns):
            return True
    return False


def _are_steps(values: Sequence[Any]) -> bool:
    """True if values are different numbers, and not those of elements."""
    numbers = [value for value in values if isinstance(value, int | float)]
    are_different = len({*numbers}) == len(values) > 1
    first = numbers[0] if numbers else 0
    return are_different and numbers != [first + n for n in range(len(numbers))]


def are_items(at: str, outer: Any) -> bool:
    """True if records are a list inside each of several others, and an id of a short
    text tells the first of these lists apart: what each of the others was asked.

    Args:
        at: path of the records.
        outer: what the first list lies in.
    """
    if at.count("[]") < 2 or not at.endswith("[]") or not isinstance(outer, dict):
        return False
    items: Any = outer.get(at.rpartition(".")[2].removesuffix("[]").strip('"'))
    if not is_list_of_records(items) or len(items) < _ITEMS:
        return False
    for name in items[0]:
        texts = [item.get(name) for item in items]
        is_called = _NAMES_EACH.fullmatch(plain_name(str(name)))
        if is_called and len({*map(str, texts)}) == len(texts):
            return all(isinstance(text, str) and len(text) <= _NAME for text in texts)
    return False
