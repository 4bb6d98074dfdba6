"""Moving a store's schema up and down, and telling whether it has drifted."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import alembic.autogenerate
import alembic.command
import alembic.config
import alembic.migration
import sqlalchemy as sa

from warehouse.errors import MisuseError, StoreError, cause_of
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.curate.reader_role import store_names
from warehouse.store.schema import revision, tables
from warehouse.store.sql import query_files

engines.register_migrations()


def upgrade(store: Store, target: str = "head") -> None:
    """Bring the schema up to a revision (default: the newest) and make the views anew.

    Raises:
        MisuseError: no such revision.
        StoreError: a step failed; the store is as it was.
    """
    _move(store, alembic.command.upgrade, target)


def create(store: Store) -> bool:
    """Make a store where there is none; whether this process made it, and no other that was quicker.

    Raises:
        StoreError: a step failed; nothing was made.
    """
    return _move(store, alembic.command.upgrade, "head", only_new=True)


def downgrade(store: Store, target: str) -> None:
    """Take the schema down to a revision, or to ``base`` (no tables at all).

    Raises:
        MisuseError: no such revision.
        StoreError: a step failed; the store is as it was.
    """
    _move(store, alembic.command.downgrade, target)


def drift(store: Store) -> list[str]:
    """What differs between the schema that this program describes and the store's, in words."""
    with store.begin() as begun:
        connection = engines.full_connection(begun)
        context = alembic.migration.MigrationContext.configure(
            connection, opts={"include_object": _include(store.dialect)}
        )
        differences = alembic.autogenerate.compare_metadata(context, tables.metadata)
        views = set(sa.inspect(connection).get_view_names())
    expected = {view.name for view in query_files.views(store.dialect.name)}
    return [_in_words(item) for item in differences] + [f"view {name} is missing" for name in sorted(expected - views)]


def create_views(store: Store, connection: sa.Connection) -> None:
    """Make every view of ``queries/views``, in order."""
    for view in query_files.views(store.dialect.name):
        text = f'create view "{view.name}" as {view.text.strip().rstrip(";")}'
        connection.execute(sa.text(text.replace(":", r"\:")))


def drop_views(store: Store, connection: sa.Connection) -> None:
    """Drop the views that :func:`create_views` makes, last first."""
    for view in reversed(query_files.views(store.dialect.name)):
        connection.exec_driver_sql(f'drop view if exists "{view.name}"')


def _move(store: Store, command: Any, target: str, *, only_new: bool = False) -> bool:
    """Whether it was done: where it shall be for new stores only, a revision is a reason not to."""
    config = _config()
    try:
        with store.begin() as connection:
            store.dialect.lock_all(connection)  # others may create or upgrade it at the same time
            if only_new and revision.is_recorded(store.dialect, connection):
                return False
            roles = store.dialect.roles
            readers = roles.readers(connection) if roles else []
            drop_views(store, connection)
            config.attributes["connection"] = connection
            command(config, target)
            if revision.recorded(store.dialect, connection) == revision.HEAD:
                create_views(store, connection)
                if roles:  # what is made anew has no rights
                    roles.grant(connection, readers, store_names(store.dialect.name))
        return True
    except alembic.util.exc.CommandError as error:
        raise MisuseError(f"{error}; the newest revision here is {revision.HEAD}") from None
    except sa.exc.DBAPIError as error:
        raise StoreError(f"the schema could not be changed: {cause_of(error)}") from error


def _config() -> alembic.config.Config:
    config = alembic.config.Config()
    config.set_main_option("script_location", str(files("warehouse.migrations")))
    config.set_main_option("path_separator", "os")
    return config


def _include(dialect: engines.Dialect) -> Any:
    def include(_object: Any, _name: Any, kind: str, reflected: bool, _other: Any) -> bool:
        if kind == "table" and reflected:
            return _name in tables.metadata.tables
        if kind == "foreign_key_constraint":
            return dialect.foreign_keys
        return not (kind == "index" and not dialect.indexes)

    return include


def _in_words(difference: Any) -> str:
    if isinstance(difference, list):
        return "; ".join(_in_words(item) for item in difference)
    kind, *details = difference
    names = [str(getattr(item, "name", item)) for item in details if item is not None]
    return f"{kind.replace('_', ' ')}: {', '.join(names)}"
