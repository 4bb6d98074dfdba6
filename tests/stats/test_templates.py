"""Prompts × templates: the golden table, an oracle, the edges, and what the interval
covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr
from scipy.stats import t as student

from warehouse.errors import StatisticsError
from warehouse.stats import template_ranking, template_variance, templates_needed

GOLDEN = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]


def test_the_golden_table() -> None:
    found = template_variance(GOLDEN)
    assert found.estimate == 0.5
    raw = (found.variance_prompts, found.variance_templates, found.variance_residual)
    assert raw == pytest.approx((0.0666667, 0.0555556, 0.1666667), abs=5e-8)
    parts = (found.part_prompts, found.part_templates, found.part_residual)
    assert parts == pytest.approx((0.0203704, 0.0277778, 0.0092593), abs=5e-8)
    assert (
        found.standard_error is not None
        and found.standard_error** 2 == pytest.approx(0.0388889, abs=5e-8)
    )
    assert (found.best, found.best_template, found.worst, found.worst_template) == (
        2 / 3,
        0,
        pytest.approx(1 / 6),
        2,
    )
    assert found.flags == ("few_templates",)


@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 10**6))
def test_parts_are_those_of_the_textbook(n: int, count: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(n, count))
    found = template_variance(table)
    rows, columns, grand = table.mean(axis=1), table.mean(axis=0), table.mean()
    ms_p = count * sum((row - grand) ** 2 for row in rows) / (n - 1)
    ms_t = n * sum((column - grand) ** 2 for column in columns) / (count - 1)
    left = [
        (table[i, j] - rows[i] - columns[j] + grand) ** 2
        for i in range(n)
        for j in range(count)
    ]
    ms_e = sum(left) / ((n - 1) * (count - 1))
    v_p, v_t, v_e = (ms / (n * count) for ms in (ms_p, ms_t, ms_e))
    variance = max(v_p + v_t - v_e, v_p, v_t)
    spread = v_p**2 / (n - 1) + v_t**2 / (count - 1) + v_e**2 / ((n - 1) * (count - 1))
    df = max(1.0, variance**2 / spread)
    half = student.ppf(0.975, df) * math.sqrt(variance)
    assert found.df == pytest.approx(df) and found.ci_high == pytest.approx(
        grand + half
    )
    fixed = template_variance(table, random="prompts")
    assert (
        fixed.standard_error == pytest.approx(np.std(rows, ddof=1) / math.sqrt(n))
        and fixed.df == n - 1
    )
    other = template_variance(table, random="templates")
    assert other.standard_error == pytest.approx(
        np.std(columns, ddof=1) / math.sqrt(count)
    )
    wide = template_variance(table, conservative=True)
    assert wide.df == min(n, count) - 1


def test_clusters_of_one_prompt_change_nothing_and_larger_ones_count() -> None:
    """20 clusters of 10 prompts: without them 95 % covered .70, of prompts alone .63."""
    rng, covered = np.random.default_rng(2), {"both": 0, "prompts": 0}
    table = rng.normal(size=(12, 3))
    alone, plain = (
        template_variance(table, clusters=np.arange(12)),
        template_variance(table),
    )
    assert (alone.part_residual, alone.standard_error, alone.df) == pytest.approx(
        (plain.part_residual, plain.standard_error, plain.df)
    )
    assert template_variance(table, clusters=["one"] * 12).reason == "a single cluster"
    labels = np.arange(200) % 20
    for _ in range(300):
        latent = (
            rng.normal(size=20)[labels, None] * 0.6
            + rng.normal(size=(200, 1)) * 0.6
            + rng.normal(size=4) * 0.1
        )
        scores = latent + rng.normal(size=(200, 4)) * 0.5 > 0
        for random in covered:
            found = template_variance(
                scores, random=random, bounds=(0, 1), clusters=labels
            )
            covered[random] += (found.ci_low or 0) <= 0.5 <= (found.ci_high or 1)
    assert min(covered.values()) >= 0.91 * 300


def test_few_prompts_near_a_bound_do_not_make_a_short_interval() -> None:
    """.98 right, 100 prompts, 4 templates: t alone covered .89."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(300):
        latent = rng.normal(size=(100, 1)) * 0.9 + rng.normal(size=(100, 4)) * 0.436
        found = template_variance(latent < 2.0537, bounds=(0, 1), random="prompts")
        missed += found.ci_low is not None and not found.ci_low <= 0.98 <= (
            found.ci_high or 1
        )
    assert missed <= 0.05 * 300


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1, 0, 1]], "a single prompt"),
        ([[1], [0]], "a single template"),
        ([[1, 1], [1, 1]], "nothing varies"),
    ],
)
def test_where_there_is_no_error_a_reason_stands(
    table: list[list[int]], reason: str
) -> None:
    found = template_variance(table)
    assert (found.standard_error, found.ci_low, found.df, found.reason) == (
        None,
        None,
        None,
        reason,
    )


def test_the_interval_stays_within_the_bounds() -> None:
    found = template_variance(GOLDEN, bounds=(0, 1))
    assert (found.ci_low, found.ci_high) == (0, 1)


@pytest.mark.parametrize("scores", [[1, 0], [[]], [[1, math.nan]], [[[1]]]])
def test_what_is_no_table_is_refused(scores: object) -> None:
    with pytest.raises(StatisticsError, match="prompts × templates"):
        template_variance(scores)  # type: ignore[arg-type]


def test_templates_that_an_error_takes() -> None:
    found = template_variance(GOLDEN)
    assert templates_needed(found, 0.15) == math.ceil(
        (0.0555556 + 0.1666667 / 6) / (0.15**2 - 0.0666667 / 6)
    )
    assert templates_needed(found, 0.1) is None  # prompts alone make more
    assert templates_needed(template_variance([[1, 0]]), 0.1) is None
    these_prompts = template_variance(GOLDEN, random="templates")
    assert templates_needed(these_prompts, 0.1) == math.ceil(
        (0.0555556 + 0.1666667 / 6) / 0.1**2
    )
    assert (
        templates_needed(template_variance(GOLDEN, random="prompts"), 0.15) is None
    )  # there are no others
    with pytest.raises(StatisticsError, match="above 0"):
        templates_needed(found, 0)


def test_flips_and_first_places() -> None:
    ranking = template_ranking([[0.6, 0.5, 0.4], [0.5, 0.4, 0.5]])
    assert (ranking.flip_share, ranking.n_top) == (pytest.approx(1 / 3), 2)
    assert (
        template_ranking([[0.5, 0.5], [0.4, 0.5]]).flip_share == 0
    )  # a tie is no flip
    assert template_ranking([[0.5, 0.6]]).flip_share is None
    assert template_ranking([[1, 1], [1, 1], [0, 0]]).n_top == 2


@pytest.mark.parametrize(
    ("count", "spread", "least", "most"), [(3, 0.5, 0.885, 0.96), (10, 0.5, 0.91, 0.97)]
)
def test_the_interval_covers_as_the_definition_says(
    count: int, spread: float, least: float, most: float
) -> None:
    """statistics.md §19b: prompt sd 1, interaction .5; T = 3 .912 to .940 where
    templates differ much, T = 10 .928 to .946; the band is that of 800 tables."""
    rng = np.random.default_rng(5)
    grid = rng.normal(size=200_000) * math.sqrt(1 + 0.5**2 + spread**2)
    truth, covered, n = float(ndtr(grid).mean()), 0, 100
    for _ in range(800):
        latent = (
            rng.normal(size=(n, 1))
            + spread * rng.normal(size=(1, count))
            + 0.5 * rng.normal(size=(n, count))
        )
        found = template_variance(rng.random((n, count)) < ndtr(latent), bounds=(0, 1))
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= truth <= found.ci_high
    assert least < covered / 800 < most


def test_ends_are_no_nearer_than_those_of_t_on_the_logit() -> None:
    random = np.random.default_rng(0)
    easy = np.array([0.95, 0.9, 0.5, 0.85, 0.99])
    table = (random.random((80, 5)) < easy).astype(float)
    found = template_variance(table, bounds=(0, 1))
    assert (
        found.standard_error is not None
        and found.ci_low is not None
        and found.ci_high is not None
    )
    slope = found.estimate * (1 - found.estimate)
    half = stats.t.ppf(0.975, found.df) * found.standard_error / slope
    centre = math.log(found.estimate / (1 - found.estimate))
    assert found.ci_low <= 1 / (1 + math.exp(half - centre)) + 1e-12
    assert found.ci_high >= 1 / (1 + math.exp(-half - centre)) - 1e-12
    percent = template_variance(100 * table, bounds=(0, 100))
    assert (percent.ci_low, percent.ci_high) == pytest.approx(
        (100 * found.ci_low, 100 * found.ci_high)
    )
    assert template_variance(table[:, [0] * 9] * 1.0, bounds=(0, 1)).flags == ()
