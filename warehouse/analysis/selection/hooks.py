"""Conditions that were asked a part of a benchmark by a rule: on a stored plan, or
until a test had its verdict; and prompts that are chosen by a field of theirs.

All are rare. What such scores say is known to the rooms that fill the hooks here; they
are loaded only where the store holds such a plan or run, or a condition names a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark, Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.hook_table import Hook
from warehouse.analysis.selection.scores import PromptScores
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: What was asked: a condition, the label of a metric, the scores by it.
Asked = tuple[Condition, str, PromptScores]


class StoredPlans:
    """Plans of one benchmark that conditions may be on; what they hold is known to
    whoever read them."""


class PlanReader(Protocol):
    """Reads plans of a benchmark."""

    def __call__(
        self,
        store: Store,
        benchmark: Benchmark,
        stored: Sequence[Mapping[str, Any]],
        asked: Iterable[Asked],
    ) -> StoredPlans | None:
        """The plans that something was asked for as many prompts as such a plan has;
        None where there are none.

        Args:
            stored: rows of the query ``subset_plans``, of this benchmark.
        """


STORED_PLANS: Hook[PlanReader] = Hook("stored plans")


@dataclass(frozen=True)
class OnlyPrompts:
    """The prompts that conditions on a field of theirs choose."""

    ids: NDArray[np.int64]  #: of the prompts, ascending, shape (m,).
    note: str  #: which these are, and how many of how many.


class PromptChooser(Protocol):
    """Finds prompts by what is known of them."""

    def __call__(
        self,
        store: Store,
        benchmark_ids: Sequence[int],
        name: str,
        conditions: Sequence[str],
    ) -> OnlyPrompts:
        """The prompts of which all conditions ``prompt.FIELD=VALUE`` hold.

        Args:
            benchmark_ids: whose prompts are meant.
            name: of the benchmark, for messages.

        Raises:
            MisuseError: another form, an unknown field, or no such prompt.
        """


PROMPTS_WITH: Hook[PromptChooser] = Hook("prompts with a field")


def possible_plans(
    store: Store, benchmark: Benchmark, asked: Iterable[Asked]
) -> StoredPlans | None:
    """The plans of a benchmark that something may have been asked; None where there are
    none."""
    rows = store.rows(query_text("analysis", "subset_plans"))
    stored = [row for row in rows if row["subject"] == benchmark.name]
    if not stored:
        return None
    return STORED_PLANS.load()(store, benchmark, stored, asked)


@dataclass(frozen=True)
class StoppedEstimate:
    """Mean score so far, with an interval that holds whenever one stops."""

    estimate: float  #: mean of the scored prompts that count; too far out on average.
    standard_error: float | None  #: None: there is none for a random number of prompts.
    #: lower end of the betting interval; None where the rule is not known.
    ci_low: float | None
    ci_high: float | None  #: upper end.
    method: str = "sequential betting"  #: ``"sequential betting"``.


class StoppedRun(Protocol):
    """A condition of which a run was ended early because of its scores: fixed-n
    statistics do not hold for it."""

    @property
    def rule(self) -> str:
        """The rule that ended it, in words."""

    def estimate(
        self, scores: PromptScores, metric: Metric, level: float
    ) -> tuple[StoppedEstimate, str]:
        """The figure of its scores, and how it was made or why there is no interval."""


class StoppedReader(Protocol):
    """Reads what is known of runs that were ended early."""

    def __call__(
        self,
        store: Store,
        conditions: Sequence[Condition],
        stored: Sequence[Mapping[str, Any]],
    ) -> Mapping[str, StoppedRun]:
        """Stopped runs of some conditions, by condition key.

        Args:
            stored: rows of the query ``early_stopping``, of their runs.
        """


STOPPED_RUNS: Hook[StoppedReader] = Hook("stopped runs")


def read_stopped(
    store: Store, conditions: Sequence[Condition]
) -> Mapping[str, StoppedRun]:
    """Stopped runs of some conditions, by condition key.

    A run that has all prompts of its benchmark was not ended, whatever watched it.
    """
    cut = cut_runs(conditions)
    if not cut:
        return {}
    stored = store.rows(
        query_text("analysis", "early_stopping"), {"run_ids": list(cut)}, per="run_id"
    )
    if not stored:
        return {}
    return STOPPED_RUNS.load()(store, conditions, stored)


def cut_runs(conditions: Iterable[Condition]) -> dict[int, str]:
    """Keys of the conditions of truncated runs, by id of the run."""
    keys = {}
    for item in conditions:
        for run in item.runs:
            if run["status"] == "truncated":
                keys[run["run_id"]] = item.key
    return keys
