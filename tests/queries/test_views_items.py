"""Views of prompts and draws: the matrix, difficulty, discrimination, variance
components."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.support.stores import select
from tests.support.world import the_world
from warehouse.stats import interval_wilson
from warehouse.store.connection import Store

ROWS = the_world()


def components(world: Store, model: str) -> list[dict[str, object]]:
    return select(
        world,
        "select * from variance_components where benchmark = 'draws' and model = "
        ":model order by run_id",
        model=model,
    )


def test_stored_rates_carry_their_variance(world: Store) -> None:
    (row,) = components(world, "org/b")
    within = np.array([0.3 * 0.7, 0, 0, 0.5 * 0.5]) * 10 / 9
    assert row["mean_within"] == pytest.approx(within.mean())
    assert row["within"] == pytest.approx(within.mean() / 10)
    assert (row["is_clipped"], row["within_imputed"]) == (False, False)


def test_single_draws_borrow_the_mean_variance_of_the_others(world: Store) -> None:
    (row,) = components(world, "org/c")
    mean_within = (0.5 + 1 / 3) / 2
    expected = (0.5 / 2 + mean_within + 1 / 9 + mean_within) / 4
    assert row["within"] == pytest.approx(expected)
    assert (row["within_imputed"], row["n_multi_draw"]) == (True, 2)
    assert row["between_raw"] < 0
    assert (row["between_clipped"], row["is_clipped"], row["suggested_draws"]) == (
        0,
        True,
        None,
    )


def test_difficulty_is_the_mean_over_conditions(world: Store) -> None:
    draws: dict[tuple[int, str], list[float]] = defaultdict(list)
    for score in ROWS.rows["score"]:
        run = ROWS.rows["run"][score["run_id"] - 1]
        current = run["status"] != "invalidated" and run["superseded_by"] is None
        headline = (
            score["variant_id"] == ROWS.variant()
            and score["metric_id"] == ROWS.metric()
        )
        if current and headline and score["value"] is not None:
            draws[score["prompt_id"], run["condition_key"]].append(score["value"])
    per_prompt = defaultdict(list)
    for (prompt, _), values in draws.items():
        joined = {ROWS.prompt("quiz_2024", "q0"): ROWS.prompt("quiz", "q0")}.get(
            prompt, prompt
        )
        per_prompt[joined].append(np.mean(values))
    found = select(
        world,
        "select prompt_id, difficulty, n_conditions, lowest, highest, spread"
        " from prompt_difficulty where benchmark = 'quiz' and metric_filter = ''",
    )
    assert (
        len(found) == 40 + 2 + 39
    )  # quiz, what only one run saw there, what is not linked
    for row in found:
        values = per_prompt[row["prompt_id"]]
        assert row["difficulty"] == pytest.approx(np.mean(values), rel=1e-12)
        assert row["n_conditions"] == len(values)
        assert (row["lowest"], row["highest"]) == pytest.approx(
            (min(values), max(values))
        )
        spread = np.std(values, ddof=1) if len(values) > 1 else None
        assert row["spread"] == (None if spread is None else pytest.approx(spread))


def test_a_linked_prompt_stands_under_the_canonical_one(world: Store) -> None:
    found = select(
        world,
        "select prompt_id from performance_matrix where model = 'org/g' order by "
        "prompt_id",
    )
    assert found[0]["prompt_id"] == ROWS.prompt("quiz", "q0")
    assert ROWS.prompt("quiz_2024", "q0") not in {row["prompt_id"] for row in found}


def test_repeats_are_pooled_as_draws(world: Store) -> None:
    first = min(run["id"] for run in ROWS.rows["run"] if _is(run, "org/b", "quiz"))
    found = select(
        world,
        "select * from condition_matrix where condition_run_id = :run and metric_id = "
        ":m",
        run=first,
        m=ROWS.metric(),
    )
    assert {(row["n_runs"], row["n_draws"]) for row in found} == {(2, 6)}
    assert all(abs(row["value"] * 6 - round(row["value"] * 6)) < 1e-9 for row in found)


def test_p_correct_has_the_wilson_interval(world: Store) -> None:
    found = select(world, "select * from prompt_p_correct where benchmark = 'draws'")
    assert len(found) == 20
    for row in found:
        interval = interval_wilson(row["p_correct"] * row["n_draws"], row["n_draws"])
        assert row["wilson_low"] == pytest.approx(interval.low, abs=1e-12)
        assert row["wilson_high"] == pytest.approx(interval.high, abs=1e-12)
        assert row["n_correct"] == round(row["p_correct"] * row["n_draws"])


def _is(run: dict[str, object], model: str, benchmark: str) -> bool:
    checkpoint = ROWS.rows["checkpoint"][run["checkpoint_id"] - 1]
    seed = ROWS.rows["training_seed"][checkpoint["training_seed_id"] - 1]
    names = (
        ROWS.rows["model"][seed["model_id"] - 1]["name"],
        ROWS.rows["benchmark"][run["benchmark_id"] - 1]["name"],
    )
    return names == (model, benchmark)
