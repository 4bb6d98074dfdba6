"""Spreads over seeds on other benchmarks: limma's moments worked out anew, published
spreads, simulated coverage."""

from __future__ import annotations

import csv
import importlib
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from warehouse.analysis.training.pools import published_spreads
from warehouse.errors import StatisticsError
from warehouse.stats.training.curve_tests import monotonicity_spearman, relative_spread
from warehouse.stats.training.noise_floor import (
    noise_only_above,
    seed_pool,
    weigh_difference,
)
from warehouse.stats.training.seed_planning import decision_accuracy

ROOT = Path(__file__).resolve().parents[2]


def limma(s: np.ndarray, nu: np.ndarray) -> tuple[float, float]:
    """d0 and s0 of ``fitFDist``, by root finding in place of our bisection."""
    e = np.log(s**2) - special.digamma(nu / 2) + np.log(nu / 2)
    left = e.var(ddof=1) - special.polygamma(1, nu / 2).mean()
    if left <= 0:
        return math.inf, math.exp(e.mean() / 2)
    d0 = 2 * optimize.brentq(
        lambda x: special.polygamma(1, x) - left, 1e-6, 1e9, xtol=1e-14
    )
    return d0, math.exp((e.mean() + special.digamma(d0 / 2) - math.log(d0 / 2)) / 2)


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_the_prior_is_that_of_limma(spread: float) -> None:
    dice = np.random.default_rng(5)
    nu = dice.integers(2, 12, 20).astype(float)
    s = np.exp(dice.normal(-4, spread, 20)) * np.sqrt(dice.chisquare(nu) / nu)
    pool, (d0, s0) = seed_pool(s, nu), limma(s, nu)
    assert pool.prior_degrees_of_freedom == pytest.approx(d0, rel=1e-9)
    assert pool.standard_deviation == pytest.approx(s0, rel=1e-9)
    assert pool.degrees_of_freedom == pytest.approx(min(d0, 19))
    own = pool.with_own(0.01, 9)
    assert own is not None and pool.degrees_of_freedom is not None
    squeezed = (pool.degrees_of_freedom * s0**2 + 9 * 0.01**2) / (
        pool.degrees_of_freedom + 9
    )
    assert own == (
        pytest.approx(math.sqrt(squeezed)),
        pytest.approx(pool.degrees_of_freedom + 9),
    )


def test_two_benchmarks_are_no_pool_and_equal_seeds_are_none() -> None:
    pool = seed_pool([0.01, 0.0, 0.02], [4, 4, 4])
    assert (
        pool.n,
        pool.standard_deviation,
        pool.degrees_of_freedom,
        pool.with_own(0.1, 3),
    ) == (2, None, None, None)
    assert (
        pool.quantiles[2] == pytest.approx(0.015)
        and seed_pool([0.0], [4]).quantiles == ()
    )
    with pytest.raises(StatisticsError, match="standard deviations"):
        seed_pool([0.1, -0.1], [4, 4])


def test_a_difference_is_weighed() -> None:
    found = weigh_difference(-0.03, 0.01, 6, 2, 3)
    error = 0.01 * math.sqrt(1 / 2 + 1 / 3)
    assert found.p_wrong_sign == pytest.approx(stats.t.cdf(-0.03 / error, 6))
    assert (
        found.ci_high == pytest.approx(-0.03 + stats.t.ppf(0.975, 6) * error)
        and found.word == "decides"
    )
    assert noise_only_above(-0.03, 2, 3) == pytest.approx(
        0.03 / (stats.norm.ppf(0.975) * math.sqrt(5 / 6))
    )
    assert [
        weigh_difference(gap, 0.01, math.inf).word for gap in (0.0, 0.01, 0.02, 0.03)
    ] == [*("cannot tell", "cannot tell", "leans", "decides")]
    assert weigh_difference(0.0, 0.01, 4).p_wrong_sign == 0.5
    with pytest.raises(StatisticsError, match="out of range"):
        weigh_difference(0.1, -1, 4)


def test_published_spreads_of_hans(data_dir: Path) -> None:
    """statistics.md 12b: quantiles of its columns, and an interval for a column left
    out that covers .963."""
    path = data_dir / "hans_bert_100_seeds" / "berts_of_a_feather_accuracies_by_run.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    x = np.array(
        [
            [float(cell) for cell in row[1:39]]
            for row in rows
            if row[0].startswith("Run ")
        ]
    )
    sd = dict(zip(header[1:39], x.std(axis=0, ddof=1), strict=True))
    assert sd["MNLI dev acc."] == pytest.approx(0.00242, abs=5e-6)
    assert sd["Overall accuracy"] == pytest.approx(0.023554, abs=5e-7)
    assert sd["Lexical (nonent)"] == pytest.approx(0.123643, abs=5e-7)
    kept = np.array([value for value in sd.values() if value > 0.002])
    found = seed_pool(kept, np.full(len(kept), 99))
    assert found.n == 32
    assert found.quantiles == pytest.approx(
        (0.0041, 0.0062, 0.0193, 0.0536, 0.1617), abs=5e-5
    )
    dice, columns, covered = (
        np.random.default_rng(0),
        np.flatnonzero(x.std(axis=0, ddof=1) > 0.002),
        [],
    )
    for _ in range(600):
        column, order = dice.choice(columns), dice.permutation(100)
        others = x[order[:5]][:, columns[columns != column]].std(axis=0, ddof=1)
        pool = seed_pool(others, np.full(len(others), 4))
        assert (
            pool.standard_deviation is not None and pool.degrees_of_freedom is not None
        )
        gap = x[order[5], column] - x[order[6], column]
        covered.append(
            abs(gap)
            <= weigh_difference(
                gap, pool.standard_deviation, pool.degrees_of_freedom
            ).floor
        )
    assert np.mean(covered) == pytest.approx(0.963, abs=0.025)


def test_shipped_spreads_are_those_of_the_paper() -> None:
    spreads = published_spreads()
    assert len(spreads) == 14 and {one.degrees_of_freedom for one in spreads} == {9.0}
    by_name = {name: one.standard_deviation for one in spreads for name in one.names}
    assert (by_name["hellaswag"], by_name["arcc"], by_name["copa"], by_name["bbh"]) == (
        0.0012,
        0.0087,
        0.0204,
        0.0087,
    )


def test_words_and_ties_of_an_accuracy() -> None:
    order = np.arange(30.0)
    assert decision_accuracy(order, order).word == "decides"
    dice = np.random.default_rng(2)
    mixed = decision_accuracy(order + dice.normal(0, 12, 30), order)
    assert (
        mixed.word == "better than chance"
        and mixed.ci_low is not None
        and 0.5 < mixed.ci_low < 0.8
    )
    assert decision_accuracy(-order, order).word == "cannot decide"
    tied = decision_accuracy([1, 1, 2, 3, 4, 5, 6], [1, 2, 2, 4, 3, 6, 7])
    assert (tied.n_pairs, tied.ties_large, tied.ties_small, tied.agreements) == (
        20,
        1,
        1,
        18,
    )
    assert (
        tied.accuracy == pytest.approx(18.5 / 20) and tied.recipes_to_settle is not None
    )
    whole = decision_accuracy(range(6), range(6))
    assert (whole.accuracy, whole.ci_high, whole.word) == (1.0, 1.0, "cannot tell")


def test_spearman_and_the_last_five() -> None:
    x = np.array([0.1, 0.3, 0.3, 0.2, 0.6, 0.5])
    assert monotonicity_spearman(x) == pytest.approx(
        stats.spearmanr(x, np.arange(6)).statistic
    )
    assert relative_spread(x) == pytest.approx(x[1:].std() / x[1:].mean())
    assert (
        monotonicity_spearman([0.5, 0.5]),
        relative_spread(x[:4]),
        relative_spread(np.zeros(5)),
    ) == (None,) * 3


def test_the_published_simulation_is_not_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    calibrate: Any = importlib.import_module("calibrate_training")
    sys.modules.pop("calibrate_training")
    with (ROOT / "docs" / "reference" / "calibration" / "training.csv").open(
        newline=""
    ) as table:
        rows = list(csv.reader(table))[1:]
    stored = {
        (part, setting, float(size), figure): float(value)
        for part, setting, size, figure, value in rows
    }
    monkeypatch.setattr(calibrate, "SIZES", (8,))
    monkeypatch.setattr(calibrate, "GAPS", (1.0,))
    monkeypatch.setattr(calibrate, "RECIPES", (15,))
    dice = np.random.default_rng(9)
    for part in (calibrate.coverage, calibrate.orders, calibrate.words):
        for row in part(dice, 300):
            if "noisiest" not in row.figure and "leans" not in row.figure:
                assert row.value == pytest.approx(stored[row[:4]], abs=0.09)
    for (part, setting, _, figure), value in stored.items():  # what is promised
        if part == "coverage" and figure.endswith("all"):
            assert 0.925 <= value <= 0.99
        if part == "accuracy" and (setting, figure) in (
            ("true accuracy 0.5", "better than chance"),
            ("true accuracy 0.6", "cannot decide"),
            ("true accuracy 0.8", "decides"),
        ):
            assert value <= 0.03
