"""What `ingest` and the report say of published figures, by B2, B5, B9 and B10."""

from __future__ import annotations

from collections.abc import Collection

from warehouse.analysis.board.answer import audit_published
from warehouse.analysis.board.published import published_boards
from warehouse.stats.board.finding import NOTE
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Lines that are said.
_MOST_SAID = 3


def notes_on_published(store: Store, run_ids: Collection[int]) -> tuple[str, ...]:
    """What is wrong with, or to be asked about, the figures that came with new runs: the
    first lines, and the command that shows all.

    Args:
        run_ids: of the new runs.
    """
    if not run_ids:
        return ()
    first = min(run_ids)
    (what,) = store.rows(
        query_text("analysis/board", "has_published"), {"first": first}
    )
    if not what["has_figures"]:
        return ()
    return lines_of(store, first)


def lines_of(
    store: Store, first: int = 0, benchmarks: Collection[str] | None = None
) -> tuple[str, ...]:
    """The first lines of what is found of published figures of runs from one on.

    Args:
        first: id of the first run.
        benchmarks: of which figures are looked at; None: of all.
    """
    report = audit_published(published_boards(store, first, benchmarks))
    rows = [row for row in report.rows if row.grade != NOTE]
    lines = [f"published figures: {row.who}: {row.found}" for row in rows[:_MOST_SAID]]
    if lines:
        n_more = len(rows) - len(lines)
        more = f"{n_more:,} more; all: " if n_more else "all: "
        lines[-1] = f"{lines[-1]} ({more}warehouse board)"
    return tuple(lines)
