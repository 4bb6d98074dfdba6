"""Variables of prompts that a run makes itself each time: ids of sessions, times. They
are no part of a prompt."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

from warehouse.importers.common.json_fields import compact

#: Ids that are drawn by chance, behind a word or not: UUID, ULID, cuid, nanoid, 24 to
#: 40 hexadecimal digits.
_DRAWN = re.compile(
    r"(?:[A-Za-z]+[-_:.])?(?:"
    r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"
    r"|c[0-9a-z]{24}"
    r"|(?=[\w-]*[0-9])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{21}"
    r"|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{24,40}"
    r")"
)
#: A time of day on a day, or seconds to nanoseconds since 1970.
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?"
)
_SECONDS = (1.0e9, 2.2e9)
_UNITS = (1, 1e3, 1e6, 1e9)
#: Names of what is new in each execution, whatever its value.
_NAMED_FOR_EXECUTIONS = re.compile(
    r"session|conversation|thread|chat|trace|span|request|correlation|invocation|nonce|timestamp|^now$|_at$|At$|time$|Time$"
)


def names_added_by_a_run(
    executions: Sequence[tuple[Hashable, Mapping[str, Any]]],
) -> frozenset[str]:
    """Names of variables whose values belong to an execution, not to the test that is
    executed.

    Args:
        executions: of each the key of its test (equal for executions of one test) and
            its variables.

    Returns:
        those that differ between two executions of one test; and those that hold an id
        or a time of its own in every execution, where the other variables stand again,
        or the name is one of sessions, requests or times.
    """
    first: dict[Hashable, Mapping[str, Any]] = {}
    differing: set[str] = set()
    for test, variables in executions:
        before = first.setdefault(test, variables)
        differing |= {
            name
            for name in (*before, *variables)
            if before.get(name) != variables.get(name)
        }
    names = set(chain.from_iterable(variables for _, variables in executions))
    if differing == names:
        return frozenset()  # nothing would be left: the keys are no keys of tests
    unique = set()
    for name in names - differing:
        if _is_new_each_time([item.get(name) for _, item in executions]):
            unique.add(name)
    if unique:
        of_executions = differing | unique
        others = set()
        for _, item in executions:
            others.add(
                compact(
                    {name: item[name] for name in item if name not in of_executions}
                )
            )
        if len(others) == len(executions):
            unique = {name for name in unique if _NAMED_FOR_EXECUTIONS.search(name)}
    return frozenset(differing | unique)


def _is_new_each_time(values: Sequence[Any]) -> bool:
    """True if all values are ids by chance, each another one; or times, of which hardly
    any stands twice."""
    n_different = len({compact(value) for value in values})
    if n_different < 2:
        return False
    if all(isinstance(value, str) and _DRAWN.fullmatch(value) for value in values):
        return n_different == len(values)
    return all(map(_is_time, values)) and 2 * n_different > len(values)


def _is_time(value: Any) -> bool:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return True
    if isinstance(value, str) and not (value.isdecimal() and len(value) <= 20):
        return False
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    number = float(value)
    earliest, latest = _SECONDS
    return any(earliest <= number / unit < latest for unit in _UNITS)
