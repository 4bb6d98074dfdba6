"""The fewest single verdicts that would have to be the other way for a comparison to
change: of prompts with one verdict each, right or wrong (statistics.md §26.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, check_one_sided
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.paired.sign_flip import binomial_p_value

_Counts = NDArray[np.intp]


@dataclass(frozen=True)
class ChangedVerdicts(NamedFigures):
    """How few verdicts (one model, one prompt) change the comparison."""

    for_sign: int  #: for the other to lead: b − c + 1.
    #: for McNemar's p to pass α; 0 where it is above as it stands.
    for_p: int
    undone_wins: int  #: of ``for_p``: wins that become ties.
    new_losses: int  #: of ``for_p``: ties that become losses.
    #: wrong keys for the other to lead, each of which gives one point to it that the one
    #: that leads had: ⌈(b − c + 1)/2⌉.
    keys: int


def changed_verdicts(
    wins: int, losses: int, n: int, alpha: float = 0.05
) -> ChangedVerdicts:
    """The fewest changes, all splits into undone wins and new losses tried.

    Args:
        wins: prompts that the one that leads has right alone, at least ``losses``.
        losses: prompts that the other has right alone.
        n: all prompts.
        alpha: p above which a difference is not shown, between 0 and 0.5.
    """
    check_one_sided(alpha)
    lead = wins - losses
    undone, new = _fewest(wins, losses, n, alpha)
    return ChangedVerdicts(
        for_sign=lead + 1,
        for_p=undone + new,
        undone_wins=undone,
        new_losses=new,
        keys=(lead + 2) // 2,
    )


def _fewest(wins: int, losses: int, n: int, alpha: float) -> tuple[int, int]:
    """Undone wins and new losses, as few together as do; more new losses first."""
    if binomial_p_value(wins, losses) > alpha:
        return 0, 0
    ties = n - wins - losses
    for together in range(1, wins - losses + 1):
        undone = np.arange(together + 1)
        new = together - undone
        is_possible = (new <= ties + undone) & (undone <= wins)
        p_values = _p_values(wins - undone, losses + new)
        passing = np.flatnonzero(is_possible & (p_values > alpha))
        if len(passing):
            first = int(passing[0])
            return int(undone[first]), int(new[first])
    return wins - losses, 0


def _p_values(wins: _Counts, losses: _Counts) -> FloatArray:
    """McNemar's exact p of several pairs of counts."""
    fewer = np.minimum(wins, losses)
    tails = special.bdtr(fewer, wins + losses, 0.5)
    p_values: FloatArray = np.minimum(1.0, 2 * tails)
    p_values[wins == losses] = 1.0
    return p_values
