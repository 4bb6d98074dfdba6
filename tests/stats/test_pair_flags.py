"""The flags of many pairs are those that each pair has by itself."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from warehouse.stats import pair_flags, paired_flags, too_few_units
from warehouse.stats.core.inputs import Bounds, FloatArray
from warehouse.stats.core.machine import has_compiler
from warehouse.stats.paired import pair_flags as pair_flags_file

KINDS = ("zero_one", "means", "unbounded", "skewed", "rare", "equal")


def column(kind: str, n: int, dice: np.random.Generator) -> FloatArray:
    if kind == "zero_one":
        return (dice.random(n) < 0.6).astype(float)
    if kind == "means":
        return dice.integers(0, 5, n) / 4
    if kind == "skewed":
        return np.asarray(np.minimum(np.exp(2 * dice.standard_normal(n)) / 50, 1.0))
    if kind == "rare":
        return (dice.random(n) < 2 / n).astype(float)
    return (
        np.full(n, 0.5)
        if kind == "equal"
        else np.asarray(dice.standard_normal(n) * 1e3)
    )


@pytest.mark.parametrize("compiled", ["0", "1"])
@pytest.mark.parametrize("n", [4, 60, 1500])
def test_shares_of_several_draws_have_the_flags_of_each_pair_by_itself(
    n: int, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_COMPILE", compiled)
    monkeypatch.setattr(pair_flags_file, "MANY", 0)
    has_compiler.cache_clear()
    dice = np.random.default_rng(n)
    rates = [0.5, 0.9, 0.998, 0.02, 0.5]
    scores = np.stack(
        [dice.binomial(draws, rate, n) / draws for rate in rates for draws in (20, 5)],
        axis=1,
    )
    scores[:, -1] = scores[:, 0]
    first, second = np.triu_indices(scores.shape[1], 1)
    found = pair_flags(scores, first, second, bounds=(0.0, 1.0))
    has_compiler.cache_clear()
    for a, b, flags in zip(first, second, found, strict=True):
        few = too_few_units(scores[:, a] - scores[:, b], None)
        alone = paired_flags(scores[:, a], scores[:, b], bounds=(0.0, 1.0))
        assert flags == alone + ("too_few_units",) * few
    assert len(set(found)) > 2


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
@pytest.mark.parametrize("clustered", ["no", "equal", "unequal", "one"])
@pytest.mark.parametrize("n", [1, 4, 12, 60, 300])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_pairs_by_the_block_have_the_flags_of_each_by_itself(
    gaps: float, n: int, clustered: str, bounds: Bounds | None
) -> None:
    dice = np.random.default_rng([n, int(gaps * 10), len(clustered)])
    kinds = [kind for kind in KINDS if bounds is None or kind != "unbounded"]
    scores = np.stack([column(kind, n, dice) for kind in (*kinds, *kinds)], axis=1)
    scores[:, -1] = scores[:, 0]  # a model that answers as another does
    lacks = dice.random((n, 4)) < gaps
    scores[:, :4][lacks] = np.nan
    groups = {
        "no": None,
        "equal": np.arange(n) // 3,
        "unequal": np.sqrt(np.arange(n)).astype(int),
        "one": np.zeros(n, int),
    }
    clusters = groups[clustered]
    first, second = (
        np.array(side)
        for side in zip(*combinations(range(scores.shape[1]), 2), strict=True)
    )
    found = pair_flags(scores, first, second, clusters, bounds=bounds)
    for a, b, flags in zip(first, second, found, strict=True):
        common = ~np.isnan(scores[:, a] - scores[:, b])
        if not common.any():
            assert flags == ()
            continue
        own = None if clusters is None else clusters[common]
        alone = paired_flags(scores[common, a], scores[common, b], own, bounds=bounds)
        few = too_few_units(scores[common, a] - scores[common, b], own)
        assert flags == alone + ("too_few_units",) * few


def test_differences_within_the_rounding_of_large_scores_are_none() -> None:
    scores = 1e13 + np.array([[0, 1.0]] * 10 + [[1, 1.0]] * 10)
    bounds = (0.0, 1e14)
    (flags,) = pair_flags(scores, np.array([0]), np.array([1]), bounds=bounds)
    assert flags == paired_flags(scores[:, 0], scores[:, 1], bounds=bounds)
    assert "all_differences_equal" in flags


def test_ten_prompts_that_differ_alike_are_ten_whatever_the_rounding() -> None:
    a = np.array([1.0] * 5 + [2 / 3] * 5 + [0.0] * 10)
    b = np.array([2 / 3] * 5 + [1.0] * 5 + [0.0] * 10)
    assert paired_flags(a, b, bounds=(0.0, 1.0)) == paired_flags(
        3 * a, 3 * b, bounds=(0.0, 3.0)
    )
    found = pair_flags(
        np.stack([a, b], axis=1), np.array([0]), np.array([1]), bounds=(0.0, 1.0)
    )
    assert found == [paired_flags(a, b, bounds=(0.0, 1.0))] == [("few_prompts",)]


@pytest.mark.parametrize("steps", [1, 3, 10])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_models_apart_by_one_value_everywhere_have_the_flags_of_each_pair_by_itself(
    n: int, steps: int
) -> None:
    dice = np.random.default_rng([n, steps])
    base = dice.integers(0, max(steps - 1, 1), n)
    rows = [
        base,
        base,
        base + 1,
        base + 1,
        np.zeros(n),
        np.full(n, steps),
        dice.integers(0, steps + 1, n),
    ]
    scores = np.stack(rows, axis=1) / steps
    first, second = np.triu_indices(scores.shape[1], 1)
    found = pair_flags(scores, first, second, bounds=(0.0, 1.0))
    for a, b, flags in zip(first, second, found, strict=True):
        few = too_few_units(scores[:, a] - scores[:, b], None)
        assert (
            flags
            == paired_flags(scores[:, a], scores[:, b], bounds=(0.0, 1.0))
            + ("too_few_units",) * few
        )
