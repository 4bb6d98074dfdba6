"""The methods of an interval of a mean: the default one, those that can be asked for, and
what data each of them takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from warehouse.errors import StatisticsError
from warehouse.stats.core.moments import skewness
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import (
    Sample,
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
