"""What ``ingest`` says at the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING

from warehouse.tables.words import counted

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
#: Files that no importer knows of which is looked what a table lacks.
LOOKED_AT = 20
#: Verdicts that need no second look.
RECONCILED = ("exact", "rounded", "null_as_worst", "not_recomputable")
#: The others of these in words.
VERDICTS = {
    "rounded": "but for rounding",
    "not_recomputable": "have no samples to check",
}
#: A verdict that is the same as a policy, and the policy.
_AS_WORST, _ALL_WRONG = "null_as_worst", "all-wrong"
#: Columns of what is said.
WIDTH = 80


def print_summary(report: IngestReport, state: State, *, dry_run: bool) -> None:
    """What was read on standard output; what was not, what to check and other notes on
    standard error."""
    echo(str(report))
    if dry_run:
        echo("dry run: nothing was stored")
    if report.lake is not None:
        echo(f"lake: {report.lake}")
    if report.reconciliation:
        _print_reconciliation(report.reconciliation, state)
    _print_not_read(report, state)
    _print_checks(report, state)
    loaded = any(source.state == "loaded" for source in report.sources)
    if loaded and not dry_run and report.lake is None:
        say_next(state, Output(), report)


def _print_not_read(report: IngestReport, state: State) -> None:
    """The files that were not read, also with -q."""
    unread = [*_of_files(report.unread, each=state.verbose)]
    if not report.refused and not unread:
        return
    missing = report.n_files - report.n_read
    _say(f"NOT READ, {missing:,} of {counted(report.n_files, 'file')}:")
    print_errors(report.refused, show_all=state.verbose)
    _print_some([f"  {line}" for line in unread], state, "files")


def _print_checks(report: IngestReport, state: State) -> None:
    """Notes by which figures mean something else, also with -q; then the others. Each
    stands once."""
    checks = list(dict.fromkeys((*report.changed, *report.assumed)))
    if checks:
        _say("CHECK:")
        _print_some([f"  {note}" for note in checks], state, "notes")
    if not state.quiet:
        _print_some([f"note: {note}" for note in report.other_notes], state, "notes")


def _print_some(lines: Sequence[str], state: State, noun: str) -> None:
    shown = lines if state.verbose else lines[:LISTED]
    for line in shown:
        _say(line)
    if len(lines) > len(shown):
        _say(f"  ... and {len(lines) - len(shown)} more {noun}: -v shows all")


def _say(line: str) -> None:
    echo(fitted(visible(line), sys.stderr), err=True)


def _of_files(unread: Iterable[Unread], *, each: bool) -> list[str]:
    """Why files were not read; those that nobody knows or a mapping does not name
    together, unless each is wanted."""
    from warehouse.ingest.discover import NOT_NAMED

    files: dict[str, list[str]] = {}
    for number, item in enumerate(unread):
        reason = _reason(item, is_looked_at=number < LOOKED_AT)
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


def _reason(item: Unread, is_looked_at: bool) -> str:
    from warehouse.importers.tabular.head_columns import without_roles
    from warehouse.ingest.nothing_found import ARCHIVES, UNLESS

    if item.reason:
        return item.reason
    if item.path.suffix.lower() in ARCHIVES:
        return f"an archive or packed file; unpack it first{UNLESS}"
    lacks = ""
    if is_looked_at:
        lacks = without_roles(item.path).removeprefix(f"{item.path.name}: ")
    return lacks or "no importer knows this file"


def _print_reconciliation(rows: tuple[Reconciled, ...], state: State) -> None:
    """How many published figures come out, and under which policy; which do not."""
    if {row.verdict for row in rows} == {"not_recomputable"}:
        echo(
            f"published figures: {len(rows)}, of which nothing says whether they are "
            "right:\n  they have no samples, or are no means of them"
        )
        return
    text = f"published figures: {', '.join(_counted(rows))}"
    echo("\n".join(wrap(text, WIDTH, subsequent_indent="  ")))
    if any(row.policy for row in rows):
        echo("  (which under which policy: warehouse query published_policies)")
    differing = []
    for row in rows:
        if row.verdict not in RECONCILED and not row.policy:
            differing.append(row)
    if differing:
        _print_differing(differing, state)


def _counted(rows: Sequence[Reconciled]) -> list[str]:
    """How many figures have which verdict; those that a policy explains by its name."""
    verdicts = Counter(row.verdict for row in rows if not row.policy)
    policies = Counter(row.policy for row in rows if row.policy)
    if n_as_worst := verdicts.pop(_AS_WORST, 0):
        policies[_ALL_WRONG] += n_as_worst
    said = [f"{verdicts.pop('exact', 0)} of {len(rows)} come out exactly"]
    for policy, number in policies.most_common():
        said.append(f"{number} under policy {' or '.join(policy.split())}")
    for verdict, words in VERDICTS.items():
        if number := verdicts.pop(verdict, 0):
            said.append(f"{number} {words}")
    said += [f"{number} {verdict}" for verdict, number in verdicts.most_common()]
    return said


def _print_differing(differing: Sequence[Reconciled], state: State) -> None:
    """The figures that nothing explains."""
    shown = differing if state.verbose else differing[:LISTED]
    echo()
    names = [item.name for item in fields(shown[0]) if item.name != "policy"]
    cells = []
    for row in shown:
        cells.append([getattr(row, name) for name in names])
    print_table(names, cells)
    if len(differing) > len(shown):
        echo("more: warehouse query published_against_recomputed")
