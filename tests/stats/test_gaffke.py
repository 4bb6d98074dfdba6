"""Gaffke's interval against closed forms, simulation, Clopper–Pearson and its own
definition."""

from __future__ import annotations

import time
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from warehouse.errors import StatisticsError
from warehouse.stats import estimate_mean, interval_clopper_pearson, interval_gaffke

RARE = [0.0] * 10 + [0.02, 0.05, 0.6]


def test_g18() -> None:
    found = interval_gaffke([0.1, 0.4, 0, 0.9, 0.3])
    assert (found.low, found.high) == pytest.approx(
        (0.0943963114489, 0.743561117192), abs=1e-12
    )
    found = interval_gaffke(RARE)
    assert (found.low, found.high) == pytest.approx(
        (0.00493261883597, 0.301734697232), abs=1e-12
    )


def exact_cdf(points: Any, t: float) -> float:
    """P(Σ D_i x_i ≤ t) of distinct points by partial fractions, in 500 digits."""
    with localcontext() as context:
        context.prec = 500
        x, at = [Decimal(float(p)) for p in points], Decimal(t)
        above = Decimal(0)
        for i, largest in enumerate(x):
            if largest > at:
                product = Decimal(1)
                for j, other in enumerate(x):
                    product *= largest - other if j != i else 1
                above += (largest - at) ** (len(x) - 1) / product
        return float(1 - above)


@pytest.mark.parametrize("n", [1, 2, 3, 9, 16, 17, 60])
@pytest.mark.parametrize("kind", ["even", "rare", "close", "high", "powers"])
def test_both_ends_are_quantiles_to_all_digits(n: int, kind: str) -> None:
    rng = np.random.default_rng([n, len(kind)])
    x = {
        "even": rng.random(n),
        "rare": np.where(rng.random(n) < 0.1, rng.random(n), rng.random(n) * 1e-4),
        "close": 0.5 + 1e-5 * rng.random(n),
        "high": 0.999 - 0.1 * rng.beta(0.5, 3, n),
        "powers": rng.random(n) ** 20,
    }[kind]
    for level in (0.8, 0.95, 0.9999):
        found, tail = interval_gaffke(x, level=level), (1 - level) / 2
        assert exact_cdf([*x, 0.0], found.low) == pytest.approx(tail, rel=1e-9)
        assert 1 - exact_cdf([*x, 1.0], found.high) == pytest.approx(tail, rel=1e-9)


def test_repeated_scores_against_the_integral_of_the_definition() -> None:
    """Gil-Pelaez by scipy's quad, and two million Dirichlet draws."""
    found = interval_gaffke(RARE)
    for end, bound, sign in ((found.low, 0.0, 1), (found.high, 1.0, -1)):
        a = sign * (np.array([*RARE, bound]) - end)
        a /= np.linalg.norm(a)

        def integrand(u: float, a: Any = a) -> float:
            return float(
                np.sin(np.arctan(a * u).sum()) / u / np.sqrt(np.prod(1 + (a * u) ** 2))
            )

        area = integrate.quad(integrand, 0, 400, limit=2000, epsabs=1e-11)[0]
        assert 0.5 - area / np.pi == pytest.approx(0.025, abs=1e-8)
    rng = np.random.default_rng(1)
    weights = rng.standard_exponential((400_000, len(RARE) + 1))
    weights /= weights.sum(axis=1)[:, None]
    low = np.mean(weights @ [*RARE, 0.0] <= found.low)
    high = np.mean(weights @ [*RARE, 1.0] >= found.high)
    assert (low, high) == pytest.approx((0.025, 0.025), abs=0.001)


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 1500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_on_zero_and_one_it_is_clopper_pearson(
    n: int, share: float, level: float
) -> None:
    x = round(share * n)
    found = interval_gaffke([1.0] * x + [0.0] * (n - x), level=level)
    exact = interval_clopper_pearson(x, n, level=level)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


scores = st.lists(
    st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0, 1e-300]), min_size=1
)


@settings(deadline=None, max_examples=150)
@given(scores, st.sampled_from([0.6, 0.95]))
def test_order_mirror_scale_and_place(values: list[float], level: float) -> None:
    found = interval_gaffke(values, level=level)
    mean = float(np.mean(values))
    assert 0 <= found.low <= mean + 1e-12 and mean - 1e-12 <= found.high <= 1
    back = interval_gaffke(values[::-1], level=level)
    assert (back.low, back.high) == pytest.approx((found.low, found.high), abs=1e-13)
    mirror = interval_gaffke(1 - np.array(values), level=level)
    assert (1 - mirror.high, 1 - mirror.low) == pytest.approx(
        (found.low, found.high), abs=1e-12
    )
    wide = interval_gaffke(100 * np.array(values) - 50, bounds=(-50, 50), level=level)
    assert wide.low == pytest.approx(100 * found.low - 50, abs=1e-10)
    more = interval_gaffke(np.minimum(1, np.array(values) + 0.1), level=level)
    assert more.low >= found.low - 1e-12 and more.high >= found.high - 1e-12


@pytest.mark.parametrize("n", [1, 2, 50, 5000])
def test_equal_scores(n: int) -> None:
    found = interval_gaffke([0.3] * n)
    expected = (
        0.3 * special.betaincinv(n, 1, 0.025),
        1 - 0.7 * special.betaincinv(n, 1, 0.025),
    )
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-13)
    assert interval_gaffke([0.0] * n).low == 0 and interval_gaffke([1.0] * n).high == 1


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_rarely_large_scores_are_covered(share: float) -> None:
    """n = 300: t covers .89 or less at 1 %, and bounded Wilson no more."""
    rng = np.random.default_rng(3)
    draws = np.where(rng.random((600, 300)) < share, rng.random((600, 300)), 0.0)
    held, plain = [], []
    for row in draws:
        found = estimate_mean(row, bounds=(0, 1), binary=False)
        assert found.method == "gaffke" and found.flags in ((), ("all_scores_equal",))
        held.append((found.ci_low or 0) <= share / 2 <= (found.ci_high or 0))
        usual = estimate_mean(row, bounds=(0, 1), binary=False, method="t")
        plain.append((usual.ci_low or 0) <= share / 2 <= (usual.ci_high or 0))
    assert np.mean(held) > 0.95 - 3 * (0.95 * 0.05 / 600) ** 0.5
    assert share > 0.05 or np.mean(plain) < 0.92


def test_a_thousand_scores_take_milliseconds() -> None:
    """58 tasks × 40 models of some hundred prompts each must not take minutes."""
    x = np.random.default_rng(2).beta(0.5, 2, 1000)
    interval_gaffke(x)
    start = time.process_time()
    for _ in range(20):
        interval_gaffke(x)
    assert (time.process_time() - start) / 20 < 0.05


def test_what_is_refused() -> None:
    with pytest.raises(StatisticsError, match="`bounds` must both be finite"):
        interval_gaffke([0.5], bounds=(0, None))
    with pytest.raises(StatisticsError, match="outside|bounds"):
        interval_gaffke([1.5])
    with pytest.raises(StatisticsError, match="empty"):
        interval_gaffke([])
