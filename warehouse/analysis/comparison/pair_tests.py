"""The tests of one pair: which apply, their p, and why the others do not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.comparison.pairing import Floats, NotComparable, Pair
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import (
    PairedDifference,
    mcnemar_test,
    paired_difference_prompts_fixed,
    sign_flip_test,
    wilcoxon_test,
)
from warehouse.stats.core.draws import (
    PROMPTS_FIXED,
    PROMPTS_SAMPLED,
    PromptDraws,
    prompt_draws,
)
from warehouse.stats.core.inputs import ROUNDING
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws
from warehouse.stats.paired.few_differ import FewDiffering
from warehouse.stats.paired.margins import equivalence_p_values
from warehouse.stats.paired.paired import FEW_VARYING

#: Flag of a difference on the whole benchmark, from a planned subset.
PLANNED = "planned"


@dataclass(frozen=True)
class Tests:
    """p-values of one difference; None where a test does not apply, with the reason."""

    #: Student's t; of scores without bounds the larger of it and the bootstrap's.
    p_t: float | None
    p_permutation: float | None = None  #: sign flip test.
    permutation: str = ""  #: how it was computed; empty without.
    p_mcnemar: float | None = None  #: McNemar's exact test.
    #: Wilcoxon's signed-rank test; only where it was asked for.
    p_wilcoxon: float | None = None
    #: the larger of two such one-sided tests; only with a margin.
    p_equivalence: float | None = None
    reasons: tuple[str, ...] = ()  #: ``name: why`` for each that is None.
    flags: tuple[str, ...] = ()  #: warnings of the permutation test.

    def chosen(self, test: str) -> float | None:
        """The p-value of one of the tests."""
        p: float | None = getattr(self, f"p_{test}")
        return p


def difference_of(pair: Pair, options: Compare) -> PairedDifference:
    """The paired difference under the estimand that was asked for.

    Raises:
        NotComparable: the prompts fixed, for a ratio of sums.
    """
    if pair.over_seeds:
        return pair.seed_difference(options.level, estimand=options.estimand)
    if options.estimand == PROMPTS_SAMPLED:
        return pair.difference(options.level, seed=options.seed)
    if pair.is_ratio:
        raise NotComparable(
            f"{pair.metric.label} is a ratio of sums over prompts: its error with the "
            "prompts fixed is not known; ask for the prompts sampled"
        )
    a = _draws(pair.scores_a, pair.of_a)
    b = _draws(pair.scores_b, pair.of_b)
    return paired_difference_prompts_fixed(
        a, b, bounds=pair.metric.bounds, level=options.level
    )


def run_tests(pair: Pair, paired: PairedDifference, options: Compare) -> Tests:
    """Every test that applies to a pair."""
    why = _why_not(pair, options)
    flip = None
    if "permutation" not in why:
        flip = sign_flip_test(
            pair.differences,
            pair.clusters,
            n_resamples=options.n_resamples,
            seed=options.seed,
        )
    if "mcnemar" in why:
        mcnemar = None
    else:
        mcnemar = mcnemar_test(*pair.values).p_value
    wilcoxon = None
    if options.test == "wilcoxon" and "wilcoxon" not in why:
        wilcoxon = wilcoxon_test(pair.differences).p_value
    if paired.p_value is None:
        why["t"] = paired.reason
    if flip is None:
        p_permutation = None
        permutation = ""
    else:
        p_permutation = flip.p_value
        permutation = flip.method
    return Tests(
        p_t=paired.p_value,
        p_permutation=p_permutation,
        permutation=permutation,
        p_mcnemar=mcnemar,
        p_wilcoxon=wilcoxon,
        p_equivalence=_equivalence(pair, paired, options),
        reasons=tuple(f"{name}: {reason}" for name, reason in why.items()),
        flags=()
        if flip is None
        else tuple(f for f in flip.flags if f == "too_few_units"),
    )


def _equivalence(
    pair: Pair, paired: PairedDifference, options: Compare
) -> float | None:
    """TOST's p; where few prompts differ the larger of it and that of Gaffke's two
    tests."""
    error = paired.standard_error
    p = equivalence_p(
        paired.difference, error, paired.degrees_of_freedom, options, paired.draws
    )
    few = None
    if p is not None:
        if options.estimand == PROMPTS_SAMPLED:
            few = few_differing(pair, paired)
        else:
            few = few_varying(pair, paired.flags)
    return careful_equivalence(p, few, options)


def careful_equivalence(
    p: float | None, few: FewDiffering | None, options: Compare
) -> float | None:
    """TOST's p, or that of Gaffke's two tests where they stand beside it and it is
    larger."""
    margin = options.equivalence
    if few is None or p is None or margin is None:
        return p
    return max(p, few.p_above(-margin), few.p_below(margin))


def few_differing(pair: Pair, paired: PairedDifference) -> FewDiffering | None:
    """The differences, higher being better for the first, where t alone is not to be
    relied on against a margin."""
    if (
        paired.draws is not None
        or not paired.standard_error
        or (found := bounded_differences(pair)) is None
    ):
        return None
    sign = 1.0
    if pair.metric.higher_is_better is False:
        sign = -1.0
    differences, width, weights = found
    if pair.is_ratio:
        flags = None
    else:
        flags = paired.flags
    ratio_weights = None
    if pair.is_ratio:
        ratio_weights = weights
    return FewDiffering.where_t_is_not_enough(
        sign * differences,
        pair.units,
        width,
        flags=flags,
        weights=ratio_weights,
    )


def few_varying(pair: Pair, flags: Collection[str]) -> FewDiffering | None:
    """The differences where draws of few prompts vary: as sure as if the prompts were
    sampled, and no surer.

    Sums of independent answers of unlike chances have no longer tails than of alike
    ones (Hoeffding 1956).
    """
    if FEW_VARYING not in flags or (found := bounded_differences(pair)) is None:
        return None
    return FewDiffering(found[0], np.arange(pair.n), found[1])


def bounded_differences(pair: Pair) -> tuple[Floats, float, Floats] | None:
    """Differences of scores with bounds, the width of these, and weights whose mean of
    them is the figure; or None."""
    low, high = pair.metric.bounds or (None, None)
    (a, own), (b, other) = pair.sides
    if (
        low is None
        or high is None
        or pair.metric.link != "identity"
        or not np.array_equal(own, other)
    ):
        return None
    differences = a - b
    width = high - low
    if np.abs(differences).max() > width * (1 + ROUNDING):
        return None
    return (differences, width, own)


def equivalence_p(
    difference: float,
    error: float | None,
    df: float | None,
    options: Compare,
    draws: StudentisedDraws | None = None,
) -> float | None:
    """TOST's p; None without a margin or an error."""
    if options.equivalence is None:
        return None
    lower, upper = equivalence_p_values(
        difference, error, df, options.equivalence, draws
    )
    if lower is None or upper is None:
        return None
    return max(lower, upper)


def _why_not(pair: Pair, options: Compare) -> dict[str, str]:
    """Why a test of signs or ranks does not apply, by its name."""
    general = ""
    if pair.over_seeds:
        general = "signs and ranks of prompts know nothing of training seeds"
    elif options.estimand == PROMPTS_FIXED:
        general = "with the prompts fixed, signs of differences are not exchangeable"
    elif pair.is_ratio:
        general = "a ratio of sums is no mean of differences"
    why = {}
    if general:
        why = dict.fromkeys(("permutation", "mcnemar", "wilcoxon"), general)
    if not pair.is_zero_one:
        why.setdefault("mcnemar", "only for 0/1 scores with one draw per prompt")
    if pair.clusters is not None:
        why.setdefault("mcnemar", "takes clustered prompts as independent")
        why.setdefault("wilcoxon", "takes clustered prompts as independent")
    return why


def _draws(scores: PromptScores, rows: NDArray[np.intp]) -> PromptDraws:
    return prompt_draws(scores.values[rows], scores.within[rows], scores.n_draws[rows])
