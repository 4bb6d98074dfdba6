"""Result classes: frozen, named fields, plain data and one-line text with the digits
that errors allow.

None means "not defined", never 0.

All figures are on the scale of the reported metric (after its link, see `ratio`),
levels are probabilities in (0, 1), errors are standard errors (one sigma).
"""

from __future__ import annotations

import math
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from warehouse.stats.intervals.bootstrap_t import StudentisedDraws


def flags_of(**conditions: object) -> tuple[str, ...]:
    """The names of the conditions that hold."""
    return tuple(name for name, holds in conditions.items() if holds)


class NamedFigures:
    """Base of a result: a frozen dataclass of named figures."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name: tuples and arrays become lists, NaN (not defined) None."""
        return {name: _plain(value) for name, value in asdict(self).items()}  # type: ignore[call-overload]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


@dataclass(frozen=True)
class Interval(NamedFigures):
    """A confidence interval."""

    low: float  #: lower end.
    high: float  #: upper end, never below ``low``.
    level: float  #: nominal coverage, in (0, 1).
    method: str  #: how it was computed, such as ``"wilson"``.

    def __str__(self) -> str:
        return ends_text(self.low, self.high)


def ends_of(interval: Interval | None) -> tuple[float | None, float | None]:
    """Lower and upper end; None twice where no interval can be given."""
    if interval is None:
        return None, None
    return interval.low, interval.high


@dataclass(frozen=True)
class Estimate(NamedFigures):
    """One metric of one run, with its errors (statistics.md §1)."""

    estimate: float  #: unweighted mean of the prompt means, or the ratio metric.
    #: the headline error: ``se_cr2`` with clusters, else ``se_clt``. None where it is 0
    #: or not defined; ``flags`` and ``reason`` say why. Of a weighted mean HC2, or CR2
    #: with the clusters' shares of the weight.
    standard_error: float | None
    ci_low: float | None  #: lower end of the interval, None where none can be given.
    ci_high: float | None  #: upper end of the interval.
    level: float  #: nominal coverage of the interval.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters, None where the data carry none.
    method: str  #: of the interval, such as ``"wilson"`` or ``"cr2_t"``.
    reason: str  #: why this method, or why there is no interval.
    #: warnings: ``few_prompts``, ``few_informative_prompts``, ``far_bound``,
    #: ``few_clusters``, ``few_skewed_clusters``, ``few_informative_clusters``,
    #: ``skewed``, ``weights_concentrated``, ``weights_dominated``,
    #: ``prompts_without_weight`` (what each means for coverage:
    #: docs/reference/calibration.md),
    #: ``all_scores_equal``, ``single_prompt``, ``single_cluster``,
    #: ``zero_standard_error``, ``interval_overflows``, ``unbounded_interval``.
    flags: tuple[str, ...]
    #: a second interval of unbounded scores: the wild cluster bootstrap where there are
    #: few clusters, else Student's t; None elsewhere, and where a method was asked for.
    beside: Interval | None
    #: of ``standard_error``: n - 1, or Satterthwaite's for CR2 and weights.
    degrees_of_freedom: float | None
    se_clt: float | None  #: Miller eq. 1, from n = 2 on; HC2 of a weighted mean.
    #: Miller eq. 2; only for 0/1 scores with one draw per prompt.
    se_bernoulli: float | None
    #: Miller eq. 4, the paper's clustered error; from 2 clusters on.
    se_clustered: float | None
    se_cr0: float | None  #: cluster-robust error without correction.
    se_cr1: float | None  #: CR0 times sqrt(G / (G - 1)).
    se_cr2: float | None  #: bias-reduced cluster-robust error.
    se_cr3: float | None  #: cluster jackknife (CV3).
    design_effect: float | None  #: se_cr2² / se_clt².
    icc: float | None  #: intra-cluster correlation (analysis of variance), not clipped.
    design_effect_miller: float | None  #: se_clustered² / se_clt².

    def __str__(self) -> str:
        figures = figures_text(
            self.estimate, self.standard_error, self.ci_low, self.ci_high
        )
        return f"{figures} ({_basis(self)})"


@dataclass(frozen=True)
class PairedDifference(NamedFigures):
    """Difference of two runs on the same prompts (Miller §4.2), first minus second."""

    difference: float  #: ``mean_a - mean_b``.
    #: the headline error: ``se_cr2`` with clusters, else ``se_eq7``. None where it is 0
    #: or not defined.
    standard_error: float | None
    #: lower end of the interval (t, Satterthwaite t on CR2, their hull with
    #: bootstrap-t, or `added_prompts`).
    ci_low: float | None
    ci_high: float | None  #: upper end of the interval.
    level: float  #: nominal coverage of the interval.
    statistic: float | None  #: difference / standard_error; None where the error is.
    degrees_of_freedom: float | None  #: n - 1, or Satterthwaite's.
    #: two-sided, from Student's t; of unbounded scores the larger of it and the
    #: bootstrap's, so that it agrees with the interval.
    p_value: float | None
    mean_a: float  #: figure of the first run on these prompts.
    mean_b: float  #: figure of the second run on these prompts.
    correlation: float | None  #: Pearson correlation of the two runs over prompts.
    #: 1 - se_paired² / (se_a² + se_b²), all CLT or all CR2.
    variance_saved: float | None
    se_eq7: float | None  #: Miller eq. 7, unclustered.
    se_eq8: float | None  #: Miller eq. 8, the paper's clustered error.
    se_cr0: float | None  #: cluster-robust error of the differences without correction.
    se_cr1: float | None  #: CR0 times sqrt(G / (G - 1)).
    se_cr2: float | None  #: bias-reduced cluster-robust error of the differences.
    n_prompts: int  #: prompts in both runs.
    n_clusters: int | None  #: clusters, None where the data carry none.
    method: str  #: ``"paired_t"``, ``"paired_added_prompts"``, ``"paired_cr2_t"`` or ``"paired_hull"``.
    reason: str  #: why this method, or why there is no interval.
    #: as in `Estimate`, with ``few_differing_prompts`` and ``few_differing_clusters``
    #: where the runs differ on few; ``all_differences_equal`` for a constant
    #: difference.
    flags: tuple[str, ...]
    estimand: str = "prompts_sampled"  #: ``"prompts_sampled"``, or ``"prompts_fixed"`` where only draws are random.
    #: bootstrap distribution behind a hull, for tests against a margin; not in
    #: `to_dict`.
    draws: StudentisedDraws | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, difference: NamedFigures, **own: Any) -> PairedDifference:
        """A difference of another kind: its fields of these names, None for what it
        does not have.

        Args:
            own: what is to be said instead, by field.
        """
        names = [item.name for item in fields(cls) if item.default is MISSING]
        named: dict[str, Any] = {
            name: getattr(difference, name, None) for name in names
        }
        return cls(**named | own)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, without the draws."""
        named = NamedFigures.to_dict(replace(self, draws=None))
        del named["draws"]
        return named

    def __str__(self) -> str:
        figures = figures_text(
            self.difference, self.standard_error, self.ci_low, self.ci_high
        )
        if self.p_value is None:
            p = ""
        else:
            p = f", p={self.p_value:.3g}"
        return f"{figures} ({_basis(self)}{p})"


@dataclass(frozen=True)
class UnpairedDifference(NamedFigures):
    """Difference of two runs on independent prompts (Miller §4.1), first minus second."""

    difference: float  #: ``estimate_a - estimate_b``.
    #: sqrt(se_a² + se_b²) (eq. 5); None where it is 0 or not defined.
    standard_error: float | None
    ci_low: float | None  #: lower end of Welch's t interval.
    ci_high: float | None  #: upper end of Welch's t interval.
    level: float  #: nominal coverage of both intervals.
    statistic: float | None  #: difference / standard_error, called z in eq. 6.
    degrees_of_freedom: float | None  #: Welch-Satterthwaite.
    p_value: float | None  #: two-sided, Welch's t.
    z_ci_low: float | None  #: lower end of the paper's normal interval (eq. 3).
    z_ci_high: float | None  #: upper end of the paper's normal interval.
    z_p_value: float | None  #: two-sided, standard normal (eq. 6).
    estimate_a: float  #: figure of the first run.
    estimate_b: float  #: figure of the second run.
    n_prompts_a: int  #: prompts of the first run.
    n_prompts_b: int  #: prompts of the second run.
    #: ``"welch_t"``, or ``"welch_t_hull"`` with the runs' own intervals, where few
    #: prompts are off a bound; ``"normal"`` of errors without degrees of freedom.
    method: str
    reason: str  #: why there is no interval, or what the method is.
    flags: tuple[str, ...]  #: flags of the two runs, with ``_a`` and ``_b`` appended.

    def __str__(self) -> str:
        figures = figures_text(
            self.difference, self.standard_error, self.ci_low, self.ci_high
        )
        sizes = f"n={self.n_prompts_a} and {self.n_prompts_b}"
        if self.p_value is None:
            p = ""
        else:
            p = f", p={self.p_value:.3g}"
        return f"{figures} ({100 * self.level:g} % {self.method}, {sizes}{p})"


def _basis(result: Estimate | PairedDifference) -> str:
    method = f"{100 * result.level:g} % {result.method}"
    if result.ci_low is None:
        method = f"no interval: {result.reason}"
    if result.n_clusters is None:
        clusters = ""
    else:
        clusters = f", G={result.n_clusters}"
    if not result.flags:
        flags = ""
    else:
        flags = f", {' '.join(result.flags)}"
    return f"{method}, n={result.n_prompts}{clusters}{flags}"


#: Digits that are always written, and never more than a double has.
DIGITS, MOST_DIGITS = 4, 17


def figures_text(
    value: float, error: float | None, low: float | None, high: float | None
) -> str:
    """``0.6 ± 0.1633 [0.3127, 0.8318]``: so many digits that the ends are not the
    value.

    Examples:
        >>> figures_text(1, 1e-6, 0.999998, 1.000002)
        '1 ± 1e-06 [0.999998, 1.000002]'
    """
    digits = digits_of(value, error, low, high)
    if error is None:
        text = f"{value:.{digits}g}"
    else:
        text = f"{value:.{digits}g} ± {error:.4g}"
    if low is None or high is None:
        return text
    return f"{text} {ends_text(low, high, digits)}"


def ends_text(low: float, high: float, digits: int | None = None) -> str:
    """``[0.3127, 0.8318]``, by itself with digits that tell the ends apart."""
    digits = digits or digits_of(low, None, low, high)
    return f"[{low:.{digits}g}, {high:.{digits}g}]"


def digits_of(
    value: float, error: float | None, low: float | None, high: float | None
) -> int:
    """Significant digits: four, or more where the error or the interval is small
    against the value."""
    spreads = [error or 0.0, 0.0 if low is None or high is None else (high - low) / 4]
    spread = min(
        (value for value in spreads if value > 0 and isfinite(value)), default=0.0
    )
    largest = max(
        abs(number) for number in (value, low or 0.0, high or 0.0) if isfinite(number)
    )
    if not spread or not largest:
        return DIGITS
    return min(
        max(DIGITS, 1 + floor(log10(largest)) - floor(log10(spread))), MOST_DIGITS
    )
