"""Training seeds that several benchmarks have in common: which count, which are left
out, scores of some of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats.rows.seed_fit import fit_seeds
from warehouse.stats.suites.seed_suite import seeds_together

Place = TypeVar("Place", bound=Hashable)


def common_seeds(
    scores: Mapping[Place, PromptScores | None],
) -> tuple[dict[Place, tuple[str, ...]], dict[str, list[Place]]]:
    """The seeds that count on each benchmark with several, and where those stand that
    are left out.

    A seed moves all benchmarks together, so that those count that all have; where fewer
    than two are so, each benchmark has its own. Repeats that count like seeds are of
    one benchmark alone.

    Args:
        scores: of one model by benchmark; None where it has none.
    """
    several: dict[Place, tuple[str, ...]] = {}
    repeats: dict[Place, tuple[str, ...]] = {}
    for place, own in scores.items():
        if own is None or own.seeds is None:
            continue
        kind = several
        if own.seeds.kind == "repeats":
            kind = repeats
        kind[place] = own.seeds.labels
    together = seeds_together(list(several.values()))
    counted = {
        place: tuple(map(str, labels))
        for place, labels in zip(several, together, strict=True)
    }
    left_out: dict[str, list[Place]] = {}
    for place, labels in several.items():
        for label in labels:
            if label not in counted[place]:
                left_out.setdefault(label, []).append(place)
    return {**counted, **repeats}, left_out


def of_seeds(scores: PromptScores, labels: Sequence[str]) -> PromptScores:
    """Scores over some of their seeds, on the prompts that one of these has.

    Args:
        scores: over several seeds.
        labels: of two or more of them.
    """
    own = scores.seeds
    if own is None or own.labels == tuple(labels):
        return scores
    cells = own.cells[[own.labels.index(label) for label in labels]]
    there = np.flatnonzero(np.isfinite(cells).any(axis=0))
    cells = cells[:, there]
    if scores.uneven_weights is None:
        weights = None
    else:
        weights = scores.weights[there]
    fit = fit_seeds(cells, weights=weights)
    columns = ("prompts", "weights", "n_draws", "within", "zero_one")
    return replace(
        scores,
        values=np.clip(fit.prompt_parts, np.nanmin(cells), np.nanmax(cells)),
        seeds=replace(own, labels=tuple(labels), cells=cells),
        **{name: getattr(scores, name)[there] for name in columns},
    )
