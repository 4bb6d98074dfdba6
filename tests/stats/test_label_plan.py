"""How many labels (statistics.md §16)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats.judges.plan import label_pilot, plan_labels, target_error


@pytest.mark.parametrize(
    ("n_units", "sd", "rho", "width"),
    [(1000, 0.5, 0.8, 0.1), (500, 0.4, 0.3, 0.15), (90, 1.2, 0.0, 0.7)],
)
def test_the_number_is_the_smallest_whose_variance_will_do(
    n_units: int, sd: float, rho: float, width: float
) -> None:
    error = target_error(width=width)
    assert error == pytest.approx(width / (2 * stats.norm.ppf(0.975)))
    variance = [
        sd**2 * ((1 - rho**2) / n + rho**2 / n_units) for n in range(1, n_units + 1)
    ]
    needed = 1 + next(n for n, v in enumerate(variance) if v <= error**2)
    plan = plan_labels(n_units, sd, rho**2, error)
    assert plan.n_labels == needed
    assert plan.n_labels_alone == math.ceil(sd**2 / error**2)


def test_no_number_where_not_even_all_answers_suffice() -> None:
    plan = plan_labels(100, 0.5, 0.64, target_error(width=0.1))
    assert (plan.n_labels, plan.n_labels_alone, plan.saved) == (None, None, None)
    assert "all 100 answers labelled leave a standard error of 0.05" in plan.reason


def test_a_judge_saves_nothing_below_twenty_labels() -> None:
    plan = plan_labels(10_000, 0.5, 0.9, target_error(width=0.3))
    assert (plan.n_labels, plan.n_labels_alone, plan.flags) == (20, 43, ("few_labels",))
    assert plan_labels(10_000, 0.5, 0.04, 0.02).flags == ("weak_judge",)


def test_a_difference_is_found_with_its_power() -> None:
    error = target_error(difference=0.05, power=0.9)
    assert stats.norm.sf(stats.norm.ppf(0.975) - 0.05 / error) == pytest.approx(0.9)
    for wrong in (
        {},
        {"width": 0.1, "difference": 0.1},
        {"width": 0.0},
        {"difference": 0.1, "power": 1.0},
    ):
        with pytest.raises(StatisticsError):
            target_error(**wrong)


def test_the_pilot_is_a_correlation_with_a_jackknife_over_clusters() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), 4)
    h = rng.normal(size=120) + rng.normal(size=30)[clusters]
    g = 0.5 * h + rng.normal(size=120)
    pilot = label_pilot(h, g, clusters=clusters)
    rho = np.corrcoef(h, g)[0, 1]
    assert (pilot.correlation, pilot.sd) == (
        pytest.approx(rho),
        pytest.approx(h.std(ddof=1)),
    )
    left = np.arctanh(
        [np.corrcoef(h[clusters != c], g[clusters != c])[0, 1] for c in range(30)]
    )
    half = stats.t.ppf(0.975, 29) * math.sqrt(
        29 / 30 * ((left - left.mean()) ** 2).sum()
    )
    assert (pilot.low, pilot.high) == pytest.approx(
        tuple(np.tanh(np.arctanh(rho) + np.array([-half, half])))
    )
    assert pilot.reduction == pytest.approx(rho**2)  # the slope is inside [0, 1]


def test_a_pilot_says_why_it_says_nothing() -> None:
    assert "10" in label_pilot([1, 0, 1], [1, 0, 1]).reason
    assert label_pilot([1] * 12, [1, 0] * 6).reason == "all labels are equal"
    assert "alike" in label_pilot([1, 0] * 6, [1] * 12).reason
    against = label_pilot([1, 0] * 20, [0, 1] * 19 + [1, 0])
    assert (
        against.correlation is not None
        and against.correlation < 0
        and against.reduction == 0
    )
    rare = label_pilot([1] * 3 + [0] * 97, [1] * 2 + [0] * 98)
    assert rare.correlation is not None and rare.low is None
