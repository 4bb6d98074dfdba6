"""Roles of the server engine: who may run what people type, and making a role that only
reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError, StoreError
from warehouse.files import replace_file
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import MadeReader, Roles
from warehouse.store.engines.urls import parse_url, shown_url
from warehouse.store.sql.bind_parameters import rename_binds
from warehouse.store.sql.query_files import query_text

#: The role that queries are run as where the URL's has more power, and nobody names
#: another.
USUAL_READER = "warehouse_reader"
_LONGEST_NAME = 63


def plain_url(connection: sa.Connection, url: sa.URL, reader: str) -> sa.URL | None:
    """The URL that queries which people type are to be run at; ``None``: the one that
    is open.

    Args:
        connection: to the store, as the role of ``url``.
        url: the store's.
        reader: role or whole URL that the user names; empty: nobody is named.

    Raises:
        MisuseError: the role of ``url`` has powers beyond reading, and there is no
            other.
    """
    if "://" in reader:
        return parse_url(reader)
    if reader:
        return as_role(url, reader)
    role = _one(connection, "select session_user")
    if not (forbidden := powers(connection, role)):
        return None
    if _one(connection, f"select to_regrole('{USUAL_READER}') is not null"):
        return as_role(url, USUAL_READER)
    raise MisuseError(
        f"typed queries do not run as {role}, who has the power of "
        f"{', '.join(forbidden)}: a query could take it; make a role that can only "
        "read: warehouse store reader; or name one:"
        ' reader = "ROLE" under [store] in warehouse.toml, or $WAREHOUSE_READER'
    )


def as_role(url: sa.URL, role: str) -> sa.URL:
    """The URL as another role, whose password comes from the password file: not from
    the URL, and not from ``PGPASSWORD``, which is that of the URL's role."""
    query = {
        name: value
        for name, value in url.query.items()
        if name not in ("user", "password")
    }
    return sa.URL.create(
        url.drivername,
        role,
        None,
        url.host,
        url.port,
        url.database,
        query | {"password": ""},
    )


def require_plain(connection: sa.Connection, url: sa.URL) -> None:
    """Refuse a role with powers beyond reading (MisuseError: names the powers)."""
    role = _one(connection, "select session_user")
    if forbidden := powers(connection, role):
        raise MisuseError(
            f"the reader of {shown_url(url)} is {role}, who has the power of "
            f"{', '.join(forbidden)}; name a role that can only read, or make one: "
            "warehouse store reader"
        )


def powers(connection: sa.Connection, role: str) -> list[str]:
    """Powers that a role could use beyond reading what it was given."""
    beyond_reading = [str(row[0]) for row in _rows(connection, "powers", role=role)]
    if "superuser" in beyond_reading:
        return ["superuser"]
    return beyond_reading


def make_reader(
    connection: sa.Connection, role: str, password: str | None
) -> MadeReader:
    """Make a role that can log in and read the store, or give one that is there that
    right.

    Args:
        connection: in a transaction, as a role that may make roles.
        role: its name.
        password: to set; ``None``: none, and one that it has stays.

    Raises:
        MisuseError: no name of a role, or that of one with powers beyond reading.
    """
    if not 0 < len(role.encode()) <= _LONGEST_NAME or role.startswith("pg_"):
        raise MisuseError(f"'{role}' cannot be the name of a role")
    name = _quoted(connection, role)
    can_log_in = connection.exec_driver_sql(
        "select rolcanlogin from pg_roles where rolname = %(role)s", {"role": role}
    ).scalar()
    if can_log_in is None:
        connection.exec_driver_sql(
            f"create role {name} login nosuperuser nocreatedb nocreaterole "
            "noreplication noinherit"
        )
    elif forbidden := powers(connection, role):
        raise MisuseError(
            f"{role} is there and has the power of {', '.join(forbidden)}; give "
            "another name"
        )
    elif not can_log_in:
        raise MisuseError(f"{role} is there and cannot log in; give another name")
    if password is not None:
        connection.exec_driver_sql(
            f"alter role {name} password '{_hashed(connection, role, password)}'"
        )
    database = _quoted(connection, _one(connection, "select current_database()"))
    connection.exec_driver_sql(f"grant connect on database {database} to {name}")
    definer_functions = tuple(
        (str(row[0]), str(row[1]))
        for row in _rows(connection, "lent_powers", role=role)
    )
    return MadeReader(role, can_log_in is None, definer_functions)


def readers(connection: sa.Connection) -> list[str]:
    """Names of the roles that were given the right to read the store."""
    return [str(row[0]) for row in _rows(connection, "readers")]


def grant_reading(
    connection: sa.Connection, roles: Iterable[str], tables: Iterable[str]
) -> None:
    """Give roles the right to read tables and views, and no other.

    Raises:
        StoreError: some cannot read them still: the server only warns of whoever may
            not give that right.
    """
    roles = list(roles)
    tables = list(tables)
    if names := ", ".join(_quoted(connection, role) for role in roles):
        schema = _quoted(connection, _one(connection, "select current_schema()"))
        listed = ", ".join(_quoted(connection, table) for table in tables)
        connection.exec_driver_sql(f"grant usage on schema {schema} to {names}")
        connection.exec_driver_sql(f"grant select on {listed} to {names}")
    for role, table in _rows(connection, "cannot_read", roles=roles, tables=tables):
        raise StoreError(
            f"{role} was not let in: only the owner of {table}, or a superuser, can do "
            "that"
        )


def _hashed(connection: sa.Connection, role: str, password: str) -> str:
    """The hash that the server keeps of a password: so it stands in no log of
    statements."""
    raw: Any = connection.connection.driver_connection
    return str(
        raw.pgconn.encrypt_password(
            password.encode(), role.encode(), b"scram-sha-256"
        ).decode()
    )


def _quoted(connection: sa.Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote_identifier(name)


def _one(connection: sa.Connection, sql: str) -> Any:
    return connection.exec_driver_sql(sql).scalar_one()


def _rows(connection: sa.Connection, name: str, **values: str | list[str]) -> list[Any]:
    text, _ = rename_binds(query_text("roles", name), "%(")
    return list(connection.exec_driver_sql(text, values))


def _keep_password(connection: sa.Connection, role: str, password: str) -> Path:
    """The first line of the file wins, so the new one stands there."""
    raw: Any = connection.connection.driver_connection
    if raw.info.host.startswith("/"):
        host = "*"
    else:
        host = raw.info.host
    parts = (host, str(raw.info.port), raw.info.dbname, role)
    key = (
        ":".join(part.replace("\\", "\\\\").replace(":", "\\:") for part in parts) + ":"
    )
    path = Path(os.environ.get("PGPASSFILE") or Path.home() / ".pgpass").resolve()
    before = []
    if path.exists():
        before = path.read_text(encoding="utf-8").splitlines()
    others = [line for line in before if not line.startswith(key)]
    lines = [f"{key}{password}", *others]
    replace_file(path, ("\n".join(lines) + "\n").encode(), mode=0o600)
    return path


ROLES = Roles(
    usual=USUAL_READER,
    make=make_reader,
    readers=readers,
    grant=grant_reading,
    url=as_role,
    keep_password=_keep_password,
)
