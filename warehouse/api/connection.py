"""The connection behind a warehouse, and SQL over it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import MisuseError
from warehouse.questions.methods import method_of
from warehouse.questions.registry import added_names, question_of
from warehouse.questions.saying import saying_methods
from warehouse.store.connection import Store
from warehouse.store.open import DEFAULT_URL, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from warehouse.analysis.results import QueryResult
    from warehouse.store.open import StoreOpener


class Connection:
    """How a store is reached.

    Every call opens the store for as long as it takes and lets go of it, so that a
    notebook does not keep others from writing.

    Attributes:
        url: of the store; None for ``duckdb:///warehouse.duckdb``.
        wait: seconds to wait for a store that another process holds.
        reader: role, or whole URL, that queries run as on a server.
    """

    #: whether it is of result files, which are asked and not changed.
    _only_asks = False
    #: whether the first call that writes makes the store.
    _creates = False

    def __init__(
        self, url: str | Path | None = None, *, wait: float = 10.0, reader: str = ""
    ) -> None:
        """Nothing is opened yet.

        Args:
            url: ``duckdb:///file``, a bare file name, ``postgresql://…``, or
                ``sail:?lake=…`` for a lake; None for ``duckdb:///warehouse.duckdb``.
            wait: seconds to wait for a store that another process holds.
            reader: role, or whole URL, that :meth:`Warehouse.arrow` and
                :meth:`Warehouse.query` run as on a server; empty: that of ``url``,
                unless it has powers beyond reading.
        """
        self.url, self.wait = None if url is None else str(url), wait
        self.reader = reader

    @contextmanager
    def _reading(self) -> Iterator[Store]:
        """The store, open for reading.

        Raises:
            StoreError: there is no store, or it cannot be opened within :attr:`wait`
                seconds.
            SchemaVersionError: the store's schema is not the one of this program.
        """
        with saying_methods(), self._opened() as store:
            yield store

    @contextmanager
    def _writing(self) -> Iterator[Store]:
        """The store, open for writing; raises as `_reading` does."""
        with saying_methods(), self._opened_to_write() as store:
            yield store

    @contextmanager
    def _opened(self) -> Iterator[Store]:
        """The store for reading, for others whose messages stay as they are."""
        with open_store(self.url, wait=self.wait) as store:
            yield store

    @contextmanager
    def _opened_to_write(self) -> Iterator[Store]:
        with open_store(
            self.url, write=True, create=self._creates, wait=self.wait
        ) as store:
            self._creates = False
            yield store

    @property
    def _opener(self) -> StoreOpener:
        """How to open the store: for what lets go of it while it works."""
        from warehouse.store.open import StoreOpener

        return StoreOpener(self._opened, self._opened_to_write)

    def __dir__(self) -> list[str]:
        """What a user calls, questions of other packages among it."""
        return sorted(
            name
            for name in {*super().__dir__(), *added_names()}
            if not name.startswith("_")
        )

    if not TYPE_CHECKING:  # whoever checks types shall know no other names

        def __getattr__(self, name: str) -> Any:
            """Questions of other packages; and names that were public once, and say
            that they are not."""
            if name in added_names():
                return method_of(question_of(name)).__get__(self)
            if name not in ("reading", "writing", "opener"):
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}"
                )
            instead = "open_store of warehouse.store.open opens one"
            warnings.warn(
                f"{name} of a warehouse is internal and will go: {instead}",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(self, f"_{name}")

    def __repr__(self) -> str:
        """Where it is."""
        from warehouse.store.engines import shown_text

        return f"{type(self).__name__}({shown_text(self.url or DEFAULT_URL)!r})"


def refuse_given(reason: str, method: Callable[..., Any], /, **values: object) -> None:
    """Refuse keywords of a method that would change nothing in this call.

    Raises:
        MisuseError: one of them is not at its default; ``reason`` follows its name.
    """
    defaults = method.__kwdefaults__ or {}
    for name, value in values.items():
        if value != defaults[name]:
            raise MisuseError(f"{name} {reason}")


class QueryMethods(Connection):
    """Run queries."""

    def arrow(
        self, query: str, *, timeout: float = 300.0, memory: int = 0, **parameters: Any
    ) -> pa.Table:
        """Result of a view, a library query or one SELECT, as Arrow.

        Runs on a connection that can neither write nor reach files or the network.

        Args:
            query: name of a view or of a library query, or a SELECT.
            timeout: seconds until it is stopped; 0: it is not.
            memory: bytes that an engine in this process may use; 0: less than half of
                the machine's.
            parameters: those of a library query, by name.

        Raises:
            MisuseError: an unknown name, a missing parameter, or a statement that is no
                SELECT.
            QueryLimitError: it takes longer, or needs more memory, than it may.
        """
        from warehouse.store.engines import Limits
        from warehouse.store.sql.run_query import is_name, run_named

        limits = Limits(timeout, memory)
        if not is_name(query):
            from warehouse.store.sql.apart import TypedQuery, query_apart

            return query_apart(
                TypedQuery(self.url, query, parameters, limits, self.reader, self.wait)
            )
        with open_store(
            self.url,
            guarded=True,
            limits=limits,
            typed=False,
            reader=self.reader,
            wait=self.wait,
        ) as store:
            return run_named(store, query.strip(), parameters)

    def query(
        self, query: str, *, timeout: float = 300.0, memory: int = 0, **parameters: Any
    ) -> QueryResult:
        """As :meth:`arrow`, as a result: ``rows``, ``to_frame()``, and the table itself
        where it is shown."""
        from warehouse.analysis.results import QueryResult

        table = self.arrow(query, timeout=timeout, memory=memory, **parameters)
        return QueryResult(table)
