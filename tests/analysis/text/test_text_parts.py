"""Vectors of other parts of prompts: what is embedded, what is missing, and who
compares what, on both engines."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sqlalchemy as sa

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.embedders import TinyEmbedder, word_vector
from warehouse.analysis.text.parts import embed_command
from warehouse.errors import MisuseError
from warehouse.store.open import open_store

TINY = "tests.support.embedders:tiny"
#: Question, options, target, reason: the reasons come in two kinds, and one is missing,
#: one is empty.
PROMPTS = {
    "a": ("first question here", ["red", "blue"], "B", "bad sums"),
    "b": ("another thing asked", ["blue", "green"], "A", "Bad  sums"),
    "c": ("third one", None, "blue", "long text"),
    "d": ("fourth one", None, None, None),
    "e": ("fifth one", [], "", "  "),
    "f": ("sixth one", ["red", "blue"], "A", "long text"),
}


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for key, (text, choices, target, reason) in PROMPTS.items():
        number = rows.prompt("quiz", key, text=text)
        document = (
            {"why": {"reason": reason}, "n": 1} if reason is not None else {"n": 1}
        )
        rows.rows["prompt"][number - 1] |= {
            "choices": choices,
            "target": target,
            "metadata": document,
        }
    for m in range(4):
        alike = {
            "a": m > 1,
            "b": m > 1,
            "c": m < 1,
            "f": m < 1,
            "d": m == 2,
            "e": m != 3,
        }
        rows.scores(
            rows.run(f"org/m{m}", "quiz"),
            {key: float(right) for key, right in alike.items()},
        )
    rows.rows["id_counter"].append({"table_name": "embedder", "next_id": 1})
    return rows


@pytest.fixture
def url(own_url: str) -> str:
    return own_url


REASON = "metadata.why.reason"


@pytest.mark.rare
def test_a_part_is_embedded_apart_and_once(url: str) -> None:
    home, model = warehouse.connect(url), TinyEmbedder(max_length=None)
    (question,) = home.embed("quiz", embedder=model).rows
    (reason,) = home.embed("quiz", embedder=model, part=REASON).rows
    assert (question.n_new, question.part) == (6, "prompt")
    assert (reason.n_prompts, reason.n_without_text, reason.n_new, reason.part) == (
        6,
        2,
        4,
        REASON,
    )
    assert sorted(model.seen[6:]) == ["bad sums", "long text"]
    (target,) = home.embed("quiz", embedder=model, part="target").rows
    assert (target.n_new, target.n_without_text) == (4, 2) and sorted(
        model.seen[8:]
    ) == ["blue", "red"]
    (choices,) = home.embed("quiz", embedder=model, part="choices").rows
    assert (choices.n_new, choices.n_without_text) == (
        3,
        3,
    ) and "red\nblue" in model.seen
    for part in ("prompt", REASON, "target", "choices"):
        assert [
            row.n_new for row in home.embed("quiz", embedder=model, part=part).rows
        ] == [0]
    with open_store(url, write=True) as store, store.begin() as connection:
        held = connection.execute(
            sa.text("select part, count(*) from prompt_embedding group by part")
        ).all()
        assert dict(map(tuple, held)) == {None: 6, REASON: 4, "target": 4, "choices": 3}
        connection.execute(
            sa.text("update prompt set target = 'green' where key = 'c'")
        )
    (again,) = home.embed("quiz", embedder=model, part="target").rows
    assert (again.n_new, again.n_unchanged) == (1, 3)


def test_neighbours_duplicates_and_clusters_are_by_part(url: str) -> None:
    home = warehouse.connect(url)
    for part in ("prompt", REASON):
        home.embed(embedder=TinyEmbedder(max_length=None), part=part)
    assert home.duplicates("quiz").n_pairs == 0
    found = home.duplicates("quiz", part=REASON)
    assert {(row.tool_id_a, row.tool_id_b, row.same_text) for row in found.rows} == {
        ("a", "b", True),
        ("c", "f", True),
    }
    assert {row.text_a for row in found.rows} == {
        "bad sums",
        "long text",
    } and found.n_without_vector == 0
    near = home.similar("a", part=REASON)
    assert (near.rows[0].key, near.wanted, near.n_compared) == ("b", "bad sums", 3)
    with pytest.raises(MisuseError, match=rf"prompt:\d has no {REASON}"):
        home.similar("d", part=REASON)
    asked = home.similar(
        "long text", part=REASON, embedder=TinyEmbedder(max_length=None)
    )
    assert {row.key for row in asked.rows[:2]} == {"c", "f"}
    clusters = home.cluster_semantic("quiz", part=REASON)
    assert (clusters.name, clusters.n_clusters, clusters.n_without_vector) == (
        f"semantic-{REASON}",
        2,
        2,
    )
    with pytest.raises(MisuseError, match="made with part"):
        home.cluster_semantic("quiz", name=f"semantic-{REASON}")


def test_parts_explain_side_by_side(url: str) -> None:
    home = warehouse.connect(url)
    for part in ("prompt", REASON):
        home.embed(embedder=TinyEmbedder(max_length=None), part=part)
    matrix = home.matrix("quiz")
    both = matrix.explain_parts(["prompt", REASON], permutations=50)
    alone = matrix.explain(permutations=50, part=REASON)
    assert [(row.part, row.n_prompts, row.n_without_vector) for row in both.rows] == [
        ("prompt", 6, 0),
        (REASON, 4, 2),
    ]
    assert (
        both.rows[1].mean_coefficient == alone.mean_coefficient and alone.part == REASON
    )
    assert {row.text for row in alone.rows} == {"bad sums", "Bad  sums", "long text"}
    assert "parts are compared on different prompts" in " ".join(both.notes)
    assert matrix.explain(permutations=50).part == "prompt"
    with pytest.raises(MisuseError, match="which parts"):
        matrix.explain_parts([])
    home.embed(embedder=TinyEmbedder(name="other"), part="target")
    with pytest.raises(
        MisuseError,
        match="vectors of different embedders .tiny@1, other@1.: embed each",
    ):
        matrix.explain_parts(["prompt", "target"])


def test_the_commands_take_parts(url: str, run: Caller) -> None:
    embedded = run(
        "--db",
        url,
        "text",
        "embed",
        "quiz",
        "--embedder",
        TINY,
        "--part",
        "prompt",
        "--part",
        REASON,
    )
    assert embedded.code == 0 and REASON in embedded.out
    table = run(
        "--db",
        url,
        "matrix",
        "explain",
        "quiz",
        "--part",
        "prompt",
        "--part",
        REASON,
        "--permutations",
        "50",
    )
    assert table.code == 0 and "p Holm" in table.out and REASON in table.out
    told = json.loads(
        run("--db", url, "text", "duplicates", "quiz", "--part", REASON, "--json").out
    )
    assert {row["text_a"] for row in told} == {"bad sums", "long text"}
    for words, message in {
        "text embed quiz --part answers": "no part of a prompt is called 'answers'",
        "text embed quiz --part metadata.x": (
            "no prompt has metadata.x; nothing can be embedded; fields there are: n, "
            "why"
        ),
    }.items():
        refused = run("--db", url, *words.split(), "--embedder", TINY)
        assert refused.code == 2 and message in refused.err
    none = run("--db", url, "text", "duplicates", "quiz", "--part", "choices")
    assert (
        none.code == 2
        and "run: warehouse text embed --part choices --embedder FOLDER" in none.err
    )
    assert embed_command("metadata.a b", "my quiz") == (
        "warehouse text embed 'my quiz' --part 'metadata.a b' --embedder FOLDER"
    )


def test_a_vector_is_that_of_its_part(url: str) -> None:
    home = warehouse.connect(url)
    home.embed(embedder=TinyEmbedder(max_length=None), part="target")
    with open_store(url) as store:
        found = store.vectors(
            "select prompt_id, vector from prompt_embedding order by prompt_id", 32
        )[1]
    assert np.allclose(found[0], word_vector("blue"), atol=1e-6)
