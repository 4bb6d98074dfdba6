"""Training seeds of one recipe on one benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import RecipeRow


@dataclass(frozen=True)
class SeedsRow(RecipeRow):
    """Training seeds of one recipe on one benchmark. Figures are in the metric's
    reported unit."""

    n_seeds: int  #: seeds S.
    n_checkpoints: int  #: checkpoints that all seeds have.
    seed_mean: float  #: mean over seeds at the last common checkpoint, or of the last ``averaged``.
    #: standard deviation over seeds there, ddof 1; None for one seed.
    seed_sd: float | None
    #: lower end of its 95 % interval (Bonett; χ² below 5 seeds).
    seed_sd_low: float | None
    #: upper end; no more than half of the metric's range, which no spread exceeds.
    seed_sd_high: float | None
    #: the standard deviation over seeds at each common checkpoint, averaged.
    seed_sd_averaged: float | None
    #: mean half-width of the single runs' normal intervals there; None if unknown.
    half_width: float | None
    sd_ratio: float | None  #: seed_sd over half_width (Madaan et al. 2024, table 1).
    #: difference of two single runs that seeds alone exceed in 5 % of cases; None for
    #: one seed.
    noise_floor: float | None
    #: last checkpoints that are averaged in each run for the figures above.
    averaged: int
    #: standard deviation from checkpoint to checkpoint within a run, trend removed.
    jitter: float | None
    #: with one seed only: what jitter alone makes of the difference of two runs, less
    #: than their noise floor.
    jitter_lower_bound: float | None
    #: σ_S² between seeds apart from jitter; None without two of each.
    seed_variance: float | None
    seed_variance_low: float | None  #: lower end of its interval.
    seed_variance_high: float | None  #: upper end.
    signal_to_noise: float | None  #: seed_mean over seed_sd.
    #: lower end of its jackknife interval; None below three seeds.
    signal_to_noise_low: float | None
    signal_to_noise_high: float | None  #: upper end.
    other_metric: str  #: the metric that it is held against; empty without one.
    other_signal_to_noise: float | None  #: by that metric, of the same seeds.
    ratio: float | None  #: other_signal_to_noise over signal_to_noise.
    ratio_low: float | None  #: lower end of its paired jackknife interval.
    ratio_high: float | None  #: upper end.
    other_tau: float | None  #: ``tau`` by that metric.
    #: Kendall's τ-b of scores with the order of checkpoints, mean over seeds.
    tau: float | None
    p_monotone: float | None  #: one-sided p of a rise.
    #: what does not hold, such as ``autocorrelated``; ``few_seeds``: fewer than 29,
    #: whose figures suppose nearly normal seeds; ``unequal_prompts``: some figures rest
    #: on fewer or other prompts, so that spread, jitter and tau hold also how hard the
    #: others are.
    flags: tuple[str, ...]
    reason: str  #: why figures are missing.
    seeds: tuple[str, ...]  #: labels of the seeds.
