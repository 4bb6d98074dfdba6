"""Stored matrix analyses as a reader finds them: the newest that fits the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa

import warehouse
from tests.support.sections import build as build
from warehouse.analysis.matrix.cached import StoredMatrix, stored_matrix
from warehouse.analysis.matrix.results import MatrixResult
from warehouse.analysis.selection.benchmarks import read_benchmark
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.store.open import open_store
from warehouse.store.schema import tables

ALL = ("test", "cluster", "weights", "grow", "explain")


@pytest.fixture
def home(url: str) -> Iterator[Warehouse]:
    """The store, with nothing computed yet."""
    with open_store(url, write=True) as store, store.begin() as connection:
        connection.execute(sa.delete(tables.analysis))
    yield warehouse.connect(url)


def stored(home: Warehouse) -> StoredMatrix:
    with home._reading() as store:
        return stored_matrix(store, read_benchmark(store, "exam"))


def plain(result: MatrixResult | None) -> MatrixResult:
    assert result is not None
    return replace(result, notes=())


def test_nothing_is_computed_for_a_reader(home: Warehouse) -> None:
    assert stored(home) == StoredMatrix(missing=ALL)
    assert stored(home).found == ()


def test_what_was_computed_comes_back(home: Warehouse) -> None:
    matrix = home.matrix("exam")
    made = [matrix.test(permutations=9), matrix.weights(draws=50), matrix.grow()]
    found = stored(home)
    assert [plain(found.test), plain(found.weights), plain(found.growth)] == [
        replace(one, notes=()) for one in made
    ]
    assert (
        found.clusters is not None and found.clusters.n_permutations == 0
    )  # behind the weights
    assert (found.missing, found.outdated, found.chosen) == (("explain",), (), ())


def test_clusters_held_against_shuffled_matrices_come_first(home: Warehouse) -> None:
    matrix = home.matrix("exam")
    wanted = matrix.cluster(n_clusters=(2, 3), permutations=3)
    matrix.cluster(n_clusters=(2, 3), permutations=0)
    assert plain(stored(home).clusters) == replace(wanted, notes=())


def test_a_trial_does_not_take_the_place_of_the_evidence(home: Warehouse) -> None:
    matrix = home.matrix("exam")
    wanted = [matrix.test(permutations=99), matrix.weights(draws=200)]
    matrix.test(permutations=9)
    matrix.weights(draws=20)
    home.matrix("exam", where=["model!=lab/m0*"]).test(permutations=199)
    found = stored(home)
    assert [plain(found.test), plain(found.weights)] == [
        replace(one, notes=()) for one in wanted
    ]
    assert found.chosen == ()


def test_of_equal_evidence_the_newest_counts(home: Warehouse) -> None:
    home.matrix("exam").test(permutations=9)
    newest = home.matrix("exam").test(permutations=9, seed=1)
    assert plain(stored(home).test) == replace(newest, notes=())


def test_what_is_not_of_all_runs_says_of_which(home: Warehouse) -> None:
    home.matrix("exam", where=["model!=lab/m0*"], latest=True).test(permutations=9)
    found = stored(home)
    assert found.test is not None and found.test.n_models == 6
    assert found.chosen == (
        ("test", "model!=lab/m0*, the newest condition of each model"),
    )


def test_a_trial_that_is_not_stored_leaves_nothing(home: Warehouse) -> None:
    matrix = home.matrix("exam", store_result=False)
    told = [
        matrix.test(permutations=9),
        matrix.cluster(n_clusters=(2, 3)),
        matrix.grow(),
    ]
    assert all("not stored: a trial (--no-store)" in one.notes for one in told)
    assert stored(home) == StoredMatrix(missing=ALL)
    with pytest.raises(MisuseError, match="a trial stores no clustering"):
        matrix.cluster(store="alike")


def test_weights_that_are_given_do_not_replace_other_ones(home: Warehouse) -> None:
    matrix = home.matrix("exam")
    first, second = ({key: 2.0} for key in matrix.data.keys[:2])
    for given in (first, second):
        matrix.weights(draws=50, given=given)
    again = matrix.weights(draws=50, given=first)
    assert any(note.startswith("read back") for note in again.notes)


def test_a_clustering_made_otherwise_is_not_replaced_unasked(home: Warehouse) -> None:
    matrix = home.matrix("exam")
    matrix.cluster(n_clusters=(2,), store="alike", default=True)
    before = home.leaderboard("exam").rows[0].n_clusters
    with pytest.raises(MisuseError, match="made with tried .2. and not .3."):
        matrix.cluster(n_clusters=(3,), store="alike")
    assert home.leaderboard("exam").rows[0].n_clusters == before
    matrix.cluster(n_clusters=(2,), store="alike")
    matrix.cluster(n_clusters=(3,), store="alike", replace=True)
    assert home.leaderboard("exam").rows[0].n_clusters == 3


def test_changed_scores_make_an_analysis_outdated(home: Warehouse) -> None:
    home.matrix("exam").test(permutations=9)
    table = tables.prompt_score

    def flip(run: int) -> None:
        with home._writing() as store, store.begin() as connection:
            connection.execute(
                sa.update(table)
                .where(table.c.run_id == run)
                .values(value=1 - table.c.value)
            )

    flip(1)
    found = stored(home)
    assert (
        found.test is None
        and found.outdated == ("test",)
        and "test" not in found.missing
    )
    flip(1)
    assert stored(home).test is not None


def test_an_analysis_of_runs_that_are_gone_is_outdated(home: Warehouse) -> None:
    home.matrix("exam").test(permutations=9)
    with home._writing() as store, store.begin() as connection:
        told = {"metric": "acc", "where": ["model=gone/*"], "latest": False}
        connection.execute(sa.update(tables.analysis).values(parameters=told))
    assert stored(home).outdated == ("test",)
