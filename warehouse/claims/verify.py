"""Recompute a claim, and say what differs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.claims.bundle import Claim
from warehouse.claims.evidence import runs_behind, sources_behind
from warehouse.claims.questions import QUERY, Answer, ask, checked
from warehouse.errors import InputError, MisuseError, StatisticsError
from warehouse.store.connection import Store

#: Figures that agree this far are the same: machines differ in the last digits.
RELATIVE, ABSOLUTE = 1e-6, 1e-9
#: Columns that name a row.
_NAMES = ("benchmark", "split", "model", "condition", "model_a", "condition_a", "model_b", "condition_b", "metric")


@dataclass(frozen=True)
class Difference:
    """One thing in which a store and a claim differ.

    Attributes:
        what: ``figure``, ``row``, ``run``, ``source`` or ``answer``.
        where: the row and column, the run, or the file.
        claimed: what the claim says.
        found: what was found.
    """

    what: str
    where: str
    claimed: str
    found: str


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds.

    Attributes:
        holds: the figures come out again, from runs with the same samples.
        rows: what differs.
        notes: what does not decide it: other files, another version of the program.
        n_figures: numbers that were compared.
    """

    holds: bool
    rows: tuple[Difference, ...]
    notes: tuple[str, ...]
    n_figures: int

    def __str__(self) -> str:
        if self.holds:
            return f"the claim holds: {self.n_figures} figures come out again"
        return f"the claim does not hold: {len(self.rows)} differences"


def check_parameters(claim: Claim, path: str) -> None:
    """Refuse a bundle that asks for what no claim can ask for.

    Raises:
        InputError: an unknown question or parameter.
    """
    try:
        checked(claim.kind, claim.parameters)
    except MisuseError as error:
        raise InputError(str(error), path=path, expected="a claim that warehouse claim makes") from None


def verify_claim(store: Store, claim: Claim) -> Verdict:
    """Ask a store what the claim says it answers.

    Args:
        store: for a claim of a query one that can neither write nor reach files.
        claim: as read.
    """
    try:
        answer = ask(store, claim.kind, claim.parameters)
    except (MisuseError, StatisticsError) as error:
        unanswered = Difference("answer", claim.command, claim.answer, f"{error}")
        return Verdict(False, (unanswered,), (), 0)
    differences = [*_figures(claim.rows, answer.rows)]
    runs, notes = ([], []) if claim.kind == QUERY else _evidence(store, claim, answer)
    n_figures = sum(isinstance(value, int | float) for row in claim.rows for value in row.values())
    return Verdict(not differences and not runs, (*runs, *differences), tuple(notes), n_figures)


def _evidence(store: Store, claim: Claim, answer: Answer) -> tuple[list[Difference], list[str]]:
    """Runs with other samples, missing and further ones; and files that are others."""
    mine = runs_behind(store, answer.run_ids) if answer.run_ids else []
    have: dict[str, list[str]] = {}
    for row in mine:
        have.setdefault(row["condition_key"], []).append(row["content_digest"])
    wanted: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for row in (*mine, *claim.runs):
        names[str(row.get("condition_key"))] = f"{row.get('model')} on {row.get('benchmark')}"
    for row in claim.runs:
        wanted.setdefault(str(row.get("condition_key")), []).append(str(row.get("content_digest")))
    differ = [
        Difference("run", names[key], _hashes(wanted.get(key, [])), _hashes(have.get(key, [])))
        for key in sorted({*wanted, *have})
        if sorted(wanted.get(key, [])) != sorted(have.get(key, []))
    ]
    files = {row["sha256"] for row in (sources_behind(store, answer.run_ids) if answer.run_ids else [])}
    missing = [str(row.get("path")) for row in claim.sources if str(row.get("sha256")) not in files]
    notes = (
        [f"{len(missing)} of {len(claim.sources)} source files are others: {', '.join(missing[:5])}"] if missing else []
    )
    return differ, notes


def _hashes(digests: Sequence[str]) -> str:
    return ", ".join(one[:12] for one in sorted(digests)) or "none"


def _figures(claimed: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]]) -> Iterator[Difference]:
    """Rows by their names, in order; and in each what differs."""
    mine = _by_name(answered)
    wanted = _by_name(claimed)
    for name, row in wanted.items():
        if name not in mine:
            yield Difference("row", name, "there", "missing")
            continue
        for column, value in row.items():
            other = mine[name].get(column)
            if not _same(value, other):
                yield Difference("figure", f"{name}: {column}", _short(value), _short(other))
    for name in mine.keys() - wanted.keys():
        yield Difference("row", name, "missing", "there")


def _by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    named: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(rows):
        words = " ".join(str(row[name]) for name in _NAMES if row.get(name))
        name = words if words and words not in named else f"{words} (row {number + 1})".strip()
        named[name] = row
    return named


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _short(value: Any) -> str:
    return f"{value}"[:100]


def store_of_dumps(folder: Path, paths: Sequence[str], claim: Claim) -> str:
    """URL of a store in ``folder`` that is made from dumps, with the clusterings by fields that the
    claim used.

    Raises:
        MisuseError: a path that does not exist, or dumps of which nothing could be read.
    """
    from warehouse.ingest.pipeline import ingest
    from warehouse.store.curate.field_clusters import cluster_by
    from warehouse.store.open import open_store

    url = str(folder / "claim.db")
    with open_store(url, create=True) as store:
        report = ingest(store, paths)
        if not any(one.state == "loaded" for one in report.sources):
            why = report.refused[0].error if report.refused else "nothing there is of a known format"
            raise MisuseError(f"no dump could be read: {why}")
        for row in claim.clusterings:
            if row.get("kind") != "source":
                continue
            try:
                cluster_by(store, str(row.get("benchmark")), str(row.get("name")).split(","), default=True)
            except MisuseError:
                continue  # then the errors differ, which is said
    return url
