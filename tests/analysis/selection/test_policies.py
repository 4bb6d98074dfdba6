"""What unscored samples count as: missing, or wrong, by a policy that is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse import Warehouse, connect
from warehouse.errors import MisuseError
from warehouse.records.policy import PRESETS, STATUSES, Policy

#: Draws of each prompt: a score, or the status of one without.
AGENT = {
    "p1": [1.0, "limit"],
    "p2": [0.0, 1.0],
    "p3": ["error", "limit"],
    "p4": ["refused", 1.0],
    "p5": [1.0, 1.0],
    "p6": ["error", 1.0],
}


def build_rows() -> StoreRows:
    """An agent with samples of every status, another that finished all, and a benchmark
    whose metric has no worst score."""
    rows = StoreRows()
    for name, kind in (("tasks", "binary"), ("loose", "continuous")):
        metric = rows.metric("reward" if name == "loose" else "acc")
        rows.benchmark(name)
        low, high = (None, None) if kind == "continuous" else (0.0, 1.0)
        rows.describe(name, metric, kind=kind, higher=True, low=low, high=high)
        keys = {key: key for key in AGENT}
        rows.scores(rows.run("org/done", name), dict.fromkeys(keys, 1.0), metric)
        run = rows.run("org/agent", name)
        drawn = {
            key: [None if isinstance(one, str) else one for one in draws]
            for key, draws in AGENT.items()
        }
        rows.scores(run, drawn, metric)
        statuses = [
            one if isinstance(one, str) else "scored"
            for draws in AGENT.values()
            for one in draws
        ]
        own = [row for row in rows.rows["score"] if row["run_id"] == run]
        assert len(own) == len(statuses)
        for row, status in zip(own, statuses, strict=True):
            row["status"] = status
    for row in rows.rows["prompt"]:
        kind = "hard" if row["key"] in ("p3", "p4") else "easy"
        row["metadata"] = {"kind": kind}
    return rows


ROWS = build_rows()


@pytest.fixture
def store(url: str) -> Warehouse:
    return connect(url, create=False)


def expected(policy: str) -> tuple[float, int, int]:
    """Mean over prompts, and how many samples are without a score or filled."""
    meaning = PRESETS[policy]
    means, n_unscored, n_filled = [], 0, 0
    for draws in AGENT.values():
        counted = []
        for one in draws:
            if not isinstance(one, str):
                counted.append(one)
            elif meaning[one] == "wrong":
                counted.append(0.0)
                n_filled += 1
            else:
                n_unscored += 1
        if counted:
            means.append(np.mean(counted))
    return float(np.mean(means)), n_unscored, n_filled


@pytest.mark.parametrize("policy", [*PRESETS])
def test_a_leaderboard_is_that_of_scores_filled_by_hand(
    store: Warehouse, policy: str
) -> None:
    found = {row.model: row for row in store.leaderboard("tasks", policy=policy).rows}
    mean, n_unscored, n_filled = expected(policy)
    agent = found["org/agent"]
    assert agent.estimate == pytest.approx(mean)
    assert (agent.n_unscored, agent.n_filled) == (n_unscored, n_filled)
    assert found["org/done"].estimate == 1


def test_without_a_policy_nothing_is_filled(store: Warehouse) -> None:
    usual = store.leaderboard("tasks")
    missing = store.leaderboard("tasks", policy="missing")
    assert [row.estimate for row in usual.rows] == [
        row.estimate for row in missing.rows
    ]
    assert usual.policy == "" and "policy" not in str(usual).split("\n")[0]


def test_comparison_pairs_gate_and_suite_are_under_it(store: Warehouse) -> None:
    mean, _, _ = expected("all-wrong")
    row = store.compare("org/done", "org/agent", benchmark="tasks", policy="all-wrong")
    assert row.rows[0].difference == pytest.approx(1 - mean)
    assert row.rows[0].n_prompts == len(AGENT)
    pairs = store.pairs("tasks", policy="all-wrong")
    assert pairs.rows[0].difference == pytest.approx(1 - mean)
    gate = store.gate(
        "org/agent", "org/done", 0.1, benchmarks=["tasks"], policy="all-wrong"
    )
    assert gate.rows[0].candidate == pytest.approx(mean)
    for said in (row, pairs, gate, store.leaderboard("tasks", policy="all-wrong")):
        assert "policy all-wrong" in str(said).split("\n\n")[0], type(said)
        assert any("5 of 12 samples" in note for note in said.notes), said.notes


def test_errors_are_missing_for_attempts(store: Warehouse) -> None:
    board = store.leaderboard("tasks", policy="attempts")
    agent = next(row for row in board.rows if row.model == "org/agent")
    # p3 has one error, which is missing, and one limit, which is wrong
    assert agent.n_prompts == 6 and agent.n_filled == 3 and agent.n_unscored == 2
    (note,) = [note for note in board.notes if note.startswith("policy")]
    assert "org/agent 3 of 12 samples" in note
    assert "of 1 other no sample has such a status" in note


def test_single_statuses_can_be_named(store: Warehouse) -> None:
    board = store.leaderboard("tasks", policy="error=wrong,limit=missing")
    agent = next(row for row in board.rows if row.model == "org/agent")
    assert agent.n_filled == 2
    assert "errors and absent prompts count as wrong" in " ".join(board.notes)


def test_of_some_prompts_those_are_counted(store: Warehouse) -> None:
    part = store.leaderboard("tasks", policy="all-wrong", where=["prompt.kind=hard"])
    agent = next(row for row in part.rows if row.model == "org/agent")
    assert (agent.n_prompts, agent.n_filled, agent.estimate) == (2, 3, 0.25)


def test_a_metric_without_a_worst_score_is_refused(store: Warehouse) -> None:
    with pytest.raises(MisuseError, match="no known worst score"):
        store.leaderboard("loose", policy="attempts")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hard", "missing, attempts, all-wrong"),
        ("sleepy=wrong", "'sleepy' is no status"),
        ("limit=kept", "limit counts as missing or wrong"),
        ("", "policy is one of"),
    ],
)
def test_a_policy_that_there_is_not_is_refused(text: str, message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        Policy.of(text)


def test_numbers_of_missing_answers_stand_unless_a_policy_says_otherwise() -> None:
    assert {*PRESETS["missing"]} == {*STATUSES}
    assert PRESETS["missing"]["no_answer"] == "kept"
    assert Policy.of("no_answer=missing").dropped == ("no_answer",)
    assert Policy.of("missing").is_usual and not Policy.of("attempts").is_usual


def test_many_missing_samples_say_what_else_they_may_be(
    run: Caller, url: str, tmp_path: Path
) -> None:
    found = run("leaderboard", "tasks", db=url)
    assert "--policy attempts" in found.err
    rows = json.loads(
        run("leaderboard", "tasks", "--policy", "attempts", "--json", db=url).out
    )
    assert {row["n_filled"] for row in rows} == {0, 3}
    run("leaderboard", "tasks", "--policy", "hard", db=url).fails(2, "all-wrong")
