"""Embeddings in the store, near prompts, near-duplicates and semantic clusters, on both
engines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sklearn.metrics.pairwise import cosine_similarity

from tests.support.builders import StoreRows
from tests.support.cli import filled_url
from tests.support.embedders import TinyEmbedder
from tests.support.stores import ENGINES, opener_of, select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.text import duplicates as near
from warehouse.analysis.text import duplicates as near_pairs_cache
from warehouse.analysis.text.duplicates import duplicates
from warehouse.analysis.text.embed import embed
from warehouse.analysis.text.embed_view import EmbedRow
from warehouse.analysis.text.semantic_clusters import cluster_semantic
from warehouse.analysis.text.similar import similar
from warehouse.errors import MisuseError, StatisticsError, StoreError
from warehouse.stats import cluster_robust
from warehouse.store.computed import prompt_vectors
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check

TEXTS = {
    "a0": "how many red apples are there",
    "a1": "how many red apples are here",
    "a2": "How many  red apples are there",
    "b0": "who wrote the long play",
    "b1": "who wrote the long poem",
    "c0": "name one river in the north of france please now",
    "d0": "? ? ?",
    "e0": "",
}
SCORES = {
    "org/a": {"a0": 1, "a1": 1, "a2": 1, "b0": 0, "b1": 0, "c0": 1, "d0": 0, "e0": 1},
    "org/b": {"a0": 0, "a1": 1, "a2": 0, "b0": 0, "b1": 1, "c0": 1, "d0": 0, "e0": 1},
}


def opener_at(store: Store) -> StoreOpener:
    """Of a store that is open."""
    return StoreOpener(lambda: nullcontext(store), lambda: nullcontext(store))


def build() -> StoreRows:
    rows = StoreRows()
    for key, text in TEXTS.items():
        number = rows.prompt("quiz", key, text=text)
        hashed = text_hash(" ".join(text.lower().split()))
        rows.rows["prompt"][number - 1] |= {"text_hash": hashed, "target": key[0]}
    bare = rows.prompt("bare", "x", text="nothing")
    rows.rows["prompt"][bare - 1] |= {"text": None, "text_hash": None}
    for key, text in (("q", TEXTS["a0"]), ("r", "an essay on winter")):
        number = rows.prompt("essay", key, text=text)
        rows.rows["prompt"][number - 1]["text_hash"] = text_hash(text)
    for benchmark in ("quiz", "essay"):
        rows.describe(benchmark, rows.metric())
    for model, scores in SCORES.items():
        rows.scores(
            rows.run(model, "quiz"), {key: float(v) for key, v in scores.items()}
        )
    rows.scores(rows.run("org/a", "essay"), {"q": 0.0, "r": 1.0})
    return rows


def text_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@pytest.fixture
def url(own_url: str) -> str:
    return own_url


@pytest.fixture
def own_embedded(url: str) -> str:
    """A store with vectors that a test may change."""
    embed(opener_of(url), embedder=[TinyEmbedder()])
    return url


@pytest.fixture(scope="module", params=ENGINES)
def embedded(request: pytest.FixtureRequest, rows: StoreRows) -> Iterator[str]:
    """A store with vectors that tests only read."""
    with filled_url(request, request.param, rows) as where:
        embed(opener_of(where), embedder=[TinyEmbedder()])
        yield where


@pytest.fixture
def store(embedded: str) -> Iterator[Store]:
    with open_store(embedded) as opened:
        yield opened


@pytest.fixture
def opener(embedded: str) -> StoreOpener:
    return opener_of(embedded)


def change(url: str, key: str, **values: Any) -> None:
    """Give a prompt other contents, as a load would."""
    if "text" in values:
        values["text_hash"] = text_hash(values["text"])
    with open_store(url, write=True) as store, store.begin() as connection:
        connection.execute(
            sa.update(tables.prompt)
            .where(tables.prompt.c.tool_id == key)
            .values(**values)
        )


def ids(store: Store) -> dict[str, int]:
    return {
        row["tool_id"]: row["id"]
        for row in select(store, "select id, tool_id from prompt")
    }


def by_benchmark(rows: tuple[EmbedRow, ...]) -> dict[str, EmbedRow]:
    return {row.benchmark: row for row in rows}


# --- embed ---------------------------------------------------------------------------------------


def test_each_text_is_embedded_once_and_stored_for_every_prompt(url: str) -> None:
    model = TinyEmbedder()
    found = by_benchmark(embed(opener_of(url), embedder=[model]).rows)
    assert sorted(model.seen) == sorted(
        set(TEXTS.values()) - {TEXTS["a2"]} | {"an essay on winter"}
    )
    quiz = found["quiz"]
    assert (quiz.n_prompts, quiz.n_new, quiz.n_unchanged, quiz.n_without_text) == (
        8,
        6,
        0,
        0,
    )
    assert (quiz.n_truncated, quiz.n_without_vector) == (
        1,
        2,
    )  # c0; d0 and the empty text
    assert (found["bare"].n_without_text, found["essay"].n_new) == (1, 2)
    with open_store(url) as store:
        (row,) = prompt_vectors.embedders(store)
        assert (row.label, row.dimension, row.n_prompts) == ("tiny@1", 32, 8)
        held = prompt_vectors.read_vectors(store, row)
        expected = TinyEmbedder().encode([TEXTS["b1"]])[0]
        assert np.array_equal(
            held.vectors[held.prompts == ids(store)["b1"]][0], expected
        )
        assert held.vectors.dtype == np.float32 and np.all(np.diff(held.prompts) > 0)
        assert not [one for one in check(store).integrity if "embed" in str(one)]


def test_only_new_and_changed_text_is_embedded_again(own_embedded: str) -> None:
    again = TinyEmbedder()
    rows = by_benchmark(embed(opener_of(own_embedded), embedder=[again]).rows)
    assert (rows["quiz"].n_new, rows["quiz"].n_unchanged) == (0, 6)
    assert set(again.seen) == {TEXTS["d0"], TEXTS["e0"]}  # nothing is stored for these
    change(own_embedded, "b0", text="who painted it")
    third = TinyEmbedder()
    rows = by_benchmark(
        embed(opener_of(own_embedded), embedder=[third], benchmarks=["quiz"]).rows
    )
    assert (rows["quiz"].n_new, rows["quiz"].n_unchanged) == (1, 5)
    assert "who painted it" in third.seen and list(rows) == ["quiz"]
    with open_store(own_embedded) as store:
        (row,) = prompt_vectors.embedders(store)
        held = prompt_vectors.read_vectors(store, row)
        assert len(held.prompts) == len(set(held.prompts.tolist())) == 8
        changed = held.vectors[held.prompts == ids(store)["b0"]][0]
        assert np.array_equal(changed, TinyEmbedder().encode(["who painted it"])[0])


def test_a_vector_of_an_older_text_is_not_read(own_embedded: str) -> None:
    change(own_embedded, "b0", text="new")
    with open_store(own_embedded) as store:
        (row,) = prompt_vectors.embedders(store)
        assert ids(store)["b0"] not in prompt_vectors.read_vectors(store, row).prompts


def test_what_a_kill_interrupts_goes_on(url: str) -> None:
    class Killed(TinyEmbedder):
        def encode(self, texts: Any) -> Any:
            if len(self.seen) >= 4:
                raise KeyboardInterrupt
            return super().encode(texts)

    with pytest.raises(KeyboardInterrupt):
        embed(opener_of(url), embedder=[Killed()], chunk=2)
    with open_store(url) as store:
        (row,) = prompt_vectors.embedders(store)
        half = row.n_prompts
    assert 0 < half < 8
    rest = TinyEmbedder()
    embed(opener_of(url), embedder=[rest], chunk=2)
    with open_store(url) as store:
        (row,) = prompt_vectors.embedders(store)
        assert row.n_prompts == 8
        assert len(prompt_vectors.read_vectors(store, row).prompts) == 8
    assert len(rest.seen) < 8


def test_the_chunk_size_changes_nothing(url: str, duckdb_url: str) -> None:
    with open_store(f"{duckdb_url}2", create=True) as store:
        build().write(store)
    found = []
    for where, chunk in ((url, 1), (f"{duckdb_url}2", 100)):
        rows = embed(opener_of(where), embedder=[TinyEmbedder()], chunk=chunk).rows
        with open_store(where) as store:
            held = prompt_vectors.read_vectors(
                store, prompt_vectors.embedders(store)[0]
            )
        found.append((rows, held.prompts.tolist(), held.vectors.tolist()))
    assert found[0] == found[1]


def test_chunks_grow_where_the_model_is_fast(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.analysis.text.embed.CHUNK", 1)
    monkeypatch.setattr("warehouse.analysis.text.embed.MOST", 4)
    sizes: list[int] = []

    class Counted(TinyEmbedder):
        def encode(self, texts: Any) -> Any:
            sizes.append(len(texts))
            return super().encode(texts)

    embed(opener_of(url), embedder=[Counted()])
    assert sizes[:3] == [1, 2, 4] and max(sizes) == 4


def test_several_embedders_are_kept_apart(url: str) -> None:
    embed(
        opener_of(url),
        embedder=[TinyEmbedder(), TinyEmbedder(name="other", revision="", dimension=5)],
    )
    with open_store(url) as store:
        rows = prompt_vectors.embedders(store)
        assert [(row.label, row.dimension) for row in rows] == [
            ("other", 5),
            ("tiny@1", 32),
        ]
        assert prompt_vectors.read_vectors(store, rows[0]).vectors.shape == (8, 5)
        with pytest.raises(
            MisuseError, match=r"other \(8 prompts\), tiny@1 \(8 prompts\)"
        ):
            duplicates(opener_of(url))
        assert duplicates(opener_of(url), embedder="other").embedder == "other"
        assert duplicates(opener_of(url), embedder="tiny").embedder == "tiny@1"


def test_an_embedder_that_changes_its_dimension_is_refused(own_embedded: str) -> None:
    with pytest.raises(StoreError, match="have 32 numbers here, those of the model 33"):
        embed(opener_of(own_embedded), embedder=["tests.support.embedders:wider"])


def test_a_stored_vector_of_another_length_is_not_read_as_numbers(
    own_embedded: str,
) -> None:
    with open_store(own_embedded, write=True) as store, store.begin() as connection:
        connection.execute(sa.update(tables.embedder).values(dimension=31))
    with pytest.raises(StoreError, match="another length"):
        duplicates(opener_of(own_embedded))


@pytest.mark.parametrize(
    ("benchmarks", "part"),
    [(["bare"], "bare: no prompt has text"), (["quizz"], "did you mean quiz")],
)
def test_what_cannot_be_embedded_is_said(
    url: str, benchmarks: list[str], part: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        embed(opener_of(url), embedder=[TinyEmbedder()], benchmarks=benchmarks)
    assert part in str(caught.value)
    with pytest.raises(MisuseError, match="which embedder"):
        embed(opener_of(url), embedder=[])


# --- similar -------------------------------------------------------------------------------------


def cosines(store: Store) -> tuple[list[int], np.ndarray]:
    held = prompt_vectors.read_vectors(store, prompt_vectors.embedders(store)[0])
    return held.prompts.tolist(), cosine_similarity(held.vectors.astype(np.float64))


def test_the_nearest_prompts_are_those_by_cosine(store: Store) -> None:
    prompts, matrix = cosines(store)
    own = prompts.index(ids(store)["a1"])
    found = similar(store, f"prompt:{prompts[own]}", top=3)
    expected = sorted(
        (s for place, s in enumerate(matrix[own]) if place != own), reverse=True
    )
    assert [row.similarity for row in found.rows] == pytest.approx(
        expected[:3], abs=1e-10
    )
    assert [row.rank for row in found.rows] == [1, 2, 3]
    assert found.rows[0].text == TEXTS["a0"] and found.rows[0].benchmark == "quiz"
    assert (found.n_compared, found.wanted) == (7, TEXTS["a1"])
    assert prompts[own] not in [row.prompt_id for row in found.rows]


def test_a_prompt_is_found_by_the_names_it_has(store: Store) -> None:
    number = ids(store)["b0"]
    for name in ("b0", str(number), f"prompt:{number}"):
        assert similar(store, name).prompt_id == number


def test_a_prompt_of_one_benchmark_is_compared_with_another(store: Store) -> None:
    found = similar(store, f"prompt:{ids(store)['a0']}", benchmark="essay")
    assert [row.similarity for row in found.rows] == [
        pytest.approx(1),
        pytest.approx(0, abs=0.9),
    ]


def test_a_text_is_embedded_with_the_model(store: Store) -> None:
    found = similar(
        store, "who wrote the play", embedder=TinyEmbedder(), benchmark="quiz"
    )
    assert found.prompt_id is None and found.rows[0].tool_id == "b0"
    query = TinyEmbedder().encode(["who wrote the play"]).astype(np.float64)
    expected = cosine_similarity(query, TinyEmbedder().encode([TEXTS["b0"]]))[0, 0]
    assert found.rows[0].similarity == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("wanted", "options", "part"),
    [
        ("prompt:999", {}, "no prompt has the id '999'"),
        ("some text", {}, "--embedder tiny=FOLDER"),
        ("some text", {"embedder": "tiny@1"}, "--embedder tiny=FOLDER"),
        ("some text", {"embedder": TinyEmbedder(revision="2")}, "there are: tiny@1"),
        ("? ?", {"embedder": TinyEmbedder()}, "knows no word"),
        ("a0", {"embedder": "large"}, "there are: tiny@1 (8 prompts)"),
        ("a0", {"benchmark": "bare"}, "run: warehouse text embed bare"),
        ("d0", {}, "has no vector of tiny@1"),
    ],
)
def test_what_has_no_neighbours_is_said(
    store: Store, wanted: str, options: dict[str, Any], part: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        similar(store, wanted, **options)
    assert part in str(caught.value)


def test_without_vectors_it_is_said_how_to_get_them(url: str) -> None:
    with pytest.raises(MisuseError, match="run: warehouse text embed"):
        duplicates(opener_of(url))
    with open_store(url, write=True) as store:
        for ask in (
            lambda: similar(store, "a0"),
            lambda: cluster_semantic(opener_at(store), "quiz"),
        ):
            with pytest.raises(MisuseError, match="run: warehouse text embed"):
                ask()


# --- duplicates ----------------------------------------------------------------------------------


def test_duplicates_are_all_pairs_above_the_threshold(
    store: Store, opener: StoreOpener
) -> None:
    prompts, matrix = cosines(store)
    for threshold in (0.7, 0.95):
        found = duplicates(opener, threshold=threshold)
        expected = {
            (prompts[i], prompts[j]): matrix[i, j]
            for i, j in combinations(range(len(prompts)), 2)
            if matrix[i, j] >= threshold - 1e-12
        }
        rows = {(row.prompt_a, row.prompt_b): row.similarity for row in found.rows}
        assert (
            rows == pytest.approx(expected, abs=1e-10)
            and len(rows) == found.n_pairs > 0
        )
        assert sum(place.n_pairs for place in found.places) == found.n_pairs
    assert found.n_without_vector == 2 and found.n_compared == 8


def test_duplicates_are_counted_within_and_across(opener: StoreOpener) -> None:
    found = duplicates(opener, threshold=0.999)
    places = {(row.benchmark_a, row.benchmark_b): row.n_pairs for row in found.places}
    assert places == {("essay", "quiz"): 2, ("quiz", "quiz"): 1}
    assert (found.n_prompts, found.n_groups, found.largest_group) == (3, 1, 3)
    assert duplicates(opener, ["quiz"], threshold=0.999).n_pairs == 1
    assert all(row.same_text for row in found.rows)
    within = next(row for row in found.rows if row.benchmark_a == row.benchmark_b)
    assert within.same_target is True


@pytest.mark.parametrize(("second", "same"), [("A", True), ("b ", False), ("C", False)])
def test_letters_of_shuffled_options_are_compared_by_option(
    own_embedded: str, second: str, same: bool
) -> None:
    asked = {"a0": ("B", ["four", "five"]), "a2": (second, ["five", "four"])}
    for key, (target, choices) in asked.items():
        change(own_embedded, key, target=target, choices=choices)
    (row,) = duplicates(opener_of(own_embedded), ["quiz"], threshold=0.999).rows
    assert (row.same_target, row.target_a, row.target_b) == (same, "B", second)


def test_models_that_score_duplicates_alike_are_counted(
    store: Store, opener: StoreOpener
) -> None:
    found = duplicates(opener, ["quiz"], threshold=0.7)
    names = {number: key for key, number in ids(store).items()}
    for row in found.rows:
        a, b = names[row.prompt_a], names[row.prompt_b]
        alike = [scores[a] == scores[b] for scores in SCORES.values()]
        assert (row.n_models, row.alike) == (2, pytest.approx(np.mean(alike)))
    for model in found.models:
        scores = SCORES[model.model]
        pairs = [
            (scores[names[r.prompt_a]], scores[names[r.prompt_b]]) for r in found.rows
        ]
        assert model.alike == pytest.approx(np.mean([a == b for a, b in pairs]))
        pool = [value for pair in pairs for value in pair]
        assert model.by_chance == pytest.approx(
            np.mean([[x == y for x in pool] for y in pool])
        )
        assert model.n_pairs == len(found.rows)


def test_pairs_that_no_model_has_both_of_have_no_agreement(opener: StoreOpener) -> None:
    across = [
        row
        for row in duplicates(opener, threshold=0.999).rows
        if row.benchmark_a == "essay"
    ]
    row = duplicates(opener, ["essay", "quiz"], threshold=0.999).rows[0]
    assert row.n_models in (1, 2)
    assert all(row.n_models == 1 for row in across)  # org/b has no run on the essays


def test_more_pairs_are_counted_than_kept(opener: StoreOpener) -> None:
    found = duplicates(opener, threshold=0.5, keep=1)
    assert len(found.rows) == 1 < found.n_pairs
    assert duplicates(opener, threshold=0.5, keep=0).models == ()
    assert found.to_dict()["places"][0]["n_pairs"] > 0 and len(found.to_frame()) == 1
    with pytest.raises(MisuseError, match="at least 0"):
        duplicates(opener, keep=-1)


def test_a_threshold_that_is_none_is_refused(opener: StoreOpener) -> None:
    with pytest.raises(StatisticsError, match="threshold"):
        duplicates(opener, threshold=1.5)


def test_pairs_of_many_prompts_are_compared_once(
    own_embedded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_pairs_cache, "WORTH_STORING", 2)
    first = duplicates(opener_of(own_embedded), threshold=0.7)
    monkeypatch.setattr(near, "near_pairs", None)  # not called again
    again = duplicates(opener_of(own_embedded), threshold=0.7)
    assert first.notes == () and "read back: compared on" in again.notes[0]
    assert replace(again, notes=()) == first
    with pytest.raises(TypeError):
        duplicates(opener_of(own_embedded), threshold=0.7, fresh=True)
    with pytest.raises(TypeError):
        duplicates(opener_of(own_embedded), threshold=0.8)
    change(own_embedded, "b0", text="new")
    with pytest.raises(TypeError):
        duplicates(opener_of(own_embedded), threshold=0.7)


def test_pairs_that_cannot_be_stored_are_shown_all_the_same(
    own_embedded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_pairs_cache, "WORTH_STORING", 2)

    def held() -> Store:
        raise StoreError("held by process 1")

    found = duplicates(
        StoreOpener(opener_of(own_embedded).reading, held), threshold=0.7
    )
    assert found.n_pairs > 0 and found.notes == ("not stored: held by process 1",)


# --- cluster-semantic ----------------------------------------------------------------------------


def test_semantic_clusters_are_used_for_error_bars(own_embedded: str) -> None:
    with open_store(own_embedded, write=True) as store:
        found = cluster_semantic(opener_at(store), "quiz", threshold=0.7)
        numbers = ids(store)
        members = select(store, "select * from prompt_cluster order by prompt_id")
        of = {row["prompt_id"]: row["cluster_id"] for row in members}
        groups: dict[int, set[str]] = {}
        for key, number in numbers.items():
            if number in of:
                groups.setdefault(of[number], set()).add(key)
        assert sorted(map(sorted, groups.values())) == [
            ["a0", "a1", "a2"],
            ["b0", "b1"],
            ["c0"],
        ]
        assert (found.n_prompts, found.n_clusters, found.n_single, found.largest) == (
            6,
            3,
            1,
            3,
        )
        assert found.n_without_vector == 2 and not found.is_default
        assert [sum(row["is_medoid"] for row in members), len(members)] == [3, 6]
        assert all(row["distance"] == 0 for row in members if row["is_medoid"])
        keys = list(SCORES["org/b"])
        labels = [of.get(numbers[key], -numbers[key]) for key in keys]
        expected = cluster_robust([SCORES["org/b"][key] for key in keys], labels)
        (row,) = [row for row in found.rows if row.model == "org/b"]
        assert expected is not None and row.se_clustered == pytest.approx(
            expected.se_cr2
        )
        assert row.growth == pytest.approx(expected.se_cr2 / row.se_unclustered)
        assert (row.n_prompts, row.n_clusters) == (8, 5)
        board = leaderboard(store, "quiz", cluster="semantic")
        assert board.rows[0].n_clusters == 5
        assert leaderboard(store, "quiz").rows[0].n_clusters is None
        (clustering,) = select(store, "select name, kind, created_at from clustering")
        assert (clustering["name"], clustering["kind"]) == ("semantic", "semantic")
        assert clustering["created_at"] is not None


def test_a_semantic_clustering_is_replaced_and_made_the_default(
    own_embedded: str,
) -> None:
    with open_store(own_embedded, write=True) as store:
        cluster_semantic(opener_at(store), "quiz", threshold=0.7)
        first = select(store, "select id from clustering")
        with pytest.raises(MisuseError, match="made with threshold 0.7 and not 0.9999"):
            cluster_semantic(opener_at(store), "quiz", threshold=0.9999, default=True)
        found = cluster_semantic(
            opener_at(store), "quiz", threshold=0.9999, default=True, replace=True
        )
        assert select(store, "select id from clustering") == first
        assert (found.n_clusters, found.is_default) == (5, True)
        assert select(store, "select count(*) as n from cluster")[0]["n"] == 5
        assert leaderboard(store, "quiz").rows[0].n_clusters == 7
        assert found.to_dict()["median_growth"] == found.median_growth


def test_a_trial_clustering_shows_standard_errors_and_stores_nothing(
    own_embedded: str,
) -> None:
    with open_store(own_embedded) as store:
        trial = cluster_semantic(
            opener_at(store), "quiz", threshold=0.7, store_result=False
        )
        assert not trial.is_stored
        assert select(store, "select count(*) as n from clustering")[0]["n"] == 0
        with pytest.raises(MisuseError, match="a trial stores nothing"):
            cluster_semantic(opener_at(store), "quiz", default=True, store_result=False)
    with open_store(own_embedded, write=True) as store:
        assert (
            cluster_semantic(opener_at(store), "quiz", threshold=0.7).rows == trial.rows
        )


def test_a_name_of_another_kind_is_not_taken(own_embedded: str) -> None:
    with open_store(own_embedded, write=True) as store:
        with store.begin() as connection:
            connection.execute(
                sa.insert(tables.clustering).values(
                    id=77, benchmark_id=1, name="topic", kind="source"
                )
            )
        with pytest.raises(MisuseError, match="kind 'source'"):
            cluster_semantic(opener_at(store), "quiz", name="topic")


def test_a_benchmark_without_runs_is_clustered_without_errors(url: str) -> None:
    with open_store(url, write=True) as store, store.begin() as connection:
        connection.execute(sa.update(tables.run).values(status="invalidated"))
    embed(opener_of(url), embedder=[TinyEmbedder()])
    with open_store(url, write=True) as store:
        found = cluster_semantic(opener_at(store), "quiz")
        assert found.rows == () and found.median_growth is None
        assert found.one_line == "quiz: 6 prompts in 4 clusters"
