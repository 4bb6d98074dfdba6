"""Responses as Markdown: what is hostile does nothing, shows nothing from elsewhere,
and takes no time."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest

from tests.support.builders import StoreRows
from tests.support.page_reader import PageReader
from warehouse.serve.markdown import ELEMENTS, MOST_ELEMENTS, as_html

HOSTILE = """<script>hurt = 1</script> <img src=x onerror=hurt=1> <b>bold</b>

# Sum

[run](javascript:hurt) ![seen](https://example.org/p.png) ![](data:image/svg+xml;base64,PHN2Zz4=) <https://example.org>
[there]: javascript:hurt
[there]

**so** `x < 1`

| a | b |
|:--|--:|
| 1 | 2 |

<style>*{display:none}</style><iframe src="https://example.org"></iframe><a href="https://example.org">x</a>
"""
LARGE = {
    "brackets": "[" * 5_000_000,
    "stars": "**a" * 1_500_000,
    "cells": "|a" * 400 + "\n" + "|-" * 400 + "\n|b" * 9_000,
}


def build() -> StoreRows:
    rows = StoreRows()
    run = rows.run("lab/x", "quiz")
    for key, text in {"hostile": HOSTILE, **LARGE}.items():
        rows.scores(run, {key: 1.0})
        rows.generation(run, key, 0, text)
    return rows


ROWS = build()


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not attrs
        self.names.add(tag)


def test_what_is_hostile_is_text() -> None:
    html, _ = as_html(HOSTILE)
    assert html is not None
    names = Elements(html).names
    assert names <= ELEMENTS and names > {"h4", "strong", "code", "table", "td"}
    for kept in (
        "&lt;script&gt;",
        "[run](javascript:hurt)",
        "![seen](https://example.org/p.png)",
        "[there]",
    ):
        assert kept in html


def test_what_has_too_many_elements_or_too_deep_ones_is_not_formed() -> None:
    assert as_html("# a\n" * (MOST_ELEMENTS + 1))[0] is None
    assert as_html("> " * 150 + "deep")[0] is None and "deep" in str(
        as_html("> " * 50 + "deep")[0]
    )


@pytest.mark.parametrize("key", ["hostile", *LARGE])
@pytest.mark.rare
def test_a_page_of_it_takes_no_time_and_says_what_it_leaves_out(
    client: PageReader, key: str
) -> None:
    began = time.process_time()
    text = client.get(f"/sample?run=run:1&prompt={key}&as=markdown").text
    assert time.process_time() - began < 2 and len(text) < 300_000
    assert ('class="markdown"' in text) == (key in ("hostile", "brackets"))
    assert ("The first 20000 of" in text) == (key != "hostile")
    assert ("have too many elements" in text) == (key in ("stars", "cells"))
    assert "as they are written</a>" in text


def test_it_is_shown_as_written_unless_asked_for(client: PageReader) -> None:
    text = client.get("/sample?run=run:1&prompt=hostile").text
    assert 'class="markdown"' not in text and "as=markdown" in text
    assert client.get("/sample?run=run:1&prompt=hostile&as=html").status_code == 400
