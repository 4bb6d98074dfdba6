"""Prompts that a report points at: the hardest, those that go against the rest, those all answer alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.analysis.comparison.all_pairs import comparable
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.stats.items.discrimination import discrimination

#: Prompts of each kind.
TOP = 5


@dataclass(frozen=True)
class HardPrompts:
    """What `items` says of single prompts, in short.

    Attributes:
        n_prompts: prompts that all conditions have a score of.
        n_models: conditions.
        n_constant: prompts with one score for all.
        n_negative: prompts on which conditions do the worse, the better they do on the rest (false
            ones at most 5 %, Benjamini and Hochberg).
        hardest: ids and mean scores of the hardest, at most 5.
        negative: ids and correlations with the rest of the most negative, at most 5.
    """

    n_prompts: int
    n_models: int
    n_constant: int
    n_negative: int
    hardest: tuple[tuple[int, float], ...]
    negative: tuple[tuple[int, float], ...]

    @property
    def prompts(self) -> tuple[int, ...]:
        """Ids of all that are named."""
        return tuple(prompt for prompt, _ in (*self.hardest, *self.negative))


def hard_prompts(scores: BenchmarkScores) -> HardPrompts | None:
    """The largest group of conditions on a benchmark; None for fewer than two of either."""
    groups = [comparable(members, scores) for members in scores.groups().values()]
    members = max(groups, key=len, default=[])
    if len(members) < 2 or scores.metric.link != "identity":
        return None
    table = score_table(members, scores.clusters)
    complete = ~np.isnan(table.values).any(axis=1)
    values, ids = table.values[complete], table.prompts[complete]
    if len(ids) < 2:
        return None
    sign = -1.0 if scores.metric.higher_is_better is False else 1.0
    correlations = discrimination(sign * values.T)
    means = values.mean(axis=1)
    hardest = np.lexsort([ids, sign * means])[:TOP]
    against = np.flatnonzero(correlations.is_negative)
    against = against[np.lexsort([ids[against], correlations.q_negative[against]])]
    return HardPrompts(
        n_prompts=len(ids),
        n_models=len(members),
        n_constant=int(correlations.is_constant.sum()),
        n_negative=len(against),
        hardest=tuple((int(ids[place]), float(means[place])) for place in hardest),
        negative=tuple((int(ids[place]), float(correlations.corrected[place])) for place in against[:TOP]),
    )
