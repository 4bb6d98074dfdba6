"""A rate as people would see it, by a judge whose errors are known from another sample (Rogan and Gladen 1978)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.results import NamedFigures

#: Fewer units of a kind than this behind sensitivity or specificity: a flag.
FEW = 20


@dataclass(frozen=True)
class RoganGladen(NamedFigures):
    """A rate corrected for a judge's sensitivity and specificity."""

    estimate: float | None  #: the rate, within [0, 1]; None where the judge is no better than chance.
    low: float | None  #: lower end of the interval of Lang and Reiczigel (2014).
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    judge_rate: float  #: share that the judge finds positive.
    sensitivity: float  #: share of people's positives that the judge finds.
    specificity: float  #: share of people's negatives that it finds.
    n_units: float  #: units judged, after the design effect.
    flags: tuple[str, ...]  #: ``few_positives``, ``few_negatives``.
    reason: str  #: why there is no figure; empty otherwise.


def rogan_gladen(
    positives: float,
    n: float,
    found: float,
    n_positive: float,
    rejected: float,
    n_negative: float,
    *,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> RoganGladen:
    """The rate behind a judge's rate, with the interval of Lang and Reiczigel (2014).

    It holds if the judge is as sensitive and as specific here as in the sample, and alike for all models. Where the
    labels are a random part of the units themselves, `prediction_powered_mean` holds without that.

    Args:
        positives: units that the judge finds positive.
        n: units that it has judged.
        found: of the sample's positives, those that it finds.
        n_positive: the sample's positives, by people.
        rejected: of its negatives, those that it finds negative.
        n_negative: the sample's negatives.
        design_effect: of the judge's rate, by clusters; what ``n`` is divided by.
        level: nominal coverage.

    Raises:
        StatisticsError: counts out of range.
    """
    for count, total in ((positives, n), (found, n_positive), (rejected, n_negative)):
        if not 0 <= count <= total or total <= 0:
            raise StatisticsError(f"counts must lie between 0 and their total, found {count} of {total}")
    z2 = z_quantile(as_level(level)) ** 2
    rate, size = positives / n, n / max(1.0, design_effect)
    seen = (rate * size + z2 / 2) / (size + z2)
    se, sp = (found + 1) / (n_positive + 2), (rejected + 1) / (n_negative + 2)
    d = se + sp - 1
    raw = found / n_positive + rejected / n_negative - 1
    flags = [flag for flag, few in (("few_positives", n_positive < FEW), ("few_negatives", n_negative < FEW)) if few]
    estimate = low = high = None
    if d > 0 and raw > 0:
        theta = (seen + sp - 1) / d
        v_se, v_sp = se * (1 - se) / (n_positive + 2), sp * (1 - sp) / (n_negative + 2)
        shift = 2 * z2 * (theta * v_se - (1 - theta) * v_sp)
        half = math.sqrt(z2 * (seen * (1 - seen) / (size + z2) + theta**2 * v_se + (1 - theta) ** 2 * v_sp)) / d
        low, high = (min(1.0, max(0.0, end)) for end in (theta + shift - half, theta + shift + half))
        estimate = min(1.0, max(0.0, (rate + rejected / n_negative - 1) / raw))
    return RoganGladen(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        judge_rate=rate,
        sensitivity=found / n_positive,
        specificity=rejected / n_negative,
        n_units=size,
        flags=tuple(flags),
        reason="" if estimate is not None else "the judge is no better than chance in the sample",
    )
