"""A store that is only read: a connection without SQLAlchemy, which takes longer to
load than most answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warehouse.errors import StoreError
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import json_text


@dataclass
class ReadingEngine:
    """Opens a store for reading, in the place of an engine of SQLAlchemy."""

    open_raw: Callable[[], Any]  #: a connection of the driver.
    begin: Callable[[Any], object]  #: begin a transaction on it.
    #: end one; whether the connection can still be used.
    roll_back: Callable[[Any], bool]
    #: name of the engine as SQLAlchemy has it, and the connection as it takes one.
    around: Callable[[Any], tuple[str, Any]]
    #: of statements that go by way of SQLAlchemy, before they run
    #: (``before_cursor_execute``).
    listener: Callable[..., Any] | None = None

    def connect(self) -> ReadingConnection:
        """A connection of its own."""
        return ReadingConnection(self)

    def dispose(self) -> None:
        """A connection that is closed leaves nothing."""

    def full(self, raw: Any) -> sa.Engine:
        """An engine of SQLAlchemy whose one connection is there already."""
        name, connection = self.around(raw)
        engine = sa.create_engine(
            f"{name}://",
            creator=lambda: connection,
            poolclass=sa.pool.NullPool,
            pool_reset_on_return=None,
            json_serializer=json_text,
        )
        if self.listener is not None:
            sa.event.listen(engine, "before_cursor_execute", self.listener, retval=True)
        return engine


class ReadingConnection:
    """A connection to a store that is only read.

    What is asked by way of the dialect goes to the engine itself. Asked for anything
    else, such as ``execute``, it becomes a connection of SQLAlchemy around the same
    one.
    """

    def __init__(self, engine: ReadingEngine) -> None:
        self._engine = engine
        self._raw: Any = engine.open_raw()
        self._begun = self._is_closed = False
        # another thread may ask for the connection, to interrupt what runs on it
        self._opening = threading.Lock()
        self._full: sa.Connection | None = None

    @property
    def connection(self) -> ReadingConnection:
        """The holder of the engine's own connection; here this itself."""
        return self

    @property
    def driver_connection(self) -> Any:
        """The engine's own connection; a new one after the last was given up.

        Raises:
            StoreError: this is closed.
        """
        with self._opening:
            if self._is_closed:
                raise StoreError("the connection is closed")
            self._raw = self._raw or self._engine.open_raw()
            return self._raw

    def in_transaction(self) -> bool:
        """True if one has begun."""
        if self._full is None:
            return self._begun
        return self._full.in_transaction()

    def begin(self) -> None:
        """Begin a transaction."""
        if self._full is None:
            self._engine.begin(self.driver_connection)
            self._begun = True
        else:
            self._full.begin()

    def commit(self) -> None:
        """End it."""
        if self._full is None:
            self._begun = False
            self.driver_connection.commit()
        else:
            self._full.commit()

    def rollback(self) -> None:
        """Roll it back; a connection that cannot even do that is given up, and the next
        statement gets another."""
        if self._full is not None:
            self._full.rollback()
        elif self._begun:
            self._begun = False
            if not self._engine.roll_back(self.driver_connection):
                self._give_up()

    def close(self) -> None:
        """Let go of the store."""
        with self._opening:
            self._is_closed = True
        if self._full is not None:
            self._full.close()
        self._give_up()

    def _give_up(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()

    def __getattr__(self, name: str) -> Any:
        # of this class, before it is set; or of Python's own protocols
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.full(), name)

    def full(self) -> sa.Connection:
        """This as a connection of SQLAlchemy. What only reads has nothing to lose: a
        transaction begins anew."""
        if self._full is None:
            begun = self._begun
            self.rollback()
            full = self._engine.full(self.driver_connection).connect()
            if begun:
                full.begin()
            self._full = full
        return self._full
