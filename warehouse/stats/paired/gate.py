"""May one model take the place of another? Passing, failing, and what would decide
between them.

Non-inferiority and its opposite are two one-sided t tests around the same point,
−margin; each family of tests is adjusted by Holm (1979), so that the chance of any
false pass is at most alpha, and so is the chance of any false fail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import check_one_sided, rejects
from warehouse.stats.multiple.adjust import holm_of_distinct
from warehouse.stats.power.power import VarianceParts, quantiles, sample_size

PASS, FAIL, UNDECIDED = "pass", "fail", "undecided"
#: Chance to decide that planned numbers of prompts have.
POWER = 0.8


@dataclass(frozen=True)
class GateVerdicts:
    """What the tests of all benchmarks say together."""

    verdict: str  #: of all: ``fail`` if one fails, else ``pass`` if all pass, else ``undecided``.
    each: tuple[str, ...]  #: of each benchmark.
    #: adjusted p of each "worse by the margin or more"; None where not tested.
    p_pass: tuple[float | None, ...]
    #: adjusted p of each "worse by less than the margin".
    p_fail: tuple[float | None, ...]


PValues = tuple[float | None, float | None]


def decide(
    p_values: Sequence[PValues],
    *,
    alpha: float = 0.05,
    copies: Sequence[int] | None = None,
) -> GateVerdicts:
    """Verdicts from two p of each benchmark.

    Args:
        p_values: of "worse by the margin or more" and of "worse by less than the
            margin", for t tests the one is 1 minus the other; None where not tested:
            then the benchmark is undecided, and counts for neither adjustment.
        alpha: chance of any false pass, and of any false fail, in (0, 0.5).
        copies: a number for each benchmark, equal for those that are one test; None:
            none are.

    Raises:
        StatisticsError: nothing to decide, ``alpha`` or a p out of range.

    Examples:
        >>> [decide([(0.001, 0.999), (p, 1 - p)]).verdict for p in (0.02, 0.2, 0.99)]
        ['pass', 'undecided', 'fail']
    """
    check_one_sided(alpha)
    if not p_values:
        raise StatisticsError("no benchmark to decide on")
    sides = np.array(p_values, np.float64)  # None is NaN
    tests = copies
    if tests is None:
        tests = range(len(sides))
    p_pass, p_fail = (holm_of_distinct(side, tests) for side in sides.T)
    each = np.where(rejects(p_fail, alpha), FAIL, UNDECIDED)
    each = np.where(rejects(p_pass, alpha), PASS, each)
    verdict = UNDECIDED
    if FAIL in each:
        verdict = FAIL
    elif np.all(each == PASS):
        verdict = PASS
    return GateVerdicts(
        verdict, tuple(map(str, each)), _none_if_nan(p_pass), _none_if_nan(p_fail)
    )


def _none_if_nan(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else float(value) for value in values)


def p_of_constant(
    difference: float, n: int, margin: float, width: float
) -> tuple[float, float]:
    """Both p where all units differ by the same amount, so that t has no error.

    If the mean difference is at most −margin, and no difference lies below −width, a
    unit has ``difference`` or more with a chance of at most (width − margin)/(width +
    difference), and all n of them have it with at most the n-th power of that (exact
    binomial test after Markov's inequality). The opposite likewise.

    Args:
        difference: of every unit, oriented so that higher is better, in [−width,
            width].
        n: independent units: prompts, or clusters.
        margin: from 0.
        width: of the range of the scores, above 0.

    Returns:
        p of "worse by the margin or more", and of "worse by less than the margin".

    Raises:
        StatisticsError: a number out of range.

    Examples:
        >>> [round(p, 4) for p in p_of_constant(0.0, 300, 0.01, 1.0)]
        [0.049, 1.0]
    """
    if (
        n < 1
        or not margin >= 0
        or not 0 < width < math.inf
        or not abs(difference) <= width
    ):
        raise StatisticsError(
            f"no exact test for n={n}, margin={margin}, width={width}, "
            f"difference={difference}"
        )
    p_pass = p_fail = 1.0
    if difference > -margin:
        p_pass = max(0.0, (width - margin) / (width + difference)) ** n
    elif difference < -margin:
        p_fail = ((width + margin) / (width - difference)) ** n
    return p_pass, p_fail


def prompts_to_decide(
    distance: float,
    standard_error: float,
    n: int,
    tests: int,
    *,
    alpha: float = 0.05,
    reach: float = 0.0,
) -> int | None:
    """Prompts with which a test decides, with 80 % power at Holm's first step.

    Args:
        distance: of the true difference from −margin, either way.
        standard_error: of the mean difference over ``n`` prompts, above 0; with
            clusters the answer holds at their mean size.
        n: prompts now.
        tests: benchmarks that are decided on together.
        alpha: as for `decide`.
        reach: of Gaffke's test, which counts one more unit whose differences add up to
            that: it asks for d = r/n + z·√(s²/n + (r/n)²), d the distance, s² the
            variance of a difference; 0 for t alone.

    Returns:
        their number; None where none that can be had decides: the difference is the
        margin.

    Raises:
        StatisticsError: ``alpha`` out of range.

    Examples:
        >>> prompts_to_decide(0.01, 0.01, 1000, 1)
        6183
    """
    check_one_sided(alpha)
    if not distance:
        return None
    variance = n * standard_error**2
    try:
        least = sample_size(
            abs(distance), VarianceParts(variance), alpha=2 * alpha / tests, power=POWER
        )
    except StatisticsError:  # beyond 10^15
        return None
    if not reach:
        return least
    z2 = quantiles(2 * alpha / tests, POWER) ** 2
    half = reach / abs(distance) + z2 * variance / (2 * distance**2)
    root = math.sqrt(half**2 + (z2 - 1) * (reach / distance) ** 2)
    return max(least, math.ceil(half + root))
