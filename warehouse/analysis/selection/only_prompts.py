"""Some prompts of a benchmark, chosen by a field of theirs: conditions ``prompt.…`` of
``--where``.

Few ask so; what fields prompts have is known to a rare room, which is loaded where a
condition speaks of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.hooks import PROMPTS_WITH, OnlyPrompts
from warehouse.analysis.selection.scores import PromptScores, SeedCells
from warehouse.store.connection import Store

#: How a condition on prompts begins.
OF_PROMPTS = "prompt."


def run_conditions(where: Sequence[str]) -> tuple[str, ...]:
    """The conditions that are on runs."""
    return tuple(text for text in where if not text.startswith(OF_PROMPTS))


def only_prompts(
    store: Store, benchmark_ids: Sequence[int], name: str, where: Sequence[str]
) -> OnlyPrompts | None:
    """The prompts that conditions choose; None where none is on prompts.

    Args:
        benchmark_ids: whose prompts are meant.
        name: of the benchmark, as it was given.
        where: all conditions.

    Raises:
        MisuseError: an unknown field, another form, or no such prompt.
    """
    own = [text for text in where if text.startswith(OF_PROMPTS)]
    if not own:
        return None
    return PROMPTS_WITH.load()(store, benchmark_ids, name, own)


def scores_of(scores: PromptScores, prompts: NDArray[np.int64]) -> PromptScores:
    """The scores of some prompts.

    Args:
        scores: of a condition.
        prompts: ids, in any order.
    """
    own = np.isin(scores.prompts, prompts)
    seen = np.isin(scores.seen, prompts)
    infinite = np.isin(scores.infinite_prompts, prompts)
    unscored = scores.unscored[seen]
    n_unscored = int(unscored.sum())
    n_samples = int(scores.n_draws[own].sum()) + n_unscored
    filled = scores.filled
    if len(filled):
        filled = filled[seen]
    return replace(
        scores,
        prompts=scores.prompts[own],
        values=scores.values[own],
        weights=scores.weights[own],
        n_draws=scores.n_draws[own],
        within=scores.within[own],
        zero_one=scores.zero_one[own],
        seen=scores.seen[seen],
        unscored=unscored,
        filled=filled,
        n_unscored=n_unscored,
        n_samples=n_samples + int(np.count_nonzero(infinite)),
        infinite_prompts=scores.infinite_prompts[infinite],
        infinite_values=scores.infinite_values[infinite],
        repeats=tuple(scores_of(repeat, prompts) for repeat in scores.repeats),
        seeds=_seeds_of(scores.seeds, own),
    )


def _seeds_of(seeds: SeedCells | None, own: NDArray[np.bool_]) -> SeedCells | None:
    """The cells of some prompts, without seeds that have a score on none of them."""
    if seeds is None:
        return None
    cells = seeds.cells[:, own]
    has_some = np.flatnonzero(np.isfinite(cells).any(axis=1))
    labels = tuple(seeds.labels[number] for number in has_some.tolist())
    return replace(seeds, labels=labels, cells=cells[has_some])
