"""One row of a comparison, and the prompts on which the two disagree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.hooks import FewUnits, PairCosts
from warehouse.analysis.comparison.pair_tests import Tests
from warehouse.analysis.comparison.pairing import Pair
from warehouse.analysis.comparison.texts import PairTexts
from warehouse.analysis.results import (
    BenchmarkRow,
    Column,
    PairedRow,
    Tested,
    finite_or_none,
    part_fields,
)
from warehouse.analysis.selection.clusterings import outside_clusters
from warehouse.analysis.selection.prompt_links import indices_among
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import (
    PairedDifference,
    PartiallyPairedDifference,
    compare_infinite,
    partially_paired_difference,
)
from warehouse.stats.core.inputs import rejects
from warehouse.stats.multiple.adjust import holm_of_distinct

#: Flag, and method, of rows with infinite scores.
INFINITE = "infinite"
#: Prompts that each must have alone to be told of: two have an error.
FEWEST_OTHERS = 2


@dataclass(frozen=True)
class ComparisonRow(Tested, PairedRow):
    """The difference on one benchmark and split, first minus second; ``overall`` for
    the mean over several."""

    #: figure of the first on the common prompts.
    mean_a: ClassVar[Column[float]] = Column("paired.mean_a")
    #: figure of the second on the common prompts.
    mean_b: ClassVar[Column[float]] = Column("paired.mean_b")
    #: ``mean_a - mean_b``.
    difference: ClassVar[Column[float]] = Column("paired.difference")
    #: of the difference; None where not defined or 0.
    standard_error: ClassVar[Column[float | None]] = Column("paired.standard_error")
    #: lower end of the t interval.
    ci_low: ClassVar[Column[float | None]] = Column("paired.ci_low")
    #: upper end of the t interval.
    ci_high: ClassVar[Column[float | None]] = Column("paired.ci_high")
    #: nominal coverage of the interval.
    level: ClassVar[Column[float]] = Column("paired.level")
    p_value: float | None  #: two-sided, of the test named in ``test``.
    #: ``"a"`` or ``"b"`` where ``p_value`` (``p_holm``, where there is one) is at most
    #: 1 - level and, of the t test, the interval leaves out 0; by the metric's
    #: direction; empty where that is not so, or none is known.
    better: str
    #: of the two over prompts.
    correlation: ClassVar[Column[float | None]] = Column("paired.correlation")
    #: share of the unpaired variance that pairing removes.
    variance_saved: ClassVar[Column[float | None]] = Column("paired.variance_saved")
    #: prompts that both have a score of.
    n_prompts: ClassVar[Column[int]] = Column("paired.n_prompts")
    only_a: int  #: prompts that only the first has a score of.
    only_b: int  #: prompts that only the second has a score of.
    #: clusters among the common prompts; None without clusters.
    n_clusters: ClassVar[Column[int | None]] = Column("paired.n_clusters")
    n_draws_a: int  #: generations of the first on the common prompts.
    n_draws_b: int  #: generations of the second on the common prompts.
    #: of the error and the interval.
    method: ClassVar[Column[str]] = Column("paired.method")
    flags: tuple[str, ...]  #: warnings of the statistics.
    #: why this method, or why there is no interval.
    reason: ClassVar[Column[str]] = Column("paired.reason")
    #: error as if prompts were independent (Miller eq. 7).
    se_unclustered: ClassVar[Column[float | None]] = Column("paired.se_eq7")
    #: the paper's clustered error (Miller eq. 8), beside the CR2 of ``standard_error``;
    #: None without clusters.
    se_eq8: ClassVar[Column[float | None]] = Column("paired.se_eq8")
    runs_a: tuple[int, ...]  #: ids of the runs of the first.
    runs_b: tuple[int, ...]  #: ids of the runs of the second.
    #: behind ``p_value``: ``t``, ``permutation``, ``mcnemar`` or ``wilcoxon``.
    test: str
    #: two-sided, Student's t.
    p_t: ClassVar[Column[float | None]] = Column("tests.p_t")
    #: two-sided, signs of differences (or of cluster sums) flipped.
    p_permutation: ClassVar[Column[float | None]] = Column("tests.p_permutation")
    #: ``exact``, ``binomial`` (exact) or ``monte_carlo``; empty without.
    permutation: ClassVar[Column[str]] = Column("tests.permutation")
    #: McNemar's exact test; 0/1 scores, one draw, no clusters.
    p_mcnemar: ClassVar[Column[float | None]] = Column("tests.p_mcnemar")
    #: Wilcoxon's signed ranks; only where it is asked for.
    p_wilcoxon: ClassVar[Column[float | None]] = Column("tests.p_wilcoxon")
    #: ``p_value`` adjusted for the number of benchmarks (Holm); None with one.
    p_holm: float | None
    #: half width of what counts as equal; None where none was given.
    margin: float | None
    #: the larger of two one-sided t tests against ``margin``.
    p_equivalence: ClassVar[Column[float | None]] = Column("tests.p_equivalence")
    equivalent: bool | None  #: ``p_equivalence`` is at most 1 - level; None without.
    #: ``prompts_sampled`` or ``prompts_fixed``.
    estimand: ClassVar[Column[str]] = Column("paired.estimand")
    #: of the standard error.
    degrees_of_freedom: ClassVar[Column[float | None]] = Column(
        "paired.degrees_of_freedom"
    )
    higher_a: int  #: common prompts on which the first has the higher score.
    higher_b: int  #: common prompts on which the second has the higher score.
    unscored_a: int  #: samples of the first without a score.
    unscored_b: int  #: samples of the second without a score.
    #: with the prompts that only one of them has: the paired difference and the
    #: unpaired one of those, weighted by inverse variance; None where either has fewer
    #: than two, with clusters or weights, and with the prompts fixed.
    partial_difference: float | None
    partial_standard_error: float | None  #: of it.
    partial_ci_low: float | None  #: lower end of its t interval.
    partial_ci_high: float | None  #: upper end.
    partial_p_value: float | None  #: two-sided, Student's t.
    #: ``name: why`` of each test that was not made.
    not_applicable: ClassVar[Column[tuple[str, ...]]] = Column("tests.reasons")
    paired: PairedDifference  #: the difference that the columns from ``mean_a`` on come from.
    tests: Tests  #: that the p-values of each test come from.
    #: smallest number of the better's unscored prompts that, if wrong, leave the t test
    #: without a verdict, its others at its mean; None where none do, and where p is of
    #: another test.
    tips_at: int | None = None
    costs: PairCosts | None = None  #: that the columns of costs come from.
    #: cost that was asked for; empty without.
    cost_metric: ClassVar[Column[str]] = Column("costs.metric", "")
    #: mean cost of an answer of the first, on the common prompts of which both costs
    #: are known.
    cost_a: ClassVar[Column[float | None]] = Column("costs.a")
    cost_b: ClassVar[Column[float | None]] = Column("costs.b")  #: of the second.
    #: cost of the first over that of the second.
    cost_ratio: ClassVar[Column[float | None]] = Column("costs.ratio.estimate")
    #: lower end of its interval, by logarithms.
    ratio_low: ClassVar[Column[float | None]] = Column("costs.ratio.low")
    #: upper end.
    ratio_high: ClassVar[Column[float | None]] = Column("costs.ratio.high")
    #: common prompts of which either cost is not known; None where no cost was asked
    #: for.
    n_missing_cost: ClassVar[Column[int | None]] = Column("costs.n_missing")
    #: sha256 of the prices behind it; empty without.
    prices_digest: ClassVar[Column[str]] = Column("costs.prices_digest", "")
    few: FewUnits | None = None  #: that the columns of few units come from.
    #: whether few units of a field carry the verdict: at most three of eight or more,
    #: and the difference varies over them (p at most .01). None where nobody is better,
    #: or the prompts have no field but the clusters of the error.
    rests_on_few: ClassVar[Column[bool | None]] = Column("few.fires")
    #: the field: a clustering, or a slice that was declared; empty without.
    carried_by: ClassVar[Column[str]] = Column("few.field", "")
    #: fewest units of it without which the other leads; None where no number does.
    carried_count: ClassVar[Column[int | None]] = Column("few.count")
    carried_of: ClassVar[Column[int | None]] = Column("few.n_units")  #: units of it.
    #: the units by name, where ``rests_on_few``.
    carried_units: ClassVar[Column[tuple[str, ...]]] = Column("few.left_out", ())
    #: whether the difference varies over the units (Holm over fields); None where more
    #: than three carry it.
    p_varies: ClassVar[Column[float | None]] = Column("few.p_varies")
    #: of the difference, with the units as clusters.
    p_by_units: ClassVar[Column[float | None]] = Column("few.p_by_units")

    PARTS = ("paired", "tests", "costs", "few")


def make_row(
    pair: Pair,
    paired: PairedDifference,
    tests: Tests,
    options: Compare,
    *,
    is_part: bool = False,
) -> ComparisonRow:
    """The row of two conditions on one benchmark; on a part of its prompts the others
    are not those of one alone."""
    a, b = pair.a, pair.b
    p = tests.chosen(options.test)
    values_a, values_b = (
        side.values[rows]
        for side, rows in ((pair.scores_a, pair.of_a), (pair.scores_b, pair.of_b))
    )
    return ComparisonRow(
        benchmark=pair.benchmark,
        split=pair.split,
        metric=pair.metric.label,
        model_a=a.model,
        condition_a=pair.labels[0],
        model_b=b.model,
        condition_b=pair.labels[1],
        p_value=p,
        better=which_better(
            p,
            paired.difference,
            pair.metric.higher_is_better,
            options.level,
            ends_beside(options.test, paired),
        ),
        only_a=pair.scores_a.n - pair.n,
        only_b=pair.scores_b.n - pair.n,
        n_draws_a=pair.n_draws[0],
        n_draws_b=pair.n_draws[1],
        flags=(
            *paired.flags,
            *tests.flags,
            *outside_clusters(pair.clusters),
            *pair.unscored_flags,
            *pair.scale_flags,
            *pair.row_flags,
        ),
        runs_a=a.run_ids,
        runs_b=b.run_ids,
        test=options.test,
        p_holm=None,
        margin=options.equivalence,
        equivalent=is_equivalent(tests.p_equivalence, options.level),
        higher_a=int(np.sum(values_a > values_b)),
        higher_b=int(np.sum(values_a < values_b)),
        unscored_a=pair.scores_a.n_unscored,
        unscored_b=pair.scores_b.n_unscored,
        paired=paired,
        tests=tests,
        **partial_figures(None if is_part else _with_the_rest(pair, paired)),
    )


def infinite_row(pair: Pair, options: Compare) -> ComparisonRow:
    """The row of two conditions of which one has infinite scores: paired tests of signs
    in place of a difference."""
    (a, _), (b, _) = pair.sides
    rising = (pair.metric.link == "identity") == (
        pair.metric.higher_is_better is not False
    )
    found = compare_infinite(
        a,
        b,
        higher_is_better=rising,
        clusters=pair.clusters,
        level=options.level,
        seed=options.seed,
    )
    # only its sign is used: there is no difference of infinite means
    sign = -found.better if pair.metric.higher_is_better is not False else found.better
    difference = sign * np.inf if found.better else np.nan
    with np.errstate(invalid="ignore"):
        means = [float(np.mean(values)) for values in (a, b)]
    words = (
        f"scores are infinite; of {pair.n} common prompts a is better on "
        f"{found.n_first}, b on {found.n_second}; a alone is infinitely bad on "
        f"{found.n_infinite_first}, b alone on {found.n_infinite_second}"
    )
    verdict = found.reason if found.p_value is None else f"p {found.p_value:.2g}"
    paired = PairedDifference.of(
        found,
        level=options.level,
        mean_a=means[0],
        mean_b=means[1],
        n_clusters=None if pair.clusters is None else len(np.unique(pair.clusters)),
        method=INFINITE,
        reason=f"{words} ({verdict})",
        flags=(INFINITE,),
        estimand="prompts_sampled",
    )
    paired = replace(paired, difference=difference)
    tests = Tests(
        found.p_value if options.test == "t" else None,
        reasons=("others: not for infinite scores",),
    )
    return make_row(pair, paired, tests, options, is_part=True)


def _with_the_rest(
    pair: Pair, paired: PairedDifference
) -> PartiallyPairedDifference | None:
    """The difference with the prompts that only one has, where plain means of
    independent prompts are compared."""
    fits = (
        paired.method in ("paired_t", "paired_added_prompts", "paired_hull")
        and pair.clusters is None
        and not pair.is_ratio
    )
    if not fits or min(pair.scores_a.n, pair.scores_b.n) - pair.n < FEWEST_OTHERS:
        return None
    sides = (pair.scores_a.values, pair.of_a), (pair.scores_b.values, pair.of_b)
    rest = (np.delete(values, rows) for values, rows in sides)
    return partially_paired_difference(
        *pair.values, *rest, bounds=pair.metric.bounds, level=paired.level
    )


def partial_figures(partial: PartiallyPairedDifference | None) -> dict[str, Any]:
    """Its figures by field name; None for nothing."""
    names = ("difference", "standard_error", "ci_low", "ci_high", "p_value")
    return part_fields(partial, **{f"partial_{name}": name for name in names})


def with_holm(
    rows: Sequence[Any],
    directions: Iterable[bool | None],
    copies: Sequence[int] | None = None,
) -> list[Any]:
    """Rows with p adjusted for their number (Holm), and with what is better by that p.

    Args:
        rows: of this class, or of the unpaired comparison.
        directions: of the metric of each, whether higher is better.
        copies: a number for each, equal for those that are one test under several
            names; None: all are different.
    """
    made = [np.nan if row.p_value is None else row.p_value for row in rows]
    if copies is None:
        copies = range(len(rows))
    adjusted = holm_of_distinct(made, copies)
    found = []
    for row, direction, holm in zip(rows, directions, adjusted, strict=True):
        p = finite_or_none(holm)
        ends = ends_beside(getattr(row, "test", "t"), row)
        better = which_better(p, row.difference, direction, row.level, ends)
        found.append(replace(row, p_holm=p, better=better))
    return found


def ends_beside(test: str, figures: Any) -> tuple[float | None, float | None]:
    """Ends of the interval of a difference, which a verdict by t does not contradict;
    of another test, which somebody asked for, none.

    Args:
        test: behind p.
        figures: with ``ci_low`` and ``ci_high``.
    """
    if test != "t":
        return None, None
    return figures.ci_low, figures.ci_high


def which_better(
    p: float | None,
    difference: float,
    higher_is_better: bool | None,
    level: float,
    ends: tuple[float | None, float | None] = (None, None),
) -> str:
    """``"a"``, ``"b"``, or empty where the test says nothing or the direction is
    unknown.

    Args:
        ends: of the interval that stands beside the verdict: where it holds 0, nobody
            is better. It may be the more careful of the two, as where few of many
            bounded scores differ.
    """
    if higher_is_better is None or not rejects(p, 1 - level):
        return ""
    low, high = ends
    if low is not None and high is not None and low < 0 < high:
        return ""
    if (difference > 0) == higher_is_better:
        return "a"
    return "b"


def is_equivalent(p: float | None, level: float) -> bool | None:
    """True where TOST's p is small; None without."""
    if p is None:
        return None
    return rejects(p, 1 - level)


@dataclass(frozen=True)
class Flip(BenchmarkRow):
    """A prompt on which the scores of two models differ."""

    prompt_id: int  #: id in the store; ``show RUN PROMPT_ID`` shows all draws.
    tool_id: str | None  #: the tool's own id of the prompt; None if it has none.
    #: ``score_a - score_b``; None where one of them has no score.
    difference: float | None
    #: mean over the draws of the first, in the metric's unit per prompt; None without
    #: one.
    score_a: float | None
    score_b: float | None  #: mean over the draws of the second.
    n_draws_a: int  #: generations behind ``score_a``.
    n_draws_b: int  #: generations behind ``score_b``.
    text: str | None  #: the question; None if it is not stored.
    target: str | None  #: the expected answer.
    #: first stored response of the first model, else the answer taken from it.
    response_a: str | None
    response_b: str | None  #: first stored response of the second model.
    #: answer option that the first model finds most likely (largest log-likelihood),
    #: where several were scored.
    choice_a: str | None
    choice_b: str | None  #: the same of the second model.
    run_a: int  #: newest run of the first.
    run_b: int  #: newest run of the second.


def flipped(pair: Pair, limit: int) -> list[int]:
    """Places of the common prompts with the largest differences: these first, then by
    prompt; none without one."""
    difference = pair.scores_a.values[pair.of_a] - pair.scores_b.values[pair.of_b]
    order = np.lexsort((pair.prompts, -np.abs(difference)))
    return [int(row) for row in order[:limit] if difference[row] != 0]


def flips_of(pair: Pair, rows: Sequence[int], texts: PairTexts) -> list[Flip]:
    """The prompts of a pair at some places."""
    return [Flip(**flip_fields(pair, int(pair.prompts[row]), texts)) for row in rows]


def flip_fields(pair: Pair, prompt: int, texts: PairTexts) -> dict[str, Any]:
    """Fields of a `Flip` of any prompt that one of the two was asked."""
    (score_a, n_draws_a), (score_b, n_draws_b) = (
        _scored(side, prompt) for side in (pair.scores_a, pair.scores_b)
    )
    prompt_texts = texts.prompts[prompt]
    if score_a is None or score_b is None:
        difference = None
    else:
        difference = score_a - score_b
    return {
        "benchmark": pair.benchmark,
        "split": pair.split,
        "metric": pair.metric.label,
        "prompt_id": prompt,
        "tool_id": prompt_texts["tool_id"],
        "difference": difference,
        "score_a": score_a,
        "score_b": score_b,
        "n_draws_a": n_draws_a,
        "n_draws_b": n_draws_b,
        "text": prompt_texts["text"],
        "target": prompt_texts["target"],
        "response_a": texts.responses.get((0, prompt)),
        "response_b": texts.responses.get((1, prompt)),
        "choice_a": texts.choices.get((0, prompt)),
        "choice_b": texts.choices.get((1, prompt)),
        "run_a": pair.a.newest[1],
        "run_b": pair.b.newest[1],
    }


def _scored(scores: PromptScores, prompt: int) -> tuple[float | None, int]:
    """Score of a prompt and the generations behind it; None and 0 without one."""
    (index,) = indices_among(scores.prompts, np.array([prompt]))
    if index == scores.n:
        return (None, 0)
    return (float(scores.values[index]), int(scores.n_draws[index]))
