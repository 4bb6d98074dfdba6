"""The tests of one pair: which apply, their p, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import NotComparable, Pair
from warehouse.analysis.selection.scores import PromptScores
from warehouse.questions.comparison import Compare
from warehouse.stats import (
    PairedDifference,
    mcnemar_test,
    paired_difference_prompts_fixed,
    sign_flip_test,
    wilcoxon_test,
)
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED, PromptDraws, prompt_draws
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws
from warehouse.stats.paired.margins import equivalence_p_values


@dataclass(frozen=True)
class Tests:
    """p-values of one difference; None where a test does not apply, with the reason.

    Attributes:
        p_t: Student's t; of scores without bounds the larger of it and the bootstrap's.
        p_permutation: sign flip test.
        permutation: how it was computed; empty without.
        p_mcnemar: McNemar's exact test.
        p_wilcoxon: Wilcoxon's signed-rank test; only where it was asked for.
        p_equivalence: the larger of two such one-sided tests; only with a margin.
        reasons: ``name: why`` for each that is None.
        flags: warnings of the permutation test.
    """

    p_t: float | None
    p_permutation: float | None
    permutation: str
    p_mcnemar: float | None
    p_wilcoxon: float | None
    p_equivalence: float | None
    reasons: tuple[str, ...]
    flags: tuple[str, ...]

    def chosen(self, test: str) -> float | None:
        """The p-value of one of the tests."""
        p: float | None = getattr(self, f"p_{test}")
        return p


def check_estimand(pair: Pair, options: Compare) -> None:
    """Refuse the prompts fixed for a figure that is no mean of prompts.

    Raises:
        NotComparable: it is a ratio of sums.
    """
    if options.estimand == PROMPTS_FIXED and pair.is_ratio:
        raise NotComparable(
            f"{pair.metric.label} is a ratio of sums over prompts: its error with the prompts"
            " fixed is not known; ask for the prompts sampled"
        )


def difference_of(pair: Pair, options: Compare) -> PairedDifference:
    """The paired difference under the estimand that was asked for."""
    if options.estimand == PROMPTS_SAMPLED:
        return pair.difference(options.level, seed=options.seed)
    a, b = _draws(pair.scores_a, pair.of_a), _draws(pair.scores_b, pair.of_b)
    return paired_difference_prompts_fixed(a, b, level=options.level)


def run_tests(pair: Pair, paired: PairedDifference, options: Compare) -> Tests:
    """Every test that applies to a pair."""
    why = _why_not(pair, options)
    flip = None
    if "permutation" not in why:
        flip = sign_flip_test(pair.differences, pair.clusters, n_resamples=options.n_resamples, seed=options.seed)
    mcnemar = None if "mcnemar" in why else mcnemar_test(*pair.values).p_value
    wilcoxon = None
    if options.test == "wilcoxon" and "wilcoxon" not in why:
        wilcoxon = wilcoxon_test(pair.differences).p_value
    if paired.p_value is None:
        why["t"] = paired.reason
    return Tests(
        p_t=paired.p_value,
        p_permutation=None if flip is None else flip.p_value,
        permutation="" if flip is None else flip.method,
        p_mcnemar=mcnemar,
        p_wilcoxon=wilcoxon,
        p_equivalence=equivalence_p(
            paired.difference, paired.standard_error, paired.degrees_of_freedom, options, paired.draws
        ),
        reasons=tuple(f"{name}: {reason}" for name, reason in why.items()),
        flags=() if flip is None else tuple(f for f in flip.flags if f == "too_few_units"),
    )


def equivalence_p(
    difference: float, error: float | None, df: float | None, options: Compare, draws: StudentisedDraws | None = None
) -> float | None:
    """TOST's p; None without a margin or an error."""
    if options.equivalence is None:
        return None
    lower, upper = equivalence_p_values(difference, error, df, options.equivalence, draws)
    return None if lower is None or upper is None else max(lower, upper)


def _why_not(pair: Pair, options: Compare) -> dict[str, str]:
    """Why a test of signs or ranks does not apply, by its name."""
    general = ""
    if options.estimand == PROMPTS_FIXED:
        general = "with the prompts fixed, signs of differences are not exchangeable"
    elif pair.is_ratio:
        general = "a ratio of sums is no mean of differences"
    why = dict.fromkeys(("permutation", "mcnemar", "wilcoxon"), general) if general else {}
    if not pair.is_zero_one:
        why.setdefault("mcnemar", "only for 0/1 scores with one draw per prompt")
    if pair.clusters is not None:
        why.setdefault("mcnemar", "takes clustered prompts as independent")
        why.setdefault("wilcoxon", "takes clustered prompts as independent")
    return why


def _draws(scores: PromptScores, rows: NDArray[np.intp]) -> PromptDraws:
    return prompt_draws(scores.values[rows], scores.within[rows], scores.n_draws[rows])
