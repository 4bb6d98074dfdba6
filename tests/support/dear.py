"""Which tests are rare because of what they cost: a list that is measured, not written.

`make costs` runs all tests and writes the list anew. A function is dear whose tests take
more than half a second of the processor each, on average; what several tests share is
counted to the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("dear.txt")
#: Seconds of the processor that a test of `make test` takes at most, on average over its
#: parameters.
MOST_SECONDS = 0.5
#: Run always, whatever they cost: the commands of the README, and which part of the code
#: may import which.
KEPT = ("tests/docs/test_readme.py", "tests/test_layers.py")


@cache
def dear_functions() -> frozenset[str]:
    """``FILE::FUNCTION`` of each that is dear."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def function_of(node: str) -> str:
    """``FILE::FUNCTION`` of a test, without its parameters."""
    return node.partition("[")[0]


def listed(seconds: Mapping[str, float], before: frozenset[str]) -> list[str]:
    """The functions that are dear, sorted.

    Args:
        seconds: what each test cost that ran, by its id.
        before: those that were; of what did not run they stay.
    """
    of_function: dict[str, list[float]] = {}
    for node, cost in seconds.items():
        of_function.setdefault(function_of(node), []).append(cost)
    dear = before - of_function.keys()
    for function, costs in of_function.items():
        is_kept = function.startswith(KEPT)
        if sum(costs) / len(costs) > MOST_SECONDS and not is_kept:
            dear |= {function}
    return sorted(dear)


def write_list(seconds: Mapping[str, float]) -> None:
    """Write the list by what the tests of a session cost."""
    functions = listed(seconds, dear_functions())
    head = "# Tests that are rare for what they cost: make costs writes this (dear.py)."
    LIST.write_text("\n".join([head, *functions]) + "\n", encoding="utf-8")
