"""Which checkpoint of a training is a model's row (statistics.md §20 D): the last whole
one.

Never the best: the best of 27 checkpoints of a flat curve is 1.1 to 1.6 standard errors
too high, and its interval covers .66 to .84.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING
from warehouse.stats.rows.seed_fit import WHOLE

Seed = TypeVar("Seed", bound=Hashable)


@dataclass(frozen=True)
class RowCheckpoint(Generic[Seed]):
    """The position of training that stands for a model."""

    position: float  #: in steps, tokens or epochs, as the counts were.
    #: that have a whole checkpoint there, in the order of the counts.
    seeds: tuple[Seed, ...]
    left_out: tuple[Seed, ...]  #: seeds without one.
    n_checkpoints: int  #: positions with a checkpoint of some seed.
    #: the last position beyond it that some seed has a part of; None for none.
    last_partial: float | None
    mixed_lengths: bool  #: some seed has a later whole checkpoint that others lack.

    @property
    def flags(self) -> tuple[str, ...]:
        """``last_partial`` and ``mixed_lengths``, where they hold."""
        partial = ("last_partial",) if self.last_partial is not None else ()
        mixed = ("mixed_lengths",) if self.mixed_lengths else ()
        return partial + mixed


def row_checkpoint(counts: Mapping[Seed, Mapping[float, int]]) -> RowCheckpoint[Seed]:
    """The last position that all seeds have a whole checkpoint at.

    A checkpoint is whole that is scored on at least .95 of the prompts of the model's
    fullest. Where no position is common to all seeds that have a whole one, it is the
    last of those that most of them have.

    Args:
        counts: prompts that are scored of each seed at each position.

    Raises:
        StatisticsError: no checkpoint at all.

    Examples:
        >>> found = row_checkpoint({1: {100: 50, 200: 50, 300: 9}, 2: {100: 50, 200: 50}})
        >>> found.position, found.last_partial
        (200, 300)
    """
    sizes = list(chain.from_iterable(own.values() for own in counts.values()))
    if not sizes:
        raise StatisticsError("`counts` holds no checkpoint")
    least = WHOLE * max(sizes) * (1 - ROUNDING)
    whole: dict[Seed, set[float]] = {}
    for seed, by_position in counts.items():
        own = {position for position, size in by_position.items() if size >= least}
        if own:
            whole[seed] = own
    reached = Counter(chain.from_iterable(whole.values()))
    most = max(reached.values())
    position = max(position for position, n_seeds in reached.items() if n_seeds == most)
    later = {other for other in reached if other > position}
    everywhere = set(chain.from_iterable(counts.values()))
    partial = {place for place in everywhere if place > position} - later
    return RowCheckpoint(
        position=position,
        seeds=tuple(seed for seed in counts if position in whole.get(seed, ())),
        left_out=tuple(seed for seed in counts if position not in whole.get(seed, ())),
        n_checkpoints=len(everywhere),
        last_partial=max(partial, default=None),
        mixed_lengths=bool(later),
    )
