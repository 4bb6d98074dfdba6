"""The report in a folder: an index and a page for each benchmark, with links that work
there."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.report.test_report import build
from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.html import EVIL, Reader, requests, table
from warehouse import connect
from warehouse.analysis.report_data.report import ReportData, ReportReading, read_report
from warehouse.errors import MisuseError
from warehouse.report import page, writing
from warehouse.report.fold import MOST_NODES
from warehouse.report.opening import answer_of
from warehouse.report.page import INDEX, LOG, file_name
from warehouse.report.workers import side_by_side
from warehouse.report.writing import MOST_BENCHMARKS, SCORES, check_folder, write_report
from warehouse.store.connection import Store
from warehouse.store.open import open_store


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "duckdb", build()) as filled:
        yield filled


@pytest.fixture(scope="module")
def folder(data: ReportData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "report"
    write_report(data, folder, split=True)
    return folder


@pytest.fixture
def written(folder: Path) -> Path:
    return folder / INDEX


def test_a_benchmark_leaves_memory_with_its_section(data: ReportData) -> None:
    renderer = page.Renderer()
    gc.disable()
    try:
        for part in data.benchmarks:
            own = replace(part)
            held = weakref.ref(own)
            renderer.section(own, data)
            del own
            assert held() is None, part.name
    finally:
        gc.enable()


@pytest.mark.rare
def test_the_index_leads_to_every_benchmark_and_back(
    opened: Any, folder: Path, data: ReportData
) -> None:
    links = opened.execute_script(
        "return [...document.querySelectorAll('#benchmarks ~ div tbody a')].map(a => "
        "a.href)"
    )
    assert len(links) == len(data.benchmarks)
    assert len({*links}) == len(links)
    for link, part in zip(links, data.benchmarks, strict=True):
        opened.get(link)
        assert opened.find_element("tag name", "h2").text == part.name
        opened.find_element("link text", "All benchmarks").click()
        assert opened.current_url == (folder / INDEX).as_uri()
    opened.find_element("link text", "Ingest log").click()
    assert opened.current_url == (folder / LOG).as_uri()
    assert opened.get_log("browser") == []
    assert all(one.startswith(("data:", "file:")) for one in requests(opened))
    assert opened.execute_script("return window.hurt") is None


def test_the_index_says_each_benchmark_once(folder: Path, data: ReportData) -> None:
    text = (folder / INDEX).read_text()
    for row, part in zip(
        table(Reader(text), "Benchmark", "In short"), data.benchmarks, strict=True
    ):
        assert (row["Benchmark"], row["In short"]) == (
            part.name,
            answer_of(part).striptags(),
        )
    assert "By benchmark" not in text


def test_all_scores_stand_on_a_page_of_their_own_where_the_index_has_a_part(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    rows = StoreRows()
    rows.describe("one", rows.metric())
    for place in range(30):
        rows.scores(
            rows.run(f"m{place:02}", "one"),
            {f"p{n}": float((n * place) % 7 < 4) for n in range(4)},
        )
    with filled_url(request, "duckdb", rows) as url, open_store(url) as store:
        write_report(read_report(store, n_resamples=0), tmp_path / "report", split=True)
    assert f'href="{SCORES}"' in (tmp_path / "report" / INDEX).read_text()
    assert (
        len(table(Reader((tmp_path / "report" / SCORES).read_text()), "Model", "one"))
        == 30
    )


def test_a_page_holds_its_benchmark_alone(folder: Path, data: ReportData) -> None:
    published = {row["benchmark"] for row in data.published}
    assert published
    for part in data.benchmarks:
        own = Reader((folder / file_name(part.name)).read_text())
        if part.board:
            of_models = next(found for found in own.tables if "Model" in found[0])
            at = of_models[0].index("Model")
            models = [row[at] for row in of_models[1:]]
            assert models == [row.model for row in part.board.rows]
        if part.name in published:
            named = {row["Benchmark"].split(" (")[0] for row in table(own, "Verdict")}
            assert named == {part.name}


def test_names_of_files_stay_and_are_safe() -> None:
    names = [
        "gsm8k",
        "index",
        "ingest-log",
        "GSM8K",
        "mmlu/abstract algebra",
        "mmlu/abstract-algebra",
        "../../etc",
        "..",
        ".",
        "a" * 300,
        "a" * 301,
        "日本語",
        "日本",
        EVIL,
        "con",
        "a.b",
        "A.B",
        "x~1",
        "",
        " ",
        "a?b#c%20",
    ]
    files = [file_name(name) for name in names]
    assert file_name("gsm8k") == "gsm8k.html"
    assert file_name("mmlu/abstract algebra") == "mmlu-abstract-algebra~8787cd8fde.html"
    assert len({name.lower() for name in files} | {INDEX, LOG}) == len(names) + 2
    for name in files:
        assert len(name) <= 100 and not name.startswith(".")
        assert not {*name} - {*"abcdefghijklmnopqrstuvwxyz0123456789._-~"}


def test_the_command_writes_a_folder(
    run: Caller, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = run("--db", url, "report", "one", "--split", "--resamples", "0")
    assert out.code == 0, out.err
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [
        INDEX,
        LOG,
        "one.html",
    ]
    (tmp_path / "taken").write_text("")
    refused = run("--db", url, "report", "--split", "--out", "taken")
    assert refused.code == 2
    assert "taken is a file" in refused.err
    with pytest.raises(MisuseError, match="does not exist"):
        check_folder(tmp_path / "no" / "report")


@pytest.fixture(scope="module")
def large(request: pytest.FixtureRequest) -> Iterator[str]:
    """Six benchmarks of 120 models: more nodes than a page may have."""
    rows = StoreRows()
    metric = rows.metric()
    for name in ("first", "second", "third", "fourth", "fifth", "sixth"):
        rows.describe(name, metric)
        for prompt in range(4):
            rows.prompt(name, f"{name}-{prompt}", text=f"{name} {prompt}")
        for model in range(120):
            scores = {
                f"{name}-{prompt}": float((model >> prompt) % 2) for prompt in range(4)
            }
            rows.scores(rows.run(f"model-{model:03}", name), scores)
    with filled_url(request, "duckdb", rows) as filled:
        yield filled


def test_a_page_has_few_nodes_before_something_is_opened(
    large: str, tmp_path: Path, browser: Any
) -> None:
    out = tmp_path / "report.html"
    connect(large).report(out, n_resamples=0)
    nodes = "return document.querySelectorAll('*').length"
    browser.get(out.as_uri())
    assert browser.execute_script(nodes) <= MOST_NODES
    assert (
        browser.execute_script("return document.getElementById('board-sixth')") is None
    )
    browser.get(f"{out.as_uri()}#pairs-sixth")
    browser.refresh()  # a link from elsewhere opens what holds its place
    assert browser.find_element("id", "pairs-sixth").is_displayed()
    rows = (
        "return document.querySelectorAll('#board-sixth ~ "
        ".scroll')[0].querySelectorAll('tbody tr').length"
    )
    assert browser.execute_script(rows) == 40
    browser.execute_script(
        "document.querySelector('#board-sixth ~ .scroll th button').click()"
    )
    assert browser.execute_script(rows) == 120  # all rows are sorted
    assert browser.get_log("browser") == []
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(out.as_uri())
        board = browser.find_element("id", "board-sixth")
        assert not board.is_displayed()
        board.find_element("xpath", "./ancestor::details/summary").send_keys(Keys.ENTER)
        assert board.is_displayed()
    finally:
        browser.execute_cdp_cmd(
            "Emulation.setScriptExecutionDisabled", {"value": False}
        )


def test_many_benchmarks_or_bytes_become_a_folder(
    data: ReportData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(data.benchmarks) > MOST_BENCHMARKS
    many = write_report(data)
    assert many.path == "report/index.html" and many.pages == len(data.benchmarks) + 3
    assert many.bytes == sum(
        path.stat().st_size for path in (tmp_path / "report").iterdir()
    )
    assert (
        f"more than {MOST_BENCHMARKS} benchmarks" in many.why_split
        and "--one-page" in str(many)
    )
    assert write_report(data, "report", keep_unchanged=True).unchanged
    assert (
        write_report(data, "named.html").pages
        == write_report(data, split=False).pages
        == 1
    )
    few = replace(data, benchmarks=data.benchmarks[:3])
    assert write_report(few).path == "report.html"
    monkeypatch.setattr(writing, "MOST_BYTES", 1000)
    assert write_report(few).pages == 5


@pytest.mark.rare
def test_reads_do_not_grow_with_benchmarks(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the parts of a page read is read once, for many benchmarks at a time."""
    asked: list[str] = []
    select = Store._select

    def counted(self: Store, sql: str, params: Any, *by_id: str) -> Any:
        asked.append(sql)
        return select(self, sql, params, *by_id)

    monkeypatch.setattr(Store, "_select", counted)
    counts = []
    for number in (2, 4, 12):  # of three and more there is a mean, which is read too
        rows = StoreRows()
        metric = rows.metric()
        for place in range(number):
            name = f"quiz{place}"
            rows.describe(name, metric)
            for prompt in range(6):
                rows.prompt(name, f"{name}-{prompt}", text=f"{name} {prompt}")
            for model in ("a", "b"):
                scores = {f"{name}-{prompt}": float(prompt % 2) for prompt in range(6)}
                rows.scores(rows.run(model, name), scores)
        with filled_url(request, "duckdb", rows) as filled, open_store(filled) as store:
            asked.clear()
            found = read_report(store, n_resamples=0)
            assert len(found.benchmarks) == number
            counts.append(len(asked))
            asked.clear()
            reading = ReportReading(store, n_resamples=0)
            assert [
                part.name for name in found.names for part in reading.parts([name])
            ] == [*found.names]
            # as a process asks that makes one block after the other
            assert sum("from run_cost" in sql for sql in asked) == 1
    assert counts[0] < 30
    assert counts[1] == counts[2] < counts[0] + 25


@pytest.mark.rare
def test_processes_side_by_side_write_the_same_pages(url: str, tmp_path: Path) -> None:
    pages = []
    for jobs in (1, 2):
        with open_store(url) as store:
            reading = ReportReading(store)
            write_report(
                reading,
                tmp_path / f"{jobs}",
                split=True,
                sections_by=side_by_side(reading, jobs),
            )
        pages.append(
            {
                path.name: path.read_text().rpartition("<!-- content")[2]
                for path in (tmp_path / f"{jobs}").iterdir()
            }
        )
    assert pages[0] == pages[1] and len(pages[0]) > 2
