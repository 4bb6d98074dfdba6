"""Whether a field was named before the scores came: declared, else exploratory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.analysis.slices.fields import CROSS, TIMES
from warehouse.records.clock import day_in_words
from warehouse.store.connection import Store
from warehouse.store.curate.declarations import (
    SLICES,
    declarations,
    names_beside,
)
from warehouse.store.curate.declared_slices import field_name
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import counted, listed

DECLARED, EXPLORATORY = "declared", "exploratory"
#: Conditions on prompts begin so.
_OF_PROMPTS = "prompt."


@dataclass(frozen=True)
class FieldLabel:
    """What a field counts as in one answer."""

    field: str  #: as it was asked for.
    declared_at: datetime | None = None  #: when it was named, UTC; None: never.
    #: when the first scores of the answer were stored; None: that is not known.
    stored_at: datetime | None = None
    by_hand: bool = False  #: the prompts were chosen in the call as well.

    @property
    def label(self) -> str:
        """``declared`` where it was named before any score of the answer was stored,
        else ``exploratory``."""
        if self.declared_at is None or self.stored_at is None or self.by_hand:
            return EXPLORATORY
        if self.declared_at < self.stored_at:
            return DECLARED
        return EXPLORATORY

    @property
    def columns(self) -> dict[str, Any]:
        """As rows have it."""
        day = None
        if self.declared_at is not None:
            day = self.declared_at.isoformat()
        return {"label": self.label, "declared_at": day}

    @property
    def _why(self) -> str:
        """Why it is exploratory although it was named; empty where it never was."""
        if self.declared_at is None:
            return ""
        day = day_in_words(self.declared_at)
        if self.by_hand:
            return f"{self.field} was declared on {day}, but not what --where leaves"
        if self.stored_at is None:
            return (
                f"{self.field} was declared on {day}, and when the scores were stored "
                "is not known"
            )
        stored = day_in_words(self.stored_at)
        return (
            f"{self.field} was declared on {day}, after scores of this answer were "
            f"stored ({stored})"
        )

    def __str__(self) -> str:
        if self.label == DECLARED and self.declared_at is not None:
            return f"Field {self.field} declared on {day_in_words(self.declared_at)}."
        return self._why


def labels_of(
    store: Store,
    benchmark: str,
    fields: Iterable[str],
    run_ids: Sequence[int],
    where: Sequence[str] = (),
) -> tuple[FieldLabel, ...]:
    """What each of some fields counts as.

    Args:
        benchmark: its name.
        fields: as slicings call them.
        run_ids: all runs of the answer.
        where: conditions of the question; one on prompts makes slices by hand.
    """
    names = [*fields]
    own = names_beside(store, benchmark)
    said = {
        one.subject: one.declared_at
        for one in declarations(store)
        if one.about == SLICES and one.benchmark in own
    }
    stored_at = _stored_at(store, run_ids) if said else None
    by_hand = any(one.startswith(_OF_PROMPTS) for one in where)
    return tuple(
        FieldLabel(
            name,
            said.get(field_name(name.replace(TIMES, CROSS))),
            stored_at,
            by_hand,
        )
        for name in names
    )


def _stored_at(store: Store, run_ids: Sequence[int]) -> datetime | None:
    """When the first of some runs was stored; None where that is not known of all."""
    wanted = sorted({*run_ids})
    rows = store.rows(
        query_text("analysis/slices", "stored_since"), {"run_ids": wanted}
    )
    days = [row["stored_at"] for row in rows]
    if len(days) < len(wanted) or None in days:
        return None
    return min(days, default=None)


def in_words(labels: Sequence[FieldLabel]) -> list[str]:
    """What is to be said of the fields of an answer, a line each."""
    lines = [str(one) for one in labels if one.label == DECLARED]
    verb = "was" if len(labels) == 1 else "were"
    asked = f"{counted(len(labels), 'field')} {verb} asked for in this call"
    never = [one.field for one in labels if one.label != DECLARED and not str(one)]
    if never:
        were = "was" if len(never) == 1 else "were"
        lines.append(
            f"{EXPLORATORY}: {listed(never)} {were} chosen after the scores were "
            f"stored; {asked}"
        )
    late = [str(one) for one in labels if one.label != DECLARED and str(one)]
    lines += [f"{EXPLORATORY}: {why}; {asked}" for why in late]
    return lines
