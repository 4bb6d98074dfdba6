"""Which runs a reference means, and what is said where that is not clear."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.builders import StoreRows
from tests.support.stores import filled_store
from warehouse.analysis.selection.conditions import label_conditions
from warehouse.analysis.selection.reference import find_conditions, pick_one
from warehouse.analysis.selection.reference_text import (
    Reference,
    parse_reference,
    parse_where,
)
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

pytestmark = pytest.mark.engine
ALL = "all"


def build_rows() -> StoreRows:
    rows = StoreRows()
    rows.model("old/llama", alias_of="meta/llama")
    for run in (
        rows.run("meta/llama", temperature=0.0),
        rows.run("meta/llama", temperature=0.8),
        rows.run("old/llama", temperature=0.5),
        rows.run("org/a", step=1000.0),
        rows.run("org/a", step=2000.0),
        rows.run("org/a", "essay", agent="react"),
        rows.run("org/b", revision="v1.0", fewshot=5),
        rows.run("org/b", revision="v2.0", fewshot=5),
        rows.run("org/c+d@x"),
        rows.run("lab/c"),
        rows.run("org/c"),
        rows.run("org/r", repeat=0),
        rows.run("org/r", repeat=1),
    ):
        rows.scores(run, {"q": 1.0})
    return rows


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, "duckdb", build_rows()) as opened:
        yield opened


def runs(store: Store, text: str, *where: str, benchmark: str = ALL) -> list[int]:
    ids = None if benchmark == ALL else [build_rows().benchmark(benchmark)]
    found = find_conditions(store, text, benchmark_ids=ids, where=parse_where(where))
    return sorted(run for condition in found for run in condition.run_ids)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run:4", [4]),
        ("org/b", [7, 8]),
        ("b", [7, 8]),
        ("org/?", [4, 5, 6, 7, 8, 11, 12, 13]),
        ("*/r", [12, 13]),
        ("org/b@v2.0", [8]),
        ("org/b@v*", [7, 8]),
        ("org/a@step=2000", [5]),
        ("org/a@step=2e3", [5]),
        ("org/a+react", [6]),
        ("org/*+re*", [6]),
        ("org/c+d@x", [9]),  # a name that looks like a revision and an agent
        ("meta/llama", [1, 2, 3]),
        ("old/llama", [1, 2, 3]),  # an alias is the same model
    ],
)
def test_a_reference_means(store: Store, text: str, expected: list[int]) -> None:
    assert runs(store, text) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("temperature=0.8", [2]),
        ("temperature=.80", [2]),
        ("temperature!=0.8", [1, 3]),
        ("temperature=hot", []),
        ("model_recorded=old/*", [3]),
        ("fewshot=", [1, 2, 3]),
        ("status=complete", [1, 2, 3]),
        ("seed=", [1, 2, 3]),
    ],
)
def test_where_narrows(store: Store, where: str, expected: list[int]) -> None:
    if expected:
        assert runs(store, "meta/llama", where) == expected
    else:
        with pytest.raises(MisuseError, match="no current run with temperature=hot"):
            runs(store, "meta/llama", where)


@pytest.mark.parametrize(
    ("where", "expected"),
    [("step=1K", [4]), ("step=1.0k", [4]), ("step!=2K", [4]), ("step=2000", [5])],
)
def test_numbers_that_round(store: Store, where: str, expected: list[int]) -> None:
    assert runs(store, "org/a", where, benchmark="quiz") == expected


def test_a_benchmark_narrows(store: Store) -> None:
    assert runs(store, "org/a", benchmark="quiz") == [4, 5]
    with pytest.raises(MisuseError, match="'org/b' has no current run on essay"):
        runs(store, "org/b", benchmark="essay")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("org/aa", "no model with runs is called 'org/aa'; did you mean org/a"),
        ("zzzzzz", "is called 'zzzzzz'; see: warehouse list models"),
        ("quiz", "is called 'quiz': it is a benchmark, and goes with --benchmark"),
        ("run:99", "'run:99' has no current run"),
        ("run:abc", "'run:abc': run: goes with a number, such as run:7"),
        ("org/a@step=9", "has no current run"),
        ("org/b@v9", "has no current run"),
        ("c", "'c' means several models: lab/c, org/c"),
        ("org/a@step=1.2.3", "'1.2.3' is not a number"),
    ],
)
def test_what_means_nothing_is_said(store: Store, text: str, message: str) -> None:
    with pytest.raises(MisuseError) as caught:
        runs(store, text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["temperature", "colour=red", "=5"])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(MisuseError, match="condition"):
        parse_where([text])


def test_an_ambiguous_reference_lists_the_candidates(store: Store) -> None:
    candidates = find_conditions(store, "meta/llama")
    with pytest.raises(MisuseError) as caught:
        pick_one(store, candidates, "meta/llama")
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(
        "'meta/llama' means 3 conditions on quiz; choose one as run:ID"
    )
    assert lines[1:] == [
        "  run:1  meta/llama, model_recorded=meta/llama, temperature=0.0",
        "  run:2  meta/llama, model_recorded=meta/llama, temperature=0.8",
        "  run:3  meta/llama, model_recorded=old/llama, temperature=0.5",
    ]


def test_the_latest_is_the_one_that_ran_last(store: Store) -> None:
    candidates = find_conditions(store, "org/b")
    taken = pick_one(store, candidates, "org/b", latest=True)
    assert taken.run_ids == (8,)
    assert (
        label_conditions(store, [taken])
        == label_conditions(store, candidates)[-1:]
        != [""]
    )


def test_repeats_are_one_condition(store: Store) -> None:
    condition = pick_one(store, find_conditions(store, "org/r"), "org/r")
    assert condition.run_ids == (12, 13)


def test_readings_go_from_the_literal_to_the_split() -> None:
    assert parse_reference("m@v+a") == [
        Reference(model="m@v+a"),
        Reference(model="m", revision="v+a"),
        Reference(model="m@v", agent="a"),
        Reference(model="m", revision="v", agent="a"),
    ]
    assert parse_reference("m@tokens=5")[1] == Reference(
        model="m", training_position=("tokens", 5.0)
    )
