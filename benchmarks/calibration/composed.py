"""Figures that are built of others: weighted means, all pairs, suites, costs, curves,
agreement, corrected means.

A run or a pair alone holds as it is defined (calibration.md); what is put together of
several is simulated here, most of it with skewed scores, which Student's t takes for
symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from calibration import composed_more
from calibration.composed_outcomes import (
    ALPHA,
    Array,
    ComposedCell,
    Generator,
    Outcome,
    lognormal,
    missed,
    sizes_of,
)
from numpy.typing import NDArray

from warehouse.stats import (
    all_pairs,
    cheaper_test,
    combine_leaves,
    compare_suites,
    cost_ratio,
    estimate_mean,
    estimate_subset,
    judge_agreement,
    leaf_cell,
    mean_cost,
    paired_difference,
    prediction_powered_difference,
    prediction_powered_mean,
    rank_models,
    template_figures,
    template_variance,
)
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.intervals.estimate_mean import flags_of_mean
from warehouse.stats.paired.own_tests import hull_tests, with_own_tests
from warehouse.stats.paired.pair_flags import pair_flags
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    combine_differences,
)
from warehouse.stats.training.curve_tests import monotonicity

SUBSET_OF, JUDGED = 2_000, 1_000


# --- a: weighted means ---------------------------------------------------------------------------


def _large(rng: Generator, n: int) -> Array:
    """One in fifty large, the others 0."""
    return np.where(rng.random(n) < 0.02, rng.uniform(0.5, 1, n), 0.0)


def _weighted(
    draw: Callable[[Generator, int], Array],
    truth: float,
    sigma: float,
    n: int,
    bounded: bool,
) -> Any:
    def ask(rng: Generator) -> Outcome:
        scores = draw(rng, n)
        weights = lognormal(rng, sigma, n)
        figure = estimate_mean(
            scores, weights=weights, bounds=(0, 1) if bounded else None, n_resamples=100
        )
        return missed(figure.ci_low, figure.ci_high, truth, figure.flags)

    return ask


def _weighted_clusters(clusters: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        of = sizes_of(rng, clusters)
        scores = lognormal(rng, 1.0, clusters)[of] * lognormal(rng, 0.5, len(of))
        figure = estimate_mean(
            scores, weights=lognormal(rng, 0.5, len(of)), clusters=of, n_resamples=100
        )
        return missed(figure.ci_low, figure.ci_high, 1.0, figure.flags)

    return ask


def _weighted_pair(sigma: float, n: int) -> Any:
    """Two models of one mean, one skewed and one not."""

    def ask(rng: Generator) -> Outcome:
        weights = lognormal(rng, sigma, n)
        scores = lognormal(rng, 1.0, n), 1 + 0.2 * rng.standard_normal(n)
        found = paired_difference(*scores, weights_a=weights, weights_b=weights)
        return missed(found.ci_low, found.ci_high, 0.0, found.flags)

    return ask


# --- b: all pairs of unbounded scores ------------------------------------------------------------


def _board(
    rng: Generator, kind: str, n: int
) -> tuple[Array, NDArray[np.intp] | None, Array]:
    """Scores of six models, clusters, and true means."""
    of = None if n > 0 else sizes_of(rng, -n)
    count = n if of is None else len(of)
    if kind == "normal":
        return 1 + rng.standard_normal((count, 6)), of, np.ones(6)
    truth = np.ones(6) if kind == "equal" else 1 + np.array([0, 0, 0, 0.3, 0.3, 0.3])
    if of is None:
        skewed = lognormal(rng, 1.0, (count, 3))
    else:
        skewed = lognormal(rng, 1.0, (-n, 3))[of] * lognormal(rng, 0.5, (count, 3))
    even = 0.2 * rng.standard_normal((count, 3))
    return np.hstack([skewed - 1, even]) + truth, of, truth


def _pairs(kind: str, n: int, figure: str) -> Any:
    def ask(rng: Generator) -> Outcome:
        scores, of, truth = _board(rng, kind, n)
        plain = all_pairs(scores, of, n_resamples=399, seed=int(rng.integers(1 << 31)))
        groups = None if of is None else as_clusters(of, len(scores))
        pairs = with_own_tests(plain, hull_tests(scores, groups, plain))
        true = truth[pairs.first] - truth[pairs.second]
        flagged = any(pair_flags(scores, pairs.first, pairs.second, of))
        if figure == "step-down":
            return Outcome(
                float((pairs.p_step_down[true == 0] <= ALPHA).any()), flagged
            )
        if figure == "Holm":
            return Outcome(float((pairs.p_holm[true == 0] <= ALPHA).any()), flagged)
        if figure == "power":
            return Outcome(
                float((pairs.p_step_down[true != 0] <= ALPHA).mean()), flagged
            )
        if figure == "joint rank sets":
            ranks = rank_models(pairs)
            best = 1 + (truth[None, :] > truth[:, None] + 1e-9).sum(axis=1)
            worst = 6 - (truth[None, :] < truth[:, None] - 1e-9).sum(axis=1)
            low = np.array(
                [1 if rank is None else rank for rank in ranks.rank_low_joint]
            )
            high = np.array(
                [6 if rank is None else rank for rank in ranks.rank_high_joint]
            )
            return Outcome(float(((low > best) | (high < worst)).any()), flagged)
        outside = (true < pairs.simultaneous_low) | (true > pairs.simultaneous_high)
        return Outcome(
            float(outside.any()),
            flagged,
            width=float(np.median(pairs.simultaneous_high - pairs.simultaneous_low)),
        )

    return ask


def _few_clusters(clusters: int, figure: str) -> Any:
    """Few clusters, whose signs reach no small p."""

    def ask(rng: Generator) -> Outcome:
        of = np.repeat(np.arange(clusters), 10)
        scores = rng.standard_normal((clusters, 4))[of] * 0.4 + rng.standard_normal(
            (len(of), 4)
        )
        scores += np.array([0, 0, 0, 6.0 if figure == "power" else 0.0])
        plain = all_pairs(scores, of, n_resamples=399, seed=1)
        p = with_own_tests(
            plain, hull_tests(scores, as_clusters(of, len(of)), plain)
        ).p_step_down
        return Outcome(
            float(
                (p[[2, 4, 5]] <= ALPHA).mean()
                if figure == "power"
                else (p <= ALPHA).any()
            )
        )

    return ask


# --- c: suites and overall rows ------------------------------------------------------------------


def _suite(draw: Callable[[Generator, int], Array], n: int, leaves: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        cells = [
            leaf_cell(draw(rng, n), np.arange(n) + n * leaf) for leaf in range(leaves)
        ]
        figure = combine_leaves(cells)
        return missed(figure.ci_low, figure.ci_high, 1.0, figure.flags)

    return ask


def _suite_clusters(clusters: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        cells = []
        for leaf in range(2):
            of = sizes_of(rng, clusters)
            scores = lognormal(rng, 1.0, clusters)[of] * lognormal(rng, 0.5, len(of))
            cells.append(leaf_cell(scores, of + 1000 * leaf))
        figure = combine_leaves(cells)
        return missed(figure.ci_low, figure.ci_high, 1.0, figure.flags)

    return ask


def _suite_test(n: int, leaves: int) -> Any:
    """A skewed and an even model of one mean."""

    def ask(rng: Generator) -> Outcome:
        units = [np.arange(n) + n * leaf for leaf in range(leaves)]
        first = [leaf_cell(lognormal(rng, 1.0, n), own) for own in units]
        second = [leaf_cell(1 + 0.2 * rng.standard_normal(n), own) for own in units]
        return Outcome(float(compare_suites([first, second]).p_value[0, 1] <= ALPHA))

    return ask


def _overall(n: int, parts: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        made = []
        for part in range(parts):
            d = lognormal(rng, 1.0, n) - 1 - 0.2 * rng.standard_normal(n)
            own = paired_difference(d, np.zeros(n))
            known = (
                own.standard_error,
                own.degrees_of_freedom,
                own.ci_low,
                own.ci_high,
                own.p_value,
            )
            made.append(BenchmarkDifference(d, np.arange(n) + n * part, *known))
        found = combine_differences(made)
        return missed(found.ci_low, found.ci_high, 0.0)

    return ask


def _few_beside_many(clusters: int, size: int, p: float, others: int) -> Any:
    """A leaf of few clusters beside one of many prompts, 0/1."""

    def ask(rng: Generator) -> Outcome:
        of = np.repeat(np.arange(clusters), size)
        chances = rng.beta(p * 4, (1 - p) * 4, clusters)[of]
        few_scores = (rng.random(len(of)) < chances).astype(float)
        few_flags = flags_of_mean(few_scores, clusters=of, bounds=(0, 1))
        few = leaf_cell(few_scores, of, flags=few_flags)
        many_scores = (rng.random(others) < 0.9).astype(float)
        many_flags = flags_of_mean(many_scores, bounds=(0, 1))
        many = leaf_cell(many_scores, 10_000 + np.arange(others), flags=many_flags)
        figure = combine_leaves([few, many], bounds=(0, 1))
        return missed(figure.ci_low, figure.ci_high, (p + 0.9) / 2, figure.flags)

    return ask


# --- d: costs ------------------------------------------------------------------------------------


def _cheaper(sigma_a: float, sigma_b: float, n: int, times: float) -> Any:
    def ask(rng: Generator) -> Outcome:
        a, b = lognormal(rng, sigma_a, n), times * lognormal(rng, sigma_b, n)
        found = cheaper_test(a, b)
        return Outcome(
            float(found.p_value is not None and found.p_value <= ALPHA),
            bool(found.flags),
        )

    return ask


def _mean_cost(sigma: float, n: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        figure = mean_cost(lognormal(rng, sigma, n))
        return missed(figure.low, figure.high, 1.0, figure.flags)

    return ask


def _cost_ratio(sigma: float, n: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        figure = cost_ratio(lognormal(rng, sigma, n), lognormal(rng, 0.5, n))
        return missed(figure.low, figure.high, 1.0, figure.flags)

    return ask


# --- e: whether curves rise ----------------------------------------------------------------------


def _rise(
    seeds: int, common: float, own: float, correlation: float, slope: float
) -> Any:
    """Curves of twenty checkpoints, each a common path and noise of its own."""

    def ask(rng: Generator) -> Outcome:
        path = np.empty(20)
        path[0] = rng.standard_normal()
        for t in range(1, 20):
            path[t] = (
                correlation * path[t - 1]
                + math.sqrt(1 - correlation**2) * rng.standard_normal()
            )
        curves = (
            common * path
            + own * rng.standard_normal((seeds, 20))
            + slope * np.arange(20)
        )
        found = monotonicity(list(curves), n_series=399)
        return Outcome(
            float(found.p_value is not None and found.p_value <= ALPHA),
            bool(found.flags),
        )

    return ask


# --- f: agreement near perfection ----------------------------------------------------------------


def _agreement(measure: str, n: int, positives: float, agreed: float) -> Any:
    """Two raters of one share of positives; 1 − agreed of the units are disagreements."""

    def ask(rng: Generator) -> Outcome:
        half = (1 - agreed) / 2
        cells = rng.choice(4, n, p=[1 - positives - half, half, half, positives - half])
        found = judge_agreement(cells // 2, cells % 2)
        figure = found.figure(measure)
        chance = positives**2 + (1 - positives) ** 2
        truth = 1 - (1 - agreed) / (1 - chance)
        if measure == "agreement":
            truth = agreed
        return missed(figure.low, figure.high, truth, found.flags)

    return ask


# --- g: corrected means without bounds -----------------------------------------------------------


def _corrected(kind: str, n: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        if kind == "ratings":
            fives = rng.random(JUDGED) < 0.9
            people = np.where(fives, 5.0, rng.integers(1, 5, JUDGED))
            judge, truth = people + rng.integers(-1, 2, JUDGED), 0.9 * 5 + 0.1 * 2.5
        elif kind == "lognormal":
            people = lognormal(rng, 1.0, JUDGED)
            judge, truth = people * lognormal(rng, 0.3, JUDGED), 1.0
        else:
            people = 1 + rng.standard_normal(JUDGED)
            judge, truth = people + 0.5 * rng.standard_normal(JUDGED), 1.0
        labels = np.where(np.arange(JUDGED) < n, people, np.nan)
        figure = prediction_powered_mean(labels, judge)
        return missed(figure.low, figure.high, truth, figure.flags)

    return ask


def _corrected_difference(n: int) -> Any:
    """Two models, ratings of 1 to 5, the second with a rare bad one more."""

    def ask(rng: Generator) -> Outcome:
        ratings = []
        for share in (0.9, 0.85):
            is_best = rng.random(JUDGED) < share
            ratings.append(np.where(is_best, 5.0, rng.integers(1, 5, JUDGED)))
        judged = [own + rng.integers(-1, 2, JUDGED) for own in ratings]
        labels = [np.where(np.arange(JUDGED) < n, own, np.nan) for own in ratings]
        figure = prediction_powered_difference(*labels, *judged)
        return missed(figure.low, figure.high, 0.05 * 2.5, figure.flags)

    return ask


# --- h: subsets of unbounded scores --------------------------------------------------------------


def _subset(kind: str, m: int) -> Any:
    def ask(rng: Generator) -> Outcome:
        strata = np.arange(SUBSET_OF) % 5
        drawn = (
            lognormal(rng, 1.0, SUBSET_OF)
            if kind == "lognormal"
            else rng.standard_normal(SUBSET_OF)
        )
        scores = drawn * (1 + 0.1 * strata)
        chosen = np.zeros(SUBSET_OF, bool)
        for stratum in range(5):
            chosen[
                rng.choice(np.flatnonzero(strata == stratum), m // 5, replace=False)
            ] = True
        figure = estimate_subset(np.where(chosen, scores, np.nan), strata, chosen)
        return missed(figure.ci_low, figure.ci_high, float(scores.mean()), figure.flags)

    return ask


# --- i: templates --------------------------------------------------------------------------------


def _templates(count: int, spread: float, rate: float) -> Any:
    """0/1 answers to 100 prompts by templates that differ (probit)."""

    def ask(rng: Generator) -> Outcome:
        from scipy.special import ndtr, ndtri

        centre = ndtri(rate) * math.sqrt(2 + 0.25 + spread**2)
        z = (
            centre
            + rng.standard_normal((100, 1))
            + spread * rng.standard_normal((1, count))
        )
        z = z + 0.5 * rng.standard_normal((100, count))
        scores = (rng.random((100, count)) < ndtr(z)).astype(float)
        figure = template_variance(scores, bounds=(0, 1))
        return missed(figure.ci_low, figure.ci_high, rate, figure.flags)

    return ask


def _published(models: int, count: int, shared: float, own: float) -> Any:
    """Published figures of models by template: what a template adds to all of them, and
    to each."""

    def ask(rng: Generator) -> Outcome:
        true = np.linspace(0.4, 0.7, models)
        table = (
            true[:, None]
            + shared * rng.standard_normal((1, count))
            + own * rng.standard_normal((models, count))
        )
        figure = template_figures(np.clip(table, 0, 1), bounds=(0, 1))
        outside = (true < figure.ci_low) | (true > figure.ci_high)
        return Outcome(
            float(outside.mean()),
            bool(figure.flags),
            float(np.median(figure.ci_high - figure.ci_low)),
        )

    return ask


# --- 0/1 differences -----------------------------------------------------------------------------


def _differences(n: int, expected: float) -> Any:
    """So many prompts are expected to differ, either way alike."""

    def ask(rng: Generator) -> Outcome:
        a = (rng.random(n) < 0.5).astype(float)
        b = np.where(rng.random(n) < expected / n, 1 - a, a)
        found = paired_difference(a, b)
        return missed(found.ci_low, found.ci_high, 0.0, found.flags)

    return ask


def _lost(n: int, expected: float) -> Any:
    """So many prompts are expected to be lost, and none is won."""

    def ask(rng: Generator) -> Outcome:
        a = np.ones(n)
        b = np.where(rng.random(n) < expected / n, 0.0, 1.0)
        found = paired_difference(a, b)
        return missed(found.ci_low, found.ci_high, expected / n, found.flags)

    return ask


def _normal(rng: Generator, n: int) -> Array:
    return 1 + rng.standard_normal(n)


def _of_sigma(sigma: float) -> Callable[[Generator, int], Array]:
    return lambda rng, n: lognormal(rng, sigma, n)


def cells() -> list[ComposedCell]:
    """Every cell, in the order of the page."""
    interval, test = "interval misses", "rejects equals"
    return [
        ComposedCell(
            "0",
            interval,
            "0/1, 4 prompts, 2 expected to differ",
            2000,
            _differences(4, 2),
        ),
        ComposedCell(
            "0",
            interval,
            "0/1, 1 000 prompts, 2 expected to differ",
            2000,
            _differences(1000, 2),
        ),
        ComposedCell(
            "0",
            interval,
            "0/1, 1 000 prompts, 8 expected to differ",
            2000,
            _differences(1000, 8),
        ),
        ComposedCell(
            "0",
            interval,
            "0/1, 1 000 prompts, 2 expected to be lost",
            2000,
            _lost(1000, 2),
        ),
        ComposedCell(
            "0",
            interval,
            "0/1, 1 000 prompts, 32 expected to be lost",
            2000,
            _lost(1000, 32),
        ),
        ComposedCell(
            "0",
            interval,
            "0/1, 100 prompts, 40 expected to differ",
            2000,
            _differences(100, 40),
        ),
        ComposedCell(
            "a",
            interval,
            "2 % large, weights lognormal(1), n 300",
            400,
            _weighted(_large, 0.015, 1, 300, True),
        ),
        ComposedCell(
            "a",
            interval,
            "2 % large, weights lognormal(1), n 1000",
            400,
            _weighted(_large, 0.015, 1, 1000, True),
        ),
        ComposedCell(
            "a",
            interval,
            "2 % large, weights lognormal(.5), n 300",
            400,
            _weighted(_large, 0.015, 0.5, 300, True),
        ),
        ComposedCell(
            "a",
            interval,
            "Beta(.05, 2), weights lognormal(.5), n 60",
            400,
            _weighted(lambda rng, n: rng.beta(0.05, 2, n), 0.05 / 2.05, 0.5, 60, True),
        ),
        ComposedCell(
            "a",
            interval,
            "Beta(2, 1), weights lognormal(.5), n 60",
            400,
            _weighted(lambda rng, n: rng.beta(2, 1, n), 2 / 3, 0.5, 60, True),
        ),
        ComposedCell(
            "a",
            interval,
            "lognormal(1), weights lognormal(.5), n 60",
            400,
            _weighted(_of_sigma(1), 1.0, 0.5, 60, False),
        ),
        ComposedCell(
            "a",
            interval,
            "lognormal(1), weights lognormal(.5), n 300",
            400,
            _weighted(_of_sigma(1), 1.0, 0.5, 300, False),
        ),
        ComposedCell(
            "a",
            interval,
            "lognormal(1) in 30 clusters, weights lognormal(.5)",
            400,
            _weighted_clusters(30),
        ),
        ComposedCell(
            "a",
            interval,
            "normal, weights lognormal(.5), n 60",
            400,
            _weighted(_normal, 1.0, 0.5, 60, False),
        ),
        ComposedCell(
            "a",
            interval,
            "normal, weights lognormal(1), n 300",
            400,
            _weighted(_normal, 1.0, 1, 300, False),
        ),
        ComposedCell(
            "a",
            interval,
            "lognormal(1) less normal, weights lognormal(.5), n 60",
            400,
            _weighted_pair(0.5, 60),
        ),
        ComposedCell(
            "a",
            interval,
            "lognormal(1) less normal, weights lognormal(.5), n 300",
            400,
            _weighted_pair(0.5, 300),
        ),
        *(
            ComposedCell(
                "b", figure, name, 300, _pairs(kind, n, figure), figure == "power"
            )
            for kind, n, name, figures in (
                (
                    "equal",
                    60,
                    "three lognormal(1), three normal, n 60",
                    ("step-down", "Holm", "joint rank sets", "simultaneous"),
                ),
                (
                    "equal",
                    200,
                    "the same, n 200",
                    ("step-down", "Holm", "joint rank sets", "simultaneous"),
                ),
                (
                    "equal",
                    -30,
                    "the same in 30 clusters of unequal size",
                    ("step-down", "simultaneous"),
                ),
                (
                    "equal",
                    -100,
                    "the same in 100 clusters of unequal size",
                    ("step-down", "simultaneous"),
                ),
                ("normal", 60, "six normal, n 60", ("step-down", "simultaneous")),
                ("normal", 200, "six normal, n 200", ("step-down", "simultaneous")),
                (
                    "unequal",
                    60,
                    "three lognormal(1), three normal better by .3, n 60",
                    ("power",),
                ),
                ("unequal", 200, "the same, n 200", ("power",)),
            )
            for figure in figures
        ),
        ComposedCell(
            "b", "step-down", "four normal, 4 clusters", 400, _few_clusters(4, "size")
        ),
        ComposedCell(
            "b", "step-down", "four normal, 5 clusters", 400, _few_clusters(5, "size")
        ),
        ComposedCell(
            "b",
            "power",
            "three normal, one better by 6, 5 clusters",
            400,
            _few_clusters(5, "power"),
            True,
        ),
        ComposedCell(
            "c",
            interval,
            "2 benchmarks, lognormal(1), n 30",
            1000,
            _suite(_of_sigma(1), 30, 2),
        ),
        ComposedCell(
            "c",
            interval,
            "5 benchmarks, lognormal(1), n 30",
            1000,
            _suite(_of_sigma(1), 30, 5),
        ),
        ComposedCell(
            "c",
            interval,
            "3 benchmarks, lognormal(1.5), n 100",
            1000,
            _suite(_of_sigma(1.5), 100, 3),
        ),
        ComposedCell(
            "c",
            interval,
            "1 benchmark, lognormal(1), n 30",
            1000,
            _suite(_of_sigma(1), 30, 1),
        ),
        ComposedCell(
            "c",
            interval,
            "2 benchmarks, lognormal(1) in 20 clusters",
            1000,
            _suite_clusters(20),
        ),
        ComposedCell(
            "c", interval, "2 benchmarks, normal, n 30", 1000, _suite(_normal, 30, 2)
        ),
        ComposedCell(
            "c",
            test,
            "2 benchmarks, lognormal(1) and normal, n 30",
            1000,
            _suite_test(30, 2),
        ),
        ComposedCell(
            "c",
            test,
            "5 benchmarks, lognormal(1) and normal, n 30",
            1000,
            _suite_test(30, 5),
        ),
        ComposedCell(
            "c",
            interval,
            "difference over 2 benchmarks, lognormal(1) less normal, n 30",
            1000,
            _overall(30, 2),
        ),
        ComposedCell(
            "c",
            interval,
            "difference over 5 benchmarks, lognormal(1) less normal, n 30",
            1000,
            _overall(30, 5),
        ),
        ComposedCell(
            "c",
            interval,
            "6 clusters, .95, beside 1 000 prompts, .9",
            1000,
            _few_beside_many(6, 20, 0.95, 1000),
        ),
        ComposedCell(
            "c",
            interval,
            "100 clusters, .95, beside 1 000 prompts, .9",
            1000,
            _few_beside_many(100, 5, 0.95, 1000),
        ),
        ComposedCell(
            "d",
            "shown cheaper at equal cost",
            "σ 1 and .3, n 100",
            1000,
            _cheaper(1, 0.3, 100, 1),
        ),
        ComposedCell(
            "d",
            "shown cheaper at equal cost",
            "σ .3 and 1, n 100",
            1000,
            _cheaper(0.3, 1, 100, 1),
        ),
        ComposedCell(
            "d",
            "shown cheaper at equal cost",
            "σ 1 and 1, n 100",
            1000,
            _cheaper(1, 1, 100, 1),
        ),
        ComposedCell(
            "d",
            "shown cheaper at equal cost",
            "σ 1.5 and .3, n 500",
            1000,
            _cheaper(1.5, 0.3, 500, 1),
        ),
        ComposedCell(
            "d",
            "shown cheaper at equal cost",
            "σ 2 and .3, n 500",
            1000,
            _cheaper(2, 0.3, 500, 1),
        ),
        ComposedCell(
            "d",
            "power",
            "2 times cheaper, σ 1 and .3, n 100",
            1000,
            _cheaper(1, 0.3, 100, 2),
            True,
        ),
        ComposedCell(
            "d",
            "power",
            "20 times cheaper, σ 1 and .3, n 100",
            1000,
            _cheaper(1, 0.3, 100, 20),
            True,
        ),
        ComposedCell(
            "d",
            "power",
            "20 times cheaper, σ 2 and .3, n 500",
            1000,
            _cheaper(2, 0.3, 500, 20),
            True,
        ),
        *(
            ComposedCell(
                "d", interval, f"mean cost, σ 1.5, n {n}", 600, _mean_cost(1.5, n)
            )
            for n in (100, 500, 2000)
        ),
        *(
            ComposedCell(
                "d",
                interval,
                f"ratio of costs, σ 1.5 and .5, n {n}",
                600,
                _cost_ratio(1.5, n),
            )
            for n in (100, 500, 2000)
        ),
        ComposedCell(
            "e",
            "flat curves rise",
            "5 seeds, a common path (AR .8)",
            500,
            _rise(5, 1, 0.5, 0.8, 0),
        ),
        ComposedCell(
            "e",
            "flat curves rise",
            "10 seeds, a common path (AR .8)",
            500,
            _rise(10, 1, 0.5, 0.8, 0),
        ),
        ComposedCell(
            "e",
            "flat curves rise",
            "10 seeds, common white noise",
            500,
            _rise(10, 1, 1, 0.0, 0),
        ),
        ComposedCell(
            "e",
            "flat curves rise",
            "5 seeds, each its own noise",
            500,
            _rise(5, 0, 1, 0.0, 0),
        ),
        ComposedCell(
            "e",
            "power",
            "5 seeds, each its own noise, a rise of .05",
            500,
            _rise(5, 0, 1, 0.0, 0.05),
            True,
        ),
        ComposedCell(
            "e",
            "power",
            "10 seeds, each its own noise, a rise of .03",
            500,
            _rise(10, 0, 1, 0.0, 0.03),
            True,
        ),
        *(
            ComposedCell(
                "f",
                f"{measure} misses",
                f"{n} units, {positives:.0%} positive, {agreed:.1%} agree",
                600,
                _agreement(measure, n, positives, agreed),
            )
            for n, positives, agreed in (
                (60, 0.03, 0.97),
                (100, 0.5, 0.995),
                (200, 0.5, 0.98),
                (200, 0.1, 0.9),
            )
            for measure in ("agreement", "kappa", "alpha_nominal")
        ),
        ComposedCell(
            "g",
            interval,
            "ratings, nine in ten the best, 100 labels",
            600,
            _corrected("ratings", 100),
        ),
        ComposedCell(
            "g", interval, "lognormal(1), 50 labels", 600, _corrected("lognormal", 50)
        ),
        ComposedCell(
            "g", interval, "lognormal(1), 200 labels", 600, _corrected("lognormal", 200)
        ),
        ComposedCell("g", interval, "normal, 50 labels", 600, _corrected("normal", 50)),
        ComposedCell(
            "g",
            interval,
            "difference of ratings, 200 labels",
            600,
            _corrected_difference(200),
        ),
        ComposedCell(
            "h", interval, "lognormal(1), 50 of 2 000", 600, _subset("lognormal", 50)
        ),
        ComposedCell(
            "h", interval, "lognormal(1), 200 of 2 000", 600, _subset("lognormal", 200)
        ),
        ComposedCell("h", interval, "normal, 50 of 2 000", 600, _subset("normal", 50)),
        *(
            ComposedCell(
                "i",
                interval,
                f"{t} templates, sd 1, p {rate:g}",
                1000,
                _templates(t, 1.0, rate),
            )
            for t in (5, 8)
            for rate in (0.5, 0.8)
        ),
        ComposedCell(
            "i", interval, "10 templates, sd .1, p .5", 1000, _templates(10, 0.1, 0.5)
        ),
        ComposedCell(
            "i", interval, "3 templates, sd .5, p .9", 1000, _templates(3, 0.5, 0.9)
        ),
        *(
            ComposedCell(
                "i",
                interval,
                f"published: {models} models × {count} templates",
                500,
                ask,
            )
            for models, count, ask in (
                (3, 3, _published(3, 3, 0.05, 0.02)),
                (5, 4, _published(5, 4, 0.05, 0.02)),
                (4, 15, _published(4, 15, 0.08, 0.08)),
            )
        ),
        *composed_more.cells(),
    ]
