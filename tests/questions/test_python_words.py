"""Advice in Python names methods and their arguments; what has no method stays a
command."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.errors import WarehouseError
from warehouse.questions.python_words import in_python_words


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "see: warehouse list runs --where benchmark=gsm8k",
            'see: runs(where=["benchmark=gsm8k"])',
        ),
        (
            "its scores: warehouse leaderboard quiz",
            'its scores: leaderboard("quiz")',
        ),
        (
            "next: warehouse power --from a b -b quiz",
            'next: power("a", "b", benchmark="quiz")',
        ),
        (
            "errors: warehouse compare m/a 'm b' --unpaired",
            'errors: compare_unpaired("m/a", "m b")',
        ),
        (
            "(`warehouse compare --across-links` holds two of one)",
            "(`compare(across_links=True)` holds two of one)",
        ),
        (
            "ask: warehouse leaderboard quiz --by level --where prompt.x=3; then",
            'ask: leaderboard_by("quiz", by=["level"], where=["prompt.x=3"]); then',
        ),
        (
            "say --default model=NAME --default benchmark=NAME, or map them",
            'say defaults={"model": NAME, "benchmark": NAME}, or map them',
        ),
        ("choose one, then --map mapping.toml", 'choose one, then mapping="mapping.toml"'),
        ("--lower-is-better says otherwise", "higher_is_better=False says otherwise"),
        (
            "this once: --metric acc --metric exact_match; or",
            'this once: metric="acc" second_metric="exact_match"; or',
        ),
        (
            "said: warehouse fix policy quiz all-wrong --metric acc",
            'said: set_policy("quiz", "all-wrong", metric="acc")',
        ),
        ("or: warehouse fix policy quiz --undo", 'or: set_policy("quiz", None)'),
        ("--policy all-wrong counts them", 'policy="all-wrong" counts them'),
        ("--prices FILE or --cost tokens", 'prices=FILE or cost="tokens"'),
        ("ask it: warehouse --db x.db pairs quiz", 'ask it: warehouse.connect("x.db").pairs("quiz")'),
    ],
)  # fmt: skip
def test_commands_and_options_become_calls_and_keywords(typed: str, said: str) -> None:
    assert in_python_words(typed) == said


@pytest.mark.parametrize(
    "text",
    [
        "`warehouse fix link gsm8k_cot gsm8k --by id` joins equal prompts",
        "`warehouse mapping x.csv -o mapping.toml` begins a mapping",
        "run: warehouse --db my.db store upgrade",
        "a warehouse of results -- all of them",
    ],
)
def test_what_has_no_method_stays_as_it_is(text: str) -> None:
    assert in_python_words(text) == text


def build() -> StoreRows:
    """A model with samples, two with figures alone."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    run = rows.run("m/a", "quiz")
    rows.scores(run, {f"q{place}": 1.0 for place in range(4)})
    other = rows.metric("f1")
    rows.describe("quiz", other, default=None)
    rows.scores(
        rows.run("m/other", "quiz"), {f"q{place}": 0.5 for place in range(4)}, other
    )
    for model in ("m/b", "m/c"):
        rows.published(rows.run(model, "quiz"), 0.5, standard_error=0.1)
    return rows


ROWS = build()


def test_methods_raise_in_their_own_words(url: str) -> None:
    store = warehouse.connect(url)
    for ask, words in (
        (lambda: store.compare("m/b", "m/c"), 'compare_unpaired("m/b", "m/c")'),
        (lambda: store.compare("m/a", "m/none"), "see: models()"),
        (lambda: store.prefer("quiz"), 'leaderboard("quiz")'),
        (lambda: store.sources("elsewhere"), "sources()"),
    ):
        with pytest.raises(WarehouseError) as caught:
            ask()
        message = str(caught.value)
        assert words in message
        assert "warehouse " not in message and "--" not in message


def test_reading_files_and_frames_says_keywords(tmp_path: Path) -> None:
    frame = pa.table({"question": ["a", "b"], "correct": [1, 0]})
    with pytest.raises(WarehouseError) as caught:
        warehouse.read(frame)
    message = str(caught.value)
    assert 'defaults={"model": NAME, "benchmark": NAME}' in message
    assert "--" not in message
    with pytest.raises(WarehouseError) as caught:
        warehouse.read("https://example.org/x.csv")
    assert "ingest it first: ingest(URL)" in str(caught.value)
    path = tmp_path / "rows.csv"
    path.write_text("question,correct\na,1\nb,0\n")
    report = warehouse.connect(tmp_path / "store.db").ingest(path)
    assert 'defaults={"model": NAME' in report.refused[0].error


def test_a_result_shows_keywords_in_python_and_options_in_the_shell(
    url: str, run: Caller
) -> None:
    found = warehouse.connect(url).leaderboard("quiz")
    assert "other metrics (metric=NAME): f1" in str(found)
    assert "metric=NAME" in found._repr_html_()
    assert "other metrics (--metric NAME): f1" in run("leaderboard", "quiz", db=url).out
