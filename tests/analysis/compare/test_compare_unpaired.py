"""Unpaired comparisons: equal to Miller's equations 5 and 6 and scipy's Welch, refused
where prompts are shared."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.compare.unpaired import compare_unpaired
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import cluster_robust
from warehouse.store.connection import Store


def build() -> tuple[StoreRows, dict[tuple[str, str], list[float]]]:
    """Two models on own prompts of two benchmarks, one of them in clusters; and on
    shared ones."""
    rows, dice = StoreRows(), random.Random(5)
    drawn: dict[tuple[str, str], list[float]] = {}
    for name, sizes in (
        ("plain", (40, 55)),
        ("grouped", (48, 36)),
        ("shared", (20, 20)),
    ):
        rows.describe(name, rows.metric())
        keys: list[list[str]] = []
        for model, size in zip("ab", sizes, strict=True):
            prefix = "both" if name == "shared" else model
            keys.append([f"{name}{prefix}{place}" for place in range(size)])
            scores = [
                float(dice.random() < (0.9 if model == "a" else 0.4))
                for _ in range(size)
            ]
            drawn[name, model] = scores
            rows.scores(
                rows.run(f"m/{model}", name), dict(zip(keys[-1], scores, strict=True))
            )
        if name == "grouped":
            every = [key for own in keys for key in own]
            rows.clusters(
                name,
                {
                    f"c{start}": every[start : start + 4]
                    for start in range(0, len(every), 4)
                },
            )
    return rows, drawn


ROWS, DRAWN = build()


def test_it_is_equations_5_and_6_and_welchs_t(world: Store) -> None:
    (row,) = compare_unpaired(world, "m/a", "m/b", benchmark="plain").rows
    a, b = (np.array(DRAWN["plain", model]) for model in "ab")
    error = math.hypot(stats.sem(a), stats.sem(b))
    welch = stats.ttest_ind(a, b, equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert row.difference == pytest.approx(a.mean() - b.mean(), rel=1e-10)
    assert row.standard_error == pytest.approx(error, rel=1e-10)
    assert row.statistic == pytest.approx(welch.statistic, rel=1e-10)
    own = [
        sum(scores) for scores in (a, b)
    ]  # few are wrong of a: the hull with the runs' own intervals (Wilson's)
    (low_a, high_a), (low_b, high_b) = (
        proportion_confint(right, len(scores), method="wilson")
        for right, scores in zip(own, (a, b), strict=True)
    )
    half = math.hypot(a.mean() - low_a, high_b - b.mean())
    p = 2 * stats.norm.sf(row.difference / half * stats.norm.ppf(0.975))
    assert (
        row.p_value == pytest.approx(max(p, welch.pvalue), rel=1e-9)
        and row.method == "welch_t_hull"
    )
    assert row.degrees_of_freedom == pytest.approx(welch.df, rel=1e-10)
    ends = (
        interval.low,
        row.difference - half,
        interval.high,
        row.difference + math.hypot(high_a - a.mean(), b.mean() - low_b),
    )
    assert (row.ci_low, row.ci_high) == pytest.approx((min(ends), max(ends)), rel=1e-9)
    assert row.z_p_value == pytest.approx(
        2 * stats.norm.sf(abs(row.difference) / error), rel=1e-10
    )
    assert (row.n_prompts_a, row.n_prompts_b, row.n_shared, row.better) == (
        40,
        55,
        0,
        "a",
    )


def test_clusters_give_cr2_of_each_run(world: Store) -> None:
    (row,) = compare_unpaired(world, "m/a", "m/b", benchmark="grouped").rows
    one, other = (
        cluster_robust(scores, np.arange(len(scores)) // 4)
        for scores in (DRAWN["grouped", "a"], DRAWN["grouped", "b"])
    )
    assert one is not None and other is not None
    assert (row.se_a, row.se_b) == pytest.approx((one.se_cr2, other.se_cr2), rel=1e-10)
    assert row.standard_error == pytest.approx(
        math.hypot(one.se_cr2, other.se_cr2), rel=1e-10
    )
    assert (row.n_clusters_a, row.n_clusters_b) == (12, 9)
    assert "few_informative_clusters_a" in row.flags
    (naive,) = compare_unpaired(
        world, "m/a", "m/b", benchmark="grouped", cluster="none"
    ).rows
    assert naive.n_clusters_a is None and naive.se_a != row.se_a


def test_shared_prompts_are_refused_unless_forced(world: Store) -> None:
    with pytest.raises(
        MisuseError, match="share 20 scored prompts: leave out --unpaired"
    ):
        compare_unpaired(world, "m/a", "m/b", benchmark="shared")
    (row,) = compare_unpaired(world, "m/a", "m/b", benchmark="shared", force=True).rows
    assert (row.n_shared, "shared_prompts" in row.flags) == (20, True)


def test_several_benchmarks_are_adjusted_and_the_refused_named(world: Store) -> None:
    found = compare_unpaired(world, "m/a", "m/b")
    assert [row.benchmark for row in found.rows] == ["grouped", "plain"]
    assert all(
        row.p_holm is not None and row.p_holm >= (row.p_value or 0)
        for row in found.rows
    )
    assert found.left_out[0].startswith("shared: they share 20 scored prompts")
    assert "unpaired, on 2 benchmarks" in found.one_line
    assert found.to_dict()["rows"][0]["benchmark"] == "grouped"


def test_swapping_flips_the_sign(world: Store) -> None:
    (row,) = compare_unpaired(world, "m/a", "m/b", benchmark="plain").rows
    (turned,) = compare_unpaired(world, "m/b", "m/a", benchmark="plain").rows
    assert turned.difference == pytest.approx(-row.difference)
    assert (turned.p_value, turned.better) == (pytest.approx(row.p_value), "b")


def test_the_paired_one_says_how_to_go_on(world: Store) -> None:
    with pytest.raises(MisuseError, match="--unpaired"):
        compare(world, "m/a", "m/b", benchmark="plain")
    with pytest.raises(StatisticsError, match="level"):
        compare_unpaired(world, "m/a", "m/b", level=95)


def test_people_and_programs_get_it(run: Caller, url: str) -> None:
    call = ("compare", "m/a", "m/b", "--unpaired", "--benchmark", "grouped")
    brief = run(*call, db=url).out
    assert "a is better on grouped." in brief and "nothing is paired" in brief
    found = run("--explain", *call, db=url)
    said = " ".join(found.out.split())
    assert "prompts a" in said and "clusters b" in said
    assert "Miller 2024, eq. 5" in said and "by cluster (CR2)" in said
    (row,) = run(
        "compare", "m/a", "m/b", "--unpaired", "--benchmark", "plain", "--json", db=url
    ).rows
    assert row["method"] == "welch_t_hull" and row["n_prompts_b"] == 55
    for option in (
        ("--flips",),
        ("--equivalence", "0.1"),
        ("--method", "permutation"),
        ("--overall",),
        ("--estimand", "prompts-fixed"),
    ):
        refused = run("compare", "m/a", "m/b", "--unpaired", *option, db=url)
        refused.fails(2, f"{option[0]} needs paired prompts")


def test_the_papers_clustered_error_stands_beside_cr2(run: Caller, url: str) -> None:
    found = run("compare", "m/a", "m/b", "--benchmark", "shared", "--json", db=url)
    assert found.rows[0]["se_eq8"] is None  # no clusters


def test_who_shares_no_question_is_ranked_and_no_part_of_another(world: Store) -> None:
    board = leaderboard(world, "plain")
    apart = [row.model for row in board.rows if "other_prompts" in row.flags]
    assert apart == ["m/a"] and all(row.rank for row in board.rows)
    said = str(board.sentence)
    assert "not compared with 1 other, which has no prompt in common" in said
    assert "a part" not in said and "not ranked" not in said


def test_the_way_out_names_both_models(world: Store) -> None:
    with pytest.raises(MisuseError) as refused:
        compare(world, "m/a", "m/b", benchmark="plain")
    assert "`warehouse compare m/a m/b --unpaired`" in str(refused.value)
