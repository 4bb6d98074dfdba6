"""Stored analyses: read back while method, settings and data are the same, and only
then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest
import sqlalchemy as sa

from tests.support.stores import ENGINES, empty_store
from warehouse.records.canonical_json import fingerprint
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import StoredQuestion
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema import migrate, tables

QUESTION = StoredQuestion(
    "matrix_test",
    "quiz",
    "1",
    fingerprint("abc"),
    7,
    {"similarity": ["cosine"], "n": 3},
)
RESULT = {"rows": [{"p": 0.25, "name": "é", "none": None}], "n": 3}
NOON = datetime(2026, 1, 2, 12)


@pytest.fixture(scope="module", params=ENGINES)
def empty(request: pytest.FixtureRequest) -> Iterator[Store]:
    with (
        empty_store(request, request.param) as url,
        open_store(url, create=True) as store,
    ):
        yield store


@pytest.fixture
def store(empty: Store) -> Store:
    with empty.begin() as connection:
        connection.execute(sa.delete(tables.analysis))
    return empty


def count(store: Store) -> int:
    return int(store.arrow("select count(*) as n from analysis").column("n")[0].as_py())


def test_an_answer_comes_back_as_it_was_put(store: Store) -> None:
    assert result_cache.get(store, QUESTION) is None
    result_cache.put(store, QUESTION, RESULT, now=NOON)
    answer = result_cache.get(store, QUESTION)
    assert answer is not None
    assert (answer.result, answer.created_at) == (RESULT, NOON)


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, kind="matrix_grow"),
        replace(QUESTION, subject="other"),
        replace(QUESTION, seed=8),
        replace(QUESTION, parameters={"similarity": ["cosine"], "n": 4}),
        replace(QUESTION, method_version="2"),
        replace(QUESTION, input_fingerprint=fingerprint("abd")),
    ],
    ids=["kind", "subject", "seed", "parameters", "version", "data"],
)
def test_another_question_has_no_answer(store: Store, other: StoredQuestion) -> None:
    result_cache.put(store, QUESTION, RESULT)
    assert result_cache.get(store, other) is None
    result_cache.put(store, other, {"n": 1})
    found = result_cache.get(store, other)
    assert found is not None and found.result == {"n": 1}


def test_a_new_answer_takes_the_place_of_the_old_one(store: Store) -> None:
    result_cache.put(store, QUESTION, RESULT)
    newer = replace(QUESTION, input_fingerprint=fingerprint("new data"))
    result_cache.put(store, newer, {"n": 2})
    assert (count(store), result_cache.get(store, QUESTION)) == (1, None)
    result_cache.put(store, replace(QUESTION, seed=None), RESULT)
    assert count(store) == 2


def test_order_of_parameters_does_not_matter_and_boundaries_of_a_fingerprint_do() -> (
    None
):
    turned = replace(QUESTION, parameters={"n": 3, "similarity": ["cosine"]})
    assert turned.parameters_key == QUESTION.parameters_key
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("ab") == fingerprint(b"ab")


def test_the_checks_know_the_table(store: Store) -> None:
    result_cache.put(store, QUESTION, RESULT)
    assert migrate.check(store).ok


def test_the_analyses_of_a_subject_are_listed_newest_first(store: Store) -> None:
    for hour, n in ((1, 1), (3, 2), (2, 3)):
        question = replace(QUESTION, parameters={"n": n})
        result_cache.put(store, question, {"n": n}, now=NOON.replace(hour=hour))
    for other in (
        replace(QUESTION, subject="other"),
        replace(QUESTION, method_version="0"),
    ):
        result_cache.put(store, other, RESULT, now=NOON)
    kept = result_cache.kept(store, "quiz", "1")
    assert [one.parameters["n"] for one in kept] == [2, 3, 1]
    assert [result_cache.result_of(store, one) for one in kept] == [
        {"n": 2},
        {"n": 3},
        {"n": 1},
    ]
    assert kept[0].created_at == NOON.replace(hour=3) and kept[0].kind == "matrix_test"
    assert result_cache.kept(store, "nothing", "1") == []
