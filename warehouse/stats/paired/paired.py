"""Two runs on the same prompts: the paired difference (Miller 2024 §4.2, eqs. 7 and 8)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.core.inputs import ROUNDING, Clusters, FloatArray, as_clusters, as_level, as_scores, as_weights
from warehouse.stats.core.links import Link, find_link, linearise_figure
from warehouse.stats.core.moments import deviations
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import PairedDifference
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.asymmetry import tail_units_of, working_skewness
from warehouse.stats.intervals.closed_form import interval_t
from warehouse.stats.intervals.cluster_robust import effective_clusters
from warehouse.stats.intervals.defaults import IntervalChoice, choose_interval
from warehouse.stats.intervals.effective_n import kish
from warehouse.stats.intervals.estimate_mean import no_spread, variance_ratio, why_none


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    weights_a: ArrayLike | None = None,
    weights_b: ArrayLike | None = None,
    link: str = "identity",
) -> PairedDifference:
    """Difference a − b of two runs over the prompts that both have, prompts sampled.

    The error is that of the per-prompt differences (eq. 7, n − 1 degrees of freedom); with
    clusters CR2 with Satterthwaite's, and the paper's eq. 8 too. For ratio metrics and
    links the figures link(Σwv/Σw) are subtracted and the per-prompt values are their
    linearisations (delta method), which keeps the covariance of the two runs.

    Args:
        a: mean score of each prompt in the first run, finite, shape (n,).
        b: the same prompts in the same order in the second run, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        level: nominal coverage of the interval, in (0, 1).
        weights_a: weight of each prompt above 0 in the first run, shape (n,), or None.
        weights_b: the same in the second run.
        link: ``identity``, ``exp_neg`` or ``neg_over_ln2``, as in `estimate_mean`.

    Returns:
        The difference. Where all differences are equal its error is 0: ``standard_error``,
        interval, statistic and p are None, and the named errors hold the 0.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> d = paired_difference([0.3, 0.0, 0.5, 0.2, 0.4, 0.0], [0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
        >>> round(d.statistic, 9), d.degrees_of_freedom
        (2.290948975, 5)
    """
    curve, level = find_link(link), as_level(level)
    values_a = figure_values(a, weights_a, curve, "a")
    values_b = figure_values(b, weights_b, curve, "b")
    if len(values_a) != len(values_b):
        raise StatisticsError(
            f"`a` has {len(values_a)} prompts, `b` {len(values_b)}; pass the prompts that both"
            " runs have, in the same order"
        )
    groups = None if clusters is None else as_clusters(clusters, len(values_a))
    return _compare(describe(values_a, groups), describe(values_b, groups), groups, level)


def figure_values(scores: ArrayLike, weights: ArrayLike | None, link: Link, name: str = "scores") -> FloatArray:
    """Checked values, one per prompt, whose mean is the reported figure (delta method).

    Args:
        scores: finite, shape (n,).
        weights: above 0, shape (n,), or None.
        link: of the metric; see `find_link`.
        name: of ``scores`` in messages.
    """
    raw = as_scores(scores, name)
    checked = None if weights is None else as_weights(weights, len(raw), f"weights_{name}")
    return linearise_figure(raw, checked, link)


def _compare(a: Sample, b: Sample, clusters: Clusters | None, level: float) -> PairedDifference:
    d = describe(_differences(a.values, b.values), clusters)
    why, choice = no_spread(d), _choice(d)
    interval = interval_t(d.mean, d.se, d.df, level=level)
    statistic = d.mean / d.se if d.se else None
    return PairedDifference(
        difference=d.mean,
        standard_error=d.se or None,
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        level=level,
        statistic=statistic,
        degrees_of_freedom=d.df,
        p_value=None if statistic is None or d.df is None else t_p_value(statistic, d.df),
        mean_a=a.mean,
        mean_b=b.mean,
        correlation=correlation(a.values, b.values),
        variance_saved=_variance_saved(a.se, b.se, d.se),
        n_prompts=d.n,
        n_clusters=d.n_clusters,
        method=choice.method,
        reason=_reason(why) if interval is None else choice.reason,
        flags=choice.flags + tuple(flag.replace("scores", "differences") for flag in why),
        se_eq7=d.se_clt,
        **_clustered_errors(d),
        estimand=PROMPTS_SAMPLED,
    )


def paired_flags(a: FloatArray, b: FloatArray, clusters: ArrayLike | None = None) -> tuple[str, ...]:
    """The flags of `paired_difference` without its figures, for many pairs.

    Args:
        a: figure values of each prompt in the first run, finite, shape (n,), n at least 1.
        b: the same prompts in the second run.
        clusters: cluster of each prompt, or None.
    """
    groups = None if clusters is None else as_clusters(clusters, len(a))
    d = describe(_differences(a, b), groups)
    return _choice(d).flags + tuple(flag.replace("scores", "differences") for flag in no_spread(d))


def _reason(why: tuple[str, ...]) -> str:
    return why_none(why).replace("scores", "differences")


def _differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """a − b, constant where the differences vary by no more than the rounding of a and b."""
    d = a - b
    scale = max(float(np.abs(a).max()), float(np.abs(b).max()))
    return np.full_like(d, d.mean()) if np.ptp(d) <= ROUNDING * scale else d


def _clustered_errors(d: Sample) -> dict[str, float | None]:
    names = {"se_eq8": "se_clustered", "se_cr0": "se_cr0", "se_cr1": "se_cr1", "se_cr2": "se_cr2"}
    return {field: getattr(d.robust, name, None) for field, name in names.items()}


def _choice(d: Sample) -> IntervalChoice:
    """The paired row of the table of defaults, with the flags of unbounded scores."""
    units = d.values if d.clusters is None else d.clusters.sums(d.values)
    base = choose_interval(
        n_prompts=d.n,
        n_clusters=d.n_clusters,
        skewness=working_skewness(d.totals),
        tail_units=tail_units_of(d),
        constant=d.all_equal,
        effective_clusters=effective_clusters(d.clusters),
        effective_n=math.inf if d.all_equal else kish(np.abs(units)),
        differences=True,
    )
    basis = "n − 1 degrees of freedom" if d.clusters is None else "CR2, Satterthwaite t"
    flags = tuple(flag.replace("few_informative", "few_differing") for flag in base.flags)
    return IntervalChoice(f"paired_{base.method}", f"paired differences: {basis}", flags)


def correlation(a: FloatArray, b: FloatArray) -> float | None:
    """Pearson correlation over prompts, in [-1, 1]; None where a run does not vary."""
    centred_a, centred_b = deviations(a), deviations(b)
    scale = float(np.linalg.norm(centred_a)) * float(np.linalg.norm(centred_b))
    if scale == 0:
        return None
    return min(1.0, max(-1.0, float(centred_a @ centred_b) / scale))


def _variance_saved(error_a: float | None, error_b: float | None, error_d: float | None) -> float | None:
    if error_a is None or error_b is None or error_d is None:
        return None
    ratio = variance_ratio(error_d, math.hypot(error_a, error_b))
    return None if ratio is None else 1 - ratio
