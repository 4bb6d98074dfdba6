"""Permutations on the executors of a lake's server: the answer of the store, whoever
works on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.lakes import MARKS, SailServer, world_with_lake
from warehouse.analysis.matrix import analyses
from warehouse.analysis.matrix.answer import matrix
from warehouse.errors import StoreError
from warehouse.store import engines
from warehouse.store.engines import spark_tasks
from warehouse.store.open import StoreOpener, open_store

pytestmark = MARKS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return world_with_lake(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def server() -> Iterator[SailServer]:
    with SailServer() as started:
        yield started


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Everything goes to executors; numbers of the tasks that came back."""
    came: list[int] = []
    whole = engines.Executors.map

    def counted(
        self: engines.Executors,
        function: Callable[[bytes], bytes],
        sent: Sequence[bytes],
    ) -> Iterator[tuple[int, bytes]]:
        for number, data in whole(self, function, sent):
            came.append(number)
            yield number, data

    monkeypatch.setattr(analyses, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(engines.Executors, "map", counted)
    return came


def answers(url: str) -> tuple[object, object, tuple[str, ...]]:
    """Figures of a permutation test and of a search of clusters, and the notes of both."""
    with open_store(url) as store:
        asked = matrix(StoreOpener.of(store), "items", store_result=False)
        test, clusters = (
            asked.test(permutations=40),
            asked.cluster(n_clusters=(2, 3), permutations=2),
        )
    return (
        (test.rows, test.histogram),
        (clusters.rows, clusters.p_value),
        (*test.notes, *clusters.notes),
    )


def test_a_lake_behind_a_server_answers_as_the_store(
    made: Path, server: SailServer, tasks: list[int]
) -> None:
    here = answers(f"duckdb:///{made / 'store.duckdb'}")
    assert not tasks
    there = answers(f"{server.url}?lake={made / 'lake'}")
    assert sorted(tasks) == [0, 0, 1, 1, 2, 2, 3] and here == there


def test_an_engine_in_this_process_has_nobody_to_ask(
    made: Path, tasks: list[int]
) -> None:
    here = answers(f"duckdb:///{made / 'store.duckdb'}")
    assert answers(f"sail:?lake={made / 'lake'}") == here and not tasks


def test_little_work_is_done_here(
    made: Path, server: SailServer, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyses, "WORTH_SECONDS", 30.0)
    answers(f"{server.url}?lake={made / 'lake'}")
    assert not tasks


def test_what_executors_cannot_do_is_done_here_and_told(
    made: Path, server: SailServer, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = engines.Executors.map

    def breaks(
        self: engines.Executors,
        function: Callable[[bytes], bytes],
        sent: Sequence[bytes],
    ) -> Iterator[tuple[int, bytes]]:
        for number, data in whole(self, function, sent):
            yield number, data
            raise StoreError("the server went away")

    monkeypatch.setattr(engines.Executors, "map", breaks)
    *here, notes = answers(f"duckdb:///{made / 'store.duckdb'}")
    *there, said = answers(f"{server.url}?lake={made / 'lake'}")
    told = "computed by this process, since executors could not: the server went away"
    assert (
        here == there and len(tasks) == 2 and sorted(set(said) - set(notes)) == [told]
    )


def test_executors_of_other_versions_are_not_asked() -> None:
    with pytest.raises(
        StoreError,
        match=r"executors have eval-warehouse \S+, numpy [1-9]\S*, the caller numpy 0\.1",
    ):
        next(spark_tasks._one(_echo, {"numpy": "0.1"}, b"a"))


def _echo(task: bytes) -> bytes:
    return task
