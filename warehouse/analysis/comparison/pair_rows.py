"""Pairs of conditions by column, and as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.words import better_of_pairs
from warehouse.analysis.results import PairedRow, finite_or_none
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import outside_clusters
from warehouse.analysis.selection.score_matrix import ScoreTable
from warehouse.analysis.selection.score_ranges import are_mixed
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import unscored_flags
from warehouse.stats import AllPairs as PairStatistics
from warehouse.stats import pair_flags, paired_flags
from warehouse.tables.words import MIXED_SCALES


@dataclass(frozen=True)
class PairRow(PairedRow):
    """The difference of two conditions on the prompts that both have, first minus
    second.

    The better one by its figure comes first.
    """

    mean_a: float | None  #: figure of the first over its own scored prompts.
    mean_b: float | None  #: figure of the second over its own scored prompts.
    difference: float | None  #: mean of first minus second over the common prompts.
    #: paired; CR2 with clusters. None where 0 or not defined.
    standard_error: float | None
    #: lower end of the simultaneous interval (max-|T|): all intervals of the group hold
    #: together at the level.
    ci_low: float | None
    ci_high: float | None  #: upper end of it.
    level: float  #: of the intervals; 1 - level is the size of the tests.
    p_value: float | None  #: two-sided t test of this pair alone.
    p_holm: float | None  #: Holm's adjustment over all pairs of the group.
    p_bh: float | None  #: Benjamini and Hochberg's.
    #: from random signs of all pairs together, step by step (max-|T|); at least
    #: ``p_value``.
    p_step_down: float | None
    p_max_t: float | None  #: ``p_step_down``, under its former name.
    #: ``"a"`` or ``"b"`` where Holm's p is at most 1 - level, by the metric's
    #: direction; empty where it is not or the direction is unknown.
    better: str
    correlation: float | None  #: of the two over the common prompts.
    n_prompts: int  #: prompts that both have a score of.
    n_clusters: int | None  #: clusters among them; None without clusters.
    n_pairs: int  #: pairs of the group that were adjusted for.
    n_resamples: int  #: draws of max-|T|; all vectors of signs, where these are no more than were asked for.
    seed: int  #: of the draws.
    #: of max-|T|, by which errors are multiplied; None without draws, and where there
    #: are too few prompts (clusters) to tell any difference.
    critical_value: float | None
    reason: str  #: why there is no error, empty where there is one.
    runs_a: tuple[int, ...]  #: ids of the runs of the first.
    runs_b: tuple[int, ...]  #: ids of the runs of the second.
    flags: tuple[str, ...] = ()  #: warnings, as a comparison of the pair gives them.


#: Fields of rows that the statistics of pairs have by another name.
_STATISTICS = {
    "p_max_t": "p_step_down",
    "ci_low": "simultaneous_low",
    "ci_high": "simultaneous_high",
    "reason": "reasons",
}


@dataclass(frozen=True)
class PairColumns:
    """The rows of all pairs of one group, or of its first ones, by column: half a
    million of them as objects take ten times the memory, and longer than their
    statistics."""

    pairs: PairStatistics  #: their figures.
    n_rows: int  #: how many of the pairs are rows.
    common: Mapping[str, Any]  #: fields that all rows share.
    #: fields of a condition (``model`` for ``model_a``), for all conditions.
    by_side: Mapping[str, Sequence[Any]]
    higher_is_better: bool | None  #: direction; None if unknown.
    flags: Sequence[tuple[str, ...]] | None  #: of each row; None: none.

    @classmethod
    def of(
        cls,
        entries: Sequence[ScoredCondition],
        pairs: PairStatistics,
        table: ScoreTable | None,
        n_rows: int,
    ) -> PairColumns:
        """Columns of some conditions, without their scores.

        Args:
            entries: the models of ``pairs`` in order.
            pairs: their statistics.
            table: the scores behind them, for the flags; None: no flags.
            n_rows: how many of the pairs are rows.
        """
        metric = entries[0].metric
        benchmark, split = entries[0].condition.benchmark_split
        common = {
            "benchmark": benchmark,
            "split": split,
            "metric": metric.label,
            "level": pairs.level,
            "n_pairs": int(np.count_nonzero(~np.isnan(pairs.p_value))),
            "n_resamples": pairs.n_resamples,
            "seed": pairs.seed,
            "critical_value": finite_or_none(pairs.critical_value),
        }
        by_side: dict[str, Sequence[Any]] = {
            "model": [entry.condition.model for entry in entries],
            "condition": [entry.label for entry in entries],
            "mean": [finite_or_none(mean) for mean in pairs.means.tolist()],
            "runs": [entry.condition.run_ids for entry in entries],
        }
        first, second = pairs.first[:n_rows], pairs.second[:n_rows]
        flags = None if table is None else _flags(table, (first, second), metric)
        counts = [
            (entry.scores.n_unscored, entry.scores.n_samples)
            if entry.scores
            else (0, 0)
            for entry in entries
        ]
        unscored = [unscored_flags(*count) for count in counts]
        spans = [
            entry.usable.spans if entry.usable and metric.link == "identity" else ()
            for entry in entries
        ]
        mixed = are_mixed(spans)
        if flags is not None and (any(unscored) or mixed):
            ends = zip(flags, first.tolist(), second.tolist(), strict=True)
            with_ends = []
            for own, a, b in ends:
                own += unscored[a] or unscored[b]
                if mixed and are_mixed((spans[a], spans[b])):
                    own += (MIXED_SCALES,)
                with_ends.append(own)
            flags = with_ends
        return cls(pairs, n_rows, common, by_side, metric.higher_is_better, flags)

    def __len__(self) -> int:
        return self.n_rows

    def __iter__(self) -> Iterator[PairRow]:
        return (PairRow(**row) for row in self.records())

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows, each by name of its columns."""
        names = PairRow.columns()
        return (
            dict(zip(names, row, strict=True))
            for row in zip(*map(self.column, names), strict=True)
        )

    def column(self, name: str) -> Sequence[Any]:
        """A field of the rows; None for NaN and infinity."""
        if name in self.common:
            return [self.common[name]] * self.n_rows
        if name[:-2] in self.by_side:
            return self.of_side(name[-1], self.by_side[name[:-2]])
        if name == "flags":
            if self.flags is None:
                return [()] * self.n_rows
            return self.flags
        if name == "better":
            return _better(self.pairs, self.higher_is_better, self.n_rows)
        values = getattr(self.pairs, _STATISTICS.get(name, name))
        if values is None:
            return [None] * self.n_rows
        values = values[: self.n_rows]
        if isinstance(values, tuple):
            return values
        if values.dtype.kind == "f":
            values = np.where(np.isfinite(values), values, None)
        return values.tolist()  # type: ignore[no-any-return]

    def of_side(self, side: str, values: Sequence[Any]) -> list[Any]:
        """The values, of those given for all conditions, of the first (``"a"``) or
        second condition of each pair."""
        if side == "a":
            models = self.pairs.first
        else:
            models = self.pairs.second
        return [values[model] for model in models[: self.n_rows].tolist()]

    def better_in_words(self) -> list[str]:
        """:func:`~warehouse.analysis.comparison.words.better_in_words` of each."""
        pairs, n = self.pairs, self.n_rows
        p_values = np.where(np.isfinite(pairs.p_holm), pairs.p_holm, pairs.p_value)[:n]
        return better_of_pairs(
            self.column("better"), p_values, pairs.n_prompts[:n], 1 - pairs.level
        )


def _flags(
    table: ScoreTable,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    metric: Metric,
) -> list[tuple[str, ...]]:
    """The flags of each pair, of which the places of both models are given."""
    first, second = pairs
    ends = list(zip(first.tolist(), second.tolist(), strict=True))
    if metric.link == "identity" and not table.is_weighted:
        found = pair_flags(
            table.values, first, second, table.clusters, bounds=table.bounds
        )
        shared = _shared_outside(table)
        if shared is None:
            return found
        outside = ("prompts_outside_clusters",)
        return [
            own + outside if shared[pair] else own
            for own, pair in zip(found, ends, strict=True)
        ]
    if table.weights is None:
        weights = (None,) * table.values.shape[1]
    else:
        weights = table.weights.T
    return [
        paired_flags(
            table.values[:, a],
            table.values[:, b],
            table.clusters,
            bounds=table.bounds,
            weights_a=weights[a],
            weights_b=weights[b],
        )
        + outside_clusters(table.clusters)
        for a, b in ends
    ]


def _shared_outside(table: ScoreTable) -> NDArray[np.bool_] | None:
    """Which two models share a prompt that is in no cluster, shape (M, M); None where
    all are in one."""
    if table.clusters is None or not outside_clusters(table.clusters):
        return None
    scored = ~np.isnan(table.values[table.clusters < 0])
    return scored.T @ scored


def _better(
    pairs: PairStatistics, higher_is_better: bool | None, n_rows: int
) -> list[str]:
    """``a``, ``b`` or empty for each of the first rows."""
    if higher_is_better is None:
        return [""] * n_rows
    first = (pairs.difference[:n_rows] > 0) == higher_is_better
    return [
        ("a" if is_first else "b") if differs else ""
        for differs, is_first in zip(
            pairs.differ[:n_rows].tolist(), first.tolist(), strict=True
        )
    ]
