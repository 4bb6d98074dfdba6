"""The page that searches in answers."""

from __future__ import annotations

import json
from html import unescape

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.page_reader import PageReader

SAID = ("<b>bold</b> & I cannot help", "sure", "never\x1b[2J\u202e I cannot")


def build() -> StoreRows:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model in ("org/a", "org/b"):
        run = rows.run(model, "quiz")
        rows.scores(run, {f"q{place}": 1.0 for place in range(len(SAID))})
        for place, text in enumerate(SAID):
            rows.generation(run, f"q{place}", 0, text, error=None)
    for prompt in rows.rows["prompt"]:
        prompt.setdefault("choices", None)
    return rows


def test_samples_are_counted_and_each_is_a_link(client: PageReader) -> None:
    page = unescape(client.whole("/grep?pattern=i+cannot&ignore_case=1"))
    assert "4 of 6 samples match 'i cannot': org/a 2 of 3, org/b 2 of 3" in page
    assert page.count("<mark>I cannot</mark>") == 4
    assert "/sample?run=run%3A1&prompt=prompt%3A1" in page
    sample = client.get("/sample?run=run%3A1&prompt=prompt%3A1")
    assert sample.status_code == 200


def test_texts_of_dumps_are_escaped(client: PageReader) -> None:
    page = client.whole("/grep?pattern=bold%3C&fixed_strings=1")
    assert "&lt;b&gt;<mark>bold&lt;</mark>/b&gt; &amp; I" in page
    page = client.whole("/grep?pattern=never")
    assert "\x1b" not in page and "\u202e" not in page and "\\x1b[2J" in page
    page = client.whole("/grep?pattern=%22%3E%3Cscript%3E")
    assert "<script>" not in page.partition("<main")[2]


def test_json_is_that_of_the_command(client: PageReader, run: Caller, url: str) -> None:
    client.whole("/grep?pattern=cannot")
    answer = client.get("/grep?pattern=cannot&format=json").json()
    assert answer == json.loads(run("text", "grep", "cannot", "--json", db=url).out)


def test_the_page_of_a_benchmark_has_the_box(client: PageReader) -> None:
    page = client.whole("/benchmark/quiz")
    assert '<form action="/grep"' in page
    assert '<input type="hidden" name="benchmark" value="quiz">' in page
    page = unescape(client.whole("/grep?pattern=zzz&benchmark=quiz"))
    assert "none of 6 samples matches 'zzz'" in page
    assert "<form" in client.whole("/grep")
    client.whole("/grep?pattern=sure")
    assert "<form" not in client.get("/grep?pattern=sure&export=html").text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("pattern=%28a", 400, "no regular expression"),
        ("pattern=%00", 400, "U+0000"),
        ("pattern=a&places=tool", 400, "unknown places"),
        ("pattern=a&max_count=900", 400, "--max-count 900"),
        ("pattern=a&max_count=x", 400, "is a number"),
        ("pattern=a&benchmark=quis", 404, "no benchmark 'quis'"),
        ("pattern=a&places=tool_call", 400, "--text all"),
    ],
)
def test_what_cannot_be_searched_is_said(
    client: PageReader, query: str, status: int, words: str
) -> None:
    answer = client.get(f"/grep?{query}")
    assert answer.status_code == status and words in unescape(answer.text)
