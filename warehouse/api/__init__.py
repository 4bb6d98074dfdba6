"""The library for notebooks and scripts: one object per store, its methods by kind of
use.

A method takes the keywords of the function that answers it, with the same defaults.
What it needs is imported when it is called, so that ``import warehouse`` stays cheap.
"""

from __future__ import annotations

from pathlib import Path

from warehouse.api.boards import BoardMethods
from warehouse.api.catalogue import CatalogueMethods
from warehouse.api.connection import QueryMethods
from warehouse.api.declared import DeclaringMethods
from warehouse.api.dumps import ReadDumps, read
from warehouse.api.load import LoadMethods
from warehouse.api.power import PowerMethods
from warehouse.api.questions import QuestionMethods
from warehouse.api.sequential import SequentialMethods
from warehouse.api.upkeep import LakeMethods, RefreshMethods
from warehouse.store.open import is_made

__all__ = ["ReadDumps", "Warehouse", "connect", "read"]


class Warehouse(
    LoadMethods,
    CatalogueMethods,
    DeclaringMethods,
    QueryMethods,
    QuestionMethods,
    PowerMethods,
    SequentialMethods,
    BoardMethods,
    RefreshMethods,
    LakeMethods,
):
    """A store and what can be asked of it.

    Every call opens the store for as long as it takes and lets go of it, so that a
    notebook does not keep others from writing. Any call can raise
    :class:`warehouse.errors.StoreError` where there is no store or another process
    holds it for longer than ``wait`` seconds.
    """


def connect(
    url: str | Path | None = None,
    *,
    create: bool = True,
    wait: float = 10.0,
    reader: str = "",
) -> Warehouse:
    """A warehouse at a URL.

    Args:
        url: ``duckdb:///file``, a bare file name, ``postgresql://…``, or
            ``sail:?lake=…`` for a lake; None for ``duckdb:///warehouse.duckdb``.
        create: make the store with the first call that writes, if there is none; False:
            there has to be one.
        wait: seconds to wait for a store that another process holds.
        reader: role, or whole URL, that :meth:`Warehouse.arrow` and
            :meth:`Warehouse.query` run as on a server; empty: that of ``url``, unless
            it has powers beyond reading.

    Raises:
        StoreError: the store cannot be opened.
        SchemaVersionError: the store's schema is not the one of this program.
    """
    warehouse = Warehouse(url, wait=wait, reader=reader)
    if create and not is_made(warehouse.url, wait=wait):
        warehouse._creates = True
        return warehouse
    with warehouse._reading():
        return warehouse
