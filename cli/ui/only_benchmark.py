"""The benchmark of a command that is of one and was not told which: the only one of the
store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..state import State


#: A question, with a benchmark or without, where it has the field at all.
Asked = TypeVar("Asked", bound=Any)


def of_one(state: State, question: Asked, option: str) -> Asked:
    """A question of one benchmark: of that which it names, else of the only one.

    Args:
        option: what asks for one.

    Raises:
        UsageError: it names none, and the store holds several, or none.
    """
    if getattr(question, "benchmark", "") is not None:
        return question
    name = only_benchmark(state, f"{option} is of one benchmark: name it")
    return replace(question, benchmark=name)


def only_benchmark(state: State, why: str = "name a benchmark") -> str:
    """The name of the only benchmark of the store.

    Args:
        why: it has to be named where there are several.

    Raises:
        UsageError: there are several, or none.
    """
    from warehouse.analysis.selection.benchmarks import single_benchmarks
    from warehouse.tables.words import some_of

    with state.open() as store:
        names = single_benchmarks(store)
    if not names:
        raise click.UsageError("the store holds no benchmark yet: warehouse ingest")
    if len(names) > 1:
        raise click.UsageError(
            f"{why}; here: {some_of(names)} (warehouse list benchmarks)"
        )
    return names[0]
