"""Variance, pass rates and seeds out of a store: equal to the draws', and to the SQL
view."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.support.builders import Rate, StoreRows
from tests.support.stores import ENGINES, filled_store, select
from tests.support.world import G5, the_world
from warehouse.analysis.variance.answer import pass_rates, seed_variance, variance
from warehouse.analysis.variance.pass_view import PassRow
from warehouse.analysis.variance.row import VarianceRow
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import crossed_variance, delta_k1, pass_at_k, variance_components
from warehouse.store.connection import Store

ROWS = the_world()


def numbered(values: list[Any]) -> dict[str, Any]:
    return {f"p{place}": value for place, value in enumerate(values)}


def build_draws() -> StoreRows:
    """Cases that the world does not have: clusters of draws, odd rates, repeats, seeds."""
    rows = StoreRows()
    dice = np.random.default_rng(12)
    rows.describe("clustered", rows.metric())
    keys = [f"c{place}" for place in range(12)]
    rows.clusters(
        "clustered",
        {f"g{place}": keys[place * 3 : place * 3 + 3] for place in range(4)},
    )
    answers = (dice.uniform(size=(12, 6)) < dice.uniform(size=(12, 1))).astype(float)
    for repeat, part in enumerate((answers[:, :4], answers[:, 4:])):
        scores = dict(zip(keys, part.tolist(), strict=True))
        rows.scores(rows.run("org/a", "clustered", repeat=repeat), scores)
    rows.describe("marks", rows.metric("marks"), kind="bounded")
    cases: list[tuple[str, list[Any]]] = [
        ("partial", [[0.25, 0.75], [1.0, 0.0]]),
        ("whole", [[1.0, 1.0], [1.0, 0.0]]),
        ("rates", [Rate(0.5, 10), Rate(0.3, 10)]),
        ("between", [Rate(0.55, 10), Rate(0.3, 10)]),
        ("mixed", [[1.0], Rate(0.3, 10)]),
    ]
    for name, draws in cases:
        rows.scores(
            rows.run(f"case/{name}", "marks"), numbered(draws), rows.metric("marks")
        )
    rows.describe("rounded", rows.metric())
    rows.scores(
        rows.run("org/a", "rounded"), numbered([Rate(0.333, 3), Rate(0.667, 3)])
    )
    ordered = [
        [1.0] * right + [0.0] * (8 - right)
        for right in dice.integers(1, 8, 60).tolist()
    ]
    rows.describe("ordered", rows.metric())
    rows.scores(rows.run("org/a", "ordered"), numbered(ordered))
    rows.describe("slip", rows.metric())
    rows.scores(
        rows.run("org/a", "slip"), numbered([[1.0, 1.0, 0.0], *[[1.0] * 3] * 49])
    )
    _seeds(rows, dice)
    return rows


def _seeds(rows: StoreRows, dice: np.random.Generator) -> None:
    rows.describe("taught", rows.metric())
    for step in (100.0, 200.0):
        for place in range(3):
            run = rows.run("lab/seeds", "taught", seed=f"s{place}", step=step)
            answers = (dice.uniform(size=(10, 2)) < 0.5).astype(float).tolist()
            scores = dict(zip([f"t{n}" for n in range(10)], answers, strict=True))
            rows.scores(
                run, scores if place else scores | {"t0": [None], "more": [1.0]}
            )
    rows.scores(rows.run("lab/other", "taught"), numbered([1.0, 0.0]))


DRAWS = build_draws()


@pytest.fixture(scope="module", params=ENGINES)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, DRAWS) as filled:
        with filled.begin() as connection:  # the means of draws, as a load keeps them
            connection.exec_driver_sql(
                import_module("warehouse.migrations.versions.0014_draw_score")._FILL
            )
        yield filled


def draws_of(rows: StoreRows, run_ids: tuple[int, ...]) -> list[list[float]]:
    """Headline draws of each prompt, in the order of runs and draws."""
    pooled: dict[int, list[float]] = {}
    for fact in rows.rows["score"]:
        wanted = fact["run_id"] in run_ids and fact["metric_id"] == rows.metric()
        if (
            wanted
            and fact["variant_id"] == rows.variant()
            and fact["value"] is not None
        ):
            pooled.setdefault(fact["prompt_id"], []).append(fact["value"])
    return list(pooled.values())


def row_of(
    rows: tuple[VarianceRow, ...], model: str, condition: str = ""
) -> VarianceRow:
    (row,) = [row for row in rows if row.model == model and condition in row.condition]
    return row


def near(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


# --- prompts and draws -------------------------------------------------------------------------


def test_the_view_says_the_same(world: Store) -> None:
    """Every row of the view that is the only run of its condition, to 1e-9."""
    view = {
        (row["run_id"], row["metric_id"]): row
        for row in select(world, "select * from variance_components")
    }
    names = {
        "estimate": "estimate",
        "variance": "variance",
        "prompt_variance": "prompt_variance",
        "mean_within": "mean_within",
        "within": "within",
        "between_raw": "between_raw",
        "between": "between_clipped",
        "suggested_draws": "suggested_draws",
        "n_prompts": "n_prompts",
        "n_multi_draw": "n_multi_draw",
        "mean_draws": "mean_draws",
    }
    compared = 0
    for benchmark in (
        "draws",
        "quiz",
        "golden",
        "items",
        "suite/one",
        "probe",
        "essay",
    ):
        for row in variance(world, benchmark, cluster="none").rows:
            metric = [
                key
                for key in view
                if key[0] == row.run_ids[0]
                and f"{view[key]['metric']}{',' * bool(view[key]['metric_filter'])}{view[key]['metric_filter']}"
                == row.metric
            ]
            if row.runs > 1 or not metric:
                continue
            expected = view[metric[0]]
            for name, column in names.items():
                assert getattr(row, name) == near(expected[column]), (benchmark, name)
            assert ("within_imputed" in row.flags) == bool(expected["within_imputed"])
            assert ("between_clipped" in row.flags) == bool(expected["is_clipped"])
            if expected["variance_zhang_plugin"] is not None:
                assert row.variance_zhang_plugin == near(
                    expected["variance_zhang_plugin"]
                )
            for name, column in (
                ("se_double_draws", "variance_double_draws"),
                ("se_unlimited_draws", "between_part"),
                ("se_prompts_fixed", "variance_fixed_prompts"),
            ):
                square = expected[column]
                root = math.sqrt(square) if square is not None and square > 0 else None
                assert getattr(row, name) == near(root), (benchmark, name)
            compared += 1
    assert compared > 15


def test_repeats_are_draws(world: Store) -> None:
    row = row_of(variance(world, "quiz").rows, "org/b")
    draws = draws_of(ROWS, row.run_ids)
    means, within = [np.mean(d) for d in draws], [np.var(d, ddof=1) for d in draws]
    expected = variance_components(means, within, 6)
    assert (row.runs, row.fewest_draws, row.most_draws, row.n_draws) == (2, 6, 6, 240)
    for name in (
        "variance",
        "within",
        "between_raw",
        "share_within",
        "variance_zhang_plugin",
    ):
        assert getattr(row, name) == near(getattr(expected, name)), name
    assert row.standard_error == near(math.sqrt(expected.variance or 0))


@pytest.mark.parametrize(
    ("benchmark", "model", "condition"),
    [("quiz", "org/b", ""), ("draws", "org/a", "=0")],
)
def test_the_range_of_single_draws_is_that_of_the_draws(
    world: Store, benchmark: str, model: str, condition: str
) -> None:
    """Equal numbers of draws over two repeats, and unequal ones."""
    row = row_of(variance(world, benchmark).rows, model, condition)
    draws = draws_of(ROWS, row.run_ids)
    prompts = np.repeat(np.arange(len(draws)), [len(d) for d in draws])
    expected = delta_k1(np.concatenate(draws), prompts)
    assert row.delta_k1 == near(expected.delta) and expected.delta is not None
    assert row.delta_k1_expected == near(expected.expected)
    assert row.delta_k1_p_value == near(expected.p_value)
    assert row.delta_k1_runs == expected.n_runs


def test_kept_means_of_draws_are_those_of_the_scores(store: Store) -> None:
    kept = variance(store, "ordered").rows
    assert kept[0].delta_k1_p_value is not None
    with store.begin() as connection:
        connection.exec_driver_sql("delete from draw_score")
        assert variance(store, "ordered").rows == kept
        connection.rollback()
        connection.begin()
    assert select(store, "select count(*) > 0 as n from draw_score") == [{"n": True}]


def test_g5_in_a_store(world: Store) -> None:
    row = row_of(variance(world, "draws").rows, "org/a", "temperature=0")
    assert row.standard_error == pytest.approx(math.sqrt(0.0434027777778), rel=1e-11)
    assert row.se_double_draws == pytest.approx(math.sqrt(0.0373263888889), rel=1e-11)
    assert row.se_unlimited_draws == pytest.approx(math.sqrt(0.03125), rel=1e-11)
    assert row.se_prompts_fixed == pytest.approx(math.sqrt(0.0121527777778), rel=1e-11)
    assert (row.fewest_draws, row.most_draws) == (2, 4) and len(G5) == row.n_prompts
    assert "14 %" in row.advice and "28 %" in row.advice and "14 draws" in row.advice


def test_stored_rates_have_a_split_but_no_single_draws(world: Store) -> None:
    row = row_of(variance(world, "draws").rows, "org/b")
    p = np.array([0.3, 0.0, 1.0, 0.5])
    expected = variance_components(p, p * (1 - p) * 10 / 9, 10)
    assert row.between_raw == near(expected.between_raw)
    assert row.delta_k1 is None and "rates" in row.delta_k1_reason
    # s² = 0.53/3, w = (0.7/3 + 5/18)/40: a share of 7.2 %; W̄/(0.1 B) = 7.8
    assert row.advice.startswith("more draws would save at most 7.2 % of the variance")
    assert "8 draws" in row.advice


def test_one_draw_each_says_that_the_split_is_unknown(world: Store) -> None:
    row = row_of(variance(world, "draws").rows, "org/d")
    assert (row.share_within, row.se_double_draws, row.suggested_draws) == (
        None,
        None,
        None,
    )
    assert (
        row.reason == "no prompt has two draws" and "draw prompts again" in row.advice
    )
    assert row.delta_k1 is None and "one draw" in row.delta_k1_reason


def test_clusters_are_those_of_the_benchmark(store: Store) -> None:
    (row,) = variance(store, "clustered").rows
    (plain,) = variance(store, "run:1", cluster="none").rows
    draws = draws_of(DRAWS, row.run_ids)
    means, within = [np.mean(d) for d in draws], [np.var(d, ddof=1) for d in draws]
    expected = variance_components(means, within, 6, np.repeat(np.arange(4), 3))
    assert row.n_clusters == 4 and plain.n_clusters is None
    assert row.standard_error == near(math.sqrt(expected.variance or 0))
    assert row.between_raw == near(expected.between_raw)


def test_draws_stored_best_first_are_flagged(store: Store) -> None:
    (row,) = variance(store, "ordered").rows
    assert "draws_in_order" in row.flags and (row.delta_k1_p_value or 1) < 1e-6
    # the k-th draw is no run, and has no figure; that over all draws stands
    assert (row.delta_k1, row.delta_k1_expected, row.delta_k1_runs) == (
        None,
        None,
        None,
    )
    assert "in an order" in row.delta_k1_reason and row.estimate is not None


def test_equal_scores_have_no_bare_zero(world: Store) -> None:
    rows = variance(world, "edges").rows
    row = row_of(rows, "edge/1")
    assert (row.standard_error, row.se_prompts_fixed, row.advice[:8]) == (
        None,
        None,
        "one draw",
    )
    assert row_of(rows, "edge/0").reason == "a single prompt"


def test_nothing_between_prompts_is_not_shown_as_a_tiny_error(store: Store) -> None:
    """One wrong draw of 150: s² = w, but for rounding."""
    (row,) = variance(store, "slip").rows
    assert row.standard_error is not None and row.se_prompts_fixed == near(
        row.standard_error
    )
    assert (row.se_unlimited_draws, row.suggested_draws) == (None, None)
    assert "as much as more prompts" in row.advice
    view = "select suggested_draws from variance_components where benchmark = 'slip'"
    assert select(store, view) == [{"suggested_draws": None}]


def test_a_ratio_is_no_mean_of_prompts(world: Store) -> None:
    for row in variance(world, "words").rows:
        assert (
            row.estimate is None
            and row.standard_error is None
            and "ratio" in row.reason
        )
        assert row.delta_k1_reason == row.reason


def test_what_the_argument_may_be(world: Store) -> None:
    assert {row.benchmark for row in variance(world, "org/a").rows} >= {
        "quiz",
        "draws",
        "essay",
    }
    assert [row.run_ids for row in variance(world, "run:3").rows] == [(3,)]
    assert [row.model for row in variance(world, "org/b", benchmark="quiz").rows] == [
        "org/b"
    ]
    warm = variance(world, "draws", where=["temperature=1"]).rows
    assert [(row.model, row.run_ids) for row in warm] == [("org/a", (4,))]
    strict = variance(world, "quiz", metric="acc,strict").rows
    assert {row.metric for row in strict} == {"acc,strict"}
    report = variance(world, "edges")
    assert any("edge/2" in reason for reason in report.left_out)
    assert (
        "conditions" in report.one_line and "save" in variance(world, "run:3").one_line
    )
    assert list(report.to_frame().columns) == list(VarianceRow.columns())
    assert report.to_dict()["rows"][0]["model"] == report.rows[0].model


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"target": "quizz"}, "no benchmark is called 'quizz'.*no model"),
        ({"target": "run:999"}, "run:999"),
        ({"target": "org/a", "benchmark": "nope"}, "nope"),
        ({"target": "quiz", "metric": "f1"}, "f1"),
        ({"target": "suite"}, "is a suite"),
        ({"target": "quiz", "where": ["colour=red"]}, "colour"),
        ({"target": "quiz", "where": ["temperature=77"]}, "no current run"),
        ({"target": "quiz", "cluster": "nope"}, "nope"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    world: Store, call: dict[str, Any], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        variance(world, **call)


# --- pass@k ------------------------------------------------------------------------------------


def test_pass_rates_are_those_of_all_subsets(world: Store) -> None:
    rows = pass_rates(world, "org/b", benchmark="quiz", at=[1, 3], hat=[2]).rows
    draws = draws_of(ROWS, rows[0].run_ids)
    for row, k, share in zip(rows, (1, 3, 2), (max, max, min), strict=True):
        expected = np.mean(
            [np.mean([share(s) for s in combinations(d, k)]) for d in draws]
        )
        assert row.estimate == near(expected), row.statistic
    assert [row.statistic for row in rows] == ["pass@1", "pass@3", "pass^2"]
    mean = row_of(variance(world, "quiz").rows, "org/b")
    assert (rows[0].estimate, rows[0].standard_error) == (
        near(mean.estimate),
        near(mean.standard_error),
    )


def test_estimand_level_and_clusters_reach_the_statistics(store: Store) -> None:
    (fixed,) = pass_rates(
        store, "clustered", at=[2], estimand="prompts-fixed", level=0.9
    ).rows
    (sampled,) = pass_rates(store, "clustered", at=[2]).rows
    correct = [int(sum(d)) for d in draws_of(DRAWS, sampled.run_ids)]
    labels = np.repeat(np.arange(4), 3)
    for row, expected in (
        (fixed, pass_at_k(correct, 6, 2, estimand="prompts_fixed", level=0.9)),
        (sampled, pass_at_k(correct, 6, 2, clusters=labels)),
    ):
        for name in ("estimate", "standard_error", "ci_low", "ci_high"):
            assert getattr(row, name) == near(getattr(expected, name)), name
        assert (row.estimand, row.n_clusters) == (
            expected.estimand,
            expected.n_clusters,
        )


def test_prompts_with_fewer_draws_are_left_out_and_bounded(world: Store) -> None:
    for row in pass_rates(world, "draws", at=[3], where=["temperature=0"]).rows:
        assert row.estimate is not None and (row.n_prompts, row.n_short) == (4, 1)
        assert row.bound_low is not None and row.bound_high is not None
        assert (
            row.bound_low
            <= 0.75 * row.estimate
            <= 0.75 * row.estimate + 0.25
            <= row.bound_high
        )
        assert "over the 3 of 4 prompts that have 3 draws (the fewest: 2)" in row.reason


def pass_of(store: Store, model: str, benchmark: str = "marks") -> PassRow:
    (row,) = pass_rates(store, model, benchmark=benchmark, at=[2]).rows
    return row


def test_only_right_and_wrong_draws_are_counted(store: Store) -> None:
    partial = pass_of(store, "case/partial")
    assert partial.estimate is None and "in between" in partial.reason
    assert pass_of(store, "case/whole").estimate == pytest.approx(1)
    rates = pass_of(store, "case/rates")
    expected = pass_at_k([5, 3], 10, 2)
    assert (
        rates.estimate == near(expected.estimate) and "rates_as_counts" in rates.flags
    )
    odd = pass_of(store, "case/between")
    assert odd.estimate is None and "0.55 of 10 draws" in odd.reason
    assert "1 of 2 prompts" in odd.reason and odd.flags == ()
    assert pass_of(store, "case/mixed").n_short == 1


def test_rates_that_a_source_rounds_count_where_the_metric_is_declared(
    store: Store,
) -> None:
    row = pass_of(store, "org/a", "rounded")
    assert row.estimate == near(pass_at_k([1, 2], 3, 2).estimate)
    assert "rates_as_counts" not in row.flags


def test_pass_rates_of_ratios_and_bad_arguments(world: Store) -> None:
    (row,) = pass_rates(world, "org/a", benchmark="words", at=[1]).rows
    assert row.estimate is None and row.reason
    with pytest.raises(MisuseError, match="no k given"):
        pass_rates(world, "quiz")
    for options in (
        {"at": [0]},
        {"at": [1], "level": 2},
        {"at": [1], "estimand": "both"},
    ):
        with pytest.raises((MisuseError, StatisticsError)):
            pass_rates(world, "quiz", **options)  # type: ignore[arg-type]


# --- seeds -------------------------------------------------------------------------------------


def test_seeds_are_crossed_with_the_prompts_that_all_have(store: Store) -> None:
    report = seed_variance(store, "taught")
    assert [row.position for row in report.rows] == ["step=100", "step=200"]
    for row in report.rows:
        table, within = [], []
        for run in row.run_ids:
            draws: dict[int, list[float]] = defaultdict(list)
            for fact in DRAWS.rows["score"]:
                if fact["run_id"] == run and fact["value"] is not None:
                    draws[fact["prompt_id"]].append(fact["value"])
            common = [DRAWS.prompt("taught", f"t{n}") for n in range(1, 10)]
            table.append([np.mean(draws[prompt]) for prompt in common])
            within.append([np.var(draws[prompt], ddof=1) for prompt in common])
        expected = crossed_variance(table, within=within, n_draws=np.full((3, 9), 2))
        assert (row.n_seeds, row.n_prompts, row.n_left_out) == (3, 9, 2)
        assert row.seeds == ("s0", "s1", "s2") and row.estimate == near(expected.mean)
        for name in (
            *(
                "se_seeds_fixed",
                "se_prompts_fixed",
                "se_both_sampled",
                "se_both_fixed",
                "seed_sd",
                "part_prompts",
            ),
            *("part_seeds", "part_interaction"),
        ):
            assert getattr(row, name) == near(getattr(expected, name)), name


def test_repeats_of_a_seed_are_pooled_before_seeds_are_crossed(world: Store) -> None:
    rows = seed_variance(world, "probe").rows
    assert [(row.position, row.n_seeds, len(row.run_ids)) for row in rows] == [
        ("step=1000", 3, 4),
        ("step=2000", 3, 4),
    ]
    assert all(
        row.se_both_fixed is None for row in rows
    )  # single draws but for one seed


@pytest.mark.parametrize("target", ["clustered", "lab/other"])
def test_without_two_seeds_there_is_nothing_to_cross(store: Store, target: str) -> None:
    with pytest.raises(MisuseError, match="two training seeds"):
        seed_variance(store, target)
