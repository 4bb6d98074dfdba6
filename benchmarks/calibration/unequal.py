"""Clusters of unequal size and few prompts: intervals, paired tests, all pairs and
missing scores, simulated.

Each cluster has an effect of its own (of its own for each model, where several are
compared), which does not depend on its size, so that the true mean is that of the
rates. Sizes are drawn anew in each sample, but for MMLU's, which are the published
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from warehouse.stats import (
    AllPairs,
    all_pairs,
    estimate_mean,
    missing_bounds,
    paired_difference,
    paired_flags,
    rank_models,
)
from warehouse.stats.intervals.defaults import FEW_CLUSTERS

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Seen = dict[str, tuple[float, float]]

#: Prompts of MMLU's 57 subjects in its test split, in the order of their names.
MMLU = (
    *(
        100,
        135,
        152,
        100,
        265,
        144,
        100,
        100,
        100,
        173,
        102,
        100,
        235,
        114,
        145,
        378,
        126,
        100,
        310,
        203,
        100,
        165,
    ),
    *(
        198,
        193,
        390,
        270,
        238,
        151,
        545,
        216,
        204,
        237,
        223,
        131,
        121,
        108,
        163,
        112,
        103,
        234,
        100,
        783,
        346,
        895,
    ),
    *(306, 311, 324, 282, 1534, 272, 612, 110, 245, 201, 100, 166, 171),
)
SIGMA = 1.2  # of the logarithm of sizes
LARGEST = 0.3  # share of the one large cluster
MEAN_SIZE = 10
MODELS = 6
DRAWS = 199
#: Means of the models where they differ: pairs of equals, in standard deviations of a
#: score.
SPREAD = np.array([0.0, 0.0, 0.3, 0.3, 0.6, 0.6])
#: The same, where all differ by far.
FAR = 2.0 * np.arange(MODELS)
SHARE_MISSING = 0.03

SHAPES = [(kind, g) for kind in ("equal", "lognormal", "one_30") for g in (10, 20, 50)]
SHAPES += [("mmlu", len(MMLU))]
SINGLE = [("single", n) for n in (8, 15, 50, 150)]
#: Many prompts without clusters: an error held fixed over the draws fails where scores
#: are nearly all alike.
MANY = [("single", n) for n in (250, 1000)]
INTERVALS = [
    ("rate", 0.1, 0.2),
    ("rate", 0.5, 0.2),
    ("rate", 0.5, 0.6),
    ("beta", 0.0, 0.2),
    ("normal", 0.0, 0.2),
]


class UnequalCell(NamedTuple):
    """One kind of data and one question about it.

    Attributes:
        question: ``interval``, ``paired``, ``equal_models``, ``unequal_models``,
            ``sparse_models`` (the same, nearly always right), ``far_models`` or
            ``missing``.
        kind: ``rate`` (0/1), ``beta`` (bounded) or ``normal``.
        rate: mean of 0/1 scores; 0 for others.
        correlation: within clusters.
        sizes: ``equal``, ``lognormal``, ``one_30`` or ``mmlu``; ``single``: prompts
            without clusters.
        clusters: G, or the number of prompts.
    """

    question: str
    kind: str
    rate: float
    correlation: float
    sizes: str
    clusters: int


class UnequalRow(NamedTuple):
    """How often something that should fail in 5 % of the samples at most failed.

    Attributes:
        cell: what was simulated.
        what: figure: ``interval``, ``t``, ``step_down``, ``holm``, ``power_lost``,
            ``simultaneous``, ``ranks_joint``, ``ranks_own``, ``default_hull`` or
            ``imbens_manski``.
        simulations: samples.
        failed: share of samples (of models, for ``ranks_own``) where it failed; for
            ``power_lost`` the mean share of differing pairs that Holm finds, less that
            which the steps find.
        unflagged: the same among samples without a flag; NaN without any.
        flagged: share of samples with a flag.
    """

    cell: UnequalCell
    what: str
    simulations: int
    failed: float
    unflagged: float
    flagged: float


def cells() -> list[UnequalCell]:
    """Every cell, in the order of the table."""
    grid = [
        UnequalCell("interval", *kind, *shape) for kind in INTERVALS for shape in SHAPES
    ]
    grid += [
        UnequalCell("paired", kind, rate, 0.2, *shape)
        for kind, rate in (("rate", 0.1), ("rate", 0.5), ("normal", 0.0))
        for shape in SHAPES
    ]
    grid += [
        UnequalCell(question, kind, rate, 0.2, *shape)
        for question in ("equal_models", "unequal_models")
        for kind, rate in (("rate", 0.5), ("normal", 0.0))
        for shape in SHAPES
    ]
    grid += [
        UnequalCell("equal_models", "rate", rate, 0.2, *shape)
        for rate in (0.5, 0.95)
        for shape in SINGLE
    ]
    grid += [
        UnequalCell("equal_models", "rate", rate, 0.2, *shape)
        for rate in (0.5, 0.95, 0.99)
        for shape in MANY
    ]
    grid += [
        UnequalCell("unequal_models", kind, rate, 0.2, *shape)
        for kind, rate in (("rate", 0.5), ("normal", 0.0))
        for shape in SINGLE
    ]
    grid += [
        UnequalCell("sparse_models", "rate", 0.95, 0.2, *shape)
        for shape in (*SINGLE, *MANY)
    ]
    grid += [
        UnequalCell("far_models", "normal", 0.0, 0.2, *shape)
        for shape in (*SHAPES, *SINGLE)
    ]
    grid += [
        UnequalCell("missing", "rate", rate, 0.2, *shape)
        for rate in (0.6, 0.9)
        for shape in SHAPES
    ]
    return grid


def simulate_unequal(
    cell: UnequalCell, seed: int, simulations: int
) -> list[UnequalRow]:
    """Samples of a cell; the result depends on the cell, the seed and the number only."""
    words = [
        seed,
        *cell.question.encode(),
        *cell.kind.encode(),
        int(1000 * cell.rate),
        int(1000 * cell.correlation),
        *cell.sizes.encode(),
        cell.clusters,
    ]
    streams = np.random.SeedSequence(words).spawn(simulations)
    ask = _QUESTIONS[cell.question]
    seen: dict[str, list[tuple[float, float]]] = {}
    for stream in streams:
        for what, outcome in ask(cell, np.random.default_rng(stream)).items():
            seen.setdefault(what, []).append(outcome)
    return [_row(cell, what, np.array(outcomes)) for what, outcomes in seen.items()]


def _row(cell: UnequalCell, what: str, outcomes: Array) -> UnequalRow:
    failed, flagged = outcomes[:, 0], outcomes[:, 1] > 0
    free = float(failed[~flagged].mean()) if (~flagged).any() else float("nan")
    return UnequalRow(
        cell, what, len(failed), float(failed.mean()), free, float(flagged.mean())
    )


def clusters_of(cell: UnequalCell, rng: np.random.Generator) -> Labels:
    """Cluster of each prompt."""
    g = cell.clusters
    if cell.sizes == "mmlu":
        sizes = np.array(MMLU)
    elif cell.sizes == "single":
        sizes = np.ones(g, dtype=int)
    elif cell.sizes == "lognormal":
        drawn = np.exp(SIGMA * rng.normal(size=g) - SIGMA**2 / 2)
        sizes = np.maximum(1, np.round(MEAN_SIZE * drawn)).astype(int)
    else:
        sizes = np.full(g, MEAN_SIZE)
        if cell.sizes == "one_30":
            sizes[0] = round(LARGEST / (1 - LARGEST) * MEAN_SIZE * (g - 1))
    return np.repeat(np.arange(g), sizes)


def _scores(
    cell: UnequalCell,
    clusters: Labels,
    models: int,
    rng: np.random.Generator,
    ease: float = 0.5,
) -> Array:
    """Scores of some models, alike on the same prompts, shape (n, models).

    Args:
        ease: variance that models share, as a part of what is not of the cluster.
    """
    effects = rng.normal(size=(cell.clusters, models))[clusters] * cell.correlation**0.5
    shared = rng.normal(size=(len(clusters), 1)) * ease**0.5
    own = rng.normal(size=(len(clusters), models)) * (1 - ease) ** 0.5
    z: Array = effects + (shared + own) * (1 - cell.correlation) ** 0.5
    return z


def _kind(cell: UnequalCell, z: Array) -> tuple[Array, float]:
    """Scores of the kind from standard normal ones, and their true mean."""
    if cell.kind == "rate":
        return (z < special.ndtri(cell.rate)).astype(float), cell.rate
    if cell.kind == "beta":  # Beta(1/2, 2)
        return np.asarray(special.betaincinv(0.5, 2.0, special.ndtr(z))), 0.2
    return z, 0.0


def _interval(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    clusters = clusters_of(cell, rng)
    values, truth = _kind(cell, _scores(cell, clusters, 1, rng)[:, 0])
    bounds = None if cell.kind == "normal" else (0.0, 1.0)
    estimate = estimate_mean(values, clusters=clusters, bounds=bounds, n_resamples=100)
    covered = estimate.ci_low is not None and estimate.ci_low <= truth <= (
        estimate.ci_high or 0.0
    )
    return {"interval": (not covered, bool(estimate.flags))}


def _paired(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    clusters = clusters_of(cell, rng)
    values = _kind(cell, _scores(cell, clusters, 2, rng))[0]
    difference = paired_difference(values[:, 0], values[:, 1], clusters=clusters)
    rejected = difference.p_value is not None and difference.p_value <= 0.05
    return {"t": (rejected, bool(difference.flags))}


def _equal_models(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    clusters = clusters_of(cell, rng)
    values = _kind(cell, _scores(cell, clusters, MODELS, rng))[0]
    pairs = all_pairs(
        values, clusters, n_resamples=DRAWS, seed=int(rng.integers(1 << 31))
    )
    ranks = rank_models(pairs)
    flag = _flagged(clusters)
    ends = zip(
        ranks.rank_low, ranks.rank_high, strict=True
    )  # None where no set can be told
    own = np.mean(
        [low not in (1, None) or high not in (MODELS, None) for low, high in ends]
    )
    return {
        "step_down": (bool(np.nanmin(pairs.p_step_down, initial=1.0) <= 0.05), flag),
        "holm": (bool(np.nanmin(pairs.p_holm, initial=1.0) <= 0.05), flag),
        "ranks_own": (float(own), flag),
    }


def _unequal_models(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    clusters = clusters_of(cell, rng)
    z = _scores(cell, clusters, MODELS, rng) - SPREAD  # low is right: the last is best
    if cell.kind == "rate":
        easy = special.ndtri(cell.rate)
        values, truth = (z < easy).astype(float), special.ndtr(SPREAD + easy)
    else:
        values, truth = -z, SPREAD
    pairs = all_pairs(
        values, clusters, n_resamples=DRAWS, seed=int(rng.integers(1 << 31))
    )
    ranks = rank_models(pairs)
    flag = (
        _any_few(values, pairs)
        if cell.question == "sparse_models"
        else _flagged(clusters)
    )
    joint = _misses(ranks.rank_low_joint, ranks.rank_high_joint)
    differ = truth[pairs.first] != truth[pairs.second]
    holm, steps = pairs.p_holm <= 0.05, pairs.p_step_down <= 0.05
    return {
        "step_down": (bool(steps[~differ].any()), flag),
        "power_lost": (float(holm[differ].mean() - steps[differ].mean()), flag),
        "simultaneous": (_outside(pairs, truth), flag),
        "ranks_joint": (bool(joint.any()), flag),
        "ranks_own": (float(_misses(ranks.rank_low, ranks.rank_high).mean()), flag),
    }


def _far_models(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    clusters = clusters_of(cell, rng)
    values = FAR - _scores(cell, clusters, MODELS, rng)
    pairs = all_pairs(
        values, clusters, n_resamples=DRAWS, seed=int(rng.integers(1 << 31))
    )
    return {"simultaneous": (_outside(pairs, FAR), _flagged(clusters))}


def _outside(pairs: AllPairs, truth: Array) -> bool:
    """Whether any true difference lies outside its simultaneous interval."""
    differences = truth[pairs.first] - truth[pairs.second]
    return bool(
        (
            (differences < pairs.simultaneous_low)
            | (differences > pairs.simultaneous_high)
        ).any()
    )


def _misses(
    low: tuple[int | None, ...], high: tuple[int | None, ...]
) -> NDArray[np.bool_]:
    """Models whose true ranks (ties have two) are not all in the set."""
    best = np.array([5, 5, 3, 3, 1, 1])
    lows = np.array([1 if end is None else end for end in low])
    highs = np.array([MODELS if end is None else end for end in high])
    return np.asarray((lows > best) | (highs < best + 1))


def _flagged(clusters: Labels) -> bool:
    """Whether `compare` flags every such pair: few clusters, by size."""
    sizes = np.bincount(clusters)
    return bool(sizes.sum() ** 2 / (sizes**2).sum() < FEW_CLUSTERS - 1e-9)


def _any_few(values: Array, pairs: AllPairs) -> bool:
    """Whether `pairs` flags any pair for differing on few prompts."""
    return any(
        paired_flags(values[:, a], values[:, b])
        for a, b in zip(pairs.first, pairs.second, strict=True)
    )


def _missing(cell: UnequalCell, rng: np.random.Generator) -> Seen:
    """Three of a hundred answers are not scored, all of them wrong: the mean lies on a
    bound."""
    clusters = clusters_of(cell, rng)
    values, truth = _kind(cell, _scores(cell, clusters, 1, rng)[:, 0])
    wrong = rng.permutation(np.flatnonzero(values == 0))
    lost = np.zeros(len(values), bool)
    lost[wrong[: round(SHARE_MISSING * len(values))]] = True
    seen: Seen = {}
    for method in ("default_hull", "imbens_manski"):
        estimate = missing_bounds(
            values[~lost],
            int(lost.sum()),
            clusters=clusters[~lost],
            missing_clusters=clusters[lost],
            method=method,
        )
        covered = estimate.ci_low is not None and estimate.ci_low <= truth <= (
            estimate.ci_high or 0.0
        )
        seen[method] = (not covered, bool(estimate.flags))
    return seen


_QUESTIONS: dict[str, Callable[[UnequalCell, np.random.Generator], Seen]] = {
    "interval": _interval,
    "paired": _paired,
    "equal_models": _equal_models,
    "unequal_models": _unequal_models,
    "sparse_models": _unequal_models,
    "far_models": _far_models,
    "missing": _missing,
}


def by_question(rows: list[UnequalRow]) -> Iterator[tuple[str, list[UnequalRow]]]:
    """The rows of each figure, in order of first mention."""
    names = dict.fromkeys((row.cell.question, row.what) for row in rows)
    for question, what in names:
        yield (
            f"{question}: {what}",
            [row for row in rows if (row.cell.question, row.what) == (question, what)],
        )
