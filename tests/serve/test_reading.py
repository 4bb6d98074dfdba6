"""Pages on which people read: two models and where they disagree, a sample, the health
of the data."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import uvicorn

from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.flips import EXAM, LONG, MARKS, ODD, A, B, build_flips
from tests.support.page_reader import PageReader
from warehouse.serve.app import create_app
from warehouse.serve.server import listen
from warehouse.store.connection import Store

ROWS = build_flips()


def address(path: str = "/compare", **query: str) -> str:
    return f"{path}?{urlencode({'a': A, 'b': B} | query)}"


class Seen(HTMLParser):
    """Elements of a page, its figures, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.n, self.figures, self.links = 0, [], {}  # type: ignore[var-annotated]
        self.scripts: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.n += 1
        named = dict(attrs)
        if tag == "data":
            self.figures.append(float(named["value"] or ""))
        if tag == "a" and named.get("rel"):
            self.links[named["rel"]] = named["href"]
        if tag in ("script", "style"):
            self.scripts.append(named.get("src"))


def test_figures_of_the_page_are_those_of_the_command(
    client: PageReader, run: Caller, url: str
) -> None:
    rows = run("compare", A, B, "--json", db=url).rows
    text = client.get(address()).text
    figures = Seen(text[text.index('id="figures"') : text.index("</table>")]).figures
    names = ("mean_a", "mean_b", "difference", "ci_low", "ci_high", "n_prompts")
    expected = [row[name] for row in rows for name in names if row[name] is not None]
    assert len(rows) == 3 and figures == pytest.approx(expected, abs=1e-12)
    answer = client.get(address(format="json")).json()
    assert [row["ci_low"] for row in answer["rows"]] == [row["ci_low"] for row in rows]
    assert (
        text.count("<svg") == text.count('<figure class="copy">') == 3
    )  # metrics of three scales share no axis
    said = text.partition('id="verdict"')[2].partition("</p>")[0]
    in_terminal = run("compare", A, B, db=url).out.splitlines()[1]
    assert in_terminal in unescape(said)
    assert "is better on" in in_terminal and "is not known" in in_terminal
    assert "which is better is not known" in client.get(address(benchmark=ODD)).text


def test_models_of_a_sample_are_those_of_the_views_and_their_runs_are_read_once(
    client: PageReader, run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flips = client.get(address(format="json", show="all", benchmark=EXAM)).json()[
        "flips"
    ][:3]
    asked, read = [], Store._select
    monkeypatch.setattr(
        Store,
        "_select",
        lambda own, sql, *rest: asked.append(sql) or read(own, sql, *rest),
    )
    for row in flips:
        prompt = row["prompt_id"]
        found = client.get(
            f"/sample?run=run:{row['run_a']}&prompt=prompt:{prompt}&format=json"
        ).json()["models"]
        assert {one["model"] for one in found} == {A, B}
        query = (
            "select run_id, wilson_low, wilson_high from prompt_p_correct where "
            f"prompt_id = {prompt}"
        )
        ends = {
            one["run_id"]: (one["wilson_low"], one["wilson_high"])
            for one in run("query", "--json", "--sql", query, db=url).rows
        }
        assert {one["run_id"] for one in found if one["low"] is not None} == {*ends}
        assert all(
            (one["low"], one["high"]) == pytest.approx(ends[one["run_id"]])
            for one in found
            if one["run_id"] in ends
        )
    assert sum("from run_current" in sql for sql in asked) <= 2


def test_pages_of_hostile_texts_are_small_and_hold_none_of_them_as_their_own(
    client: PageReader,
) -> None:
    pages = [
        address(),
        address(text="Question", show="all"),
        address(text="\x00"),
        "/health",
        "/compare",
    ]
    pages.append(address(show="unscored", in_cluster="\x00", field="a\x00=b"))
    samples = client.get(address(format="json", show="all", benchmark=EXAM)).json()[
        "flips"
    ]
    longest = next(row for row in samples if row["tool_id"] == "e0")
    pages.append(
        f"/sample?run=run:{longest['run_a']}&prompt=prompt:{longest['prompt_id']}"
    )
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200, page
        seen = Seen(answer.text)
        assert (
            seen.n < 5000
            and len(answer.content) < 300_000
            and seen.scripts == ["/static/script.js"]
        )
        assert "<img" not in answer.text and "<b>bold" not in answer.text
    assert "as a file" in answer.text
    raw = client.get(pages[-1].replace("/sample", "/text") + "&of=response")
    assert len(raw.text) > LONG and raw.headers["content-type"].startswith("text/plain")
    assert (
        raw.headers["content-disposition"].startswith("attachment")
        and raw.headers["x-content-type-options"]
    )
    assert (
        client.get(pages[-1].replace("/sample", "/text") + "&of=secrets").status_code
        == 404
    )


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"b": A}, "both references mean run"),
        ({"b": "nobody"}, "nobody"),
        ({"a": "\x00", "b": "%"}, ""),
        ({"benchmark": "no/where?"}, "no/where?"),
        ({"level": "much"}, "level is a number"),
        ({"least": "-1"}, "least must be"),
        ({"show": "none"}, "unknown show"),
        ({"after": "x"}, "no place in a list"),
        ({"field": "subject"}, "FIELD=VALUE"),
    ],
)
def test_a_question_that_cannot_be_answered_is_said_above_the_form(
    client: PageReader, query: dict[str, str], words: str
) -> None:
    answer = client.get(address(**query))
    assert answer.status_code == 400 and "Traceback" not in answer.text
    assert words in answer.text and '<input name="a"' in answer.text


@pytest.mark.parametrize(
    "place",
    [
        "/sample",
        "/sample?run=prompt:1",
        "/sample?run=%00",
        "/text?run=run:1",
        "/health?part=x",
    ],
)
def test_what_is_not_there_is_said(client: PageReader, place: str) -> None:
    answer = client.get(place)
    assert answer.status_code in (400, 404) and "Traceback" not in answer.text


def test_next_and_previous_keep_the_filter(client: PageReader) -> None:
    page = address(benchmark=EXAM, field="subject=algebra")
    flips = client.get(page + "&format=json").json()
    assert flips["exploratory"]["rows"][0]["n_prompts"] == 15
    first = re.search(r'class="open" href="([^"]+)"', client.get(page).text)
    assert first is not None
    place, seen = first[1].replace("&amp;", "&"), []
    while place:
        found = Seen(client.get(place).text)
        seen.append(parse_qs(urlsplit(place).query)["prompt"][0])
        place = found.links.get("next", "")
    assert (
        len(seen) == flips["n_flips"]
        and seen[0] == f"prompt:{flips['flips'][0]['prompt_id']}"
    )
    assert (
        "prev" in found.links
        and "prev" not in Seen(client.get(first[1].replace("&amp;", "&")).text).links
    )


def test_before_an_empty_page_of_flips_stand_the_last_ones(client: PageReader) -> None:
    n_flips = client.get(address(benchmark=EXAM, format="json")).json()["n_flips"]
    behind = client.get(address(benchmark=EXAM, after="0.0:999999999999:0")).text
    assert "No prompt here" in behind and "next" not in Seen(behind).links
    last = client.get(Seen(behind).links["prev"]).text
    first = n_flips - 10
    assert (
        f"{first + 1} to {n_flips} of {n_flips}" in last
        and "next" not in Seen(last).links
    )
    before = client.get(Seen(last).links["prev"]).text
    assert first < 10 and f"1 to 10 of {n_flips}" in before


def test_a_frozen_claim_is_a_file(client: PageReader) -> None:
    answer = client.get(address("/hypothesis.json", benchmark=MARKS))
    assert (
        answer.headers["content-disposition"]
        == 'attachment; filename="hypothesis.json"'
    )
    assert json.loads(answer.text)["benchmark"] == MARKS
    assert client.get(address("/hypothesis.json")).status_code == 400
    chosen = client.get(address(benchmark=MARKS, show="a_higher")).text
    assert "chosen by its scores" in chosen and 'class="exploratory"' not in chosen


@pytest.fixture
def served(url: str) -> Iterator[str]:
    """The address of a server over the module's store."""
    own = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(create_app(url), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    yield f"http://127.0.0.1:{own.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.mark.rare
def test_a_browser_goes_from_flip_to_flip_by_keys(browser: Any, served: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait

    def press(key: str) -> str:
        browser.switch_to.active_element.send_keys(key)
        return str(
            browser.execute_script(
                "return document.activeElement.querySelector('.open')?.textContent ?? "
                "''"
            )
        )

    def until(part: str) -> str:
        WebDriverWait(browser, 10).until(lambda found: part in found.current_url)
        WebDriverWait(browser, 10).until(
            lambda found: found.find_elements(By.TAG_NAME, "footer")
        )
        return str(browser.current_url)

    browser.set_window_size(1400, 1000)
    browser.get("about:blank")  # a page of a server that has ended may still ask it
    browser.get_log("browser")
    browser.get(served + address(benchmark=EXAM))
    WebDriverWait(browser, 10).until(
        lambda found: found.find_elements(By.CSS_SELECTOR, "article.flip")
    )
    first, second = press("j"), press("j")
    assert first and second and first != second and press("k") == first
    sides = (
        "return [...document.querySelectorAll('.sides')[0].children].map(one => "
        "one.getBoundingClientRect().top)"
    )
    left, right = browser.execute_script(sides)
    assert left == right
    browser.find_element(By.NAME, "text").send_keys("algebra")
    Select(browser.find_element(By.NAME, "show")).select_by_value("a_right")
    browser.find_element(By.XPATH, "//button[text()='Filter']").send_keys(Keys.ENTER)
    assert "text=algebra" in until("show=a_right")
    assert (
        "there is no test" in browser.find_element(By.CSS_SELECTOR, ".exploratory").text
    )
    name = press("j")
    press(Keys.ENTER)
    before = until("/sample?")
    assert browser.find_element(By.TAG_NAME, "h1").text.startswith(f"{name} by")
    browser.switch_to.active_element.send_keys("j")
    WebDriverWait(browser, 10).until(lambda found: found.current_url != before)
    assert "text=algebra" in until("/sample?")
    assert browser.execute_script("return window.hurt") is None
    assert [one for one in browser.get_log("browser") if one["level"] == "SEVERE"] == []


def test_an_open_choice_offers_links(request: pytest.FixtureRequest) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    scores = {f"q{key}": float(key % 2) for key in range(12)}
    for temperature in (0.0, 0.7):
        rows.scores(rows.run("ours", "quiz", temperature=temperature), scores)
    rows.scores(rows.run("base", "quiz", temperature=0.0), scores)
    base = "http://127.0.0.1:8321"
    with (
        filled_url(request, "duckdb", rows) as url,
        PageReader(create_app(url), base_url=base) as asks,
    ):
        asked = asks.get("/compare?a=ours&b=base")
        assert asked.status_code == 400
        offered = asked.text.partition('class="choices"')[2].partition("</ul>")[0]
        links = [unescape(one) for one in re.findall(r'href="([^"]+)"', offered)]
        assert len(links) == 3
        assert "The newest of each" in offered
        assert "ours on quiz: temperature=0.7" in offered
        for link in links:
            assert asks.get(link).status_code == 200
