"""Whether it helps to be shown first (statistics.md §15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.paired.sign_flip import sign_flip_test
from warehouse.stats.preferences.ballots import Ballots, IntArray, numbered
from warehouse.stats.preferences.contrasts import Contrast, contrasts
from warehouse.stats.preferences.errors import preference_errors
from warehouse.stats.preferences.fit import fit_preferences


@dataclass(frozen=True)
class Position(NamedFigures):
    """What being shown first is worth."""

    gamma: Contrast | None  #: log-odds of being shown first; None with a ``reason``.
    first_wins: float | None  #: chance of the first of two equal models, less a half.
    n_ordered: int  #: votes of which the order is known.
    #: χ² of the order against the pair, if each order were as likely: large where γ is confounded; a prompt counts once
    #: in each order. ``order_df`` and ``order_p``; None where no pair was shown twice.
    order_chi2: float | None
    order_df: int
    order_p: float | None
    n_twice: int  #: verdicts that the same judge gave on the same prompt and pair in both orders.
    n_changed: int  #: of these, how many changed with the order.
    n_first: int  #: changed verdicts that were for the first both times; ``n_second`` for the second.
    n_second: int
    flip_p: float | None  #: of as many for the first as for the second (sign flip by prompt).
    reason: str  #: why there is no γ.


def position_bias(
    votes: Ballots, *, ties: str = "half", errors: str = "two_way", level: float = 0.95, one_judge: bool = False
) -> Position:
    """γ with its interval, orders against pairs, and verdicts that change with the order.

    Args:
        votes: without a covariate for position.
        ties: as the strengths were fitted.
        errors: of γ, not resampled.
        level: of its interval.
        one_judge: whether votes without a voter are of one judge, who may have judged twice.
    """
    gamma, reason = None, ""
    try:
        fit = fit_preferences(votes.with_position() if votes.order_known.any() else votes, ties=ties)
        if not votes.order_known.any():
            reason = "no vote says who was shown first"
        else:
            weights = np.zeros((1, len(fit.theta)))
            weights[0, votes.n_models + len(votes.names)] = 1
            (gamma,) = contrasts(fit.theta, preference_errors(fit, method=errors), weights, level=level)
    except StatisticsError as error:
        reason = str(error)
    chi2, df = _order_against_pair(votes)
    verdicts = _in_both_orders(votes, one_judge)
    changed = verdicts[:, 0] != -verdicts[:, 1]  # of the first that was shown, each time
    twice = verdicts[changed]
    flips = (twice[:, 0] > 0) & (twice[:, 1] > 0), (twice[:, 0] < 0) & (twice[:, 1] < 0)
    sides = flips[0].astype(np.float64) - flips[1]
    prompts = twice[:, 2].astype(np.intp)
    p = sign_flip_test(sides, prompts).p_value if sides.any() else None
    return Position(
        gamma=gamma,
        first_wins=None if gamma is None else float(special.expit(gamma.estimate)) - 0.5,
        n_ordered=int(votes.order_known.sum()),
        order_chi2=chi2 if df else None,
        order_df=df,
        order_p=float(special.chdtrc(df, chi2)) if df else None,
        n_twice=len(verdicts),
        n_changed=len(twice),
        n_first=int(flips[0].sum()),
        n_second=int(flips[1].sum()),
        flip_p=p,
        reason=reason,
    )


def _order_against_pair(votes: Ballots) -> tuple[float, int]:
    """χ² of one order less the other, a prompt in an order counted once; and pairs that were shown twice or more."""
    order_known, shown = votes.order_known, _joined(votes.pairs, votes.prompts)
    order = (votes.first < votes.second).astype(np.intp)
    shown, index = np.unique((2 * shown + order)[order_known], return_index=True)
    at, side = numbered(votes.pairs[order_known][index]), shown % 2
    second, total = np.bincount(at, side), np.bincount(at)
    many = total > 1
    return float(((2 * second - total)[many] ** 2 / total[many]).sum()), int(many.sum())


def _in_both_orders(votes: Ballots, one_judge: bool) -> FloatArray:
    """Verdicts by the same judge on the same prompt and pair: for who was shown first, each way; and the prompt."""
    voters: IntArray = np.zeros(votes.n, dtype=np.intp) if one_judge and not votes.known[0] else votes.voters
    order = (votes.first > votes.second).astype(np.intp)
    key = _joined(_joined(voters, votes.prompts), votes.pairs)
    index = np.flatnonzero(votes.order_known)
    index = index[np.lexsort((order[index], key[index]))]
    group = key[index] * 2 + order[index]
    turn = np.arange(len(index)) - np.searchsorted(group, group)  # which of the votes on the same in the same order
    slot = key[index] * (len(index) + 1) + turn
    sides = [slot[order[index] == side] for side in (0, 1)]
    _, a, b = np.intersect1d(sides[0], sides[1], assume_unique=True, return_indices=True)
    first, second = (index[order[index] == side] for side in (0, 1))
    signs = votes.signs
    return np.column_stack([signs[first[a]], signs[second[b]], votes.prompts[first[a]]])


def _joined(codes: IntArray, others: IntArray) -> IntArray:
    """A code for each two."""
    return numbered(numbered(codes) * (int(others.max(initial=0)) + 1) + others)
