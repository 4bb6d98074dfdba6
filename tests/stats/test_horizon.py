"""Time horizons: METR's runs to the digits, scikit-learn, Fieller by a grid, and what
is no number."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats import HorizonFit, horizon_trend, time_horizons

#: Golden 18: β, α, p50, p80, p50 without a penalty, Fieller's ends of p50.
GOLDEN = {
    "Claude 3 Opus": (-0.342647, 0.691084, 4.0471, 0.2450, 4.737, 0.27, 15.62),
    "Claude 3.5 Sonnet (Old)": (
        -0.351393,
        1.568570,
        22.0676,
        1.4327,
        23.253,
        4.77,
        65.34,
    ),
    "o1": (-0.241435, 1.305617, 42.4514, 0.7932, 43.316, 1.41, 253.35),
}
#: Its ends by families, tasks and runs, each with the Monte Carlo error of 1 000
#: resamples in log2 minutes: the lower ends of the first and the last differ by more
#: than 10 % from seed to seed.
RESAMPLED = {
    "Claude 3 Opus": ((0.25, 0.18), (15.36, 0.06)),
    "Claude 3.5 Sonnet (Old)": ((5.09, 0.10), (63.94, 0.05)),
    "o1": ((2.67, 0.36), (259.76, 0.12)),
}


class Runs(NamedTuple):
    agents: list[str]
    minutes: NDArray[np.float64]
    families: list[str]
    solved: NDArray[np.float64]
    runs: NDArray[np.float64]


@pytest.fixture(scope="module")
def metr(data_dir: Path) -> Runs:
    text = (data_dir / "metr_horizon" / "all_runs_half.jsonl").read_text(
        encoding="utf-8"
    )
    rows = [json.loads(line) for line in text.splitlines()]
    tasks = {row["task_id"]: row for row in rows}
    agents, places = (
        sorted({row["alias"] for row in rows}),
        {name: number for number, name in enumerate(tasks)},
    )
    solved, runs = np.zeros((2, len(agents), len(tasks)))
    for row in rows:
        at = agents.index(row["alias"]), places[row["task_id"]]
        solved[at] += row["score_binarized"]
        runs[at] += 1
    minutes = np.array([row["human_minutes"] for row in tasks.values()])
    return Runs(
        agents, minutes, [row["task_family"] for row in tasks.values()], solved, runs
    )


def fits(metr: Runs, **settings: Any) -> dict[str, HorizonFit]:
    found = time_horizons(
        metr.minutes, metr.families, metr.solved, metr.runs, **settings
    )
    return dict(zip(metr.agents, found, strict=True))


def test_metr_to_the_digits(metr: Runs) -> None:
    found = fits(metr, interval="fieller")
    for agent, (slope, intercept, p50, p80, bare, low, high) in GOLDEN.items():
        fit = found[agent]
        assert (fit.slope, fit.intercept) == pytest.approx((slope, intercept), abs=1e-6)
        half, most = fit.horizons
        assert (half.estimate, most.estimate) == pytest.approx((p50, p80), abs=5e-5)
        assert half.unpenalised == pytest.approx(bare, abs=5e-4)
        assert (half.low, half.high) == pytest.approx(
            (low, high), rel=0.02
        )  # a grid of .005, two digits
    nothing = found["davinci-002"]
    assert (nothing.reason, nothing.slope, nothing.horizons[0].estimate) == (
        "nothing solved",
        None,
        None,
    )
    assert nothing.flags == ("few_families",) and nothing.n_runs == 68


def test_metr_by_families_tasks_and_runs(metr: Runs) -> None:
    found = fits(metr, n_resamples=5_000, q=[0.5])
    for agent, ends in RESAMPLED.items():
        (half,) = found[agent].horizons
        for ours, (golden, error) in zip((half.low, half.high), ends, strict=True):
            assert ours is not None and abs(math.log2(ours / golden)) < 4 * error
            assert golden < 10 or ours == pytest.approx(golden, rel=0.1)


def test_scikit_learn_agrees(metr: Runs) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    for agent, fit in fits(metr, n_resamples=100).items():
        if fit.reason:
            continue
        solved, runs = (
            part[metr.agents.index(agent)] for part in (metr.solved, metr.runs)
        )
        sizes = {family: metr.families.count(family) for family in metr.families}
        weight = (
            np.array([1 / math.sqrt(sizes[family]) for family in metr.families]) / runs
        )
        weight = np.concatenate([weight * solved, weight * (runs - solved)])
        x = np.tile(np.log2(metr.minutes), 2)[:, None]
        y = np.repeat([1, 0], len(metr.minutes))
        other = linear.LogisticRegression(C=10, tol=1e-8).fit(
            x, y, sample_weight=weight / weight.sum()
        )
        theirs = 2 ** (-other.intercept_[0] / other.coef_[0, 0])
        assert fit.horizons[0].estimate == pytest.approx(theirs, rel=0.005)


def test_ten_agents_take_no_time(metr: Runs) -> None:
    ten = np.tile(metr.solved[:4], (3, 1))[:10], np.tile(metr.runs[:4], (3, 1))[:10]
    before = time.process_time()
    time_horizons(metr.minutes, metr.families, *ten)
    assert time.process_time() - before < 3


def test_bins_and_entropy(metr: Runs) -> None:
    fit = fits(metr, n_resamples=100)["o1"]
    assert [one.low for one in fit.bins] == [1, 4, 16, 64, 256, 960] and fit.bins[
        -1
    ].high is None
    assert sum(one.n_tasks for one in fit.bins) == 83
    assert all(0 <= one.success <= 1 and 0 < one.fitted < 1 for one in fit.bins)
    assert fit.cross_entropy is not None and 0 < fit.cross_entropy < math.log(2)


SIX = [1.0, 2.0, 8.0, 30.0, 120.0, 480.0]


def one(
    solved: list[int],
    minutes: list[float] = SIX,
    families: Any = range(6),
    **settings: Any,
) -> HorizonFit:
    return time_horizons(minutes, list(families), [solved], [[4] * 6], **settings)[0]


@pytest.mark.parametrize("interval", ["ftr", "fieller"])
@pytest.mark.parametrize(
    ("solved", "reason"),
    [
        ([0] * 6, "nothing solved"),
        ([4] * 6, "everything solved"),
        ([0, 0, 1, 2, 3, 4], "slope not negative"),
    ],
)
def test_no_number_where_there_is_none(
    solved: list[int], reason: str, interval: str
) -> None:
    fit = one(solved, interval=interval)
    assert fit.reason == reason
    assert all(
        (at.estimate, at.low, at.high) == (None, None, None) for at in fit.horizons
    )


def test_tasks_of_one_length() -> None:
    assert (
        one([4, 4, 3, 2, 1, 0], minutes=[5.0] * 6).reason
        == "all tasks take people equally long"
    )


def test_one_family_and_one_task() -> None:
    fit = one([4, 4, 3, 2, 1, 0], families=[0] * 6, interval="fieller")
    assert fit.horizons[0].estimate and fit.horizons[0].flags == (
        "unbounded_below",
        "unbounded_above",
    )
    assert fit.curvature is None and fit.flags == ("few_families",)
    (single,) = time_horizons([5.0], [0], [[1]], [[2]])
    assert single.reason == "all tasks take people equally long"


def test_an_agent_without_runs() -> None:
    _, none = time_horizons(
        SIX, range(6), [[4, 4, 3, 2, 1, 0], [0] * 6], [[4] * 6, [0] * 6]
    )
    assert (none.reason, none.n_tasks) == ("no task was tried", 0)


def test_a_flat_curve_is_open_above() -> None:
    half = one([3, 4, 3, 2, 3, 2]).horizons[0]
    assert half.high is None and "unbounded_above" in half.flags


@pytest.mark.parametrize(
    "solved", [[4, 4, 3, 2, 1, 0], [3, 4, 3, 2, 3, 2], [1, 1, 0, 0, 1, 0]]
)
def test_fieller_by_a_grid(solved: list[int]) -> None:
    """The set by its definition; of a curve that falls, where its slope may be 0."""
    half = one(solved, q=[0.5], interval="fieller").horizons[0]
    full = one(solved, q=[0.5])
    # refits give the left-out sample's weights a sum of 1; the interval keeps them, so
    # that the penalty is 5/6 as large
    left = [
        time_horizons(
            [*SIX[:g], *SIX[g + 1 :]],
            range(5),
            [[*solved[:g], *solved[g + 1 :]]],
            [[4] * 5],
            penalty=0.12,
            interval="fieller",
        )[0]
        for g in range(6)
    ]
    theta = np.array(
        [[one_fit.intercept, one_fit.slope] for one_fit in left], dtype=float
    )
    v = 5 / 6 * (theta - theta.mean(axis=0)).T @ (theta - theta.mean(axis=0))
    h = np.linspace(-60, 60, 1_200_001)
    assert (
        full.slope is not None
        and full.intercept is not None
        and full.horizons[0].estimate
    )
    inside = (full.intercept + full.slope * h) ** 2 <= 2.570582**2 * (
        v[0, 0] + 2 * h * v[0, 1] + h**2 * v[1, 1]
    )
    at = np.searchsorted(h, math.log2(full.horizons[0].estimate))
    assert inside[at]
    out = np.flatnonzero(~inside)
    below, above = out[out < at], out[out > at]
    for end, edge in ((half.low, below[-1:]), (half.high, above[:1])):
        if end is None:
            assert not len(edge)
        else:
            assert math.log2(end) == pytest.approx(h[edge[0]], abs=1e-3)


def test_the_trend_is_least_squares(metr: Runs) -> None:
    found = fits(metr)
    days = {
        "GPT-4 Turbo": 1.0,
        "Claude 3 Opus": 5.0,
        "Claude 3.5 Sonnet (Old)": 200.0,
        "o1": 400.0,
    }
    numbers = [days.get(agent, math.nan) for agent in metr.agents]
    trend = horizon_trend(numbers, [found[agent].horizons[0] for agent in metr.agents])
    logs = [math.log2(found[agent].horizons[0].estimate or 0) for agent in days]
    slope, start = np.polyfit([*days.values()], logs, 1)
    assert trend.slope == pytest.approx(slope) and trend.intercept == pytest.approx(
        start + slope
    )
    assert trend.doubling_days == pytest.approx(1 / slope) and trend.n_models == 4
    assert trend.low is not None and trend.low < 1 / slope
    back = horizon_trend(
        [-one_day for one_day in numbers],
        [found[agent].horizons[0] for agent in metr.agents],
    )
    assert (back.doubling_days, back.reason) == (None, "horizons do not grow")
    few = horizon_trend(
        numbers[:2], [found[agent].horizons[0] for agent in metr.agents[:2]]
    )
    assert few.slope is None and "3 models" in few.reason


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"q": [1.0]}, "`q`"),
        ({"penalty": 0.0}, "`penalty`"),
        ({"weights": "x"}, "`weights`"),
        ({"level": 1}, "level"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(StatisticsError, match=says):
        one([4, 4, 3, 2, 1, 0], **settings)
    with pytest.raises(StatisticsError, match="minutes"):
        one([4, 4, 3, 2, 1, 0], minutes=[0.0] * 6)
