"""The fewest units without which a sum changes its sign (statistics.md §26.1).

The sign of a weighted mean is that of its sum, so that leaving out the largest totals
first is exact, for any weights and any clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import (
    FloatArray,
    as_clusters,
    as_scores,
    check_length,
    unit_sums,
)
from warehouse.stats.core.results import NamedFigures

#: A sum is 0 up to this share of the sum of the sizes of its parts.
_TIE = 1e-12


@dataclass(frozen=True)
class Handful(NamedFigures):
    """The fewest units of which the lead of one of two consists."""

    #: fewest units without which the other leads; 0 where they are tied; None where no
    #: unit speaks for the other.
    count: int | None
    #: fewest units without which they are tied; None where no number leaves a tie.
    tie_at: int | None
    n_units: int  #: prompts, or clusters.
    n_for: int  #: units that speak for the one that leads.
    lead: float  #: sum of all totals, of the one that leads; at least 0.
    first_leads: bool  #: whether the sum was above 0 as given.
    #: R² = lead²/Σ T², which no number of units that carry the lead is below.
    fewest_possible: float
    #: what a unit adds to the lead, shape (n_units,).
    totals: FloatArray
    #: numbers of the units that are left out, in order; up to ``tie_at`` where
    #: ``count`` is None.
    left_out: NDArray[np.intp]
    reason: str  #: ``tied``, ``one_sided``, or empty.


def handful(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Handful:
    """How few prompts, or whole clusters, carry the lead of one of two.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,); None: units
            are prompts.
        weights: of the prompts, at least 0, shape (n,); None: all equal.

    Raises:
        StatisticsError: no differences, some not finite, or lengths that differ.

    Examples:
        >>> found = handful([1, 1, 1, -1, 0])
        >>> (found.count, found.tie_at, found.left_out.tolist())
        (3, 2, [0, 1, 2])
    """
    values = as_scores(differences, "differences")
    if weights is not None:
        factors = as_scores(weights, "weights")
        check_length(len(factors), len(values), "weights")
        values = values * factors
    groups = None
    if clusters is not None:
        groups = as_clusters(clusters, len(values))
    return handful_of_totals(unit_sums(values, groups))


def handful_of_totals(totals: FloatArray) -> Handful:
    """`handful` of what each unit adds.

    Args:
        totals: finite, shape (units,).
    """
    lead = float(totals.sum())
    slack = _TIE * float(np.abs(totals).sum())
    first_leads = lead > slack
    if lead < -slack:
        totals, lead = -totals, -lead
    if lead <= slack:
        nothing = np.empty(0, dtype=np.intp)
        return _found(totals, lead, first_leads, 0, 0, nothing, "tied")
    order = np.argsort(-totals, kind="stable")
    speaking = order[totals[order] > 0]
    kept = lead - np.cumsum(totals[speaking])
    turned = np.flatnonzero(kept < -slack)
    tied = np.flatnonzero(np.abs(kept) <= slack)
    tie_at = None
    if len(tied):
        tie_at = int(tied[0]) + 1
    if not len(turned):
        left_out = speaking[:tie_at]
        return _found(totals, lead, first_leads, None, tie_at, left_out, "one_sided")
    count = int(turned[0]) + 1
    return _found(totals, lead, first_leads, count, tie_at, speaking[:count], "")


def _found(
    totals: FloatArray,
    lead: float,
    first_leads: bool,
    count: int | None,
    tie_at: int | None,
    left_out: NDArray[np.intp],
    reason: str,
) -> Handful:
    squares = float(totals @ totals)
    fewest = 0.0
    if squares > 0:
        fewest = lead**2 / squares
    return Handful(
        count=count,
        tie_at=tie_at,
        n_units=len(totals),
        n_for=int(np.count_nonzero(totals > 0)),
        lead=lead,
        first_leads=first_leads,
        fewest_possible=fewest,
        totals=totals,
        left_out=left_out,
        reason=reason,
    )
