"""From the matrix of a benchmark to scores under other weights, and while it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.matrix.analyses import common
from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.matrix.results import MatrixGrowth, MatrixWeights
from warehouse.analysis.matrix.rows import GrowthRow, GrowthStep, OutrankRow, RandomWeightRow, WeightRow
from warehouse.stats.matrix import Growth, RandomWeights, grow, random_weights, weighted_scores
from warehouse.stats.matrix.inputs import Progress
from warehouse.stats.matrix.weights import (
    Order,
    cluster_weights,
    competition_ranks,
    distance_weights,
    inverse_distance_weights,
    medoid_weights,
)

#: Sizes that are reported while a benchmark grows, evenly on a logarithmic scale.
SIZES = 40


def run_weights(
    data: MatrixData,
    labels: NDArray[np.int64],
    clustering: str,
    equal_clusters: Mapping[str, NDArray[np.int64]],
    given: NDArray[np.float64] | None,
    n_draws: int,
    seed: int,
    progress: Progress | None,
) -> MatrixWeights:
    """Scores and ranks under all weightings.

    Args:
        labels: clusters behind medoid and distance weights, shape (n,).
        clustering: what those clusters are called.
        equal_clusters: name of a clustering to its labels: each cluster gets equal weight.
        given: the user's weights, shape (n,).
        n_draws: random weightings.
    """
    schemes = {
        "medoid": medoid_weights(data.values, labels),
        "medoid_equal": medoid_weights(data.values, labels, share=False),
        "distance": distance_weights(data.values, labels),
        "inverse_distance": inverse_distance_weights(data.values, labels),
        **{f"clusters:{name}": cluster_weights(own, len(data.prompts)) for name, own in equal_clusters.items()},
        **({} if given is None else {"given": given}),
    }
    higher = data.higher_is_better is not False
    weighted = weighted_scores(data.values, schemes, higher_is_better=higher)
    rows = tuple(
        WeightRow(one.scheme, model, score, rank, change, one.effective_prompts)
        for one in weighted
        for model, score, rank, change in zip(data.models, one.scores, one.ranks, one.rank_changes, strict=True)
    )
    drawn = random_weights(
        data.values, n_draws=n_draws, seed=seed, higher_is_better=higher, levels=(0.025, 0.5, 0.975), progress=progress
    )
    notes = (
        () if data.higher_is_better is not None else ("it is not known whether higher is better; higher ranks first",)
    )
    return MatrixWeights(
        **common(data, seed, *notes),
        rows=rows,
        n_draws=n_draws,
        random=_random(data, drawn),
        outranks=_outranks(data.models, drawn),
        clustering=clustering,
    )


def _random(data: MatrixData, drawn: RandomWeights) -> tuple[RandomWeightRow, ...]:
    figures = np.column_stack(
        [drawn.uniform, drawn.lowest, *drawn.quantiles, drawn.highest, drawn.exact_standard_deviation, drawn.best]
    )
    return tuple(RandomWeightRow(model, *row) for model, row in zip(data.models, figures.tolist(), strict=True))


def _outranks(models: Sequence[str], drawn: RandomWeights) -> tuple[OutrankRow, ...]:
    return tuple(
        OutrankRow(models[row], models[column], float(drawn.outranks[row, column]))
        for row in range(len(models))
        for column in range(len(models))
        if row != column
    )


def run_growth(data: MatrixData, sizes: Sequence[int], seed: int, progress: Progress | None) -> MatrixGrowth:
    """Scores of all models against size, most informative prompts first and in random order."""
    n = len(data.prompts)
    wanted = np.asarray(sizes) if sizes else np.unique(np.geomspace(1, n, SIZES).round().astype(int))
    orders: tuple[Order, ...] = ("informative", "random")
    rows: list[GrowthRow] = []
    steps: list[GrowthStep] = []
    for place, order in enumerate(orders, start=1):
        growth = grow(data.values, order, seed=seed, sizes=wanted)
        rows += _growth_rows(data, growth)
        steps += _growth_steps(data, growth)
        if progress:
            progress(place, len(orders))
    return MatrixGrowth(**common(data, seed), rows=tuple(rows), steps=tuple(steps))


def _growth_rows(data: MatrixData, growth: Growth) -> list[GrowthRow]:
    higher = data.higher_is_better is not False
    return [
        GrowthRow(growth.order, int(size), model, float(score), int(rank))
        for size, scores in zip(growth.sizes, growth.scores, strict=True)
        for model, score, rank in zip(
            data.models, scores, competition_ranks(scores, higher_is_better=higher), strict=True
        )
    ]


def _growth_steps(data: MatrixData, growth: Growth) -> list[GrowthStep]:
    from scipy import stats  # takes longer to load than most answers

    whole = growth.scores[-1]
    steps = []
    for size, scores in zip(growth.sizes, growth.scores, strict=True):
        tau = stats.kendalltau(scores, whole).statistic
        steps.append(
            GrowthStep(
                growth.order,
                int(size),
                float(scores.mean()),
                float(np.abs(scores - whole).max()),
                None if np.isnan(tau) else float(tau),
                data.keys[growth.prompts[size - 1]],
            )
        )
    return steps
