"""*Which model is best?* Every model on every benchmark, what is new, and two models held
against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Any

from markupsafe import Markup

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.brief import Names, units_of
from warehouse.analysis.comparison.words import better_in_words
from warehouse.analysis.report_data.report import Changes, read_changes
from warehouse.analysis.suites.across import with_first_case
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.refresh.alerts import Rules, check
from warehouse.report.found import found_in_words
from warehouse.report.heat import HeatCell, HeatColumn, HeatLine, HeatWindow, window
from warehouse.report.opening import of_mean
from warehouse.serve.gauge import CLEAR, word_of
from warehouse.serve.heat_data import Facts
from warehouse.serve.page import Page, PageRequest, Site, link
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import fixed, plural

TITLE = "Which model is best?"
#: Rows and columns of a window: with its heads and facets fewer than 5 000 nodes.
ROWS, COLUMNS = 40, 40
#: Choices of a facet that are listed; of more a name is typed.
LISTED = 150
#: Seconds that the first page of a large store waits for its scores.
PATIENCE = 0.8
#: What a rule for alerts found, which stands above all else.
ALERT = "Alert"
#: Alerts whose words are shown.
MOST_ALERTS = 3
#: What the table is narrowed to, in the order of questions.
FACETS = ("benchmark", "suite", "model", "family", "harness", "tag")
ORDERS = {"apart": "tell models apart", "date": "newest first", "name": "by name"}


def overview(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/``."""
    facts = site.heat.facts(PATIENCE)
    if facts is None:
        return Page(
            "waiting.html.j2",
            TITLE,
            {"what": "The scores are being read."},
            None,
            again=1,
        )
    facets = {name: request.values(name) for name in FACETS}
    runs = facts.chosen(facets, _since(request.value("date")))
    left_to_go = (
        site.heat.left
    )  # before what is shown: what is done meanwhile is shown next time
    columns = site.heat.columns(
        facts,
        runs,
        suites=not any(facets[name] for name in ("benchmark", "harness", "tag")),
    )
    order = request.value("order", "apart")
    if order not in ORDERS:
        raise MisuseError(f"order is one of {', '.join(ORDERS)}; found {order[:40]!r}")
    at, left = request.number("row"), request.number("column")
    seen = window(
        [_linked(column) for column in columns],
        first_row=at,
        n_rows=ROWS,
        first_column=left,
        n_columns=COLUMNS,
        order=order,  # type: ignore[arg-type]  # one of ORDERS
        sort=request.value("sort"),
        kept=site.heat.order_of(request.value("seen")),
    )
    page_seen = request.value("seen")
    if page_seen or left_to_go:  # a page that grows keeps the order it was shown in
        page_seen = site.heat.keep_order(page_seen, seen.arrangement)
    heads = seen.heads
    if not seen.is_whole:  # else the page sorts by itself
        heads = tuple(
            replace(head, sort=request.url(sort=head.name, row=None)) for head in heads
        )
    lines = tuple(_line(line, seen, columns, request) for line in seen.lines)
    seen = replace(seen, heads=heads, lines=lines)
    picked = [request.value("a"), request.value("b")]
    first_two: list[str] = []
    if not (any(picked) or at or left_to_go):
        first_two = [line.name for line in lines[:2]]
    strip = _strip(site, facts)
    is_narrowed = any(facets.values()) or bool(request.value("date"))
    is_whole = not (left_to_go or at or left)
    found = _found(columns, is_whole=is_whole)
    if is_whole and not is_narrowed:
        found = [*of_mean(site.heat.mean), *found]
    verdict, comparison = _verdict(
        site, first_two if len(first_two) > 1 else picked, seen.n_rows
    )
    return Page(
        "overview.html.j2",
        TITLE,
        {
            "seen": seen,
            "page_seen": page_seen,
            "found": found,
            "facets": [(name, _choices(facts, name), facets[name]) for name in FACETS],
            "narrowed": is_narrowed,
            "orders": ORDERS,
            "order": order,
            "alerts": [part for part in strip if part[0] == ALERT],
            "strip": [part for part in strip if part[0] != ALERT],
            "picked": picked,
            "first_two": first_two if verdict and verdict["link"] else [],
            "verdict": verdict,
            "left": left_to_go,
            "pages": _pages(request, seen),
            "n_runs": len(runs),
            "voted": [
                row["shown_as"]
                for row in site.benchmarks
                if row["n_votes"] and not row["n_runs"]
            ],
        },
        {
            "n_runs": len(runs),
            "n_leaderboards_to_go": left_to_go,
            "benchmarks": _figures(columns),
        },
        [AnyLeaderboard(), *([comparison] if comparison else [])],
        "select benchmark, model, agent, metric, estimate, standard_error, n_prompts "
        "from score_summary where is_default",
        again=1 if left_to_go or (comparison and not verdict) else 0,
    )


def _linked(column: HeatColumn) -> HeatColumn:
    """A column with the page that has more of it."""
    if column.is_mean:
        return column
    return replace(column, link=link("benchmark", column.name))


def _found(columns: Sequence[HeatColumn], *, is_whole: bool) -> list[Markup]:
    """Who leads where, once all leaderboards are there; on the first page of them."""
    if not is_whole:
        return []
    return found_in_words([column for column in columns if not column.is_suite])


def _since(text: str) -> date | None:
    try:
        if text:
            return date.fromisoformat(text)
        return None
    except ValueError:
        raise MisuseError(
            f"date is a day such as 2026-11-26; found {text[:40]!r}"
        ) from None


def _line(
    line: HeatLine,
    seen: HeatWindow,
    columns: Sequence[HeatColumn],
    request: PageRequest,
) -> HeatLine:
    """A row whose name can be picked, and whose cells hold their figures to the last
    digit."""
    by_name = {(column.name, column.is_suite): column.cells for column in columns}
    own = [by_name[head.name, head.is_suite].get(line.name) for head in seen.heads]
    cells = tuple(
        shown and replace(shown, exact=repr(cell.estimate)) if cell else shown
        for shown, cell in zip(line.cells, own, strict=True)
    )
    picked = (request.value("a"), request.value("b"))
    return replace(
        line,
        link=_pick(request, line.name),
        cells=cells,
        is_picked=line.name in picked,
    )


def _pick(request: PageRequest, name: str) -> str:
    """A name that is followed becomes the first of two, then the second; a third begins
    anew."""
    a, b = request.value("a"), request.value("b")
    if a and not b and a != name:
        return request.url(a=a, b=name) + "#verdict"
    return request.url(a=name, b=None) + "#verdict"


def _verdict(
    site: Site, two: Sequence[str], n_models: int
) -> tuple[Any, Compare | None]:
    """What a comparison says in one sentence, and how sure that is among so many
    models; None while it is computed."""
    a, b = two
    if not (a and b):
        return None, None
    names = {run["model"] for run in site.heat.facts(PATIENCE).runs}  # type: ignore[union-attr]  # they are there
    a, b = (
        name if name in names else name.partition(" (")[0] for name in (a, b)
    )  # a row of one of its settings
    missing = [name for name in (a, b) if name not in names]
    if missing or a == b:
        return {
            "words": "Two models of the table are compared; pick another.",
            "link": "",
        }, None
    question = Compare(a, b, latest=True)  # a name may mean several conditions
    try:
        answer = site.answers.soon(question)
    except MisuseError as error:
        return {"words": with_first_case(str(error)), "link": ""}, None
    if answer is None:
        return None, question
    row = answer.overall or answer.rows[0]
    sure = word_of(row, n_models * (n_models - 1) // 2)
    (unit,) = units_of([row], in_percent=answer.is_share)
    words = answer.sentences_by_name[0]
    if any(row.condition_a or row.condition_b for row in answer.rows):
        words += " Of a model with several conditions the newest is compared."
    is_one_of_several = answer.overall is None and len(answer.rows) > 1
    return {
        "words": words,
        "link": link("compare", a=a, b=b, latest=1),
        "row": row,
        "on": f" on {row.benchmark}" if is_one_of_several else "",
        "names": Names.of(answer.rows[0]),
        "points": " points" if unit.in_percent else "",
        "difference": unit.difference(row.difference),
        "ends": [
            fixed(end, unit.digits)
            for end in map(unit.in_unit, (row.ci_low, row.ci_high))
            if end is not None
        ],
        "sure": sure,
        "is_first": sure == CLEAR and better_in_words(row) == "a",
    }, question


def _choices(facts: Facts, name: str) -> list[str]:
    values = facts.values(name)
    if len(values) <= LISTED:
        return values
    return []


def _pages(request: PageRequest, seen: HeatWindow) -> list[tuple[str, str]]:
    """Where the parts of the table beyond the window are."""
    moves = [
        ("row", -ROWS, seen.first_row, seen.n_rows, "Better models"),
        ("row", ROWS, seen.first_row, seen.n_rows, "More models"),
        ("column", -COLUMNS, seen.first_column, seen.n_columns, "Benchmarks before"),
        ("column", COLUMNS, seen.first_column, seen.n_columns, "More benchmarks"),
    ]
    found = []
    for name, step, first, of, words in moves:
        start = max(first + step, 0)
        if start != first and start < of:
            found.append((words, request.url("", **{name: start or None})))
    return found


def _figures(columns: Sequence[HeatColumn]) -> list[dict[str, Any]]:
    """The whole table for programs, not only its window."""
    return [_figures_of_column(column) for column in columns]


def _figures_of_column(column: HeatColumn) -> dict[str, Any]:
    return {
        "metric": column.metric,
        "higher_is_better": column.higher_is_better,
        "is_suite": column.is_suite,
        "benchmark": column.name,
        "models": [_figure(*item) for item in column.cells.items()],
    }


def _figure(model: str, cell: HeatCell) -> dict[str, Any]:
    return {
        "model": model,
        "estimate": cell.estimate,
        "standard_error": cell.standard_error,
        "low": cell.low,
        "high": cell.high,
        "rank": cell.rank,
        "statistical_rank": cell.statistical_rank,
    }


def _strip(site: Site, facts: Facts) -> list[tuple[str, str, str]]:
    """What is new, has changed, is broken, was left out, as far as there is any: a
    word, a sentence, where more is."""
    sources = site.answers.once(
        "sources", lambda store: store.rows(query_text("analysis", "report_sources"))
    )
    changes = site.answers.once("changes", lambda store: read_changes(store, None))
    parts = [
        ("New", _new(sources), ""),
        ("Changed", _changed(changes), ""),
        (
            ALERT,
            site.answers.once("alerts", lambda store: _alerts(store, site.rules)),
            "",
        ),
        (
            "Broken",
            _broken(
                site.answers.once("complaints", partial(_complaints, sources)), facts
            ),
            "/health",
        ),
        ("Left out", _left_out(site), "/health"),
    ]
    return [part for part in parts if part[1]]


def _new(sources: Sequence[Any]) -> str:
    times: list[datetime] = [
        row["loaded_at"] for row in sources if row["loaded_at"] is not None
    ]
    if not times:
        return ""
    day = max(times).date()
    own = [
        row
        for row in sources
        if row["loaded_at"] is not None and row["loaded_at"].date() == day
    ]
    n_runs = sum(row["n_runs"] or 0 for row in own)
    return f"{_some(n_runs, 'run')} from {_some(len(own), 'source')} on {day}"


def _changed(changes: Changes | None) -> str:
    if changes is None or not changes.rows:
        return ""
    counts = (
        (_some(len(changes.moved), "score"), changes.moved),
        (f"{len(changes.new)} new", changes.new),
        (f"{len(changes.gone)} gone", changes.gone),
    )
    return (
        ", ".join(text for text, rows in counts if rows)
        + f" at the refresh of {changes.refreshed_at:%Y-%m-%d %H:%M}"
    )


def _alerts(store: Store, rules: Rules) -> str:
    """What `warehouse refresh` says of the newest refresh; published figures that are
    contradicted stand elsewhere."""
    newest = store.rows(
        "select max(id) as id from refresh where finished_at is not null"
    )[0]["id"]
    if newest is None:
        return ""
    found = check(store, replace(rules, published=False), newest, utc_now())
    words: list[str] = []
    for row in found.rows:
        if row.benchmark:
            about = f"{row.benchmark}, {row.subject}"
        else:
            about = row.subject
        words.append(f"{row.rule}: {about}: {row.message}")
    more = ""
    if len(words) > MOST_ALERTS:
        more = f"; {len(words) - MOST_ALERTS} more"
    return f"{'; '.join(words[:MOST_ALERTS])}{more}"


def _complaints(sources: Sequence[Any], store: Store) -> list[Any]:
    """Sources that were not read as a whole, as data health has them: not those that
    were mended."""
    found = [row for row in sources if row["state"] != "loaded" or row["n_rejected"]]
    if not found or store.dialect.is_lake:
        return found
    return store.rows(query_text("analysis", "health_sources"), {"most": len(found)})


def _broken(sources: Sequence[Any], facts: Facts) -> str:
    refused = sum(row["state"] != "loaded" for row in sources)
    rejected = sum(row["n_rejected"] or 0 for row in sources)
    cut = sum(run["status"] != "complete" for run in facts.runs)
    words = [
        (_some(refused, "source") + " not loaded", refused),
        (_some(rejected, "row") + " refused", rejected),
        (_some(cut, "run") + " truncated or failed", cut),
    ]
    return ", ".join(text for text, n in words if n)


def _left_out(site: Site) -> str:
    reasons = site.heat.left_out()
    if not reasons:
        return ""
    name, reason = next(iter(reasons.items()))
    more = ""
    if len(reasons) > 1:
        more = f"; {len(reasons) - 1} more"
    return f"{name}: {reason}{more}"


def _some(n: int, what: str) -> str:
    return f"{n} {plural(what, n)}"
