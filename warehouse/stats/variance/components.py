"""How much of a mean's variance the choice of prompts makes, how much the draws, and
how much the seeds.

Definitions: statistics.md §1, after Miller (2024) §3.1 and Zhang et al. (2025) §2.
Var(μ̂) is s²/n whatever the K_i (CR2² with clusters); its part within prompts is w/n, w
= mean(W_i/K_i).

S seeds (trained replicates) answer the same n prompts. Two-way analysis of variance
without replication: mean squares of prompts, seeds and what is left (interaction and
draws together).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PromptDraws, prompt_draws
from warehouse.stats.core.inputs import as_clusters, clusters_if_any, number_of
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.rows.seed_fit import fit_seeds

#: Share of the variance between prompts that may be left to gain at the suggested K.
EPSILON = 0.1
_ROUNDING = 1e-9
# A part between prompts below this share of the whole is 0 but for rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class VarianceComponents(NamedFigures):
    """The variance of one run's mean, split between prompts and draws."""

    mean: float  #: mean over prompts of the mean over draws.
    n_prompts: int  #: prompts n.
    n_clusters: int | None  #: clusters, None without.
    n_multi_draw: int  #: prompts with two or more draws.
    fewest_draws: int  #: the smallest K_i.
    most_draws: int  #: the largest K_i.
    mean_draws: float  #: mean of the K_i.
    #: s², sample variance of the prompt means; None for one prompt.
    prompt_variance: float | None
    #: of the mean, prompts sampled: s²/n, or CR2² with clusters.
    variance: float | None
    #: W̄, mean of the known W_i; None if no prompt has two draws.
    mean_within: float | None
    within: float | None  #: w = mean of W_i/K_i.
    #: n · variance − w: the variance that prompts make; unbiased, may be below 0.
    between_raw: float | None
    between: float | None  #: max(0, between_raw).
    is_clipped: bool  #: ``between_raw`` is below 0.
    within_imputed: bool  #: some W_i are not known; W̄ stands in.
    share_between: float | None  #: between_raw over n · variance; below 0 if clipped.
    #: w over n · variance: the most that more draws can save.
    share_within: float | None
    #: expected from twice as many draws of each prompt.
    variance_double_draws: float | None
    #: expected from draws without end: between_raw / n.
    variance_unlimited_draws: float | None
    variance_prompts_fixed: float | None  #: w/n: only the draws are random.
    #: Zhang et al. (2025) eq. 2; only for 0/1 draws and equal K. It counts the part
    #: within prompts 2 − 1/K times.
    variance_zhang_plugin: float | None
    #: K beyond which less than a share ``epsilon`` of the variance between prompts is
    #: left to gain: max(1, ceil(W̄/(epsilon · between_raw))); None with a reason.
    suggested_draws: int | None
    epsilon: float  #: that share.
    reason: str  #: why the parts or the suggestion are None; empty if they are not.

    def __str__(self) -> str:
        if self.share_within is None or self.share_between is None:
            return f"{self.mean:.4g} (no split: {self.reason}, n={self.n_prompts})"
        suggested = "none" if self.suggested_draws is None else self.suggested_draws
        return (
            f"{self.mean:.4g}: {100 * self.share_between:.3g} % of the variance "
            f"between prompts, {100 * self.share_within:.3g} % within "
            f"(n={self.n_prompts}, K={self.mean_draws:g}, suggested K: {suggested})"
        )


def variance_components(
    means: ArrayLike,
    within: ArrayLike,
    n_draws: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    epsilon: float = EPSILON,
) -> VarianceComponents:
    """Split the variance of a run's mean into the parts of prompts and of draws.

    Args:
        means: mean of each prompt's draws, finite, shape (n,), n at least 1.
        within: sample variance over each prompt's draws, shape (n,); NaN where unknown
            (one draw).
        n_draws: draws of each prompt, shape (n,), or one number.
        clusters: cluster of each prompt; then CR2² takes the place of s²/n (as Miller
            2024, appendix C, for differences).
        epsilon: for ``suggested_draws``, above 0.

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> print(variance_components([2 / 3, 0, 1, 0.5], [1 / 3, 0, 0, 1 / 3], [3, 2, 4, 4]))
        0.5417: 72 % of the variance between prompts, 28 % within (n=4, K=3.25, suggested K: 14)
    """
    if not 0 < epsilon < math.inf:
        raise StatisticsError(f"`epsilon` must be a number above 0, found {epsilon}")
    draws = prompt_draws(means, within, n_draws)
    if clusters is None:
        groups = None
    else:
        groups = as_clusters(clusters, draws.n)
    sample = describe(draws.means, groups)
    return _split(draws, sample, epsilon)


def _split(draws: PromptDraws, sample: Sample, epsilon: float) -> VarianceComponents:
    n = draws.n
    if sample.se is None:
        variance = None
    else:
        variance = sample.se**2
    if sample.se_clt is None:
        prompt_variance = None
    else:
        prompt_variance = sample.se_clt**2 * n
    w, mean_within = draws.part_within, draws.mean_within
    between = None if variance is None or w is None else n * variance - w
    spread = between is not None and between > _NOTHING * n * (variance or 0.0)
    suggested = _suggested(mean_within, between, epsilon) if spread else None
    return VarianceComponents(
        mean=sample.mean,
        n_prompts=n,
        n_clusters=sample.n_clusters,
        n_multi_draw=int((draws.n_draws > 1).sum()),
        fewest_draws=draws.fewest,
        most_draws=int(draws.n_draws.max()),
        mean_draws=float(draws.n_draws.mean()),
        prompt_variance=prompt_variance,
        variance=variance,
        mean_within=mean_within,
        within=w,
        between_raw=between,
        between=None if between is None else max(0.0, between),
        is_clipped=between is not None and between < 0,
        within_imputed=draws.imputed,
        share_between=_ratio(between, variance, n),
        share_within=None if between is None else _ratio(w, variance, n),
        variance_double_draws=_expected(between, w, 2, n),
        variance_unlimited_draws=_expected(between, w, math.inf, n),
        variance_prompts_fixed=None if w is None else w / n,
        variance_zhang_plugin=_zhang_plugin(draws, prompt_variance),
        suggested_draws=suggested,
        epsilon=epsilon,
        reason=_reason(draws, sample, between, spread),
    )


def _expected(
    between: float | None, w: float | None, times: float, n: int
) -> float | None:
    """Variance of the mean with ``times`` as many draws of each prompt."""
    if between is None or w is None:
        return None
    return (between + w / times) / n


def _ratio(part: float | None, variance: float | None, n: int) -> float | None:
    if part is not None and variance:
        return part / (n * variance)
    return None


def _suggested(
    mean_within: float | None, between: float | None, epsilon: float
) -> int | None:
    if mean_within is None or between is None:
        return None
    return max(1, math.ceil(mean_within / (epsilon * between) * (1 - _ROUNDING)))


def _zhang_plugin(draws: PromptDraws, prompt_variance: float | None) -> float | None:
    """(μ̂ − μ̂² − s²)/(nK) + s²/n."""
    if prompt_variance is None or not draws.equal or not draws.are_zero_one():
        return None
    mean = float(draws.means.mean())
    inner = (mean - mean**2 - prompt_variance) / draws.fewest
    return (inner + prompt_variance) / draws.n


def _reason(
    draws: PromptDraws, sample: Sample, between: float | None, spread: bool
) -> str:
    if draws.n == 1:
        return "a single prompt"
    if sample.n_clusters == 1:
        return "a single cluster"
    if between is None:
        many = bool((draws.n_draws > 1).any())
        if many:
            return "the spread of draws is unknown"
        return "no prompt has two draws"
    if spread:
        return ""
    return "prompts differ no more than draws of one prompt do"


@dataclass(frozen=True)
class CrossedVariance(NamedFigures):
    """The variance of the mean over S seeds and n prompts, by what is taken to be
    random."""

    mean: float  #: mean of the table.
    n_seeds: int  #: S.
    n_prompts: int  #: n.
    n_clusters: int | None  #: clusters of the prompts, None without.
    df_prompts: float  #: degrees of freedom of V_p: n − 1, or Satterthwaite's.
    part_prompts: float  #: V_p = s²(prompt means)/n, or CR2² with clusters.
    part_seeds: float  #: V_s = s²(seed means)/S.
    part_interaction: float  #: V_i = MS_interaction/(nS), draws included; with clusters Σ CR2²/(S(S − 1)) over seeds.
    #: sqrt(V_p): prompts are a sample, these seeds are all there are.
    se_seeds_fixed: float
    #: sqrt(V_s): seeds are a sample, these prompts are all there are.
    se_prompts_fixed: float
    se_both_sampled: float  #: sqrt(max(V_p + V_s − V_i, V_p, V_s)).
    #: only the draws are random: sqrt(Σ W/K)/(nS); None without the draws' variances.
    se_both_fixed: float | None
    #: variance between prompts, (MS_prompts − MS_interaction)/S; may be below 0, like
    #: the next.
    variance_prompts: float
    variance_seeds: float  #: variance between seeds, (MS_seeds − MS_interaction)/n.
    variance_interaction: float  #: MS_interaction.
    seed_sd: float  #: sample standard deviation of the seed means.

    def __str__(self) -> str:
        return (
            f"{self.mean:.4g}, S={self.n_seeds}, n={self.n_prompts}: se "
            f"{self.se_seeds_fixed:.4g} (seeds fixed), {self.se_prompts_fixed:.4g} "
            f"(prompts fixed), {self.se_both_sampled:.4g} (both sampled)"
        )


def crossed_variance(
    scores: ArrayLike,
    *,
    within: ArrayLike | None = None,
    n_draws: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> CrossedVariance:
    """Split the variance of a seeds × prompts table.

    Args:
        scores: mean over draws of each seed (row) and prompt (column), finite, shape
            (S, n), both at least 2.
        within: sample variance over the draws of each cell, shape (S, n), all known;
            None if not.
        n_draws: draws of each cell, shape (S, n), with ``within``.
        clusters: cluster of each prompt, at least two, shape (n,), or None.

    Raises:
        StatisticsError: another shape, values that are not finite, variances below 0, a
            single cluster.

    Examples:
        >>> print(crossed_variance([[1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0]]))
        0.5833, S=3, n=4: se 0.1596 (seeds fixed), 0.08333 (prompts fixed), 0.1596 (both sampled)
    """
    table = _table(scores, "scores")
    seeds, n = table.shape
    if seeds < 2 or n < 2:
        raise StatisticsError(
            f"`scores` must hold at least 2 seeds (rows) and 2 prompts, found {seeds} "
            f"and {n}"
        )
    fit = fit_seeds(table, clusters=clusters)
    v_p, v_s, v_i, df = fit.v_prompts, fit.v_seeds, fit.v_interaction, fit.df_prompts
    if v_p is None or v_s is None or v_i is None or df is None:
        raise StatisticsError(
            "`clusters` holds a single cluster: nothing tells how clusters differ"
        )
    mean = fit.mean
    by_prompt = fit.prompt_parts - mean
    left = table - fit.prompt_parts - fit.seed_parts[:, None]
    ms_prompts = seeds * float(by_prompt @ by_prompt) / (n - 1)
    ms_seeds = n * seeds * v_s
    ms_left = float((left**2).sum()) / ((n - 1) * (seeds - 1))
    return CrossedVariance(
        mean=mean,
        n_seeds=seeds,
        n_prompts=n,
        n_clusters=number_of(clusters_if_any(clusters, n)),
        df_prompts=df,
        part_prompts=v_p,
        part_seeds=v_s,
        part_interaction=v_i,
        se_seeds_fixed=math.sqrt(v_p),
        se_prompts_fixed=math.sqrt(v_s),
        se_both_sampled=math.sqrt(max(v_p + v_s - v_i, v_p, v_s)),
        se_both_fixed=_both_fixed(table.shape, within, n_draws),
        variance_prompts=(ms_prompts - ms_left) / seeds,
        variance_seeds=(ms_seeds - ms_left) / n,
        variance_interaction=ms_left,
        seed_sd=math.sqrt(ms_seeds / n),
    )


def _both_fixed(
    shape: tuple[int, ...], within: ArrayLike | None, n_draws: ArrayLike | None
) -> float | None:
    if within is None or n_draws is None:
        return None
    variances, counts = _table(within, "within"), _table(n_draws, "n_draws")
    for name, own in (("within", variances.shape), ("n_draws", counts.shape)):
        if own != shape:
            raise StatisticsError(f"`{name}` has the shape {own}, expected {shape}")
    if variances.min() < 0 or counts.min() < 1:
        raise StatisticsError("`within` must be at least 0, and `n_draws` at least 1")
    return math.sqrt(float((variances / counts).sum())) / variances.size


def _table(
    values: ArrayLike, name: str
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"`{name}` must hold numbers: {error}") from None
    if table.ndim != 2:
        raise StatisticsError(
            f"`{name}` must be a table of seeds × prompts, found {table.ndim} D"
        )
    if not np.isfinite(table).all():
        raise StatisticsError(
            f"`{name}` must be finite: keep prompts that every seed answered"
        )
    return table
