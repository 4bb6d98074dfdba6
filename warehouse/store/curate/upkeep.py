"""Maintenance by the owner of a store: a read-only role, and removing unreferenced
rows.

Runs are removed by ``forget``; what they brought along besides their facts may be
another run's by now, and is looked for afterwards.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from warehouse.errors import MisuseError, StoreError, StoreLockedError, cause_of
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store, wait_for
from warehouse.store.curate.aliases import settle_aliases
from warehouse.store.engines.base import MadeReader, Roles
from warehouse.store.schema.head import VERSION_TABLE
from warehouse.store.schema.later import tables
from warehouse.store.sql import query_files
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class ReaderOutcome:
    """The outcome of :func:`make_reader`."""

    role: str  #: its name.
    is_new: bool  #: the role was not there before.
    password_file: str  #: where its password was written; empty: it logs in without one, or had one.
    #: functions that it may call and that have the powers of another role, with that
    #: role.
    definer_functions: tuple[tuple[str, str], ...]


def make_reader(
    store: Store, role: str = "", *, new_password: bool = False
) -> ReaderOutcome:
    """Make a role that can read the store's tables and views, or let one that is there
    do so.

    Where the server wants a password of it, the role gets one by chance, which is
    written to the password file of the driver (``PGPASSFILE``, else ``~/.pgpass``) and
    shown nowhere.

    Args:
        store: open for writing, as a role that may make roles.
        role: its name; default: that which queries look for.
        new_password: give it another password even if it can log in.

    Raises:
        MisuseError: the engine has no roles, or the name is that of a role with more
            power.
        StoreError: the server refuses to make it, or to let it in.
    """
    roles = store.dialect.roles
    if roles is None:
        raise MisuseError(
            f"{store.name} is a file: queries open it read-only anyway, and there are "
            "no roles"
        )
    role = role or roles.usual
    try:
        made = _made(store, roles, role, None)
        if not new_password and _can_log_in(store, roles, role):
            return ReaderOutcome(role, made.is_new, "", made.definer_functions)
        password = secrets.token_urlsafe(24)
        _made(store, roles, role, password)
        with store.begin() as connection:
            path = roles.keep_password(connection, role, password)
    except sa.exc.DBAPIError as error:
        who = ""
        if engines.forbidden(error):
            who = "; a superuser or a role with CREATEROLE can"
        raise StoreError(
            f"the role {role} cannot be made: {cause_of(error)}{who}"
        ) from None
    url = roles.url(store.url, role)
    wait_for(
        lambda: Store(
            url, store.dialect, store.dialect.open_engine(url, False, engines.Limits())
        ),
        url,
        store.dialect,
        0,
        None,
    ).close()
    return ReaderOutcome(role, made.is_new, str(path), made.definer_functions)


def store_names(engine: str) -> list[str]:
    """Names of everything that a reader reads: tables, views, and the table of the
    version."""
    return [
        *tables.metadata.tables,
        *(view.name for view in query_files.views(engine)),
        VERSION_TABLE,
    ]


def _made(store: Store, roles: Roles, role: str, password: str | None) -> MadeReader:
    with store.begin() as connection:
        made = roles.make(connection, role, password)
        roles.grant(connection, [role], store_names(store.dialect.name))
    return made


def _can_log_in(store: Store, roles: Roles, role: str) -> bool:
    url = roles.url(store.url, role)
    try:
        Store(
            url,
            store.dialect,
            engines.dialect_of(url).open_engine(url, False, engines.Limits()),
        ).close()
    except sa.exc.DBAPIError:
        return False
    return True


_POLL = 0.2


@dataclass(frozen=True)
class Removed:
    """Counts of the unreferenced rows that were removed."""

    prompts: int  #: number of prompts removed, with their places in clusters, links and embeddings.
    texts: int  #: number of texts removed.

    def __str__(self) -> str:
        return (
            f"{self.prompts} prompts and {self.texts} texts that nothing holds removed"
        )


def vacuum(
    store: Store, *, wait: float = 10.0, say: Callable[[str], None] | None = None
) -> Removed:
    """Remove unreferenced rows, in one transaction (StoreLockedError: others still load
    after that).

    A load that is under way elsewhere may be about to use a prompt or text that nothing
    holds yet: none is, and none begins, while this runs.

    Args:
        store: a store open for writing.
        wait: seconds to wait for loads of other processes.
        say: told if there is something to wait for.
    """
    deadline = time.monotonic() + wait
    waiting = False
    while (removed := _try(store)) is None:
        if time.monotonic() >= deadline:
            raise StoreLockedError(
                f"other processes load into {store.name}; waited {wait:g} s; try again "
                "when they have ended"
            )
        if say and not waiting:
            say(f"waiting for loads into {store.name}")
        waiting = True
        time.sleep(_POLL)
    return removed


def _try(store: Store) -> Removed | None:
    with store.begin() as connection:
        if not store.dialect.no_source_reserved(connection):
            return None
        store.dialect.lock_all(connection)
        store.n_forgotten += 1
        removed = remove_unheld(connection)
        remove_unnamed(connection)
        return removed


def remove_unheld(connection: sa.Connection) -> Removed:
    """Remove unreferenced rows, in a transaction during which no process loads."""
    connection.exec_driver_sql(query_text("vacuum", "unheld_prompt"))
    # facts about prompts go with them, and do not hold them
    for table in (tables.prompt_cluster, tables.prompt_embedding, tables.prompt_link):
        connection.exec_driver_sql(
            f"delete from {table.name} where prompt_id in (select id from "
            "unheld_prompt)"
        )
    prompts = connection.exec_driver_sql(
        "select count(*) from unheld_prompt"
    ).scalar_one()
    connection.exec_driver_sql(
        "delete from prompt_link where canonical_prompt_id in (select id from "
        "unheld_prompt)"
    )
    connection.exec_driver_sql(
        "delete from prompt where id in (select id from unheld_prompt)"
    )
    connection.exec_driver_sql("drop table unheld_prompt")
    texts = _count(connection)
    connection.exec_driver_sql(query_text("vacuum", "unheld_text"))
    return Removed(int(prompts), texts - _count(connection))


#: What removes the rows that nothing names any more, each before those that it points
#: to.
_UNNAMED = (
    *(
        "unnamed_run_group",
        "unnamed_benchmark_metric",
        "unnamed_checkpoint",
        "unnamed_training_seed",
    ),
    *(
        "unnamed_model_alias",
        "unnamed_model",
        "unnamed_agent",
        "unnamed_benchmark_alias",
        "unnamed_benchmark",
    ),
    *(
        "unnamed_statement",
        "unnamed_metric",
        "unnamed_scorer",
        "unnamed_prompt_variant",
    ),
)


def remove_unnamed(connection: sa.Connection) -> None:
    """Remove models, benchmarks, metrics and the like that nothing names any more, in a
    transaction during which no process loads. What a person has said of them (another
    name, a headline metric) goes with them."""
    _remove_unnamed_benchmarks(connection)
    for name in _UNNAMED:
        connection.exec_driver_sql(query_text("vacuum", name))
    connection.exec_driver_sql("drop table unnamed_benchmark")
    settle_aliases(connection)


def _remove_unnamed_benchmarks(connection: sa.Connection) -> None:
    """All that is below a benchmark which is to be removed."""
    connection.exec_driver_sql(query_text("vacuum", "unnamed_benchmarks"))
    below = query_text("vacuum", "below_unnamed_benchmark")
    for table in ("prompt_cluster", "cluster"):
        connection.exec_driver_sql(below.format(table=table))
    for table in ("clustering", "benchmark_metric"):
        connection.exec_driver_sql(
            f"delete from {table} where benchmark_id in (select id from "
            "unnamed_benchmark)"
        )


def _count(connection: sa.Connection) -> int:
    return int(
        connection.execute(
            sa.select(sa.func.count()).select_from(tables.content)
        ).scalar_one()
    )
