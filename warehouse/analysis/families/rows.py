"""Rows of models as a refresh stores them: what a leaderboard shows as one row has one
subject, whatever its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.families.subjects import (
    CONDITION,
    PART,
    ROW,
    row_subject,
    subject_of,
)
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.row_plans import CountPrompts, RowPlan, plan_rows
from warehouse.analysis.selection.selection import RowRules
from warehouse.store.connection import Store

#: Rows as a leaderboard makes them without options.
RULES = RowRules()


@dataclass(frozen=True)
class RefreshRow:
    """One row, as a leaderboard shows it."""

    #: the same in every store, and whatever seeds and checkpoints there are.
    subject: str
    kind: str  #: ``row`` where seeds or checkpoints could stand behind it, else ``condition``.
    plan: RowPlan

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the conditions that it is made of, each at its checkpoint."""
        return tuple(condition.key for condition in self.plan.conditions)

    @property
    def condition(self) -> Condition:
        """All runs of the row as one condition."""
        return self.plan.pooled


def refresh_rows(
    store: Store, conditions: Sequence[Condition], count: CountPrompts
) -> list[RefreshRow]:
    """The rows of conditions on one benchmark.

    Args:
        count: gives the prompts with a score of each condition, by key; without them
            the rows are the same, and their checkpoints may be others.
    """
    rows: list[RefreshRow] = []
    taken: set[str] = set()
    for plan in plan_rows(store, conditions, count, RULES):
        first = plan.conditions[0]
        kind, subject = CONDITION, subject_of(first)
        if len(plan.keys) > 1 or _may_have_others(first):
            kind = ROW
            subject = row_subject(first.model, plan.settings)
        if subject in taken:  # nothing that is stored tells it from another row
            kind = ROW
            subject = row_subject(first.model, (*plan.settings, min(plan.keys)))
        taken.add(subject)
        rows.append(RefreshRow(subject, kind, plan))
    return rows


def _may_have_others(condition: Condition) -> bool:
    """True if another seed or checkpoint would join its row."""
    return (
        bool(condition.setting("training_seed"))
        or condition.setting("position") is not None
    )


def kind_of(condition: Condition, rows: Mapping[str, RefreshRow]) -> str:
    """The kind of a condition: whether it is a row itself, or a seed or checkpoint
    behind one.

    Args:
        rows: by the keys of the conditions behind them.
    """
    row = rows.get(condition.key)
    if row is None or row.kind == CONDITION:
        return CONDITION
    return PART
