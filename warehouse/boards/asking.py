"""Files and folders to what is wrong with the tables in them: ``warehouse.board``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.boards.reading import read_boards
from warehouse.errors import MisuseError, did_you_mean

if TYPE_CHECKING:
    from warehouse.analysis.board.named import NamedBoard
    from warehouse.analysis.board.view import BoardReport
    from warehouse.store.connection import Store


def board(
    *paths: str | Path,
    items: Mapping[str, int] | None = None,
    before: str | Path | None = None,
) -> BoardReport:
    """What of published tables cannot be right, is to be asked about, or to be known.

    >>> import warehouse
    >>> print(warehouse.board("leaderboard.csv"))  # doctest: +SKIP

    No store is needed, and nothing is rerun.

    Args:
        paths: files of JSON, YAML, CSV, Markdown, HTML or LaTeX, and folders, in which tables stand or
            each file is an entry.
        items: how many items a column has, by its name: its figures are shares of so many.
        before: an earlier version of the same file or folder; `changes` then has the cells
            that differ.

    Returns:
        the findings: ``wrong`` where two things in a file contradict each other,
        ``check`` where somebody has to be asked, ``note``.

    Raises:
        MisuseError: no path, there is no such file or folder, or no table has a column
            that ``items`` names.
        InputError: a file that is named cannot be read, or holds no table.
    """
    return board_beside(None, *paths, items=items, before=before)


def board_beside(
    store: Store | None,
    *paths: str | Path,
    items: Mapping[str, int] | None = None,
    before: str | Path | None = None,
) -> BoardReport:
    """:func:`board` with a store: its samples, the items of its benchmarks and its costs
    are held against the figures of entries and columns that it knows.

    Args:
        store: open for reading; None: none.
        paths: as :func:`board` takes them; none: the figures that the sources of the
            store publish.
        items: likewise.
        before: likewise.

    Raises:
        MisuseError: as :func:`board`.
        InputError: likewise.
    """
    from warehouse.analysis.board.answer import audit_boards
    from warehouse.analysis.board.changes import changes_between

    if not paths and store is not None:
        return _published(store, items, before)
    if not paths:
        raise MisuseError("no file: name a published table, such as leaderboard.csv")
    read = read_boards(paths)
    boards = _with_items(read.boards, items or {})
    report = audit_boards(boards, n_files=read.n_files, unread=read.unread, store=store)
    if before is None:
        return report
    earlier = read_boards([before]).boards
    changes = changes_between(earlier, audit_boards(earlier), boards)
    return replace(report, changes=changes)


def _published(
    store: Store, items: Mapping[str, int] | None, before: str | Path | None
) -> BoardReport:
    """What is found of the figures that the sources of a store publish."""
    from warehouse.analysis.board.answer import audit_published
    from warehouse.analysis.board.published import published_boards

    if items or before is not None:
        raise MisuseError("items and an earlier version are of files: name one")
    boards = published_boards(store)
    if not boards:
        raise MisuseError(
            "no file, and the store holds no published figures: name a table, such as "
            "leaderboard.csv"
        )
    return audit_published(boards)


def _with_items(
    boards: Sequence[NamedBoard], items: Mapping[str, int]
) -> list[NamedBoard]:
    """Boards whose columns are known to have so many items."""
    names: set[str] = set()
    for named in boards:
        names.update(named.board.columns)
    for column, n in items.items():
        if column not in names:
            otherwise = f"there are: {', '.join(sorted(names)[:10])}"
            advice = did_you_mean(column, names, otherwise)
            raise MisuseError(f"no table has a column {column!r}; {advice}")
        if n < 1:
            raise MisuseError(f"a column has at least 1 item, found {column}={n}")
    return [
        replace(named, board=replace(named.board, sizes={**named.board.sizes, **items}))
        for named in boards
    ]
