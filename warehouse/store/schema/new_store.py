"""A new store, made at once as the newest migration leaves one: the steps to it are for
stores that exist already.

A test holds the two to be the same.
"""

from __future__ import annotations

from warehouse.errors import StoreError, cause_of
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.upkeep import store_names
from warehouse.store.schema import revision
from warehouse.store.schema.head import HEAD, VERSION_TABLE
from warehouse.store.schema.later import tables
from warehouse.store.schema.made_objects import create_views
from warehouse.store.schema.objects import remember_views


def create(store: Store) -> bool:
    """Make a store where there is none; whether this process made it, and no other that
    was quicker.

    Raises:
        StoreError: a table could not be made; nothing was made.
    """
    engines.register_tables()
    roles = store.dialect.roles
    try:
        with store.begin() as connection:
            # others may create or upgrade it at the same time
            store.dialect.lock_all(connection)
            if revision.is_recorded(store.dialect, connection):
                return False
            tables.metadata.create_all(connection, checkfirst=False)
            _record(connection)
            create_views(store, connection)
            remember_views(store)
            if roles:
                roles.grant(
                    connection,
                    roles.readers(connection),
                    store_names(store.dialect.name),
                )
    except sa.exc.DBAPIError as error:
        raise StoreError(f"the store could not be made: {cause_of(error)}") from error
    return True


def _record(connection: sa.Connection) -> None:
    """Write the revision where the migrations keep it; their table is there where a
    store was taken down to nothing."""
    versions = sa.Table(
        VERSION_TABLE,
        sa.MetaData(),
        sa.Column("version_num", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
    )
    connection.execute(sa.schema.CreateTable(versions, if_not_exists=True))
    connection.execute(sa.insert(versions).values(version_num=HEAD))
