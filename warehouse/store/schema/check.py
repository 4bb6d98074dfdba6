"""Proving a store: its schema is the one this program describes, and its rows keep their word.

Fact tables carry no keys, so what they promise is proved here, by sets: every file of
``queries/checks`` is one SELECT whose rows are groups of offending rows with their number ``n``.
A file called ``note_*.sql`` reports what is harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any, Literal

import sqlalchemy as sa

from warehouse.errors import StoreError, cause_of
from warehouse.store.connection import Store
from warehouse.store.schema import migrate
from warehouse.store.sql import query_files

#: Groups that a finding names one by one; the rest is counted.
GROUPS_SHOWN = 20

Severity = Literal["error", "note"]


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        check: name of its file in ``queries/checks``.
        meaning: what the rows break, in a sentence.
        severity: ``note`` is harmless.
        n: offending rows.
        n_groups: groups that they form.
        groups: the first :data:`GROUPS_SHOWN` of them; keys are the columns of the file.
    """

    check: str
    meaning: str
    severity: Severity
    n: int
    n_groups: int
    groups: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        first = ", ".join(f"{name} {value}" for name, value in self.groups[0].items())
        more = f"; and {self.n_groups - 1} more" if self.n_groups > 1 else ""
        return f"{self.check}: {self.meaning} {self.n} found: {first}{more}"


@dataclass(frozen=True)
class CheckReport:
    """Schema drift and integrity of a store.

    Attributes:
        drift: differences from the schema that this program describes, in words.
        integrity: what the checks found; empty if every row keeps its word.
        skipped: checks that the drifted schema cannot answer.
    """

    drift: tuple[str, ...]
    integrity: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """No drift, and nothing worse than notes."""
        return not self.drift and all(item.severity == "note" for item in self.integrity)

    def __str__(self) -> str:
        faults = [item for item in self.integrity if item.severity == "error"]
        notes = len(self.integrity) - len(faults)
        parts = [
            f"schema drift: {'; '.join(self.drift) or 'none'}",
            f"integrity: {', '.join(f'{item.check} {item.n}' for item in faults) or 'clean'}",
            *([f"notes: {notes}"] if notes else []),
            *([f"not checked: {', '.join(self.skipped)}"] if self.skipped else []),
        ]
        return " | ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON takes it."""
        return {"ok": self.ok, **asdict(self)}


def check(store: Store) -> CheckReport:
    """Compare the schema with its description, and run every check.

    Args:
        store: an open store, of any revision; nothing is written.

    Raises:
        StoreError: a check failed although the schema is as it should be.
    """
    drift = tuple(migrate.drift(store))
    findings, skipped = [], []
    for query in checks(store.dialect.name):
        try:
            with store.begin() as connection:
                finding = run_check(connection, query)
        except sa.exc.DBAPIError as error:
            if not drift:
                raise StoreError(f"the check {query.name} failed: {cause_of(error)}") from error
            skipped.append(query.name)
        else:
            findings += [finding] if finding else []
    return CheckReport(drift, tuple(findings), tuple(skipped))


def checks(engine: str = "") -> list[query_files.NamedQuery]:
    """The checks by name; ``engine`` chooses the override files."""
    return query_files.read_folder(files("warehouse.queries") / "checks", "library", engine)


def run_check(connection: sa.Connection, query: query_files.NamedQuery) -> Finding | None:
    """Run one check in the transaction of the caller; ``None`` if nothing offends it."""
    rows = [dict(row) for row in connection.execute(sa.text(query.text)).mappings()]
    if not rows:
        return None
    return Finding(
        check=query.name,
        meaning=query.description,
        severity="note" if query.name.startswith("note_") else "error",
        n=sum(int(row["n"]) for row in rows),
        n_groups=len(rows),
        groups=tuple(rows[:GROUPS_SHOWN]),
    )
