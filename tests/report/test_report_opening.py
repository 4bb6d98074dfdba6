"""The opening of the report: the answer in words, models by benchmarks, what changed;
and its anchors."""

from __future__ import annotations

import random
import re
from datetime import datetime

import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import filled_url
from tests.support.html import EVIL, Reader, table
from warehouse.analysis.comparison.words import CANNOT_TELL
from warehouse.analysis.report_data.answer import answer
from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.report.page import render
from warehouse.store.open import open_store
from warehouse.tables.anchors import anchor, slug

#: Share of right answers of each model: a leads, b and c are alike, d is last.
SKILLS = {"a": 0.9, "b": 0.6, "c": 0.6, f"d {EVIL}": 0.2}
PROMPTS = 200


def build() -> StoreRows:
    rows = StoreRows()
    dice = random.Random(5)
    for name in ("quiz", "loss {x}"):
        lower = name != "quiz"
        metric = rows.metric("loss" if lower else "acc")
        if lower:
            rows.describe(name, metric, kind="number", high=None, higher=False)
        else:
            rows.describe(name, metric)
        for place in range(PROMPTS):
            rows.prompt(name, f"q{place}", text=f"question {place}")
        for model, skill in SKILLS.items():
            scores = {
                f"q{n}": float((dice.random() < skill) != lower) for n in range(PROMPTS)
            }
            rows.scores(rows.run(model, name), scores, metric)
    _refreshes(rows)
    for kind in list(rows.rows):
        if "id" in rows.rows[kind][0]:
            rows.rows["id_counter"].append(
                {"table_name": kind, "next_id": len(rows.rows[kind]) + 1}
            )
    return rows


def _refreshes(rows: StoreRows) -> None:
    """Two that have ended: b has moved to the first place, c is new, a is gone, d is
    the same."""
    for number in (1, 2):
        rows.add(
            "refresh",
            (number,),
            started_at=datetime(2026, 3, number),
            finished_at=datetime(2026, 3, number, 1),
            state="finished",
            program_version="0",
        )
    told = [
        (1, "b#0123456789ab", "score", 0.5),
        (1, "a#0123456789ab", "score", 0.7),
        (1, "d#0123456789ab", "score", 0.2),
        (1, "b#0123456789ab", "rank", 2.0),
        (2, "b#0123456789ab", "score", 0.8125),
        (2, "b#0123456789ab", "rank", 1.0),
        (2, "c#0123456789ab", "score", 0.6),
        (2, "a#0123456789ab", "score", None),
    ]
    for refresh, subject, statistic, estimate in told:
        rows.rows["metric_value"].append(
            {
                "refresh_id": refresh,
                "subject_kind": "condition",
                "subject": subject,
                "benchmark": "quiz",
                "metric": "acc",
                "statistic": statistic,
                "method": "gone" if estimate is None else "wilson",
                "method_version": "1",
                "estimate": estimate,
                "standard_error": None if estimate is None else 0.03,
                "input_fingerprint": f"{refresh}",
            }
        )


def test_one_line_says_who_leads_and_who_cannot_be_told_apart(data: ReportData) -> None:
    part = next(one for one in data.benchmarks if one.name == "quiz")
    assert part.board is not None and part.pairs is not None and part.board.is_share
    first = part.pairs.rows[0]
    assert (
        first.model_a == "a"
        and first.difference is not None
        and first.ci_low is not None
    )
    words = str(answer(part.board, part.pairs))
    found = re.match(
        r"a leads with [\d.]+ % \[[\d.]+, [\d.]+\], \+([0-9.]+) points over ([bc]) \[([0-9.]+), ([0-9.]+)\]; (.*)",
        words,
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(100 * first.difference, abs=0.051)
    assert (
        float(found[3]) == pytest.approx(100 * first.ci_low, abs=0.051)
        and found[2] == first.model_b
    )
    assert found[5] in (
        f"b and c {CANNOT_TELL}; 200 questions.",
        f"c and b {CANNOT_TELL}; 200 questions.",
    )


def test_lower_is_better_and_no_points_without_bounds(
    url: str, data: ReportData
) -> None:
    loss, part = data.benchmarks
    assert part.board is not None and loss.board is not None
    assert not loss.board.is_share
    assert str(answer(loss.board, loss.pairs)).startswith("a leads with 0.")
    assert "points" not in str(answer(loss.board, loss.pairs))
    alone = str(answer(part.board, None))
    assert re.match(r"a leads with [\d.]+ % \[", alone) and "points" not in alone
    assert alone.endswith("; 200 questions.")


def test_the_command_says_it_in_the_same_words(url: str) -> None:
    store = warehouse.connect(url)
    assert (
        f"a and b {CANNOT_TELL} on quiz"
        in store.compare("b", "c", benchmark="quiz").sentence
    )


def test_the_page_opens_with_the_answers(data: ReportData) -> None:
    text = render(data)
    opening = text[text.index('id="answer"') : text.index('id="benchmark-quiz"')]
    assert (
        opening.split("</ul>")[0].count("<li>") == 2
        and '<a href="#benchmark-quiz">' in opening
    )
    assert re.search(r"<bdi>a</bdi> leads with [0-9.]+ %", opening)
    assert "<script>window" not in opening
    assert (
        not data.unscored
        and 'href="#unscored"' not in text
        and 'id="unscored"' not in text
    )
    rows = table(Reader(text), "Model", "quiz acc, %")
    assert [row["Model"] for row in rows][0] == "a" and set(rows[0]) == {
        "Model",
        "quiz acc, %",
        "loss {x} ↓ loss",
    }
    part = next(one for one in data.benchmarks if one.name == "quiz")
    assert part.board is not None
    assert {row["Model"]: float(row["quiz acc, %"]) for row in rows} == {
        row.model: pytest.approx(100 * (row.estimate or 0), abs=0.06)
        for row in part.board.rows
    }


def test_what_cannot_be_told_from_the_best_is_coloured(data: ReportData) -> None:
    page = render(data)
    heat = page[page.index('aria-label="Models by benchmarks"') :]
    lines = re.findall(r"<tr><th[^>]*><bdi>(.*?)</bdi></th>(.*)", heat)[:4]
    shades = {model: re.findall(r"<td( class=best)?", cells) for model, cells in lines}
    assert shades["a"] == [" class=best"] * 2 and shades["b"] == shades["c"]
    assert shades["b"] == ["", ""]


def test_what_changed_is_what_the_last_refresh_changed(data: ReportData) -> None:
    found = data.changes
    assert found is not None and found.previous_at == datetime(2026, 3, 1, 1)
    assert [(row.model, row.before, row.now) for row in found.moved] == [
        ("b", 0.5, 0.8125)
    ]
    assert [row.model for row in found.new] == ["c"] and [
        row.model for row in found.gone
    ] == ["a"]
    text = render(data)
    assert (
        "1 figure changed, 1 figure new, 1 figure gone; <bdi>b</bdi> is now first on "
        "<bdi>quiz</bdi>." in text
    )
    (row,) = [
        row
        for row in table(Reader(text), "Model that changed")
        if row["Model that changed"] == "b"
    ]
    assert (row["Before"], row["Now"], row["Change"]) == ("0.500", "0.812", "+0.312")


def test_without_two_refreshes_nothing_has_changed(
    request: pytest.FixtureRequest,
) -> None:
    rows = build()
    del rows.rows["refresh"][1:]
    rows.rows["metric_value"] = [
        row for row in rows.rows["metric_value"] if row["refresh_id"] == 1
    ]
    with filled_url(request, "duckdb", rows) as filled, open_store(filled) as store:
        one = read_report(store, ["quiz"], n_resamples=0)
    assert one.changes is None and 'id="changes"' not in render(one)


def test_anchors_are_names_that_stay(data: ReportData) -> None:
    text = render(data)
    ids = [found["id"] for _, found in Reader(text).tags if "id" in found]
    assert len(ids) == len(set(ids))
    assert {
        "benchmark-quiz",
        "board-quiz",
        "pairs-quiz",
        "check-quiz",
        anchor("benchmark", "loss {x}"),
    } <= set(ids)
    assert not [one for one in ids if re.fullmatch(r"[bs]\d+.*", str(one))]
    names = ["pairs", "x", "pairs-x", "X", "x y", "日本", EVIL]
    assert len(
        {anchor(part, name) for part in ("benchmark", "pairs") for name in names}
    ) == 2 * len(names)
    assert slug("gsm8k") == "gsm8k" and re.fullmatch(
        r"loss-x~[0-9a-f]{10}", slug("loss {x}")
    )


def test_a_benchmark_of_votes_alone_lacks_nothing(
    request: pytest.FixtureRequest,
) -> None:
    rows = StoreRows()
    rows.add("source", (1,), sha256="1" * 64, settings_key="", path="votes.csv", format="tabular",
             importer_version="1", state="loaded")  # fmt: skip
    rows.votes(1, "voted", ("org/a", "org/b"), ["a", "b", "tie", "a"] * 4)
    with filled_url(request, "duckdb", rows) as filled, open_store(filled) as store:
        page = render(read_report(store, n_resamples=0))
    assert (
        "Leaderboard</h3>" not in page
        and "16 votes over 2 models" in page
        and "voted by people"
        in page.split("Figures of the strengths")[0]  # drawn above what is folded
        and "without a leaderboard" not in page
        and "1 source" in page
    )
