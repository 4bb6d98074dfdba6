"""Flash: goldens, the slow loop of its check, what stops it, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.suites import simulated, suite_of
from warehouse.errors import StatisticsError
from warehouse.stats.suites.dior import reliability
from warehouse.stats.suites.flash import (
    flash_check,
    flash_path,
    flash_sizes,
    resolution,
    resolutions_of,
    tier_ranks,
)
from warehouse.stats.suites.score_table import (
    mean_win_rate,
    ranks_of,
    subscenario,
    suite_scores,
)

NAN = math.nan


def test_g20_flash() -> None:
    rows = ["11110111", "11011011", "10101010", "00100010", "01001001"]
    y = np.array([[int(c) for c in row] for row in rows], dtype=float).T
    stored = y[:, :4]
    for size, subsets in (
        (2, ["12", "34", "56", "78"]),
        (4, ["1234", "5678", "1357", "2468"]),
    ):
        at = [[stored[[int(c) - 1 for c in one]].mean(axis=0)] for one in subsets]
        assert resolution(at, stored.mean(axis=0)[None]) == 2
        assert (
            ranks_of(mean_win_rate(y[:size].mean(axis=0)[None], ties=0.5))[4]
            == {2: 3, 4: 4}[size]
        )
    suite = suite_scores(list("abcdX"), [subscenario("s", "s", y)])
    steps = flash_path(
        suite, 4, [np.arange(8)], sizes=(2, 4), tiers=(4, 3), n_resamples=50
    )
    assert (
        [step.rank for step in steps] == [3, 4, 4]
        and steps[-1].is_enough
        and steps[-1].resolution == 0
    )


def test_flash_leaves_one_out_as_a_slow_loop_would() -> None:
    suite = simulated(3, models=5, scenarios=2, prompts=60)
    found = flash_check(suite, sizes=(10, 30), tiers=(3, 2), n_resamples=30, seed=5)
    assert (
        found.sizes == (10, 30, None)
        and found.n_prompts == (20, 60, 120)
        and found.tiers == (3, 2, 1)
    )
    assert found.resolutions[:2] == tuple(
        resolutions_of(suite, [10, 30], n_resamples=30, seed=5)
    )
    rngs = [np.random.default_rng([5, 20, place]) for place in range(2)]
    orders = [[], []]
    for b in (20, 10):
        for place in range(2):
            orders[place] += list(rngs[place].random((b, 60)).argsort(axis=1))
    full = ranks_of(mean_win_rate(suite.means, ties=0.5))
    errors, used, inside = (
        np.zeros((30, 5)),
        np.zeros((30, 5)),
        np.full((30, 5), np.nan),
    )
    at = {
        size: [
            np.array(
                [
                    one.scores[orders[p][i][:half]].mean(axis=0)
                    for p, one in enumerate(suite.subscenarios)
                ]
            )
            for i in range(30)
        ]
        for size, half in ((10, 10), (30, 30))
    }
    for gone in range(5):
        others = np.delete(np.arange(5), gone)
        rest = ranks_of(mean_win_rate(suite.means[:, others], ties=0.5))
        res = {
            size: np.quantile(
                [
                    np.abs(ranks_of(mean_win_rate(m[:, others], ties=0.5)) - rest)
                    for m in at[size]
                ],
                0.95,
                method="higher",
            )
            for size in (10, 30)
        }
        for i in range(30):
            for size, tier, prompts in ((10, 3, 20), (30, 2, 60), (None, 1, 120)):
                means = suite.means if size is None else at[size][i]
                rank = ranks_of(mean_win_rate(means, ties=0.5))[gone]
                if size is None or rank - res[size] >= tier:
                    errors[i, gone], used[i, gone] = abs(rank - full[gone]), prompts
                    if size is not None:
                        inside[i, gone] = abs(rank - full[gone]) <= res[size]
                    break
    assert found.mean_error == pytest.approx(errors.mean(axis=0))
    assert found.saving == pytest.approx((120 / used).mean(axis=0))
    early = ~np.isnan(inside)
    assert early.any() and not early.all()
    share = [
        inside[early[:, m], m].mean() if early[:, m].any() else np.nan for m in range(5)
    ]
    assert found.within_early == pytest.approx(np.array(share), nan_ok=True)


def test_without_replacement_all_prompts_leave_no_doubt() -> None:
    suite = simulated(3, models=5, scenarios=2, prompts=50)
    assert flash_sizes(suite, (20, 50, 200)) == [20]
    assert resolutions_of(suite, [50], n_resamples=20) == [0]
    assert (reliability(suite, "prompts", 49, n_resamples=200).rank_resolution or 0) > 0


def test_tiers() -> None:
    assert (
        tier_ranks(40, [20, 50, 200, 1000])
        == tier_ranks(37, [20, 50, 200, 1000])
        == [20, 10, 5, 2, 1]
    )
    assert tier_ranks(28, [20, 50, 200]) == [14, 7, 4, 1] and tier_ranks(
        100, [20, 1000]
    ) == [50, 5, 1]
    assert tier_ranks(28, [5, 30]) == [14, 14, 1] and tier_ranks(28, [20], [3]) == [
        3,
        1,
    ]
    for tiers in ([3, 4], [3], [0, 0]):
        with pytest.raises(StatisticsError, match="must fall"):
            tier_ranks(28, [20, 50], tiers)


def test_a_path_goes_as_far_as_the_answers() -> None:
    suite = simulated(6, models=6, scenarios=2, prompts=100)
    parts = []
    for one in suite.subscenarios:
        scores = one.scores.copy()
        scores[20:, 2] = NAN
        scores[0, 2] = NAN  # one of twenty that could not be scored
        parts.append(subscenario(one.scenario, one.name, scores))
    cut = suite_scores(suite.models, parts)
    orders = [np.arange(100)] * 2
    steps = flash_path(cut, 2, orders, n_resamples=50)
    assert [step.size for step in steps] == [20] and not flash_path(
        cut, 2, [np.arange(100)[::-1]] * 2, n_resamples=50
    )
    assert [step.size for step in flash_path(suite, 2, orders, n_resamples=50)] == [
        20,
        50,
        None,
    ]
    assert "rank" in str(steps[0]) and steps[0].best_rank >= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flash_check(suite_of(np.eye(2))), "at least 3"),
        (
            lambda: flash_path(suite_of(np.eye(2)), 0, [np.arange(1)] * 2),
            "at least 2 stored",
        ),
        (lambda: flash_sizes(suite_of(np.eye(2)), (0,)), "at least 1"),
    ],
)
def test_what_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]
