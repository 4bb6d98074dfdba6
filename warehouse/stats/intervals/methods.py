"""The interval methods of `estimate_mean` by name: what each needs and how it is computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from warehouse.errors import StatisticsError
from warehouse.stats.core.moments import skewness
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample
from warehouse.stats.intervals.asymmetry import mean_skewness
from warehouse.stats.intervals.betting import betting
from warehouse.stats.intervals.bootstrap import Kind, bootstrap_interval
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws, studentised_draws
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_jeffreys,
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.intervals.cluster_robust import effective_clusters
from warehouse.stats.intervals.defaults import IntervalChoice, choose_interval, weighted_interval
from warehouse.stats.intervals.effective_clopper_pearson import clopper_pearson_effective
from warehouse.stats.intervals.effective_n import effective_n, unseen_shift
from warehouse.stats.intervals.gaffke import gaffke
from warehouse.stats.intervals.korn_graubard import Variant, korn_graubard
from warehouse.stats.intervals.weighted_wilson import wilson_weighted
from warehouse.stats.intervals.wild_cluster_bootstrap import wild_interval

Method = Callable[[Sample, float], Interval | None]


class Resampling(NamedTuple):
    """How often to resample, and the seed."""

    n_resamples: int
    seed: int


def choose_method(sample: Sample, method: str) -> IntervalChoice:
    """The method asked for, or the default one (``auto``), with the warnings of the data.

    Raises:
        StatisticsError: for an unknown method, and for one that the data do not allow.
    """
    default = _default(sample)
    if method == "auto":
        return default
    name = _full_name(method, sample, default)
    if name not in METHODS and name not in RESAMPLED:
        known = ", ".join(("auto", "korn_graubard", *METHODS, *RESAMPLED))
        raise StatisticsError(f"unknown `method` {method!r}, expected one of {known}")
    _check_allowed(name, sample)
    return IntervalChoice(name, "asked for", default.flags)


def interval_of(sample: Sample, method: str, level: float, resampling: Resampling) -> Interval | None:
    """The interval of a method that `choose_method` returned, before the link."""
    if method in RESAMPLED:
        return RESAMPLED[method](sample, level, resampling)
    return METHODS[method](sample, level)


def _default(sample: Sample) -> IntervalChoice:
    """`choose_interval` for a sample: what it says of its units is looked at where it counts."""
    if sample.weights is not None:
        return weighted_interval(
            zero_one=sample.zero_one,
            n_clusters=sample.n_clusters,
            effective_clusters=sample.weights.effective_units,
            flags=sample.weights.flags,
        )
    if sample.bounds is None:
        return choose_interval(
            n_prompts=sample.n,
            n_clusters=sample.n_clusters,
            skewness=mean_skewness(sample),
            constant=sample.all_equal,
            effective_clusters=effective_clusters(sample.clusters),
        )
    known = effective_n(sample)
    return choose_interval(
        n_prompts=sample.n,
        n_clusters=sample.n_clusters,
        binary=sample.binary,
        bounded=True,
        effective_n=known.effective,
        size_cv=known.size_cv,
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
        return "korn_graubard_clopper_pearson" if near else "korn_graubard_wilson"
    return method


def _check_allowed(name: str, sample: Sample) -> None:
    clustered = sample.clusters is not None
    instead = "korn_graubard" if name in _BINOMIAL else "wilson_bounded"
    if name in _NEED_CLUSTERS and not clustered:
        raise StatisticsError(f"method {name!r} needs `clusters`")
    if name in _INDEPENDENT and clustered:
        raise StatisticsError(
            f"method {name!r} takes prompts for independent, but `clusters` are given; use"
            f" {instead!r}, or leave `clusters` out to see the naive interval"
        )
    if (name in _BINOMIAL or name.startswith("korn_graubard")) and not sample.binary:
        raise StatisticsError(f"method {name!r} needs 0/1 scores with one draw per prompt, without weights and link")
    if name in (*_NEED_BOUNDS, "betting") and sample.bounds is None:
        raise StatisticsError(f"method {name!r} needs finite `bounds` and the link 'identity'")
    if name == "wilson_weighted" and not (sample.zero_one and sample.weights):
        raise StatisticsError(f"method {name!r} needs 0/1 scores with unequal `weights`, one draw per prompt, no link")
    if name in _MEANS_ONLY and sample.shares is not None:
        raise StatisticsError(f"method {name!r} is for means: leave `weights` out")


def _normal(sample: Sample, level: float) -> Interval | None:
    return interval_normal(sample.mean, sample.se, level=level)


def _normal_eq4(sample: Sample, level: float) -> Interval | None:
    error = None if sample.robust is None else sample.robust.se_clustered
    return interval_normal(sample.mean, error, level=level)


def _t(sample: Sample, level: float) -> Interval | None:
    interval = interval_t(sample.mean, sample.se, sample.df, level=level)
    if interval is None or sample.weights is None or sample.bounds is None:
        return interval
    low, high = sample.bounds  # few count in a weighted mean: t reaches beyond what can be
    return replace(interval, low=max(low, interval.low), high=min(high, interval.high))


def _wilson_bounded(sample: Sample, level: float) -> Interval | None:
    bounds = sample.bounds or (0.0, 1.0)
    return interval_wilson_bounded(sample.mean, sample.se, sample.df, bounds=bounds, level=level)


def _binomial(interval: Callable[..., Interval]) -> Method:
    return lambda sample, level: interval(float(sample.values.sum()), sample.n, level=level)


def _korn_graubard(variant: Variant) -> Method:
    def interval(sample: Sample, level: float) -> Interval | None:
        if sample.clusters is None:
            return None
        return korn_graubard(sample.values, sample.clusters, sample.robust, variant, level)

    return interval


def _bootstrap(kind: Kind) -> Callable[[Sample, float, Resampling], Interval | None]:
    return lambda sample, level, how: bootstrap_interval(sample, kind, level, *how)


def _wild(sample: Sample, level: float, how: Resampling) -> Interval | None:
    return wild_interval(sample, level, *how)


def hull_draws(sample: Sample, seed: int) -> StudentisedDraws | None:
    """The bootstrap distribution behind the hull of a plain mean; None without one."""
    if sample.df is None or not sample.se or sample.shares is not None:
        return None
    sizes = None if sample.clusters is None else sample.clusters.sizes
    return studentised_draws(sample.totals, sizes, sample.df, seed)


def _hull(sample: Sample, level: float, how: Resampling) -> Interval | None:
    return _studentised(sample, level, how, "hull")


def _bootstrap_t(sample: Sample, level: float, how: Resampling) -> Interval | None:
    return _studentised(sample, level, how, "bootstrap_t")


def _studentised(sample: Sample, level: float, how: Resampling, name: str) -> Interval | None:
    draws = hull_draws(sample, how.seed)
    if draws is None or not sample.se:
        return None
    low, high = draws.ends(level) if name == "hull" else draws.bootstrap_ends(level)
    if not math.isfinite(high - low):
        return None
    return Interval(sample.mean - high * sample.se, sample.mean - low * sample.se, level, name)


def _betting(sample: Sample, level: float, how: Resampling) -> Interval:
    return betting(sample, level, how.seed)


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
_MEANS_ONLY = ("clopper_pearson_effective", "gaffke", "betting", "hull", "bootstrap_t")
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
    **_NEED_BOUNDS,
    **_BINOMIAL,
    **_NEED_CLUSTERS,
}
RESAMPLED = {
    "bootstrap": _bootstrap("percentile"),
    "bca": _bootstrap("bca"),
    "bootstrap_t": _bootstrap_t,
    "hull": _hull,
    "wild_bootstrap": _wild,
    "betting": _betting,
}
