"""Results by slices: figures of independent code, slow definitions, other libraries,
properties and edges."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.oneway import anova_oneway

from warehouse.errors import StatisticsError
from warehouse.stats import (
    discrete_step_down,
    edge_bins,
    equal_slices_mean,
    estimate_mean,
    quantile_bins,
    simultaneous_interval,
    slice_difference,
    slice_ranks,
    slice_tests,
    slope_of,
    variation_test,
)

ALL = [1, 0, 1, 1, 0, -1, 0, 1, -1, 0, 0, 0]
OF = [0] * 4 + [1] * 3 + [2] * 5
CROSSED = [0, 0, 1, 2, 2, 3, 4, 4, 5, 5, 6, 1]
SLICES = ([1, 0, 1, 1], [0, -1, 0], [1, -1, 0, 0, 0])


def golden(*values: float) -> object:
    """Equal at the digits that the golden has."""
    return pytest.approx(values, abs=2e-10)


def ends(found: Any) -> tuple[float, float]:
    """Lower and upper end of an interval, whatever the fields are called."""
    if hasattr(found, "low"):
        return found.low, found.high
    return found.ci_low, found.ci_high


def test_s1_added_prompts_of_a_slice() -> None:
    found = [ends(slice_difference(d, width=1)) for d in SLICES]
    assert found[0] == golden(-0.1111261434, 1)
    assert found[1] == golden(-0.8559294077, 0.4559294077)
    assert found[2] == golden(-0.5599897099, 0.5599897099)
    quarters = np.array(SLICES[0]) / 4
    of_draws = slice_difference(quarters, width=1, draws=4)
    assert ends(of_draws) == golden(-0.2166298999, 0.4666298999)


def test_s1_intervals_that_hold_together() -> None:
    found = [ends(simultaneous_interval(d, 3, width=1)) for d in SLICES]
    assert found[0] == pytest.approx((-0.48970305, 0.99787418), abs=1e-7)
    assert found[1] == pytest.approx((-0.94585942, 0.74311191), abs=1e-7)
    assert found[2] == pytest.approx((-0.74662526, 0.74662526), abs=1e-7)


def test_s2_variation_over_slices() -> None:
    found = variation_test(ALL, OF)
    assert found.statistic == pytest.approx(3.176470588, abs=1e-9)
    assert found.p_value == 292 / 4096
    assert (found.n_slices, found.n_prompts, found.n_clusters) == (3, 12, None)
    across = variation_test(ALL, OF, CROSSED)
    assert across.statistic == pytest.approx(4.050694112, abs=1e-9)
    assert across.p_value == 14 / 128
    assert across.flags == ("few_clusters",)


def test_s3_step_down_of_exact_p_values() -> None:
    adjusted = discrete_step_down([3, 5, 9, 0], [0, 1, 2, 0])
    assert adjusted == pytest.approx([0.25, 0.21875, 0.0946350098, 1], abs=1e-10)


def test_s4_mean_of_slices_that_count_alike() -> None:
    found = equal_slices_mean([1, 1, 0, 1, 1, 0, 1, 1], [0] * 4 + [1] + [2] * 3)
    assert found.estimate == pytest.approx(0.8055555556)
    assert found.standard_error == pytest.approx(0.2253255532)
    assert found.degrees_of_freedom == 5
    assert found.n_harmonic == pytest.approx(5.684210526)
    assert found.n_effective == pytest.approx(1.793508576)
    assert ends(found) == golden(0.209733181, 0.9847724729)


@pytest.fixture(scope="module")
def mmlu(data_dir: Path) -> dict[str, np.ndarray]:
    """MMLU-Pro by column."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet")
    columns = table.to_pydict()
    return {name: np.array(values) for name, values in columns.items()}


LLAMA, MIXTRAL = "Meta-Llama-3_1-8B-Instruct", "Mixtral-8x7B-Instruct-v0.1"


def test_s5_two_models_by_subject(mmlu: dict[str, np.ndarray]) -> None:
    d = mmlu[LLAMA].astype(float) - mmlu[MIXTRAL]
    names, codes = np.unique(mmlu["category"], return_inverse=True)
    tests = slice_tests(d, codes, bounded=True)
    assert tests.method == "discrete_step_down"
    published = {
        "biology": (0.0299512232, 0.1091180765, -0.0756484067, -0.0050191872),
        "chemistry": (6.575064761e-16, 2.8567e-15, 0.0993680883, 0.1616548394),
        "economics": (1.0, 1.0, -0.0374997501, 0.0374997501),
        "law": (0.0083332827, 0.038754759, -0.0736438321, -0.0115782894),
        "other": (0.0066379859, 0.0329393999, -0.0811100035, -0.0139223939),
        "physics": (0.2318407261, 0.5105851142, -0.0110838693, 0.0495158447),
    }
    clustered = {
        "biology": (-0.1321906237, 0.051682423),
        "chemistry": (0.0811910554, 0.1798318723),
        "economics": (-0.0884921898, 0.0884921898),
        "law": (-0.3611097195, 0.2763099103),
        "other": (-0.0908776353, -0.0041547621),
    }
    for name, (p, adjusted, low, high) in published.items():
        number = int(np.flatnonzero(names == name)[0])
        own = codes == number
        assert tests.p_value[number] == pytest.approx(p, rel=1e-6)
        assert tests.p_adjusted[number] == pytest.approx(adjusted, rel=1e-4)
        assert ends(slice_difference(d[own], width=1)) == golden(low, high)
        if name in clustered:
            src = mmlu["src"][own]
            found = slice_difference(d[own], width=1, clusters=src)
            assert ends(found) == golden(*clustered[name])


def test_s5_the_difference_varies_over_subjects(mmlu: dict[str, np.ndarray]) -> None:
    d = mmlu[LLAMA].astype(float) - mmlu[MIXTRAL]
    codes = np.unique(mmlu["category"], return_inverse=True)[1]
    plain = variation_test(d, codes, n_resamples=199)
    assert plain.statistic == pytest.approx(14.91138059, abs=1e-7)
    across = variation_test(d, codes, mmlu["src"], n_resamples=1999)
    assert across.statistic == pytest.approx(14.86329733, abs=1e-7)
    assert across.n_clusters == 49
    assert across.p_value is not None
    assert across.p_value <= 3 / 2000


def test_s6_llama_by_subjects_that_count_alike(mmlu: dict[str, np.ndarray]) -> None:
    codes = np.unique(mmlu["category"], return_inverse=True)[1]
    assert np.mean(mmlu[LLAMA]) == pytest.approx(0.4376005852)
    found = equal_slices_mean(mmlu[LLAMA], codes)
    assert found.estimate == pytest.approx(0.4547584252)
    assert found.standard_error == pytest.approx(0.0060033624, abs=1e-10)
    assert found.degrees_of_freedom == pytest.approx(5812.026224)
    assert found.n_harmonic == pytest.approx(6580.926937)
    assert found.n_effective == pytest.approx(6877.010585)
    assert ends(found) == golden(0.4430181163, 0.4665492492)


def bbq_scores(line: dict[str, Any], which: str) -> float:
    """1 where the prediction is exactly the right answer, and one of the three."""

    def bare(text: str) -> str:
        return re.sub(r"[^\w\s]", "", text.lower()).strip()

    answers = [bare(line[f"ans{i}"]) for i in range(3)]
    given_answer = bare(line[f"unifiedqa-t5-11b_pred_{which}"])
    hits = [answer == given_answer for answer in answers]
    return float(sum(hits) == 1 and hits[line["label"]])


def test_s7_two_formats_by_polarity_and_context(data_dir: Path) -> None:
    path = data_dir / "bbq_unifiedqa" / "preds_Sexual_orientation.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    d = np.array([bbq_scores(x, "race") - bbq_scores(x, "arc") for x in lines])
    cells = [f"{x['question_polarity']}/{x['context_condition']}" for x in lines]
    names, codes = np.unique(cells, return_inverse=True)
    questions = np.array([x["question_index"] for x in lines])
    tests = slice_tests(d, codes, bounded=True)
    places = {name: int(number) for number, name in enumerate(names)}
    first = codes == places["neg/ambig"]
    plain = slice_difference(d[first], width=1)
    assert ends(plain) == golden(0.1096013909, 0.2298481504)
    clustered = slice_difference(d[first], width=1, clusters=questions[first])
    assert ends(clustered) == golden(0.0654729242, 0.2694089886)
    second = places["neg/disambig"]
    assert tests.p_value[second] == pytest.approx(0.21875)
    assert tests.p_adjusted[second] == pytest.approx(0.3829011917)
    found = slice_difference(d[codes == second], width=1)
    assert ends(found) == golden(-0.0069638866, 0.0436611343)
    third = places["nonneg/disambig"]
    assert tests.p_value[third] == pytest.approx(0.8036193848)
    assert variation_test(d, codes, n_resamples=9).statistic == pytest.approx(
        15.18156041
    )
    across = variation_test(d, codes, questions, n_resamples=1999)
    assert across.statistic == pytest.approx(7.051376664)
    assert across.p_value == 1 / 2000


# --- oracles -------------------------------------------------------------------------


def random_slices(seed: int, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Normal values and their slices."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=len(codes)) * (1 + codes), codes


@pytest.mark.parametrize("sizes", [(5, 5, 5), (2, 9, 30), (20, 3)])
def test_the_statistic_is_that_of_brown_and_forsythe(sizes: tuple[int, ...]) -> None:
    values, codes = random_slices(1, sizes)
    found = variation_test(values, codes, n_resamples=9)
    parts = [values[codes == number] for number in range(len(sizes))]
    expected = anova_oneway(parts, use_var="bf", welch_correction=False)
    assert found.statistic == pytest.approx(expected.statistic)


def slow_statistic(r: np.ndarray, counts: np.ndarray) -> float:
    """BF by its definition, term by term; r and counts of shape (C, S)."""
    sizes = counts.sum(axis=0)
    n, totals = sizes.sum(), r.sum(axis=0)
    means = totals / sizes
    g = (counts > 0).sum(axis=0)
    rest = np.sqrt(g / (g - 1)) * (r - counts * means)
    bottom = sum(
        float(np.sum(row**2 / sizes)) - float(row.sum()) ** 2 / n for row in rest
    )
    top = float(np.sum(totals * means)) - float(totals.sum()) ** 2 / n
    return top / bottom


@pytest.mark.parametrize("seed", range(3))
def test_p_is_the_share_of_all_signs_by_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(40) % 3)
    clusters = rng.integers(0, 8, 40)
    values = rng.choice([-1.0, 0.0, 1.0], 40)
    found = variation_test(values, codes, clusters)
    r, counts = np.zeros((8, 3)), np.zeros((8, 3))
    np.add.at(r, (clusters, codes), values - values.mean())
    np.add.at(counts, (clusters, codes), 1)
    drawn = [
        slow_statistic(np.array(signs)[:, None] * r, counts)
        for signs in itertools.product((1, -1), repeat=8)
    ]
    assert found.statistic == pytest.approx(drawn[0])
    assert found.p_value == np.mean(np.array(drawn) >= drawn[0] * (1 - 1e-9))


def test_min_p_by_the_definition() -> None:
    rng = np.random.default_rng(5)
    codes, clusters = np.arange(36) % 3, rng.integers(0, 9, 36)
    values = rng.choice([-1.0, 0.0, 1.0, 1.0], 36)
    found = slice_tests(values, codes, clusters, bounded=True)
    totals = np.zeros((9, 3))
    np.add.at(totals, (clusters, codes), values)
    signs = np.array(list(itertools.product((1, -1), repeat=9)))
    figures = np.round(np.abs(signs @ totals) / np.abs(totals).sum(axis=0), 10)
    shares = np.array([(figures >= row).mean(axis=0) for row in figures])
    assert found.p_value == pytest.approx(shares[0])
    order, left, largest = np.argsort(shares[0]), [0, 1, 2], 0.0
    for number in order:
        smallest = shares[:, left].min(axis=1)
        largest = max(largest, float(np.mean(smallest <= shares[0, number] + 1e-12)))
        left.remove(number)
        assert found.p_adjusted[number] >= largest - 1e-12
    assert found.method == "min_p"


def test_a_slice_alone_has_mcnemars_p() -> None:
    values = np.repeat([1.0, -1.0, 0.0], [9, 2, 20])
    found = slice_tests(values, np.zeros(31, int), bounded=True)
    assert found.p_adjusted[0] == pytest.approx(stats.binomtest(9, 11).pvalue)


def test_step_down_where_p_is_nearly_continuous_is_that_of_holm_and_sidak() -> None:
    b, c = [5300, 5150, 5100, 5000], [4700, 4850, 4900, 5000]
    p = np.array([stats.binomtest(x, x + y).pvalue for x, y in zip(b, c, strict=True)])
    order, largest = np.argsort(p), 0.0
    expected = np.empty(4)
    for place, number in enumerate(order):
        largest = max(largest, 1 - (1 - p[number]) ** (4 - place))
        expected[number] = largest
    assert discrete_step_down(b, c) == pytest.approx(expected, rel=0.03, abs=1e-12)


def test_hc2_and_its_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    x = rng.lognormal(size=25)
    y = 0.3 * x + rng.normal(size=25) * (1 + x)
    found = slope_of(y, x)
    design = np.stack([np.ones(25), x], axis=1)
    fit = OLS(y, design).fit(cov_type="HC2")
    assert found.slope == pytest.approx(fit.params[1])
    assert found.standard_error == pytest.approx(fit.bse[1])
    centred = x - x.mean()
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    pull = centred / (centred @ centred) / np.sqrt(1 - np.diag(hat))
    p = np.diag(pull) @ (np.eye(25) - hat) @ np.diag(pull)
    freedom = np.trace(p) ** 2 / np.trace(p @ p)
    assert found.degrees_of_freedom == pytest.approx(freedom)


def test_the_jackknife_leaves_each_cluster_out() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 30))
    clusters = np.arange(30) % 7
    found = slope_of(y, x, clusters)
    without = [np.polyfit(x[clusters != c], y[clusters != c], 1)[0] for c in range(7)]
    expected = math.sqrt(6 / 7 * np.sum((np.array(without) - found.slope) ** 2))
    assert found.standard_error == pytest.approx(expected)
    assert found.degrees_of_freedom == 6


def test_clusters_across_slices_are_those_of_a_weighted_mean() -> None:
    scores = np.array([1, 0, 1, 1, 0, 1.0, 0, 1])
    slices, clusters = [0, 0, 0, 1, 1, 1, 1, 1], [0, 1, 2, 0, 1, 2, 3, 4]
    found = equal_slices_mean(scores, slices, clusters=clusters)
    sizes = np.bincount(slices)
    expected = estimate_mean(
        scores, clusters=clusters, weights=1 / sizes[slices], bounds=(0, 1)
    )
    assert found.estimate == pytest.approx((2 / 3 + 3 / 5) / 2)
    assert ends(found) == ends(expected)


def test_places_of_slices() -> None:
    scores = [1] * 20 + [0] * 20 + [1, 0] * 5
    found = slice_ranks(scores, [0] * 20 + [1] * 20 + [2] * 10)
    assert found is not None
    assert found.lowest.tolist() == [1, 2, 1]
    assert found.highest.tolist() == [2, 3, 3]
    joint = stats.binomtest(20, 20).proportion_ci(0.95 ** (1 / 3))
    assert found.intervals[0].low == pytest.approx(joint.low)
    assert slice_ranks([0.1, 2.0], [0, 1]) is None


def test_bins_hold_equal_values_together() -> None:
    found = quantile_bins([5, 1, 2, 2, 2, 2, 9, 7], 4)
    assert found.codes.tolist() == [1, 0, 0, 0, 0, 0, 2, 2]
    assert (found.lows, found.highs) == ((1, 5, 7), (2, 5, 9))
    cut = edge_bins([1, 2, 3, 4], [2, 3.5])
    assert cut.codes.tolist() == [0, 1, 1, 2]
    assert (cut.lows, cut.highs) == ((1, 2, 4), (1, 3, 4))


# --- properties and edges --------------------------------------------------------------

DIFFERENCES = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60)


@given(DIFFERENCES, st.integers(1, 5))
def test_an_adjusted_p_is_no_smaller_and_goes_up_with_p(
    values: list[float], n_slices: int
) -> None:
    codes = np.arange(len(values)) % min(n_slices, len(values))
    found = slice_tests(values, codes, bounded=True)
    assert np.all(found.p_adjusted >= found.p_value - 1e-12)
    in_order = found.p_adjusted[np.argsort(found.p_value, kind="stable")]
    assert np.all(np.diff(in_order) >= -1e-12)


@given(DIFFERENCES)
def test_the_interval_of_the_other_way_round_is_the_mirror_image(
    values: list[float],
) -> None:
    found = slice_difference(values, width=1)
    mirror = slice_difference([-v for v in values], width=1)
    low, high = ends(found)
    assert (-high, -low) == pytest.approx(ends(mirror))
    assert -1 <= low <= found.difference <= high <= 1


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_the_order_of_prompts_changes_no_statistic(
    values: list[float], random: Any
) -> None:
    codes = [i % 2 for i in range(len(values))]
    if len(values) < 4:
        return
    places = list(range(len(values)))
    random.shuffle(places)
    first = variation_test(values, codes, n_resamples=9).statistic
    moved = variation_test(
        [values[i] for i in places], [codes[i] for i in places], n_resamples=9
    ).statistic
    assert first == pytest.approx(moved)


def test_the_scale_of_scores_changes_nothing_but_the_scale() -> None:
    scores = [1, 1, 0, 1, 1, 0, 1, 1]
    slices = [0] * 4 + [1] + [2] * 3
    unit = equal_slices_mean(scores, slices)
    percent = equal_slices_mean(100 * np.array(scores), slices, bounds=(0, 100))
    assert percent.estimate == pytest.approx(100 * unit.estimate)
    assert np.array(ends(percent)) == pytest.approx(100 * np.array(ends(unit)))


def test_slices_of_one_prompt_are_left_out_and_named() -> None:
    found = variation_test([1, 0, 1, 0, 1], [0, 0, 1, 1, 2])
    assert found.left_out == (2,)
    assert (found.n_slices, found.n_prompts) == (2, 4)


def test_slices_that_are_the_clusters_are_refused() -> None:
    found = variation_test([1, 0, 1, 0], [0, 0, 1, 1], ["a", "a", "b", "b"])
    assert found.p_value is None
    assert "each slice is one cluster" in found.reason
    alone = variation_test([1, 0], [0, 1])
    assert "two prompts" in alone.reason


def test_no_spread_at_all() -> None:
    assert variation_test([1.0] * 6, [0, 0, 0, 1, 1, 1]).statistic == 0
    assert variation_test([1.0] * 6, [0, 0, 0, 1, 1, 1]).p_value == 1
    apart = variation_test([1.0] * 3 + [0.0] * 3, [0, 0, 0, 1, 1, 1])
    assert math.isinf(apart.statistic or 0)
    assert apart.p_value == 2 / 64 + 0  # both slices whole, the signs alike or not


def test_one_prompt_and_one_cluster() -> None:
    assert ends(slice_difference([1.0], width=1))[1] == 1
    alone = slice_difference([1.0, 0.0], width=1, clusters=["a", "a"])
    assert (alone.ci_low, alone.reason) == (None, "a single cluster")
    unbounded = slice_difference([3.0], width=None)
    assert (unbounded.ci_low, unbounded.reason) == (None, "a single prompt")
    assert slice_difference([3.0, 1.0, 2.0], width=None).method == "t"
    many = np.random.default_rng(0).normal(size=30)
    assert slice_difference(many, width=None).method == "hull"


def test_no_verdict_of_few_or_skewed_unbounded_scores() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=200), [1, 2]])
    codes = [0] * 100 + [1] * 100 + [2] * 2
    found = slice_tests(values, codes, bounded=False)
    assert found.reasons == ("", "", "skewed")
    assert np.isnan(found.p_adjusted).tolist() == [False, False, True]
    # the tails of one slice tell of those that another lacks by chance
    values[100:200] = rng.lognormal(size=100)
    tails = slice_tests(values, codes, bounded=False)
    assert tails.reasons == ("skewed", "skewed", "skewed")
    assert np.isnan(tails.p_value).all()


def test_no_verdict_of_skewed_differences_where_draws_differ() -> None:
    rng = np.random.default_rng(4)
    values = rng.binomial(10, 0.05, 300) / 10 - (rng.random(300) < 0.05)
    codes = np.arange(300) % 3
    alike = slice_tests(values, codes, bounded=True, zero_one=False)
    assert alike.reasons == ("", "", "")
    found = slice_tests(values, codes, bounded=True, zero_one=False, same_draws=False)
    assert found.reasons == ("skewed", "skewed", "skewed")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_slices"), [(50, 12), (200, 12), (50, 50)])
def test_family_wise_error_of_skewed_scores(n: int, n_slices: int) -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(n_slices), n)
    wrong, repeats = 0, 300
    for seed in range(repeats):
        values = rng.lognormal(size=len(codes)) - rng.normal(size=len(codes))
        values -= math.exp(0.5)
        found = slice_tests(values, codes, bounded=False, n_resamples=199, seed=seed)
        wrong += bool(np.any(found.p_adjusted <= 0.05))
    assert wrong / repeats <= 0.05 + 0.02


def test_a_prompt_in_several_slices_has_one_sign() -> None:
    values, slices = [1.0, 1.0, -1.0, 1.0], [0, 1, 0, 1]
    found = slice_tests(values, slices, bounded=True, prompts=[0, 0, 1, 2])
    assert found.method == "min_p"
    assert found.p_value == pytest.approx([1.0, 0.5])


def test_where_every_slice_is_one_prompt_there_is_no_mean_interval() -> None:
    found = equal_slices_mean([1, 0, 1], [0, 1, 2])
    assert (found.ci_low, found.reason) == (None, "no slice has two prompts")
    single = equal_slices_mean([1, 0, 1], [0, 0, 1], clusters=["a", "a", "b"])
    assert (single.ci_low, single.reason) == (None, "a slice has a single cluster")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: variation_test([1, 0], [0, 2]), "without a gap"),
        (lambda: variation_test([1, 0], ["a", "b"]), "whole number"),
        (lambda: variation_test([1, 0], [0]), "1 entries"),
        (lambda: slice_difference([2.0], width=1), "outside"),
        (lambda: slice_difference([0.5], width=1, draws=0.5), "at least 1"),
        (lambda: discrete_step_down([1.5], [0]), "counts"),
        (lambda: discrete_step_down([1], [0, 1]), "2"),
        (lambda: quantile_bins([1, 2], 1), "at least 2"),
        (lambda: edge_bins([1, 2], [2, 2]), "must rise"),
    ],
)
def test_what_is_refused(call: Any, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        call()


def test_slopes_that_cannot_be_had() -> None:
    assert slope_of([1, 2, 3], [1, 1, 1]).slope is None
    alone = slope_of([1.0, 2.0, 3.0, 9.0], [1, 1, 1, 4])
    assert alone.standard_error is None
    assert "single prompt" in alone.reason
    assert "line" in slope_of([1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]).reason
    assert "too few" in slope_of([1, 0, 1, 1], [1, 2, 3, 4], [0, 0, 1, 1]).reason


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2, 3, 5, 10) * 3, (20,) * 12, (100,) * 3])
def test_family_wise_error_and_size_where_nothing_differs(
    sizes: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    wrong = size = 0
    repeats = 1000
    for _ in range(repeats):
        values = rng.choice([-1.0, 0, 1], len(codes), p=[0.1, 0.8, 0.1])
        found = slice_tests(values, codes, bounded=True)
        wrong += bool(np.any(found.p_adjusted <= 0.05))
        p = variation_test(values, codes, n_resamples=199).p_value
        size += bool(p is not None and p <= 0.05)
    assert wrong / repeats <= 0.05 + 0.015
    assert size / repeats <= 0.062 + 0.015


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_coverage_of_the_mean_of_unequal_slices(p: float) -> None:
    rng = np.random.default_rng(2)
    codes = np.repeat([0, 1, 2], [3, 10, 100])
    inside = 0
    for _ in range(4000):
        found = equal_slices_mean(rng.random(len(codes)) < p, codes)
        inside += bool(found.ci_low <= p <= found.ci_high)
    assert inside / 4000 >= 0.938 - 0.01
