"""Faults of the data, each with the command that mends it."""

from __future__ import annotations

from functools import partial

from warehouse.analysis.audit.health import HealthPart, read_health
from warehouse.analysis.audit.question import Audit
from warehouse.analysis.results import plain
from warehouse.errors import ReadOnlyError
from warehouse.serve.page import Page, PageRequest, Site
from warehouse.store.connection import Store

#: Rows of each part where all are shown, and of one alone.
FEW, ALL = 8, 50


def health(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/health``."""
    part, audit = request.value("part") or None, request.value("audit") or None
    if audit:
        part = "keys"
    parts = site.answers.once(
        f"health {part!r} {audit!r}", partial(_read, part=part, audit=audit)
    )
    shown = {"parts": parts, "few": ALL if part else FEW, "part": part}
    answer = [plain(problem) | {"rows": list(problem.rows)} for problem in parts]
    questions = []
    if audit:
        questions = [Audit(audit)]
    sql = "select * from ingest_log where state <> 'loaded' or n_rejected > 0"
    if audit:
        sql = ""
    return Page(
        "health.html.j2", "What is wrong with the data?", shown, answer, questions, sql
    )


def _read(store: Store, part: str | None, audit: str | None) -> list[HealthPart]:
    if store.dialect.is_lake:
        raise ReadOnlyError(
            "what is wrong with the data is known to the store that the lake was made "
            "from: serve that"
        )
    return read_health(store, part=part, audit=audit)
