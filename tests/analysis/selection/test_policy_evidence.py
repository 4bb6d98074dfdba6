"""Runs that are proven not to say what a policy asks for are refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.builders import StoreRows
from warehouse import Warehouse, connect
from warehouse.errors import MisuseError


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """Agents that keep their failures, bake them into the score, and drop them."""
    rows = StoreRows()
    metric = rows.metric()
    rows.describe("tasks", metric)
    prompts = [f"p{number}" for number in range(8)]
    kept = rows.run("org/kept", "tasks")
    rows.scores(kept, {key: None if key == "p0" else 1.0 for key in prompts}, metric)
    baked = rows.run("org/baked", "tasks")
    rows.scores(baked, {key: float(key > "p1") for key in prompts}, metric)
    rows.generation(baked, "p0", 0, "", error="timed out")
    rows.generation(baked, "p1", 0, "", error=None)
    limited = rows.run("org/limited", "tasks")
    rows.scores(limited, {key: float(key > "p2") for key in prompts}, metric)
    rows.transcript(limited, "p1", 0, {}, limit_hit="time")
    failed_but_right = rows.run("org/lucky", "tasks")
    rows.scores(failed_but_right, dict.fromkeys(prompts, 1.0), metric)
    rows.generation(failed_but_right, "p3", 0, "", error="closed late")
    dropped = rows.run("org/dropped", "tasks", n_requested=8)
    rows.scores(dropped, dict.fromkeys(prompts[:6], 1.0), metric)
    cut = rows.run("org/cut", "tasks", n_requested=8, status="truncated")
    rows.scores(cut, dict.fromkeys(prompts[:6], 1.0), metric)
    unknown = rows.run("org/unknown", "tasks", n_requested=9)
    rows.scores(unknown, dict.fromkeys(prompts[:7], 1.0), metric)
    return rows


@pytest.fixture
def store(url: str) -> Iterator[Warehouse]:
    yield connect(url, create=False)


def test_baked_failures_cannot_be_missing(store: Warehouse) -> None:
    words = (
        r"`missing` takes failed answers for missing, and these runs have them as wrong "
        r"ones: run:2 \(org/baked on tasks\), 1 errors; all can be read under "
        "`all-wrong`: policy=.all-wrong."
    )
    for ask in (
        lambda **options: store.compare("org/kept", "org/baked", **options),
        lambda **options: store.gate("org/baked", "org/kept", 0.1, **options),
    ):
        with pytest.raises(MisuseError, match=words):
            ask(policy="missing")
        assert ask(policy="all-wrong").rows
        assert ask().rows  # nobody said what failures are to be
    with pytest.raises(MisuseError, match="run:2 .*; run:3 "):
        store.leaderboard("tasks", policy="missing")
    with pytest.raises(MisuseError, match="run:2 "):
        store.pairs("tasks", policy="attempts")


def test_a_policy_that_would_be_refused_is_not_named(store: Warehouse) -> None:
    notes = "; ".join(store.leaderboard("tasks").notes)
    assert "all-wrong" in notes and "attempts" not in notes
    kept = store.leaderboard("tasks", where=["model=org/kept"])
    assert "attempts" in "; ".join(kept.notes)


def test_a_status_that_counts_as_wrong_may_be_baked(store: Warehouse) -> None:
    assert store.compare("org/kept", "org/limited", policy="attempts").rows
    with pytest.raises(MisuseError, match=r"run:3 .*, 1 limits"):
        store.compare("org/kept", "org/limited", policy="missing")


def test_an_error_beside_a_right_answer_proves_nothing(store: Warehouse) -> None:
    assert store.compare("org/kept", "org/lucky", policy="missing").rows


def test_absent_prompts_of_a_known_set_count_like_errors(store: Warehouse) -> None:
    board = store.leaderboard("tasks", policy="all-wrong", where=["model!=org/unknown"])
    (row,) = [row for row in board.rows if row.model == "org/dropped"]
    assert (row.estimate, row.n_prompts) == (0.75, 8)  # six right of eight
    assert "subset" not in row.flags
    assert any("org/dropped 2 of 8 samples" in note for note in board.notes)
    (pair,) = store.compare("org/kept", "org/dropped", policy="all-wrong").rows
    assert (pair.n_prompts, pair.mean_b) == (8, 0.75)
    for policy in ("attempts", "missing"):  # by which an error says nothing
        (pair,) = store.compare("org/kept", "org/dropped", policy=policy).rows
        assert pair.mean_b == 1.0
    assert store.compare("org/kept", "org/cut", policy="all-wrong").rows  # it is told


def test_absent_prompts_that_nobody_knows_cannot_be_wrong(store: Warehouse) -> None:
    with pytest.raises(
        MisuseError,
        match="run:7 .* 7 of the 9 prompts.*nobody knows which.*policy=.missing.",
    ):
        store.compare("org/kept", "org/unknown", policy="all-wrong")
    assert store.compare("org/kept", "org/unknown", policy="attempts").rows
