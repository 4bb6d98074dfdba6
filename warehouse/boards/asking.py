"""Files and folders to what is wrong with the tables in them: ``warehouse.board``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.boards.reading import read_boards
from warehouse.errors import MisuseError

if TYPE_CHECKING:
    from warehouse.analysis.board.view import BoardReport


def board(*paths: str | Path) -> BoardReport:
    """What of published tables cannot be right, is to be asked about, or to be known.

    >>> import warehouse
    >>> print(warehouse.board("leaderboard.csv"))  # doctest: +SKIP

    No store is needed, and nothing is rerun: each figure is held against the others of
    its table, as it was printed.

    Args:
        paths: files of JSON, YAML, CSV or Markdown, and folders, in which tables stand or
            each file is an entry.

    Returns:
        the findings: ``wrong`` where two things in a file contradict each other,
        ``check`` where somebody has to be asked, ``note``.

    Raises:
        MisuseError: no path, or there is no such file or folder.
        InputError: a file that is named cannot be read, or holds no table.
    """
    from warehouse.analysis.board.answer import audit_boards

    if not paths:
        raise MisuseError("no file: name a published table, such as leaderboard.csv")
    read = read_boards(paths)
    return audit_boards(read.boards, n_files=read.n_files, unread=read.unread)
