"""A row of a suite over training seeds, against figures worked out apart: seeds of one
model go together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warehouse.errors import StatisticsError
from warehouse.stats import (
    Cell,
    combine_leaves,
    combine_over_seeds,
    compare_suites,
    leaf_cell,
    leaf_seeds,
)
from warehouse.stats.intervals.closed_form import interval_wilson_bounded
from warehouse.stats.rows.seed_difference import RowSeeds
from warehouse.stats.rows.seed_row import row_over_seeds
from warehouse.stats.suites.seed_suite import LeafSeeds, seeds_together

Tables = list[np.ndarray]


def drawn(
    seed: int, n_seeds: int, sizes: tuple[int, ...], spread: float = 0.5
) -> Tables:
    """Scores of one model on several benchmarks, moved together by its seeds, shape (S,
    n) each."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.5, spread, (n_seeds, 1))
    return [
        (
            rng.random((n_seeds, n)) < 1 / (1 + np.exp(rng.normal(0, 1, n) - skill))
        ).astype(float)
        for n in sizes
    ]


def leaves_of(tables: Tables, labels: str = "abcdefgh") -> list[LeafSeeds]:
    starts = np.cumsum([0, *(table.shape[1] for table in tables)])
    return [
        leaf_seeds(
            table, labels[: len(table)], np.arange(start, start + table.shape[1])
        )
        for table, start in zip(tables, starts, strict=False)
    ]


def slow_parts(
    tables: Tables, weights: list[float]
) -> tuple[float, float, float, float]:
    """Figure, V_p, V_s and V_i of full tables without clusters, by loops over their
    definitions."""
    total = sum(weights)
    shares = [weight / total for weight in weights]
    n_seeds = len(tables[0])
    figure = sum(w * table.mean() for w, table in zip(shares, tables, strict=True))
    v_prompts = sum(
        w**2 * table.mean(0).var(ddof=1) / table.shape[1]
        for w, table in zip(shares, tables, strict=True)
    )
    means = [
        sum(w * table[s].mean() for w, table in zip(shares, tables, strict=True))
        for s in range(n_seeds)
    ]
    v_seeds = float(np.var(means, ddof=1)) / n_seeds
    v_interaction = 0.0
    for s in range(n_seeds):
        for w, table in zip(shares, tables, strict=True):
            residual = table[s] - table.mean(0)
            v_interaction += (
                w**2 * residual.var(ddof=1) / table.shape[1] / (n_seeds * (n_seeds - 1))
            )
    return float(figure), float(v_prompts), v_seeds, float(v_interaction)


@pytest.mark.parametrize(
    ("seed", "n_seeds", "weights"),
    [(1, 3, [1.0, 1.0]), (2, 5, [1.0, 3.0]), (3, 2, [2.0, 1.0])],
)
def test_the_parts_are_those_of_the_definition(
    seed: int, n_seeds: int, weights: list[float]
) -> None:
    tables = drawn(seed, n_seeds, (40, 70))
    estimate, seeds = combine_over_seeds(leaves_of(tables), weights, bounds=(0, 1))
    figure, v_p, v_s, v_i = slow_parts(tables, weights)
    assert seeds is not None and estimate.estimate == pytest.approx(figure, rel=1e-12)
    assert seeds.v_prompts == pytest.approx(v_p, rel=1e-10)
    assert seeds.v_seeds == pytest.approx(v_s, rel=1e-10)
    assert seeds.v_interaction == pytest.approx(v_i, rel=1e-10)
    assert estimate.standard_error == pytest.approx(
        math.sqrt(max(v_p + v_s - v_i, v_p, v_s)), rel=1e-10
    )
    pooled = combine_leaves(
        [leaf.cell for leaf in leaves_of(tables)], weights, bounds=(0, 1)
    )
    of_seeds = interval_wilson_bounded(
        figure, math.sqrt(v_s), n_seeds - 1, bounds=(0, 1), level=0.95
    )
    assert (
        of_seeds is not None
        and pooled.ci_low is not None
        and pooled.ci_high is not None
    )
    q = max(0.0, 1 - v_i / v_p)
    below = math.sqrt(q * (figure - pooled.ci_low) ** 2 + (figure - of_seeds.low) ** 2)
    above = math.sqrt(
        q * (pooled.ci_high - figure) ** 2 + (of_seeds.high - figure) ** 2
    )
    assert estimate.ci_low == pytest.approx(figure - max(below, figure - pooled.ci_low))
    assert estimate.ci_high == pytest.approx(
        figure + max(above, pooled.ci_high - figure)
    )
    assert seeds.seed_means == pytest.approx(
        [
            sum(
                w / sum(weights) * t[s].mean()
                for w, t in zip(weights, tables, strict=True)
            )
            for s in range(n_seeds)
        ]
    )


def test_on_one_benchmark_the_parts_are_those_of_a_row_over_seeds() -> None:
    (table,) = drawn(4, 4, (60,))
    table[1, 3] = np.nan
    clusters = np.arange(60) // 3
    leaf = leaf_seeds(table, "abcd", clusters)
    estimate, seeds = combine_over_seeds([leaf], bounds=(0, 1))
    row = row_over_seeds(table, clusters=clusters, bounds=(0, 1))
    assert seeds is not None and estimate.estimate == pytest.approx(row.estimate)
    assert seeds.v_prompts == pytest.approx(row.v_prompts)
    assert seeds.v_seeds == pytest.approx(row.v_seeds)
    assert seeds.v_interaction == pytest.approx(row.v_interaction)
    assert seeds.seed_means == pytest.approx(row.seed_means)


def test_seeds_that_move_benchmarks_together_make_a_larger_error_than_seeds_that_do_not() -> (
    None
):
    tables = drawn(5, 4, (200, 200), spread=1.0)
    _, together = combine_over_seeds(leaves_of(tables), bounds=(0, 1))
    first, second = leaves_of(tables)
    apart = LeafSeeds(("p", "q", "r", "s"), second.cell, second.parts, second.residuals)
    estimate, others = combine_over_seeds([first, apart], bounds=(0, 1))
    assert together is not None and others is not None
    assert together.v_seeds > 1.4 * others.v_seeds
    assert (together.n_groups, others.n_groups) == (1, 2) and others.seed_means == ()
    expected = sum(0.25 * table.mean(1).var(ddof=1) / 4 for table in tables)
    assert others.v_seeds == pytest.approx(expected)
    assert estimate.ci_low is not None


def test_the_order_of_seeds_and_benchmarks_changes_nothing() -> None:
    tables = drawn(6, 3, (30, 50))
    first, second = leaves_of(tables)
    turned = leaf_seeds(tables[1][::-1], "cba", np.arange(30, 80))
    one, _ = combine_over_seeds([first, second], [1, 2], bounds=(0, 1))
    other, _ = combine_over_seeds([turned, first], [2, 1], bounds=(0, 1))
    for name in ("estimate", "standard_error", "ci_low", "ci_high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


def test_prompts_in_two_benchmarks_are_one_unit_in_every_part() -> None:
    (table,) = drawn(7, 3, (50,))
    twice = [leaf_seeds(table, "abc", np.arange(50)) for _ in range(2)]
    (alone,) = leaves_of([table])
    both, seeds = combine_over_seeds(twice, bounds=(0, 1))
    one, own = combine_over_seeds([alone], bounds=(0, 1))
    assert seeds is not None and own is not None
    assert both.standard_error == pytest.approx(one.standard_error)
    assert seeds.v_interaction == pytest.approx(own.v_interaction)


def test_a_benchmark_with_one_run_adds_its_prompts_alone_and_is_flagged() -> None:
    tables = drawn(8, 3, (40, 40))
    first, _ = leaves_of(tables)
    single = leaf_cell(tables[1][0], np.arange(40, 80))
    estimate, seeds = combine_over_seeds([first, single], bounds=(0, 1))
    assert seeds is not None and seeds.n_single == 1 and "one_seed" in estimate.flags
    assert seeds.v_seeds == pytest.approx(tables[0].mean(1).var(ddof=1) / 3 / 4)
    plain, none = combine_over_seeds([single, single], bounds=(0, 1))
    assert none is None and plain == combine_leaves([single, single], bounds=(0, 1))


def test_equal_seeds_change_nothing() -> None:
    row = drawn(9, 1, (40,))[0]
    leaf = leaf_seeds(np.repeat(row, 3, axis=0), "abc", np.arange(40))
    estimate, seeds = combine_over_seeds([leaf], bounds=(0, 1))
    plain = combine_leaves([leaf.cell], bounds=(0, 1))
    assert seeds is not None and seeds.v_seeds == 0
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        (plain.ci_low, plain.ci_high)
    )


def test_all_scores_right_have_the_interval_of_the_prompts() -> None:
    leaves = leaves_of([np.ones((3, 20)), np.ones((3, 30))])
    estimate, _ = combine_over_seeds(leaves, bounds=(0, 1))
    assert (
        estimate.estimate == 1
        and estimate.ci_low is not None
        and estimate.ci_low < 0.95
    )


def test_seeds_that_count() -> None:
    assert seeds_together([("0", "1", "2"), ("2", "1")]) == [("1", "2"), ("1", "2")]
    assert seeds_together([("0", "1"), ("1", "2")]) == [("0", "1"), ("1", "2")]
    assert seeds_together([]) == []


def test_labels_that_repeat_are_refused() -> None:
    with pytest.raises(StatisticsError, match="each once"):
        leaf_seeds(np.ones((2, 3)), "aa", np.arange(3))
    with pytest.raises(StatisticsError, match="two seeds"):
        leaf_seeds(np.ones((1, 3)), "a", np.arange(3))


def test_pairs_of_rows_over_seeds_have_the_test_of_seeds() -> None:
    tables = {
        "a": drawn(10, 3, (60, 60), spread=1.5),
        "b": drawn(11, 3, (60, 60), spread=1.5),
    }
    rows = {name: leaves_of(own) for name, own in tables.items()}
    cells: list[list[Cell]] = [[leaf.cell for leaf in own] for own in rows.values()]
    known: list[RowSeeds] = []
    for own in rows.values():
        seeds = combine_over_seeds(own)[1]
        assert seeds is not None
        known.append(seeds.row)
    pairs = compare_suites(cells, seeds=known)
    plain = compare_suites(cells)
    assert pairs.p_value[0, 1] > plain.p_value[0, 1]
    assert pairs.p_value[0, 1] == pairs.p_value[1, 0]
    assert pairs.standard_error[0, 1] > plain.standard_error[0, 1]
    alone = [RowSeeds(1, 0.0, 0.0, fixed=True)] * 2
    assert np.array_equal(
        compare_suites(cells, seeds=alone).p_value, plain.p_value, equal_nan=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_seeds", [2, 3, 5])
def test_coverage_with_seeds_that_move_all_benchmarks(n_seeds: int) -> None:
    """Of the mean over other prompts and seeds: two benchmarks of 60 and 200 prompts,
    0/1 scores."""
    rng = np.random.default_rng(n_seeds)
    hits, n_samples = 0, 1000
    truth = np.mean(
        [1 / (1 + np.exp(-x)) for x in rng.normal(0.5, math.sqrt(1 + 0.25), 2_000_000)]
    )
    for sample in range(n_samples):
        tables = drawn(10_000 + sample + 100_000 * n_seeds, n_seeds, (60, 200))
        estimate, _ = combine_over_seeds(leaves_of(tables), bounds=(0, 1))
        assert estimate.ci_low is not None and estimate.ci_high is not None
        hits += estimate.ci_low <= truth <= estimate.ci_high
    assert hits / n_samples >= 0.93
