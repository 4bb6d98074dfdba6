"""Paired comparisons: only on common prompts, equal to `warehouse.stats`, refused where
unlike."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.world import the_world
from warehouse.analysis.compare.answer import compare
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import paired_difference
from warehouse.store.connection import Store
from warehouse.store.open import open_store

ROWS = the_world()


def means(run: int, metric: int) -> dict[int, tuple[float, float]]:
    """Prompt -> (value, weight) of the headline form."""
    return {
        fact["prompt_id"]: (fact["value"], fact["weight"])
        for fact in ROWS.rows["prompt_score"]
        if (fact["run_id"], fact["metric_id"], fact["perturbation"])
        == (run, metric, "")
        and fact["value"] is not None
    }


def test_clustered_pairs_equal_the_python_figure(world: Store) -> None:
    (row,) = compare(world, "org/a", "org/b", benchmark="essay").rows
    a, b = (means(run, ROWS.metric("chrf")) for (run,) in (row.runs_a, row.runs_b))
    prompts = sorted(a)
    members = {m["prompt_id"]: m["cluster_id"] for m in ROWS.rows["prompt_cluster"]}
    expected = paired_difference(
        [a[p][0] for p in prompts],
        [b[p][0] for p in prompts],
        clusters=[members.get(p, -p) for p in prompts],
        bounds=(0, 100),
    )
    for name in (
        "difference",
        "standard_error",
        "ci_low",
        "ci_high",
        "p_value",
        "correlation",
        "variance_saved",
    ):
        assert getattr(row, name) == pytest.approx(getattr(expected, name), rel=1e-9), (
            name
        )
    assert (row.n_prompts, row.n_clusters, row.only_a, row.only_b) == (60, 24, 0, 0)
    assert row.se_unclustered == pytest.approx(expected.se_eq7)
    assert row.se_eq8 == pytest.approx(expected.se_eq8, rel=1e-9)
    assert row.se_eq8 != row.standard_error
    assert row.method == "paired_cr2_t"


def test_swapping_the_models_flips_the_sign(world: Store) -> None:
    (row,) = compare(world, "org/a", "org/b", benchmark="words").rows
    (other,) = compare(world, "org/b", "org/a", benchmark="words").rows
    assert row.difference == pytest.approx(-other.difference)
    assert (row.ci_low, row.ci_high) == pytest.approx((-other.ci_high, -other.ci_low))


def test_ratio_metrics_subtract_the_figures(world: Store) -> None:
    (row,) = compare(world, "org/a", "org/b", benchmark="words", cluster="none").rows
    metric = ROWS.metric("word_perplexity", link="exp_neg")
    a, b = (means(run, metric) for (run,) in (row.runs_a, row.runs_b))
    figures = [
        np.exp(
            -np.average(
                [v for v, _ in side.values()], weights=[w for _, w in side.values()]
            )
        )
        for side in (a, b)
    ]
    assert (row.mean_a, row.mean_b) == pytest.approx(figures)
    assert row.difference == pytest.approx(figures[0] - figures[1])
    assert row.n_clusters is None


def test_only_common_prompts_are_paired_and_the_rest_counted(world: Store) -> None:
    (row,) = compare(world, "org/c", "org/e", benchmark="quiz").rows
    assert (row.n_prompts, row.only_a, row.only_b) == (9, 31, 0)
    assert (row.n_draws_a, row.n_draws_b) == (27, 9)
    (row,) = compare(world, "org/c", "org/d", benchmark="quiz").rows
    assert (row.n_prompts, row.only_a, row.only_b) == (32, 8, 0)  # unscored is not 0


def test_repeats_are_pooled(world: Store) -> None:
    (row,) = compare(world, "org/b", "org/c", benchmark="quiz").rows
    assert (len(row.runs_a), row.n_draws_a, row.n_draws_b) == (2, 240, 120)
    one, other = (means(run, ROWS.metric()) for run in row.runs_a)
    pooled = np.mean([(one[p][0] + other[p][0]) / 2 for p in one])
    assert row.mean_a == pytest.approx(pooled)


def test_linked_prompts_are_the_same_prompt(world: Store) -> None:
    (row,) = compare(world, "org/c", "org/g", benchmark="quiz").rows
    assert (row.n_prompts, row.only_a, row.only_b) == (1, 39, 39)
    assert row.reason == "a single prompt"


def test_without_a_benchmark_all_common_ones_are_compared(world: Store) -> None:
    found = compare(world, "win/a", "win/c")
    assert [row.benchmark for row in found.rows] == ["suite/one", "suite/two/a"]
    assert found.left_out == ("suite/two/b: only one of them has it",)
    assert found.one_line == "win/a - win/c on 2 benchmarks: +0.350 (4 common prompts)"


def test_better_follows_the_direction_of_the_metric(world: Store) -> None:
    row = compare(
        world, "item/model2", "item/model3", benchmark="items", level=0.5
    ).rows[0]
    assert (row.difference > 0, row.better) == (True, "a")
    assert compare(world, "org/a", "org/b", benchmark="words").rows[0].better == ""


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("chat/b", "chat/c", "judge model 'gpt' against 'claude'"),
        ("chat/b", "chat/d", "task version 'none' against '2'"),
    ],
)
def test_what_differs_in_kind_is_refused_unless_forced(
    world: Store, a: str, b: str, reason: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        compare(world, a, b, benchmark="judged")
    assert reason in str(caught.value)
    assert "--force" in str(caught.value)
    (row,) = compare(world, a, b, benchmark="judged", force=True).rows
    assert row.n_prompts == 15


def test_the_judge_that_both_have_is_taken(world: Store) -> None:
    for other in ("chat/b", "chat/c"):
        (row,) = compare(world, "chat/both", other, benchmark="judged").rows
        assert row.n_prompts == 15


@pytest.mark.parametrize(
    ("a", "b", "benchmark", "message"),
    [
        ("org/a", "org/b", "quiz", "'org/a' means 2 conditions on quiz"),
        ("org/a", "org/a", "quiz", "'org/a' means 2 conditions on quiz;"),
        ("org/*", "org/b", "quiz", "'org/*' means 8 models, choose one"),
        ("org/c", "org/c", "quiz", "both references mean run"),
        ("win/a", "org/b", None, "have no benchmark in common: win/a has suite/one"),
        ("chat/b", "chat/e", "judged", "have no benchmark in common"),
        (
            "told/only",
            "told/exact",
            "told",
            "told/only has no scored prompt by acc: what is stored of it is a published",
        ),
        ("edge/2", "edge/1", "edges", "edge/2 has no scored prompt by acc"),
        (
            "org/e",
            "org/h",
            "quiz",
            "no prompt in common: org/e has 9 scored prompts, org/h has 2",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(
    world: Store, a: str, b: str, benchmark: str | None, message: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        compare(world, a, b, benchmark=benchmark)
    assert message in str(caught.value)


def test_a_level_that_is_none_is_refused(world: Store) -> None:
    with pytest.raises(StatisticsError, match="level"):
        compare(world, "org/b", "org/c", benchmark="quiz", level=95)


def test_a_comparison_in_one_line(world: Store) -> None:
    found = compare(world, "org/c", "org/e", benchmark="quiz")
    assert found.one_line.startswith("org/c - org/e on quiz: -")
    assert "(9 common prompts, p=" in found.one_line
    assert found.to_frame()["n_prompts"].tolist() == [9]


def test_a_condition_without_a_score_is_not_meant(duckdb_url: str) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model in ("org/a", "org/b"):
        rows.scores(rows.run(model, "quiz"), {f"q{i}": float(i % 2) for i in range(20)})
    rows.run("org/b", "quiz", temperature=1.0)  # it failed before anything was scored
    with open_store(duckdb_url, create=True) as store:
        rows.write(store)
        (row,) = compare(store, "org/a", "org/b").rows
    assert row.n_prompts == 20
