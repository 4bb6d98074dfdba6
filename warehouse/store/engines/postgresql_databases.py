"""Databases of a server: whether the one that a URL names is there, and making it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warehouse.errors import StoreError, first_line
from warehouse.store.alchemy import sa
from warehouse.store.engines.urls import PlainUrl, full_url, shown_url, without_secrets

#: Databases that every server has, by which one may ask for the others.
_USUAL = ("postgres", "template1")


def missing_database(url: sa.URL | PlainUrl) -> str | None:
    """The database that a URL names, where its server answers and does not have it; else
    None."""
    for usual in _USUAL:
        try:
            with _beside(url, usual) as connection:
                there = connection.execute(
                    sa.text("select 1 from pg_database where datname = :name"),
                    {"name": url.database},
                ).first()
        except sa.exc.DBAPIError:
            continue  # for others of this role, or the server is away
        return None if there else url.database
    return None


def make_database(url: sa.URL | PlainUrl) -> None:
    """Make the database that a URL names (StoreError: the role may not)."""
    try:
        with _beside(url, _USUAL[0]) as connection:
            name = connection.dialect.identifier_preparer.quote_identifier(
                url.database or ""
            )
            connection.exec_driver_sql(
                f"create database {name} template template0 encoding 'UTF8'"
            )
    except sa.exc.DBAPIError as error:
        full = full_url(url)
        reason = without_secrets(first_line(error), full)
        raise StoreError(
            f"cannot make the database of {shown_url(full)}: {reason}; ask who runs the "
            f"server: createdb --encoding UTF8 {url.database}"
        ) from None


@contextmanager
def _beside(url: sa.URL | PlainUrl, database: str) -> Iterator[Any]:
    """A connection to another database of the same server, each statement by itself."""
    engine = sa.create_engine(
        full_url(url).set(database=database),
        poolclass=sa.pool.NullPool,
        isolation_level="AUTOCOMMIT",
    )
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
