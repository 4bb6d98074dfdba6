"""The policy of a benchmark, said and taken back, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.support.builders import StoreRows
from warehouse.errors import MisuseError
from warehouse.records.policy import Policy
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import alias
from warehouse.store.curate.declarations import declarations
from warehouse.store.curate.metric_aliases import alias_metric
from warehouse.store.curate.policies import set_policy, unset_policy
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

DAY = datetime(2026, 5, 3)


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    """A benchmark with three metrics, one of which has no worst score."""
    rows = StoreRows()
    acc, reward, correct = rows.metric(), rows.metric("reward"), rows.metric("correct")
    rows.describe("tasks", acc)
    rows.describe("tasks", correct, default=None)
    rows.describe("tasks", reward, default=None, kind="continuous", low=None, high=None)
    rows.benchmark("tasks_old", alias_of="tasks")
    rows.describe("other", acc)
    run = rows.run("org/a", "tasks")
    for metric in (acc, reward, correct):
        rows.scores(run, {"p1": 1.0, "p2": None}, metric)
    return rows


@pytest.fixture
def store(own_url: str) -> Iterator[Store]:
    with open_store(own_url, write=True) as opened:
        yield opened


def in_force(store: Store) -> dict[tuple[str, str], tuple[str, float | None]]:
    """The policy of each metric that has one, as a question reads it."""
    rules = store.under(None).policies
    if rules is None:
        return {}
    names = {
        (row["benchmark_id"], row["metric_id"]): (row["benchmark"], row["metric"])
        for row in store.rows(
            "select benchmark_id, metric_id, benchmark.name as benchmark, metric.name "
            "as metric from benchmark_metric join benchmark on benchmark.id = "
            "benchmark_id join metric on metric.id = metric_id"
        )
    }
    return {
        names[ids]: (stored.policy.name, stored.policy.wrong_value)
        for ids, stored in rules.stored.items()
    }


def test_a_policy_is_said_and_taken_back(store: Store) -> None:
    assert in_force(store) == {}
    said = set_policy(store, "tasks_old", "attempts", metric="acc", at=DAY)
    assert str(said).startswith("tasks by acc is under policy attempts: missing")
    (one,) = declarations(store, "tasks")
    assert (one.about, one.subject, one.said, one.declared_at) == (
        "policy",
        "acc",
        "attempts",
        DAY,
    )
    assert one.digest == Policy.of("attempts").digest and len(one.digest) == 16
    assert in_force(store) == {("tasks", "acc"): ("attempts", None)}
    set_policy(store, "tasks", "all-wrong", metric="acc")
    assert in_force(store) == {("tasks", "acc"): ("all-wrong", None)}
    assert "duplicate_keys" not in {one.check for one in check(store).integrity}
    assert unset_policy(store, "tasks", metric="acc") == "tasks"
    assert in_force(store) == {}
    with pytest.raises(MisuseError, match="tasks has no policy of its own"):
        unset_policy(store, "tasks")


def test_that_of_a_metric_comes_before_that_of_all(store: Store) -> None:
    set_policy(store, "tasks", "limit=wrong", metric="acc")
    set_policy(store, "tasks", "attempts")
    set_policy(store, "tasks", "all-wrong", metric="reward", wrong_value=-1.0)
    assert in_force(store) == {
        ("tasks", "acc"): ("limit=wrong", None),
        ("tasks", "correct"): ("attempts", None),
        ("tasks", "reward"): ("all-wrong", -1.0),
    }
    alias(store, "benchmark", "tasks", "other")
    assert in_force(store)[("other", "acc")] == ("limit=wrong", None)


def test_another_name_of_a_metric_has_its_policy(store: Store) -> None:
    alias_metric(store, "correct", "acc", benchmark="tasks")
    set_policy(store, "tasks", "attempts", metric="acc")
    assert {*in_force(store)} == {("tasks", "acc"), ("tasks", "correct")}
    with pytest.raises(MisuseError, match="correct counts as acc there"):
        set_policy(store, "tasks", "attempts", metric="correct")


def test_policies_of_one_digest_say_the_same() -> None:
    own = Policy.of("limit=wrong,no_answer=wrong,refused=wrong")
    assert own.digest == Policy.of("attempts").digest
    assert own.digest != Policy.of("all-wrong").digest


REFUSED = {
    ("tasks", "hard", "", None): "policy is one of missing, attempts, all-wrong",
    ("nowhere", "attempts", "", None): "no benchmark 'nowhere'",
    ("tasks", "attempts", "f1", None): "tasks has no metric 'f1'",
    ("tasks", "attempts", "reward", None): r"no known worst score.*--wrong-value X",
    ("tasks", "attempts", "acc", 0.0): "acc of tasks has a worst score",
    ("tasks", "missing", "reward", 0.0): "nothing is wrong under `missing`",
    ("tasks", "attempts", "reward", float("nan")): "a finite number",
}


@pytest.mark.parametrize("said", REFUSED, ids=str)
def test_what_cannot_be_a_policy_is_refused(
    store: Store, said: tuple[str, str, str, float | None]
) -> None:
    benchmark, policy, metric, value = said
    with pytest.raises(MisuseError, match=REFUSED[said]):
        set_policy(store, benchmark, policy, metric=metric, wrong_value=value)
    assert declarations(store) == []
