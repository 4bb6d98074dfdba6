"""Published tables that a job watches: what newly cannot be right in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.analysis.board.view import BoardReport, BoardRow
from warehouse.boards.asking import board_beside
from warehouse.refresh.alerts import Alert
from warehouse.store.connection import Store
from warehouse.store.schema.found_before import keep, read

#: Of what is kept from run to run; another form has another name.
_FORM = "boards of a schedule, 1"


@dataclass(frozen=True)
class WatchedBoard:
    """A published table, or a folder of such, as this run found it."""

    path: str
    report: BoardReport
    new: tuple[
        BoardRow, ...
    ]  #: what cannot be right, and was not found by the last run.
    subject: str  #: under which its findings are kept.

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """An alert for each of these."""
        found = []
        for row in self.new:
            message = f"{self.path}: {row.who}: {row.found}"
            found.append(Alert("board", "", row.who, message))
        return tuple(found)

    @property
    def counts(self) -> dict[str, int]:
        """Its figures, those that cannot be right, and how many of these are new."""
        n_wrong = self.report.n_wrong
        return {
            "figures": self.report.n_figures,
            "wrong": n_wrong,
            "new": len(self.new),
        }

    def kept(self) -> None:
        """Keep what was found for the next run, in the user's cache: once it was told."""
        keep(self.subject, _FORM, [_line(row) for row in self.report.wrong])


def watched_board(store: Store, path: str) -> WatchedBoard:
    """A table that is watched, beside the store.

    Raises:
        MisuseError: there is no such file or folder.
        InputError: it cannot be read, or holds no table.
    """
    report = board_beside(store, path)
    subject = f"board {Path(path).absolute()} of {store.name}"
    before = _before(subject)
    new = [row for row in report.wrong if _line(row) not in before]
    return WatchedBoard(path, report, tuple(new), subject)


def _before(subject: str) -> Sequence[str]:
    """The lines that the last run kept; nothing where there was none."""
    kept = read(subject, _FORM)
    if isinstance(kept, list):
        return kept
    return ()


def _line(row: BoardRow) -> str:
    """What tells a finding from others: where it is, by which rule, and the figure. How
    many others keep the rule is no part of it."""
    return "\t".join((row.board, row.rule, *row.entries, row.column, row.printed))
