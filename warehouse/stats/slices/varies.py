"""Whether figures vary over the slices of a field at all: one test.

Brown and Forsythe's statistic holds whatever the variances of the slices are, but its F
law does not where slices are small or scores 0/1; so p is by signs of the units (a
prompt, or a whole cluster, across slices too), with the statistic computed anew under
each (statistics.md §21 d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import (
    TIE,
    Clusters,
    FloatArray,
    as_scores,
    as_seed,
    clusters_if_any,
)
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.slices.membership import (
    IntArray,
    Units,
    slice_codes,
    units_of,
    within,
)
from warehouse.stats.slices.signs import enumerated, sign_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Units below which the test is a little liberal in clusters.
FEW_CLUSTERS = 20
#: A spread or a squared sum of this share of the squares is 0.
_NOTHING = 1e-12
ONE_CLUSTER_EACH = "each slice is one cluster: nothing to hold its spread against"
ONE_PROMPT_EACH = "fewer than two slices have two prompts"


@dataclass(frozen=True)
class VariationTest(NamedFigures):
    """Test of H0: the mean is the same in every slice, whatever the variances."""

    p_value: float | None  #: None where it is not tested.
    statistic: float | None  #: Brown and Forsythe's, by clusters where there are any.
    n_slices: int  #: slices in the test.
    n_prompts: int  #: prompts in the test.
    n_clusters: int | None  #: clusters in the test, None without.
    left_out: tuple[int, ...]  #: slices of one prompt, or of one cluster, by number.
    #: sign vectors drawn beside the identity; 0 where all are gone through.
    n_resamples: int
    reason: str  #: why there is no test; empty where there is one.
    flags: tuple[str, ...]  #: ``few_clusters``.


def variation_test(
    values: ArrayLike,
    slices: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_resamples: int = 9999,
    seed: int = 0,
) -> VariationTest:
    """Test whether differences (or scores) vary over slices.

    BF = Q/Den, Q = Σ n_g (ē_g − ē)², Den the sum of what the units' own spread adds to
    it. Without clusters Den = Σ (1 − n_g/n) s²_g (Brown and Forsythe 1974). p is the
    share of sign vectors whose BF is as large.

    Args:
        values: of each prompt, finite, shape (n,).
        slices: slice of each prompt, 0 to S − 1, shape (n,).
        clusters: cluster of each prompt, shape (n,), within slices or across, or None.
        n_resamples: sign vectors beside the identity; all are gone through where there
            are no more.
        seed: of the signs.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> test = variation_test([1, 0, 1, 1, 0, -1, 0, 1, -1, 0, 0, 0], [0] * 4 + [1] * 3 + [2] * 5)
        >>> round(test.statistic, 6), test.p_value
        (3.176471, 0.0712890625)
    """
    scores = as_scores(values, "values")
    codes = slice_codes(slices, len(scores))
    groups = clusters_if_any(clusters, len(scores))
    many = units_of(scores, codes, groups).n_units >= 2
    left_out = tuple(np.flatnonzero(~many).tolist())
    if np.count_nonzero(many) < 2:
        return _refused(groups, left_out)
    stays = np.flatnonzero(many[codes])
    own = np.unique(codes[stays], return_inverse=True)[1].astype(np.intp)
    inside = within(groups, stays)
    return _tested(scores[stays], own, inside, left_out, n_resamples, as_seed(seed))


def _refused(groups: Clusters | None, left_out: tuple[int, ...]) -> VariationTest:
    reason, n_clusters = ONE_PROMPT_EACH, None
    if groups is not None:
        reason, n_clusters = ONE_CLUSTER_EACH, 0
    return VariationTest(None, None, 0, 0, n_clusters, left_out, 0, reason, ())


def _tested(
    scores: FloatArray,
    codes: IntArray,
    clusters: Clusters | None,
    left_out: tuple[int, ...],
    n_resamples: int,
    seed: int,
) -> VariationTest:
    parts = _Parts.of(units_of(scores - mean_of(scores), codes, clusters))
    n_units = parts.pulls.shape[1]
    figures = []
    for signs in sign_blocks(n_units, n_resamples, seed):
        figures.append(parts.under(signs))
    drawn = np.concatenate(figures)
    observed = float(drawn[0])
    n_clusters, few = None, False
    if clusters is not None:
        n_clusters, few = clusters.n, clusters.n < FEW_CLUSTERS
    return VariationTest(
        p_value=float(np.mean(drawn >= observed * (1 - TIE))),
        statistic=observed,
        n_slices=len(parts.sizes),
        n_prompts=len(scores),
        n_clusters=n_clusters,
        left_out=left_out,
        n_resamples=0 if enumerated(n_units, n_resamples) else n_resamples,
        reason="",
        flags=flags_of(few_clusters=few),
    )


@dataclass(frozen=True)
class _Parts:
    """What the statistic is made of; each figure under signs ξ is a sum over units.

    R̂_cg = √k_g (ξ_c R_cg − n_cg m_g), k_g = G_g/(G_g − 1), m_g = N_g/n_g.
    """

    totals: csr_matrix  #: R_cg, sparse, shape (S, C).
    pulls: csr_matrix  #: n_cg R_cg, sparse, shape (S, C).
    crossed: csr_matrix  #: √k_g n_cg Σ_h √k_h R_ch, sparse, shape (S, C).
    sizes: FloatArray  #: n_g, shape (S,).
    factors: FloatArray  #: k_g, shape (S,).
    squares: FloatArray  #: Σ_c R²_cg, shape (S,).
    square_sizes: FloatArray  #: Σ_c n²_cg, shape (S,).
    all_squares: float  #: Σ_c (Σ_g √k_g R_cg)².
    overlaps: FloatArray  #: Σ_c √k_g n_cg √k_h n_ch, shape (S, S).

    @classmethod
    def of(cls, units: Units) -> _Parts:
        """The parts of centred values.

        Args:
            units: their totals and counts, at least two units a slice.
        """
        from scipy.sparse import diags

        g = units.n_units
        factors = g / (g - 1)
        roots = diags(np.sqrt(factors))
        pulled = (roots @ units.totals).sum(axis=0)
        across = np.asarray(pulled).ravel()
        counts = (roots @ units.counts).tocsr()
        squares = np.asarray(units.totals.multiply(units.totals).sum(axis=1)).ravel()
        own = units.counts.multiply(units.counts).sum(axis=1)
        return cls(
            totals=units.totals,
            pulls=units.counts.multiply(units.totals).tocsr(),
            crossed=(counts @ diags(across)).tocsr(),
            sizes=np.asarray(units.counts.sum(axis=1)).ravel(),
            factors=factors,
            squares=squares,
            square_sizes=np.asarray(own).ravel(),
            all_squares=float(across @ across),
            overlaps=np.asarray((counts @ counts.T).todense()),
        )

    def under(self, signs: FloatArray) -> FloatArray:
        """BF of each vector of signs, shape (C, draws) to (draws,)."""
        n = float(self.sizes.sum())
        sums = np.asarray(self.totals @ signs)
        means = sums / self.sizes[:, None]
        pulls = np.asarray(self.pulls @ signs)
        crossed = np.asarray(self.crossed @ signs)
        own = self.squares[:, None] - 2 * means * pulls
        own += means**2 * self.square_sizes[:, None]
        within_slices = (self.factors / self.sizes) @ own
        across = self.all_squares - 2 * (means * crossed).sum(axis=0)
        across += (means * (self.overlaps @ means)).sum(axis=0)
        nothing = _NOTHING * float(self.squares.sum())
        top = (sums * means).sum(axis=0) - sums.sum(axis=0) ** 2 / n
        return _ratio(top, within_slices - across / n, nothing)


def _ratio(top: FloatArray, bottom: FloatArray, nothing: float) -> FloatArray:
    """top/bottom: 0 where both are nothing, infinite where the bottom alone is."""
    ratio = np.full(len(top), math.inf)
    ratio[top <= nothing] = 0.0
    spread = bottom > nothing
    ratio[spread] = np.where(top > nothing, top, 0.0)[spread] / bottom[spread]
    return ratio
