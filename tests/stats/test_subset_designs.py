"""Regression on predictions, whole clusters, several benchmarks, ranks, and what
history lets expect."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.support.samples import G15_STRATA, every_sample, g15, laid_out
from warehouse.errors import StatisticsError
from warehouse.stats.subsets.design import allocate, rank_among, runs_of
from warehouse.stats.subsets.estimate import estimate_subset
from warehouse.stats.subsets.expected import LeaveOneOut
from warehouse.stats.subsets.regression import (
    combine_subsets,
    estimate_drawn_clusters,
    estimate_subset_regression,
    ridge_penalty,
)

NAN = float("nan")


def test_regression_is_unbiased_over_all_samples() -> None:
    rng = np.random.default_rng(2)
    y, x = rng.normal(size=11), rng.normal(size=(11, 2))
    stratum = runs_of(11, 2)
    for penalty, p in ((1.0, x[:, 0]), (0.01, x)):
        values = []
        for asked in every_sample(stratum, [3, 3]):
            scores, selected = laid_out(asked, y[asked], 11)
            values.append(
                estimate_subset_regression(
                    scores, p, stratum, selected, penalty=penalty
                ).estimate
            )
        assert np.mean(values) == pytest.approx(y.mean(), abs=1e-12)


def test_regression_is_what_it_says_prompt_by_prompt() -> None:
    rng = np.random.default_rng(3)
    n, asked = 30, rng.permutation(30)[:12]
    f = rng.random(n)
    y = (rng.random(n) < f).astype(float)
    scores, selected = laid_out(asked, y[asked], n)
    found = estimate_subset_regression(
        scores, f, np.zeros(n, int), selected, penalty=2.0, bounds=(0, 1)
    )
    x = np.column_stack([np.ones(n), (f - f.mean()) / f.std()])
    errors, betas = [], []
    for i in np.flatnonzero(selected):
        rest = np.flatnonzero(selected & (np.arange(n) != i))
        beta = np.linalg.solve(
            x[rest].T @ x[rest] + np.diag([0, 2.0]), x[rest].T @ y[rest]
        )
        betas.append(beta)
        errors.append(y[i] - x[i] @ beta)
    total = (
        y[selected].sum()
        + x[~selected].sum(axis=0) @ np.mean(betas, axis=0)
        + 18 * np.mean(errors)
    )
    assert found.estimate == pytest.approx(total / n, abs=1e-12)
    assert found.standard_error == pytest.approx(
        np.sqrt((1 - 12 / n) * np.var(errors, ddof=1) / 12), abs=1e-12
    )
    assert ridge_penalty(np.tile(f, (3, 1)), f) == 0.01
    assert ridge_penalty(rng.normal(size=(5, n)), rng.normal(size=n)) >= 10
    with pytest.raises(StatisticsError, match="above 0"):
        estimate_subset_regression(
            scores, f, np.zeros(n, int), selected, penalty=float("inf")
        )


def test_clusters_drawn_whole_and_several_benchmarks() -> None:
    y, clusters = np.array([1, 0, 1, 1, 1, 0, 0.0]), list("aabbbcc")
    found = estimate_drawn_clusters(y, clusters, 10, bounds=(0, 1))
    totals, sizes = np.array([1, 3, 0]), np.array([2, 3, 2])
    v = (1 - 0.3) * 3 / 2 * ((totals - y.mean() * sizes) ** 2).sum() / 49
    assert (found.standard_error, found.degrees_of_freedom) == (
        pytest.approx(np.sqrt(v)),
        2,
    )
    assert (found.ci_low, found.ci_high) == (0, 1)
    means = []
    for drawn in combinations(range(4), 2):  # equal sizes: unbiased over all samples
        table = np.arange(12.0).reshape(4, 3)
        means.append(
            estimate_drawn_clusters(
                table[list(drawn)].ravel(), np.repeat(drawn, 3), 4
            ).estimate
        )
    assert np.mean(means) == pytest.approx(5.5)
    with pytest.raises(StatisticsError, match="of 2 in all"):
        estimate_drawn_clusters(y, clusters, 2)
    scores, selected = g15()
    one = estimate_subset(scores, G15_STRATA, selected, bounds=(0, 1))
    both = combine_subsets([one, one], [1, 3])
    assert both.estimate == pytest.approx(one.estimate)
    assert both.standard_error == pytest.approx(
        np.sqrt(1 / 16 + 9 / 16) * (one.standard_error or 0)
    )
    parts = np.array([1, 9]) ** 1.0
    assert both.degrees_of_freedom == pytest.approx(
        parts.sum() ** 2 / (parts**2 / 7).sum()
    )


def test_rank_and_its_set() -> None:
    known = [0.9, 0.8, 0.7, 0.6, 0.5]
    found = rank_among(0.7, 0.6, 0.85, known)
    assert (found.rank, found.rank_low, found.rank_high) == (3, 2, 5)
    turned = rank_among(0.7, 0.6, 0.85, known, higher_is_better=False)
    assert (turned.rank, turned.rank_low, turned.rank_high) == (3, 2, 5)
    assert rank_among(0.1 + 0.2, None, None, [0.3]).rank == 1
    assert rank_among(0.5, None, None, known).rank_low is None


def test_expected_precision_is_that_of_the_design() -> None:
    rng = np.random.default_rng(10)
    table = (rng.random((6, 80)) < np.linspace(0.1, 0.9, 80)).astype(float)
    expected = LeaveOneOut(table, bounds=(0, 1))
    found = expected.at(24)
    gains = []
    for row in range(6):
        f = np.delete(table, row, axis=0).mean(axis=0)
        order = np.argsort(np.round(f, 12), kind="stable")
        stratum = np.empty(80, int)
        stratum[order] = runs_of(80, 6)
        drawn = allocate(np.bincount(stratum), 24)
        v = sum(
            (np.sum(stratum == h) / 80) ** 2
            * (1 - drawn[h] / np.sum(stratum == h))
            * table[row, stratum == h].var(ddof=1)
            / drawn[h]
            for h in range(6)
        )
        gains.append((1 - 24 / 80) * table[row].var(ddof=1) / 24 / v)
    assert found.gain == pytest.approx(np.median(gains)) and found.n_models == 6
    twice = np.repeat(table, 2, axis=0)  # two runs of each model, alike
    apart = LeaveOneOut(
        twice, models=[f"m{row // 2}" for row in range(12)], bounds=(0, 1)
    ).at(24)
    assert apart.gain == pytest.approx(found.gain) and apart.n_models == 12
    alone = LeaveOneOut(table, models=["m"] * 6, bounds=(0, 1)).at(24)
    assert alone.gain == pytest.approx(found.gain)
    enough = expected.size_for(0.3)
    assert (enough.width or 1) <= 0.3 < (expected.at(enough.size - 1).width or 1)
    assert expected.size_for(1e-9).size == 80
    for width in (0, -1, NAN, float("inf")):
        with pytest.raises(StatisticsError, match="above 0"):
            expected.size_for(width)
    with pytest.raises(StatisticsError, match="no stored model has all prompts"):
        LeaveOneOut(np.full((2, 5), NAN)).size_for(0.1)
