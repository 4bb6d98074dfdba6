"""*What do we know?* Every model on every benchmark."""

from __future__ import annotations

from warehouse.serve.page import Asked, Page, Site
from warehouse.store.sql.query_files import query_text


def overview(site: Site, asked: Asked) -> Page:
    """The page of the address ``/``."""
    rows = site.answers.once("benchmarks", lambda store: store.rows(query_text("store", "benchmarks")))
    return Page("overview.html.j2", "What do we know?", {"benchmarks": [row for row in rows if row["n_runs"]]}, rows)
