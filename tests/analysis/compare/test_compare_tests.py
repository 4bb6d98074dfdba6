"""`compare`: tests, estimands, equivalence, several benchmarks, flips: as
`warehouse.stats`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tests.support.two_models import MODELS, ROWS, draws, means
from warehouse.analysis.compare.answer import Comparison, compare
from warehouse.analysis.comparison.row import ComparisonRow
from warehouse.analysis.gate.answer import gate
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import (
    equivalence_test,
    mcnemar_test,
    paired_difference,
    paired_difference_prompts_fixed,
    sign_flip_test,
    wilcoxon_test,
)
from warehouse.stats.core.draws import summarise_draws
from warehouse.stats.multiple.adjust import holm
from warehouse.store.connection import Store


def on(world: Store, benchmark: str, **options: object) -> ComparisonRow:
    (row,) = compare(world, *MODELS, benchmark=benchmark, **options).rows  # type: ignore[arg-type]
    return row


def every(world: Store, **options: object) -> Comparison:
    return compare(world, *MODELS, where=["temperature="], **options)  # type: ignore[arg-type]


# --- tests of one benchmark ------------------------------------------------------------------


def test_right_or_wrong_once_has_all_tests(world: Store) -> None:
    a, b = means("one")
    row = on(world, "one")
    assert (
        row.p_value
        == row.p_t
        == pytest.approx(paired_difference(a, b).p_value, rel=1e-9)
    )
    assert row.p_mcnemar == pytest.approx(mcnemar_test(a, b).p_value, rel=1e-12)
    assert row.p_permutation == pytest.approx(sign_flip_test(a - b).p_value, rel=1e-12)
    assert (row.permutation, row.p_wilcoxon, row.p_holm, row.test) == (
        "binomial",
        None,
        None,
        "t",
    )
    assert (row.higher_a, row.higher_b) == (int((a > b).sum()), int((a < b).sum()))
    assert row.not_applicable == ()


@pytest.mark.parametrize("method", ["permutation", "mcnemar", "wilcoxon"])
def test_the_method_decides_what_is_better(world: Store, method: str) -> None:
    a, b = means("one")
    expected = {
        "permutation": sign_flip_test(a - b),
        "mcnemar": mcnemar_test(a, b),
        "wilcoxon": wilcoxon_test(a - b),
    }[method].p_value
    assert expected is not None
    row = on(world, "one", method=method, level=1 - 0.99 * expected)
    assert (row.test, row.p_value, row.better) == (method, pytest.approx(expected), "")
    assert on(world, "one", method=method, level=1 - 1.01 * expected).better == "a"


def test_several_draws_have_no_mcnemar(world: Store) -> None:
    a, b = means("many")
    row = on(world, "many", method="mcnemar", seed=5, n_resamples=499)
    assert (row.p_mcnemar, row.p_value, row.better) == (None, None, "")
    assert row.not_applicable == (
        "mcnemar: only for 0/1 scores with one draw per prompt",
    )
    assert row.p_permutation == sign_flip_test(a - b, n_resamples=499, seed=5).p_value
    assert row.permutation == "monte_carlo"


def test_clusters_are_flipped_whole_and_have_no_mcnemar(world: Store) -> None:
    row = on(world, "marks", where=["temperature=0"])
    assert (row.n_clusters, row.permutation) == (4, "exact")
    assert "too_few_units" in row.flags
    assert row.p_permutation is not None and row.p_permutation >= 2 / 2**4
    plain = on(world, "marks", where=["temperature=0"], cluster="none")
    assert plain.n_clusters is None and plain.p_permutation != row.p_permutation
    clustered = on(world, "marks", where=["temperature=0"], method="wilcoxon")
    assert clustered.p_wilcoxon is None
    assert (
        "wilcoxon: takes clustered prompts as independent" in clustered.not_applicable
    )


def test_a_ratio_has_no_test_of_signs(world: Store) -> None:
    (row,) = compare(world, "org/a", "org/b", benchmark="words").rows
    assert row.p_t is not None
    assert (row.p_permutation, row.permutation, row.p_mcnemar) == (None, "", None)
    assert (
        "permutation: a ratio of sums is no mean of differences" in row.not_applicable
    )


def test_an_error_of_0_leaves_p_out_and_says_why(world: Store) -> None:
    row = on(world, "same")
    assert (row.p_value, row.p_t, row.standard_error) == (None, None, None)
    assert row.ci_low is not None and row.ci_low < 0 < (
        row.ci_high or 0
    )  # what may differ
    assert (row.p_permutation, row.p_mcnemar) == (1, 1)
    assert row.flags == ("all_differences_equal",)
    assert (
        row.not_applicable == ("t: all differences are equal",) or "equal" in row.reason
    )


def test_swapping_the_models_changes_no_p(world: Store) -> None:
    row = on(world, "one", equivalence=0.3)
    (other,) = compare(world, *MODELS[::-1], benchmark="one", equivalence=0.3).rows
    for name in (
        "p_t",
        "p_permutation",
        "p_mcnemar",
        "p_equivalence",
        "variance_saved",
    ):
        assert getattr(row, name) == pytest.approx(getattr(other, name), rel=1e-9), name
    assert (row.higher_a, row.higher_b) == (other.higher_b, other.higher_a)
    assert (row.better, other.better) in {("a", "b"), ("", "")}


@pytest.mark.parametrize("margin", [0.05, 0.5])
def test_equivalence_is_that_of_the_statistics(world: Store, margin: float) -> None:
    a, b = means("one")
    row, expected = (
        on(world, "one", equivalence=margin),
        equivalence_test(a - b, margin),
    )
    assert row.p_equivalence == pytest.approx(expected.p_value, rel=1e-9)
    assert (row.equivalent, row.margin) == (expected.equivalent, margin)
    assert on(world, "one").equivalent is None


def test_prompts_fixed_leaves_the_error_of_the_draws(world: Store) -> None:
    sides = []
    for model in MODELS:
        found = list(draws("many", model).values())
        flat = [value for prompt in found for value in prompt]
        sides.append(summarise_draws(flat, np.repeat(np.arange(len(found)), 4)))
    expected = paired_difference_prompts_fixed(*sides)
    row = on(world, "many", estimand="prompts-fixed")
    for name in (
        "difference",
        "standard_error",
        "ci_low",
        "p_value",
        "degrees_of_freedom",
    ):
        assert getattr(row, name) == pytest.approx(getattr(expected, name), rel=1e-9), (
            name
        )
    assert (row.estimand, row.p_permutation) == ("prompts_fixed", None)
    assert row.standard_error < (on(world, "many").standard_error or 0)  # type: ignore[operator]
    once = on(world, "one", estimand="prompts_fixed")
    assert (once.standard_error, once.p_value) == (None, None)
    assert "how much its draws vary is unknown" in once.reason
    with pytest.raises(MisuseError, match="words: word_perplexity is a ratio of sums"):
        compare(world, "org/a", "org/b", benchmark="words", estimand="prompts_fixed")


def test_unscored_samples_are_counted(world: Store) -> None:
    (row,) = compare(world, "org/c", "org/d", benchmark="quiz").rows
    missing = sum(
        score["value"] is None
        for score in ROWS.rows["score"]
        if score["run_id"] in row.runs_b
    )
    assert (row.unscored_a, row.unscored_b) == (0, missing) and missing > 0
    assert "many_unscored" in row.flags  # 48 of 80
    whole = on(world, "many")
    assert (whole.unscored_a, whole.unscored_b) == (
        0,
        0,
    ) and "many_unscored" not in whole.flags


# --- several benchmarks ----------------------------------------------------------------------


def test_p_is_adjusted_for_the_number_of_benchmarks(world: Store) -> None:
    rows = [row for row in every(world).rows if row.p_value is not None]
    assert len(rows) == 3
    assert [row.p_holm for row in rows] == pytest.approx(
        holm([row.p_value for row in rows])
    )


def test_overall_pairs_the_prompts_that_benchmarks_share(world: Store) -> None:
    """Equal weights; `shared` asks prompts of `one`: Var by hand from the covariance of
    means."""
    overall, rows = (
        every(world).overall,
        {row.benchmark: row for row in every(world).rows},
    )
    assert overall is not None
    names = ("many", "one", "same", "shared")
    assert overall.difference == pytest.approx(
        np.mean([rows[name].difference for name in names])
    )
    errors = [(rows[name].standard_error or 0.0) ** 2 for name in names]
    a, b = means("one")
    c, d = means("shared")
    one, shared = a - b, c - d
    centred = (one - one.mean())[:20] @ (shared - shared.mean())
    covariance = centred / (60 * 20) * (60 / 59 * 20 / 19) ** 0.5
    z = 1.959963984540054
    nothing = z / (
        5 + z**2
    )  # none of the 5 prompts of `same` differs: z times this is Wilson's end at 0 of 5
    expected = (sum(errors) + nothing**2 + 2 * covariance) / 16
    assert overall.standard_error == pytest.approx(expected**0.5, rel=1e-9)
    assert (
        overall.n_prompts == 60 + 25 + 5
    )  # those of `shared` are among those of `one`
    assert "20 prompts or clusters in several benchmarks" in overall.reason
    assert "4 benchmarks of equal weight" in overall.reason
    assert (overall.benchmark, overall.p_holm, overall.p_mcnemar) == (
        "overall",
        None,
        None,
    )


def test_overall_of_benchmarks_apart_adds_their_variances(world: Store) -> None:
    overall = compare(world, "lab/p", "lab/q").overall
    (a, b), (c, d) = (means(name, ("lab/p", "lab/q")) for name in ("left", "right"))
    expected = stats.ttest_ind(a - b, d - c, equal_var=False)
    assert overall is not None
    assert overall.difference == pytest.approx((np.mean(a - b) + np.mean(c - d)) / 2)
    assert overall.degrees_of_freedom == pytest.approx(expected.df)
    # scores without bounds: as unsure as the intervals of the parts say, on the side of
    # no difference
    parts = compare(world, "lab/p", "lab/q").rows
    sides = [
        row.difference - row.ci_low
        if overall.difference > 0
        else row.ci_high - row.difference
        for row in parts
    ]
    facing = float(np.hypot(*sides)) / 2
    turned = abs(overall.difference) / facing * stats.t.ppf(0.975, expected.df)
    assert overall.p_t == pytest.approx(
        max(expected.pvalue, 2 * stats.t.sf(turned, expected.df)), rel=1e-9
    )
    assert overall.mean_a == pytest.approx((a.mean() + c.mean()) / 2)
    unpaired = (a.var(ddof=1) + b.var(ddof=1)) / 10 + (
        c.var(ddof=1) + d.var(ddof=1)
    ) / 25
    paired = np.var(a - b, ddof=1) / 10 + np.var(c - d, ddof=1) / 25
    assert overall.variance_saved == pytest.approx(1 - paired / unpaired)


def test_clusters_that_are_one_document_are_paired_over_benchmarks(
    world: Store,
) -> None:
    """`doc/1` and `doc/2` ask about the same four documents: their effects do not
    cancel out."""
    found = compare(world, "lab/r", "lab/s")
    assert found.overall is not None
    assert "4 prompts or clusters in several benchmarks" in found.overall.reason
    assert found.overall.n_clusters == 4
    apart = sum((row.standard_error or 0) ** 2 for row in found.rows) ** 0.5 / 2
    assert found.overall.standard_error is not None
    assert (
        found.overall.standard_error > 1.2 * apart
    )  # the effect of a document is in both
    assert found.overall.degrees_of_freedom == pytest.approx(3)


def test_links_do_not_lose_clusters(world: Store) -> None:
    """The prompts of `doc/2` are linked to those of another benchmark that has no
    clusters."""
    (row,) = compare(world, "lab/r", "lab/s", benchmark="doc/2").rows
    assert row.n_clusters == 4


def test_overall_flips_and_equivalence(world: Store) -> None:
    found = every(world, equivalence=0.4, method="permutation", seed=3).overall
    assert found is not None
    assert found.p_value == found.p_permutation and 0 < (found.p_permutation or 0) < 1
    assert found.p_equivalence is not None
    fixed = every(world, estimand="prompts_fixed").overall
    assert fixed is not None
    assert (fixed.standard_error, fixed.p_permutation) == (
        None,
        None,
    )  # `one` has one draw


def test_scales_that_have_no_mean_have_no_overall(world: Store) -> None:
    found = compare(world, *MODELS, latest=True)
    assert found.overall is None
    (why,) = found.left_out
    assert "overall: the benchmarks have 2 metric scales (acc, marks)" in why
    assert found.one_line == "lab/x against lab/y on 5 benchmarks"
    assert found.models == [
        "a = lab/x",
        "b = lab/y",
    ]  # and which conditions stand for them on one of the five:
    taken = "taken on marks: lab/x (temperature=1.0) and lab/y (temperature=1.0)"
    assert (
        taken in found.notes
        and taken in gate(world, *MODELS, latest=True, margin=0.1).notes
    )


def test_a_benchmark_without_a_figure_leaves_the_others(world: Store) -> None:
    found = compare(world, "lab/u", "lab/v")
    assert [row.benchmark for row in found.rows] == ["plain"]
    (why,) = found.left_out
    assert why.startswith("steep: ") and "overflows" in why
    with pytest.raises(MisuseError, match="steep: .*overflows"):
        compare(world, "lab/u", "lab/v", benchmark="steep")


def test_all_open_choices_are_listed_at_once(world: Store) -> None:
    with pytest.raises(MisuseError) as caught:
        compare(world, *MODELS)
    said = str(caught.value)
    assert said.startswith("2 choices are open; narrow them with --where field=value")
    for model in MODELS:
        assert f"{model!r} on marks means 2 conditions:" in said
    assert said.count("temperature=0.0") == said.count("temperature=1.0") == 2
    assert said.count("run:") == 5  # the advice, and each candidate
    assert every(world).rows


# --- what cannot be ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "magic"},
            "unknown method 'magic'; there are: auto, t, permutation",
        ),
        (
            {"estimand": "all"},
            "unknown estimand 'all'; there are: prompts_sampled, prompts_fixed",
        ),
        ({"equivalence": 0.0}, r"equivalence must be in \(0, inf\)"),
        ({"equivalence": float("nan")}, r"equivalence must be in \(0, inf\)"),
        ({"equivalence": 0.1, "level": 0.5}, "equivalence needs a level above 0.5"),
        ({"n_resamples": 0}, "resamples must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"flips": -1}, "flips must be at least 0"),
    ],
)
def test_options_that_cannot_be_are_refused(
    world: Store, options: dict[str, object], message: str
) -> None:
    with pytest.raises((MisuseError, StatisticsError), match=message):
        on(world, "one", **options)


def test_every_two_models_of_the_world_can_be_compared(world: Store) -> None:
    """No crash and no NaN, whatever is in the store."""
    names = ["org/a", "org/b", "org/d", "edge/1", "win/a", "win/b"]
    compared = 0
    for a, b in combinations(names, 2):
        try:
            found = compare(world, a, b, latest=True, flips=2, equivalence=0.1)
        except MisuseError:
            continue
        compared += 1
        for row in (*found.rows, *([found.overall] if found.overall else [])):
            assert not any(value != value for value in row.to_dict().values())
    assert compared >= 4
