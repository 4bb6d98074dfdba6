"""The method that holds published tables against a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.api.connection import Connection

if TYPE_CHECKING:
    from warehouse.analysis.board.view import BoardReport


class BoardMethods(Connection):
    """Published tables beside what the store has of them (`docs/board.md`)."""

    def board(
        self,
        *paths: str | Path,
        items: Mapping[str, int] | None = None,
        before: str | Path | None = None,
    ) -> BoardReport:
        """What of published tables cannot be right, is to be asked about, or to be
        known; samples, items and costs of the store are held against their figures.

        Entries and columns are found by the names of models and benchmarks, and by
        their aliases; `in_store` and `not_in_store` of the answer say which.

        Args:
            paths: files of JSON, YAML, CSV, Markdown, HTML or LaTeX, and folders, in
                which tables stand or each file is an entry; none: the figures that the
                sources of the store publish.
            items: how many items a column has, by its name; it holds in place of what
                the store has.
            before: an earlier version of the same file or folder; `changes` then has
                the cells that differ.

        Returns:
            the findings, as :func:`warehouse.board` gives them.

        Raises:
            MisuseError: no path and no published figures, there is no such file or folder, or no table has a
                column that ``items`` names.
            InputError: a file that is named cannot be read, or holds no table.
        """
        from warehouse.boards.asking import board_beside

        with self._reading() as store:
            return board_beside(store, *paths, items=items, before=before)
