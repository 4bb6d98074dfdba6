"""Which alerts of a refresh have been told, by channel, in the summary of its row.

A refresh that is asked for alerts is marked ``due`` in the transaction that makes its figures
visible, so that a process that dies before it has told them leaves the mark for the next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import in_text
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Key of the marks in a summary.
MARKS = "alerts"
DUE, TOLD, GIVEN_UP = "due", "told", "given up"


@dataclass(frozen=True)
class Untold:
    """A refresh with alerts that somebody may not have heard of.

    Attributes:
        id: of the refresh.
        ended: when, naive UTC.
        marks: channel -> `DUE`, `TOLD` or `GIVEN_UP`; empty for one that was not asked for alerts.
    """

    id: int
    ended: datetime
    marks: Mapping[str, str]

    def awaits(self, channel: str) -> bool:
        """Whether this channel has not told it."""
        return self.marks.get(channel, DUE) == DUE


def untold(store: Store, refresh: int) -> list[Untold]:
    """This refresh, and those before it that a channel has not told, oldest first: marked as due,
    or, after the newest that was asked for alerts, not asked for any."""
    undelivered = []
    for row in store.rows(query_text("store", "undelivered_refreshes").format(refresh=refresh)):
        marks = json.loads(row["summary"] or "{}").get(MARKS, {})
        undelivered.append(Untold(row["id"], row["finished_at"], marks))
    return undelivered


def mark(store: Store, marks: Sequence[tuple[int, Mapping[str, str]]]) -> None:
    """Add marks to refreshes.

    Args:
        store: open for writing.
        marks: id of the refresh, and channel -> mark.
    """
    table = tables.refresh
    with store.begin() as connection:
        for refresh, news in marks:
            this = table.c.id == in_text(table.c.id, refresh)
            summary = connection.execute(sa.select(table.c.summary).where(this)).scalar()
            if summary is not None:  # else it was pruned meanwhile
                marked = {**summary, MARKS: {**summary.get(MARKS, {}), **news}}
                value = in_text(table.c.summary, marked)
                connection.execute(sa.update(table).where(this).values(summary=value))
