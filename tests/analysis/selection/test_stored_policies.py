"""Questions under the policy of a benchmark: the figures are those of scores that were
filled by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.support.builders import StoreRows
from tests.support.cli import fill
from tests.support.stores import store_at
from warehouse import Warehouse, connect
from warehouse.errors import MisuseError

PROMPTS = [f"p{number:02}" for number in range(24)]
#: Scores and statuses of three agents: the first has limits, the second errors.
DICE = np.random.default_rng(3)


def drawn(rate: float, status: str, share: float) -> list[float | str]:
    return [
        status if DICE.random() < share else float(DICE.random() < rate)
        for _ in PROMPTS
    ]


AGENTS = {
    "org/slow": drawn(0.9, "limit", 0.4),
    "org/broken": drawn(0.6, "error", 0.2),
    "org/done": drawn(0.3, "", 0.0),
}


def build(fills: tuple[str, ...]) -> StoreRows:
    """The agents on two benchmarks of a suite, statuses of ``fills`` as zeros."""
    rows = StoreRows()
    metric = rows.metric()
    for benchmark in ("tasks", "chores"):
        rows.benchmark(benchmark, parent="all")
        rows.describe(benchmark, metric)
        for agent, said in AGENTS.items():
            run = rows.run(agent, benchmark)
            known = [0.0 if one in fills else one for one in said]
            drawn = [None if isinstance(one, str) else one for one in known]
            rows.scores(run, dict(zip(PROMPTS, drawn, strict=True)), metric)
            own = [row for row in rows.rows["score"] if row["run_id"] == run]
            for row, one in zip(own, known, strict=True):
                row["status"] = one if isinstance(one, str) else "scored"
    for number, row in enumerate(rows.rows["prompt"]):
        row["metadata"] = {"kind": "abc"[number % 3]}
    return rows


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    return build(())


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same with limits as zeros, as `attempts` has it."""
    url = store_at(tmp_path_factory.mktemp("by") / "hand.db")
    fill(url, build(("limit",)))
    return connect(url, create=False)


@pytest.fixture
def store(own_url: str) -> Iterator[Warehouse]:
    yield connect(own_url, create=False)


def asked(store: Warehouse) -> dict[str, Any]:
    a, b = "org/slow", "org/done"
    return {
        "leaderboard": store.leaderboard("tasks", n_resamples=99),
        "group": store.leaderboard(group="all"),
        "compare": store.compare(a, b),
        "pairs": store.pairs("tasks", n_resamples=99),
        "gate": store.gate(a, b, 0.1),
        "leaderboard_by": store.leaderboard_by("tasks", "kind"),
        "compare_by": store.compare_by(a, b, "kind", benchmark="tasks", n_resamples=99),
        "gate_by": store.gate_by(
            a, b, 0.1, by="kind", no_slice_worse_than=0.5, benchmarks=["tasks"]
        ),
    }


def head_of(result: Any) -> str:
    """What stands before its table, on one line."""
    return " ".join(str(result).split("\n\n")[0].split())


def figures(result: Any) -> list[dict[str, Any]]:
    """All that its rows say, but for what is counted of unscored samples."""
    left_out = {"n_filled", "flags"}
    return [
        {name: value for name, value in row.to_dict().items() if name not in left_out}
        for row in result.rows
    ]


def test_every_question_has_the_figures_of_scores_filled_by_hand(
    store: Warehouse, by_hand: Warehouse
) -> None:
    for benchmark in ("tasks", "chores"):
        store.set_policy(benchmark, "attempts")
    found, expected = asked(store), asked(by_hand)
    for name, result in found.items():
        assert figures(result) == figures(expected[name]), name
        shown = head_of(result)
        assert "policy attempts" in shown, (name, shown)
        assert "policy" not in head_of(expected[name])
    (note,) = [one for one in found["leaderboard"].notes if one.startswith("policy")]
    assert "that of tasks since" in note and "org/slow" in note
    assert "attempts" in str(store.declared())
    declared = store.declared("tasks").rows
    assert [(one.about, one.said) for one in declared] == [("policy", "attempts")]
    store.set_policy("tasks", None)
    assert store.leaderboard("tasks").policy == ""


def test_another_policy_for_one_command_says_so(store: Warehouse) -> None:
    store.set_policy("tasks", "attempts")
    board = store.leaderboard("tasks", policy="all-wrong")
    assert "policy all-wrong, not the benchmark's policy" in head_of(board)
    assert any("which is attempts since" in note for note in board.notes)
    usual = store.leaderboard("tasks", policy="missing")
    assert "policy missing, not the benchmark's policy" in head_of(usual)
    own = store.leaderboard("tasks", policy="attempts")
    assert own.policy == "attempts" and own.rows == store.leaderboard("tasks").rows
    assert "not the benchmark's" not in str(own)


def test_two_policies_stand_in_no_answer(store: Warehouse) -> None:
    store.set_policy("tasks", "attempts")
    words = "never two policies in one answer.*tasks under attempts"
    for ask in (
        lambda **options: store.compare("org/slow", "org/done", **options),
        lambda **options: store.gate("org/slow", "org/done", 0.1, **options),
        lambda **options: store.leaderboard(group="all", **options),
    ):
        with pytest.raises(MisuseError, match=words):
            ask()
        assert ask(policy="missing").rows
    (row,) = store.compare("org/slow", "org/done", benchmark="chores").rows
    assert row.unscored_a > 0
    boards = {board.benchmark: board.policy for board in store.leaderboard().boards}
    assert boards == {"chores": "", "tasks": "attempts"}


def test_a_policy_that_says_the_usual_is_not_told(store: Warehouse) -> None:
    store.set_policy("tasks", "missing")
    assert store.leaderboard("tasks").policy == ""
    assert len(store.compare("org/slow", "org/done").rows) == 2


def test_a_report_is_under_the_policy(store: Warehouse, tmp_path: Any) -> None:
    store.set_policy("tasks", "attempts")
    page = tmp_path / "page.html"
    store.report(page, "tasks")
    text = page.read_text()
    assert "policy attempts" in text


def test_the_fewest_unscored_that_turn_a_verdict(store: Warehouse) -> None:
    """By scipy's test, with the prompts on which the other is best taken first."""
    result = store.compare("org/slow", "org/done", benchmark="tasks")
    (row,) = result.rows
    both = [
        (a, b)
        for a, b in zip(AGENTS["org/slow"], AGENTS["org/done"], strict=True)
        if not isinstance(b, str)
    ]
    scored = [(a, b) for a, b in both if not isinstance(a, str)]
    missing = sorted((b for a, b in both if isinstance(a, str)), reverse=True)
    mean = np.mean([a for a, _ in scored])
    assert row.better == "a" and missing
    for n in range(len(missing) + 1):
        own = [a for a, _ in scored] + [0.0] * n + [mean] * (len(missing) - n)
        other = [b for _, b in scored] + missing
        if stats.ttest_rel(own, other).pvalue > 0.05:
            break
    else:
        n = None
    assert row.tips_at == n and n is not None
    assert any(f"with {n} of {len(missing)} wrong" in note for note in result.notes)
    filled = store.compare("org/slow", "org/done", benchmark="tasks", policy="attempts")
    assert filled.rows[0].tips_at is None


def test_what_knows_of_no_policy_refuses(store: Warehouse) -> None:
    store.set_policy("tasks", "attempts")
    words = "tasks is under policy attempts, of which {} knows nothing"
    with pytest.raises(MisuseError, match=words.format("compare_unpaired")):
        store.compare_unpaired("org/slow", "org/done", benchmark="tasks", force=True)
    with pytest.raises(MisuseError, match=words.format("--sequential")):
        store.sequential_gate("org/slow", "org/done", 0.1, benchmarks=["tasks"])
    store.set_policy("tasks", "missing")
    assert store.sequential_gate("org/slow", "org/done", 0.1, benchmarks=["tasks"]).rows
