"""Settings that do not matter by a person's word, and settings of stores that were made
before they were kept."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.errors import MisuseError
from warehouse.store.curate import conditions
from warehouse.store.schema.migrate import check, downgrade, upgrade

SCORES = {"a": 1.0, "b": 0.0}
OTHERS = {"a": 0.0, "b": 0.0}


def load(
    kit: Any, note: str | None, scores: dict[str, float] = SCORES, **fields: Any
) -> Any:
    configuration = {} if note is None else {"run": {"note": note}}
    return kit.load(
        kit.header(None, configuration=configuration, **fields), kit.rows(scores)
    )


def condition_keys(kit: Any) -> list[str]:
    return [key for (key,) in kit.all("select condition_key from run order by id")]


def test_runs_that_differ_by_what_does_not_matter_are_repeats_and_apart_again(
    kit: Any,
) -> None:
    load(kit, "x")
    load(kit, "y", OTHERS)
    before = condition_keys(kit)
    assert len(set(before)) == 2
    changed = conditions.ignore(kit.store, "note", reason="a remark")
    assert (changed.n_runs, changed.n_before, changed.n_after) == (2, 2, 1)
    assert len(set(condition_keys(kit))) == 1
    (entry,) = conditions.settings(kit.store, "quiz")
    assert (entry.setting, entry.is_ignored, entry.reason) == (
        "run.note",
        True,
        "a remark",
    )
    assert conditions.unignore(kit.store, "note").n_runs == 2
    assert condition_keys(kit) == before
    assert check(kit.store).integrity == ()


def test_what_comes_later_follows(kit: Any) -> None:
    load(kit, "x")
    conditions.ignore(kit.store, "run.note", benchmark="quiz")
    assert load(kit, "y", OTHERS).n_repeats == 1
    assert load(kit, None, {"a": 1.0, "b": 1.0}).n_repeats == 1
    assert load(kit, "x", benchmark="other").n_repeats == 0
    load(kit, "y", OTHERS, benchmark="other")
    by_benchmark = (
        "select benchmark_id, count(distinct condition_key) from run group by 1 order "
        "by 1"
    )
    assert kit.all(by_benchmark) == [(1, 1), (2, 2)]
    conditions.unignore(kit.store, "run.note", benchmark="quiz")
    assert kit.all(by_benchmark) == [(1, 3), (2, 2)]


def test_equal_scores_of_runs_that_are_joined_are_further_draws(kit: Any) -> None:
    """Their sources said that they were made otherwise: they are two executions."""
    load(kit, "x")
    load(kit, "y")
    conditions.ignore(kit.store, "note")
    assert kit.one(
        "select count(*), count(distinct condition_key) from run_current"
    ) == (2, 1)
    assert load(kit, "y").n_seen_again == 1
    assert check(kit.store).integrity == ()


def test_what_nobody_has_cannot_be_left_out(kit: Any) -> None:
    load(kit, "x")
    with pytest.raises(
        MisuseError, match="no run has a setting 'nte'; did you mean note"
    ):
        conditions.ignore(kit.store, "nte")
    with pytest.raises(MisuseError, match="says who was evaluated"):
        conditions.ignore(kit.store, "model")
    with pytest.raises(MisuseError, match="no run is on a benchmark 'x'"):
        conditions.ignore(kit.store, "note", benchmark="x")
    with pytest.raises(MisuseError, match="'note' is not among the settings"):
        conditions.unignore(kit.store, "note")


FIELDS: list[dict[str, Any]] = [
    {},
    {
        "step": 400,
        "training_seed": "1",
        "recipe": "mix",
        "hyperparameters": {"lr": 0.1, "batch_size": 8},
    },
    {
        "tokens": 10**9,
        "revision": "abc",
        "base_checkpoint": "org/base",
        "data_order_seed": 3,
    },
    {"epoch": 1.5, "initialisation_seed": 7},
    {
        "agent": "solver",
        "agent_version": "1.10",
        "agent_parameters": {"max_steps": "50"},
    },
    {
        "fewshot": 5,
        "fewshot_seed": 1,
        "temperature": 0.7,
        "top_p": 0.9,
        "sampling": {"top_k": 5},
        "sampling_seed": 1,
    },
    {
        "configuration": {
            "model_args": "a=1,batch_size=2",
            "job_id": "j",
            "steps": [{"x": 1}, {"x": 2}],
        },
        "cost": 0.5,
    },
    {
        "split": "test",
        "task_version": "1.0",
        "benchmark_version": "2",
        "dataset_revision": "r",
        "endpoint": "api.x.org",
    },
]


def test_a_store_of_before_gets_the_settings_that_its_dumps_would_give(
    kit: Any,
) -> None:
    headers = [
        kit.header(str(number), benchmark=f"b{number}", **fields)
        for number, fields in enumerate(FIELDS)
    ]
    headers.append(
        kit.header(
            "9", benchmark="judged", metrics=(kit.spec("acc", judge_model="org/judge"),)
        )
    )
    measured = {"latency": 0.1, "cost": 1 / 3}
    rows = [
        kit.rows(SCORES, run=run, **(measured if run % 2 else {}))
        for run in range(len(headers))
    ]
    kit.load(headers, [row for of_run in rows for row in of_run])
    columns = (
        "condition_key, recorded_key, execution_key, cast(settings as varchar), "
        "cast(marks as varchar)"
    )
    loaded = kit.all(
        f"select {columns}, cast(versions as varchar) from run order by id"
    )
    downgrade(kit.store, "0015")
    upgrade(kit.store)
    assert (
        kit.all(f"select {columns}, cast(versions as varchar) from run order by id")
        == loaded
    )
    assert check(kit.store).ok
