"""What ``ingest`` says at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from ..state import State
from .next_step import say_next
from .output import Output
from .refused import error_lines as error_lines
from .refused import print_errors as print_errors
from .table import echo, fitted, print_table, visible

if TYPE_CHECKING:
    from warehouse.importers.common.file_walk import Unread
    from warehouse.ingest.report import IngestReport, Reconciled

#: Notes, differences and unclaimed files that are listed unless -v asks for all.
LISTED = 10
#: Verdicts that need no second look.
RECONCILED = ("exact", "rounded", "not_recomputable")


def print_summary(report: IngestReport, state: State, *, dry_run: bool) -> None:
    """The totals on standard output, notes on standard error."""
    _print_notes(report, state)
    echo(str(report))
    if dry_run:
        echo("dry run: nothing was stored")
    if report.lake is not None:
        echo(f"lake      {report.lake}")
    if report.reconciliation:
        _print_reconciliation(report.reconciliation, state)
    loaded = any(source.state == "loaded" for source in report.sources)
    if loaded and not dry_run and report.lake is None:
        say_next(state, Output(), report)


def _print_notes(report: IngestReport, state: State) -> None:
    if state.quiet:
        for note in report.changed[
            :LISTED
        ]:  # figures that stood before mean something else
            echo(fitted(visible(f"note: {note}"), sys.stderr), err=True)
        return
    notes = [*report.all_notes, *_of_files(report.unread, each=state.verbose)]
    if state.verbose:
        shown = notes
    else:
        shown = notes[:LISTED]
    state.notes(shown)
    if len(notes) > len(shown):
        state.say(f"... and {len(notes) - len(shown)} more notes: -v shows all")


def _of_files(unread: Iterable[Unread], *, each: bool) -> list[str]:
    """Why files were not read; those that nobody knows or a mapping does not name
    together, unless each is wanted."""
    from warehouse.ingest.discover import NOT_NAMED

    files: dict[str, list[str]] = {}
    for item in unread:
        reason = _reason(item)
        together = not each and (not item.reason or item.reason == NOT_NAMED)
        files.setdefault(reason if together else f"{item.shown}: {reason}", []).append(
            item.shown
        )
    return [_of_reason(reason, *shown) for reason, shown in files.items()]


def _of_reason(reason: str, first: str, *others: str) -> str:
    if others:
        return f"{len(others) + 1} files, the first {first}: {reason}"
    if reason.startswith(f"{first}: "):
        return reason
    return f"{first}: {reason}"


def _reason(item: Unread) -> str:
    from warehouse.ingest.nothing_found import ARCHIVES, UNLESS

    if not item.reason and item.path.suffix.lower() in ARCHIVES:
        return f"an archive or packed file; unpack it first{UNLESS}"
    return item.reason or "no importer knows this file"


def _print_reconciliation(rows: tuple[Reconciled, ...], state: State) -> None:
    verdicts = Counter(row.verdict for row in rows)
    counted = ", ".join(
        f"{count} {verdict}" for verdict, count in verdicts.most_common()
    )
    echo(f"published {len(rows)} figures: {counted}")
    differing = [row for row in rows if row.verdict not in RECONCILED]
    if not differing:
        return
    if state.verbose:
        shown = differing
    else:
        shown = differing[:LISTED]
    echo()
    names = [item.name for item in fields(shown[0])]
    cells = []
    for row in shown:
        cells.append([getattr(row, name) for name in names])
    print_table(names, cells)
    if len(differing) > len(shown):
        echo("more: warehouse query published_against_recomputed")
