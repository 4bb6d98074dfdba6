"""Pages in a real browser, from a real server: what is loaded, what can be done, for
whom."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.serve.test_markdown import HOSTILE
from tests.support.builders import StoreRows
from tests.support.cli import COMMAND, filled_url
from tests.support.html import EVIL, requests
from tests.support.two_models import GENERATION, build_two_models
from warehouse.store.open import open_store

#: The name of a benchmark that no line can hold.
LONG = "y" * 200


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """Two models, and one whose name wants to run."""
    rows = build_two_models()
    run = rows.run(EVIL, "one")
    rows.scores(run, {f"one{place}": float(place % 2) for place in range(60)})
    rows.describe(LONG, rows.metric())
    for model, step in ((EVIL, 2), ("lab/z", 3)):
        rows.scores(
            rows.run(model, LONG),
            {f"long{place}": float(place % step == 0) for place in range(20)},
        )
    for prompt in rows.rows["prompt"]:
        prompt.setdefault("choices", None)
    for place in range(60):
        rows.generation(run, f"one{place}", 0, HOSTILE, **dict.fromkeys(GENERATION))
    return rows


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest, rows: StoreRows) -> Iterator[str]:
    """Of a server, the real command, without the slash at the end."""
    with filled_url(request, "duckdb", rows) as url, serving(url) as found:
        yield found


def wait_for_state_after(as_of: str, address: str) -> None:
    """Until a server shows a later state of its store."""
    for _ in range(300):
        with urlopen(address) as page:
            text = page.read().decode()
        (shown,) = re.findall(r'<time datetime="([^"]+)">', text)
        if shown > as_of:
            return
        time.sleep(0.2)
    raise TimeoutError(f"{address} still shows {as_of}")


@contextmanager
def serving(url: str) -> Iterator[str]:
    """The address of a server over a store, which ends with this."""
    command = [str(COMMAND), "--db", url, "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield re.findall(r"http://[^/\s]+", process.stdout.readline())[0]
        finally:
            process.terminate()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens an address of the server, as wide as a phone, once all of it is there."""
    from selenium.webdriver.support.ui import WebDriverWait

    def show(path: str, width: int = 390) -> Any:
        metrics = {
            "width": width,
            "height": 900,
            "deviceScaleFactor": 1,
            "mobile": width < 500,
        }
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(f"{address}{path}")
        WebDriverWait(browser, 30).until(
            lambda one: (
                not one.execute_script("return document.querySelector('[data-again]')")
            )
        )
        return browser

    for kind in ("browser", "performance"):
        browser.get_log(kind)
    yield show
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_two_names_are_picked_and_told_apart(
    page: Callable[..., Any], address: str
) -> None:
    shown = page("/")
    for name in ("lab/x", "lab/y"):
        links = shown.execute_script(
            "return [...document.querySelectorAll('.heat tbody a')].filter(a => "
            "a.textContent === arguments[0])",
            name,
        )
        shown = page(links[0].get_attribute("href").removeprefix(address))
    assert "x less y" in shown.find_element("id", "verdict").text
    assert shown.get_log("browser") == []  # nothing that the policy forbids was tried
    assert all(one.startswith((address, "data:")) for one in requests(shown))
    assert shown.execute_script("return window.hurt") is None
    assert shown.execute_script(
        "return document.documentElement.scrollWidth <= innerWidth"
    )


def test_a_response_as_markdown_loads_nothing(
    page: Callable[..., Any], address: str
) -> None:
    query = urlencode({"a": EVIL, "b": "lab/x", "benchmark": "one"})
    shown = page(f"/compare?{query}")
    for words in ("a.open", "main a[href*='as=markdown']"):
        shown = page(
            shown.find_element("css selector", words)
            .get_attribute("href")
            .removeprefix(address)
        )
    assert shown.find_element("css selector", ".markdown h4").text == "Sum"
    assert (
        shown.execute_script(
            "return document.querySelectorAll('.markdown :is(a, img, [style], "
            "script)').length"
        )
        == 0
    )
    assert (
        shown.execute_script("return window.hurt") is None
        and shown.get_log("browser") == []
    )
    assert all(one.startswith((address, "data:,")) for one in requests(shown))


def test_a_long_name_is_no_wider_than_the_page(page: Callable[..., Any]) -> None:
    shown = page(f"/benchmark/{LONG}", 1400)
    assert shown.execute_script("return document.querySelectorAll('figure').length") > 0
    assert shown.execute_script(
        "return document.documentElement.scrollWidth <= innerWidth"
    )
    shown = page("/")
    named = (
        "const [state] = document.querySelectorAll('#state'); state.textContent = "
        "'x'.repeat(90);"
    )
    assert shown.execute_script(
        f"{named} return state.scrollWidth <= state.clientWidth && state.clientWidth "
        "<= 390"
    )


@pytest.mark.parametrize(
    "path", ["/", "/benchmark/one", "/compare?a=lab/x&b=lab/y", "/health"]
)
def test_a_page_is_light_and_axe_finds_nothing_serious(
    page: Callable[..., Any], path: str
) -> None:
    pytest.importorskip(
        "axe_core_python", reason="axe-core is not installed (axe-core-python)"
    )
    shown = page(path)
    sizes = (
        "return performance.getEntries().reduce((sum, one) => sum + "
        "(one.decodedBodySize || 0), 0)"
    )
    assert 10_000 < shown.execute_script(sizes) < 300_000
    assert shown.execute_script("return document.querySelectorAll('*').length") < 5_000
    shown.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    shown.execute_script(
        files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    )
    found = shown.execute_async_script(
        "const done = arguments[0]; axe.run().then(done)"
    )
    shown.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    bad = [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]]
    impacts = [one["impact"] for one in found["violations"]]
    assert [
        one
        for one, impact in zip(bad, impacts, strict=True)
        if impact in ("serious", "critical")
    ] == []


def test_views_take_one_anothers_place_within_a_page(
    page: Callable[..., Any], address: str
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    def until(script: str) -> None:
        WebDriverWait(shown, 30).until(
            lambda one: one.execute_script(f"return {script}")
        )

    shown = page("/", 1400)
    shown.execute_script(
        "window.same = 1; document.querySelector('nav.places "
        'a[href="/compare"]\').click()'
    )
    until(
        "document.title === 'Compare' && document.activeElement.textContent === "
        "'Compare'"
    )
    assert (
        shown.execute_script(
            "return document.querySelector('nav.places [aria-current]').textContent"
        )
        == "Compare"
    )
    fill = (
        "const f = document.forms[0]; [f.a.value, f.b.value, f.benchmark.value] = "
        "arguments; f.requestSubmit()"
    )
    shown.execute_script(fill, "lab/x", "lab/y", "one")
    until(
        "document.querySelector('article.flip') && document.querySelector('figure "
        ".copies')"
    )
    assert shown.current_url.startswith(f"{address}/compare?a=lab%2Fx&b=lab%2Fy&")
    open_first = (
        "const a = document.querySelector('a.open'); a.focus({ preventScroll: true }); "
        "a.click()"
    )
    shown.execute_script(f"scrollTo({{ top: 500, behavior: 'instant' }}); {open_first}")
    until("location.pathname === '/sample' && document.title.includes(' by ')")
    assert shown.execute_script("return scrollY") == 0
    shown.execute_script("scrollTo({ top: 200, behavior: 'instant' })")
    until("history.state?.top === 200")
    shown.back()
    until(
        "document.title.includes('against') && document.querySelector('article.flip') "
        "&& scrollY === 500"
    )
    assert (
        shown.execute_script("return document.activeElement.className") == "open"
    )  # where the reader was
    shown.forward()
    until("document.title.includes(' by ') && scrollY === 200")
    shown.back()
    until("document.querySelector('#list')")
    shown.execute_script("document.querySelector('a[rel=next]').click()")
    until(
        "document.querySelector('#list')?.textContent.startsWith('11 to') && scrollY > "
        "500"
    )
    assert (
        shown.execute_script("return document.activeElement.id") == "flips"
    )  # Tab goes on from there
    assert shown.execute_script("return window.same") == 1
    shown.execute_script(
        "const a = document.querySelector('.made a'); a.click()"
    )  # no view: the browser loads it
    until("document.contentType === 'application/json'")
    assert shown.execute_script("return window.same") is None
    assert shown.get_log("browser") == []


def test_a_form_opens_a_tab_of_its_own_where_the_key_for_that_is_held(
    page: Callable[..., Any],
) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    shown = page("/compare", 1400)
    first = shown.current_window_handle
    shown.execute_script(
        "const f = document.forms[0]; [f.a.value, f.b.value] = ['lab/x', 'lab/y']"
    )
    button = shown.find_element("css selector", "form.asks button")
    ActionChains(shown).key_down(Keys.CONTROL).click(button).key_up(
        Keys.CONTROL
    ).perform()
    WebDriverWait(shown, 30).until(lambda one: len(one.window_handles) == 2)
    assert shown.title == "Compare" and "a=lab" not in shown.current_url
    (other,) = set(shown.window_handles) - {first}
    shown.switch_to.window(other)
    WebDriverWait(shown, 30).until(lambda one: "a=lab%2Fx" in one.current_url)
    shown.close()
    shown.switch_to.window(first)
    button.click()  # and without it none
    WebDriverWait(shown, 30).until(lambda one: "a=lab%2Fx" in one.current_url)
    assert len(shown.window_handles) == 1


def test_the_address_is_that_of_the_view_that_came(
    page: Callable[..., Any], address: str
) -> None:
    """As behind a proxy that leads elsewhere."""
    from selenium.webdriver.support.ui import WebDriverWait

    shown = page("/compare", 1400)
    shown.execute_script(
        "const old = fetch; window.fetch = async (address, given) => { const answer = "
        "await old('/health', given); Object.defineProperty(answer, 'redirected', { "
        "value: true }); return answer; }; document.querySelector(`nav.places "
        "a[href='/']`).click()"
    )
    WebDriverWait(shown, 30).until(
        lambda one: one.title == "What is wrong with the data?"
    )
    assert shown.current_url == f"{address}/health"


#: Answers come as late as the test says, and are counted; the body of the first never
#: comes once it is not wanted.
SLOW = """
const old = fetch, late = (signal) => new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
window.asked = 0;
window.fetch = async (address, given) => {
  const answer = await old(address, given);
  if (!asked++) answer.text = () => late(given.signal);
  return answer;
};
"""


def test_a_second_click_and_an_error_take_the_place_of_a_view(
    page: Callable[..., Any],
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    shown = page("/health", 1400)
    follow = "document.querySelector(`nav.places a[href='${arguments[0]}']`).click()"
    shown.execute_script(f"window.same = 1; {SLOW} {follow}", "/compare")
    WebDriverWait(shown, 30).until(lambda one: one.execute_script("return asked === 1"))
    shown.execute_script(follow, "/")
    WebDriverWait(shown, 30).until(lambda one: one.title == "Which model is best?")
    assert shown.execute_script("return [window.same, window.asked >= 2]") == [1, True]
    script = (
        "const a = document.querySelector('main a'); [window.asked, a.href] = [1, "
        "'/no-such-page']; a.click()"
    )
    shown.execute_script(script)
    WebDriverWait(shown, 30).until(lambda one: one.title == "404")
    assert shown.execute_script("return [window.same, window.asked]") == [
        1,
        2,
    ]  # nothing is asked twice
    shown.execute_script(follow, "/health")
    WebDriverWait(shown, 30).until(
        lambda one: one.title == "What is wrong with the data?"
    )
    shown.get_log("browser")


#: Scores of the table that are there; and the row of a model, as far as it is.
ALL = (
    "[...new Set([...document.querySelectorAll('.heat tbody [data-v]')].map(one => "
    "one.dataset.v))]"
)
ROW = (
    "const row = [...document.querySelectorAll('.heat tbody tr')].find(one => "
    "/^m93/.test(one.cells[0].textContent));"
)


@pytest.mark.rare
def test_the_table_scrolls_through_all_models_and_benchmarks(
    request: pytest.FixtureRequest, browser: Any
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    rows = StoreRows()
    for place in range(45):
        rows.describe(f"on{place:02}", rows.metric())
        for model in range(95) if not place else (0, 90):
            rows.scores(
                rows.run(f"m{model:02}", f"on{place:02}"),
                {f"p{place}": float(model % 2)},
            )
    wait = WebDriverWait(browser, 60)
    with filled_url(request, "duckdb", rows) as url, serving(url) as address:
        browser.get_log("browser")
        browser.get(address)
        wait.until(
            lambda shown: (
                shown.execute_script(
                    "return document.querySelector('.heat')?.dataset.rows"
                )
                == "95"
            )
        )
        assert browser.execute_script(f"{ROW} return !row")
        state = "return document.querySelector('#state time').dateTime"
        as_of = browser.execute_script(state)
        with open_store(url, write=True) as store:
            store.connection.exec_driver_sql("update prompt_score set value = 0.25")
            store.connection.commit()
        wait_for_state_after(as_of, address)
        browser.execute_script("document.querySelector('.heat').scrollTo(1e6, 1e6)")
        wait.until(
            lambda shown: shown.execute_script(state) > as_of
        )  # no parts of two states side by side
        wait.until(
            lambda shown: shown.execute_script(f"{ROW} return row?.cells.length === 46")
        )
        assert (
            browser.execute_script(
                "return document.querySelector('.heat thead tr').cells.length"
            )
            == 46
        )
        place, link = browser.execute_script(
            f"{ROW} return [+row.ariaRowIndex, row.querySelector('a').href]"
        )
        assert 41 < place <= 96 and link.endswith("#verdict")
        assert browser.execute_script(f"return {ALL}") == ["0.25"]
        assert (
            browser.get_log("browser") == []
        )  # nothing that the policy forbids was tried


def test_a_leaderboard_is_copied_as_it_is_seen(page: Callable[..., Any]) -> None:
    shown = page("/benchmark/one", 1400)
    shown.execute_script(
        "navigator.clipboard.writeText = async (text) => { window.got = text; };"
        "document.querySelector('.copies button').click()"
    )
    texts = {}
    for kind in ("SVG", "Markdown table"):
        button = next(
            one
            for one in shown.find_elements("css selector", ".copies button")
            if one.text == kind
        )
        texts[kind] = shown.execute_async_script(
            "const done = arguments[1]; arguments[0].click(); setTimeout(() => "
            "done(window.got), 200)",
            button,
        )
    assert (
        texts["SVG"].count("<circle") == 3 and "wilson" in texts["SVG"]
    )  # intervals are drawn
    for text in texts.values():
        assert (
            "how?" not in text and "degrees" not in text and "Plan this" not in text
        )  # what is not open is not drawn
    assert "60" in texts["Markdown table"] and "as of 20" in texts["Markdown table"]


def test_figures_of_a_comparison_say_on_how_many_prompts_and_how(
    page: Callable[..., Any],
) -> None:
    shown = page("/compare?a=lab/x&b=lab/y&latest=1", 1400)
    notes = [one.text for one in shown.find_elements("css selector", "figure.copy > p")]
    assert notes and all(
        "common questions" in one and "% intervals by paired" in one for one in notes
    )
    cells = "[...row.cells].map(one => one.textContent).join(' ')"
    script = (
        "return [...document.querySelectorAll('#figures tbody tr')].map(row => "
        f"{cells})"
    )
    for row in shown.execute_script(script):  # scores, their difference and its ends
        assert len({len(one) for one in re.findall(r"(?<=\.)\d+", row)}) == 1, row


@pytest.mark.rare
def test_a_table_says_what_its_shades_are_once_they_have_come(
    request: pytest.FixtureRequest, browser: Any
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    rows = StoreRows()
    rows.describe("one", rows.metric())
    for model in range(42):
        rows.scores(
            rows.run(f"m{model:02}", "one"),
            {f"p{key}": float(2 * key < model) for key in range(21)},
        )
    with filled_url(request, "duckdb", rows) as url, serving(url) as address:
        browser.get(address)
        caption = "document.querySelector('.heat[data-rows] caption')?.textContent"
        shaded = f"return !document.querySelector('[data-again]') && {caption}"
        said = "Coloured: best of its column"
        WebDriverWait(browser, 60).until(
            lambda shown: said in (shown.execute_script(shaded) or "")
        )
