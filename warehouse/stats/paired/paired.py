"""Two runs on the same prompts: the paired difference (Miller 2024 §4.2, eqs. 7 and 8),
prompts random or fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED, PromptDraws
from warehouse.stats.core.inputs import (
    ROUNDING,
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_level,
    as_prompt_weights,
    as_scores,
    as_seed,
    clusters_if_any,
    finite_bounds,
    is_constant,
    is_zero_one,
    number_of,
)
from warehouse.stats.core.moments import deviations
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import Interval, PairedDifference, ends_of
from warehouse.stats.core.sample import (
    Link,
    Sample,
    describe,
    find_link,
    linearise_figure,
)
from warehouse.stats.intervals.asymmetry import (
    mean_skewness,
    tail_units_of,
    working_skewness,
)
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws, studentised_ratios
from warehouse.stats.intervals.clopper_pearson import kish
from warehouse.stats.intervals.closed_form import (
    interval_t,
    measured_variances,
    satterthwaite,
)
from warehouse.stats.intervals.defaults import (
    FEW_INFORMATIVE,
    IntervalChoice,
    choose_interval,
    weighted_interval,
)
from warehouse.stats.intervals.estimate_mean import (
    hull_draws,
    no_spread,
    variance_ratio,
    why_none,
)
from warehouse.stats.intervals.standard_errors import (
    UnitWeights,
    effective_clusters,
    unit_weights,
)
from warehouse.stats.paired.added_prompts import (
    ADDED_PROMPTS,
    added_prompts,
    are_tied,
    width_of,
    within_range,
)

#: Flag of a difference with the prompts fixed whose error rests on the draws of few
#: prompts.
FEW_VARYING = "few_varying_prompts"
_ADDED = (
    "paired differences, many of them alike: a prompt won and a prompt lost are added"
)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    weights_a: ArrayLike | None = None,
    weights_b: ArrayLike | None = None,
    link: str = "identity",
    bounds: Bounds | None = None,
    seed: int = 0,
) -> PairedDifference:
    """Difference a − b of two runs over the prompts that both have, prompts sampled.

    The error is that of the per-prompt differences (eq. 7, n − 1 degrees of freedom);
    with clusters CR2 with Satterthwaite's, and the paper's eq. 8 too. Differences of
    scores with bounds get Student's t, and where a third of them are alike, as always
    of 0/1 scores, the interval with a prompt won and a prompt lost added
    (`added_prompts`); of others its hull with bootstrap-t, and a p that agrees with it.
    For ratio metrics and links the figures link(Σwv/Σw) are subtracted by the delta
    method, which keeps the covariance of the two runs: with u_i = f_i d_i/sqrt(a_i) of
    each run (`weighted_errors`) the squared error is Σ (u_a,i − u_b,i)², with the
    smaller degrees of freedom and Student's t.

    Args:
        a: mean score of each prompt in the first run, finite, shape (n,).
        b: the same prompts in the same order in the second run, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        level: nominal coverage of the interval, in (0, 1).
        weights_a: weight of each prompt, at least 0, in the first run, shape (n,), or
            None. Prompts of weight 0 in both runs are left out.
        weights_b: the same in the second run.
        link: ``identity``, ``exp_neg`` or ``neg_over_ln2``, as in `estimate_mean`.
        bounds: smallest and largest possible score; None or an infinite end for none,
            unless both runs have nothing but 0 and 1.
        seed: of the bootstrap, at least 0.

    Returns:
        The difference. Where all differences are equal its error is 0:
        ``standard_error``, statistic and p are None, the interval too unless scores
        have bounds, and the named errors hold the 0.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> d = paired_difference([0.3, 0.0, 0.5, 0.2, 0.4, 0.0], [0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
        >>> round(d.statistic, 9), d.degrees_of_freedom
        (2.290948975, 5)
    """
    level, seed = as_level(level), as_seed(seed)
    first, second, groups, left_out = aligned(
        (a, weights_a), (b, weights_b), clusters, find_link(link)
    )
    width = width_of(bounds) if first.within(bounds) and second.within(bounds) else None
    return _compare(
        first, second, groups, level, width=width, seed=seed, left_out=left_out
    )


def difference_flags(
    first: PairSide,
    second: PairSide,
    clusters: Clusters | None,
    left_out: int,
    *,
    bounded: bool,
) -> tuple[str, ...]:
    """The flags of `paired_difference` of two sides that are `aligned`."""
    d = _difference(first, second, clusters)
    return _flags(d, _choice(d, bounded=bounded), left_out)


def _flags(d: Sample, choice: IntervalChoice, left_out: int) -> tuple[str, ...]:
    weightless = ("prompts_without_weight",) if left_out else ()
    return (
        choice.flags
        + weightless
        + tuple(flag.replace("scores", "differences") for flag in no_spread(d))
    )


def _compare(
    first: PairSide,
    second: PairSide,
    clusters: Clusters | None,
    level: float,
    *,
    width: float | None,
    seed: int,
    left_out: int,
) -> PairedDifference:
    a, b = (
        describe(side.figures, clusters, shares=side.shares) for side in (first, second)
    )
    d = _difference(first, second, clusters)
    choice = _choice(d, bounded=width is not None)
    if (
        width is not None
        and d.weights is None
        and choice.method == "paired_t"
        and are_tied(d.values)
    ):
        choice = choice._replace(method=f"paired_{ADDED_PROMPTS}", reason=_ADDED)
    draws = None
    if choice.method == "paired_hull":
        draws = (
            hull_draws(d, seed)
            if d.weights is None
            else _weighted_draws(first, second, d, seed)
        )
    interval = _interval(d, choice.method, draws, level, width)
    statistic = d.mean / d.se if d.se else None
    low, high = ends_of(interval)
    return PairedDifference(
        difference=d.mean,
        standard_error=d.se or None,
        ci_low=low,
        ci_high=high,
        level=level,
        statistic=statistic,
        degrees_of_freedom=d.df,
        p_value=_p_value(statistic, d.df, draws),
        mean_a=a.mean,
        mean_b=b.mean,
        correlation=correlation(a.values, b.values),
        variance_saved=_variance_saved(a.se, b.se, d.se),
        n_prompts=d.n,
        n_clusters=d.n_clusters,
        method=choice.method,
        reason=_reason(no_spread(d) or ("unbounded_interval",))
        if interval is None or not d.se
        else choice.reason,
        flags=_flags(d, choice, left_out),
        se_eq7=d.se_clt,
        **_clustered_errors(d),
        estimand=PROMPTS_SAMPLED,
        draws=draws,
    )


def _weighted_draws(
    first: PairSide, second: PairSide, d: Sample, seed: int
) -> StudentisedDraws | None:
    """The bootstrap distribution of the difference of two weighted means."""
    if d.df is None or not d.se:
        return None
    totals = [describe(side.figures, d.clusters).totals for side in (first, second)]
    weights = [
        side.weights if d.clusters is None else d.clusters.sums(side.weights)
        for side in (first, second)
    ]
    return studentised_ratios(np.array(totals), np.array(weights), d.df, seed)


def _difference(first: PairSide, second: PairSide, clusters: Clusters | None) -> Sample:
    """The differences with their error."""
    d = describe(_differences(first.figures, second.figures), clusters)
    if first.shares is None and second.shares is None:
        return d
    sides = (first, second)
    weights = [unit_weights(side.weights, clusters) for side in sides]
    d = replace(d, weights=_both(weights))
    if d.all_equal or d.n == 1:
        return d
    if any(own.degrees_of_freedom is None for own in weights):
        return replace(d, se_clt=None, robust=None)
    alone = [
        unit_weights(side.weights).pulls(deviations(side.figures)) for side in sides
    ]
    d = replace(d, se_clt=float(np.linalg.norm(alone[0] - alone[1])) / d.n)
    if clusters is None or d.robust is None:
        return d
    pulls = [
        own.pulls(clusters.sums(deviations(side.figures)))
        for own, side in zip(weights, sides, strict=True)
    ]
    error = float(np.linalg.norm(pulls[0] - pulls[1])) / d.n
    return replace(
        d, robust=replace(d.robust, se_cr2=error, degrees_of_freedom=d.df or 1.0)
    )


def _both(weights: list[UnitWeights]) -> UnitWeights:
    """What counts for a difference: of each figure the worse of the two runs."""
    worse = min(weights, key=lambda own: own.kish)
    freedoms = [
        own.degrees_of_freedom for own in weights if own.degrees_of_freedom is not None
    ]
    flags: dict[str, None] = {}
    for own in weights:
        flags |= dict.fromkeys(own.flags)
    return replace(
        worse,
        degrees_of_freedom=min(freedoms) if len(freedoms) == len(weights) else None,
        effective_units=min(own.effective_units for own in weights),
        flags=tuple(flags),
    )


def _interval(
    d: Sample,
    method: str,
    draws: StudentisedDraws | None,
    level: float,
    width: float | None,
) -> Interval | None:
    if width is not None and method.endswith(ADDED_PROMPTS) and d.n > 1:
        return added_prompts(d.values, width, level)
    if draws is None or not d.se:
        return within_range(interval_t(d.mean, d.se, d.df, level=level), width)
    low, high = draws.ends(level)
    if not math.isfinite(high - low):
        return None
    return Interval(d.mean - high * d.se, d.mean - low * d.se, level, "hull")


def _p_value(
    statistic: float | None, df: float | None, draws: StudentisedDraws | None
) -> float | None:
    if statistic is None or df is None:
        return None
    if draws is None:
        return t_p_value(statistic, df)
    return draws.p_value(statistic)


def _reason(why: tuple[str, ...]) -> str:
    return why_none(why).replace("scores", "differences")


def _differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """a − b, constant where the differences vary by no more than the rounding of a and
    b."""
    d = a - b
    scale = max(float(np.abs(a).max()), float(np.abs(b).max()))
    if np.ptp(d) <= ROUNDING * scale:
        return np.full_like(d, d.mean())
    return d


def _clustered_errors(d: Sample) -> dict[str, float | None]:
    names = {
        "se_eq8": "se_clustered",
        "se_cr0": "se_cr0",
        "se_cr1": "se_cr1",
        "se_cr2": "se_cr2",
    }
    return {field: getattr(d.robust, name, None) for field, name in names.items()}


def _choice(d: Sample, *, bounded: bool) -> IntervalChoice:
    """The paired row of the table of defaults."""
    if d.weights is not None:
        base = weighted_interval(
            zero_one=False,
            n_clusters=d.n_clusters,
            effective_clusters=d.weights.effective_units,
            flags=d.weights.flags,
            units=0 if bounded else len(d.totals),
            bounded=bounded,
        )
        return IntervalChoice(
            f"paired_{base.method}", f"paired: {base.reason}", base.flags
        )
    if d.clusters is None:
        units = d.values
    else:
        units = d.clusters.sums(d.values)
    choice = interval_of_differences(
        d.n,
        d.clusters,
        bounded=bounded,
        skewness=working_skewness(d.totals) if bounded else mean_skewness(d),
        tail_units=tail_units_of(d) if bounded else math.inf,
        effective_n=math.inf if d.all_equal else kish(np.abs(units)),
        constant=d.all_equal,
    )
    basis = "CR2, Satterthwaite t"
    if d.clusters is None:
        basis = "n − 1 degrees of freedom"
    hull = ""
    if choice.method == "hull":
        hull = ", hull with bootstrap-t"
    return IntervalChoice(
        f"paired_{choice.method}", f"paired differences: {basis}{hull}", choice.flags
    )


def interval_of_differences(
    n_prompts: int,
    clusters: Clusters | None,
    *,
    bounded: bool,
    skewness: float,
    tail_units: float,
    effective_n: float,
    constant: bool = False,
) -> IntervalChoice:
    """`choose_interval` for differences without weights; flags in words of differences."""
    choice = choose_interval(
        n_prompts=n_prompts,
        n_clusters=number_of(clusters),
        bounded=bounded,
        skewness=skewness,
        tail_units=tail_units,
        constant=constant,
        effective_clusters=effective_clusters(clusters),
        effective_n=effective_n,
        differences=True,
    )
    return choice._replace(
        flags=tuple(
            flag.replace("few_informative", "few_differing") for flag in choice.flags
        )
    )


def correlation(a: FloatArray, b: FloatArray) -> float | None:
    """Pearson correlation over prompts, in [-1, 1]; None where a run does not vary."""
    centred_a, centred_b = deviations(a), deviations(b)
    scale = float(np.linalg.norm(centred_a)) * float(np.linalg.norm(centred_b))
    if scale == 0:
        return None
    return min(1.0, max(-1.0, float(centred_a @ centred_b) / scale))


def _variance_saved(
    error_a: float | None, error_b: float | None, error_d: float | None
) -> float | None:
    if error_a is None or error_b is None or error_d is None:
        return None
    ratio = variance_ratio(error_d, math.hypot(error_a, error_b))
    if ratio is None:
        return None
    return 1 - ratio


Scored = tuple[ArrayLike, ArrayLike | None]


@dataclass(frozen=True)
class PairSide:
    """One run of a pair."""

    scores: FloatArray  #: as given, shape (n,).
    #: weight of each over the mean weight, shape (n,); None where all are alike.
    shares: FloatArray | None
    figures: FloatArray  #: values whose mean is the reported figure (delta method), shape (n,).
    link: Link  #: from the mean to the figure.

    @property
    def weights(self) -> FloatArray:
        """The shares, 1 each where all are alike."""
        if self.shares is None:
            return np.ones(len(self.scores))
        return self.shares

    def within(self, bounds: Bounds | None) -> bool:
        """Whether the scores have bounds: given ones, or they are 0 and 1."""
        return self.link.name == "identity" and (
            finite_bounds(bounds) is not None or is_zero_one(self.scores)
        )


def aligned(
    a: Scored, b: Scored, clusters: ArrayLike | None, link: Link
) -> tuple[PairSide, PairSide, Clusters | None, int]:
    """Both runs and the clusters on the prompts that have a weight in one of them, and
    how many have none.

    Args:
        a: scores of the first run and their weights, or None, shape (n,) each.
        b: the same of the second on the same prompts.
        clusters: of the prompts, or None.
        link: of the metric.

    Raises:
        StatisticsError: runs of different lengths, values or weights that are not
            allowed.
    """
    scores = [as_scores(side[0], name) for side, name in ((a, "a"), (b, "b"))]
    n = len(scores[0])
    if n != len(scores[1]):
        raise StatisticsError(
            f"`a` has {n} prompts, `b` {len(scores[1])}; pass the prompts that both "
            "runs have, in the same order"
        )
    weights = [
        None if side[1] is None else as_prompt_weights(side[1], n, f"weights_{name}")
        for side, name in ((a, "a"), (b, "b"))
    ]
    groups = clusters_if_any(clusters, n)
    weighted = _have_weight(weights, n)
    if not weighted.all():
        scores = [own[weighted] for own in scores]
        weights = [None if own is None else own[weighted] for own in weights]
        if groups is None:
            groups = None
        else:
            groups = as_clusters(groups.codes[weighted], int(weighted.sum()))
    first, second = (
        _side(own, w, link) for own, w in zip(scores, weights, strict=True)
    )
    return first, second, groups, n - len(scores[0])


def _have_weight(weights: list[FloatArray | None], n: int) -> NDArray[np.bool_]:
    """Prompts with a weight in one run at least."""
    has_weight = np.zeros(n, bool)
    for own in weights:
        has_weight |= True if own is None else own > 0
    return has_weight


def _side(scores: FloatArray, weights: FloatArray | None, link: Link) -> PairSide:
    if weights is None or is_constant(weights):
        shares = None
    else:
        shares = weights / weights.mean()
    return PairSide(scores, shares, linearise_figure(scores, weights, link), link)


def figure_values(
    scores: ArrayLike, weights: ArrayLike | None, link: Link
) -> FloatArray:
    """Checked values, one per prompt, whose mean is the reported figure (delta method).

    Args:
        scores: finite, shape (n,).
        weights: at least 0, shape (n,), or None.
        link: of the metric; see `find_link`.
    """
    raw = as_scores(scores, "scores")
    if weights is None:
        checked = None
    else:
        checked = as_prompt_weights(weights, len(raw), "weights_scores")
    return linearise_figure(raw, checked, link)


def paired_difference_prompts_fixed(
    a: PromptDraws, b: PromptDraws, *, bounds: Bounds | None = None, level: float = 0.95
) -> PairedDifference:
    """Difference a − b over these very prompts: Var = Σ (W_A,i/K_A,i + W_B,i/K_B,i)/n².

    The prompts are all there are, so that clusters play no part, and the draws of the
    two runs are independent, so that pairing saves nothing. Where a W_i is not known
    (one draw), the mean of the run's known ones stands in, flagged ``within_imputed_a``
    or ``_b``. Degrees of freedom are Satterthwaite's over the prompts whose W_i are
    known.

    Args:
        a: draws of the first run, from `prompt_draws` or `summarise_draws`.
        b: draws of the second run on the same prompts in the same order.
        bounds: of the scores, to whose range the interval is cut.
        level: nominal coverage of the interval, in (0, 1).

    Returns:
        The difference. Error, interval and p are None where a run has no prompt with
        two draws (``no_repeated_draws_a`` or ``_b``), or where no draws differ
        (``zero_standard_error``). Where those of fewer than 10 prompts do, the error is
        too sure (``few_varying_prompts``).

    Raises:
        StatisticsError: for prompts that are not aligned, or ``level`` out of range.

    Examples:
        >>> from warehouse.stats.core.draws import summarise_draws
        >>> a = summarise_draws([1, 1, 0, 1, 1, 0], [0, 0, 1, 1, 2, 2])
        >>> b = summarise_draws([0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2])
        >>> round(paired_difference_prompts_fixed(a, b).standard_error, 6)
        0.333333
    """
    if a.n != b.n:
        raise StatisticsError(
            f"`a` has {a.n} prompts, `b` {b.n}; pass the same prompts"
        )
    sampled = paired_difference(a.means, b.means, level=level)
    flags = _run_flags(a, "a") + _run_flags(b, "b")
    error, df = _error(a, b)
    if error == 0:
        flags += ("zero_standard_error",)
    elif (
        error
        and np.count_nonzero(np.nan_to_num(a.within) + np.nan_to_num(b.within))
        < FEW_INFORMATIVE
    ):
        flags += (FEW_VARYING,)
    interval = interval_t(sampled.difference, error, df, level=level)
    limits = finite_bounds(bounds)
    most = math.inf if limits is None else limits[1] - limits[0]
    statistic = sampled.difference / error if error else None
    return replace(
        sampled,
        standard_error=error or None,
        ci_low=None if interval is None else max(-most, interval.low),
        ci_high=None if interval is None else min(most, interval.high),
        statistic=statistic,
        degrees_of_freedom=df if error else None,
        p_value=None if statistic is None or df is None else t_p_value(statistic, df),
        variance_saved=None,
        method="prompts_fixed_t",
        reason=_why_no_interval(a, b, error),
        flags=flags,
        estimand=PROMPTS_FIXED,
        draws=None,
    )


def _error(a: PromptDraws, b: PromptDraws) -> tuple[float | None, float | None]:
    if not a.n_known or not b.n_known:
        return None, None
    total = sum(float(np.sum(run.within_or_mean() / run.n_draws)) for run in (a, b))
    parts = [measured_variances(run) for run in (a, b)]
    df = satterthwaite(
        np.concatenate([variances for variances, _ in parts]),
        np.concatenate([freedoms for _, freedoms in parts]),
    )
    return math.sqrt(total) / a.n, df


def _run_flags(run: PromptDraws, name: str) -> tuple[str, ...]:
    if not run.n_known:
        return (f"no_repeated_draws_{name}",)
    if run.imputed:
        return (f"within_imputed_{name}",)
    return ()


def _why_no_interval(a: PromptDraws, b: PromptDraws, error: float | None) -> str:
    if error is None:
        which = " and ".join(
            name for run, name in ((a, "a"), (b, "b")) if not run.n_known
        )
        return f"no prompt of {which} has two draws: how much its draws vary is unknown"
    if error:
        return "prompts fixed: only draws are random"
    return "no draws differ"
