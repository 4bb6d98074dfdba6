"""Views of prompts and draws: the matrix, difficulty, discrimination, variance components."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.stores import ENGINES, filled_store, select
from tests.support.world import G12, build_world
from warehouse.stats import interval_wilson
from warehouse.store.connection import Store

ROWS = build_world()


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, ROWS) as store:
        yield store


def components(world: Store, model: str) -> list[dict[str, object]]:
    return select(
        world,
        "select * from variance_components where benchmark = 'draws' and model = :model order by run_id",
        model=model,
    )


def test_variance_components_of_goldens_g5_and_g6(world: Store) -> None:
    g5, g6 = components(world, "org/a")
    expected = {
        "estimate": 0.541666666667,
        "prompt_variance": 0.173611111111,
        "variance": 0.0434027777778,
        "mean_within": 0.166666666667,
        "within": 0.0486111111111,
        "between_raw": 0.125,
        "between_clipped": 0.125,
        "variance_fixed_prompts": 0.0121527777778,
        "variance_double_draws": 0.0373263888889,
        "between_part": 0.03125,
        "variance_zhang_plugin": None,
        "mean_draws": 3.25,
        "n_multi_draw": 4,
    }
    assert {name: g5[name] for name in expected} == {
        name: value if value is None else pytest.approx(value, rel=1e-11) for name, value in expected.items()
    }
    assert g6["variance_zhang_plugin"] == pytest.approx(0.0341796875)
    assert g6["variance"] == pytest.approx(0.0260416666667)
    assert g6["between_clipped"] == pytest.approx(0.0520833333333)
    assert g6["suggested_draws"] == 40  # 0.20833 / (0.1 * 0.052083)


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
    assert (row["between_clipped"], row["is_clipped"], row["suggested_draws"]) == (0, True, None)


def test_one_draw_everywhere_has_no_components(world: Store) -> None:
    (row,) = components(world, "org/d")
    names = ("mean_within", "within", "between_raw", "between_part", "suggested_draws")
    assert [row[name] for name in names] == [None] * 5
    assert row["variance"] == pytest.approx(0.25 / 4)


def test_metrics_with_weights_or_a_link_are_left_out(world: Store) -> None:
    assert select(world, "select * from variance_components where benchmark = 'words'") == []


def test_discrimination_of_golden_g12(world: Store) -> None:
    found = select(
        world,
        "select discrimination, difficulty, n_conditions from item_statistics"
        " where benchmark = 'items' order by prompt_key",
    )
    assert [row["discrimination"] for row in found] == [
        pytest.approx(0.880704845928, abs=1e-11),
        pytest.approx(0.480384461415, abs=1e-11),
        pytest.approx(0.720576692123, abs=1e-11),
        None,
    ]
    means = np.array([[int(answer) for answer in answers] for answers in G12]).mean(axis=0)
    assert [row["difficulty"] for row in found] == pytest.approx(list(means))
    assert {row["n_conditions"] for row in found} == {5}  # the repeat is pooled, not counted


def test_difficulty_is_the_mean_over_conditions(world: Store) -> None:
    draws: dict[tuple[int, str], list[float]] = defaultdict(list)
    for score in ROWS.rows["score"]:
        run = ROWS.rows["run"][score["run_id"] - 1]
        current = run["status"] != "invalidated" and run["superseded_by"] is None
        headline = score["variant_id"] == ROWS.variant() and score["metric_id"] == ROWS.metric()
        if current and headline and score["value"] is not None:
            draws[score["prompt_id"], run["condition_key"]].append(score["value"])
    per_prompt = defaultdict(list)
    for (prompt, _), values in draws.items():
        joined = {ROWS.prompt("quiz_2024", "q0"): ROWS.prompt("quiz", "q0")}.get(prompt, prompt)
        per_prompt[joined].append(np.mean(values))
    found = select(
        world,
        "select prompt_id, difficulty, n_conditions, lowest, highest, spread"
        " from prompt_difficulty where benchmark = 'quiz' and metric_filter = ''",
    )
    assert len(found) == 40 + 2 + 39  # quiz, what only one run saw there, what is not linked
    for row in found:
        values = per_prompt[row["prompt_id"]]
        assert row["difficulty"] == pytest.approx(np.mean(values), rel=1e-12)
        assert row["n_conditions"] == len(values)
        assert (row["lowest"], row["highest"]) == pytest.approx((min(values), max(values)))
        spread = np.std(values, ddof=1) if len(values) > 1 else None
        assert row["spread"] == (None if spread is None else pytest.approx(spread))


def test_a_linked_prompt_stands_under_the_canonical_one(world: Store) -> None:
    found = select(world, "select prompt_id from performance_matrix where model = 'org/g' order by prompt_id")
    assert found[0]["prompt_id"] == ROWS.prompt("quiz", "q0")
    assert ROWS.prompt("quiz_2024", "q0") not in {row["prompt_id"] for row in found}


def test_repeats_are_pooled_as_draws(world: Store) -> None:
    first = min(run["id"] for run in ROWS.rows["run"] if _is(run, "org/b", "quiz"))
    found = select(
        world,
        "select * from condition_matrix where condition_run_id = :run and metric_id = :m",
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


def test_partial_credit_is_no_probability(world: Store) -> None:
    query = "select * from prompt_p_correct where model = 'org/f' or benchmark = 'essay'"
    assert select(world, query) == []


def _is(run: dict[str, object], model: str, benchmark: str) -> bool:
    checkpoint = ROWS.rows["checkpoint"][run["checkpoint_id"] - 1]
    seed = ROWS.rows["training_seed"][checkpoint["training_seed_id"] - 1]
    names = (ROWS.rows["model"][seed["model_id"] - 1]["name"], ROWS.rows["benchmark"][run["benchmark_id"] - 1]["name"])
    return names == (model, benchmark)
