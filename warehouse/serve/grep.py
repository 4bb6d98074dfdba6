"""Search in what was asked, said and done: counts by model, and lines that lead to their
samples."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from warehouse.analysis.grep.question import PLACES, Grep
from warehouse.analysis.grep.view import GrepReport
from warehouse.errors import MisuseError
from warehouse.serve.page import Page, PageRequest, Site, checked_name, question_from
from warehouse.tables.page import count, model_and_condition, name, number, table

#: Samples of a model, and of a page, that are shown; rows of the table.
MOST_OF_A_MODEL, MOST, ROWS = 50, 200, 200
#: Switches of the search, as the page calls them.
SWITCHES = {
    "fixed_strings": "as it stands",
    "ignore_case": "small or capital",
    "word_regexp": "whole words",
}
_TITLE = "Search"


def grep(site: Site, request: PageRequest) -> Page:
    """The page of the address ``/grep?pattern=PATTERN``."""
    benchmark = request.value("benchmark")
    if benchmark:
        checked_name(
            "benchmark", benchmark, (row["shown_as"] for row in site.benchmarks)
        )
    shown: dict[str, Any] = {
        "switches": SWITCHES,
        "places": PLACES,
        "benchmark": benchmark,
    }
    pattern = request.value("pattern")
    if "\x00" in pattern:
        raise MisuseError("the pattern holds U+0000, which no page shows")
    if not pattern:
        return Page("grep.html.j2", _TITLE, shown | {"report": None}, None)
    question = question_from(Grep, request)
    if question.max_count > MOST_OF_A_MODEL:
        raise MisuseError(
            f"a page shows up to {MOST_OF_A_MODEL} samples of each model; use the "
            f"command: {question.command()}"
        )
    report = site.answers.soon(question)
    if report is None:
        waiting = {"what": "The texts are being searched."}
        return Page("waiting.html.j2", _TITLE, waiting, None, [question], again=1)
    shown |= {
        "report": report,
        "table": _table(report),
        "samples": report.samples[:MOST],
        "n_left": max(0, len(report.samples) - MOST),
    }
    return Page("grep.html.j2", _TITLE, shown, report, [question])


def _table(report: GrepReport) -> Markup:
    """The counts by model and benchmark; empty where nothing matches."""
    if not report.n_matches:
        return Markup()
    rows = report.rows[:ROWS]
    caption = (
        "Samples that match, of those whose texts are stored; the share is the mean over "
        f"prompts, in percent, with its {100 * report.level:g}% interval."
    )
    return table(
        "Matches by model",
        caption,
        [
            *model_and_condition(
                "Model",
                [row.model for row in rows],
                [row.condition for row in rows],
            ),
            name("Benchmark", [row.benchmark for row in rows]),
            count("Matches", [row.n_matches for row in rows], minor=False, keep=True),
            count("Of", [row.n_samples for row in rows], minor=False, keep=True),
            count("Prompts", [row.n_prompts for row in rows], minor=True),
            number("Share", [_percent(row.share) for row in rows], 1),
            number("Low", [_percent(row.ci_low) for row in rows], 1),
            number("High", [_percent(row.ci_high) for row in rows], 1),
        ],
    )


def _percent(share: float | None) -> float | None:
    if share is None:
        return None
    return 100 * share
