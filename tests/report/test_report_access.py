"""The page under axe-core, wide and on a phone, light and dark, and whether its tables fit the window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.sections import analysed_url


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with analysed_url(request, "duckdb") as filled:
        yield filled


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core: that of WAREHOUSE_AXE, else the one that the package axe-core-python holds."""
    if named := os.environ.get("WAREHOUSE_AXE"):
        return Path(named).read_text(encoding="utf-8")
    pytest.importorskip("axe_core_python", reason="axe-core is not installed (axe-core-python)")
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def window(opened: Any) -> Iterator[Any]:
    """Shows the page in a window of a width and theme."""

    def show(width: int, theme: str) -> Any:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        opened.refresh()
        return opened

    yield show
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.rare)])
@pytest.mark.parametrize("width", [390, pytest.param(1400, marks=pytest.mark.rare)])
def test_axe_finds_nothing_serious(window: Any, axe: str, width: int, theme: str) -> None:
    page = window(width, theme)
    page.set_script_timeout(120)
    page.execute_script(axe)
    found = page.execute_async_script("const done = arguments[0]; axe.run().then(done)")
    serious = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(found["passes"]) > 20


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_nothing_is_wider_than_the_window(window: Any, width: int) -> None:
    page = window(width, "light")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    wide = page.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth"
        " + 1).map(e => e.getAttribute('aria-label'))"
    )
    assert [label for label in wide if not label.startswith("All pairs")] == []
