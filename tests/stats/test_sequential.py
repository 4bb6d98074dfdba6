"""Sequential tests: goldens, a slow definition, the object against the function,
chances of error."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    SequentialDesign,
    SequentialMonitor,
    design_against_baseline,
    design_one_model,
    design_two_models,
    group_sequential_test,
    interval_gaffke,
    look_places,
    obf_bounds,
    sequential_order,
    sequential_outlook,
    sequential_test,
)

D16 = [1, 0, 0, 1, 0, -1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, -1, 1]
Y17 = [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
F17 = [
    0.9,
    0.8,
    0.2,
    0.7,
    0.6,
    0.9,
    0.1,
    0.8,
    0.5,
    0.9,
    0.6,
    0.3,
    0.4,
    0.7,
    0.2,
    0.8,
    0.5,
    0.6,
    0.9,
    0.1,
]


def test_g16_two_models() -> None:
    sampled = sequential_test(D16, design_two_models(0.0, n_max=32))
    assert sampled.evidence_pass == pytest.approx(1.85742650375, abs=1e-10)
    assert sampled.evidence_fail == pytest.approx(-4.73424722826, abs=1e-10)
    assert (sampled.low, sampled.high) == pytest.approx(
        (-0.143342020678, 0.630931296284), abs=1e-10
    )
    whole = sequential_test(D16, design_two_models(0.0, n_max=32, population=40))
    assert whole.evidence_pass == pytest.approx(3.14257378672, abs=1e-10)
    assert (whole.low, whole.high) == pytest.approx(
        (-0.0284596752882, 0.553581672163), abs=1e-10
    )
    for population, place in ((None, 12), (40, 11)):
        found = sequential_test(
            D16, design_two_models(0.3, n_max=32, population=population)
        )
        assert (found.verdict, found.decided_at) == ("pass", place)


def test_g17_predictions_without_replacement() -> None:
    def design(reference: float) -> SequentialDesign:
        return design_one_model(reference, n_max=20, population=20, predictions=F17)

    assert sequential_test(Y17, design(0.5)).evidence_pass == pytest.approx(
        2.36649761354, abs=1e-10
    )
    assert sequential_test(Y17, design(0.8)).evidence_fail == pytest.approx(
        0.888331635564, abs=1e-10
    )


def test_bounds_of_obrien_and_fleming() -> None:
    assert obf_bounds(5) == pytest.approx(
        (4.876885, 3.357012, 2.680280, 2.289817, 2.031032), abs=1e-6
    )
    assert obf_bounds() == obf_bounds(5)
    assert obf_bounds(1) == pytest.approx((1.959963984540,))
    assert look_places(5, 2000) == (400, 800, 1200, 1600, 2000)


def test_the_order_is_that_of_the_hashes() -> None:
    ids = [f"q{number}" for number in range(50)]
    found = [ids[place] for place in sequential_order(ids, 3)]
    assert found == sorted(
        ids, key=lambda name: hashlib.sha256(f"order|3|{name}".encode()).hexdigest()
    )
    assert found == [ids[::-1][place] for place in sequential_order(ids[::-1], 3)]


class Slow:
    """The definition, step by step, with plain numbers."""

    def __init__(self, y: Sequence[float | None], design: SequentialDesign) -> None:
        self.y, self.design = y, design
        n, N = design.n_max, design.population
        f = [float(value) for value in design.predictions]
        self.f = f * (N or n) if len(f) == 1 else f
        self.low, self.high = design.low - max(f), design.high - min(f)

    def paths(self, theta: float, sign: int) -> list[float]:
        design, N = self.design, self.design.population
        logs = [0.0, 0.0]
        total, sum_z, squares, variance = (
            0.0,
            0.0,
            design.width**2 / 4,
            design.width**2 / 4,
        )
        gone, found = False, []
        for t, stated in enumerate(self.y, 1):
            value = (
                (design.low if sign > 0 else design.high) if stated is None else stated
            )
            m = theta - self.f[t - 1]
            if N:
                m = (N * theta - total) / (N - t + 1) - sum(self.f[t - 1 :]) / (
                    N - t + 1
                )
            room = m - self.low if sign > 0 else self.high - m
            gone |= room < -1e-12
            z = value - self.f[t - 1]
            for place, share in enumerate((2, 8)):
                stake = math.sqrt(
                    2 * math.log(2 / design.alpha) / (variance * design.n_max / share)
                )
                stake = min(stake, 0.5 / room) if room > 1e-12 else stake
                logs[place] += math.log(1 + sign * stake * (z - m)) if not gone else 0.0
            found.append(math.inf if gone else math.log(sum(map(math.exp, logs)) / 2))
            total += value
            sum_z += z
            squares += (z - sum_z / (t + 1)) ** 2
            variance = squares / (t + 1)
        return found

    def possible(self, t: int) -> tuple[float, float]:
        design, N = self.design, self.design.population
        ends = []
        for end in (design.low, design.high):
            total = sum(end if value is None else value for value in self.y[:t])
            ends.append((total + (N - t) * end) / N if N else end)
        return ends[0], ends[1]

    def end(self, sign: int) -> float:
        refuted, kept = self.possible(len(self.y))[::sign]
        limit = math.log(2 / self.design.alpha)
        if max(self.paths(refuted, sign)) < limit:
            return refuted
        for _ in range(60):
            middle = (refuted + kept) / 2
            refuted, kept = (
                (middle, kept)
                if max(self.paths(middle, sign)) >= limit
                else (refuted, middle)
            )
        return refuted

    def verdict(self) -> tuple[str, int | None]:
        limit, theta = math.log(2 / self.design.alpha), self.design.reference
        up, down = self.paths(theta, 1), self.paths(theta, -1)
        for t in range(1, len(self.y) + 1):
            low, high = self.possible(t)
            if up[t - 1] >= limit or theta < low - 1e-9:
                return "pass", t
            if down[t - 1] >= limit or theta > high + 1e-9:
                return "fail", t
        return "undecided", None


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float | None], SequentialDesign]:
    """Scores, some of them missing, and a design of any kind."""
    N = draw(st.integers(4, 40))
    n_max = draw(st.integers(2, N))
    n = draw(st.integers(1, n_max))
    kind = draw(st.sampled_from(["baseline", "pairs", "pairs sampled", "one"]))
    grid = [0.0, 0.25, 1.0]
    alpha = draw(st.sampled_from([0.05, 0.3]))
    margin = draw(st.sampled_from([0.0, 0.07, 0.3]))
    y: list[float | None] = [draw(st.sampled_from([*grid, None])) for _ in range(n)]
    base = [draw(st.sampled_from(grid)) for _ in range(N)]
    if kind == "baseline":
        return y, design_against_baseline(base, margin, n_max=n_max, alpha=alpha)
    if kind == "one":
        return y, design_one_model(0.4, n_max=n_max, population=N, alpha=alpha)
    d = [
        None if value is None else value - other
        for value, other in zip(y, base, strict=False)
    ]
    population = N if kind == "pairs" else None
    return d, design_two_models(margin, n_max=n_max, population=population, alpha=alpha)


@settings(deadline=None, max_examples=120)
@given(cases())
def test_function_and_object_are_the_slow_definition(
    case: tuple[list[float | None], SequentialDesign],
) -> None:
    y, design = case
    slow, monitor = Slow(y, design), SequentialMonitor(design)
    found = sequential_test(np.array(y, dtype=float), design)
    assert (found.verdict, found.decided_at) == slow.verdict()
    verdicts = [monitor.update(value) for value in y]
    assert (monitor.verdict, monitor.decided_at) == (found.verdict, found.decided_at)
    assert verdicts[-1] == found.verdict and monitor.result() == found
    ends = slow.end(1), slow.end(-1)
    if found.low is None or found.high is None:
        assert ends[0] > ends[1]
    else:
        assert (found.low + design.origin, found.high + design.origin) == pytest.approx(
            ends, abs=1e-9
        )


def test_a_verdict_is_final_and_nothing_comes_after_the_last() -> None:
    design = design_two_models(0.0, n_max=40)
    monitor = SequentialMonitor(design)
    for value in [1] * 20 + [-1] * 20:
        monitor.update(value)
    assert (monitor.verdict, monitor.is_over) == ("pass", True)
    with pytest.raises(StatisticsError, match="all 40 prompts"):
        monitor.update(0)
    assert sequential_test([1] * 20 + [-1] * 100, design).n_prompts == 40


def test_the_whole_benchmark_leaves_no_doubt() -> None:
    base, own = np.array([1, 1, 0, 1, 0, 1.0]), np.array([1, 1, 1, 1, 0, 0.0])
    found = sequential_test(own, design_against_baseline(base, 0.1))
    assert (
        found.verdict == "pass"
        and found.low == pytest.approx(0)
        and found.high == pytest.approx(0)
    )
    worse = sequential_test(own * 0, design_against_baseline(base, 0.1))
    assert worse.verdict == "fail" and worse.evidence_fail is None
    assert (
        sequential_test(own, design_against_baseline(base, 0.0)).verdict == "undecided"
    )  # exactly equal


def test_what_is_unscorable_helps_neither_side() -> None:
    base = np.tile([1.0, 0.0], 200)
    holes = base.copy()
    holes[::10] = np.nan
    full = sequential_test(base[:200], design_against_baseline(base, 0.05))
    some = sequential_test(holes[:200], design_against_baseline(base, 0.05))
    assert (
        full.verdict == "pass" and some.verdict == "undecided" and some.n_unscored == 20
    )
    assert (
        some.low is not None
        and some.high is not None
        and full.low is not None
        and full.high is not None
    )
    assert some.low < full.low and some.high > full.high


def test_nothing_yet() -> None:
    for design in (
        design_two_models(0.1, n_max=10, population=20),
        design_one_model(0.5, n_max=10),
    ):
        found = sequential_test([], design)
        assert (found.verdict, found.n_prompts, found.estimate) == (
            "undecided",
            0,
            None,
        )
        assert (found.low, found.high) == (design.low, design.high)
        assert sequential_outlook([], design).remaining is None


def test_outlook() -> None:
    rng = np.random.default_rng(0)
    design = design_two_models(0.05, n_max=2000)
    d = rng.choice([1.0, -1.0, 0.0], 2000, p=[0.125, 0.125, 0.75])
    near = sequential_outlook(d[:80], design)
    assert (
        near.remaining is not None
        and near.chance_pass is not None
        and 50 < near.remaining < 1500
    )
    assert near == sequential_outlook(d[:80], design) and near.chance_pass > 0.8
    assert sequential_outlook(d, design).remaining == 0
    assert sequential_outlook(d[:9], design).remaining is None
    base = np.tile([1.0, 0.0, 1.0], 100)
    found = sequential_outlook(base[:40], design_against_baseline(base, 0.05))
    assert found.chance_pass == 1 and found.remaining is not None
    real = sequential_test(base, design_against_baseline(base, 0.05)).decided_at
    assert real is not None and found.remaining + 40 == real


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: design_two_models(0.1, n_max=11, population=10),
            "`n_max` is 11, but the benchmark has 10",
        ),
        (lambda: design_two_models(0.1, n_max=0), "`n_max` must be a whole number"),
        (lambda: design_two_models(-0.1, n_max=5), "`margin`"),
        (lambda: design_two_models(1.0, n_max=5), "`margin`"),
        (lambda: design_two_models(math.nan, n_max=5), "`margin`"),
        (lambda: design_two_models(0.1, n_max=5, alpha=0.0), "`alpha`"),
        (lambda: design_two_models(0.1, n_max=5, alpha=math.nan), "`alpha`"),
        (lambda: design_two_models(0.1, n_max=5, bounds=(0, math.inf)), "with bounds"),
        (lambda: design_two_models(0.1, n_max=5, population=0), "`population`"),
        (lambda: design_one_model(1.1, n_max=5), "`reference`"),
        (
            lambda: design_one_model(
                0.5, n_max=2, population=3, predictions=[0.5, 0.5]
            ),
            "each prompt of the population",
        ),
        (lambda: design_against_baseline([], 0.1), "is empty"),
        (lambda: design_against_baseline([1, math.inf], 0.1), "not finite"),
        (
            lambda: design_against_baseline([1, 0], 0.1, predictions=[0.5]),
            "one for each of 2",
        ),
        (lambda: design_against_baseline([1, 2], 0.1), "outside the `bounds`"),
        (
            lambda: sequential_test([0.5, math.inf], design_one_model(0.5, n_max=5)),
            "infinite",
        ),
        (
            lambda: sequential_test([0.5, 3], design_one_model(0.5, n_max=5)),
            r"\[0, 1\], found 3",
        ),
        (
            lambda: SequentialMonitor(design_one_model(0.5, n_max=5)).update(-math.inf),
            "infinite",
        ),
        (lambda: sequential_order(["a", "a"], 0), "'a' twice"),
        (lambda: sequential_order(["a"], -1), "`seed`"),
        (lambda: obf_bounds(0), "`n_looks`"),
        (lambda: obf_bounds(5, alpha=1), "`alpha`"),
        (lambda: look_places(5, 9), "at least 10 prompts"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]


def pairs(rng: np.random.Generator, n: int, delta: float, differ: float) -> np.ndarray:
    share = [(differ + delta) / 2, (differ - delta) / 2, 1 - differ]
    return rng.choice([1.0, -1.0, 0.0], n, p=share)


def test_wrong_verdicts_are_rare_under_peeking() -> None:
    rng, wrong = np.random.default_rng(4), 0
    for _ in range(400):
        wrong += (
            sequential_test(
                pairs(rng, 300, 0, 0.3), design_two_models(0.0, n_max=300)
            ).verdict
            != "undecided"
        )
    assert wrong / 400 < 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_wrong_verdicts_are_rare_without_replacement() -> None:
    rng = np.random.default_rng(5)
    base = (rng.random(400) < 0.6).astype(float)
    own = np.where(rng.random(400) < 0.7, base, rng.random(400) < 0.6).astype(float)
    wrong = covered = 0
    for _ in range(300):
        order = rng.permutation(400)
        design = design_one_model(
            float(own.mean()), n_max=200, population=400, predictions=base[order]
        )
        found = sequential_test(own[order], design)
        wrong += found.verdict != "undecided"
        covered += (
            found.low is not None
            and found.high is not None
            and found.low <= own.mean() <= found.high
        )
    assert wrong / 300 < 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5
    assert covered / 300 > 0.95 - 3 * (0.05 * 0.95 / 300) ** 0.5


@pytest.mark.slow
def test_power_at_five_points() -> None:
    rng, used, passed = np.random.default_rng(6), [], 0
    for _ in range(1000):
        found = sequential_test(
            pairs(rng, 2000, 0.05, 0.25), design_two_models(0.0, n_max=2000)
        )
        passed += found.verdict == "pass"
        used.append(found.decided_at or 2000)
    assert passed / 1000 > 0.95 - 3 * (0.05 * 0.95 / 1000) ** 0.5
    assert np.mean(used) < 820


def test_fixed_looks() -> None:
    rng = np.random.default_rng(7)
    design = design_two_models(0.0, n_max=500)
    wrong = 0
    for _ in range(400):
        wrong += (
            group_sequential_test(pairs(rng, 500, 0, 0.3), design).verdict
            != "undecided"
        )
    assert wrong / 400 < 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    d = pairs(rng, 500, 0.15, 0.3)
    found = group_sequential_test(d, design)
    assert found.verdict == "pass" and found.decided_at in look_places(5, 500)
    between = group_sequential_test(d[:150], design)
    at_look = group_sequential_test(d[:100], design)
    assert (between.low, between.high, between.n_prompts) == (
        at_look.low,
        at_look.high,
        150,
    )
    z = d[:100].mean() / (d[:100].std(ddof=1) / 10)
    assert (
        at_look.evidence_pass is not None and at_look.evidence_pass < z
    )  # by Gaffke's bound, which is at 0 there
    bound = interval_gaffke(
        d[:100], bounds=(-1, 1), level=1 - 2 * stats.norm.sf(at_look.evidence_pass)
    )
    assert bound.low == pytest.approx(0, abs=1e-6) and at_look.limit == pytest.approx(
        4.876885, abs=1e-6
    )
    assert group_sequential_test(d[:50], design).low == -1
    assert group_sequential_test(np.zeros(500), design).verdict == "undecided"


def size_of_looks(
    n: int, margin: float, n_looks: int, runs: int
) -> NDArray[np.float64]:
    """Chance to pass by z alone, and by the test, with prompts lost by the margin and
    none won."""
    rng, design = np.random.default_rng(n), design_two_models(margin, n_max=n)
    places, bounds = look_places(n_looks, n), obf_bounds(n_looks)

    @lru_cache(None)
    def shown(look: int, lost: int) -> tuple[bool, bool]:
        d = np.repeat([-1.0, 0.0], [lost, places[look] - lost])
        error = d.std(ddof=1) / places[look] ** 0.5
        z = (d.mean() + margin) / error if lost else 0.0
        found = group_sequential_test(d, design, n_looks=n_looks)
        return z >= bounds[look], bool((found.evidence_pass or 0) >= bounds[look])

    wrong = np.zeros(2)
    for _ in range(runs):
        lost = np.cumsum(rng.binomial(np.diff([0, *places]), margin))
        wrong += np.any(
            [shown(look, int(count)) for look, count in enumerate(lost)], axis=0
        )
    return wrong / runs


@pytest.mark.parametrize(("n", "margin", "by_z"), [(88, 0.05, 0.09), (500, 0.02, 0.08)])
def test_looks_hold_where_few_prompts_differ(
    n: int, margin: float, by_z: float
) -> None:
    alone, found = size_of_looks(n, margin, 5, 3000)
    assert alone > by_z and found < 0.025 + 3 * (0.025 / 3000) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "margin", "n_looks"),
    [(56, 0.05, 5), (500, 0.05, 2), (1000, 0.02, 10), (2000, 0.02, 5)],
)
def test_looks_hold_at_most_sizes(n: int, margin: float, n_looks: int) -> None:
    assert (
        size_of_looks(n, margin, n_looks, 20_000)[1]
        < 0.025 + 3 * (0.025 / 20_000) ** 0.5
    )
