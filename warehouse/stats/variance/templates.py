"""One model asked every prompt through every template: what the wording adds to the
error (statistics.md §19b).

Two-way analysis of variance without replication, prompts × templates (the same as
`crossed_variance` of seeds × prompts). With both taken for samples the interval has
Satterthwaite's degrees of freedom: simulated with 3, 10 and 100 templates it covers .93
to .98 of 95 %, and down to .91 with 3 that differ much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_level,
    clusters_if_any,
    number_of,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.variance.components import CrossedVariance, crossed_variance

#: What may be taken for a sample: prompts, templates, or both of them.
RANDOM = ("both", "prompts", "templates")
#: Templates below which an interval of both says so.
FEW_TEMPLATES = 9
_FARTHEST = 700.0  # logit of an end, so that it stays a number


@dataclass(frozen=True)
class TemplateVariance(NamedFigures):
    """The mean of a prompts × templates table, with its error by what is taken for a
    sample."""

    estimate: float  #: mean of the table.
    #: √V; None where V is 0 or there is a single prompt or template.
    standard_error: float | None
    #: lower end of the interval, within the bounds; None without an error.
    ci_low: float | None
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    df: float | None  #: degrees of freedom of the interval.
    random: str  #: ``"both"``, ``"prompts"`` or ``"templates"``.
    n_prompts: int  #: n.
    n_templates: int  #: T.
    n_clusters: int | None  #: clusters of the prompts, None without.
    #: σ²_p = (MS_p − MS_e)/T; may be below 0, like the next.
    variance_prompts: float | None
    variance_templates: float | None  #: σ²_t = (MS_t − MS_e)/n.
    variance_residual: float | None  #: σ²_e = MS_e, draws included.
    #: V_p = MS_p/(nT), the variance of the mean that the choice of prompts makes; CR2²
    #: with clusters.
    part_prompts: float | None
    part_templates: float | None  #: V_t = MS_t/(nT).
    part_residual: float | None  #: V_e = MS_e/(nT), which is in each of the two.
    best: float  #: the highest mean of a template. An extreme of noisy means: biased upwards, no interval.
    worst: float  #: the lowest; biased downwards.
    best_template: int  #: its column.
    worst_template: int  #: its column.
    #: ``few_templates`` where templates count as a sample and are below 9.
    flags: tuple[str, ...]
    reason: str  #: why there is no error; empty if there is one.

    def __str__(self) -> str:
        if self.standard_error is None:
            return f"{self.estimate:.4g}, no error: {self.reason}"
        return (
            f"{self.estimate:.4g} ± {self.standard_error:.4g} [{self.ci_low:.4g}, "
            f"{self.ci_high:.4g}] ({self.random} sampled, n={self.n_prompts}, "
            f"T={self.n_templates}, df={self.df:.3g})"
        )


def template_variance(
    scores: ArrayLike,
    *,
    random: str = "both",
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
    conservative: bool = False,
    clusters: ArrayLike | None = None,
) -> TemplateVariance:
    """The mean over prompts and templates, and its error.

    Args:
        scores: of each prompt (row) under each template (column), finite, shape (n, T).
        random: what is a sample of what could have been: ``"prompts"`` says how these
            templates would do on other prompts, ``"templates"`` how other templates
            would on these prompts, ``"both"`` either.
        level: nominal coverage of the interval, in (0, 1).
        bounds: of the scores; the interval is cut to them and, where prompts count as a
            sample, not narrower than the default one of the prompts' means: near a
            bound that of few prompts says too little.
        conservative: with ``"both"`` min(n, T) − 1 degrees of freedom in place of
            Satterthwaite's: covers also where few templates differ much, and too much
            elsewhere.
        clusters: cluster of each prompt, shape (n,), or None.

    Raises:
        StatisticsError: another shape, values that are not finite, a level out of
            range, another word.

    Examples:
        >>> print(template_variance([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]]))
        0.5 ± 0.1972 [-0.1092, 1.109] (both sampled, n=6, T=3, df=3.17)
    """
    level = as_level(level)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise StatisticsError(
            "`scores` must be a finite table of prompts × templates, found shape "
            f"{table.shape}"
        )
    if random not in RANDOM:
        raise StatisticsError(
            f"`random` must be one of {', '.join(RANDOM)}, found {random!r}"
        )
    n, count = table.shape
    groups = clusters_if_any(clusters, n)
    units = number_of(groups) or n
    parts = variance = df = None
    if min(units, count) > 1:
        parts = crossed_variance(table.T, clusters=clusters)
        variance, df = _error(parts, random)
        if conservative and random == "both" and df is not None:
            df = min(parts.df_prompts, count - 1.0)
    means = table.mean(axis=0)
    none = TemplateVariance(
        estimate=float(table.mean()),
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        df=None,
        random=random,
        n_prompts=n,
        n_templates=count,
        n_clusters=number_of(groups),
        variance_prompts=getattr(parts, "variance_prompts", None),
        variance_templates=getattr(parts, "variance_seeds", None),
        variance_residual=getattr(parts, "variance_interaction", None),
        part_prompts=getattr(parts, "part_prompts", None),
        part_templates=getattr(parts, "part_seeds", None),
        part_residual=getattr(parts, "part_interaction", None),
        best=float(means.max()),
        worst=float(means.min()),
        best_template=int(means.argmax()),
        worst_template=int(means.argmin()),
        flags=flags_of(few_templates=count < FEW_TEMPLATES and random != "prompts"),
        reason=_why_none(n, units, count),
    )
    if not variance:
        return none
    found = replace(none, standard_error=math.sqrt(variance), df=df, reason="")
    if df is None:
        return found
    low, high = _ends(found, table, t_quantile(level, df), bounds, clusters)
    return replace(found, ci_low=low, ci_high=high)


def _why_none(n: int, units: int, count: int) -> str:
    if n == 1:
        return "a single prompt"
    if units == 1:
        return "a single cluster"
    if count == 1:
        return "a single template"
    return "nothing varies"


def _ends(
    found: TemplateVariance,
    table: FloatArray,
    t: float,
    bounds: tuple[float, float] | None,
    clusters: ArrayLike | None,
) -> tuple[float, float]:
    """Student's ends; of scores with bounds within them, and no nearer than few prompts
    or templates near a bound allow."""
    error = found.standard_error or 0.0
    half = t * error
    low, high = found.estimate - half, found.estimate + half
    if bounds is None:
        return low, high
    if found.random != "templates":  # few prompts near a bound
        own = estimate_mean(
            table.mean(axis=1), clusters=clusters, bounds=bounds, level=found.level
        )
        if own.ci_low is not None and own.ci_high is not None:
            low, high = min(low, own.ci_low), max(high, own.ci_high)
    if found.random == "both":
        low, high = hull_with_logit((low, high), found.estimate, error, t, bounds)
    return max(bounds[0], low), min(bounds[1], high)


def hull_with_logit(
    ends: tuple[float, float],
    estimate: float,
    error: float,
    t: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Ends no nearer than those of t on the logit: few templates that differ much are
    skewed near a bound (§1e i)."""
    low, width = bounds[0], bounds[1] - bounds[0]
    share = (estimate - low) / width
    if not 0 < share < 1 or not math.isfinite(width):
        return ends
    centre = math.log(share / (1 - share))
    half = t * error / width / (share * (1 - share))
    lower = low + width * _share_at(centre - half)
    upper = low + width * _share_at(centre + half)
    return min(ends[0], lower), max(ends[1], upper)


def _share_at(logit: float) -> float:
    held = max(-_FARTHEST, min(_FARTHEST, logit))
    return 1 / (1 + math.exp(-held))


def _error(parts: CrossedVariance, random: str) -> tuple[float, float | None]:
    """V and its degrees of freedom."""
    v_p, v_t, v_e = parts.part_prompts, parts.part_seeds, parts.part_interaction
    df_p, df_t = parts.df_prompts, parts.n_seeds - 1
    if random == "prompts":
        return v_p, df_p
    if random == "templates":
        return v_t, float(df_t)
    variance = max(v_p + v_t - v_e, v_p, v_t)
    spread = v_p**2 / df_p + v_t**2 / df_t + v_e**2 / (df_p * df_t)
    if spread > 0:
        return variance, max(1.0, variance**2 / spread)
    return variance, None


def templates_needed(result: TemplateVariance, standard_error: float) -> int | None:
    """Templates for a standard error with as many prompts: ⌈T·V_t / (SE² − (V_p −
    V_e))⌉, σ² below 0 as 0.

    Without V_p − V_e = σ²_p/n where templates alone are a sample, as the error is then;
    of templates that are all there are none could be added.

    Returns:
        None where no number of templates suffices, the components are not known, or
        prompts alone are a sample.

    Raises:
        StatisticsError: an error that is not above 0.
    """
    if not 0 < standard_error < math.inf:
        raise StatisticsError(
            f"`standard_error` must be a number above 0, found {standard_error}"
        )
    v_p, v_t, v_e = result.part_prompts, result.part_templates, result.part_residual
    if result.random == "prompts" or v_p is None or v_t is None or v_e is None:
        return None
    left = standard_error**2
    if result.random == "both":
        left -= max(0.0, v_p - v_e)
    if left > 0:
        return max(1, math.ceil(result.n_templates * max(v_t, v_e) / left))
    return None


@dataclass(frozen=True)
class TemplateRanking(NamedFigures):
    """Whether templates agree on the order of models."""

    #: of the pairs of models and templates, the share in which the sign of the
    #: difference is opposite to that of the means; ties are no flip. None with one
    #: model.
    flip_share: float | None
    n_top: int  #: models that are first by some template; equal ones all are.


def template_ranking(means: ArrayLike) -> TemplateRanking:
    """Flips of model pairs over templates.

    Args:
        means: of each model (row) under each template (column), finite, higher is
            better, shape (M, T).

    Raises:
        StatisticsError: another shape, or values that are not finite.

    Examples:
        >>> template_ranking([[0.6, 0.5, 0.4], [0.5, 0.4, 0.5]])
        TemplateRanking(flip_share=0.3333333333333333, n_top=2)
    """
    table: FloatArray = np.asarray(means, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise StatisticsError(
            "`means` must be a finite table of models × templates, found shape "
            f"{table.shape}"
        )
    first, second = np.triu_indices(len(table), 1)
    overall = table.mean(axis=1)
    by_template = np.sign(table[first] - table[second])
    by_mean = np.sign(overall[first] - overall[second])
    flip_share = None
    if len(first):
        flip_share = float((by_template * by_mean[:, None] < 0).mean())
    is_first = table == table.max(axis=0)
    return TemplateRanking(flip_share, int(is_first.any(axis=1).sum()))
