"""Sections of the report in a real browser: they can be seen and read, no text of a
dump runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.html import requests
from tests.support.sections import analysed_url


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with analysed_url(request, "duckdb") as filled:
        yield filled


def test_nothing_of_a_dump_runs(opened: Any, written: Path) -> None:
    assert opened.get_log("browser") == []
    assert all(
        one == written.as_uri() or one.startswith("data:") for one in requests(opened)
    )
    assert opened.execute_script("return window.hurt") is None
    assert opened.execute_script("return document.images.length") == 0


def test_figures_can_be_seen_and_fit(opened: Any) -> None:
    sizes = opened.execute_script(
        "return [...document.querySelectorAll('svg.plot:has(g)')].map(s => {"
        "const b = s.getBoundingClientRect(); return [b.width, b.height,"
        "[...s.querySelectorAll('path')].filter(p => p.getTotalLength() > 0).length]})"
    )
    assert len(sizes) >= 10
    assert all(
        width > 200 and height > 150 and paths > 2 for width, height, paths in sizes
    )
    overlaps = opened.execute_script(
        "return [...document.querySelectorAll('svg.plot')].filter(s => {const boxes = "
        "[...s.querySelectorAll('text')].map(t => t.getBoundingClientRect());return "
        "boxes.some((a, i) => boxes.some((b, j) => j > i && a.left < b.right - 1 && "
        "b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3))})"
        ".map(s => s.getAttribute('aria-label'))"
    )
    assert overlaps == []


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_never_wider_than_the_window(opened: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        found = opened.execute_script(
            "return [innerWidth, document.documentElement.scrollWidth - "
            "document.documentElement.clientWidth]"
        )
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found == [width, 0]


def test_what_is_folded_opens_by_keyboard(opened: Any) -> None:
    summary = opened.find_element("css selector", "details summary")
    held = summary.find_element("xpath", "../div")
    assert not held.is_displayed()
    summary.send_keys("\ue007")  # enter
    assert held.is_displayed()


def test_nothing_is_folded_on_paper(opened: Any) -> None:
    folded = (
        "return [...document.querySelectorAll('details')].filter(d => !d.open).length"
    )
    assert opened.execute_script(folded) > 0
    opened.execute_cdp_cmd("Page.printToPDF", {"landscape": True})
    assert opened.execute_script(folded) == 0


def test_the_first_sheet_is_no_empty_one(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    breaks = (
        "return [...document.querySelectorAll('h2')].map(head => "
        "getComputedStyle(head).breakBefore)"
    )
    first, *others = opened.execute_script(breaks)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert (first, set(others)) == ("auto", {"page"})


def test_links_to_parts_lead_there(opened: Any) -> None:
    links = opened.find_elements("css selector", "ul.parts a")
    assert {link.text for link in links} >= {
        "Training",
        "Data map",
        "Performance matrix",
    }
    for link in links:
        target = link.get_attribute("href").rpartition("#")[2]
        opened.execute_script(
            "location.hash = arguments[0]; dispatchEvent(new Event('hashchange'))",
            target,
        )
        assert opened.find_element("id", target).tag_name == "h3"


def test_colours_follow_light_and_dark(opened: Any) -> None:
    def fill(scheme: str, media: str = "screen") -> str:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        wanted = {"features": [feature], "media": media}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
        script = (
            "return getComputedStyle(document.querySelector('.plot "
            "path[fill^=var]')).fill"
        )
        return str(opened.execute_script(script))

    light, dark = fill("light"), fill("dark")
    paper = fill("dark", "print")
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert light != dark and "none" not in (light, dark) and paper == light


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2 of ``rgb(...)`` in 0 … 255 or ``color(srgb ...)`` in
    0 … 1."""
    scale = 1.0 if colour.startswith("color") else 255.0
    parts = [float(text) / scale for text in re.findall(r"[0-9.]+", colour)[:3]]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_on_every_shade(opened: Any, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    pairs = opened.execute_script(
        "const cell = document.querySelector('td'), found = [];for (const kind of "
        "['up', 'down']) for (let i = 1; i <= 5; i++) {cell.className = kind + i; "
        "const s = getComputedStyle(cell);found.push([s.color, s.backgroundColor]); }"
        "const dim = getComputedStyle(document.querySelector('.dim')).color;"
        "found.push([dim, getComputedStyle(document.body).backgroundColor]); return "
        "found"
    )
    assert len({background for _, background in pairs}) == 11
    for text, background in pairs:
        low, high = sorted((luminance(text), luminance(background)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (scheme, text, background)
