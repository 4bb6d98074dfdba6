"""One run: the mean (or ratio) of its prompt scores, its errors, and its interval by
any method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    as_level,
    as_scores,
    as_seed,
    finite_bounds,
    is_binary,
)
from warehouse.stats.core.moments import bernoulli_error, skewness
from warehouse.stats.core.results import Estimate, Interval, ends_of, flags_of
from warehouse.stats.core.sample import (
    Link,
    Sample,
    build_sample,
    find_link,
    linked,
    linked_interval,
)
from warehouse.stats.intervals.asymmetry import mean_skewness
from warehouse.stats.intervals.betting import betting
from warehouse.stats.intervals.bootstrap import Kind, bootstrap_interval
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws, studentised_draws
from warehouse.stats.intervals.clopper_pearson import (
    Variant,
    clopper_pearson_effective,
    effective_n,
    korn_graubard,
    unseen_shift,
)
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_jeffreys,
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
    wilson_weighted,
)
from warehouse.stats.intervals.defaults import (
    IntervalChoice,
    choose_interval,
    weighted_interval,
)
from warehouse.stats.intervals.gaffke import gaffke, gaffke_weighted
from warehouse.stats.intervals.standard_errors import effective_clusters
from warehouse.stats.intervals.wild_cluster_bootstrap import wild_interval

# Flag -> why there is no interval. The first that holds is the reason.
_REASONS = {
    "single_prompt": "a single prompt",
    "single_cluster": "a single cluster",
    "all_scores_equal": "all scores are equal",
    "zero_standard_error": "the standard error is 0",
    "interval_overflows": "an end of the interval overflows",
    "unbounded_interval": "too few units vary: resamples without any have no error",
}
_ROBUST_ERRORS = ("se_clustered", "se_cr0", "se_cr1", "se_cr2", "se_cr3")


def estimate_mean(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    link: str = "identity",
    bounds: Bounds | None = None,
    binary: bool | None = None,
    n_draws: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Estimate:
    """Estimate of one metric of one run, with every standard error and an interval.

    The estimand is the mean over the population that the prompts are a sample of
    (*prompts sampled*). Each prompt counts once, whatever the number of its draws
    (Miller 2024 §3.1).

    Args:
        scores: mean score of each prompt over its draws, finite, shape (n,), n at least
            1.
        clusters: cluster of each prompt, integers or strings, shape (n,); with them the
            headline error is CR2.
        weights: weight of each prompt, at least 0, shape (n,): a ratio metric Σwv/Σw,
            with HC2 errors, or CR2 with clusters, and Satterthwaite's degrees of
            freedom (see `weighted_errors`). Equal weights are no weights; prompts of
            weight 0 are left out.
        link: from the mean or ratio r to the figure: ``identity``, ``exp_neg``
            (exp(−r)) or ``neg_over_ln2`` (−r/ln 2). Estimate and interval ends go
            through it, errors by the delta method.
        bounds: smallest and largest possible score; None or an infinite end for none.
            Used with the identity link only.
        binary: every score is 0 or 1 and each prompt has one draw; None: decided from
            ``scores`` and ``n_draws``.
        n_draws: draws behind each score, one number or shape (n,); None: one.
        level: nominal coverage of the interval, in (0, 1).
        method: ``auto`` (see `choose_interval`), ``normal``, ``normal_eq4`` (the
            paper's clustered error), ``t``, ``cr2_t``, ``wilson``, ``clopper_pearson``,
            ``jeffreys``, ``gaffke``, ``betting``, ``wilson_bounded``,
            ``clopper_pearson_effective``, ``korn_graubard`` (its default form) or one
            of ``korn_graubard_wilson``, ``_clopper_pearson``, ``_svyciprop``;
            ``wilson_weighted``, ``gaffke_weighted``; ``bootstrap`` (percentile) or
            ``bca``, of prompts or whole clusters; ``bootstrap_t`` and ``hull`` (of it
            and t), with 999 resamples; ``wild_bootstrap``.
        n_resamples: of the other methods that resample, at least 100.
        seed: of all of those methods, and of the order in which ``betting`` bets, at
            least 0.

    Returns:
        The estimate. What two prompts (or two clusters) are needed for is None at one.
        Where all scores are equal there is no bare ±0: a binomial interval for 0/1
        scores, Gaffke's for bounded ones without clusters, none for others that lie on
        no bound, and ``standard_error`` is None.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite, and for a
            method that the data do not allow.

    Examples:
        >>> print(estimate_mean([1, 1, 0, 1, 0, 0, 1, 1, 1, 0]))
        0.6 ± 0.1633 [0.3127, 0.8318] (95 % wilson, n=10, few_prompts)
        >>> perplexity = estimate_mean([-2, -1.5, -3.1], weights=[10, 40, 25], link="exp_neg")
        >>> round(perplexity.estimate, 4)
        8.1662
    """
    if clusters is None and weights is None and method == "auto":
        values = as_scores(scores)
        if is_binary(values, binary, n_draws):
            n_right = int(np.count_nonzero(values))
            ends = finite_bounds(bounds)
            return _of_shares(
                len(values),
                n_right,
                link,
                ends,
                as_level(level),
                as_seed(seed),
                n_resamples,
            )
        scores = values
    sample = build_sample(
        scores, clusters, weights, find_link(link), bounds, binary, n_draws
    )
    return _estimate(
        sample,
        find_link(link),
        method,
        as_level(level),
        Resampling(n_resamples, as_seed(seed)),
    )


def flags_of_mean(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    link: str = "identity",
    bounds: Bounds | None = None,
    n_draws: ArrayLike | None = None,
) -> tuple[str, ...]:
    """The warnings of the default interval of `estimate_mean`, without the interval:
    for figures that it is a part of.

    Arguments and errors as there.

    Examples:
        >>> flags_of_mean([1, 0, 1, 1, 0, 1, 1, 0])
        ('few_prompts',)
    """
    if clusters is None and weights is None:
        scores = as_scores(scores)
        if is_binary(scores, None, n_draws):
            return _flags_of_shares(
                len(scores), int(np.count_nonzero(scores)), link, finite_bounds(bounds)
            )
    sample = build_sample(
        scores, clusters, weights, find_link(link), bounds, None, n_draws
    )
    return choose_method(sample, "auto").flags


def _sample_of_shares(n: int, n_right: int, link: str, bounds: Bounds | None) -> Sample:
    """n scores of 0 and 1, whose order says nothing."""
    scores = np.repeat((0.0, 1.0), (n - n_right, n_right))
    return build_sample(scores, None, None, find_link(link), bounds, True, None)


@lru_cache(maxsize=4096)
def _flags_of_shares(
    n: int, n_right: int, link: str, bounds: Bounds | None
) -> tuple[str, ...]:
    return choose_method(_sample_of_shares(n, n_right, link, bounds), "auto").flags


@lru_cache(maxsize=4096)
def _of_shares(
    n: int,
    n_right: int,
    link: str,
    bounds: Bounds | None,
    level: float,
    seed: int,
    n_resamples: int,
) -> Estimate:
    """Of n scores of 0 and 1 in any order, which many models share."""
    sample = _sample_of_shares(n, n_right, link, bounds)
    return _estimate(
        sample, find_link(link), "auto", level, Resampling(n_resamples, seed)
    )


def _estimate(
    sample: Sample, curve: Link, method: str, level: float, resampling: Resampling
) -> Estimate:
    choice = choose_method(sample, method)
    plain = interval_of(sample, choice.method, level, resampling)
    interval = linked_interval(curve, plain)
    companion = choice.beside and interval_of(sample, choice.beside, level, resampling)
    flags = no_spread(sample)
    if interval is None and not flags:
        flags = _without_end(plain, choice.method)
    low, high = ends_of(interval)
    reason = choice.reason
    if interval is None:
        reason = why_none(flags)
    weightless = flags_of(prompts_without_weight=sample.n_weightless)
    return Estimate(
        estimate=linked(curve, sample.mean),
        ci_low=low,
        ci_high=high,
        level=level,
        n_prompts=sample.n,
        n_clusters=sample.n_clusters,
        method=choice.method,
        reason=reason,
        flags=choice.flags + weightless + flags,
        beside=linked_interval(curve, companion or None),
        degrees_of_freedom=sample.df,
        **_errors(sample, curve),
        **_dependence(sample),
    )


def no_spread(sample: Sample) -> tuple[str, ...]:
    """Flags that say why the data give no standard error; empty where they do."""
    return flags_of(
        single_prompt=sample.n == 1,
        single_cluster=sample.n_clusters == 1,
        all_scores_equal=sample.n > 1 and sample.all_equal,
        zero_standard_error=sample.se == 0 and not sample.all_equal,
    )


def _without_end(plain: Interval | None, method: str) -> tuple[str, ...]:
    """The flag of an interval that lacks an end although the error is known."""
    if plain is not None:
        return ("interval_overflows",)
    if method in ("hull", "bootstrap_t"):
        return ("unbounded_interval",)
    return ()


def why_none(flags: tuple[str, ...]) -> str:
    """Why there is no interval, in words."""
    if flags:
        return _REASONS[flags[0]]
    return "the scores differ by no more than rounding"


def _errors(sample: Sample, link: Link) -> dict[str, float | None]:
    """Every standard error on the scale of the figure, by field name."""
    errors = {
        "standard_error": sample.se or None,
        "se_clt": sample.se_clt,
        "se_bernoulli": None,
    }
    if sample.binary:
        errors["se_bernoulli"] = bernoulli_error(sample.mean, sample.n)
    for name in _ROBUST_ERRORS:
        errors[name] = getattr(sample.robust, name, None)
    slope = abs(link.slope(sample.mean))
    for name, error in errors.items():
        if error is not None:
            errors[name] = slope * error
    return errors


def _dependence(sample: Sample) -> dict[str, float | None]:
    """What the clusters do to the error, by field name."""
    robust = sample.robust
    if robust is None:
        return dict.fromkeys(("design_effect", "icc", "design_effect_miller"))
    return {
        "design_effect": variance_ratio(robust.se_cr2, sample.se_clt),
        "icc": robust.icc,
        "design_effect_miller": variance_ratio(robust.se_clustered, sample.se_clt),
    }


def variance_ratio(error: float, reference: float | None) -> float | None:
    """error² / reference², None where the reference is None or 0."""
    if reference:
        return (error / reference) ** 2
    return None


Method = Callable[[Sample, float], Interval | None]


class Resampling(NamedTuple):
    """How often to resample, and the seed."""

    n_resamples: int
    seed: int


def choose_method(sample: Sample, method: str) -> IntervalChoice:
    """The method asked for, or the default one (``auto``), with the warnings of the
    data.

    Raises:
        StatisticsError: for an unknown method, and for one that the data do not allow.
    """
    default = _default(sample)
    if method == "auto":
        return default
    name = _full_name(method, sample, default)
    if name not in METHODS and name not in RESAMPLED:
        names = ", ".join(("auto", "korn_graubard", *METHODS, *RESAMPLED))
        raise StatisticsError(f"unknown `method` {method!r}, expected one of {names}")
    _check_allowed(name, sample)
    return IntervalChoice(name, "asked for", default.flags)


def interval_of(
    sample: Sample, method: str, level: float, resampling: Resampling
) -> Interval | None:
    """The interval of a method that `choose_method` returned, before the link."""
    if method in RESAMPLED:
        return RESAMPLED[method](sample, level, resampling)
    return METHODS[method](sample, level)


def _default(sample: Sample) -> IntervalChoice:
    """`choose_interval` for a sample: what it says of its units is looked at where it
    counts."""
    if sample.weights is not None:
        return weighted_interval(
            zero_one=sample.zero_one,
            n_clusters=sample.n_clusters,
            effective_clusters=sample.weights.effective_units,
            flags=sample.weights.flags,
            units=len(sample.totals),
            bounded=sample.bounds is not None,
            skewness=skewness(sample.totals),
        )
    if sample.bounds is None:
        return choose_interval(
            n_prompts=sample.n,
            n_clusters=sample.n_clusters,
            skewness=mean_skewness(sample),
            constant=sample.all_equal,
            effective_clusters=effective_clusters(sample.clusters),
        )
    effective = effective_n(sample)
    return choose_interval(
        n_prompts=sample.n,
        n_clusters=sample.n_clusters,
        binary=sample.binary,
        bounded=True,
        effective_n=effective.effective,
        size_cv=effective.size_cv,
        skewness=skewness(sample.totals),
        unseen=unseen_shift(sample),
        constant=sample.all_equal,
    )


def _full_name(method: str, sample: Sample, default: IntervalChoice) -> str:
    if method == "t" and sample.clusters is not None:
        return "cr2_t"
    if method == "korn_graubard":
        chosen = default.method
        if chosen.startswith(method):
            return chosen
        near = chosen == "clopper_pearson_effective"
        if near:
            return "korn_graubard_clopper_pearson"
        return "korn_graubard_wilson"
    return method


def _check_allowed(name: str, sample: Sample) -> None:
    clustered = sample.clusters is not None
    instead = "wilson_bounded"
    if name in _BINOMIAL:
        instead = "korn_graubard"
    if name in _NEED_CLUSTERS and not clustered:
        raise StatisticsError(f"method {name!r} needs `clusters`")
    if name in _INDEPENDENT and clustered:
        raise StatisticsError(
            f"method {name!r} takes prompts for independent, but `clusters` are given; "
            f"use {instead!r}, or leave `clusters` out to see the naive interval"
        )
    if (name in _BINOMIAL or name.startswith("korn_graubard")) and not sample.binary:
        raise StatisticsError(
            f"method {name!r} needs 0/1 scores with one draw per prompt, without "
            "weights and link"
        )
    if name in (*_NEED_BOUNDS, "betting") and sample.bounds is None:
        raise StatisticsError(
            f"method {name!r} needs finite `bounds` and the link 'identity'"
        )
    if name == "gaffke_weighted" and (sample.weights is None or sample.bounds is None):
        raise StatisticsError(
            f"method {name!r} needs unequal `weights`, and finite `bounds`"
        )
    if name == "wilson_weighted" and not (sample.zero_one and sample.weights):
        raise StatisticsError(
            f"method {name!r} needs 0/1 scores with unequal `weights`, one draw per "
            "prompt, no link"
        )
    if name in _MEANS_ONLY and sample.shares is not None:
        raise StatisticsError(f"method {name!r} is for means: leave `weights` out")


def _normal(sample: Sample, level: float) -> Interval | None:
    return interval_normal(sample.mean, sample.se, level=level)


def _normal_eq4(sample: Sample, level: float) -> Interval | None:
    if sample.robust is None:
        error = None
    else:
        error = sample.robust.se_clustered
    return interval_normal(sample.mean, error, level=level)


def _t(sample: Sample, level: float) -> Interval | None:
    interval = interval_t(sample.mean, sample.se, sample.df, level=level)
    if interval is None or sample.weights is None or sample.bounds is None:
        return interval
    low, high = (
        sample.bounds
    )  # few count in a weighted mean: t reaches beyond what can be
    return replace(interval, low=max(low, interval.low), high=min(high, interval.high))


def _wilson_bounded(sample: Sample, level: float) -> Interval | None:
    bounds = sample.bounds or (0.0, 1.0)
    return interval_wilson_bounded(
        sample.mean, sample.se, sample.df, bounds=bounds, level=level
    )


def _binomial(interval: Callable[..., Interval]) -> Method:
    return lambda sample, level: interval(
        float(sample.values.sum()), sample.n, level=level
    )


def _korn_graubard(variant: Variant) -> Method:
    def interval(sample: Sample, level: float) -> Interval | None:
        if sample.clusters is None:
            return None
        return korn_graubard(
            sample.values, sample.clusters, sample.robust, variant, level
        )

    return interval


def _bootstrap(kind: Kind) -> Callable[[Sample, float, Resampling], Interval | None]:
    return lambda sample, level, how: bootstrap_interval(sample, kind, level, *how)


def hull_draws(sample: Sample, seed: int) -> StudentisedDraws | None:
    """The bootstrap distribution behind the hull; None without one. Of a weighted mean
    units bring their weight."""
    if sample.df is None or not sample.se:
        return None
    if sample.clusters is None:
        sizes = None
    else:
        sizes = sample.clusters.sizes
    if sample.shares is not None:
        if sample.clusters is None:
            sizes = sample.shares
        else:
            sizes = sample.clusters.sums(sample.shares)
    return studentised_draws(sample.totals, sizes, sample.df, seed)


def _studentised(
    sample: Sample, level: float, how: Resampling, name: str
) -> Interval | None:
    draws = hull_draws(sample, how.seed)
    if draws is None or not sample.se:
        return None
    if name == "hull":
        low, high = draws.ends(level)
    else:
        low, high = draws.bootstrap_ends(level)
    if not math.isfinite(high - low):
        return None
    return Interval(
        sample.mean - high * sample.se, sample.mean - low * sample.se, level, name
    )


_NEED_BOUNDS: dict[str, Method] = {
    "wilson_bounded": _wilson_bounded,
    "gaffke": gaffke,
    "clopper_pearson_effective": clopper_pearson_effective,
}
_BINOMIAL = {
    "wilson": _binomial(interval_wilson),
    "clopper_pearson": _binomial(interval_clopper_pearson),
    "jeffreys": _binomial(interval_jeffreys),
}
_INDEPENDENT = (*_BINOMIAL, "gaffke", "betting")
_MEANS_ONLY = ("clopper_pearson_effective", "gaffke", "betting")
_NEED_CLUSTERS = {
    "normal_eq4": _normal_eq4,
    "cr2_t": _t,
    "korn_graubard_wilson": _korn_graubard("wilson"),
    "korn_graubard_clopper_pearson": _korn_graubard("clopper_pearson"),
    "korn_graubard_svyciprop": _korn_graubard("svyciprop"),
}
METHODS: dict[str, Method] = {
    "normal": _normal,
    "t": _t,
    "wilson_weighted": wilson_weighted,
    "gaffke_weighted": gaffke_weighted,
    **_NEED_BOUNDS,
    **_BINOMIAL,
    **_NEED_CLUSTERS,
}
RESAMPLED: dict[str, Callable[[Sample, float, Resampling], Interval | None]] = {
    "bootstrap": _bootstrap("percentile"),
    "bca": _bootstrap("bca"),
    "bootstrap_t": partial(_studentised, name="bootstrap_t"),
    "hull": partial(_studentised, name="hull"),
    "wild_bootstrap": lambda sample, level, how: wild_interval(sample, level, *how),
    "betting": lambda sample, level, how: betting(sample, level, how.seed),
}
