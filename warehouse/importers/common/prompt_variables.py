"""Variables of prompts that a run makes itself each time: ids of sessions, times. They are no part of a prompt."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from warehouse.importers.common.json_fields import compact

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def names_added_by_a_run(executions: Sequence[tuple[Hashable, Mapping[str, Any]]]) -> frozenset[str]:
    """Names of variables whose values belong to an execution, not to the test that is executed.

    Args:
        executions: of each the key of its test (equal for executions of one test) and its variables.

    Returns:
        those that differ between two executions of one test; and those that hold a UUID of its own in every execution,
        where the other variables stand again.
    """
    first: dict[Hashable, Mapping[str, Any]] = {}
    differing: set[str] = set()
    for test, variables in executions:
        before = first.setdefault(test, variables)
        differing |= {name for name in (*before, *variables) if before.get(name) != variables.get(name)}
    names = {name for _, variables in executions for name in variables}
    if differing == names:
        return frozenset()  # nothing would be left: the keys are no keys of tests
    unique = {name for name in names - differing if _is_new_each_time([item.get(name) for _, item in executions])}
    if unique:
        others = [
            compact({name: item[name] for name in item if name not in differing | unique}) for _, item in executions
        ]
        if len(set(others)) == len(others):
            unique = set()
    return frozenset(differing | unique)


def _is_new_each_time(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and _UUID.fullmatch(value)]
    return len(texts) == len(values) and len(set(texts)) == len(texts)
