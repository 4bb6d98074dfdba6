"""What is wrong with the data, with the command that mends it."""

from __future__ import annotations

from warehouse.analysis.audit.health import read_health
from warehouse.analysis.results import plain
from warehouse.questions.items import Audit
from warehouse.serve.page import Page, PageRequest, Site

#: Rows of each part where all are shown, and of one alone.
FEW, ALL = 8, 50


def health(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/health``."""
    part, audit = request.value("part") or None, request.value("audit") or None
    if audit:
        part = "keys"
    parts = site.answers.once(f"health {part!r} {audit!r}", lambda store: read_health(store, part=part, audit=audit))
    shown = {"parts": parts, "few": ALL if part else FEW, "part": part}
    answer = [plain(one) | {"rows": list(one.rows)} for one in parts]
    questions = [Audit(audit)] if audit else []
    sql = "" if audit else "select * from ingest_log where state <> 'loaded' or n_rejected > 0"
    return Page("health.html.j2", "What is wrong with the data?", shown, answer, questions, sql)
