"""One run: the mean (or ratio) of its prompt scores, its errors, and its interval by
any method."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import (
    Bounds,
    as_level,
    as_scores,
    as_seed,
    finite_bounds,
    is_binary,
)
from warehouse.stats.core.moments import bernoulli_error
from warehouse.stats.core.results import Estimate, Interval, ends_of, flags_of
from warehouse.stats.core.sample import (
    Link,
    Sample,
    build_sample,
    find_link,
    linked,
    linked_interval,
)
from warehouse.stats.intervals.methods import Resampling, choose_method, interval_of

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
