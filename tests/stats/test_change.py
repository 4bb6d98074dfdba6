"""Has a figure moved by more than its errors allow? Against Welch's test, and its exact
level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from warehouse.stats import estimate_mean
from warehouse.stats.paired.change import ReportedFigure, change_p_value


def figure(
    scores: np.ndarray, level: float = 0.95, **options: object
) -> ReportedFigure:
    found = estimate_mean(scores, level=level, **options)  # type: ignore[arg-type]
    units = found.n_clusters if found.n_clusters is not None else len(scores)
    return ReportedFigure(
        found.estimate, found.standard_error, found.ci_low, found.ci_high, level, units
    )


@pytest.mark.parametrize("level", [0.9, 0.99])
@pytest.mark.parametrize(("n", "m"), [(5, 5), (8, 40), (300, 250)])
def test_with_t_intervals_it_is_welchs_test(n: int, m: int, level: float) -> None:
    dice = np.random.default_rng(n + m)
    first, second = dice.normal(0, 1, n), dice.normal(0.4, 2, m)
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    found = change_p_value(
        figure(first, level, method="t"), figure(second, level, method="t")
    )
    assert found == pytest.approx(expected, rel=1e-10)


def test_without_units_and_intervals_it_is_the_normal_test() -> None:
    old, new = (ReportedFigure(one, 0.03, None, None, 0.95, None) for one in (0.5, 0.6))
    z = 0.1 / np.hypot(0.03, 0.03)
    assert change_p_value(old, new) == pytest.approx(2 * stats.norm.sf(z), rel=1e-12)


def test_where_no_error_is_known_nothing_is_tested() -> None:
    told = ReportedFigure(0.5, 0.1, 0.3, 0.7, 0.95, 30)
    for unknown in (
        ReportedFigure(0.9, None, None, None, 0.95, 30),
        ReportedFigure(0.9, 0.1, 0.7, 1.0, 0.95, 1),
    ):
        assert change_p_value(told, unknown) is None
        assert change_p_value(unknown, told) is None
    flat = ReportedFigure(0.9, 0.0, None, None, 0.95, 30)
    assert change_p_value(flat, ReportedFigure(0.8, 0.0, None, None, 0.95, 30)) is None
    t = (0.9 - 0.5) / 0.1  # the interval is narrower than the standard error says
    assert change_p_value(told, flat) == pytest.approx(2 * stats.t.sf(t, 29), rel=1e-10)


def test_a_collapse_without_spread_is_seen() -> None:
    """All right, then all wrong: both standard errors are 0."""
    for n, least in ((5, 1e-9), (50, 0.0)):
        p = change_p_value(
            figure(np.ones(n), bounds=(0.0, 1.0)),
            figure(np.zeros(n), bounds=(0.0, 1.0)),
        )
        assert p is not None and least < p < 0.01


@given(st.integers(0, 30), st.integers(0, 30))
def test_there_and_back_are_one_distance(first: int, second: int) -> None:
    one, other = (
        figure(np.repeat([1.0, 0.0], (k, 30 - k)), bounds=(0.0, 1.0))
        for k in (first, second)
    )
    p = change_p_value(one, other)
    assert p == pytest.approx(change_p_value(other, one), rel=1e-12)
    assert p is not None and 0 <= p <= 1
    assert (p == 1) == (first == second)


@pytest.mark.parametrize("n", [10, 30, 100])
def test_the_exact_chance_of_a_false_alarm(n: int) -> None:
    """Every pair of counts of two binomials with one probability, at sizes as Holm asks
    for them: at most 1.2 times the size (counts are discrete), for any probability."""
    counts = np.arange(n + 1)
    figures = [
        figure(np.repeat([1.0, 0.0], (k, n - k)), bounds=(0.0, 1.0)) for k in counts
    ]
    p = np.array(
        [[change_p_value(one, other) for other in figures] for one in figures], float
    )
    for chance in (0.5, 0.7, 0.9, 0.97, 0.995):
        weights = stats.binom.pmf(counts, n, chance)
        for size in (0.05, 0.01, 0.05 / 20, 0.05 / 100):
            level = np.outer(weights, weights)[p <= size].sum()
            assert level <= 1.2 * size, (chance, size, level / size)
