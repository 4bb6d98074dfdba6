"""The performance matrix of a stored benchmark: what enters, what comes out, what is
kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from tests.support.builders import StoreRows
from tests.support.matrices import binary, continuous
from tests.support.stores import select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.matrix.answer import matrix
from warehouse.api import Warehouse
from warehouse.errors import MisuseError, StatisticsError, StoreLockedError
from warehouse.stats.matrix import (
    cluster_search,
    explain,
    grow,
    permutation_test,
    random_weights,
    weighted_scores,
)
from warehouse.stats.matrix.weights import cluster_weights
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check

SCORES = binary(40, 6, seed=3)
VECTORS = np.random.default_rng(4).normal(size=(40, 5)).astype(np.float32)


def put(
    rows: StoreRows, benchmark: str, model: str, scores: Any, **settings: Any
) -> None:
    run = rows.run(model, benchmark, **settings)
    rows.scores(
        run, {f"q{i:02}": None if s is None else float(s) for i, s in enumerate(scores)}
    )


def build() -> StoreRows:
    """`exam`: 40 × 6 and complete; `gaps`, `essay`, `flat`, `lone`, `mute`: what can be
    amiss."""
    rows = StoreRows()
    for benchmark, scores in (
        ("exam", SCORES),
        ("essay", continuous(30, 4)),
        ("mute", SCORES),
    ):
        for place, column in enumerate(scores.T):
            put(rows, benchmark, f"org/m{place}", column)
        kind = "continuous" if benchmark == "essay" else "binary"
        rows.describe(benchmark, rows.metric(), kind=kind, higher=benchmark != "essay")
    for prompt in rows.rows["prompt"]:
        if prompt["benchmark_id"] == rows.benchmark("mute"):
            prompt |= {"text": None, "text_hash": None}
    put(rows, "gaps", "org/a", [1, 0, None, 1, 1, 0])
    put(rows, "gaps", "org/b", [1, 0, 1, 0])
    put(rows, "gaps", "org/c", [0, 0, 1, 0], temperature=0.5)
    put(rows, "gaps", "org/c", [0, 1, 1, 0], temperature=1.0)
    put(rows, "gaps", "org/z", [1, 1, 1], split="other")
    put(rows, "apart", "org/a", [1, None, None])
    put(rows, "apart", "org/b", [None, 1, 0])
    put(rows, "flat", "org/a", [1, 1, 1])
    put(rows, "flat", "org/b", [0, 0, 0])
    put(rows, "lone", "org/a", [1, 0, 1])
    rows.published(rows.run("org/a", "paper"), 0.5, benchmark="paper")
    rows.published(rows.run("org/b", "paper"), 0.6, benchmark="paper")
    rows.run("org/a", "bare")
    for benchmark in ("gaps", "apart", "flat", "lone", "paper", "bare"):
        rows.describe(benchmark, rows.metric())
    rows.clusters(
        "exam", {"even": [f"q{i:02}" for i in range(0, 40, 2)]}, default=False
    )
    rows.rows["clustering"][-1]["kind"] = "semantic"
    _embed(rows)
    for table in list(rows.rows):  # ids go on after those made here
        if "id" in rows.rows[table][0]:
            count = {"table_name": table, "next_id": len(rows.rows[table]) + 1}
            rows.rows["id_counter"].append(count)
    return rows


def _embed(rows: StoreRows) -> None:
    rows.add("embedder", ("mini",), name="mini", revision="1", dimension=5)
    rows.add("embedder", ("other",), name="other", revision="", dimension=5)
    prompts = {row["id"]: row for row in rows.rows["prompt"]}
    for i in range(40):
        key = rows.prompt("exam", f"q{i:02}")
        text_hash = (
            prompts[key]["text_hash"] if i != 7 else b"\0" * 32
        )  # its text has changed
        for embedder in (1, 2):
            rows.rows["prompt_embedding"].append(
                {
                    "prompt_id": key,
                    "embedder_id": embedder,
                    "text_hash": text_hash,
                    "vector": VECTORS[i].tolist(),
                }
            )


@pytest.fixture
def home(url: str) -> Iterator[Warehouse]:
    """The store, with nothing computed yet."""
    with open_store(url, write=True) as store, store.begin() as connection:
        connection.execute(sa.delete(tables.analysis))
    yield Warehouse(url)


def test_the_matrix_is_that_of_the_scores(home: Warehouse) -> None:
    data = home.matrix("exam").data
    assert data.values.tolist() == SCORES.tolist()
    assert data.models == tuple(f"org/m{i}" for i in range(6))
    assert data.keys[:2] == ("q00", "q01")
    assert (data.n_incomplete, data.notes, data.higher_is_better) == (0, (), True)


def test_incomplete_rows_are_left_out_and_told(home: Warehouse) -> None:
    data = home.matrix("gaps").data
    assert data.models == (
        "org/a",
        "org/b",
        "org/c (temperature=0.5)",
        "org/c (temperature=1.0)",
    )
    assert data.keys == ("q00", "q01", "q03")
    assert data.values.tolist() == [[1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert data.n_incomplete == 3
    assert any(
        "3 of 6 prompts left out" in note and "org/b 4" in note for note in data.notes
    )
    assert any("1 models of another split" in note for note in data.notes)
    assert home.matrix("gaps", latest=True).data.models[2].startswith("org/c")
    assert len(home.matrix("gaps", latest=True).data.models) == 3


def test_permutation_tests(home: Warehouse) -> None:
    found = home.matrix("exam").test(permutations=30, seed=2)
    expected = permutation_test(SCORES, n_permutations=30, seed=2)
    assert [row.p_value for row in found.rows] == [
        row.p_value for row in expected.statistics
    ]
    assert [row.observed for row in found.rows] == [
        row.observed for row in expected.statistics
    ]
    assert (found.n_prompts, found.n_models, found.n_permutations, found.seed) == (
        40,
        6,
        30,
        2,
    )
    assert len(found.histogram) == 60
    assert found.one_line == "exam by acc: 40 prompts × 6 models"
    assert found.to_frame().loc[0, "similarity"] == "hamming"
    only = home.matrix("exam").test(similarities=["cosine"], permutations=5)
    assert {row.similarity for row in only.rows} == {"cosine"}
    essay = home.matrix("essay").test(permutations=5)
    assert {row.similarity for row in essay.rows} == {"cosine"}
    assert any("cosine only" in note for note in essay.notes)


def test_an_answer_is_read_back_while_nothing_changes(home: Warehouse) -> None:
    calls: list[tuple[int, int]] = []

    def ask(**options: Any) -> Any:
        calls.clear()
        matrix = home.matrix(
            "exam", progress=lambda *step: calls.append(step), **options
        )
        return matrix.test(permutations=5)

    first = ask()
    assert calls[-1] == (25, 25) and first.computed_at
    again = ask()
    assert calls == [] and "read back" in again.notes[-1]
    assert replace(again, notes=()) == replace(first, notes=())
    assert ask(fresh=True).notes == () and calls
    ask(where=["model!=org/m0"])
    assert calls
    with home._reading() as store:
        stored = select(store, "select kind, subject from analysis")
    assert stored == [{"kind": "matrix_test", "subject": "exam"}] * 2


def test_changed_scores_are_computed_anew(home: Warehouse) -> None:
    found = home.matrix("exam").grow()
    with home._writing() as store, store.begin() as connection:
        run = sa.select(sa.func.min(tables.prompt_score.c.run_id)).scalar_subquery()
        changed = sa.update(tables.prompt_score).where(
            tables.prompt_score.c.run_id == run
        )
        connection.execute(changed.values(value=1 - tables.prompt_score.c.value))
    try:
        other = home.matrix("exam").grow()
        assert other.rows != found.rows and "read back" not in " ".join(other.notes)
    finally:
        with home._writing() as store, store.begin() as connection:
            connection.execute(changed.values(value=1 - tables.prompt_score.c.value))
    assert home.matrix("exam").grow().rows == found.rows


def test_a_store_that_cannot_be_written_still_answers(home: Warehouse) -> None:
    def held() -> Any:
        raise StoreLockedError("held by process 7")

    found = matrix(StoreOpener(home._reading, held), "exam").grow()
    assert found.rows and found.notes[-1] == "not stored: held by process 7"
    with home._reading() as store:
        assert select(store, "select 1 as one from analysis") == []


def test_a_clustering_is_stored_for_error_bars(home: Warehouse) -> None:
    with (
        home._reading() as store
    ):  # what these rows made by hand lack has nothing to do with it
        before = {finding.check for finding in check(store).integrity}
    assert not {"strange_clusters", "duplicate_memberships", "id_counters"} & before
    found = home.matrix("exam").cluster(permutations=2, seed=1, store="alike")
    expected = cluster_search(SCORES, n_permutations=2, seed=1)
    assert found.labels == tuple(expected.chosen.labels)
    assert found.silhouette == expected.chosen.silhouette
    assert [row.silhouette for row in found.rows] == [
        count.observed for count in expected.counts
    ]
    assert sum(row.n_prompts for row in found.clusters) == 40
    assert [row.medoid for row in found.clusters] == [
        f"q{m:02}" for m in expected.chosen.medoids
    ]
    query = (
        "select prompt.key, cluster.label, held.distance, held.is_medoid from "
        "prompt_cluster held"
        " join clustering on clustering.id = held.clustering_id and clustering.name = "
        "'alike'"
        " join cluster on cluster.id = held.cluster_id"
        " join prompt on prompt.id = held.prompt_id order by prompt.key"
    )
    with home._reading() as store:
        rows = select(store, query)
    assert [int(row["label"]) - 1 for row in rows] == list(found.labels)
    assert [row["distance"] for row in rows] == list(found.distances)
    medoids = [place for place, row in enumerate(rows) if row["is_medoid"]]
    assert medoids == sorted(found.medoids)
    with home._reading() as store:
        board = leaderboard(store, "exam", cluster="alike")
        assert {row.n_clusters for row in board.rows} == {found.n_clusters}
        assert {finding.check for finding in check(store).integrity} == before
    home.matrix("exam").cluster(
        n_clusters=[3], permutations=0, store="alike", default=True, replace=True
    )
    with home._reading() as store:
        assert {row.n_clusters for row in leaderboard(store, "exam").rows} == {3}
        assert {finding.check for finding in check(store).integrity} == before


def test_weights(home: Warehouse) -> None:
    own = {f"q{i:02}": float(i) for i in range(40)}
    found = home.matrix("exam").weights(draws=500, seed=3, cluster="topic", given=own)
    labels = np.where(
        np.arange(40) % 2 == 0, 0, 1 + np.arange(40)
    )  # the odd ones on their own
    (_, given, equal) = weighted_scores(
        SCORES,
        {"given": np.arange(40.0), "clusters:topic": cluster_weights(labels, 40)},
    )
    by_scheme = {
        scheme: [row.score for row in found.rows if row.scheme == scheme]
        for scheme in dict.fromkeys(row.scheme for row in found.rows)
    }
    assert list(by_scheme) == [
        *(
            "uniform",
            "medoid",
            "medoid_equal",
            "distance",
            "inverse_distance",
            "clusters:topic",
            "given",
        )
    ]
    assert by_scheme["given"] == pytest.approx(list(given.scores))
    assert by_scheme["clusters:topic"] == pytest.approx(list(equal.scores))
    drawn = random_weights(SCORES, n_draws=500, seed=3)
    assert [row.best for row in found.random] == drawn.best.tolist()
    assert [row.lowest for row in found.random] == drawn.lowest.tolist()
    pair = next(r for r in found.outranks if (r.model, r.other) == ("org/m1", "org/m0"))
    assert pair.outranks == drawn.outranks[1, 0]
    own_clusters = home.matrix("exam").weights(draws=10)
    assert own_clusters.clustering.startswith("performance, ")
    again = home.matrix("exam").weights(draws=500, seed=3, cluster="topic", given=own)
    assert "read back" in again.notes[-1]
    named = {"q00": 1.0, "q99": 1.0}
    other = home.matrix("exam").weights(draws=500, seed=3, cluster="topic", given=named)
    assert "1 prompts that the weights name are not in the matrix" in other.notes
    assert "read back" not in " ".join(other.notes)


def test_growth_and_direction(home: Warehouse) -> None:
    found = home.matrix("exam").grow(sizes=[5, 20], seed=1)
    for order in ("informative", "random"):
        expected = grow(SCORES, order, seed=1, sizes=[5, 20])
        scores = [row.score for row in found.rows if row.order == order]
        assert np.reshape(scores, (3, 6)).tolist() == expected.scores.tolist()
    assert [step.size for step in found.steps] == [5, 20, 40] * 2
    assert found.steps[2].largest_gap == 0 and found.steps[
        2
    ].kendall_tau == pytest.approx(1)
    essay = [row for row in home.matrix("essay").grow().rows if row.size == 30][:4]
    assert min(essay, key=lambda row: row.score).rank == 1  # lower is better there


def test_explanation(home: Warehouse) -> None:
    found = home.matrix("exam").explain(embedder="mini", permutations=10, seed=5)
    kept = np.arange(40) != 7
    expected = explain(SCORES[kept], VECTORS[kept], n_permutations=10, seed=5)
    assert (found.n_prompts, found.n_without_vector, found.embedder) == (
        39,
        1,
        "mini@1",
    )
    assert any("1 prompts left out" in note for note in found.notes)
    assert found.mantel_r == pytest.approx(expected.mantel.r, abs=1e-12)
    assert found.p_ks_coefficient == expected.p_ks_coefficient
    best = np.flatnonzero(kept)[np.argmax(expected.coefficients)]
    assert (found.rows[0].prompt, found.rows[0].text) == (
        f"q{best:02}",
        f"question q{best:02}",
    )
    assert found.rows[0].coefficient == pytest.approx(
        expected.coefficients.max(), abs=1e-9
    )
    betas = [row.coefficient for row in found.rows if row.coefficient is not None]
    assert betas == sorted(betas, reverse=True)
    again = home.matrix("exam").explain(embedder="mini@1", permutations=10, seed=5)
    assert "read back" in again.notes[-1]
    assert replace(again, notes=()) == replace(found, notes=())


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (
            lambda w: w.matrix("nowhere").data,
            MisuseError,
            "no benchmark is called 'nowhere'",
        ),
        (lambda w: w.matrix("lone").data, MisuseError, r"1 model\(s\).*at least 2"),
        (lambda w: w.matrix("paper").data, MisuseError, r"0 model\(s\).*at least 2"),
        (lambda w: w.matrix("bare").data, MisuseError, r"0 model\(s\).*at least 2"),
        (lambda w: w.matrix("apart").data, MisuseError, "0 of 3 prompts.*model!=NAME"),
        (lambda w: w.matrix("flat").test(), StatisticsError, "columns are constant"),
        (
            lambda w: w.matrix("flat").cluster(),
            StatisticsError,
            "1 distinct performance vector",
        ),
        (
            lambda w: w.matrix("essay").test(similarities=["jaccard"]),
            StatisticsError,
            "jaccard.*use cosine",
        ),
        (
            lambda w: w.matrix("essay").test(similarities=["hamming"]),
            StatisticsError,
            "hamming.*use cosine",
        ),
        (lambda w: w.matrix("exam", metric="f1").data, MisuseError, "no metric 'f1'"),
        (lambda w: w.matrix("mute").explain(), MisuseError, "mute have no text"),
        (
            lambda w: w.matrix("essay").explain(embedder="mini"),
            MisuseError,
            "warehouse text embed essay",
        ),
        (
            lambda w: w.matrix("exam").explain(),
            MisuseError,
            "several embedders.*mini@1 .*, other",
        ),
        (
            lambda w: w.matrix("exam").explain(embedder="x"),
            MisuseError,
            "there are: mini@1 ",
        ),
        (
            lambda w: w.matrix("exam").weights(cluster="x"),
            MisuseError,
            "no clustering 'x'",
        ),
        (
            lambda w: w.matrix("exam").weights(given={"x": 1}),
            MisuseError,
            "such as 'q00'",
        ),
        (
            lambda w: w.matrix("exam").weights(given={"q00": -1}),
            StatisticsError,
            "at least 0",
        ),
        (
            lambda w: w.matrix("exam").cluster(store="topic"),
            MisuseError,
            "another name",
        ),
        (lambda w: w.matrix("exam").cluster(default=True), MisuseError, "needs a name"),
        (
            lambda w: w.matrix("exam").grow(sizes=[99]),
            StatisticsError,
            "`sizes` must lie",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    home: Warehouse, ask: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ask(home)
