"""The subject of a question: which runs on which benchmark, by which metric, with which
clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING, AsRows, ByMetric


@dataclass(frozen=True)
class RowRules:
    """Rules of what makes one row of a model."""

    #: ``seed`` or ``checkpoint``: these are rows of their own; None: neither.
    each: str | None = None
    repeats: str = REPEATS_AUTO  #: what becomes of repeats of one condition.
    seeds_are: str = SEEDS_TRAINING  #: what the seed of a run is of.


@dataclass(frozen=True)
class Selection:
    """The caller's choices; the defaults leave nothing out."""

    benchmark: str | None = None  #: its name; None for all that there are.
    #: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
    metric: str | None = None
    where: tuple[str, ...] = ()  #: conditions ``field=value`` on the runs.
    #: clustering for the errors: None for the benchmark's default, ``"none"``,
    #: ``"same_text"``, or a name.
    cluster: str | None = None
    latest: bool = False  #: of each model, or of what a reference means, only the condition that ran last.
    #: runs on a part of the benchmark stand among complete ones.
    subset_ok: bool = False
    #: one row a model, over its seeds at its last whole checkpoint; None: a row for
    #: each condition.
    rows: RowRules | None = None
    #: conditions may be on prompts (``prompt.FIELD=VALUE``), of which the answer then
    #: is.
    some_prompts: bool = False


def selection_of(options: ByMetric, **others: Any) -> Selection:
    """The selection that a question makes; what it does not say is left at the default.

    Args:
        others: what it is to be instead.
    """
    names = ("benchmark", "metric", "where", "cluster", "latest", "subset_ok")
    own: dict[str, Any] = {
        name: getattr(options, name) for name in names if hasattr(options, name)
    }
    if isinstance(options, AsRows):
        own["rows"] = row_rules(options)
    own["some_prompts"] = options.SOME_PROMPTS
    return Selection(**(own | others))


def row_rules(options: AsRows) -> RowRules:
    """The rules of rows that a question makes."""
    return RowRules(options.each, options.repeats, options.seeds_are)


def as_conditions(where: Sequence[str]) -> tuple[str, ...]:
    """Conditions as given, where a single text is one of them."""
    if isinstance(where, str):
        return (where,)
    return tuple(where)
