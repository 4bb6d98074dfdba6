"""Judges against people: ppi_py's formulas, published examples, scikit-learn, and what
is no number."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score

from warehouse.errors import StatisticsError
from warehouse.stats import (
    estimate_mean,
    graders_agreement,
    judge_agreement,
    judge_bias,
    pooled_weight,
    prediction_powered_difference,
    prediction_powered_mean,
    rogan_gladen,
    self_preference,
)
from warehouse.stats.judges.agreement import alpha_of
from warehouse.stats.judges.plan import allocate_labels, score_cuts
from warehouse.stats.judges.prediction import label_spread

Floats = NDArray[np.float64]


def labelled(
    n_all: int, n: int, seed: int, *, noise: float = 0.2
) -> tuple[Floats, Floats]:
    """0/1 labels of n of all units, and a judge's scores of all."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_all) < 0.6).astype(float)
    judge = np.where(rng.random(n_all) < noise, 1 - truth, truth)
    h = truth.copy()
    h[rng.permutation(n_all)[n:]] = np.nan
    return h, judge


def ppi(h: Floats, g: Floats, lam: float) -> float:
    """ppi_py's point estimate of a mean: labelled and other units, its own λ."""
    there = ~np.isnan(h)
    return float(np.mean(lam * g[~there]) + np.mean(h[there] - lam * g[there]))


@pytest.mark.parametrize("seed", range(5))
def test_the_estimate_is_that_of_ppi_py_at_its_own_weight(seed: int) -> None:
    h, g = labelled(500, 80, seed)
    figure = prediction_powered_mean(h, g)
    assert 0 < figure.weight <= 1
    assert figure.estimate == pytest.approx(
        ppi(h, g, figure.weight * (500 - 80) / 500), abs=1e-12
    )
    there = ~np.isnan(h)
    slope = np.cov(h[there], g[there])[0, 1] / g[there].var(ddof=1)
    assert figure.weight == pytest.approx(slope, abs=1e-12)
    # the variance of a sum of independent parts: labels' residuals, and the judge's
    # mean over all
    e = h[there] - figure.weight * g[there]
    parts = e.var(ddof=2) / 80 + figure.weight**2 * g.var() / 500
    assert figure.standard_error == pytest.approx(math.sqrt(parts), rel=0.03)


def test_one_stratum_and_equal_chances_are_a_simple_sample() -> None:
    h, g = labelled(400, 100, 1)
    plain = prediction_powered_mean(h, g)
    for same in (
        {"strata": np.zeros(400, int)},
        {"probabilities": np.full(400, 0.25)},
        {"clusters": np.arange(400)},
    ):
        other = prediction_powered_mean(h, g, **same)  # type: ignore[arg-type]
        assert other.estimate == pytest.approx(plain.estimate, abs=1e-12)
        assert other.weight == pytest.approx(plain.weight, abs=1e-12)


def test_strata_add_up() -> None:
    h, g = labelled(300, 300, 2)
    of = np.repeat([0, 1, 2], 100)
    h[np.r_[30:100, 120:200, 260:300]] = np.nan
    figure = prediction_powered_mean(h, g, strata=of)
    means = [np.nanmean((h - figure.weight * g)[of == one]) for one in range(3)]
    assert figure.estimate == pytest.approx(
        np.mean(means) + figure.weight * g.mean(), abs=1e-12
    )
    assert figure.degrees_of_freedom == 30 + 20 + 60 - 3 - 1
    fixed = prediction_powered_mean(h, g, strata=of, prompts_fixed=True)
    assert fixed.estimate == pytest.approx(figure.estimate)
    assert fixed.standard_error < figure.standard_error  # type: ignore[operator]


def test_hajek_counts_a_label_for_what_it_stands_for() -> None:
    rng = np.random.default_rng(5)
    h, g = labelled(600, 600, 3)
    chance = np.where(g == 1, 0.4, 0.2)
    h[rng.random(600) > chance] = np.nan
    there = ~np.isnan(h)
    figure = prediction_powered_mean(h, g, probabilities=chance)
    e, weight = (h - figure.weight * g)[there], 1 / chance[there]
    assert figure.estimate == pytest.approx(
        weight @ e / weight.sum() + figure.weight * g.mean(), abs=1e-12
    )


@pytest.mark.parametrize(
    ("n", "turn", "reason"),
    [
        (19, False, "fewer than 20 labels"),
        (60, True, "the judge's scores do not rise with the labels"),
    ],
)
def test_the_labels_stand_alone(n: int, turn: bool, reason: str) -> None:
    h, g = labelled(400, n, 4)
    figure = prediction_powered_mean(h, 1 - g if turn else g)
    assert "labels_only" in figure.flags
    assert figure.reason == reason
    assert (figure.estimate, figure.low) == (figure.label_mean, figure.label_low)
    assert figure.weight == 0
    assert ("judge_against_people" in figure.flags) is turn


def test_rare_labels_stand_alone() -> None:
    h = np.r_[np.zeros(56), np.ones(4), np.full(100, np.nan)]
    g = np.r_[np.zeros(50), np.ones(110)]
    assert prediction_powered_mean(h, g).reason == "fewer than 5 labels of one kind"


def test_a_judge_that_never_differs_and_one_label() -> None:
    h, _ = labelled(100, 40, 6)
    constant = prediction_powered_mean(h, np.ones(100))
    assert (constant.weight, constant.correlation) == (0, None)
    one = prediction_powered_mean(np.r_[1.0, np.full(9, np.nan)], np.ones(10))
    assert one.standard_error is None
    with pytest.raises(StatisticsError, match="no unit has a label"):
        prediction_powered_mean(np.full(9, np.nan), np.ones(9))


def test_a_label_that_was_too_unlikely_is_refused() -> None:
    h, g = labelled(100, 50, 7)
    with pytest.raises(StatisticsError, match="too|unlikely"):
        prediction_powered_mean(h, g, probabilities=np.r_[0.001, np.full(99, 0.5)])


def test_a_difference_is_the_mean_of_differences() -> None:
    h_a, g_a = labelled(400, 120, 8)
    h_b, g_b = labelled(400, 400, 9)
    h_b[np.isnan(h_a)] = np.nan
    figure = prediction_powered_difference(h_a, h_b, g_a, g_b)
    mean = prediction_powered_mean(h_a - h_b, g_a - g_b)
    assert figure.estimate == pytest.approx(mean.estimate, abs=1e-12)
    assert figure.method == "prediction_powered_t"
    turned = prediction_powered_difference(h_b, h_a, g_b, g_a)
    assert turned.estimate == pytest.approx(-figure.estimate, abs=1e-12)
    assert turned.p_value == pytest.approx(figure.p_value)


def test_models_that_differ_on_few_labelled_prompts() -> None:
    h_a, g_a = labelled(400, 60, 10)
    h_b = h_a.copy()
    first = np.flatnonzero(h_a == 1)[:9]
    h_b[first] = 0
    figure = prediction_powered_difference(h_a, h_b, g_a, g_a)
    assert figure.flags[-1] == "few_differing"
    assert figure.n_differing == 9
    assert figure.mcnemar_p == pytest.approx(2 * 0.5**9)


def test_clusters_widen_what_hangs_together() -> None:
    rng = np.random.default_rng(11)
    effect = rng.normal(size=40).repeat(10)
    truth = effect + rng.normal(size=400)
    g = truth + rng.normal(size=400)
    h = np.where(rng.random(400) < 0.5, truth, np.nan)
    plain = prediction_powered_mean(h, g)
    clustered = prediction_powered_mean(h, g, clusters=np.arange(400) // 10)
    assert clustered.standard_error > 1.3 * plain.standard_error  # type: ignore[operator]
    assert clustered.degrees_of_freedom <= 39  # type: ignore[operator]


# --- agreement ---------------------------------------------------------------------------------

_NO = math.nan
#: Krippendorff (2011), example C: four people, twelve units; and the example of
#: Wikipedia: three, fifteen.
FOUR = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, _NO, _NO, _NO),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _NO, 3),
    (_NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _NO),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _NO),
)
THREE = (
    (_NO, _NO, _NO, _NO, _NO, 3, 4, 1, 2, 1, 1, 3, 3, _NO, 3),
    (1, _NO, 2, 1, 3, 3, 4, 3, _NO, _NO, _NO, _NO, _NO, _NO, _NO),
    (_NO, _NO, 2, 1, 3, 4, 4, _NO, 2, 1, 1, 3, 3, _NO, 4),
)


@pytest.mark.parametrize(
    ("people", "level", "published"),
    [
        (FOUR, "nominal", 0.743),
        (FOUR, "ordinal", 0.815),
        (FOUR, "interval", 0.849),
        (THREE, "nominal", 0.691),
        (THREE, "interval", 0.811),
    ],
)
def test_alpha_is_as_published(people: Any, level: str, published: float) -> None:
    table = np.transpose(people)
    values = np.unique(table[~np.isnan(table)])
    counts = (table[:, :, None] == values).sum(axis=1).astype(float)
    counts = counts[counts.sum(axis=1) >= 2]
    scaled = counts / (counts.sum(axis=1) - 1)[:, None]
    both = scaled.T @ counts - np.diag(scaled.sum(axis=0))
    assert alpha_of(both[None], values, level)[0] == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize(
    ("people", "nominal", "ordinal", "interval"),
    [(FOUR, 0.743, 0.815, 0.849), (THREE, 0.691, None, 0.811)],
)
def test_alpha_of_several_graders_is_as_published(
    people: Any, nominal: float, ordinal: float | None, interval: float
) -> None:
    found = graders_agreement(np.transpose(people))
    for of, published in (
        ("nominal", nominal),
        ("ordinal", ordinal),
        ("interval", interval),
    ):
        if published is not None:
            assert found.figure(f"alpha_{of}").estimate == pytest.approx(
                published, abs=5e-4
            )
    assert (found.n_units, found.n_graders) == (
        11 if people is FOUR else 12,
        len(people),
    )


def _alpha_by_pairs(grades: Any, squared: Callable[[float, float], float]) -> float:
    """Krippendorff's definition, pair by pair."""
    units = [[grade for grade in row if not math.isnan(grade)] for row in grades]
    units = [unit for unit in units if len(unit) > 1]
    everything = [grade for unit in units for grade in unit]
    seen = sum(
        squared(a, b) / (len(unit) - 1)
        for unit in units
        for a, b in permutations(unit, 2)
    )
    n = len(everything)
    expected = sum(squared(a, b) for a, b in permutations(everything, 2)) / (n - 1)
    return 1 - seen / expected


def test_alpha_of_several_graders_is_its_definition_and_its_error_a_jackknife() -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 4, 40)
    grades = np.clip(truth[:, None] + rng.integers(-1, 2, (40, 5)), 0, 4).astype(float)
    grades[rng.random(grades.shape) < 0.3] = np.nan
    clusters = np.arange(40) // 2
    found = graders_agreement(grades, clusters)
    for measure, squared in (
        ("alpha_nominal", lambda a, b: float(a != b)),
        ("alpha_interval", lambda a, b: (a - b) ** 2),
    ):
        figure = found.figure(measure)
        assert figure.estimate == pytest.approx(
            _alpha_by_pairs(grades, squared), abs=1e-12
        )
        left = [_alpha_by_pairs(grades[clusters != out], squared) for out in range(20)]
        error = math.sqrt(19 / 20 * sum((value - np.mean(left)) ** 2 for value in left))
        assert figure.standard_error == pytest.approx(error, rel=1e-9)
    two = graders_agreement(grades[:, :2])
    both = ~np.isnan(grades[:, :2]).any(axis=1)
    pair = judge_agreement(grades[both, 0], grades[both, 1])
    assert two.figure("alpha_ordinal").estimate == pytest.approx(
        pair.figure("alpha_ordinal").estimate, abs=1e-12
    )


def test_grades_that_nobody_shares_say_nothing() -> None:
    with pytest.raises(StatisticsError, match="no unit has two"):
        graders_agreement([[1, _NO], [_NO, 2]])


def test_alpha_of_two_is_as_published() -> None:
    first = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0)
    second = (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
    agreement = judge_agreement(first, second)
    assert agreement.figure("alpha_nominal").estimate == pytest.approx(0.095, abs=5e-4)
    letters = [
        np.array([ord(one) for one in text])
        for text in ("aabbdcccedda", "babbbcccedd" + "d")
    ]
    assert judge_agreement(*letters).figure("alpha_nominal").estimate == pytest.approx(
        0.692, abs=5e-4
    )


def test_gwet_s_example_where_kappa_falls_though_nearly_all_agree() -> None:
    people = np.r_[np.ones(123), np.zeros(2)]
    judge = np.r_[np.ones(118), np.zeros(5), np.ones(2)]
    agreement = judge_agreement(people, judge)
    assert agreement.figure("agreement").estimate == pytest.approx(118 / 125)
    assert agreement.figure("kappa").estimate == pytest.approx(-0.0234, abs=5e-5)
    assert agreement.figure("ac1").estimate == pytest.approx(0.9408, abs=5e-5)


def _rated(n: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, n).astype(float)
    return people, np.clip(people + rng.integers(-1, 2, n), 1, 5)


@pytest.mark.parametrize(
    ("measure", "weights"),
    [("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")],
)
def test_kappa_is_that_of_scikit_learn_and_its_error_a_jackknife(
    measure: str, weights: str | None
) -> None:
    people, judge = _rated(60, 1)
    clusters = np.arange(60) // 3
    figure = judge_agreement(people, judge, clusters).figure(measure)
    assert figure.estimate == pytest.approx(
        cohen_kappa_score(people, judge, weights=weights), abs=1e-12
    )
    left = [
        cohen_kappa_score(
            people[clusters != one], judge[clusters != one], weights=weights
        )
        for one in range(20)
    ]
    error = math.sqrt(19 / 20 * np.square(np.array(left) - np.mean(left)).sum())
    assert figure.standard_error == pytest.approx(error, abs=1e-12)


def test_the_share_that_agrees_is_a_mean() -> None:
    people, judge = _rated(200, 2)
    clusters = np.arange(200) // 10
    share = judge_agreement(people, judge, clusters).figure("agreement")
    mean = estimate_mean(
        (people == judge).astype(float), clusters=clusters, bounds=(0, 1)
    )
    assert (share.estimate, share.standard_error, share.low) == (
        mean.estimate,
        mean.standard_error,
        mean.ci_low,
    )


def test_directions_and_one_category_and_few_units() -> None:
    agreement = judge_agreement([1.0] * 30, [2.0] * 20 + [1.0] * 10)
    assert agreement.judge_above == pytest.approx(2 / 3)
    assert agreement.direction_p == pytest.approx(2 * 0.5**20)
    alike = judge_agreement([1.0] * 30, [1.0] * 30)
    assert "one_category" in alike.flags
    assert (alike.figure("agreement").estimate, alike.figure("ac1").estimate) == (1, 1)
    assert alike.figure("kappa").estimate is None
    assert "0/0" in alike.figure("kappa").reason
    few = judge_agreement([1, 0, 1], [1, 0, 0]).figure("kappa")
    assert few.estimate is not None
    assert few.low is None
    assert few.reason == "fewer than 10 units"


def test_labels_weigh_what_they_stand_for() -> None:
    people, judge = _rated(40, 3)
    twice = judge_agreement(np.r_[people, people[:10]], np.r_[judge, judge[:10]])
    weighted = judge_agreement(
        people, judge, weights=np.r_[np.full(10, 2.0), np.ones(30)]
    )
    for measure in ("agreement", "kappa", "ac1", "kappa_quadratic"):
        assert weighted.figure(measure).estimate == pytest.approx(
            twice.figure(measure).estimate
        )


# --- bias, Rogan and Gladen, pooled weight -----------------------------------------------------


def test_bias_is_a_mean_by_cluster_and_tested_together() -> None:
    rng = np.random.default_rng(4)
    shift = np.array([0.0, 0.0, 0.6])
    differences = [rng.normal(shift[k], 1, 90) for k in range(3)]
    clusters = [np.arange(90) // 3] * 3
    found = judge_bias(differences, clusters)
    for one, d in zip(found, differences, strict=True):
        mean = estimate_mean(d, clusters=clusters[0], method="t")
        assert (one.estimate, one.standard_error) == (
            mean.estimate,
            mean.standard_error,
        )
        assert one.p_simultaneous >= one.p_value  # type: ignore[operator]
    assert found[2].p_simultaneous < 0.05 < found[0].p_simultaneous  # type: ignore[operator]
    one = judge_bias(differences[:1], clusters[:1])[0]
    assert one.p_simultaneous == pytest.approx(one.p_value, abs=0.02)
    own = self_preference(differences, clusters, [False, False, True])
    assert own is not None
    assert own.estimate == pytest.approx(
        found[2].estimate - (found[0].estimate + found[1].estimate) / 2
    )
    assert self_preference(differences, clusters, [False] * 3) is None


def test_a_model_on_which_both_say_the_same_is_not_tested() -> None:
    figures = judge_bias(
        [np.r_[np.ones(9), np.zeros(50)], np.tile([1.0, -1.0, 1.0], 20)],
        [np.arange(59), np.arange(60)],
    )
    assert figures[0].p_value is None
    assert "differ on 9 units" in figures[0].reason
    assert figures[1].p_simultaneous is not None


def asht(x: int, n: int, a: int, n1: int, b: int, n0: int) -> tuple[float, float]:
    """`prevSeSp` of the R package asht: the equations of Lang and Reiczigel (2014), by
    their numbers."""
    z = 1.959963984540054
    n1_, n0_, np_ = n1 + 2, n0 + 2, n + z**2
    se, sp = (a + 1) / n1_, (b + 1) / n0_
    ap = (x + z**2 / 2) / np_  # eqs. 6, 7
    p = (ap + sp - 1) / (se + sp - 1)
    dp = 2 * z**2 * (p * se * (1 - se) / n1_ - (1 - p) * sp * (1 - sp) / n0_)  # eq. 17
    v = (
        ap * (1 - ap) / np_
        + p**2 * se * (1 - se) / n1_
        + (1 - p) ** 2 * sp * (1 - sp) / n0_
    ) / (se + sp - 1) ** 2
    return max(0.0, p + dp - z * math.sqrt(v)), min(
        1.0, p + dp + z * math.sqrt(v)
    )  # eq. 16


@pytest.mark.parametrize(
    "counts",
    [
        (300, 1000, 45, 50, 44, 50),
        (20, 1000, 180, 200, 195, 200),
        (700, 900, 30, 40, 19, 25),
    ],
)
def test_rogan_gladen_is_that_of_asht(counts: tuple[int, ...]) -> None:
    found = rogan_gladen(*counts)
    assert (found.low, found.high) == pytest.approx(asht(*counts), abs=1e-12)


def test_a_judge_no_better_than_chance_is_refused_and_clusters_widen() -> None:
    assert rogan_gladen(300, 1000, 25, 50, 25, 50).reason
    plain, clustered = (
        rogan_gladen(300, 1000, 45, 50, 44, 50, design_effect=one) for one in (1, 4)
    )
    assert plain.estimate == clustered.estimate
    assert clustered.high - clustered.low > plain.high - plain.low  # type: ignore[operator]
    assert rogan_gladen(300, 1000, 9, 10, 44, 50).flags == ("few_positives",)
    with pytest.raises(StatisticsError, match="counts"):
        rogan_gladen(11, 10, 1, 2, 1, 2)


@pytest.mark.parametrize("seed", range(40))
def test_new_labels_are_shared_among_strata(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 200, rng.integers(1, 8))
    taken = rng.integers(0, sizes) if seed % 2 else np.zeros(len(sizes), int)
    n = int(rng.integers(1, sizes.sum() - taken.sum() + 1))
    spread = (
        rng.random(len(sizes)) * (rng.random(len(sizes)) < 0.7) if seed % 3 else None
    )
    new = allocate_labels(sizes, n, taken, spread)
    assert new.sum() == n and (new >= 0).all() and (new + taken <= sizes).all()
    floor = np.minimum(
        np.maximum(2, (n + taken.sum()) * sizes / sizes.sum() / 2), sizes
    )
    assert (
        np.maximum(floor, taken).sum() > n + taken.sum() - len(sizes)
        or (new + taken >= floor).all()
    )


def test_neyman_gives_labels_to_strata_that_vary() -> None:
    sizes, spread = np.array([300, 300, 400]), np.array([0.1, 0.4, 0.1])
    shares = sizes * spread / (sizes @ spread)
    assert allocate_labels(sizes, 95, spread=spread)[1] == pytest.approx(
        95 * shares[1], abs=1
    )
    assert score_cuts([0, 0, 0, 1, 2, 2, 2, 3], 9).tolist() == [0, 2]
    h, g = labelled(400, 400, 4)
    of, one = (
        (np.arange(400) % 2),
        np.where(np.arange(400) % 2, h, g),
    )  # nothing is left in the first
    found = label_spread([(one, g)], of)
    assert found is not None and 0 < found[0] < found[1]
    assert label_spread([(np.where(of == 1, one, np.nan), g)], of) is None


def test_a_weight_of_several_models() -> None:
    pairs = [labelled(60, 60, seed) for seed in (1, 2)]
    numbers = [np.cov(h, g) for h, g in pairs]
    expected = sum(one[0, 1] for one in numbers) / sum(one[1, 1] for one in numbers)
    assert pooled_weight(list(pairs)) == pytest.approx(expected, abs=1e-12)
    h, g = labelled(300, 40, 3)
    assert prediction_powered_mean(h, g, weight=0.5).weight == 0.5


def test_near_perfection_intervals_are_the_exact_one_of_the_disagreements() -> None:
    people = np.array([1.0] * 30 + [0.0] * 30)
    judge = people.copy()
    judge[[0, 40]] = 1 - judge[[0, 40]]
    found = judge_agreement(people, judge)
    assert "few_disagreements" in found.flags
    low, high = (
        scipy_stats.beta.ppf(0.025, 2, 59),
        scipy_stats.beta.ppf(0.975, 3, 58),
    )  # Clopper and Pearson, 2 of 60
    figure = found.figure("kappa")
    assert figure.low is not None and figure.high is not None
    assert figure.low <= 1 - high / 0.5 + 1e-12 and figure.high >= 1 - low / 0.5 - 1e-12
    share = found.figure("agreement")
    assert share.low is not None and share.low <= 1 - high + 1e-12
    turned = judge_agreement(judge[::-1], people[::-1]).figure("kappa")
    assert (turned.low, turned.high) == pytest.approx((figure.low, figure.high))


def test_without_a_disagreement_there_is_an_interval_and_many_leave_it_as_it_was() -> (
    None
):
    people = np.array([1.0, 0.0] * 25)
    found = judge_agreement(people, people)
    least = 1 - 0.025 ** (1 / 50)
    for measure in ("kappa", "ac1", "alpha_nominal"):
        figure = found.figure(measure)
        assert figure.high == 1 and figure.low is not None and figure.low < 1
    assert found.figure("kappa").low == pytest.approx(1 - least / 0.5)
    many = people.copy()
    many[:12] = 1 - many[:12]
    assert "few_disagreements" not in judge_agreement(people, many).flags
