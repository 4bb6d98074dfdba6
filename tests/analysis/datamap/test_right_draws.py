"""Rates as counts of right draws: rounded ones where draws are right or wrong by the
metric, exact ones elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.test_without_store import ACC
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scores import PromptScores, right_draws

SHARE = replace(ACC, kind="bounded")


def rate(value: float, draws: int, zero_one: bool = True) -> PromptScores:
    """One prompt of which a share of draws is right."""
    ids, one = np.array([4]), np.ones(1)
    within = np.array([value * (1 - value) * draws / (draws - 1)])
    return PromptScores(
        ids,
        one * value,
        one,
        one * draws,
        within,
        np.array([zero_one]),
        ids,
        np.zeros(1),
        0,
        draws,
    )


@pytest.mark.parametrize(
    ("metric", "value", "draws", "right"),
    [
        (ACC, 0.33, 3, 1),  # as sources round it
        (ACC, 0.98, 2, 2),
        (ACC, 0.53, 2, None),  # 1.06 draws
        (ACC, 0.47, 2, None),
        (ACC, 1.0, 7, 7),
        (ACC, 0.0, 7, 0),
        (ACC, 1.5, 2, None),  # more than all
        (ACC, -0.5, 2, None),
        (SHARE, 1 / 3, 3, 1),
        (SHARE, 0.33, 3, None),
        (replace(ACC, link="exp"), 1.0, 3, None),
    ],
)
def test_a_rate_is_a_whole_number_of_right_draws_or_none(
    metric: Metric, value: float, draws: int, right: int | None
) -> None:
    counts, why_not = right_draws(rate(value, draws), metric)
    assert counts.tolist() == [right or 0] and bool(why_not) is (right is None)


def test_draws_that_lie_in_between_are_not_counted() -> None:
    """Two draws of one half have the mean of a right and a wrong one."""
    halves = replace(rate(0.5, 2, zero_one=False), within=np.zeros(1))
    assert (
        right_draws(halves, SHARE)[1]
        == "draws must be right or wrong: some lie in between"
    )
    assert right_draws(rate(0.5, 2, zero_one=False), SHARE)[0].tolist() == [1]
