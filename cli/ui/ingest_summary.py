"""What ``ingest`` says at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..state import State
from .table import print_table

if TYPE_CHECKING:
    from warehouse.importers.common.file_walk import Unread
    from warehouse.ingest.reconcile import Reconciled
    from warehouse.ingest.report import IngestReport

#: Suffixes of files that hold others, or are packed; tables in the first two are read with a mapping as they are.
ARCHIVES = frozenset(".zip .gz .tar .tgz .bz2 .xz .zst .7z .rar".split())
_UNLESS = " (tables in .zip and .gz are read as they are with --map)"
#: Notes, differences and unclaimed files that are listed unless -v asks for all.
LISTED = 10
#: Verdicts that need no second look.
RECONCILED = ("exact", "rounded", "not_recomputable")


def print_summary(report: IngestReport, state: State, *, dry_run: bool) -> None:
    """The totals on standard output, notes on standard error."""
    _print_notes(report, state)
    click.echo(str(report))
    if dry_run:
        click.echo("dry run: nothing was stored")
    if report.lake is not None:
        click.echo(f"lake      {report.lake}")
    if report.reconciliation:
        _print_reconciliation(report.reconciliation, state)
    loaded = any(one.state == "loaded" for one in report.sources)
    if loaded and not dry_run and report.lake is None and sys.stderr.isatty():
        state.say("next: warehouse benchmarks, then warehouse leaderboard BENCHMARK")


def _print_notes(report: IngestReport, state: State) -> None:
    notes = _of_sources((item.source, note) for item in report.sources for note in item.notes)
    notes += report.notes
    notes += [_unclaimed(item) for item in report.unread]
    shown = notes if state.verbose else notes[:LISTED]
    state.notes(shown)
    if len(notes) > len(shown):
        state.say(f"... and {len(notes) - len(shown)} more notes: -v shows all")


def _of_sources(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each note once, with its source, or the first and the number of those of which the same is said."""
    sources: dict[str, list[str]] = {}
    for source, note in notes:
        sources.setdefault(note, []).append(source)
    return [
        f"{first}: {note}" if not others else f"{len(others) + 1} sources, the first {first}: {note}"
        for note, (first, *others) in sources.items()
    ]


def _unclaimed(item: Unread) -> str:
    if not item.reason and item.path.suffix.lower() in ARCHIVES:
        return f"{item.shown}: an archive or packed file; unpack it first{_UNLESS}"
    return str(item)


def archives_advice(unclaimed: Sequence[str]) -> str:
    """What to do about the archives among files that no importer knows; empty without any."""
    count = sum(Path(path).suffix.lower() in ARCHIVES for path in unclaimed)
    if not count:
        return ""
    return f"; {count} of them {'is' if count == 1 else 'are'} packed: unpack first{_UNLESS}"


def _print_reconciliation(rows: tuple[Reconciled, ...], state: State) -> None:
    verdicts = Counter(row.verdict for row in rows)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    click.echo(f"published {len(rows)} figures: {counted}")
    differing = [row for row in rows if row.verdict not in RECONCILED]
    if not differing:
        return
    shown = differing if state.verbose else differing[:LISTED]
    click.echo()
    names = [item.name for item in fields(shown[0])]
    print_table(names, [[getattr(row, name) for name in names] for row in shown])
    if len(differing) > len(shown):
        click.echo("more: warehouse query published_against_recomputed")
