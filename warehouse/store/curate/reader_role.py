"""A role of the server that can read the store and nothing else: what typed queries run as."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from warehouse.errors import MisuseError, StoreError, cause_of
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store, wait_for
from warehouse.store.engines.base import MadeReader, Roles
from warehouse.store.schema.later import tables
from warehouse.store.sql import query_files


@dataclass(frozen=True)
class Reader:
    """What :func:`make` did.

    Attributes:
        role: its name.
        is_new: the role was not there before.
        password_file: where its password was written; empty: it logs in without one, or had one.
        lent: functions that it may call and that have the powers of another role, with that role.
    """

    role: str
    is_new: bool
    password_file: str
    lent: tuple[tuple[str, str], ...]


def make(store: Store, role: str = "", *, new_password: bool = False) -> Reader:
    """Make a role that can read the store's tables and views, or let one that is there do so.

    Where the server wants a password of it, the role gets one by chance, which is written to the
    password file of the driver (``PGPASSFILE``, else ``~/.pgpass``) and shown nowhere.

    Args:
        store: open for writing, as a role that may make roles.
        role: its name; default: that which queries look for.
        new_password: give it another password even if it can log in.

    Raises:
        MisuseError: the engine has no roles, or the name is that of a role with more power.
        StoreError: the server refuses to make it, or to let it in.
    """
    roles = store.dialect.roles
    if roles is None:
        raise MisuseError(f"{store.name} is a file: queries open it read-only anyway, and there are no roles")
    role = role or roles.usual
    try:
        made = _made(store, roles, role, None)
        if not new_password and _can_log_in(store, roles, role):
            return Reader(role, made.is_new, "", made.lent)
        password = secrets.token_urlsafe(24)
        _made(store, roles, role, password)
        with store.begin() as connection:
            path = roles.keep_password(connection, role, password)
    except sa.exc.DBAPIError as error:
        raise StoreError(f"the role {role} cannot be made: {cause_of(error)}") from None
    url = roles.url(store.url, role)
    wait_for(
        lambda: Store(url, store.dialect, store.dialect.open_engine(url, False, engines.Limits())),
        url,
        store.dialect,
        0,
        None,
    ).close()
    return Reader(role, made.is_new, str(path), made.lent)


def store_names(engine: str) -> list[str]:
    """Names of everything that a reader reads: tables, views, and the table of the version."""
    return [*tables.metadata.tables, *(view.name for view in query_files.views(engine)), VERSION_TABLE]


#: Where the migrations keep the revision.
VERSION_TABLE = "alembic_version"


def _made(store: Store, roles: Roles, role: str, password: str | None) -> MadeReader:
    with store.begin() as connection:
        made = roles.make(connection, role, password)
        roles.grant(connection, [role], store_names(store.dialect.name))
    return made


def _can_log_in(store: Store, roles: Roles, role: str) -> bool:
    url = roles.url(store.url, role)
    try:
        Store(url, store.dialect, engines.dialect_of(url).open_engine(url, False, engines.Limits())).close()
    except sa.exc.DBAPIError:
        return False
    return True
