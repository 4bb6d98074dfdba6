"""Tables of the report: constants said once, decimals by errors, short paths, ties
without colour."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import filled_url
from tests.support.html import Reader, table
from tests.support.sections import section_of
from warehouse.analysis.items.section import PromptsSection
from warehouse.analysis.matrix.section_parts import passes
from warehouse.analysis.pairs.charts import MOST_NUMBERS, apart
from warehouse.analysis.report_data.report import ReportData
from warehouse.analysis.text.clusters_view import SemanticClusters
from warehouse.report.board import in_words
from warehouse.report.log_tables import short_paths
from warehouse.report.page import render
from warehouse.report.sections import benchmark_section
from warehouse.tables.page import (
    count,
    model_and_condition,
    name,
    number,
    text,
    unbroken,
)
from warehouse.tables.page import table as make_table

PROMPTS = 60


def build() -> StoreRows:
    """20 models on `wide`, one that nobody and one that everybody gets right, one
    against the rest."""
    rows = StoreRows()
    dice = random.Random(4)
    rows.describe("wide", rows.metric())
    for place in range(PROMPTS):
        head = "Answer with one letter only and say nothing else, please."
        rows.prompt("wide", f"q{place:02}", text=f"{head} What is {place}?")
    for number_of in range(MOST_NUMBERS + 5):
        scores = {
            f"q{n:02}": float(dice.random() < (number_of + 1) / 22)
            for n in range(PROMPTS)
        }
        scores |= {"q00": 0.0, "q01": 1.0, "q02": float(number_of < 10)}
        rows.scores(
            rows.run(f"laboratory/a-model-with-a-long-name-{number_of:02}", "wide"),
            scores,
        )
    for kind in list(rows.rows):
        if "id" in rows.rows[kind][0]:
            rows.rows["id_counter"].append(
                {"table_name": kind, "next_id": len(rows.rows[kind]) + 1}
            )
    return rows


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "duckdb", build()) as filled:
        warehouse.connect(filled).irt("wide").abilities()
        yield filled


def test_what_never_varies_is_said_once_and_what_is_empty_not_at_all() -> None:
    made = make_table(
        "label",
        "About.",
        [
            name("Model", ["a", "b"]),
            text("Method", ["wilson", "wilson"]),
            text("Note", ["", None]),
            count("Prompts", [30, 30]),
            count("Runs", [1, 2]),
            number("Estimate", [0.5, 0.5], 3),
            number("Low", [None, float("nan")], 3),
        ],
    )
    (found,) = Reader(made).tables
    assert found == [
        ["Model", "Runs", "Estimate"],
        ["a", "1", "0.500"],
        ["b", "2", "0.500"],
    ]
    assert "About. In all rows: Method wilson, Prompts 30." in made
    assert (
        make_table("l", "c", [name("Model", ["a"]), text("Method", ["t"])]).count(
            '<th scope="col"'
        )
        == 2
    )


def test_paths_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    assert short_paths(
        ["/home/someone/results/a.json", "/home/someone/results/b.json"]
    ) == ["a.json", "b.json"]
    assert short_paths(["/x/run1/log.json", "/x/run2/log.json"]) == [
        "run1/log.json",
        "run2/log.json",
    ]
    assert short_paths(["C:\\Users\\me\\a.csv", "hf://sets/a.csv"]) == [
        "a.csv",
        "hf://sets/a.csv",
    ]
    assert (
        short_paths(["/x/a", "/x/a", "b", "/", ""]) == ["a", "a", "b", "/", ""]
        and short_paths([]) == []
    )
    assert short_paths(["/a", "/x/a"]) == ["a", "x/a"]


def test_notes_have_no_words_of_programs() -> None:
    assert in_words("2 rows not ranked (subset_ok ranks them)") == "2 rows not ranked"
    told = (
        "it is not known whether a higher x is better; this says so (--lower-is-better "
        "the opposite): warehouse b"
    )
    assert in_words(told) == "it is not known whether a higher x is better"


def test_many_models_are_a_heat_map_that_says_how_many_pairs_differ(
    data: ReportData,
) -> None:
    (part,) = data.benchmarks
    assert part.pairs is not None
    (group,) = benchmark_section(part)["groups"]
    assert group["matrix"] is None and group["picture"] is not None
    differ = int(
        (part.pairs.groups[0].pairs.p_holm <= 0.05).sum()
    )  # rows are those of the first model alone
    n = len(part.pairs.groups[0].labels)
    assert f"{differ} of {n * (n - 1) // 2} pairs differ" in group["picture"].say
    told = apart(part.pairs)
    assert sum(told.values()) == 2 * differ and len(told) == n * (n - 1)


def test_only_models_that_are_told_apart_colour_a_change_of_rank() -> None:
    class Cell:
        def __init__(self, rank: int) -> None:
            self.rank = rank

    ranks = {"uniform": {"a": 1, "b": 2, "c": 3}, "other": {"a": 2, "b": 1, "c": 3}}
    cells: Any = {
        (model, scheme): Cell(rank)
        for scheme, own in ranks.items()
        for model, rank in own.items()
    }
    models = ["a", "b", "c"]
    assert not passes("a", "other", models, cells, {})
    assert passes("a", "other", models, cells, {("a", "b"): True})
    assert not passes("a", "other", models, cells, {("a", "c"): True}) and not passes(
        "c", "other", models, cells, {}
    )


def test_single_prompts_are_those_of_items(data: ReportData, url: str) -> None:
    (part,) = data.benchmarks
    section = section_of(part, PromptsSection)
    found = section.hard if section else None
    report = warehouse.connect(url).items("wide", irt="none")
    assert found is not None and found.n_prompts == len(report.rows) == PROMPTS
    assert found.n_constant == sum(row.constant for row in report.rows) == 2
    assert found.n_negative == sum(row.negative for row in report.rows) >= 1
    lowest = sorted(row.mean_score for row in report.rows)[:5]
    assert [mean for _, mean in found.hardest] == [pytest.approx(one) for one in lowest]
    rows = table(Reader(render(data)), "Single prompt", "Why")
    assert rows[0]["Single prompt"] == "q02" and rows[0]["Why"] == "against the rest"
    assert rows[0]["Question"] == "… 2?"  # the template is left out


def test_a_stored_scale_is_shown_and_none_is_fitted(data: ReportData, url: str) -> None:
    (found,) = data.abilities
    assert found.rows == warehouse.connect(url).irt("wide").abilities().rows
    rows = table(Reader(render(data)), "Model on the scale", "Ability")
    assert [row["Model on the scale"] for row in rows] == [
        row.model for row in found.rows
    ]


def test_a_clustering_that_chains_says_so() -> None:
    def clusters(largest: int) -> SemanticClusters:
        return SemanticClusters(
            "b", "semantic", 0.8, "m", False, 609, 60, 50, largest, 0, ()
        )

    said = str(clusters(481))
    assert "holds 481 of 609 prompts: near ones chain" in said
    explained = str(clusters(481).view(verbose=True))
    assert "it chains: one cluster holds 481 prompts (79%)" in explained
    assert "chain" not in str(clusters(182)) and "chain" in str(clusters(183))


def test_tables_fit_a_telephone_and_show_the_estimate(opened: Any) -> None:
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        wide, hidden = opened.execute_script(
            "document.querySelectorAll('details').forEach(d => d.open = true);return "
            "[[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > "
            "s.clientWidth + 1).map(s => s.getAttribute('aria-label')), "
            "[...document.querySelectorAll('thead th')].filter(h => "
            "/Estimate|Difference|Mean|Ability/.test(h.textContent) && !h.offsetWidth)"
            ".map(h => h.textContent)]"
        )
        assert wide == [] and hidden == []
        minor = opened.find_element("css selector", "th.x")
        assert not minor.is_displayed()
        opened.find_element("css selector", ".all input").send_keys(" ")
        assert minor.is_displayed()
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_decimals_of_a_column_are_the_same(data: ReportData) -> None:
    rows = table(Reader(render(data)), "Place", "Model", "Score, %")
    for column in ("Score, %", "Low", "High", "SE"):
        assert len({len(row[column].partition(".")[2]) for row in rows}) == 1
    assert np.all([re.fullmatch(r"[0-9.]+", row["Score, %"]) for row in rows])


def test_a_condition_stands_below_the_name_where_there_is_no_room() -> None:
    two = model_and_condition("Model", ["org/a_b", "org/a_b"], ["t=0", 't="1"'])
    assert [column.head for column in two] == ["Model", "Condition"] and two[
        1
    ].kind == "c"
    assert (
        two[0].cells[1]
        == '<th scope="row" data-c="t=&#34;1&#34;"><bdi>org/<wbr>a_<wbr>b</bdi></th>'
    )
    alike = model_and_condition("Model", ["a", "b"], ["t=0", "t=0"])
    assert "data-c" not in alike[0].cells[0] and alike[1].kind == ""


def test_options_are_not_broken_at_their_dashes() -> None:
    assert unbroken("a-b <x> --no-history -o") == (
        'a-b &lt;x&gt; <span class="o">--no-history</span> <span class="o">-o</span>'
    )


def test_a_long_table_shows_its_first_rows_until_asked(
    tmp_path: Path, browser: Any
) -> None:
    style = files("warehouse.report").joinpath("style.css").read_text(encoding="utf-8")

    def of(n: int) -> str:
        columns = [
            name("Model", [f"m{row}" for row in range(n)]),
            number("Spare", range(n), 1, minor=True),
        ]
        return str(make_table("rows", "Of rows.", columns))

    script = files("warehouse.report").joinpath("script.js").read_text(encoding="utf-8")
    body = f"<button id=theme hidden></button><main>{of(60)}{of(50)}</main>"
    page = tmp_path / "rows.html"
    page.write_text(
        f"<!doctype html><style>{style}</style>{body}<script>{script}</script>",
        encoding="utf-8",
    )
    browser.get(page.as_uri())
    shown = (
        "return [...document.querySelectorAll('table')].map(t => [...t.tBodies[0].rows]"
    )
    shown += ".filter(row => row.offsetParent).length)"
    assert browser.execute_script(shown) == [40, 50]
    assert [one.text for one in browser.find_elements("css selector", ".rest")] == [
        "The other 20 rows"
    ]
    browser.find_element("css selector", ".rest summary").send_keys(Keys.ENTER)
    WebDriverWait(browser, 5).until(
        lambda _: not browser.find_elements("css selector", ".rest")
    )
    assert browser.execute_script(shown) == [60, 50]
