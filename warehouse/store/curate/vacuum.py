"""Removing what nothing holds: prompts that no run has anything about, texts that none points to.

Runs are removed by ``forget``; what they brought along besides their facts may be another run's by
now, and is looked for afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from warehouse.errors import StoreLockedError
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

_POLL = 0.2
#: Facts about prompts that go with them, and do not hold them.
_OF_PROMPTS = (tables.prompt_cluster, tables.prompt_embedding, tables.prompt_link)


@dataclass(frozen=True)
class Removed:
    """What nothing held.

    Attributes:
        prompts: number of prompts removed, with their places in clusters, links and embeddings.
        texts: number of texts removed.
    """

    prompts: int
    texts: int

    def __str__(self) -> str:
        return f"{self.prompts} prompts and {self.texts} texts that nothing holds removed"


def vacuum(store: Store, *, wait: float = 10.0, say: Callable[[str], None] | None = None) -> Removed:
    """Remove what nothing holds, in one transaction.

    A load that is under way elsewhere may be about to use a prompt or text that nothing holds yet:
    none is, and none begins, while this runs.

    Args:
        store: a store open for writing.
        wait: seconds to wait for loads of other processes.
        say: told if there is something to wait for.

    Raises:
        StoreLockedError: others still load after that.
    """
    deadline, waiting = time.monotonic() + wait, False
    while (removed := _try(store)) is None:
        if time.monotonic() >= deadline:
            raise StoreLockedError(
                f"other processes load into {store.name}; waited {wait:g} s; try again when they have ended"
            )
        if say and not waiting:
            say(f"waiting for loads into {store.name}")
        waiting = True
        time.sleep(_POLL)
    return removed


def _try(store: Store) -> Removed | None:
    with store.begin() as connection:
        if not store.dialect.sole(connection):
            return None
        store.dialect.lock_all(connection)
        return remove_unheld(connection)


def remove_unheld(connection: sa.Connection) -> Removed:
    """Remove what nothing holds, in a transaction during which nobody loads."""
    connection.exec_driver_sql(query_text("vacuum", "unheld_prompt"))
    connection.exec_driver_sql(query_text("vacuum", "linked_prompt"))
    for table in _OF_PROMPTS:
        connection.exec_driver_sql(f"delete from {table.name} where prompt_id in (select id from unheld_prompt)")
    prompts = connection.exec_driver_sql("select count(*) from unheld_prompt").scalar_one()
    connection.exec_driver_sql("delete from prompt where id in (select id from unheld_prompt)")
    connection.exec_driver_sql("drop table unheld_prompt")
    texts = _count(connection)
    connection.exec_driver_sql(query_text("vacuum", "unheld_text"))
    return Removed(int(prompts), texts - _count(connection))


def _count(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(tables.content)).scalar_one())
