"""The report: what it shows, that text of dumps stays text, and the page in a real
browser."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.html import EVIL, Reader, requests, table
from tests.support.two_models import build_two_models
from warehouse.analysis.report_data.report import ReportData, read_report
from warehouse.analysis.variance.section import VarianceSection
from warehouse.charts.axes import WIDTH, make_axis
from warehouse.report import writing
from warehouse.report.page import render
from warehouse.report.writing import write_report
from warehouse.store.open import open_store
from warehouse.tables.anchors import anchor


def build() -> StoreRows:
    """Two models on many benchmarks, and one benchmark whose texts want to run."""
    rows = build_two_models()
    rows.describe(f"evil {EVIL}", rows.metric())
    for place in range(12):
        rows.prompt(f"evil {EVIL}", f"e{place}", text=EVIL)
    for prompt in rows.rows["prompt"]:
        prompt.setdefault("choices")
    for skill, model in enumerate(("b", "a", f"c {EVIL}")):
        run = rows.run(model, f"evil {EVIL}")
        rows.scores(
            run, {f"e{place}": float(place < 4 + 3 * skill) for place in range(12)}
        )
    return rows


def test_figures_are_those_of_the_commands(data: ReportData, url: str) -> None:
    store = warehouse.connect(url)
    part = next(part for part in data.benchmarks if part.name == "one")
    assert part.board == store.leaderboard("one", n_resamples=99)
    assert part.pairs is not None
    assert part.pairs.rows == store.pairs("one", n_resamples=99).rows
    many = next(part for part in data.benchmarks if part.name == "many")
    split = many.sections["variance"]
    assert isinstance(split, VarianceSection)
    for shown, row in zip(split.report.rows, store.variance("many").rows, strict=True):
        differing = {
            name for name, value in asdict(row).items() if getattr(shown, name) != value
        }
        assert all(name.startswith("delta_k1") for name in differing)
    frame = store.query("published_against_recomputed").to_frame()
    assert [row["verdict"] for row in data.published].count("contradicts") == sum(
        frame["verdict"] == "contradicts"
    )
    assert len(data.sources) + data.n_other_sources == len(store.query("ingest_log"))
    assert [row["path"] for row in data.sources] == [
        "dump1",
        "dump2",
    ]  # the other brought votes
    unscored = store.query("unscored_samples", limit=10**6)
    assert sum(row["n_samples"] for row in data.unscored) == len(unscored) > 0


def test_the_page_holds_the_figures(url: str) -> None:
    with open_store(url) as store:
        one = read_report(store, ["one"], n_resamples=99)
    page = Reader(render(one))
    board = one.benchmarks[0].board
    assert board is not None
    rows = table(page, "Place", "Model")
    assert [row["Model"] for row in rows] == [row.model for row in board.rows]
    assert board.is_share
    assert [row["Score, %"] for row in rows] == [
        f"{100 * (row.estimate or 0):.1f}" for row in board.rows
    ]
    best_places = [row["Place"].partition("-")[0] for row in rows]
    assert best_places == [f"{row.statistical_rank}" for row in board.rows]
    assert rows[0]["vs. best"] == "best"
    pairs = one.benchmarks[0].pairs
    assert pairs is not None
    (forest,) = table(page, "Other model")
    in_points = 100 * (pairs.rows[0].difference or 0)
    assert forest["Difference, points"] == f"{in_points:+.1f}"
    assert f"together (max-|T|, {pairs.rows[0].n_resamples} draws, seed 0)" in render(
        one
    )
    assert [
        [row[name].rstrip("*") for name in pairs.groups[0].labels]
        for row in table(page, "Model", *pairs.groups[0].labels)
    ] == [["·", f"{in_points:.1f}"], [f"{-in_points:.1f}", "·"]]


def test_the_page_holds_the_variance(url: str) -> None:
    with open_store(url) as store:
        many = read_report(store, ["many"], n_resamples=99)
    section = many.benchmarks[0].sections["variance"]
    assert isinstance(section, VarianceSection)
    split = section.report
    assert split.rows[0].share_between is not None
    rows = table(Reader(render(many)), "Share of prompts")
    assert [row["Model tested"] for row in rows] == [row.model for row in split.rows]
    assert [row["Share of draws"] for row in rows] == [
        f"{row.share_within:.2f}" for row in split.rows
    ]


def test_what_is_not_there_takes_no_space(data: ReportData) -> None:
    page = render(data)
    for part in data.benchmarks:
        assert (f'id="{anchor("variance", part.name)}"' in page) == (
            "variance" in part.sections
        )
    assert (
        "Not split" not in page and "not computed" not in page and ">check<" not in page
    )


def test_every_benchmark_is_there_or_says_why_not(data: ReportData) -> None:
    page = render(data)
    for part in data.benchmarks:
        assert (part.board is None) == bool(part.why_no_board)
        assert (part.pairs is None) == bool(part.why_no_pairs)
    for suite in data.suites:
        assert (suite.board is None) == bool(suite.why_no_board)
    assert ">None<" not in page and ">nan<" not in page.lower()
    assert (
        "Suite <bdi>suite</bdi>" in page
        and "Training</h3>" in page
        and "Data map</h3>" in page
    )


def test_text_of_dumps_stays_text(data: ReportData) -> None:
    text = render(data)
    page = Reader(text)
    assert "<script>window" not in text and "<img" not in text
    assert "&lt;script&gt;window.hurt=1" in text
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not [
        found for _, found in page.tags if any(name.startswith("on") for name in found)
    ]
    assert not [
        found for _, found in page.tags if "style" in found
    ]  # the policy forbids them
    (policy,) = [
        found["content"] or ""
        for tag, found in page.tags
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_tables_and_drawings_can_be_heard(data: ReportData) -> None:
    page = Reader(render(data))
    counts = [tag for tag, _ in page.tags]
    assert counts.count("table") == counts.count("caption") == len(page.tables)
    assert all(
        found.get("scope") in ("col", "row") for tag, found in page.tags if tag == "th"
    )
    drawings = [found for tag, found in page.tags if tag == "svg"]
    assert drawings and all(
        found.get("aria-hidden") == "true" or found.get("aria-label")
        for found in drawings
    )
    targets = {found["id"] for _, found in page.tags if "id" in found}
    links = [found["href"] or "" for tag, found in page.tags if tag == "a"]
    assert links and all(link[1:] in targets for link in links)


def test_same_data_same_page(data: ReportData) -> None:
    made = "2026-01-02 03:04"
    assert render(data, made=made) == render(data, made=made)
    assert "2026-01-02 03:04 UTC" in render(data, made=made)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.0, 1.0], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-5.0, 5.0], ["-4", "-2", "0", "2", "4"]),
        ([0.12, None, 0.3], ["0.15", "0.20", "0.25", "0.30"]),
    ],
)
def test_axes_have_round_numbers(values: list[float | None], labels: list[str]) -> None:
    axis = make_axis(values)
    assert axis is not None and [words for _, words in axis.ticks] == labels


@pytest.mark.parametrize("values", [[0.5], [0.0], [1e-300], [1e300, -1e-3], [3.0, 3.0]])
def test_axes_of_odd_data_hold_it(values: list[float]) -> None:
    axis = make_axis(values)
    assert axis is not None
    assert all(0 <= (axis.at(value) or 0) <= WIDTH for value in values)
    assert axis.at(None) is None
    assert make_axis([None, float("nan"), float("inf")]) is None
    assert make_axis([-1.7e308, 1.7e308]) is None


def test_the_command_writes_and_replaces(run: Caller, url: str, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    out.write_text("of somebody else")
    call = ("report", "one", "--out", str(out), "--resamples", "99", "--json")
    run(*call, db=url).fails(2, "is there already", "--force")
    assert run(*call, "--force", db=url).code == 0
    found = run(*call, db=url)  # an earlier report is replaced unasked
    (row,) = found.rows
    size = out.stat().st_size
    assert row == {
        "path": str(out),
        "bytes": size,
        "benchmarks": 1,
        "unchanged": False,
        "pages": 1,
        "why_split": "",
    }
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    again = warehouse.connect(url).report(tmp_path / "p.html", "one", n_resamples=99)
    assert again.benchmarks == 1 and str(again).startswith(
        f"wrote {tmp_path / 'p.html'}"
    )


def test_a_page_that_shows_the_same_stays_whenever_it_is_made(
    data: ReportData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was first made in the minute in which its sources were read."""
    loaded = datetime(2031, 5, 6, 7, 8)
    held = replace(
        data, sources=[{**row, "claimed_at": loaded} for row in data.sources]
    )
    out = tmp_path / "r.html"
    for later, unchanged in ((0, False), (30, True), (60, True), (86400, True)):
        monkeypatch.setattr(
            writing,
            "utc_now",
            lambda seconds=later: loaded + timedelta(seconds=seconds),
        )
        assert write_report(held, out, keep_unchanged=True).unchanged is unchanged
    assert out.read_text().count("2031-05-06 07:08") >= 2
    assert not write_report(held, out).unchanged
    assert "2031-05-07 07:08" in out.read_text()


def test_what_cannot_be_is_told(run: Caller, url: str, tmp_path: Path) -> None:
    out = str(tmp_path / "r.html")
    run("report", "nosuch", "--out", out, db=url).fails(
        2, "nosuch", "warehouse list benchmarks"
    )
    run("report", "--out", str(tmp_path / "no" / "r.html"), db=url).fails(
        2, "does not exist"
    )
    (tmp_path / "data.duckdb").write_bytes(bytes(8) + b"DUCK")
    run("report", "--out", str(tmp_path), db=url).fails(2, "holds the database")
    with open_store(url) as store, pytest.raises(warehouse.errors.StatisticsError):
        read_report(store, level=1.0)
    assert not Path(out).exists()


def test_an_empty_store_says_what_to_do(tmp_path: Path, run: Caller) -> None:
    db, out = str(tmp_path / "s.duckdb"), tmp_path / "r.html"
    assert run("store", "init", db=db).code == 0
    assert run("report", "--out", str(out), db=db).code == 0
    assert "warehouse ingest PATH" in out.read_text()


# --- a real browser ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("page") / "report.html"
    with filled_url(request, "duckdb", build()) as url:
        warehouse.connect(url).report(
            out, "one", "told", f"evil {EVIL}", n_resamples=99
        )
    return out


def test_the_page_opens_clean_and_alone(opened: Any, written: Path) -> None:
    assert opened.get_log("browser") == []
    asked = requests(opened)
    assert written.as_uri() in asked
    assert all(url == written.as_uri() or url.startswith("data:") for url in asked)
    assert opened.execute_script("return window.hurt") is None


def test_the_policy_stops_what_would_slip_through(opened: Any) -> None:
    opened.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<img src=http://127.0.0.1:9/x "
        "onerror=window.hurt=1>'); const s = document.createElement('script');"
        "s.textContent = 'window.hurt=2'; document.body.append(s);"
    )
    answer = opened.execute_async_script(
        "const done = arguments[0];fetch('http://127.0.0.1:9/').then(() => "
        "done('sent'), (e) => done(e.name));"
    )
    assert answer == "TypeError"
    assert opened.execute_script("return window.hurt") is None
    refused = [entry["message"] for entry in opened.get_log("browser")]
    assert sum("Content Security Policy" in message for message in refused) >= 3


def test_tables_sort_by_keyboard(opened: Any) -> None:
    button = next(
        found
        for found in opened.find_elements("css selector", "table.sortable th button")
        if found.text.startswith("Score")
    )
    column = (
        "const t = arguments[0].closest('table'), i = "
        "arguments[0].closest('th').cellIndex;return [...t.tBodies[0].rows].map(r => "
        "r.cells[i]).map(cell => Number(cell.dataset.v ?? cell.textContent))"
    )
    button.send_keys("\ue007")  # enter
    head = button.find_element("xpath", "./..")
    assert head.get_attribute("aria-sort") == "ascending"
    rising = opened.execute_script(column, button)
    assert len(set(rising)) > 1 and rising == sorted(rising)
    button.send_keys(" ")
    assert head.get_attribute("aria-sort") == "descending"
    assert opened.execute_script(column, button) == rising[::-1]


def test_light_and_dark_by_system_and_by_button(opened: Any) -> None:
    def background(system: str) -> str:
        feature = {"name": "prefers-color-scheme", "value": system}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        script = "return getComputedStyle(document.body).backgroundColor"
        return str(opened.execute_script(script))

    light, dark = background("light"), background("dark")
    assert light != dark
    opened.find_element("id", "theme").click()
    assert background("dark") == light and background("light") == light
    opened.find_element("id", "theme").click()
    assert background("light") == dark


def test_the_first_key_leads_past_the_contents(opened: Any) -> None:
    body = opened.find_element("tag name", "body")
    body.send_keys("\ue004")  # tab
    assert opened.switch_to.active_element.get_attribute("class") == "skip"
    opened.switch_to.active_element.send_keys("\ue007")
    assert opened.execute_script("return location.hash") == "#main"


def test_the_page_can_be_printed(opened: Any) -> None:
    from selenium.common.exceptions import WebDriverException

    try:
        printed = opened.execute_cdp_cmd("Page.printToPDF", {"landscape": True})
    except WebDriverException:  # on a busy machine the browser gives it up now and then
        printed = opened.execute_cdp_cmd("Page.printToPDF", {"landscape": True})
    assert printed["data"].startswith("JVBER")  # %PDF
