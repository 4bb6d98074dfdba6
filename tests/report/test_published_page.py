"""The page of published tables: cells marked, what was found beside them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller

TABLE = """model,average,reading,arithmetic,code
ash-7B,32.14,46.50,30.40,19.51
ash-32B,56.55,71.75,54.00,43.90
birch-8B,45.55,62.00,47.20,27.44
birch-70B,66.91,77.50,67.20,51.83
cedar-mini,44.53,58.50,45.20,29.88
cedar-large,81.29,92.75,81.60,69.51
elm-3B,26.20,40.00,26.40,12.20
elm-14B,53.44,64.75,59.60,35.98
fir-<b>small,39.28,57.50,38.40,21.95
fir-large,70.16,81.75,70.80,57.93
"""


@pytest.fixture
def page(run: Caller, tmp_path: Path) -> Path:
    (tmp_path / "board.csv").write_text(TABLE)
    path = tmp_path / "board.html"
    told = run("board", str(tmp_path / "board.csv"), "--html", str(path))
    assert told.out.startswith("1 finding cannot be right")
    return path


def test_the_cell_is_marked_and_leads_to_what_was_found(page: Path) -> None:
    text = page.read_text("utf-8")
    (marked,) = re.findall(r'<td class="wrong">(.*?)</td>', text)
    assert marked == '<bdi>66.91</bdi><sup><a href="#f1">1</a></sup>'
    assert re.search(r'<li value="1" id="f1" class="wrong"><b><bdi>birch-70B', text)
    assert "B2: a rule between columns that nearly all rows keep." in text
    assert "A file without hits may still be wrong." in text


def test_it_stands_alone_and_trusts_no_name(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "fir-<b>" not in text
    assert "fir-small" in text or "fir-&lt;b&gt;small" in text


def test_a_file_of_others_is_not_replaced(run: Caller, page: Path) -> None:
    other = page.with_name("other.html")
    other.write_text("mine")
    table = str(page.with_name("board.csv"))
    run("board", table, "--html", str(other)).fails(2, "other.html")
    run("board", table, "--html", str(page))


@pytest.mark.rare  # a browser
def test_it_fits_a_telephone_and_the_dark(page: Path, browser: Any) -> None:
    browser.set_window_size(390, 844)
    browser.get(page.as_uri())
    wide = "return document.documentElement.scrollWidth - window.innerWidth"
    assert browser.execute_script(wide) <= 0
    scheme = "return getComputedStyle(document.documentElement).colorScheme"
    assert browser.execute_script(scheme) == "light dark"
