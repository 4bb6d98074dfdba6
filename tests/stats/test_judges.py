"""Judges against people: ppi_py's formulas, published examples, scikit-learn, and what is no number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.judges.prediction import prediction_powered_difference, prediction_powered_mean

Floats = NDArray[np.float64]


def labelled(n_all: int, n: int, seed: int, *, noise: float = 0.2) -> tuple[Floats, Floats]:
    """0/1 labels of n of all units, and a judge's scores of all."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_all) < 0.6).astype(float)
    judge = np.where(rng.random(n_all) < noise, 1 - truth, truth)
    h = truth.copy()
    h[rng.permutation(n_all)[n:]] = np.nan
    return h, judge


def ppi(h: Floats, g: Floats, lam: float) -> float:
    """ppi_py's point estimate of a mean: labelled and other units, its own λ."""
    there = ~np.isnan(h)
    return float(np.mean(lam * g[~there]) + np.mean(h[there] - lam * g[there]))


@pytest.mark.parametrize("seed", range(5))
def test_the_estimate_is_that_of_ppi_py_at_its_own_weight(seed: int) -> None:
    h, g = labelled(500, 80, seed)
    figure = prediction_powered_mean(h, g)
    assert 0 < figure.weight <= 1
    assert figure.estimate == pytest.approx(ppi(h, g, figure.weight * (500 - 80) / 500), abs=1e-12)
    there = ~np.isnan(h)
    slope = np.cov(h[there], g[there])[0, 1] / g[there].var(ddof=1)
    assert figure.weight == pytest.approx(slope, abs=1e-12)
    # the variance of a sum of independent parts: labels' residuals, and the judge's mean over all
    e = h[there] - figure.weight * g[there]
    parts = e.var(ddof=2) / 80 + figure.weight**2 * g.var() / 500
    assert figure.standard_error == pytest.approx(math.sqrt(parts), rel=0.03)
    assert float(np.sum(figure.influence**2)) == pytest.approx(figure.standard_error**2)  # type: ignore[operator]


def test_one_stratum_and_equal_chances_are_a_simple_sample() -> None:
    h, g = labelled(400, 100, 1)
    plain = prediction_powered_mean(h, g)
    for same in ({"strata": np.zeros(400, int)}, {"probabilities": np.full(400, 0.25)}, {"clusters": np.arange(400)}):
        other = prediction_powered_mean(h, g, **same)  # type: ignore[arg-type]
        assert other.estimate == pytest.approx(plain.estimate, abs=1e-12)
        assert other.weight == pytest.approx(plain.weight, abs=1e-12)


def test_strata_add_up() -> None:
    h, g = labelled(300, 300, 2)
    of = np.repeat([0, 1, 2], 100)
    h[np.r_[30:100, 120:200, 260:300]] = np.nan
    figure = prediction_powered_mean(h, g, strata=of)
    means = [np.nanmean((h - figure.weight * g)[of == one]) for one in range(3)]
    assert figure.estimate == pytest.approx(np.mean(means) + figure.weight * g.mean(), abs=1e-12)
    assert figure.degrees_of_freedom == 30 + 20 + 60 - 3 - 1
    fixed = prediction_powered_mean(h, g, strata=of, prompts_fixed=True)
    assert fixed.estimate == pytest.approx(figure.estimate)
    assert fixed.standard_error < figure.standard_error  # type: ignore[operator]


def test_hajek_counts_a_label_for_what_it_stands_for() -> None:
    rng = np.random.default_rng(5)
    h, g = labelled(600, 600, 3)
    chance = np.where(g == 1, 0.4, 0.2)
    h[rng.random(600) > chance] = np.nan
    there = ~np.isnan(h)
    figure = prediction_powered_mean(h, g, probabilities=chance)
    e, weight = (h - figure.weight * g)[there], 1 / chance[there]
    assert figure.estimate == pytest.approx(weight @ e / weight.sum() + figure.weight * g.mean(), abs=1e-12)
    fixed = prediction_powered_mean(h, g, probabilities=chance, prompts_fixed=True)
    assert fixed.standard_error < figure.standard_error  # type: ignore[operator]


@pytest.mark.parametrize(
    ("n", "turn", "reason"),
    [(19, False, "fewer than 20 labels"), (60, True, "the judge's scores do not rise with the labels")],
)
def test_the_labels_stand_alone(n: int, turn: bool, reason: str) -> None:
    h, g = labelled(400, n, 4)
    figure = prediction_powered_mean(h, 1 - g if turn else g)
    assert "labels_only" in figure.flags
    assert figure.reason == reason
    assert (figure.estimate, figure.low) == (figure.label_mean, figure.label_low)
    assert figure.weight == 0
    assert ("judge_against_people" in figure.flags) is turn


def test_rare_labels_stand_alone() -> None:
    h = np.r_[np.zeros(56), np.ones(4), np.full(100, np.nan)]
    g = np.r_[np.zeros(50), np.ones(110)]
    assert prediction_powered_mean(h, g).reason == "fewer than 5 labels of one kind"


def test_a_judge_that_never_differs_and_one_label() -> None:
    h, _ = labelled(100, 40, 6)
    constant = prediction_powered_mean(h, np.ones(100))
    assert (constant.weight, constant.correlation) == (0, None)
    one = prediction_powered_mean(np.r_[1.0, np.full(9, np.nan)], np.ones(10))
    assert one.standard_error is None
    with pytest.raises(StatisticsError, match="no unit has a label"):
        prediction_powered_mean(np.full(9, np.nan), np.ones(9))


def test_a_label_that_was_too_unlikely_is_refused() -> None:
    h, g = labelled(100, 50, 7)
    with pytest.raises(StatisticsError, match="too|unlikely"):
        prediction_powered_mean(h, g, probabilities=np.r_[0.001, np.full(99, 0.5)])


def test_a_difference_is_the_mean_of_differences() -> None:
    h_a, g_a = labelled(400, 120, 8)
    h_b, g_b = labelled(400, 400, 9)
    h_b[np.isnan(h_a)] = np.nan
    figure = prediction_powered_difference(h_a, h_b, g_a, g_b)
    mean = prediction_powered_mean(h_a - h_b, g_a - g_b)
    assert figure.estimate == pytest.approx(mean.estimate, abs=1e-12)
    assert figure.method == "prediction_powered_t"
    turned = prediction_powered_difference(h_b, h_a, g_b, g_a)
    assert turned.estimate == pytest.approx(-figure.estimate, abs=1e-12)
    assert turned.p_value == pytest.approx(figure.p_value)


def test_models_that_differ_on_few_labelled_prompts() -> None:
    h_a, g_a = labelled(400, 60, 10)
    h_b = h_a.copy()
    first = np.flatnonzero(h_a == 1)[:9]
    h_b[first] = 0
    figure = prediction_powered_difference(h_a, h_b, g_a, g_a)
    assert figure.flags[-1] == "few_differing"
    assert figure.n_differing == 9
    assert figure.mcnemar_p == pytest.approx(2 * 0.5**9)


def test_clusters_widen_what_hangs_together() -> None:
    rng = np.random.default_rng(11)
    effect = rng.normal(size=40).repeat(10)
    truth = effect + rng.normal(size=400)
    g = truth + rng.normal(size=400)
    h = np.where(rng.random(400) < 0.5, truth, np.nan)
    plain = prediction_powered_mean(h, g)
    clustered = prediction_powered_mean(h, g, clusters=np.arange(400) // 10)
    assert clustered.standard_error > 1.3 * plain.standard_error  # type: ignore[operator]
    assert clustered.degrees_of_freedom <= 39  # type: ignore[operator]
    assert clustered.n_clusters == 40


def test_what_is_written_of_a_figure_has_no_arrays() -> None:
    h, g = labelled(100, 40, 12)
    written: dict[str, Any] = prediction_powered_mean(h, g).to_dict()
    assert "influence" not in written
