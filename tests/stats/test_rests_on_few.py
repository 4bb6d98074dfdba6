"""Whether a lead rests on few units of a field (statistics.md §26.5): all subsets of the
units, the test of §21 d, and how often the flag fires."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from warehouse.stats import passing_binary, variation_test
from warehouse.stats.leaving_out.few import rests_on_few


def broken(seed: int = 0, n_units: int = 10, each: int = 40) -> np.ndarray:
    """Differences of single verdicts, no better but in the last unit, where a has nearly
    all right and b nothing."""
    rng = np.random.default_rng(seed)
    a = rng.random((n_units, each)) < 0.6
    b = rng.random((n_units, each)) < 0.6
    a[-1] = rng.random(each) < 0.95
    b[-1] = False
    return (a.astype(float) - b).ravel()


def test_a_broken_unit_is_named() -> None:
    d = broken(2)
    units = np.repeat([f"u{number}" for number in range(10)], 40)
    (found,) = rests_on_few(d, [units])
    assert passing_binary(d).p_value < 0.05
    assert (found.fires, found.n_units, found.count) == (True, 10, 2)
    totals = d.reshape(10, 40).sum(axis=1)
    assert found.left_out.tolist() == np.argsort(-totals, kind="stable")[:2].tolist()
    assert np.unique(units)[found.left_out[0]] == "u9"
    assert found.p_varies == variation_test(d, np.repeat(range(10), 40)).p_value
    assert found.p_varies <= 0.01 and found.p_by_units > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_no_fewer_units_turn_the_sign(seed: int) -> None:
    d = broken(seed)
    units = np.repeat(range(10), 40)
    (found,) = rests_on_few(d, [units], n_resamples=199)
    assert found.count is not None
    totals = d.reshape(10, 40).sum(axis=1) * np.sign(d.sum())
    for k in range(1, found.count):
        for left in combinations(range(10), k):
            assert totals.sum() - totals[list(left)].sum() >= 0


def test_a_sound_lead_and_few_units_do_not_fire() -> None:
    rng = np.random.default_rng(1)
    sound = rng.choice([1.0, 0.0, -1.0], 800, p=[0.25, 0.65, 0.1])
    (found,) = rests_on_few(sound, [np.repeat(range(20), 40)])
    assert not found.fires and found.count is not None and found.count > 3
    # where more than three carry it, nothing is tested
    assert found.p_varies is None and found.p_by_units is None
    # seven units are too few, however they differ
    (few,) = rests_on_few(broken(2)[-280:], [np.repeat(range(7), 40)])
    assert not few.fires


def test_of_several_fields_p_is_adjusted() -> None:
    d = broken(2)
    units = np.repeat(range(10), 40)
    other = np.tile(range(40), 10)
    alone = rests_on_few(d, [units])[0]
    found = rests_on_few(d, [units, other])
    assert found[0].p_varies == pytest.approx(2 * alone.p_varies)
    assert found[0].fires and not found[1].fires


@pytest.mark.rare
def test_how_often_it_fires() -> None:
    """Of significant comparisons of 500 questions in 10 unequal units: hardly ever where
    models are equal or the lead is sound, often where one unit is broken."""
    rng = np.random.default_rng(5)
    fired = {"null": [], "sound": [], "broken": []}
    for kind, own in fired.items():
        while len(own) < 60:
            shares = rng.dirichlet(np.full(10, 3.0))
            units = np.sort(rng.choice(10, 500, p=shares))
            skill = stats.norm.cdf(rng.normal(0.5, 0.6, 500))
            a = rng.random(500) < skill
            b = rng.random(500) < np.clip(skill - 0.1 * (kind == "sound"), 0, 1)
            if kind == "broken":
                b &= units != rng.integers(10)
            d = a.astype(float) - b
            p = passing_binary(d).p_value
            if p is not None and p <= 0.05:
                (found,) = rests_on_few(d, [units], n_resamples=499)
                own.append(found.fires)
    shares_fired = {kind: np.mean(own) for kind, own in fired.items()}
    assert shares_fired["null"] <= 0.05 and shares_fired["sound"] <= 0.05
    assert shares_fired["broken"] >= 0.3
