"""Tests against a margin: equivalence (TOST) and non-inferiority of paired differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    as_scores,
    check_one_sided,
    clusters_if_any,
    rejects,
)
from warehouse.stats.core.quantiles import t_quantile, t_upper_tail
from warehouse.stats.core.results import NamedFigures, PairedDifference
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws
from warehouse.stats.intervals.estimate_mean import no_spread, why_none
from warehouse.stats.paired.few_differ import FewDiffering

FEW_DIFFERING, NO_RANGE = "few_differing", "unknown_range"


@dataclass(frozen=True)
class EquivalenceTest(NamedFigures):
    """Two one-sided t tests (Schuirmann 1987): H0, the mean difference is outside
    ±margin."""

    #: the larger of the two one-sided p; None where there is no error.
    p_value: float | None
    #: p is at most alpha, that is, the interval lies inside ±margin; None without p.
    equivalent: bool | None
    p_lower: float | None  #: of H0 "mean difference <= −margin".
    p_upper: float | None  #: of H0 "mean difference >= margin".
    difference: float  #: mean difference.
    #: CLT error, or CR2 with clusters; None where 0 or not defined.
    standard_error: float | None
    degrees_of_freedom: float | None  #: n − 1, or Satterthwaite's.
    ci_low: float | None  #: lower end of the 1 − 2·alpha interval.
    ci_high: float | None  #: upper end of the 1 − 2·alpha interval.
    margin: float  #: half width of the range that counts as equal, above 0.
    alpha: float  #: level of the test.
    n_prompts: int  #: differences.
    n_clusters: int | None  #: clusters, None without.
    reason: str  #: what was done, or why there is no p.
    #: ``few_differing``: few prompts or clusters differ, or unevenly; with
    #: ``unknown_range`` t alone counts, and is too sure: .05 may be .2.
    flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.p_value is None:
            return f"no equivalence test: {self.reason}"
        verdict = "not shown to be equivalent"
        if self.equivalent:
            verdict = "equivalent"
        return f"{verdict} within ±{self.margin:g} (p={self.p_value:.3g})"


@dataclass(frozen=True)
class NonInferiorityTest(NamedFigures):
    """One-sided t test: H0, the first is worse than the second by the margin or more."""

    p_value: float | None  #: one-sided; None where there is no error.
    #: p is at most alpha, that is, ``ci_low`` is not below −margin; None without p.
    noninferior: bool | None
    difference: float  #: mean difference, higher is better.
    #: CLT error, or CR2 with clusters; None where 0 or not defined.
    standard_error: float | None
    degrees_of_freedom: float | None  #: n − 1, or Satterthwaite's.
    ci_low: float | None  #: lower confidence bound of one-sided level 1 − alpha.
    margin: float  #: largest loss that is tolerated, from 0.
    alpha: float  #: level of the test.
    n_prompts: int  #: differences.
    n_clusters: int | None  #: clusters, None without.
    reason: str  #: what was done, or why there is no p.
    #: one-sided, of H0 "the first is worse by less than the margin".
    p_inferior: float | None = None
    flags: tuple[str, ...] = ()  #: as of `EquivalenceTest`.

    def __str__(self) -> str:
        if self.p_value is None:
            return f"no non-inferiority test: {self.reason}"
        verdict = "not shown to be non-inferior"
        if self.noninferior:
            verdict = "non-inferior"
        return f"{verdict} with margin {self.margin:g} (p={self.p_value:.3g})"


def equivalence_test(
    differences: ArrayLike,
    margin: float,
    clusters: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    width: float | None = None,
) -> EquivalenceTest:
    """Whether the mean difference is shown to lie inside ±margin (TOST).

    Where few prompts differ and ``width`` is known, Gaffke's tests count beside t, as
    in the gate (docs/reference/methods_gate.md).

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        margin: above 0, in the unit of the differences.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None; then
            CR2 with Satterthwaite's degrees of freedom.
        alpha: level of the test, in (0, 0.5).
        width: of the range of the scores, 1 for shares; None: 1 where all differences
            are −1, 0 or 1, else unknown.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(equivalence_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0], 0.5))
        equivalent within ±0.5 (p=0.0151)
    """
    if not (math.isfinite(margin) and margin > 0):
        raise StatisticsError(
            f"`margin` must be a finite number above 0, found {margin}"
        )
    sample = _sample(differences, clusters)
    check_one_sided(alpha)
    p_lower, p_upper = equivalence_p_values(sample.mean, sample.se, sample.df, margin)
    low = high = None
    if sample.se and sample.df is not None:
        half = t_quantile(1 - 2 * alpha, sample.df) * sample.se
        low, high = sample.mean - half, sample.mean + half
    by_t = EquivalenceTest(
        p_value=None,
        equivalent=None,
        p_lower=p_lower,
        p_upper=p_upper,
        ci_low=low,
        ci_high=high,
        reason=_reason(sample, "two one-sided t tests"),
        margin=float(margin),
        alpha=alpha,
        **_figures(sample),
    )
    if p_lower is None or p_upper is None:
        return by_t
    few, flags = _few(sample, clusters, width)
    found = by_t
    if few is not None:
        found = _careful_equivalence(by_t, few)
    p = max(found.p_lower or 0.0, found.p_upper or 0.0)
    return replace(
        found,
        p_value=p,
        equivalent=rejects(p, alpha),
        flags=flags,
        reason=f"{found.reason}{_doubt(few, flags)}",
    )


def _careful_equivalence(test: EquivalenceTest, few: FewDiffering) -> EquivalenceTest:
    """The same with Gaffke's tests beside t: the larger p and the wider interval count."""
    assert (
        test.p_lower is not None
        and test.p_upper is not None
        and test.ci_low is not None
        and test.ci_high is not None
    )
    return replace(
        test,
        p_lower=max(test.p_lower, few.p_above(-test.margin)),
        p_upper=max(test.p_upper, few.p_below(test.margin)),
        ci_low=min(test.ci_low, few.lower_end(test.alpha)),
        ci_high=max(test.ci_high, few.upper_end(test.alpha)),
    )


def noninferiority_test(
    differences: ArrayLike,
    margin: float,
    clusters: ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    width: float | None = None,
) -> NonInferiorityTest:
    """Whether the first is shown to be no worse than the second by ``margin``.

    Where few prompts differ and ``width`` is known, Gaffke's test counts beside t, as
    in the gate (docs/reference/methods_gate.md).

    Args:
        differences: a − b of each prompt, oriented so that higher is better for a,
            finite, shape (n,).
        margin: tolerated loss from 0, in the unit of the differences; 0 tests
            superiority.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None; then
            CR2 with Satterthwaite's degrees of freedom.
        alpha: level of the test, in (0, 0.5).
        width: of the range of the scores, 1 for shares; None: 1 where all differences
            are −1, 0 or 1, else unknown.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(noninferiority_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0], 0.1))
        non-inferior with margin 0.1 (p=0.0102)
    """
    sample = _sample(differences, clusters)
    check_one_sided(alpha)
    test = noninferiority_of(
        margin,
        alpha=alpha,
        reason=_reason(sample, "one-sided t test"),
        **_figures(sample),
    )
    if test.p_value is None:
        return test
    few, flags = _few(sample, clusters, width)
    if few is None:
        return replace(test, flags=flags, reason=f"{test.reason}{_doubt(few, flags)}")
    return replace(careful_noninferiority(test, few), flags=flags)


def paired_noninferiority(
    paired: PairedDifference,
    margin: float,
    *,
    alpha: float = 0.05,
    width: float | None = None,
) -> NonInferiorityTest:
    """The same test of a paired difference, higher being better for the first; by its
    bootstrap too, if it has one.

    Args:
        paired: with clusters, weights and link as they are.
        margin: tolerated loss from 0.
        alpha: level of the test, in (0, 0.5).
        width: of the range of the scores, below which no difference can lie; None
            without bounds.

    Raises:
        StatisticsError: for arguments out of range.
    """
    check_one_sided(alpha)
    reason = paired.reason
    if paired.standard_error:
        reason = f"one-sided t test, {_how(paired)}"
    test = noninferiority_of(
        margin,
        difference=paired.difference,
        standard_error=paired.standard_error,
        degrees_of_freedom=paired.degrees_of_freedom,
        n_prompts=paired.n_prompts,
        n_clusters=paired.n_clusters,
        reason=reason,
        alpha=alpha,
        draws=paired.draws,
    )
    if width is None or test.ci_low is None:
        return test
    return replace(test, ci_low=max(-width, test.ci_low))


def careful_noninferiority(
    test: NonInferiorityTest, few: FewDiffering
) -> NonInferiorityTest:
    """The same with Gaffke's test beside t, as where few prompts differ: the larger p
    and the lower bound count.

    Args:
        test: by t, with a p.
        few: the same differences.
    """
    assert (
        test.p_value is not None
        and test.p_inferior is not None
        and test.ci_low is not None
    )
    p = max(test.p_value, few.p_above(-test.margin))
    return replace(
        test,
        p_value=p,
        p_inferior=max(test.p_inferior, few.p_below(-test.margin)),
        noninferior=rejects(p, test.alpha),
        ci_low=min(test.ci_low, few.lower_end(test.alpha)),
        reason=f"{test.reason}{_BESIDE}",
    )


_BESIDE = "; Gaffke's test beside it, as few differ"


def _how(paired: PairedDifference) -> str:
    """By what the error and the reach of a paired difference are, in words."""
    how = "CR2, Satterthwaite"
    if paired.n_clusters is None:
        how = "n − 1 degrees of freedom"
    if paired.method.endswith("_seeds"):
        return f"{how} of the prompts, and another draw of seeds"
    if paired.draws is not None:
        return f"{how}, and bootstrap-t"
    return how


def _few(
    sample: Sample, clusters: ArrayLike | None, width: float | None
) -> tuple[FewDiffering | None, tuple[str, ...]]:
    """The differences where t is not enough and the scores' range is known, and flags
    where t is not enough."""
    if width is not None and not (
        math.isfinite(width) and width * (1 + ROUNDING) >= np.abs(sample.values).max()
    ):
        raise StatisticsError(
            "`width` must be that of the scores' range, at least every difference, "
            f"found {width}"
        )
    if width is None and np.isin(sample.values, (-1.0, 0.0, 1.0)).all():
        width = 1.0
    reach = width
    if width is None:
        reach = float(np.abs(sample.values).max())
    if clusters is None:
        clusters = np.arange(sample.n)
    few = FewDiffering.where_t_is_not_enough(sample.values, clusters, reach)
    if few is None:
        return None, ()
    if width is None:
        return (None, (FEW_DIFFERING, NO_RANGE))
    return (few, (FEW_DIFFERING,))


def _doubt(few: FewDiffering | None, flags: tuple[str, ...]) -> str:
    if few is not None:
        return _BESIDE
    if flags:
        return "; few differ, where t alone is too sure: give `width`"
    return ""


def noninferiority_of(
    margin: float,
    *,
    difference: float,
    standard_error: float | None,
    degrees_of_freedom: float | None,
    n_prompts: int,
    n_clusters: int | None,
    reason: str,
    alpha: float = 0.05,
    draws: StudentisedDraws | None = None,
) -> NonInferiorityTest:
    """The same test of a difference whose error is known (StatisticsError: a margin
    below 0, or not finite).

    Args:
        margin: tolerated loss from 0.
        difference: higher is better for the first.
        standard_error: of it; without one, or with 0, there is no p.
        degrees_of_freedom: of the error.
        n_prompts, n_clusters, reason: as in the result.
        alpha: level of the test.
        draws: bootstrap distribution of unbounded scores; with Student's t the more
            careful counts.
    """
    if not (math.isfinite(margin) and margin >= 0):
        raise StatisticsError(
            f"`margin` must be a finite number from 0, found {margin}"
        )
    low = noninferior = turned = None
    if draws is not None:
        turned = draws.turned
    p = _tail(difference + margin, standard_error, degrees_of_freedom, draws)
    p_inferior = _tail(-difference - margin, standard_error, degrees_of_freedom, turned)
    if p is not None:
        noninferior = rejects(p, alpha)
    if standard_error and degrees_of_freedom:
        reach = t_quantile(1 - 2 * alpha, degrees_of_freedom)
        if draws is not None:
            _, reach = draws.ends(1 - 2 * alpha)
        if math.isfinite(reach):
            low = difference - reach * standard_error
    return NonInferiorityTest(
        p_value=p,
        p_inferior=p_inferior,
        noninferior=noninferior,
        difference=difference,
        standard_error=standard_error,
        degrees_of_freedom=degrees_of_freedom,
        ci_low=low,
        margin=float(margin),
        alpha=alpha,
        n_prompts=n_prompts,
        n_clusters=n_clusters,
        reason=reason,
    )


def _sample(differences: ArrayLike, clusters: ArrayLike | None) -> Sample:
    values = as_scores(differences, "differences")
    return describe(values, clusters_if_any(clusters, len(values)))


def equivalence_p_values(
    difference: float,
    error: float | None,
    df: float | None,
    margin: float,
    draws: StudentisedDraws | None = None,
) -> tuple[float | None, float | None]:
    """One-sided p of "difference <= −margin" and of "difference >= margin"; the larger
    is TOST's. None without an error above 0.

    Args:
        difference: estimate.
        error: its standard error.
        df: degrees of freedom of ``error``.
        margin: above 0.
        draws: bootstrap distribution of unbounded scores, or None.
    """
    lower = _tail(difference + margin, error, df, draws)
    return lower, _tail(margin - difference, error, df, draws and draws.turned)


def _tail(
    distance: float,
    error: float | None,
    df: float | None,
    draws: StudentisedDraws | None = None,
) -> float | None:
    """P(T >= distance/error); None without an error."""
    if not error or not df:
        return None
    if draws is None:
        return t_upper_tail(distance / error, df)
    return draws.upper_tail(distance / error)


def _reason(sample: Sample, test: str) -> str:
    if not sample.se:
        return why_none(no_spread(sample)).replace("scores", "differences")
    error = "CR2, Satterthwaite"
    if sample.clusters is None:
        error = "n − 1 degrees of freedom"
    return f"{test}, {error}"


def _figures(sample: Sample) -> dict[str, Any]:
    return {
        "difference": sample.mean,
        "standard_error": sample.se or None,
        "degrees_of_freedom": sample.df,
        "n_prompts": sample.n,
        "n_clusters": sample.n_clusters,
    }
