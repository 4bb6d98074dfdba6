"""The page under axe-core, wide and on a phone, light and dark, and whether its tables
fit the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.html import serious
from tests.support.sections import analysed_url


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with analysed_url(request, "duckdb") as filled:
        yield filled


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (390, "light"),
        pytest.param(1400, "dark", marks=pytest.mark.rare),
        pytest.param(1400, "light", marks=pytest.mark.slow),
        pytest.param(390, "dark", marks=pytest.mark.slow),
    ],
)
@pytest.mark.rare
def test_axe_finds_nothing_serious(
    window: Any, axe: str, width: int, theme: str
) -> None:
    assert serious(window(width, theme), axe) == []


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_nothing_is_wider_than_the_window(window: Any, width: int) -> None:
    page = window(width, "light")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    wide = page.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(e => e.offsetParent "
        "&& e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'))"
    )
    assert [label for label in wide if not label.startswith("All pairs")] == []
