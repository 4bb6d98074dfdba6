"""Copies of whole stores beside them: files in the same folder, databases of the same
server."""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa

from warehouse.store.engines import parse_url
from warehouse.store.engines.urls import full_url


def beside(url: str, name: str) -> str:
    """URL of another store in the same place."""
    parsed = full_url(parse_url(url))
    return parsed.set(database=f"{parsed.database}-{name}").render_as_string(
        hide_password=False
    )


def copy_store(source: str, target: str) -> None:
    """Put a copy in place of what is at `target`; nobody may have either of them open."""
    remove_store(target)
    one, other = parse_url(source), parse_url(target)
    if _is_on_a_server(one):
        _say(
            one,
            f'create database "{other.database}" template "{one.database}" strategy '
            "file_copy",
        )
        return
    for ending in ("", ".wal"):
        if (path := Path(f"{one.database}{ending}")).exists():
            shutil.copy(path, f"{other.database}{ending}")


def remove_store(url: str) -> None:
    """Remove it, whoever has it open."""
    parsed = parse_url(url)
    if _is_on_a_server(parsed):
        return _say(parsed, f'drop database if exists "{parsed.database}" with (force)')
    for ending in ("", ".wal", ".refresh"):
        Path(f"{parsed.database}{ending}").unlink(missing_ok=True)


def empty_place(url: str) -> None:
    """Make room for a store: no file, or an empty database."""
    remove_store(url)
    parsed = parse_url(url)
    if _is_on_a_server(parsed):
        _say(parsed, f'create database "{parsed.database}"')


def _is_on_a_server(url: sa.URL) -> bool:
    return url.get_backend_name() == "postgresql"


def _say(url: sa.URL, statement: str) -> None:
    server = full_url(url).set(database="postgres")
    engine = sa.create_engine(
        server, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
