"""Labels of people for some of the units that a judge has scored, and the slope of the
labels on the judge's scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_clusters,
    as_floats,
    as_level,
    as_scores,
    check_length,
    clusters_if_any,
    is_constant,
)
from warehouse.stats.subsets.sample import StratifiedSample

BoolArray = NDArray[np.bool_]
#: Smallest probability of a label, as a share of n/N.
SMALLEST_PROBABILITY = 0.02


@dataclass(frozen=True)
class Labelled:
    """Labels and scores, and by what chance a unit has a label."""

    labels: FloatArray  #: h, NaN where there is none, shape (N,).
    judge: FloatArray  #: g, shape (N,).
    labelled: BoolArray  #: shape (N,).
    #: of each unit, from 0, those with fewer than two labels joined, shape (N,); all 0
    #: for a simple sample.
    stratum: NDArray[np.intp]
    #: what each label stands for by its chance, summing to 1, shape (n,); None where
    #: chances are alike, or by strata.
    shares: FloatArray | None
    clusters: Clusters | None  #: of all units, or None.
    fixed: bool  #: whether these units are all there are.
    level: float
    difference: bool  #: whether the labels are differences of two models.
    ends: tuple[float, float] | None = None  #: smallest and largest label.

    @property
    def n(self) -> int:
        """Labels n."""
        return int(self.labelled.sum())

    @property
    def h(self) -> FloatArray:
        """The labels that there are, shape (n,)."""
        return self.labels[self.labelled]

    @property
    def g(self) -> FloatArray:
        """The judge's scores beside them, shape (n,)."""
        return self.judge[self.labelled]

    def sample(self, values: FloatArray) -> StratifiedSample:
        """Values of the labelled units as a stratified sample of all."""
        return StratifiedSample(
            np.where(self.labelled, values, np.nan), self.stratum, self.labelled
        )


def labelled_units(
    h: ArrayLike,
    g: ArrayLike,
    clusters: ArrayLike | None,
    strata: ArrayLike | None,
    probabilities: ArrayLike | None,
    fixed: bool,
    level: float,
    *,
    difference: bool = False,
) -> Labelled:
    judge, labels = as_scores(g, "g"), as_floats(h, "h")
    total = len(judge)
    check_length(len(labels), total, "h")
    labelled = ~np.isnan(labels)
    if not labelled.any():
        raise StatisticsError("no unit has a label of people")
    if not np.isfinite(labels[labelled]).all():
        raise StatisticsError("`h` holds labels that are not finite numbers")
    stratum, shares = np.zeros(total, np.intp), None
    if strata is not None:
        stratum = as_clusters(strata, total).codes
    elif probabilities is not None:
        shares = _chances(probabilities, labelled)
    where_labelled = np.where(labelled, 0.0, np.nan)
    sample = StratifiedSample(where_labelled, stratum, labelled)
    return Labelled(
        labels=labels,
        judge=judge,
        labelled=labelled,
        stratum=sample.joined().stratum,
        shares=shares,
        clusters=clusters_if_any(clusters, total),
        fixed=fixed,
        level=as_level(level),
        difference=difference,
    )


def _chances(probabilities: ArrayLike, labelled: BoolArray) -> FloatArray | None:
    """What labels stand for by their chances; None where these are alike."""
    chance = as_floats(probabilities, "probabilities")
    least = SMALLEST_PROBABILITY * labelled.mean()
    check_length(len(chance), len(labelled), "probabilities")
    of_labels = chance[labelled]
    if not (of_labels.min() >= least and of_labels.max() <= 1):
        raise StatisticsError(
            f"`probabilities` of labels run from {of_labels.min():.3g} to "
            f"{of_labels.max():.3g}; they must be from {least:.3g} to 1: a label that "
            "was too unlikely would count for nearly all others"
        )
    if is_constant(of_labels):
        return None
    return np.asarray((1 / of_labels) / (1 / of_labels).sum())


def moments(
    h: FloatArray, g: FloatArray, shares: FloatArray | None = None
) -> tuple[float, float]:
    """cov(h, g) and var(g), ddof 1, of labelled units; by the shares that labels stand
    for, if given."""
    if len(h) < 2 or is_constant(g):
        return 0.0, 0.0
    if shares is None:
        products = float((h - h.mean()) @ (g - g.mean()))
        return products / (len(h) - 1), float(g.var(ddof=1))
    squares = len(h) * shares**2
    centred_h = h - shares @ h
    centred_g = g - shares @ g
    covariance = float(squares @ (centred_h * centred_g))
    return covariance, float(squares @ centred_g**2)


def cut(covariance: float, variance: float) -> float:
    if variance > 0:
        return float(min(1.0, max(0.0, covariance / variance)))
    return 0.0


def slope(design: Labelled) -> tuple[float, float]:
    """Σ W_h² cov_h/n_h and Σ W_h² var_h(g)/n_h, times n."""
    h, g, of = design.h, design.g, design.stratum[design.labelled]
    if design.shares is not None:
        return moments(h, g, design.shares)
    covariance = variance = 0.0
    for stratum, size in enumerate(np.bincount(design.stratum).tolist()):
        inside = of == stratum
        cov, var = moments(h[inside], g[inside])
        of_all = size / len(design.judge)
        share = of_all**2 * (design.n / max(1, int(inside.sum())))  # 1 without strata
        covariance += share * cov
        variance += share * var
    return covariance, variance
