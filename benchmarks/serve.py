"""The store in the browser: the first view, how long interactions take, memory; and 50
readers at once."""

from __future__ import annotations

import argparse
import html
import random
import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from measure import COMMAND, time_script
from report import FILL, new_browser


def ask(address: str) -> tuple[float, str]:
    """How long an answer takes, and the answer."""
    began = time.perf_counter()
    with urllib.request.urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    return time.perf_counter() - began, text


def paths(n: int, seed: int, benchmarks: int, models: int) -> list[str]:
    """What a reader may ask for: windows and facets of the table, pages of benchmarks,
    other references, JSON."""
    dice = random.Random(seed)

    def one() -> str:
        model = urllib.parse.quote(
            f"organisation/model-{dice.randrange(models):03d}-instruct", safe=""
        )
        name = f"benchmark-{dice.randrange(benchmarks)}"
        return dice.choice(
            ["/", f"/?row={dice.choice((0, 40, 80))}", f"/?benchmark={name}", f"/?model={model}", "/?order=name",
             f"/benchmark/{name}", f"/benchmark/{name}?against={model}", f"/benchmark/{name}?row=80"]
        )  # fmt: skip

    return [one() for _ in range(n)]


def percentile(seconds: Sequence[float], share: float) -> str:
    """In milliseconds."""
    return f"{1000 * sorted(seconds)[int(share * (len(seconds) - 1))]:.0f} ms"


def peak(process: int) -> str:
    """The most memory that a process had."""
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return f"{int(found[1]) / 1000:.0f} MB" if found else "unknown"


def read_on(address: str, pages: int) -> None:
    """Print how long it takes to compare two models on everything, to page through
    flips, to filter, to read."""
    pair = (
        "/compare?a=organisation/model-000-instruct&b=organisation/model-001-instruct"
    )
    began = time.perf_counter()
    while "data-again" in ask(address + pair)[1]:
        time.sleep(0.1)
    print(
        f"two models compared on all prompts after {time.perf_counter() - began:.2f} s"
    )
    for what, place in (
        ("pages of flips", f"{pair}&show=all"),
        ("filters", ""),
        (
            "samples",
            html.unescape(
                re.findall(r'class="open" href="([^"]+)"', ask(address + pair)[1])[0]
            ),
        ),
    ):
        seconds = []
        for number in range(pages):
            taken, text = ask(
                address + (place or f"{pair}&show=a_higher&text={number}")
            )
            found = re.search(r'href="([^"#]+)(#flips)?" rel="next"', text)
            seconds.append(taken)
            place = html.unescape(found[1]) if found and what != "filters" else place
        print(
            f"{pages} {what}: p50 {percentile(seconds, 0.5)}, p95 "
            f"{percentile(seconds, 0.95)}"
        )


#: Returns once the browser has painted.
PAINTED = "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done))"
CLICK = "document.querySelector(arguments[0]).click()"
COMPARE = (
    "const f = document.querySelector('form.asks'); [f.a.value, f.b.value] = "
    "arguments; f.requestSubmit()"
)
FILTER = (
    "const f = [...document.querySelectorAll('form.asks')].pop(); f.text.value = "
    "arguments[0]; f.requestSubmit()"
)


#: Whether a view is there, and whole: that of a page that was loaded.
WHOLE = """const main = document.querySelector("main");
return main && !main.dataset.again && document.readyState === "complete";"""
#: Seconds until another view stands, whole and painted, in the place of the one that
#: there is: measured in the page, since whoever asks it over and over whether it is
#: there takes the core from the server.
SWAPPED = """const done = arguments[arguments.length - 1], left = document.querySelector("main");
const began = performance.now();
new MutationObserver((_, watch) => {
  const main = document.querySelector("main");
  if (!main || main === left || main.dataset.again) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => done((performance.now() - began) / 1000)));
}).observe(document.body, { childList: true, subtree: true });
"""


def go(browser: Any, address: str) -> float:
    """Seconds from an address until its page is whole and painted."""
    began = time.perf_counter()
    browser.get(address)
    while not browser.execute_script(WHOLE):
        time.sleep(0.01)
    browser.execute_async_script(PAINTED)
    return time.perf_counter() - began


def click(browser: Any, script: str, *values: str) -> float:
    """Seconds from what a script does until the view that it leads to is whole and
    painted."""
    return float(browser.execute_async_script(SWAPPED + script, *values))


def in_browser(address: str, models: int) -> None:
    """Print how long a real browser takes from a click to what is painted."""
    if (browser := new_browser()) is None:
        print("no chromium and chromedriver: nothing measured in a browser")
        return
    names = [f"organisation/model-{place:03d}-instruct" for place in range(models)]
    pairs = [
        (names[place % models], names[(place + 1) % models]) for place in range(20)
    ]
    flips = f"{address}/compare?a={names[0]}&b={names[1]}&show=all"
    try:
        rows = {"first view": [go(browser, f"{address}/")]}
        go(browser, f"{address}/compare")
        rows["comparisons"] = [click(browser, COMPARE, *pair) for pair in pairs]
        rows["filters"] = [click(browser, FILTER, str(number)) for number in range(20)]
        end = go(browser, f"{flips}&before=0.0:{10**12}:0")
        back = [click(browser, CLICK, "a[rel=prev]") for _ in range(2)]
        rows["pages of the scroll from the first flip to the last"] = [
            go(browser, flips),
            end,
            *back,
        ]
        click(browser, CLICK, "a.open")
        rows["samples"] = [click(browser, CLICK, "a[rel=next]") for _ in range(20)]
    finally:
        browser.quit()
    for what, seconds in rows.items():
        print(
            f"browser, {len(seconds)} {what}: p50 {percentile(seconds, 0.5)}, p95 "
            f"{percentile(seconds, 0.95)}"
        )


def measure(url: str, clients: int, asked: int, benchmarks: int, models: int) -> None:
    """Print what one server takes."""
    began = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, "--db", url, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = (re.search(r"http://[^/\s]+", line) or [""])[0]
            print(f"address printed after {time.perf_counter() - began:.2f} s")
            print(f"first view: {ask(address + '/')[0]:.2f} s")
            began = time.perf_counter()
            while "data-again" in ask(f"{address}/")[1]:
                time.sleep(0.5)
            print(f"all ties after {time.perf_counter() - began:.1f} s")
            for number in range(benchmarks):
                while "data-again" in ask(f"{address}/benchmark/benchmark-{number}")[1]:
                    time.sleep(0.5)
            print(
                f"all benchmarks after {time.perf_counter() - began:.1f} s; "
                f"{peak(server.pid)}"
            )
            read_on(address, 40)
            in_browser(address, models)
            with ThreadPoolExecutor(clients) as threads:
                began = time.perf_counter()
                seconds = [
                    one
                    for one, _ in threads.map(
                        lambda path: ask(address + path),
                        paths(asked, 1, benchmarks, models),
                    )
                ]
            shown = (
                f"p50 {percentile(seconds, 0.5)}, p95 {percentile(seconds, 0.95)}, "
                f"most {percentile(seconds, 1)}"
            )
            total = time.perf_counter() - began
            print(
                f"{asked} interactions of {clients} at once: {shown}; "
                f"{asked / total:.0f} a second; {peak(server.pid)}"
            )
        finally:
            server.terminate()


def run(folder: Path, options: argparse.Namespace) -> None:
    """Fill a store with 100 models on 20 benchmarks (few of both where rows are few),
    and measure its pages."""
    benchmarks, models = (20, 100) if options.rows >= 1_000_000 else (2, 4)
    store = folder / "serve.duckdb"
    url = options.server or f"duckdb:///{store}"
    if options.server or not store.exists():
        size = map(
            str, (benchmarks, models, max(options.rows // benchmarks // models, 20), 1)
        )
        fill = f"{FILL.partition('class Embedder')[0]}print(time.monotonic() - started)"
        print(f"filling: {time_script(fill, [url, *size], 1)}")
    asked = 400 if benchmarks == 20 else 20
    measure(url, 50 if options.server else 1, asked, benchmarks, models)
