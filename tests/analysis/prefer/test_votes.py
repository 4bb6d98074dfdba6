"""Votes as arrays: who was shown first, what is left out, and who judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, copied, filled_store
from tests.support.world import build_world
from warehouse.analysis.prefer.votes import NO_VERDICT, read_votes
from warehouse.errors import MisuseError
from warehouse.stats.preferences.ballots import BOTH_BAD, FIRST, SECOND, TIE
from warehouse.store.connection import Store
from warehouse.store.open import open_store

Make = Callable[[StoreRows], Store]


@pytest.fixture
def make(tmp_path: Path, empty_file: Path) -> Iterator[Make]:
    opened: list[Store] = []

    def made(rows: StoreRows) -> Store:
        for number in (1, 2):
            rows.add("source", (number,), sha256=f"{number}" * 64, settings_key="", path=f"votes{number}.csv",
                     format="tabular", importer_version="1", state="loaded")  # fmt: skip
        opened.append(
            open_store(copied(empty_file, tmp_path / "votes.duckdb"), write=True)
        )
        rows.write(opened[-1])
        return opened[-1]

    yield made
    for store in opened:
        store.close()


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, build_world()) as store:
        yield store


def test_both_engines_give_the_same_arrays(world: Store) -> None:
    votes = read_votes(world, "quiz", "people", covariates=["length"])
    assert votes.models == ("org/a", "org/b") and [
        str(one) for one in votes.scorers
    ] == ["people (human, 5 votes)"]
    assert (
        votes.first.tolist(),
        votes.second.tolist(),
        votes.order_known.tolist(),
    ) == ([0] * 4, [1] * 4, [True] * 4)
    assert votes.outcome.tolist() == [
        FIRST,
        SECOND,
        TIE,
        BOTH_BAD,
    ] and votes.left_out == {NO_VERDICT: 1}
    assert votes.voter.tolist() == [0, 0, 1, 1]
    assert votes.prompt.tolist() == [0, 1, 2, 3] and votes.weight.tolist() == [1] * 4
    assert votes.covariates["length"].tolist() == [
        [0, 3.5],
        [1, 3.5],
        [2, 3.5],
        [3, 3.5],
    ]


def test_what_was_shown_second_counts_as_second(world: Store) -> None:
    votes = read_votes(world, "quiz", "judge/x", covariates=["length"])
    assert (votes.first.tolist(), votes.second.tolist()) == ([1, 1], [0, 0])
    assert votes.outcome.tolist() == [SECOND, SECOND] and votes.voter.tolist() == [
        -1,
        -1,
    ]
    assert votes.covariates["length"].tolist() == [[3.5, 0], [3.5, 1]]


def test_several_who_judge_are_never_one(world: Store) -> None:
    with pytest.raises(
        MisuseError,
        match=r"several scorers, choose one with --scorer: people \(human, 5 votes\), jud",
    ):
        read_votes(world, "quiz")
    votes = read_votes(world, "quiz", by_scorer=True)
    assert sorted(votes.scorer.tolist()) == [0, 0, 0, 0, 1, 1] and len(votes) == 6
    with pytest.raises(
        MisuseError,
        match=r"no scorer of votes on quiz is called 'peple'; did you mean people\?",
    ):
        read_votes(world, "quiz", "peple")


def test_what_is_not_there_is_said(world: Store) -> None:
    with pytest.raises(
        MisuseError,
        match="golden has no votes; its scores: warehouse leaderboard golden",
    ):
        read_votes(world, "golden")
    with pytest.raises(
        MisuseError, match="have no covariate 'tone'; there are: length"
    ):
        read_votes(world, "quiz", "people", covariates=["tone"])


def test_views_count_votes_and_agreement(world: Store) -> None:
    people, judge = world.rows(
        "select * from preference_summary where benchmark = 'quiz' order by scorer_kind"
    )
    counts = [
        people[name]
        for name in (
            "n_votes",
            "n_wins_a",
            "n_wins_b",
            "n_ties",
            "n_both_bad",
            "n_no_verdict",
        )
    ]
    assert counts == [5, 1, 1, 1, 1, 1] and (
        people["n_voters"],
        people["n_prompts"],
        people["n_first_a"],
    ) == (3, 5, 5)
    assert (
        judge["n_votes"],
        judge["n_wins_a"],
        judge["n_first_b"],
        judge["n_voters"],
    ) == (2, 2, 2, 0)
    (pair,) = world.rows("select n_units, n_agree, agreement from judge_agreement")
    assert pair == {"n_units": 2, "n_agree": 1, "agreement": 0.5}
    against = world.rows(
        "select value, outcome, opponent from opponent_vote order by prompt_id"
    )
    assert [(row["value"], row["outcome"]) for row in against] == [
        (1, "a"),
        (0.3, "b"),
        (0.5, "tie"),
        (None, None),
    ]
    assert {row["opponent"] for row in against} == {"org/b"}


def test_an_alias_makes_two_models_one(make: Make) -> None:
    rows = StoreRows()
    rows.model("new")
    rows.model("old", alias_of="new")
    rows.benchmark("arena")
    rows.benchmark("arena_2", alias_of="arena")
    rows.votes(1, "arena", ("new", "old"), "ab")
    rows.votes(1, "arena_2", ("old", "other"), "ab")
    votes = read_votes(make(rows), "arena_2")
    assert votes.left_out == {"a model against itself": 2}
    assert (
        votes.benchmark == "arena"
        and votes.models == ("new", "other")
        and votes.outcome.tolist() == [0, 1]
    )


def test_models_of_another_judge_are_not_among_those(make: Make) -> None:
    rows = StoreRows()
    rows.votes(1, "arena", ("m", "n"), "a")
    rows.votes(1, "arena", ("n", "o"), "a", judge="j")
    votes = read_votes(make(rows), "arena", "j")
    assert votes.models == ("n", "o") and votes.first.tolist() == [0]


def test_votes_that_two_sources_hold_are_counted(make: Make) -> None:
    rows = StoreRows()
    rows.votes(1, "arena", ("m", "n"), "abab")
    rows.votes(2, "arena", ("m", "n"), "abb")
    votes = read_votes(make(rows), "arena")
    assert (len(votes), votes.n_shared, votes.shared_by) == (
        7,
        2,
        ("votes1.csv", "votes2.csv"),
    )


def test_votes_that_all_fall_away_leave_none(make: Make) -> None:
    rows = StoreRows()
    rows.votes(1, "arena", ("m", "n"), [None, None], judge="silent")
    votes = read_votes(make(rows), "arena")
    assert len(votes) == 0 and votes.models == () and votes.left_out == {NO_VERDICT: 2}
    assert votes.first.dtype == np.int64
