"""Results of a refresh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber

#: Columns of a refresh that a table does without where they are 0.
COUNTS = ("resumed", "gone", "failed")


@dataclass(frozen=True)
class StaleRow(Row):
    """One question whose answer is out of date."""

    family: str  #: metric family.
    benchmark: str  #: name of the benchmark.
    subject: str  #: what it is about.
    #: ``new``, what has changed, ``gone`` (its runs are no longer there), or
    #: ``resumed`` (an unfinished refresh has answered it).
    why: str


@dataclass(frozen=True)
class StaleList(Result):
    """What a refresh would do."""

    rows: tuple[StaleRow, ...]
    fresh: int  #: questions whose stored answers hold.
    notes: tuple[str, ...]  #: what was left out.

    @property
    def one_line(self) -> str:
        return f"{len(self.rows)} stale, {self.fresh} fresh"

    def view(self, *, verbose: bool = False) -> View:
        """What people are shown of it."""
        table = Table.of([row.to_dict() for row in self.rows], empty="nothing is stale")
        return View((self.one_line, table), self.notes)


@dataclass(frozen=True)
class RefreshedFamilyRow(Row):
    """What a refresh did for one family."""

    family: str  #: metric family.
    recomputed: int  #: questions that were answered anew.
    resumed: int  #: questions that an unfinished refresh had answered.
    fresh: int  #: questions whose stored answers hold.
    failed: int  #: questions that raised; their stored answers stay.
    values: int  #: figures that were written.
    gone: int  #: figures that are no longer there.
    seconds: float  #: spent on computing.


@dataclass(frozen=True)
class Refreshed(Result):
    """A finished refresh."""

    rows: tuple[RefreshedFamilyRow, ...]
    refresh_id: int  #: its id.
    seconds: float  #: it took.
    failures: tuple[str, ...]  #: what raised, each with where; empty if all went well.
    notes: tuple[str, ...]  #: what was left out.

    def view(self, *, verbose: bool = False) -> View:
        """What people are shown of it."""
        rows = [
            row.to_dict() | {"seconds": WrittenNumber(f"{row.seconds:.1f}")}
            for row in self.rows
        ]
        failed = tuple(f"failed: {failure}" for failure in self.failures)
        return View(
            (self.one_line, Table.of(rows, counts=COUNTS)), (*failed, *self.notes)
        )

    def total(self, name: str) -> int:
        """Sum of a column."""
        return int(sum(getattr(row, name) for row in self.rows))

    @property
    def one_line(self) -> str:
        words = [
            f"{self.total('recomputed')} recomputed",
            f"{self.total('fresh')} fresh",
        ]
        words += [f"{self.total(n)} {n}" for n in COUNTS if self.total(n)]
        return f"refresh {self.refresh_id}: {', '.join(words)}, {self.seconds:.1f} s"

    def summary(self) -> dict[str, Any]:
        """What is kept of it."""
        return {
            "families": [row.to_dict() for row in self.rows],
            "failures": list(self.failures),
            "notes": list(self.notes),
            "seconds": self.seconds,
        }
