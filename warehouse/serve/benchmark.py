"""One benchmark or suite: who is how good, how sure, and what could be done about a
tie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from warehouse.analysis.items.section import prompts_say, prompts_table
from warehouse.analysis.items.single_prompts import hard_prompts
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.brief import order_of, standings, unit_of
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.words import label_of
from warehouse.analysis.pairs.answer import pairs_of
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.power.question import PowerFromRuns
from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.prefer.section import preferences_table
from warehouse.analysis.report_data.answer import answer
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.run_facts import RunFacts, run_facts
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.brief import suite_unit
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.in_tables import interval_drawn
from warehouse.charts.picture import Picture
from warehouse.errors import MisuseError
from warehouse.report.board import flags
from warehouse.report.figures import board_pictures
from warehouse.serve.differences import shortened
from warehouse.serve.gauge import Gauge, HeldPairs
from warehouse.serve.page import Page, PageRequest, Site, checked_name
from warehouse.store.connection import Store
from warehouse.tables.page import is_finite, written
from warehouse.tables.units import Unit

#: Rows of the leaderboard on one page: with all that a row has, fewer than 5 000 nodes.
ROWS = 80
#: Characters of the names of a page's rows, which stand there eight times: with
#: pictures and style below 300 kB.
NAMES = 12_000
#: Conditions of which all pairs are kept; of more, those of the first.
MOST_PAIRED = 150


@dataclass(frozen=True)
class Line:
    """A row of the leaderboard as it is shown."""

    row: Any
    place: str  #: by the tests of all pairs, else its rank by the figures.
    label: str
    reference: str
    drawn: Markup
    flags: str
    gauge: Gauge | None
    is_reference: bool


def benchmark(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/benchmark/NAME``."""
    name, metric = (
        request.path["name"] or request.value("name"),
        request.value("metric") or None,
    )
    is_all = request.value("runs") == "all"
    rows = site.benchmarks
    checked_name("benchmark", name, (row["shown_as"] for row in rows))
    if any(
        row["shown_as"] == name and row["n_votes"] and not row["n_runs"] for row in rows
    ):
        return _of_votes(site, Prefer(name, by="scorer"))
    question = AnyLeaderboard(name, metric=metric, subset_ok=is_all)
    board = site.answers.soon(question)
    if board is None:
        return Page(
            "waiting.html.j2",
            name,
            {"what": "The leaderboard is being computed."},
            None,
            [question],
            again=1,
        )
    if not isinstance(board, Leaderboard):
        return Page(
            "benchmark.html.j2",
            name,
            _of_rows(board, request, {}, None)
            | {"suite": [leaf.name for leaf in board.leaves]},
            board,
            [question],
        )
    pair_question = AllPairs(name, metric=metric, subset_ok=is_all)
    pairs, why_no_pairs = _pairs(site, pair_question, len(board.rows))
    reference = _reference(board, pairs, request.value("against"))
    held = pairs.gauges(reference.run_ids) if pairs and reference else {}
    plan_question, plan = _plan(site, request, name, metric)
    hard = _hard(site, OneLeaderboard(name, metric=metric, subset_ok=is_all))
    facts = site.answers.once_soon("dates and costs", _facts)
    waits = (
        (pairs is None and not why_no_pairs)
        or None in (hard, facts)
        or (plan_question is not None and plan is None)
    )
    part = BenchmarkPart(
        name, board, pairs=pairs.pairs if pairs else None, facts=facts or {}
    )
    named = f"pictures {question!r} {pairs is None} {facts is None}"
    drawn = site.answers.once(named, lambda _store: _pictures(part))
    questions: list[Any] = [question]
    if pairs:
        questions.append(pair_question)
    if plan_question:
        questions.append(plan_question)
    return Page(
        "benchmark.html.j2",
        name,
        _of_rows(board, request, held, reference)
        | {
            "suite": (),
            "metrics": [board.metric, *(other.metric for other in board.others)],
            "is_all": is_all,
            "pictures_of": drawn,
            "why_no_pairs": why_no_pairs,
            "waits_for_pairs": pairs is None and not why_no_pairs,
            "hard": hard or "",
            "plan": plan,
            "planned": request.values("plan"),
        },
        board,
        questions,
        "select * from score_summary where benchmark = "
        f"'{name.replace(chr(39), 2 * chr(39))}' order by estimate desc",
        again=1 if waits else 0,
    )


def _pictures(part: BenchmarkPart) -> list[Picture]:
    """Pictures, each with as many rows of its table as the page has of the leaderboard."""
    most, drawn = _n_rows(part.board), board_pictures(part, 0.95)
    notes = [
        f"{picture.note}; copied: {most} of {len(picture.rows)}"
        if len(picture.rows) > most
        else picture.note
        for picture in drawn
    ]
    return [
        replace(
            picture, say=shortened(picture.say), rows=picture.rows[:most], note=note
        )
        for picture, note in zip(drawn, notes, strict=True)
    ]


def _n_rows(board: Any) -> int:
    """Rows of a page: fewer where names are long."""
    longest = max((len(label_of(row)) for row in board.rows), default=1)
    return max(10, min(ROWS, NAMES // longest))


def _of_votes(site: Site, question: Prefer) -> Page:
    """Strengths of a benchmark that has votes alone."""
    report = site.answers.soon(question)
    if report is None:
        what = {"what": "Strengths are being computed."}
        return Page(
            "waiting.html.j2", question.benchmark, what, None, [question], again=1
        )
    shown = {"report": report, "table": preferences_table(report)}
    return Page("votes.html.j2", question.benchmark, shown, report, [question])


def _interval_of(row: Any, axis: Axis | None) -> Markup:
    if axis is None:
        return Markup("")
    return Markup(interval_drawn(axis, row.estimate, row.ci_low, row.ci_high))


def _sentence(board: Any) -> Any:
    if isinstance(board, Leaderboard):
        return answer(board, None)
    return board.sentence_in_unit


def _of_rows(
    board: Any,
    request: PageRequest,
    held: Mapping[tuple[int, ...], Gauge],
    reference: Any,
) -> dict[str, Any]:
    """The rows of a page of the leaderboard."""
    first = request.number("row", most=max(len(board.rows) - 1, 0))
    most = _n_rows(board)
    shown = board.rows[first : first + most]
    ends: list[float | None] = []
    for row in shown:
        ends += [row.estimate, row.ci_low, row.ci_high]
    axis = make_axis(ends)
    several = len({row.model for row in board.rows}) < len(board.rows)
    unit = _unit_of(board)
    order, places = _order(board, unit)
    lines = [
        Line(
            row,
            place,
            label_of(row),
            _called(row, several),
            _interval_of(row, axis),
            flags(row.flags),
            held.get(tuple(row.run_ids)),
            row is reference,
        )
        for row, place in zip(shown, places[first : first + most], strict=True)
    ]
    reasons = {row.reason if row.ci_low is None else "" for row in board.rows}
    differences = [
        line.gauge.pair.standard_error
        for line in lines
        if line.gauge and line.gauge.pair
    ]
    before, after, last = "", "", first + len(shown)
    if first:
        before = request.url(row=max(first - most, 0) or None)
    if first + most < len(board.rows):
        after = request.url(row=first + most)
    return {
        "board": board,
        "sentence": _sentence(board),
        "lines": lines,
        "why_no_interval": next(iter(reasons)) if len(reasons) == 1 else "",
        "reference": label_of(reference) if reference else "",
        "reference_of": _called(reference, several) if reference else "",
        "order": order,
        "unit": unit,
        "unit_of_differences": Unit.of(differences, in_percent=unit.in_percent),
        "written": written,
        "is_finite": is_finite,
        "first": first,
        "last": last,
        "before": before,
        "after": after,
        "metrics": [],
        "is_all": False,
        "pictures_of": [],
        "why_no_pairs": "",
        "waits_for_pairs": False,
        "hard": "",
        "plan": None,
        "planned": [],
    }


def _unit_of(board: Any) -> Unit:
    """The unit of the figures of a leaderboard."""
    if isinstance(board, Leaderboard):
        return unit_of(board.rows, in_percent=board.is_share)
    return suite_unit(board.rows, is_share=board.is_share)


def _order(board: Any, unit: Unit) -> tuple[str, list[str]]:
    """What the first column is, and what it says of each row of a leaderboard; no name
    where it says nothing."""
    standing_rows = standings(board.rows, board.higher_is_better, unit)
    head, order = order_of(standing_rows)
    by_row = {
        id(standing.row): at for standing, at in zip(standing_rows, order, strict=True)
    }
    cells = [
        "" if by_row[id(row)] is None else str(by_row[id(row)]) for row in board.rows
    ]
    return head if any(cells) else "", cells


def _called(row: Any, several: bool) -> str:
    """Name of a row as commands take it: its model, where no other row has that and no
    run is called so, else its run."""
    is_unclear = several or row.model.startswith("run:")
    if is_unclear and row.run_ids:
        return f"run:{row.run_ids[0]}"
    return str(row.model)


def _pairs(site: Site, question: AllPairs, n_rows: int) -> tuple[HeldPairs | None, str]:
    """The pairs, None while they are computed; and why there are none."""

    def read(store: Store) -> HeldPairs:
        pairs = pairs_of(
            select_entries(store.under(None), selection_of(question)),
            level=question.level,
            n_resamples=question.n_resamples,
            seed=question.seed,
            with_flags=True,
            only_first=n_rows > MOST_PAIRED,
        )
        return HeldPairs(pairs)

    if n_rows < 2:
        return None, "there is nothing to compare it with"
    try:
        return site.answers.once_soon(f"pairs {question!r}", read), ""
    except MisuseError as error:
        return None, str(error)


def _reference(board: Leaderboard, pairs: HeldPairs | None, requested: str) -> Any:
    """The row that all others are held against: the one that was asked for, else the
    first that was compared."""
    if pairs is None:
        return None
    by_runs = {row.run_ids: row for row in board.rows}
    if requested:
        for row in board.rows:
            runs = [f"run:{run}" for run in row.run_ids]
            if requested in (label_of(row), *runs):
                return row
    return by_runs.get(pairs.first)


def _plan(
    site: Site, request: PageRequest, name: str, metric: str | None
) -> tuple[PowerFromRuns | None, Any]:
    """What it would take to tell two apart; the plan is None while it is computed."""
    references, text = request.values("plan")[:2], request.value("delta")
    if len(references) < 2 or not text:
        return None, None
    try:
        delta, alpha = float(text), float(request.value("alpha", "0.05"))
    except ValueError:
        raise MisuseError(
            f"delta and alpha are numbers such as 0.02; found {text[:40]!r}"
        ) from None
    question = PowerFromRuns(
        references, benchmark=name, metric=metric, delta=delta, alpha=alpha
    )
    return question, site.answers.soon(question)


def _hard(site: Site, question: OneLeaderboard) -> Any:
    """Difficulty of prompts as HTML; empty without, None while it is computed."""

    def read(store: Store) -> Any:
        hard = hard_prompts(select_entries(store, selection_of(question)))
        if hard is None:
            return ""
        named = {}
        if hard.prompts:
            named = prompts_by_id(store, hard.prompts)
        return prompts_say(hard), prompts_table(hard, question.benchmark, named)

    return site.answers.once_soon(f"hard {question!r}", read)


def _facts(store: Store) -> Mapping[int, RunFacts]:
    """When all runs were made, and what they cost: a server reads of one as long as of
    all."""
    return run_facts(
        store, (row["run_id"] for row in store.rows("select run_id from run_current"))
    )
