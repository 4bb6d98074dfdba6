"""Stored confidence against right answers: scikit-learn, slow definitions, numbers of
an independent program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics as sklearn_metrics

from warehouse.errors import StatisticsError
from warehouse.stats import (
    aurc,
    auroc,
    calibration_error,
    confidence_metrics,
    paired_difference,
)
from warehouse.stats.confidence.ranking import _risk

Floats = NDArray[np.float64]
SAID = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.55, 0.5, 0.3]
RIGHT = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0]


def golden(value: float) -> object:
    """Equal at the digits that the golden has."""
    return pytest.approx(value, rel=5e-9, abs=6e-11)


def answers(n: int, seed: int, *, rounded: bool = True) -> tuple[Floats, Floats]:
    """Confidence, of few values where it is rounded, and right answers."""
    rng = np.random.default_rng(seed)
    said = rng.beta(4, 2, n)
    right = (rng.random(n) < said**1.5).astype(float)
    return np.round(said, 1) if rounded else said, right


def test_the_numbers_of_another_program() -> None:
    found = confidence_metrics(SAID, RIGHT)
    ranking = found.auroc
    assert ranking.estimate == golden(0.7083333333)
    assert ranking.standard_error == golden(0.1857168294)
    assert ranking.n_effective == golden(2.271935348)
    assert (ranking.ci_low, ranking.ci_high) == (
        golden(0.1940744804),
        golden(0.960772353),
    )
    assert found.aurc.estimate == golden(0.2510714286)
    assert found.aurc.standard_error == golden(0.1769654755)
    assert found.aurc.flags == ("few_errors",)
    assert found.calibration.estimate == golden(0.2)
    assert found.calibration.calibrated_mean == pytest.approx(0.272, abs=0.003)
    assert found.calibration.calibrated_95 == golden(0.4)
    assert found.calibration.p_value == pytest.approx(0.85, abs=0.01)
    assert found.brier.estimate == golden(0.213)


@pytest.mark.parametrize("rounded", [True, False])
def test_scikit_learn_gives_the_same_values(rounded: bool) -> None:
    said, right = answers(200, 1, rounded=rounded)
    said = np.clip(said, 0.01, 0.99)
    found = confidence_metrics(said, right)
    assert found.auroc.estimate == golden(sklearn_metrics.roc_auc_score(right, said))
    assert found.brier.estimate == golden(sklearn_metrics.brier_score_loss(right, said))
    assert found.log_loss is not None
    assert found.log_loss.estimate == golden(sklearn_metrics.log_loss(right, said))
    difference = paired_difference(said, right, bounds=(0, 1))
    assert found.overconfidence.difference == golden(said.mean() - right.mean())
    assert found.overconfidence.ci_low == difference.ci_low


def test_delongs_variance_by_all_pairs() -> None:
    said, right = answers(80, 2)
    high, low = said[right == 1], said[right == 0]
    wins = (high[:, None] > low[None, :]) + 0.5 * (high[:, None] == low[None, :])
    variance = wins.mean(axis=1).var(ddof=1) / len(high)
    variance += wins.mean(axis=0).var(ddof=1) / len(low)
    found = auroc(said, right)
    assert found.estimate == golden(wins.mean())
    assert found.standard_error == golden(np.sqrt(variance))


def slow_aurc(said: Floats, wrong: Floats) -> float:
    """The mean, over all orders of ties of a few prompts, of the mean error rate."""
    tied = np.array([wrong[said == c].mean() for c in said])
    order = np.argsort(-said, kind="stable")
    ranks = np.arange(1, len(said) + 1)
    return float((np.cumsum(tied[order]) / ranks).mean())


@pytest.mark.parametrize("rounded", [True, False])
def test_the_area_and_its_jackknife_by_their_definition(rounded: bool) -> None:
    said, right = answers(40, 3, rounded=rounded)
    found = aurc(said, right)
    assert found.estimate == golden(slow_aurc(said, 1 - right))
    order = np.argsort(-said, kind="stable")
    without = [slow_aurc(np.delete(said, i), np.delete(1 - right, i)) for i in order]
    assert _risk(said, 1 - right)[1] == pytest.approx(np.array(without))
    squares = ((np.array(without) - np.mean(without)) ** 2).sum()
    assert found.standard_error == golden(np.sqrt(39 / 40 * squares))


def test_of_few_prompts_all_answers_give_the_error_were_they_calibrated() -> None:
    said = np.array([0.2, 0.25, 0.6, 0.65, 0.9])
    right = np.array([1, 0, 1, 1, 1])
    found = calibration_error(said, right, n_draws=40_000)
    mean = larger = 0.0
    for drawn in itertools.product([0, 1], repeat=5):
        chance = np.prod(np.where(np.array(drawn) == 1, said, 1 - said))
        error = calibration_error(said, drawn, n_draws=1).estimate
        mean += chance * error
        larger += chance * (error >= found.estimate - 1e-12)
    assert found.calibrated_mean == pytest.approx(mean, abs=0.004)
    assert found.p_value == pytest.approx(larger, abs=0.01)


def test_a_confidence_on_an_edge_belongs_to_the_upper_bin() -> None:
    # .3 and .35 share a bin: said .325, right .5
    assert calibration_error([0.3, 0.35], [1, 0]).estimate == golden(0.175)
    assert calibration_error([0.95, 1.0], [1, 1]).estimate == golden(0.025)


def test_what_is_no_number() -> None:
    assert auroc([0.5, 0.6], [1, 1]).reason == "one_side_only"
    assert auroc([0.5, 0.6], [1, 1]).estimate is None
    equal = auroc([0.5] * 6, [1, 0] * 3)
    assert (equal.estimate, equal.ci_low, equal.reason) == (
        0.5,
        None,
        "confidence_all_equal",
    )
    single = auroc([0.5, 0.6, 0.7], [1, 0, 1])
    assert single.estimate == 0.5 and single.ci_low is None
    clustered = confidence_metrics(SAID, RIGHT, clusters=list("aabbccddee"))
    assert clustered.auroc.reason == clustered.aurc.reason == "clustered"
    assert clustered.auroc.ci_low is None and clustered.calibration.p_value is None
    assert confidence_metrics([1.0, 0.5, 0.2], [0, 1, 0]).log_loss is None
    with pytest.raises(StatisticsError, match="`right` must hold 0 and 1"):
        auroc([0.5], [0.5])
    with pytest.raises(StatisticsError, match="outside the `bounds`"):
        auroc([50.0, 20.0], [1, 0])


@pytest.mark.parametrize("metric", [auroc, aurc])
def test_perfect_ranking_has_no_bare_zero_error(metric: object) -> None:
    said = np.linspace(0.05, 0.95, 20)
    found = metric(said, (said > 0.5).astype(float))  # type: ignore[operator]
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_low < found.estimate or found.ci_high > found.estimate


@pytest.mark.slow
@pytest.mark.parametrize(("n_wrong", "shift"), [(5, 1.5), (30, 0.8)])
def test_an_auroc_is_covered(n_wrong: int, shift: float) -> None:
    """Normal confidence; DeLong's z covers .63 to .95."""
    from scipy.stats import norm

    rng = np.random.default_rng(9)
    true = norm.cdf(shift / np.sqrt(2))
    covered = 0
    for _ in range(1500):
        z = np.append(rng.normal(shift, 1, 100), rng.normal(0, 1, n_wrong))
        found = auroc(norm.cdf(z), [1] * 100 + [0] * n_wrong)
        covered += (found.ci_low or 0) <= true <= (found.ci_high or 1)
    assert covered / 1500 >= 0.935
