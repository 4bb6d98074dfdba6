"""One benchmark: who is how good, how sure, and what could be done about a tie."""

from __future__ import annotations

from warehouse.questions.leaderboard import AnyLeaderboard
from warehouse.serve.names import known
from warehouse.serve.page import Asked, Page, Site
from warehouse.store.sql.query_files import query_text


def benchmark(site: Site, asked: Asked) -> Page:
    """The page of the address ``/benchmark/NAME``."""
    rows = site.answers.once("benchmarks", lambda store: store.rows(query_text("store", "benchmarks")))
    name = known("benchmark", asked.path["name"], (row["shown_as"] for row in rows))
    question = AnyLeaderboard(name, metric=asked.one("metric") or None)
    board = site.answers.ask(question)
    return Page("benchmark.html.j2", name, {"board": board}, board, [question])
