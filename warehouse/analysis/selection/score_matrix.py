"""Scores of several conditions as one matrix, prompts x conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.prompt_links import indices_among, values_at
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import AllPairs, Ranks, all_pairs, rank_models
from warehouse.stats.core.inputs import Bounds, as_clusters, finite_bounds
from warehouse.stats.core.sample import find_link, linearise_figure
from warehouse.stats.multiple.ranks import letters_of, others_apart
from warehouse.stats.paired.own_tests import hull_tests, weighted_tests, with_own_tests
from warehouse.stats.rows.seed_pairs import pairs_over_seeds


@dataclass(frozen=True)
class ScoreTable:
    """Scores of M conditions."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    #: on the scale of the figure, NaN where not scored, shape (n, M).
    values: NDArray[np.float64]
    clusters: NDArray[np.int64] | None  #: cluster of each prompt, or None.
    note: str  #: what was left out to make them comparable, or empty.
    #: the figures are weighted means, and ``values`` their linearisations.
    is_weighted: bool = False
    #: of the prompts of each condition, shape (n, M); None where all are alike.
    weights: NDArray[np.float64] | None = None
    #: of the scores; None for a side without, and where the scores break them.
    bounds: Bounds | None = None
    #: of rows of which some are over training seeds, the cells of each on these
    #: prompts, shape (S, n) each; else None.
    seeds: tuple[NDArray[np.float64], ...] | None = None
    trained: tuple[bool, ...] = ()  #: whether each could have had another seed.
    #: of the seeds, where equal ones go together.
    seed_labels: tuple[tuple[str, ...], ...] | None = None


def score_table(
    entries: Sequence[ScoredCondition],
    clusters: ClusterMap,
    *,
    pair_seeds: bool = False,
) -> ScoreTable:
    """The matrix of entries that all have scores with a mean.

    Means of prompts stand as they are, with gaps. Weighted means and figures behind a
    link are no sums over prompts: their linearised values are taken on the prompts that
    all entries have.

    Args:
        pair_seeds: seeds of equal labels go together in all rows.
    """
    table = _matrix_of(entries, clusters)
    scores = [entry.usable for entry in entries]
    labels = tuple(
        (item.seeds.labels if item.seeds else ("",))
        for item in scores
        if item is not None
    )
    paired = None
    if pair_seeds:
        paired = labels
    if all(item is None or item.seeds is None for item in scores):
        return table
    link = entries[0].metric.link
    cells = [
        _cells_of(item, table.prompts, link) for item in scores if item is not None
    ]
    return replace(
        table,
        seeds=tuple(cells),
        trained=tuple(entry.is_trained for entry in entries),
        seed_labels=paired,
    )


def _cells_of(
    scores: PromptScores, prompts: NDArray[np.int64], link: str
) -> NDArray[np.float64]:
    """The cells of one row on the prompts of a table, on the scale of its values."""
    rows = indices_among(scores.prompts, prompts)
    if scores.seeds is None:
        own = scores.values[None, :]
    else:
        own = scores.seeds.cells
    cells = np.array([values_at(values, rows) for values in own])
    if link == "identity" and scores.uneven_weights is None:
        return cells
    weights = values_at(scores.weights, rows)
    return np.array(
        [linearise_figure(values, weights, find_link(link)) for values in cells]
    )


def _matrix_of(entries: Sequence[ScoredCondition], clusters: ClusterMap) -> ScoreTable:
    scores = [entry.usable for entry in entries]
    scored = [item for item in scores if item is not None]
    link = entries[0].metric.link
    prompts = np.unique(np.concatenate([item.prompts for item in scored]))
    if link == "identity" and all(item.uneven_weights is None for item in scored):
        values = np.full((len(prompts), len(scored)), np.nan)
        for index, item in enumerate(scored):
            values[np.searchsorted(prompts, item.prompts), index] = item.values
        bounds = entries[0].metric.bounds_of(*_range(scored))
        return ScoreTable(prompts, values, clusters.labels(prompts), "", bounds=bounds)
    common = reduce(
        partial(np.intersect1d, assume_unique=True), [item.prompts for item in scored]
    )
    columns = [_figure_values(item, common, link) for item in scored]
    if len(common):
        values = np.column_stack(columns)
    else:
        values = np.empty((0, len(scored)))
    left = len(prompts) - len(common)
    note = ""
    if left:
        note = f"{left} prompts that not all have scored are left out of the pairs"
    weighted = any(item.uneven_weights is not None for item in scored)
    weights = np.column_stack(
        [item.weights[np.searchsorted(item.prompts, common)] for item in scored]
    )
    labels = clusters.labels(common)
    bounds = None
    if link == "identity":
        bounds = entries[0].metric.bounds_of(*_range(scored))
    own_weights = None
    if weighted:
        own_weights = weights
    return ScoreTable(common, values, labels, note, weighted, own_weights, bounds)


def tested_pairs(
    table: ScoreTable,
    *,
    level: float,
    n_resamples: int,
    seed: int,
    higher_is_better: bool,
) -> AllPairs:
    """All pairs of the conditions of a table, each by the test that its scores ask for.

    Raises:
        StatisticsError: ``n_resamples`` or ``seed`` out of range.
    """
    # signs over prompts know nothing of seeds
    n_resamples = n_resamples if table.seeds is None else 0
    figures = all_pairs(
        table.values,
        table.clusters,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        higher_is_better=higher_is_better,
    )
    groups = None
    if table.clusters is not None:
        groups = as_clusters(table.clusters, len(table.values))
    if table.weights is not None:
        figures = with_own_tests(
            figures, weighted_tests(table.values, table.weights, groups, figures)
        )
    elif finite_bounds(table.bounds) is None and not _zero_one(table.values):
        figures = with_own_tests(figures, hull_tests(table.values, groups, figures))
    if table.seeds is None:
        return _within_range(figures, table)
    return pairs_over_seeds(
        figures,
        table.seeds,
        trained=table.trained,
        clusters=groups,
        bounds=table.bounds,
        labels=table.seed_labels,
    )


def _within_range(figures: AllPairs, table: ScoreTable) -> AllPairs:
    """Simultaneous intervals that no difference of the scores can leave."""
    limits = finite_bounds(table.bounds) or (
        (0.0, 1.0) if _zero_one(table.values) else None
    )
    if limits is None:
        return figures
    width = limits[1] - limits[0]
    low = np.maximum(figures.simultaneous_low, -width)
    high = np.minimum(figures.simultaneous_high, width)
    return replace(figures, simultaneous_low=low, simultaneous_high=high)


#: Conditions up to which all pairs are tested: a pair takes some 300 bytes.
MOST_CONDITIONS = 2_000


def too_many(n_conditions: int) -> str:
    """Why pairs of so many conditions are not tested; empty where they are."""
    if n_conditions <= MOST_CONDITIONS:
        return ""
    return (
        f"{n_conditions:,} conditions; pairs are tested of {MOST_CONDITIONS:,} at most "
        "(--where takes some)"
    )


@dataclass(frozen=True)
class RankedPairs:
    """Tested pairs, and what they say of the conditions, worked out once for all who
    ask."""

    pairs: AllPairs

    @cached_property
    def ranks(self) -> Ranks:
        """Their places."""
        return rank_models(self.pairs)

    @cached_property
    def apart(self) -> list[int]:
        """For each, with how many others it has no prompt in common."""
        return others_apart(self.pairs)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Letters of each (`letters_of`)."""
        if any(self.apart):
            return letters_of(self.pairs)
        return self.ranks.groups


@dataclass
class LastPairs:
    """The pairs that were tested last: a leaderboard and the list of pairs ask for the
    same ones."""

    _last_request: tuple[ScoreTable, tuple[object, ...]] | None = field(
        default=None, repr=False
    )
    _found: RankedPairs | None = field(default=None, repr=False)

    @classmethod
    def among(cls, scores: BenchmarkScores) -> LastPairs:
        """The pairs of a benchmark."""
        return scores.worked_out.setdefault("pairs", cls())  # type: ignore[no-any-return]

    def of(
        self,
        table: ScoreTable,
        *,
        level: float,
        n_resamples: int,
        seed: int,
        higher_is_better: bool,
    ) -> RankedPairs:
        """`tested_pairs` of a table, with its ranks."""
        options = (level, n_resamples, seed, higher_is_better)
        if (
            self._found is None
            or self._last_request is None
            or self._last_request[1] != options
            or not _same(self._last_request[0], table)
        ):
            found = tested_pairs(
                table,
                level=level,
                n_resamples=n_resamples,
                seed=seed,
                higher_is_better=higher_is_better,
            )
            self._last_request, self._found = (table, options), RankedPairs(found)
        return self._found


def _same(a: ScoreTable, b: ScoreTable) -> bool:
    """True if two tables give the same pairs."""
    arrays = ("prompts", "values", "clusters", "weights")
    same_seeds = (a.seeds is None) == (b.seeds is None) and all(
        np.array_equal(own, other, equal_nan=True)
        for own, other in zip(a.seeds or (), b.seeds or (), strict=False)
    )
    same_kinds = (a.trained, a.seed_labels) == (b.trained, b.seed_labels)
    if a.bounds != b.bounds or not (same_seeds and same_kinds):
        return False
    return all(_equal(getattr(a, name), getattr(b, name)) for name in arrays)


def _equal(a: NDArray[np.float64] | None, b: NDArray[np.float64] | None) -> bool:
    return a is b or (
        a is not None
        and b is not None
        and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    )


def _range(scores: Sequence[PromptScores]) -> tuple[float, float]:
    """Smallest and largest score."""
    return min(float(item.values.min()) for item in scores), max(
        float(item.values.max()) for item in scores
    )


def _zero_one(values: NDArray[np.float64]) -> bool:
    """Every score is 0 or 1."""
    return bool(np.all((values == 0) | (values == 1) | np.isnan(values)))


def _figure_values(
    scores: PromptScores, prompts: NDArray[np.int64], link: str
) -> NDArray[np.float64]:
    rows = np.searchsorted(scores.prompts, prompts)
    if not len(rows):
        return np.empty(0)
    return linearise_figure(scores.values[rows], scores.weights[rows], find_link(link))
