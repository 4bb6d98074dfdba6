"""The interval methods of `estimate_mean` by name: what each needs and how it is computed."""

from __future__ import annotations

from collections.abc import Callable

from warehouse.errors import StatisticsError
from warehouse.stats.defaults import FEW_PROMPTS, IntervalChoice, choose_interval
from warehouse.stats.intervals import (
    interval_clopper_pearson,
    interval_jeffreys,
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.korn_graubard import Variant, informative_clusters, korn_graubard
from warehouse.stats.moments import skewness
from warehouse.stats.results import Interval
from warehouse.stats.sample import Sample

Method = Callable[[Sample, float], Interval | None]


def choose_method(sample: Sample, method: str) -> IntervalChoice:
    """The method asked for, or the default one (``auto``), with the warnings of the data.

    Raises:
        StatisticsError: for an unknown method, and for one that the data do not allow.
    """
    default = _default(sample)
    if method == "auto":
        return default
    name = _full_name(method, sample, default)
    if name not in METHODS:
        known = ", ".join(("auto", "korn_graubard", *METHODS))
        raise StatisticsError(f"unknown `method` {method!r}, expected one of {known}")
    _check_allowed(name, sample)
    return IntervalChoice(name, "asked for", default.flags)


def interval_of(sample: Sample, method: str, level: float) -> Interval | None:
    """The interval of a method that `choose_method` returned, before the link."""
    return METHODS[method](sample, level)


def _default(sample: Sample) -> IntervalChoice:
    k_min, size_cv = 0, 0.0
    if sample.binary and sample.clusters is not None:
        known = informative_clusters(sample.values, sample.clusters)
        k_min, size_cv = known.k_min, known.size_cv
    return choose_interval(
        n_prompts=sample.n,
        n_clusters=sample.n_clusters,
        binary=sample.binary,
        bounded=sample.bounds is not None,
        k_min=k_min,
        size_cv=size_cv,
        skewness=skewness(sample.values) if sample.n < FEW_PROMPTS else 0.0,
    )


def _full_name(method: str, sample: Sample, default: IntervalChoice) -> str:
    if method == "t" and sample.clusters is not None:
        return "cr2_t"
    if method == "korn_graubard":
        chosen = default.method
        return chosen if chosen.startswith(method) else "korn_graubard_wilson"
    return method


def _check_allowed(name: str, sample: Sample) -> None:
    clustered = sample.clusters is not None
    if name in _NEED_CLUSTERS and not clustered:
        raise StatisticsError(f"method {name!r} needs `clusters`")
    if name in _BINOMIAL and clustered:
        raise StatisticsError(
            f"method {name!r} takes prompts for independent, but `clusters` are given; use"
            " 'korn_graubard', or leave `clusters` out to see the naive interval"
        )
    if (name in _BINOMIAL or name.startswith("korn_graubard")) and not sample.binary:
        raise StatisticsError(
            f"method {name!r} needs 0/1 scores with one draw per prompt, without weights and link"
        )
    if name == "wilson_bounded" and sample.bounds is None:
        raise StatisticsError(
            "method 'wilson_bounded' needs finite `bounds` and the link 'identity'"
        )


def _normal(sample: Sample, level: float) -> Interval | None:
    return interval_normal(sample.mean, sample.se, level=level)


def _normal_eq4(sample: Sample, level: float) -> Interval | None:
    error = None if sample.robust is None else sample.robust.se_clustered
    return interval_normal(sample.mean, error, level=level)


def _t(sample: Sample, level: float) -> Interval | None:
    return interval_t(sample.mean, sample.se, sample.df, level=level)


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


_BINOMIAL = {
    "wilson": _binomial(interval_wilson),
    "clopper_pearson": _binomial(interval_clopper_pearson),
    "jeffreys": _binomial(interval_jeffreys),
}
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
    "wilson_bounded": _wilson_bounded,
    **_BINOMIAL,
    **_NEED_CLUSTERS,
}
