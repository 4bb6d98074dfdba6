"""Whether answers are right as often as they are said to be: Brier score, log loss,
calibration error (statistics.md §23)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.confidence.ranking import (
    RankingMetric,
    as_confidence,
    aurc,
    auroc,
)
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.results import Estimate, NamedFigures, PairedDifference
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.paired.paired import paired_difference

#: Bins of equal width.
N_BINS = 10
#: Sets of answers that are drawn.
N_DRAWS = 9999
#: Numbers that are held at a time.
_MOST_ENTRIES = 1 << 21


@dataclass(frozen=True)
class CalibrationError(NamedFigures):
    """Expected calibration error; it has no interval, as it is biased upward by what
    its bins hold."""

    estimate: float  #: mean over prompts of |confidence − share right| of their bin.
    n_bins: int  #: of equal width; a confidence on an edge belongs to the upper bin.
    calibrated_mean: float  #: its mean, were answers right as often as is said.
    calibrated_95: float  #: its 95th percentile, were they.
    #: share of sets of answers drawn so whose error is as large; None with clusters.
    p_value: float | None
    n_prompts: int  #: prompts.


@dataclass(frozen=True)
class ConfidenceMetrics(NamedFigures):
    """Stored confidence held against whether answers are right."""

    brier: Estimate  #: mean squared distance of confidence from 0/1.
    #: mean of −ln of the probability given to what happened; None where a wrong answer
    #: had confidence 1 or a right one 0, which makes it infinite.
    log_loss: Estimate | None
    overconfidence: PairedDifference  #: mean confidence less accuracy.
    auroc: RankingMetric  #: see `auroc`.
    aurc: RankingMetric  #: see `aurc`.
    calibration: CalibrationError  #: see `calibration_error`.


def confidence_metrics(
    confidence: ArrayLike,
    right: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ConfidenceMetrics:
    """All metrics of stored confidence.

    Args:
        confidence: of each prompt, within [0, 1], shape (n,).
        right: 1 where its answer is right, else 0, shape (n,).
        clusters: of each prompt, integers or strings, shape (n,); None: each by itself.
        level: nominal coverage of the intervals, in (0, 1).
        seed: of what is drawn.

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> found = confidence_metrics([0.9, 0.8, 0.7, 0.4], [1, 1, 0, 1])
        >>> round(found.brier.estimate, 4), round(found.overconfidence.difference, 4)
        (0.225, -0.05)
    """
    c, y, _ = as_confidence(confidence, right, clusters, level)
    brier = estimate_mean(
        (c - y) ** 2,
        clusters=clusters,
        bounds=(0, 1),
        binary=False,
        level=level,
        seed=seed,
    )
    overconfidence = paired_difference(
        c, y, clusters=clusters, bounds=(0, 1), level=level, seed=seed
    )
    return ConfidenceMetrics(
        brier=brier,
        log_loss=_log_loss(c, y, clusters, level, seed),
        overconfidence=overconfidence,
        auroc=auroc(c, y, clusters=clusters, level=level),
        aurc=aurc(c, y, clusters=clusters, level=level),
        calibration=calibration_error(c, y, clusters=clusters, seed=seed),
    )


def _log_loss(
    c: FloatArray, y: FloatArray, clusters: ArrayLike | None, level: float, seed: int
) -> Estimate | None:
    given = np.where(y == 1, c, 1 - c)
    if not given.all():
        return None
    return estimate_mean(-np.log(given), clusters=clusters, level=level, seed=seed)


def calibration_error(
    confidence: ArrayLike,
    right: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    n_bins: int = N_BINS,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> CalibrationError:
    """Expected calibration error in bins of equal width, beside what it would be were
    the answers right with exactly the confidence that is stored.

    Args:
        confidence: of each prompt, within [0, 1], shape (n,).
        right: 1 where its answer is right, else 0, shape (n,).
        clusters: of each prompt; with them there is no p.
        n_bins: bins, at least 1.
        n_draws: sets of answers that are drawn, at least 1.
        seed: of them, a whole number of at least 0.

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> round(calibration_error([0.9, 0.8, 0.7, 0.4], [1, 1, 0, 1]).estimate, 4)
        0.4
    """
    c, y, _ = as_confidence(confidence, right, clusters, 0.95)
    # a stored .3 is a hair below three tenths of 1
    bins = np.floor(np.round(c * n_bins, 9)).astype(np.intp)
    bins = np.minimum(bins, n_bins - 1)
    said = np.bincount(bins, c, n_bins).astype(np.float64)
    observed = float(np.abs(said - np.bincount(bins, y, n_bins)).sum()) / len(c)
    drawn = _drawn_errors(c, bins, said, n_draws, as_seed(seed))
    p_value = None
    if clusters is None:
        n_larger = int(np.sum(drawn >= observed - 1e-12))
        p_value = (1 + n_larger) / (1 + n_draws)
    return CalibrationError(
        estimate=observed,
        n_bins=n_bins,
        calibrated_mean=float(drawn.mean()),
        calibrated_95=float(np.quantile(drawn, 0.95)),
        p_value=p_value,
        n_prompts=len(c),
    )


def _drawn_errors(
    c: FloatArray, bins: NDArray[np.intp], said: FloatArray, n_draws: int, seed: int
) -> FloatArray:
    """The error of answers that are right by chance with each prompt's confidence,
    shape (n_draws,); prompts of one confidence are drawn together."""
    levels, first, counts = np.unique(c, return_index=True, return_counts=True)
    in_bin = np.zeros((len(levels), len(said)))
    in_bin[np.arange(len(levels)), bins[first]] = 1
    rng = np.random.default_rng(seed)
    block = max(1, _MOST_ENTRIES // len(levels))
    errors: list[FloatArray] = []
    for start in range(0, n_draws, block):
        size = min(block, n_draws - start)
        right = rng.binomial(counts, levels, (size, len(levels))) @ in_bin
        errors.append(np.abs(said - right).sum(axis=1) / len(c))
    return np.concatenate(errors)
