"""The flags of many pairs are those that each pair has by itself."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from warehouse.stats import pair_flags, paired_flags, too_few_units
from warehouse.stats.core.inputs import Bounds, FloatArray

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
    return np.full(n, 0.5) if kind == "equal" else np.asarray(dice.standard_normal(n) * 1e3)


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
    first, second = (np.array(side) for side in zip(*combinations(range(scores.shape[1]), 2), strict=True))
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
