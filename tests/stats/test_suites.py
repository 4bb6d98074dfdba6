"""Suites: weighted sums of leaves against closed forms, the matrix form of CR2, and
each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from tests.support.statsmodels import adjusted
from warehouse.errors import StatisticsError
from warehouse.stats import estimate_mean, paired_difference, unpaired_difference
from warehouse.stats.intervals.closed_form import (
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.suites import suite_pairs
from warehouse.stats.suites import unit_table as shared_units
from warehouse.stats.suites.cells import Cell, leaf_cell, overlap, published_cell
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    combine_differences,
)
from warehouse.stats.suites.suite_pairs import compare_suites
from warehouse.stats.suites.weighted_mean import SuiteEstimate, combine_leaves

G1 = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
G1_CLUSTERS = [0, 0, 0, 0, 1, 1, 2, 2, 2, 3]

Scores = list[np.ndarray]


def exact(value: float | None) -> object:
    return pytest.approx(value, rel=1e-10)


def random_suite(
    seed: int, *, shared: bool, n_leaves: int = 3
) -> tuple[Scores, Scores]:
    """Scores and units of leaves of unequal size, in clusters that leaves share or do
    not."""
    dice = np.random.default_rng(seed)
    scores, units = [], []
    for leaf in range(n_leaves):
        n = int(dice.integers(8, 25))
        scores.append(dice.normal(leaf, 1, n))
        labels = dice.integers(0, 6, n)
        labels[:2] = [0, 5]  # never a single cluster
        units.append(labels if shared else labels + 100 * leaf)
    return scores, units


def cells_of(scores: Scores, units: Scores) -> list[Cell]:
    return [leaf_cell(one, labels) for one, labels in zip(scores, units, strict=True)]


def matrix_form(
    scores: Scores, units: Scores, weights: np.ndarray
) -> tuple[float, float]:
    """Error and Satterthwaite's ν of Σ w_l m_l by regression on the leaves, with whole
    matrices: CR2 and P = G'ΩG of Bell and McCaffrey, Ω with each leaf's own n·CR2²."""
    y, u = np.concatenate(scores), np.concatenate(units)
    leaf = np.repeat(np.arange(len(scores)), [len(one) for one in scores])
    x = (leaf[:, None] == np.arange(len(scores))).astype(float)
    bread = np.linalg.inv(x.T @ x)
    rest = np.eye(len(y)) - x @ bread @ x.T
    residuals, columns = rest @ y, []
    for unit in np.unique(u):
        rows = np.flatnonzero(u == unit)
        block = rest[np.ix_(rows, rows)]
        values, vectors = np.linalg.eigh(block)
        root = vectors @ np.diag(1 / np.sqrt(values)) @ vectors.T
        column = np.zeros(len(y))
        column[rows] = root @ x[rows] @ bread @ weights
        columns.append(column)
    g = np.array(columns)
    variance = float(((g @ residuals) ** 2).sum())
    alone = [
        estimate_mean(one, clusters=labels).se_cr2
        for one, labels in zip(scores, units, strict=True)
    ]
    omega = np.diag([(alone[j] or 0) ** 2 * len(scores[j]) for j in leaf])
    p = g @ rest @ omega @ rest @ g.T
    return math.sqrt(variance), float(np.trace(p) ** 2 / (p**2).sum())


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_errors_are_those_of_the_matrix_form(seed: int, shared: bool) -> None:
    scores, units = random_suite(seed, shared=shared)
    weights = np.array([0.5, 0.3, 0.2])
    found = combine_leaves(cells_of(scores, units), weights)
    error, df = matrix_form(scores, units, weights)
    assert found.standard_error == exact(error)
    assert found.degrees_of_freedom == exact(df)
    assert found.estimate == exact(
        sum(w * s.mean() for w, s in zip(weights, scores, strict=True))
    )
    assert ("shared_units" in found.flags) == shared == (found.n_shared > 0)


def test_a_suite_of_one_leaf_is_the_leaf() -> None:
    alone = combine_leaves([leaf_cell(G1, G1_CLUSTERS)])
    assert alone.standard_error == pytest.approx(
        0.220389266008, rel=1e-11
    )  # goldens.md G1
    assert alone.degrees_of_freedom == pytest.approx(2.39240506329, rel=1e-11)
    assert {type(value) for value in alone.to_dict().values()} == {
        float,
        int,
        str,
        list,
    }
    single = combine_leaves([leaf_cell(G1, np.arange(10))], bounds=(0, 1))
    expected = estimate_mean(G1, bounds=(0, 1), binary=False, method="wilson_bounded")
    assert single.standard_error == exact(expected.se_clt)
    assert single.degrees_of_freedom == exact(9)
    assert (single.ci_low, single.ci_high) == (
        exact(expected.ci_low),
        exact(expected.ci_high),
    )


def test_independent_leaves_add_their_squares_with_welchs_df() -> None:
    scores, units = random_suite(7, shared=False)
    weights = np.array([3.0, 1.0, 2.0])
    found = combine_leaves(cells_of(scores, units), weights)
    alone = [
        estimate_mean(one, clusters=labels)
        for one, labels in zip(scores, units, strict=True)
    ]
    parts = [
        (w / 6 * (one.se_cr2 or 0)) ** 2 for w, one in zip(weights, alone, strict=True)
    ]
    below = sum(
        v**2 / (one.degrees_of_freedom or 0)
        for v, one in zip(parts, alone, strict=True)
    )
    assert found.standard_error == exact(math.sqrt(sum(parts)))
    assert found.se_independent == exact(math.sqrt(sum(parts)))
    assert found.degrees_of_freedom == exact(sum(parts) ** 2 / below)
    low, high = oracle.t.interval(
        0.95, found.degrees_of_freedom, found.estimate, found.standard_error
    )
    halves = [
        (one.estimate - (one.ci_low or 0), (one.ci_high or 0) - one.estimate)
        for one in alone
    ]
    below, above = (
        math.sqrt(
            sum(
                (w / 6 * own[side]) ** 2 for w, own in zip(weights, halves, strict=True)
            )
        )
        for side in (0, 1)
    )
    assert found.ci_low == exact(min(low, found.estimate - below))
    assert found.ci_high == exact(max(high, found.estimate + above))
    assert found.method == "t_hull"


def test_a_leaf_twice_is_the_leaf_once() -> None:
    dice = np.random.default_rng(2)
    cell = leaf_cell(dice.random(30), np.arange(30) // 4)
    once, twice = combine_leaves([cell]), combine_leaves([cell, cell])
    assert twice.standard_error == exact(once.standard_error)
    assert twice.degrees_of_freedom == exact(once.degrees_of_freedom)
    assert twice.se_independent == exact((once.standard_error or 0) / math.sqrt(2))


def test_bounded_figures_stay_in_their_bounds() -> None:
    cells = [
        leaf_cell([1, 1, 1, 0.9, 1], range(5)),
        leaf_cell([1, 0.8, 1], range(10, 13)),
    ]
    found = combine_leaves(cells, bounds=(0, 1))
    expected = interval_wilson_bounded(
        found.estimate, found.standard_error, found.degrees_of_freedom
    )
    assert expected is not None and found.method == "wilson_bounded"
    assert (found.ci_low, found.ci_high) == (exact(expected.low), exact(expected.high))
    assert found.ci_high is not None and found.ci_high <= 1
    percent = [leaf_cell([90.0, 70], range(2)), leaf_cell([40.0, 50], range(5, 7))]
    assert combine_leaves(percent, bounds=(0, 100)).method == "wilson_bounded"


def test_no_spread_at_all() -> None:
    right = [leaf_cell(np.ones(12), range(12)), leaf_cell(np.ones(8), range(20, 28))]
    macro = combine_leaves(right, bounds=(0, 1))
    n = 1 / (0.25 / 12 + 0.25 / 8)
    expected = interval_wilson(n, n)
    assert (macro.standard_error, macro.flags) == (None, ("all_scores_equal",))
    assert (macro.ci_low, macro.ci_high) == (exact(expected.low), 1.0)
    micro = combine_leaves(right, [12, 8], bounds=(0, 1))
    assert micro.ci_low == exact(interval_wilson(20, 20).low)
    mixed = combine_leaves(
        [right[0], leaf_cell(np.zeros(5), range(40, 45))], bounds=(0, 1)
    )
    assert (mixed.ci_low, mixed.method) == (None, "none")
    assert "equal" in mixed.reason
    partly = combine_leaves(
        [right[0], leaf_cell([0, 1, 1.0], range(40, 43))], bounds=(0, 1)
    )
    assert partly.flags == ("leaves_without_spread",) and partly.ci_low is not None


def test_a_leaf_all_right_is_not_certain() -> None:
    """By V alone 95 % covered .66: the small benchmark comes out all right in two
    samples of five."""
    dice, n, small, covered = np.random.default_rng(7), 1000, 30, 0
    truth = (0.9 + 0.97) / 2
    for _ in range(300):
        cells = [
            leaf_cell((dice.random(n) < 0.9).astype(float), range(n)),
            leaf_cell((dice.random(small) < 0.97).astype(float), range(n, n + small)),
        ]
        found = combine_leaves(cells, bounds=(0, 1))
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= truth <= found.ci_high
    assert covered / 300 > 0.96


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_ends_by_the_leaves_own_intervals(scale: float) -> None:
    scores = np.repeat([0.0, 1.0], [100, 900])
    cells = [
        leaf_cell(scores * scale, range(1000)),
        leaf_cell(np.full(30, scale), range(1000, 1030)),
    ]
    found = combine_leaves(cells, bounds=(0, scale))
    own = (
        interval_wilson_bounded(0.9, cells[0].variance ** 0.5 / scale, 999),
        interval_wilson(30, 30),
    )
    assert own[0] is not None and found.ci_low is not None
    assert found.ci_low == exact(
        scale * (0.95 - math.hypot(0.9 - own[0].low, 1 - own[1].low) / 2)
    )
    assert (
        found.flags == ("leaves_without_spread",) and found.method == "wilson_bounded"
    )


def test_a_leaf_without_an_error_leaves_the_suite_without() -> None:
    lone = leaf_cell([0.5, 0.25], [3, 3])
    assert lone.variance is None
    found = combine_leaves([lone, leaf_cell(G1, range(10, 20))])
    assert (found.standard_error, found.ci_low) == (None, None)
    assert found.reason == "1 of 2 benchmarks have no standard error"


def test_published_figures_are_independent() -> None:
    found = combine_leaves([published_cell(0.5, 0.03), published_cell(0.7, 0.04)])
    assert found.standard_error == exact(0.025)
    assert (found.method, found.degrees_of_freedom) == ("normal", None)
    assert found.ci_low == exact(0.6 - oracle.norm.ppf(0.975) * 0.025)
    own = leaf_cell(np.arange(20) / 20, range(20))
    both = combine_leaves([published_cell(0.5, 0.03), own])
    variance = 0.03**2 / 4 + (own.variance or 0) / 4
    assert both.standard_error == exact(math.sqrt(variance))
    assert both.degrees_of_freedom == exact(
        variance**2 / (((own.variance or 0) / 4) ** 2 / 19)
    )
    assert combine_leaves([published_cell(0.5, None), own]).standard_error is None


def field(result: SuiteEstimate) -> tuple[float, ...]:
    return (result.estimate, result.standard_error or 0, result.degrees_of_freedom or 0)


@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(seed: int, shuffler: object) -> None:
    scores, units = random_suite(seed, shared=True)
    dice = np.random.default_rng(seed)
    orders = [dice.permutation(len(one)) for one in scores]
    renamed = dice.permutation(6) * 7 - 3
    moved = [
        leaf_cell(s[o], renamed[u[o]])
        for s, u, o in zip(scores, units, orders, strict=True)
    ]
    one, other = combine_leaves(cells_of(scores, units)), combine_leaves(moved[::-1])
    assert field(other) == pytest.approx(field(one), rel=1e-9)


@given(st.integers(0, 50), st.floats(-5, 5), st.floats(0.1, 20))
def test_shift_and_scale(seed: int, shift: float, scale: float) -> None:
    scores, units = random_suite(seed, shared=True)
    one = combine_leaves(cells_of(scores, units), [1, 2, 3])
    other = combine_leaves(
        cells_of([shift + scale * s for s in scores], units), [10, 20, 30]
    )
    expected = (
        shift + scale * one.estimate,
        scale * (one.standard_error or 0),
        field(one)[2],
    )
    assert field(other) == pytest.approx(expected, rel=1e-7, abs=1e-9)


# --- pairs -----------------------------------------------------------------------------------


def pair(
    a: list[Cell],
    b: list[Cell],
    weights: object = None,
    bounds: tuple[float, float] | None = None,
) -> tuple[float, float, float, float]:
    found = compare_suites([a, b], weights, bounds=bounds)  # type: ignore[arg-type]
    return tuple(
        float(part[0, 1])
        for part in (
            found.difference,
            found.standard_error,
            found.degrees_of_freedom,
            found.p_value,
        )
    )  # type: ignore[return-value]


@pytest.mark.parametrize("clustered", [False, True])
def test_one_leaf_with_the_same_prompts_is_the_paired_difference(
    clustered: bool,
) -> None:
    dice = np.random.default_rng(4)
    a, b = dice.random((2, 40))
    units = np.arange(40) // 3 if clustered else np.arange(40)
    expected = paired_difference(
        a, b, clusters=units if clustered else None, bounds=(0, 1)
    )
    difference, error, df, p = pair(
        [leaf_cell(a, units)], [leaf_cell(b, units)], bounds=(0, 1)
    )
    assert difference == exact(expected.difference)
    assert error == exact(expected.standard_error)
    assert df == exact(expected.degrees_of_freedom)
    assert p == exact(expected.p_value)


def test_one_leaf_with_other_prompts_is_the_unpaired_difference() -> None:
    dice = np.random.default_rng(5)
    a, b = dice.random(30), dice.random(17)
    expected = unpaired_difference(a, b)
    found = pair(
        [leaf_cell(a, np.arange(30))], [leaf_cell(b, np.arange(50, 67))], bounds=(0, 1)
    )
    assert found == (
        exact(expected.difference),
        exact(expected.standard_error),
        exact(expected.degrees_of_freedom),
        exact(expected.p_value),
    )


@pytest.mark.parametrize("shared", [False, True])
def test_differences_of_whole_suites_are_those_of_their_differences(
    shared: bool,
) -> None:
    """The combined difference of `stats.combined`, which looks at the differences
    alone."""
    dice = np.random.default_rng(6)
    places = [np.arange(20), np.arange(10, 40) if shared else np.arange(30, 60)]
    a, b = ([dice.normal(0, 1, len(units)) for units in places] for _ in range(2))
    weights = [0.7, 0.3]
    parts = []
    for x, y, units in zip(a, b, places, strict=True):
        alone = paired_difference(x, y)
        parts.append(
            BenchmarkDifference(
                x - y, units, alone.standard_error, alone.degrees_of_freedom
            )
        )
    expected = combine_differences(parts, weights=weights)
    found = pair(cells_of(a, places), cells_of(b, places), weights)
    assert found[0] == exact(expected.difference)
    assert found[1] == exact(expected.standard_error)
    if not shared:
        assert found[2] == exact(expected.degrees_of_freedom)
        assert found[3] == exact(expected.p_value)


def test_a_pair_with_some_common_prompts_lies_between() -> None:
    dice = np.random.default_rng(8)
    truth = dice.normal(0, 1, 60)
    a = leaf_cell(truth[:40] + dice.normal(0, 0.2, 40), np.arange(40))
    errors = [
        pair(
            [a],
            [
                leaf_cell(
                    truth[s : s + 40] + dice.normal(0, 0.2, 40), np.arange(s, s + 40)
                )
            ],
        )[1]
        for s in (0, 10, 20)
    ]
    assert errors[0] < errors[1] < errors[2]


def test_all_pairs_are_adjusted_and_ranked() -> None:
    dice = np.random.default_rng(9)
    units = [np.arange(50), np.arange(40, 80)]
    truth = dice.normal(0, 1, 80)
    runs = [
        cells_of([truth[u] + skill + dice.normal(0, 0.5, len(u)) for u in units], units)
        for skill in (0.0, 1.0, 1.02, 3.0)
    ]
    found = compare_suites(runs)
    upper = np.triu_indices(4, 1)
    expected = adjusted(found.p_value[upper], "holm")
    assert found.p_holm[upper] == pytest.approx(expected, rel=1e-12)
    assert found.statistical_rank == (4, 2, 2, 1)
    assert compare_suites(runs, higher_is_better=False).statistical_rank == (1, 2, 2, 4)
    assert np.array_equal(found.difference, -found.difference.T)
    for a, b in zip(*upper, strict=True):
        alone = pair(runs[a], runs[b])
        assert (
            found.standard_error[a, b] == found.standard_error[b, a] == exact(alone[1])
        )
        assert found.degrees_of_freedom[a, b] == exact(alone[2])


def test_overlaps_of_many_designs_are_those_of_pairs() -> None:
    dice = np.random.default_rng(10)
    designs = [
        leaf_cell(dice.random(30), dice.integers(0, 12, 30)).design for _ in range(5)
    ]
    designs.insert(2, None)
    designs.append(leaf_cell([1.0], [3]).design)
    found = shared_units.overlaps(designs).toarray()
    for i, one in enumerate(designs):
        for j, other in enumerate(designs):
            lone = one is None or other is None or 6 in (i, j)
            assert found[i, j] == (0 if lone else exact(overlap(one, other)))


def test_every_run_may_have_scored_other_prompts() -> None:
    dice = np.random.default_rng(11)
    runs = []
    for _ in range(4):
        kept = [np.flatnonzero(dice.random(30) < 0.9) + 100 * leaf for leaf in range(3)]
        runs.append(cells_of([dice.random(len(units)) for units in kept], kept))
    found = compare_suites(runs)
    for a in range(4):
        for b in range(a + 1, 4):
            alone = pair(runs[a], runs[b])
            assert found.degrees_of_freedom[a, b] == exact(alone[2])
            assert 29 < alone[2] < 6 * 29


def test_a_leaf_on_which_runs_do_not_differ_is_not_certain() -> None:
    """Beside 1 000 prompts, 30 that both have right: z of the error they add is
    Wilson's end at 0 of 30."""
    dice, wide, few = np.random.default_rng(5), np.arange(1000), np.arange(2000, 2030)
    runs = [
        cells_of([(dice.random(1000) < p).astype(float), np.ones(30)], [wide, few])
        for p in (0.7, 0.75)
    ]
    certain, found = compare_suites(runs), compare_suites(runs, bounds=(0, 1))
    z = 1.959963984540054
    assert found.standard_error[0, 1] == exact(
        math.hypot(certain.standard_error[0, 1], z / (30 + z**2) / 2)
    )
    assert found.degrees_of_freedom[0, 1] < certain.degrees_of_freedom[0, 1]
    clustered = [[run[0], leaf_cell(np.ones(30), few // 10)] for run in runs]
    expected = math.hypot(certain.standard_error[0, 1], z / (3 + z**2) / 2)
    assert compare_suites(clustered, bounds=(0, 1)).standard_error[0, 1] == exact(
        expected
    )
    assert np.isnan(
        compare_suites([runs[0], runs[0]], bounds=(0, 1)).standard_error
    ).all()


def test_equal_runs_cannot_be_tested() -> None:
    cells = [leaf_cell(G1, np.arange(10)), leaf_cell([0.5, 1.0], [20, 21])]
    found = compare_suites([cells, cells])
    assert np.isnan(found.standard_error).all() and np.isnan(found.p_holm).all()
    assert found.statistical_rank == (None, None)
    lone = [leaf_cell(G1, np.arange(10)), leaf_cell([0.5], [20])]
    assert np.isnan(compare_suites([cells, lone]).p_value).all()
    assert compare_suites([cells]).statistical_rank == (None,)


def test_published_suites_are_compared_as_independent() -> None:
    found = pair([published_cell(0.5, 0.03)], [published_cell(0.6, 0.04)])
    assert found[:3] == (exact(-0.1), exact(0.05), math.inf)
    assert found[3] == exact(2 * oracle.norm.sf(2))


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, units = random_suite(3, shared=True)
    runs = [cells_of([s * k for s in scores], units) for k in (1.0, 1.4, -0.3)]
    before = compare_suites(runs).standard_error
    monkeypatch.setattr(shared_units, "BLOCK", 2)
    assert compare_suites(runs).standard_error == pytest.approx(
        before, rel=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bounds", [None, (-9, 9)])
def test_all_pairs_are_what_each_pair_is_alone(
    monkeypatch: pytest.MonkeyPatch, *, shared: bool, bounds: tuple[float, float] | None
) -> None:
    dice = np.random.default_rng(5)
    scores, units = random_suite(3, shared=shared)
    runs = [cells_of([s * k for s in scores], units) for k in (1.0, 1.4, -0.3, 1.0)]
    parts = [
        dice.permutation(len(scores[0]))[:7] for _ in range(3)
    ]  # of the first leaf some prompts only
    runs += [
        cells_of(
            [scores[0][part] + dice.normal(0, 1, 7), *scores[1:]],
            [units[0][part], *units[1:]],
        )
        for part in parts
    ]
    runs.append([published_cell(0.5, 0.03), *runs[0][1:]])
    monkeypatch.setattr(
        suite_pairs, "_BLOCK_VALUES", 2 * 3 * len(runs)
    )  # two runs at a time
    names = ("difference", "standard_error", "degrees_of_freedom", "p_value")
    by_table = {}
    for kind, small in (("dense", 1_000_000), ("sparse", 0)):
        monkeypatch.setattr(shared_units, "_SMALL", small)
        monkeypatch.setattr(shared_units, "_DENSE", small)
        by_table[kind] = compare_suites(runs, bounds=bounds)
    for a, b in itertools.permutations(range(len(runs)), 2):
        alone = compare_suites([runs[a], runs[b]], bounds=bounds)
        for name in names:
            expected = getattr(alone, name)[0, 1]
            for found in by_table.values():
                assert getattr(found, name)[a, b] == pytest.approx(
                    expected, rel=1e-9, abs=1e-12, nan_ok=True
                )


BAD = [
    (lambda: combine_leaves([]), "at least one benchmark"),
    (
        lambda: combine_leaves([leaf_cell(G1, range(10))], [1, 2]),
        "`weights` has 2 entries",
    ),
    (lambda: combine_leaves([leaf_cell(G1, range(10))], [0]), "above 0"),
    (lambda: combine_leaves([leaf_cell(G1, range(10))], level=2), "`level`"),
    (lambda: leaf_cell([], []), "empty"),
    (lambda: leaf_cell([1, math.nan], [0, 1]), "not finite"),
    (lambda: leaf_cell([1, 0], [0]), "`units` has 1 entries"),
    (lambda: leaf_cell([1, 0], [0.5, 1]), "whole numbers"),
    (lambda: published_cell(math.nan, 0.1), "finite"),
    (lambda: published_cell(0.5, 0.0), "above 0"),
    (lambda: compare_suites([]), "at least one run"),
    (lambda: compare_suites([[leaf_cell(G1, range(10))], []]), "all leaves"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_cannot_be_meant_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.rare
def test_intervals_cover_and_tests_hold_their_size() -> None:
    """Eight leaves of 40 questions of unequal difficulty, two equal models, 0/1 scores."""
    dice = np.random.default_rng(12)
    truths = np.linspace(0.3, 0.95, 8)
    covered, rejected, rounds = 0, 0, 400
    units = [np.arange(40) + 100 * leaf for leaf in range(8)]
    for _ in range(rounds):
        runs = [
            [
                leaf_cell((dice.random(40) < t).astype(float), u)
                for t, u in zip(truths, units, strict=True)
            ]
            for _ in range(2)
        ]
        found = combine_leaves(runs[0], bounds=(0, 1))
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= truths.mean() <= found.ci_high
        rejected += float(compare_suites(runs).p_value[0, 1]) < 0.05
    assert covered / rounds == pytest.approx(0.95, abs=0.03)
    assert rejected / rounds == pytest.approx(0.05, abs=0.03)


def test_covariances_of_shared_clusters_are_needed() -> None:
    """Three leaves about the same 30 dialogues, scores that go together within a
    dialogue."""
    dice = np.random.default_rng(13)
    units = np.repeat(np.arange(30), 2)
    covered, naive, rounds = 0, 0, 400
    for _ in range(rounds):
        mood = dice.normal(0, 1, 30)[units]
        cells = [leaf_cell(mood + dice.normal(0, 1, 60), units) for _ in range(3)]
        found = combine_leaves(cells)
        assert found.ci_low is not None and found.ci_high is not None
        covered += found.ci_low <= 0 <= found.ci_high
        naive += abs(found.estimate) <= 1.96 * (found.se_independent or 0)
    assert covered / rounds == pytest.approx(0.95, abs=0.03)
    assert naive / rounds < 0.88


def test_one_leaf_without_bounds_has_its_own_interval_and_units_shared_count() -> None:
    dice = np.random.default_rng(4)
    scores = np.exp(dice.normal(size=40))
    cell = leaf_cell(scores, np.arange(40))
    own = estimate_mean(scores)
    for cells in ([cell], [cell, cell]):  # the same twice is no less unsure
        found = combine_leaves(cells)
        assert (found.ci_low, found.ci_high) == pytest.approx(
            (own.ci_low, own.ci_high), rel=1e-9
        )
    scaled = combine_leaves([leaf_cell(1000 * scores, np.arange(40))])
    assert scaled.ci_high == pytest.approx(1000 * (own.ci_high or 0), rel=1e-9)


def test_flags_of_leaves_that_hold_much_of_the_variance_are_told() -> None:
    dice = np.random.default_rng(5)
    noisy = leaf_cell(10 * dice.normal(size=30), np.arange(30), flags=("skewed",))
    calm = leaf_cell(dice.normal(size=30), 100 + np.arange(30), flags=("few_prompts",))
    plain = leaf_cell(10 * dice.normal(size=30), 200 + np.arange(30))
    assert combine_leaves([noisy, calm]).flags == ("skewed", "few_prompts")
    assert combine_leaves([calm, plain]).flags == ()


def test_skewed_models_are_tested_by_halls_transformation() -> None:
    dice = np.random.default_rng(6)
    skewed, even = np.exp(dice.normal(size=40)), 2.6 + 0.2 * dice.normal(size=40)
    units = np.arange(40)
    found = compare_suites([[leaf_cell(own, units)] for own in (skewed, even)])
    d = skewed - even
    t = d.mean() / (d.std(ddof=1) / np.sqrt(40))
    pulls = (d - d.mean()) / 40 / np.sqrt(1 - 1 / 40)
    g = (pulls**3).sum() / (pulls**2).sum() ** 1.5
    turned = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    assert t < 0 < g and turned > t
    assert found.p_value[0, 1] == pytest.approx(
        2 * oracle.t.sf(abs(turned), 39), rel=1e-9
    )
    assert found.p_value[1, 0] == pytest.approx(found.p_value[0, 1], rel=1e-9)
    bounded = compare_suites(
        [[leaf_cell(own, units)] for own in (skewed, even)], bounds=(0, 100)
    )
    assert bounded.p_value[0, 1] == pytest.approx(2 * oracle.t.sf(abs(t), 39), rel=1e-9)
