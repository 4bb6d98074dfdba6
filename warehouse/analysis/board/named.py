"""A published table with where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.stats.board.table import Board


@dataclass(frozen=True)
class NamedBoard:
    """A board with where it stands."""

    name: str  #: of the file, and of the place in it.
    board: Board
    of_tasks: bool = False  #: whether its rows are tasks of one model.
