"""Words that all prompts of a benchmark share are taken off before texts are embedded,
on both engines."""

from __future__ import annotations

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.embedders import TinyEmbedder, word_vector
from warehouse.analysis.text.embed import find_template
from warehouse.store.computed import prompt_vectors
from warehouse.store.open import open_store

OWN = ("blue", "red", "green grass", "blue red")


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """A store with a benchmark whose prompts share a template, and one whose prompts do
    not."""
    rows = StoreRows()
    for benchmark in ("quiz", "plain"):
        rows.describe(benchmark, rows.metric())
    for own in OWN:
        rows.prompt(
            "quiz",
            own,
            text=(
                f"Read the text and answer with one word: {own}\n"
                "Think of it in steps first."
            ),
        )
        rows.prompt("plain", own, text=own)
    rows.rows["id_counter"].append({"table_name": "embedder", "next_id": 1})
    return rows


@pytest.fixture
def templated(own_url: str) -> str:
    return own_url


def held(url: str) -> tuple[np.ndarray, list[str | None]]:
    """Vectors of the prompts of quiz, and the templates that they are without."""
    with open_store(url) as store:
        (quiz,) = (
            store.arrow("select id from benchmark where name = 'quiz'")
            .column("id")
            .to_pylist()
        )
        found = prompt_vectors.read_vectors(
            store, prompt_vectors.embedders(store)[0], [quiz]
        )
        named = store.arrow(
            "select template from prompt_embedding join prompt on prompt.id = prompt_id"
            f" where benchmark_id = {quiz} order by prompt_id"
        )
        return found.vectors, named.column("template").to_pylist()


def test_a_template_is_taken_off_and_can_stay(templated: str) -> None:
    model, store = TinyEmbedder(max_length=None), warehouse.connect(templated)

    def embed(*, whole: bool = False) -> dict[str, tuple[int, int]]:
        rows = store.embed(embedder=model, whole=whole).rows
        return {row.benchmark: (row.n_new, row.n_template_words) for row in rows}

    assert embed() == {"quiz": (4, 14), "plain": (4, 0)}
    assert {*model.seen} == {*OWN}
    own, named = held(templated)
    assert np.allclose(own[0], word_vector("blue"), atol=1e-6)
    assert len({*named}) == 1 and named[0]
    assert embed() == {"quiz": (0, 14), "plain": (0, 0)}
    assert embed(whole=True) == {"quiz": (4, 0), "plain": (0, 0)}
    assert (
        model.seen[-1].startswith("Read the text") and held(templated)[1] == [None] * 4
    )
    assert embed(whole=True) == {"quiz": (0, 0), "plain": (0, 0)}
    assert embed() == {"quiz": (4, 14), "plain": (0, 0)}
    assert np.array_equal(held(templated)[0], own)


@pytest.mark.parametrize(
    ("texts", "begin", "end"),
    [
        (["a b c d e f x", "a b c d e f y", "a b c d e f z"], 6, 0),
        (
            ["a b c d e x", "a b c d e y", "a b c d e z"],
            0,
            0,
        ),  # five words are a coincidence
        (["a b c d e f x", "a b c d e f y"], 0, 0),  # and so are two texts
        (["a b c d e f x", "a b c d e f y", "z"], 0, 0),  # not all have it
        (["x a b c d e f", "y a b c d e f", "z z a b c d e f"], 0, 6),
        (
            ["a b c d e f g", "a b c d e f g h", "a b c d e f g i"],
            6,
            0,
        ),  # each keeps a word
        ([], 0, 0),
    ],
)
def test_a_template_is_what_all_begin_or_end_with(
    texts: list[str], begin: int, end: int
) -> None:
    found = find_template(texts)
    assert (len(found.begin), len(found.end)) == (begin, end)
    for text in texts:
        assert found.own(text).split() == text.split()[begin : len(text.split()) - end]
    assert found.own("other\n words") == "other\n words"


def test_what_lies_between_is_not_touched() -> None:
    found = find_template(
        [f"Answer the question that is given here:\n{one}  x\n\ty" for one in "abc"]
    )
    assert (
        found.own("Answer the question that is given here:\nq  x\n\ty") == "q  x\n\ty"
    )
