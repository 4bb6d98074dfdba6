"""Stored rows as they are: views, queries, a run or a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.api.connection import Connection
from warehouse.store.open import open_store

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from warehouse.analysis.items.show import PromptRuns, PromptView, RunView


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

    def show(self, run: str | int, prompt: str | int | None = None) -> RunView | PromptView | PromptRuns:
        """A run, or one prompt of it with every response and score, or a prompt in all runs.

        Args:
            run: ``run:ID``, an id, or a reference that means one run; ``prompt:ID`` for a prompt
                in all runs, with its id in the store.
            prompt: ``prompt:ID``, the tool's id of the prompt, its id in the store, its key, or at
                least six characters that its key begins with; None for the run with all prompts.

        Raises:
            MisuseError: no such run or prompt, or several.
        """
        from warehouse.analysis.items.show import show

        with self.reading() as store:
            return show(store, str(run), None if prompt is None else str(prompt))
