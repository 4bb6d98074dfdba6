"""Sources that hold the same execution: what one of them has told of it goes with that
source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import permutations
from typing import Any

import pytest

from tests.support.stores import empty_store
from warehouse.importers.base import batch_of
from warehouse.records import Dump, RunHeader, parse_json
from warehouse.store.curate.catalogue import tag
from warehouse.store.load import source_ledger
from warehouse.store.load.state import LoadOptions
from warehouse.store.schema.migrate import check
from warehouse.testing.contents import Contents, contents, differences

pytestmark = [pytest.mark.engine]

SCORES = {"a": 1.0, "b": 0.0}
#: What sources say of one run of equal scores, by name: those of one name differ in
#: what marks it.
SOURCES: dict[str, dict[str, Any]] = {
    "bare": {"run_id": None},
    "seed": {"run_id": None, "sampling_seed": 1},
    "other seed": {"run_id": None, "sampling_seed": 2},
    "start": {
        "run_id": None,
        "started_at": datetime(2026, 1, 1),
        "endpoint": "https://a.example/v1",
    },
    "other start": {
        "run_id": None,
        "started_at": datetime(2026, 1, 2),
        "harness_version": "2",
    },
    "id": {"run_id": "r1"},
    "id and seed": {
        "run_id": "r1",
        "sampling_seed": 1,
        "configuration": {"output_path": "here"},
    },
    "other id": {"run_id": "r2", "started_at": datetime(2026, 1, 1), "tags": ("t",)},
}


def load(kit: Any, name: str) -> None:
    header = RunHeader(
        **{"harness": "tool", "model": "org/a", "benchmark": "quiz"} | SOURCES[name]
    )
    claim = kit.claim(name, sha256=sha256(name.encode()).hexdigest())
    dump = Dump((header,), batches=[batch_of(kit.rows(SCORES))])
    kit.loader.load(dump, claim, LoadOptions())


def held(kit: Any) -> Contents:
    report = check(kit.store)
    assert report.ok, str(report)
    return contents(kit.store)


#: Opens an empty store with its loader.
Opener = Callable[[], AbstractContextManager[Any]]


class Expected:
    """What stores hold that never had anything but some sources, in the order in which
    they came."""

    def __init__(self, open_empty: Opener) -> None:
        self.open_empty = open_empty
        self.known: dict[tuple[str, ...], Contents] = {}

    def of(self, names: Sequence[str]) -> Contents:
        key = tuple(names)
        if key not in self.known:
            with self.open_empty() as kit:
                for name in key:
                    load(kit, name)
                self.known[key] = held(kit)
        return self.known[key]

    def left_behind(self, names: Sequence[str], *gone: str) -> list[str]:
        """What a store holds beside those that never had the sources that it has
        forgotten, after each of them."""
        lines: list[str] = []
        left = list(names)
        with self.open_empty() as kit:
            for name in names:
                load(kit, name)
            for name in gone:
                source_ledger.forget(kit.store, name)
                left.remove(name)
                lines += differences(held(kit), self.of(left))
        return lines


@pytest.fixture(params=["duckdb", "postgresql"])
def open_empty(request: pytest.FixtureRequest, open_kit: Any) -> Opener:
    @contextmanager
    def opened() -> Any:
        with empty_store(request, request.param) as url, open_kit(url) as kit:
            yield kit

    return opened


@pytest.mark.slow_on_server  # as the next test, which is longer
@pytest.mark.parametrize(
    ("names", "gone"),
    [
        (("bare", "seed"), "seed"),
        (("seed", "bare"), "seed"),
        (("bare", "seed", "other seed"), "seed"),
        (("seed", "other seed", "bare"), "seed"),
        (("bare", "id and seed", "start"), "bare"),
    ],
)
def test_marks_that_a_forgotten_source_had_told_are_gone(
    open_empty: Opener, names: Sequence[str], gone: str
) -> None:
    assert Expected(open_empty).left_behind(names, gone) == []


@pytest.mark.rare
def test_marks_stand_in_one_order_whichever_source_said_them_first(
    open_empty: Opener,
) -> None:
    assert (
        Expected(open_empty).left_behind(
            ("id", "id and seed", "seed"), "id and seed", "seed"
        )
        == []
    )


ALL = [pytest.mark.slow, pytest.mark.timeout(7200)]


@pytest.mark.parametrize(
    ("open_empty", "share"),
    [
        pytest.param("duckdb", 797, marks=pytest.mark.rare),
        pytest.param("duckdb", 1, marks=ALL),
        pytest.param("postgresql", 1, marks=ALL),
    ],
    indirect=["open_empty"],
)
def test_every_triple_of_sources_of_one_run(open_empty: Opener, share: int) -> None:
    expected = Expected(open_empty)
    cases = [
        (order, gone)
        for order in permutations(SOURCES, 3)
        for gone in permutations(order, 2)
    ][::share]
    found = {(order, gone): expected.left_behind(order, *gone) for order, gone in cases}
    assert {case: lines for case, lines in found.items() if lines} == {}


def test_tags_of_people_stay_and_those_of_a_forgotten_source_go(
    open_empty: Opener,
) -> None:
    with open_empty() as kit:
        load(kit, "other id")
        load(kit, "bare")
        assert tag(kit.store, "1", add=["kept"]) == ["t", "kept"]
        source_ledger.forget(kit.store, "other id")
        assert tag(kit.store, "1", add=["kept"]) == ["kept"]


def test_a_tag_that_a_person_took_off_does_not_come_back_with_the_next_source(
    open_empty: Opener,
) -> None:
    with open_empty() as kit:
        load(kit, "bare")
        load(kit, "other id")
        tag(kit.store, "1", add=["t"])
        tag(kit.store, "1", remove=["t"])
        source_ledger.forget(kit.store, "bare")
        assert tag(kit.store, "1") == []


TAGGED = {"bare": (), "seed": ("x", "b"), "id and seed": ("a",)}


def tags_of_runs(kit: Any) -> list[list[str]]:
    rows = kit.store.rows("select tags from run order by id")
    return [parse_json(row["tags"]) if row["tags"] else [] for row in rows]


#: Of each tag the first that gives it comes first, in the middle, or last; on the
#: server the one that differs most.
TAG_ORDERS = [
    pytest.param(
        engine,
        order,
        marks=()
        if place in ((0, 3, 5) if engine == "duckdb" else (5,))
        else pytest.mark.slow,
    )
    for engine in ("duckdb", "postgresql")
    for place, order in enumerate(permutations(TAGGED))
]


@pytest.mark.parametrize(("open_empty", "order"), TAG_ORDERS, indirect=["open_empty"])
def test_tags_are_those_of_all_sources_in_any_order_and_go_with_the_last_that_gave_them(
    open_empty: Opener, monkeypatch: pytest.MonkeyPatch, order: tuple[str, ...]
) -> None:
    for name, tags in TAGGED.items():
        monkeypatch.setitem(SOURCES, name, SOURCES[name] | {"tags": tags})
    with open_empty() as kit:
        for name in order:
            load(kit, name)
        assert tags_of_runs(kit) == [["a", "b", "x"]]
        source_ledger.forget(kit.store, "seed")
        assert tags_of_runs(kit) == [["a"]]
        source_ledger.forget(kit.store, "id and seed")
        assert tags_of_runs(kit) == [[]]
        held(kit)
