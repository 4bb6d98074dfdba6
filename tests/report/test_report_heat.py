"""The heat table and the pictures: what leads, what is shaded, what is seen first, on
the page and by themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.html import EVIL, Reader, serious, table
from tests.support.mixed import N_PROMPTS, PARTIAL, PLAIN, STRANGE, mixed
from warehouse.analysis.report_data.report import ReportData
from warehouse.charts.chart import distinct
from warehouse.charts.pair_map import pair_map
from warehouse.charts.picture import WIDTH
from warehouse.charts.pictures import MOST_ROWS, Interval, forest, wins
from warehouse.charts.scatter import Spot, scatter
from warehouse.charts.ties import ties
from warehouse.report.figures import board_pictures
from warehouse.report.fold import MOST_NODES, n_nodes
from warehouse.report.heat import (
    ALONE,
    PART,
    UNSCORED,
    HeatCell,
    HeatColumn,
    cells_of,
    mark_of,
    rows_in_order,
    window,
)
from warehouse.report.page import Renderer, render


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    return mixed()


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest, rows: StoreRows) -> Iterator[str]:
    with filled_url(request, "duckdb", rows) as filled:
        yield filled


def column(
    name: str, scores: dict[str, float], higher: bool | None = True, **more: Any
) -> HeatColumn:
    """Models whose scores differ, each significantly, in their order."""
    order = sorted(
        scores, key=lambda one: -scores[one] if higher is not False else scores[one]
    )
    cells = {
        model: HeatCell(
            scores[model], 0.02, scores[model] - 0.04, scores[model] + 0.04, rank, rank
        )
        for rank, model in enumerate(order, 1)
    }
    return HeatColumn(name, "acc", higher, cells, **more)


def best(columns: list[HeatColumn]) -> dict[tuple[str, str], bool | None]:
    shown = window(columns)
    return {
        (line.name, head.name): cell and cell.is_best
        for line in shown.lines
        for head, cell in zip(shown.heads, line.cells, strict=True)
    }


def test_a_mean_that_overflows_is_shown_beside_others() -> None:
    cells = {
        model: HeatCell(value, None, None, None, None, None)
        for model, value in (("a", 1e300 * 1e10), ("b", 5.0))
    }
    lines = window([HeatColumn("huge", "acc", True, cells)]).lines
    assert [line.cells[0].text for line in lines if line.cells[0]] == ["inf", "5.00"]


def test_few_good_scores_do_not_lead_over_many() -> None:
    good, fair = {"a": 0.9, "b": 0.8, "c": 0.1}, {"a": 0.9, "b": 0.8, "c": 0.1}
    once = column("once", {**good, "new": 0.99})
    rest = [column(f"b{place}", fair) for place in range(3)]
    assert rows_in_order([once, *rest]) == ["a", "new", "b", "c"]
    part = {**once.cells, "new": HeatCell(0.99, mark=PART)}
    assert rows_in_order([HeatColumn("once", "acc", True, part), *rest])[0] == "a"


def test_a_model_that_lacks_a_few_benchmarks_does_not_fall_behind_a_worse_one() -> None:
    scores = {"best": 0.9, "good": 0.8, "poor": 0.1}
    lacking = {name: score for name, score in scores.items() if name != "best"}
    columns = [
        column(f"b{place}", scores if place > 2 else lacking) for place in range(20)
    ]
    all_tied = {
        name: HeatCell(0.5, 0.1, rank=1, statistical_rank=1)
        for name in ("good", "poor")
    }
    columns += [HeatColumn(f"tied{place}", "acc", True, all_tied) for place in range(9)]
    assert rows_in_order(columns) == ["best", "good", "poor"]


def test_several_conditions_of_a_model_are_told_and_counted_among_the_others() -> None:
    cells = {"a": HeatCell(0.9, 0.01, rank=1, statistical_rank=1)}
    cells |= {
        "b": HeatCell(0.6, 0.01, rank=4, statistical_rank=4),
        "c": HeatCell(0.2, 0.01, rank=5, statistical_rank=5),
    }
    several = HeatColumn("several", "acc", True, cells)
    assert best([several]) == {
        ("a", "several"): True,
        ("b", "several"): False,
        ("c", "several"): False,
    }
    reverse = column("reverse", {"c": 0.9, "b": 0.5, "d": 0.1})
    assert rows_in_order([several, reverse])[0] == "a"


def test_runs_that_are_ranked_alone_do_not_lead() -> None:
    rows = [
        SimpleNamespace(
            model=model,
            rank=rank,
            estimate=score,
            statistical_rank=rank,
            flags=(),
            method="wilson",
            standard_error=0.01,
            ci_low=None,
            ci_high=None,
        )
        for model, rank, score in (
            ("a", 1, 0.9),
            ("b", 2, 0.8),
            ("c", 3, 0.7),
            ("other", 1, 0.99),
            ("b", 2, 0.6),
        )
    ]
    cells = cells_of(cast(Any, rows))
    assert (cells["other"].rank, cells["other"].mark) == (None, ALONE) and cells[
        "b"
    ].estimate == 0.8
    quiz = HeatColumn("quiz", "acc", True, cells)
    assert (
        rows_in_order([quiz]) == ["a", "b", "c", "other"]
        and best([quiz])["other", "quiz"] is False
    )


def test_the_columns_that_tell_most_apart_come_first_or_the_newest() -> None:
    told = column("z told", {"a": 0.9, "b": 0.5, "c": 0.1}, newest=datetime(2026, 1, 1))
    alike = HeatColumn(
        "a alike",
        "acc",
        True,
        {one: HeatCell(0.5, rank=1, statistical_rank=1) for one in "abc"},
        "",
        datetime(2026, 2, 1),
    )
    suite = column("s", {"a": 1.0, "b": 0.5}, is_suite=True)
    odd = column("odd", {"a": 0.9, "b": 0.5, "c": 0.1, "d": 0.0}, higher=None)
    columns = [alike, odd, told, suite]
    assert [head.name for head in window(columns).heads] == [
        "s",
        "z told",
        "a alike",
        "odd",
    ]
    assert [head.name for head in window(columns, order="date").heads][:3] == [
        "s",
        "a alike",
        "z told",
    ]
    assert [head.name for head in window(columns, order="name").heads][1:] == [
        "a alike",
        "odd",
        "z told",
    ]


def test_the_first_window_of_two_sources_shows_models_of_the_first_benchmark() -> None:
    """Of the one source nobody was tested, and its models stand highest; of the other
    the benchmark tells two apart."""
    untested = {
        name: HeatCell(0.9 - rank / 10, rank=rank) for rank, name in enumerate("uvx", 1)
    }
    wide = [HeatColumn(f"w{n}", "acc", True, untested) for n in range(4)]
    columns = [
        *wide,
        column("told", {"a": 0.9, "b": 0.1}),
        column("too", {"a": 0.6, "b": 0.5}),
    ]
    shown = window(columns, n_rows=2, n_columns=2)
    assert [head.name for head in shown.heads] == ["told", "too"]
    assert [line.name for line in shown.lines] == ["a", "b"] and all(
        all(line.cells) for line in shown.lines
    )
    rest = window(columns, first_row=2, first_column=2)
    assert [line.name for line in rest.lines] == ["u", "v", "x"] and all(
        all(line.cells) for line in rest.lines
    )


def test_lower_is_better_and_an_unknown_direction_has_no_best() -> None:
    found = best(
        [
            column("loss", {"a": 0.1, "b": 0.9}, higher=False),
            column("odd", {"a": 0.1, "b": 0.9}, higher=None),
        ]
    )
    assert found == {
        ("a", "loss"): True,
        ("b", "loss"): False,
        ("a", "odd"): False,
        ("b", "odd"): False,
    }
    shown = window([column("odd", {"a": 0.1, "b": 0.9}, higher=None)])
    assert [line.name for line in shown.lines] == [
        "a",
        "b",
    ] and "Nobody is first" in " ".join(shown.about)


def test_a_window_holds_a_part_and_says_of_how_many() -> None:
    models = {f"m{place:03}": 1 - place / 1000 for place in range(1000)}
    columns = [column(f"b{place:03}", models) for place in range(60)]
    first, later = window(columns), window(columns, first_row=990, first_column=55)
    assert (len(first.lines), len(first.heads), first.n_rows, first.n_columns) == (
        25,
        40,
        1000,
        60,
    )
    assert not first.is_whole and first.lines[0].name == "m000"
    assert ([line.name for line in later.lines], len(later.heads)) == (
        [f"m{at}" for at in range(990, 1000)],
        5,
    )


def test_scores_have_the_decimals_that_their_errors_ask_for_and_no_more() -> None:
    def written(estimate: float, error: float | None) -> str:
        shown = window(
            [
                HeatColumn(
                    "b",
                    "acc",
                    True,
                    {"a": HeatCell(estimate, error), "b": HeatCell(0.0, error)},
                )
            ]
        )
        return (
            next(
                cell.text
                for line in shown.lines
                for cell in line.cells
                if cell and cell.text[0] != "0"
            )
            or ""
        )

    given = (
        (71.234567, None),
        (71.234567, 1.2),
        (7.1234567, 0.00123),
        (7.1234567, 0.0000123),
    )
    assert [written(*one) for one in given] == ["71.2", "71.2", "7.123", "7.12346"]


def test_the_table_on_the_page_has_the_scores_of_the_command(
    data: ReportData, url: str, run: Caller
) -> None:
    text = render(data)
    page = table(Reader(text), "Model", "quiz acc, %")
    assert page[0]["Model"] == "lab/m0" and all(
        any(line["Model"].startswith(name) for line in page) for name in STRANGE
    )
    partial = next(line for line in page if line["Model"].startswith(PARTIAL))
    assert (
        partial["quiz acc, %"].endswith(PART)
        and partial["small acc, %"] == ""
        and "1 of 5" in partial["Model"]
    )
    heat = text[
        text.index('aria-label="Models by benchmarks"') : text.index("</table>")
    ]
    exact = {
        re.sub("<.*?>", "", name).split("</")[0]: re.findall(
            r'<td(?: class=best)?(?: data-v="([^"]*)")?', cells
        )
        for name, cells in re.findall(
            r'<tr><th scope="row">(<bdi>.*?</bdi>).*?</th>(.*)', heat
        )
    }
    heads = [
        re.sub("<.*?>", "", one)
        for one in re.findall(r'<th scope="col" class="n.*?<bdi>(.*?)</bdi>', heat)
    ]
    for name in ("quiz", "loss", "odd", "alone", "small"):
        for row in json.loads(run("leaderboard", name, "--json", db=url).out):
            if row["model"] in PLAIN:
                assert float(exact[row["model"]][heads.index(name)]) == row["estimate"]
    assert (
        "1 run on a part of a benchmark" in text
        and "1 benchmark of unknown direction" in text
    )


def test_nobody_is_first_without_a_direction_and_one_model_has_no_picture(
    data: ReportData,
) -> None:
    parts = {part.name: part for part in data.benchmarks}
    assert board_pictures(parts["alone"], 0.95) == []
    odd = board_pictures(parts["odd"], 0.95)
    assert [picture.head[-1] for picture in odd] == [
        "high",
        "Group",
    ]  # no dates: nobody was the best until then
    assert "filled" not in odd[0].note and f"{N_PROMPTS} questions" in odd[0].note
    quiz = board_pictures(parts["quiz"], 0.95)[0]
    assert f"{PARTIAL}\\*" in quiz.markdown and "* on a part" in quiz.note


def test_pictures_have_names_that_fit_and_no_marks_of_dumps() -> None:
    names = [*STRANGE, "plain", "|pipe|*"]
    intervals = [Interval(name, 0.5, 0.4, 0.6) for name in names]
    tied = [(name, 0.5 - at / 50, "ab"[at % 2]) for at, name in enumerate(names)]
    spots = [Spot(name, at, f"{at}", 0.5, True) for at, name in enumerate(names)]
    pictures = [
        forest("t", intervals, figure="acc", n_decimals=2, note="n"),
        ties("t", tied, figure="acc", n_decimals=2, note=""),
        wins("t", [(name, 1, 2, 3) for name in names], note=""),
        scatter("t", spots, x="x", y="y", n_decimals=2, note=""),
    ]
    for picture in pictures:
        assert (
            picture is not None
            and picture.width == WIDTH <= 390 - 2 * 16
            and EVIL not in picture.svg
        )
        drawn = re.findall(r"<text[^>]*>(.*?)</text>", picture.svg)
        assert max(map(len, drawn)) < 90 and len({*picture.rows}) == len(names)
        assert "\\|pipe\\|\\*" in picture.markdown and "\\<script" in picture.markdown
    assert forest("t", [], figure="acc", n_decimals=2, note="") is None


def test_a_picture_shows_the_first_rows_and_copies_all() -> None:
    many = [Interval(f"m{at}", at / 100, None, None) for at in range(100)]
    picture = forest("t", many, figure="acc", n_decimals=2, note="")
    assert (
        picture is not None
        and picture.svg.count("h0") == MOST_ROWS
        and len(picture.rows) == 100
    )
    assert f"the first {MOST_ROWS} of 100 models" in picture.say


def test_ties_fit_or_are_left_to_wins() -> None:
    several = [(f"m{at}", 1 - at / 10, chr(97 + at) + chr(98 + at)) for at in range(10)]
    assert ties("t", several, figure="acc", n_decimals=1, note="") is None
    assert ties("t", several[:2], figure="acc", n_decimals=1, note="") is None
    few = ties(
        "t",
        [("a", 0.9, "a"), ("b", 0.8, "ab"), ("c", 0.7, "b")],
        figure="acc",
        n_decimals=1,
        note="",
    )
    assert (
        few is not None
        and "a, b; b, c" in few.say
        and few.svg.count('stroke-width="3"') == 2
    )
    apart = ties(
        "t",
        [("a", 0.9, "a"), ("b", 0.8, "b"), ("c", 0.7, "c")],
        figure="acc",
        n_decimals=1,
        note="",
    )
    assert apart is not None and "all differ" in apart.say


_COPY = """
const [name, kind, done] = arguments, got = {};
Object.defineProperty(navigator, "clipboard", { configurable: true, value: {
  writeText: async (text) => { got.text = text; },
  write: async ([item]) => { got.size = (await item.getType("image/png")).size; },
} });
const open = [...document.querySelectorAll(".copies button")].find((one) => one.ariaLabel?.startsWith(`Copy ${name}`));
const bar = open.parentNode;
open.click();
const button = [...bar.querySelectorAll("button")].find((one) => one.textContent === kind);
const focused = document.activeElement === bar.querySelector("button");
button.click();
const wait = () => (bar.querySelector("[role=status]").textContent ? done([got, focused]) : setTimeout(wait, 20));
wait();
"""


def test_figures_and_tables_can_be_copied_with_what_they_rest_on(opened: Any) -> None:
    (table_of, focused), (drawn, _), (picture, _) = (
        opened.execute_async_script(_COPY, *asked)
        for asked in (
            ("Models by benchmarks", "Markdown table"),
            ("acc on quiz", "SVG"),
            ("Single prompts of quiz", "PNG"),
        )
    )
    assert focused and table_of["text"].startswith("**Models by benchmarks**")
    assert (
        "| lab/m0 | " in table_of["text"]
        and "Evaluation report, 20" in table_of["text"]
    )
    assert "<svg" in drawn["text"] and "var(--" not in drawn["text"]
    assert (
        f"{N_PROMPTS} questions" in drawn["text"]
        and "wilson" in drawn["text"]
        and "UTC" in drawn["text"]
    )
    assert picture["size"] > 10_000
    for name in (
        "Leaderboard of quiz",
        "All pairs of quiz",
        "lab/m0 minus each other model on quiz",
    ):
        drawn, _ = opened.execute_async_script(_COPY, name, "SVG")
        assert f"{N_PROMPTS} questions" in " ".join(
            re.sub("<[^>]+>", " ", drawn["text"]).split()
        ), name
    assert [
        one for one in opened.get_log("browser") if "favicon" not in one["message"]
    ] == []


def test_intervals_are_drawn_on_a_phone_and_names_keep_their_size(opened: Any) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True},
    )
    opened.refresh()
    sizes = opened.execute_script(
        "const box = (one) => one.getBoundingClientRect();return "
        "[...document.querySelectorAll('svg.own')].map(s => [box(s).width / "
        "s.viewBox.baseVal.width,[...s.querySelectorAll('text')].every(t => "
        "box(t).right <= box(s).right + 3)])"
    )
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(sizes) > 8 and all(scale == 1 and inside for scale, inside in sizes)


@pytest.mark.rare
def test_axe_finds_nothing_serious_in_what_real_stores_mix(
    window: Any, axe: str
) -> None:
    page = window(390, "dark")
    page.execute_script(
        "for (const one of document.querySelectorAll('.copies button')) one.click()"
    )
    page.execute_script(
        "for (const one of document.querySelectorAll('details.late')) one.open = true"
    )
    assert serious(page, axe) == []


def test_the_page_of_all_scores_has_few_nodes_before_it_is_opened(
    data: ReportData,
) -> None:
    scores = {f"m{place:02}": place / 90 for place in range(90)}
    all_scores = window(
        [column(f"b{place}", scores) for place in range(80)], n_rows=90, n_columns=80
    )
    text = Renderer().page(
        replace(data, suites=()), (), shows=(), home="index.html", all_scores=all_scores
    )
    assert n_nodes(text) < MOST_NODES < text.count("<td")


def test_the_page_opens_below_five_thousand_nodes(opened: Any, written: Path) -> None:
    assert opened.execute_script("return document.querySelectorAll('*').length") < 5000
    assert (
        opened.execute_script("return window.hurt") is None
        and EVIL not in written.read_text()
    )


def test_names_keep_what_tells_them_apart_and_an_empty_map_takes_no_space() -> None:
    names = [f"organisation/model-{number}-instruct-of-the-day" for number in range(3)]
    assert distinct(names, 12) == ["…0-ins…e-day", "…1-ins…e-day", "…2-ins…e-day"]
    assert distinct(["abc", "abd"], 12) == ["abc", "abd"]
    alike = pair_map(
        "pairs", names, [[0.0] * 3] * 3, [[0.0] * 3] * 3, n_decimals=2, note=""
    )
    assert alike is None


def test_many_samples_without_a_score_are_marked_in_the_table(url: str) -> None:
    row = SimpleNamespace(flags=("unscored", "many_unscored"), rank=1, method="t")
    assert mark_of(cast(Any, row)) == UNSCORED
    cells = {"a": HeatCell(0.9, 0.01, rank=1, statistical_rank=1, mark=UNSCORED)}
    shown = window([HeatColumn("quiz", "acc", True, cells)])
    assert dict(shown.keys)[UNSCORED].startswith("many samples have no score")
