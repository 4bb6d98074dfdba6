"""Views of models and sources: seeds, curves, win rates, published figures, history,
the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.stores import select
from tests.support.world import the_world
from warehouse.store.connection import Store

ROWS = the_world()


def seed_means(step: float) -> list[list[float]]:
    """Per training seed the mean of each of its runs at a step, from the builder's
    rows."""
    means: dict[int, list[float]] = {}
    for run in ROWS.rows["run"]:
        place = ROWS.rows["checkpoint"][run["checkpoint_id"] - 1]
        if place["position"] == step:
            values = [
                f["value"]
                for f in ROWS.rows["prompt_score"]
                if f["run_id"] == run["id"]
            ]
            means.setdefault(place["training_seed_id"], []).append(
                float(np.mean(values))
            )
    return list(means.values())


def test_seed_summary_averages_the_runs_of_a_seed_first(world: Store) -> None:
    found = select(
        world, "select * from seed_summary where model = 'lab/seeds' order by position"
    )
    assert [row["position"] for row in found] == [1000, 2000, 3000]
    assert [row["is_last_position"] for row in found] == [False, False, True]
    assert [(row["n_seeds"], row["n_runs"]) for row in found] == [
        (3, 4),
        (3, 4),
        (3, 3),
    ]
    for row in found[:2]:
        seeds = [np.mean(runs) for runs in seed_means(row["position"])]
        assert row["seed_mean"] == pytest.approx(np.mean(seeds))
        assert row["seed_std"] == pytest.approx(np.std(seeds, ddof=1))
        assert row["signal_to_noise"] == pytest.approx(
            np.mean(seeds) / np.std(seeds, ddof=1)
        )
    last = found[2]  # published figures, all equal
    assert (last["seed_mean"], last["seed_std"]) == pytest.approx((0.92, 0.0))
    assert last["signal_to_noise"] is None
    assert last["mean_half_width"] == pytest.approx(1.959963984540054 * 0.02)
    assert (last["seed_error"], last["sd_ratio"]) == pytest.approx((0.0, 0.0))
    deviations = [float(row["seed_std"]) for row in found]
    assert {row["n_positions"] for row in found} == {3}
    assert [row["seed_std_averaged"] for row in found] == pytest.approx(
        [np.mean(deviations)] * 3
    )


def test_checkpoint_curve_gives_the_change_since_the_checkpoint_before(
    world: Store,
) -> None:
    found = select(
        world,
        "select * from checkpoint_curve where training_seed = 's1' order by position",
    )
    first, second, third = (row["estimate"] for row in found)
    assert [row["previous_estimate"] for row in found] == [None, first, second]
    assert found[1]["change"] == pytest.approx(second - first)
    assert (found[2]["change"], found[2]["origin"]) == (
        pytest.approx(third - second),
        "published",
    )
    assert [(row["checkpoint_number"], row["n_checkpoints"]) for row in found] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]
    assert [row["best_before"] for row in found] == [None, first, max(first, second)]
    assert [row["against_best"] for row in found[1:]] == pytest.approx(
        [second - first, third - max(first, second)]
    )


def verdicts(world: Store, model: str) -> dict[tuple[str, Any], dict[str, Any]]:
    found = select(
        world,
        "select * from published_against_recomputed where model = :model",
        model=model,
    )
    return {(row["statistic"], row["published"]): row for row in found}


def test_published_figures_are_found_again(world: Store) -> None:
    exact = verdicts(world, "told/exact")
    row = exact["mean", 5 / 7]
    assert (row["verdict"], row["n_found"], row["n_declared"]) == ("exact", 7, 7)
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert row["standard_error_difference"] == pytest.approx(0, abs=1e-12)
    assert exact["mean", 0.714]["verdict"] == "rounded"
    assert exact["mean", None]["verdict"] == "not_recomputable"


def test_null_counted_as_worst_is_named(world: Store) -> None:
    row = verdicts(world, "told/nulls")["mean", 0.5]
    assert row["recomputed"] == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert row["null_as_worst"] == pytest.approx((0.5 + 0 + 1 + 0.5) / 4)
    assert (row["verdict"], row["n_prompts_unscored"]) == ("null_as_worst", 1)


def test_statistics_over_draws_are_recomputed(world: Store) -> None:
    found = {name: row for (name, _), row in verdicts(world, "told/other").items()}
    # 2 right of 5: pass@2 = 1 - C(3,2)/C(5,2) = .7; none right: 0; all right: 1
    assert found["pass@2"]["recomputed"] == pytest.approx((0.7 + 0 + 1) / 3)
    assert found["pass@5"]["recomputed"] == pytest.approx(2 / 3)
    assert found["best"]["recomputed"] == pytest.approx(2 / 3)
    # all of two are right: C(2,2)/C(5,2) = .1; 0; 1
    assert found["pass^2"]["recomputed"] == pytest.approx((0.1 + 0 + 1) / 3)
    names = ("pass@2", "pass@5", "pass^1", "pass^2", "pass^5", "best")
    assert {found[name]["verdict"] for name in names} == {"exact"}
    assert found["pass@6"]["recomputed"] is None  # more than the draws there are
    assert found["pass^6"]["recomputed"] is None
    assert found["elo"]["verdict"] == "not_recomputable"


def test_pass_at_k_may_count_nulls_as_failures(world: Store) -> None:
    found = {name: row for (name, _), row in verdicts(world, "told/nulls").items()}
    # 1 right of 2, none of 1, ...: with nulls as failures no prompt but the last has 4
    # samples
    row = found["pass@2"]
    assert row["recomputed"] is None  # prompts with a single scored draw
    assert row["null_as_worst"] is None  # prompts with a single sample
    row = verdicts(world, "told/gaps")["pass@2", 0.5]
    # scored draws: 1 of 2 and 2 of 2; with the gaps 1 of 3: 1 - C(2,2)/C(3,2), and 2 of
    # 4
    assert row["recomputed"] == pytest.approx((1 + 1) / 2)
    assert row["null_as_worst"] == pytest.approx((2 / 3 + 5 / 6 + 0) / 3)
    row = verdicts(world, "told/gaps")["pass^2", 2 / 9]
    # both of two: 0 of 1, 1 of 1; with the gaps 0 of 3, C(2,2)/C(4,2)
    assert row["recomputed"] == pytest.approx((0 + 1) / 2)
    assert row["null_as_worst"] == pytest.approx((0 + 1 / 6 + 0) / 3)


def test_the_ingest_log_counts_what_is_held(world: Store) -> None:
    found = select(world, "select * from ingest_log order by source_id")
    hidden = 2
    assert [row["n_current"] for row in found] == [len(ROWS.rows["run"]) - hidden, 0]
    assert [row["n_published"] for row in found] == [
        len(ROWS.rows["published_score"]),
        0,
    ]
    assert [row["state"] for row in found] == ["loaded", "claimed"]
