"""Stored rows as they are: views, queries, a run or a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.api.connection import Connection
from warehouse.questions.items import Show
from warehouse.questions.question import Gives, method
from warehouse.store.open import open_store

if TYPE_CHECKING:  # the last are named in strings
    import pandas as pd
    import pyarrow as pa

    from warehouse.analysis.items.show import PromptRuns, PromptView, RunView  # noqa: F401


class QueryMethods(Connection):
    """Run queries, and show single runs and prompts."""

    def arrow(self, query: str, *, timeout: float = 300.0, memory: int = 0, **parameters: Any) -> pa.Table:
        """Result of a view, a library query or one SELECT, as Arrow.

        Runs on a connection that can neither write nor reach files or the network.

        Args:
            query: name of a view or of a library query, or a SELECT.
            timeout: seconds until it is stopped; 0: it is not.
            memory: bytes that an engine in this process may use; 0: less than half of the machine's.
            parameters: those of a library query, by name.

        Raises:
            MisuseError: an unknown name, a missing parameter, or a statement that is no SELECT.
            QueryLimitError: it takes longer, or needs more memory, than it may.
        """
        from warehouse.store.engines import Limits
        from warehouse.store.sql.run_query import is_name, run_query

        typed = not is_name(query)
        limits = Limits(timeout, memory)
        with open_store(
            self.url, guarded=True, limits=limits, typed=typed, reader=self.reader, wait=self.wait
        ) as store:
            return run_query(store, query, parameters)

    def query(self, query: str, *, timeout: float = 300.0, memory: int = 0, **parameters: Any) -> pd.DataFrame:
        """As :meth:`arrow`, as a pandas frame."""
        return self.arrow(query, timeout=timeout, memory=memory, **parameters).to_pandas()

    show = method(Show, Gives["RunView | PromptView | PromptRuns"])
