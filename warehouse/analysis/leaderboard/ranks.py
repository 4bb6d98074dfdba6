"""Statistical ranks of the rows of a leaderboard: what their pairs can tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from warehouse.analysis.comparison.pair_group import letters_of, others_apart
from warehouse.analysis.leaderboard.row import LeaderboardRow, Ranks
from warehouse.analysis.leaderboard.stopped import STOPPED
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.score_matrix import score_table, tested_pairs
from warehouse.analysis.selection.scored_conditions import ScoredCondition, is_partial
from warehouse.questions.leaderboard import Ranking
from warehouse.stats import rank_models

Line = tuple[ScoredCondition, LeaderboardRow]


def with_ranks(lines: Sequence[Line], clusters: ClusterMap, options: Ranking) -> list[Line]:
    """The rows of one group with their statistical ranks, rank sets and letters.

    Only rows with a rank and with prompt scores take part; the others say why they do not.
    """
    placed = [line for line in lines if line[1].rank is not None and _has_scores(*line)]
    figures = iter(_places([entry for entry, _ in placed], clusters, options))
    chosen = {id(entry) for entry, _ in placed}
    return [
        (entry, replace(row, ranks=next(figures) if id(entry) in chosen else Ranks(rank_reason=_why_not_placed(row))))
        for entry, row in lines
    ]


def _places(entries: Sequence[ScoredCondition], clusters: ClusterMap, options: Ranking) -> list[Ranks]:
    """Of each row."""
    if len(entries) < 2:
        return [Ranks(1, 1, 1, 1, 1)] * len(entries)
    table = score_table(entries, clusters)
    if not len(table.prompts):
        return [Ranks(rank_reason="no prompt that all rows have a score on")] * len(entries)
    least = math.ceil(options.level / (1 - options.level))
    pairs = tested_pairs(
        table,
        level=options.level,
        seed=options.seed,
        n_resamples=options.n_resamples if options.n_resamples >= least else 0,
        higher_is_better=entries[0].metric.higher_is_better is not False,
    )
    ranking = rank_models(pairs)
    apart = others_apart(pairs)
    groups = letters_of(pairs) if any(apart) else ranking.groups
    names = ("statistical_rank", "rank_low", "rank_high", "rank_low_joint", "rank_high_joint")
    rows = zip(*(getattr(ranking, name) for name in names), strict=True)
    return [
        Ranks(
            **dict(zip(names, ranks, strict=True)),
            group=letters,
            n_not_compared=n_apart,
            rank_draws=ranking.n_resamples,
            rank_reason="" if ranks[0] else "no pair with another row could be tested",
        )
        for ranks, letters, n_apart in zip(rows, groups, apart, strict=True)
    ]


def _has_scores(entry: ScoredCondition, row: LeaderboardRow) -> bool:
    """Whether the figure is that of scores, which can be paired with others."""
    return entry.usable is not None and row.method != "published"


def _why_not_placed(row: LeaderboardRow) -> str:
    if row.estimate is None:
        return "no figure"
    if STOPPED in row.flags:
        return "stopped early because of its scores"
    if is_partial(row.flags) and row.rank is None:
        return "a part of the benchmark"
    if row.method == "published":
        return "published figures have no prompts to pair"
    return "a single prompt"
