"""How a leaderboard changes when the suspects are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.row import EffectRow
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import ScoredCondition, coverage_flags, coverage_of, is_partial
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import StatisticsError
from warehouse.stats import PairedDifference, paired_difference
from warehouse.stats.core.sample import find_link, linked

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class _Line:
    """A condition, the scores that stay, and both figures."""

    entry: ScoredCondition
    scores: PromptScores
    kept: NDArray[np.bool_]
    estimate: float
    estimate_kept: float | None
    flags: tuple[str, ...]


def effect_of(
    entries: Sequence[ScoredCondition], suspects: Ids, heard: Sequence[str], clusters: ClusterMap, level: float
) -> tuple[EffectRow, ...]:
    """Every condition with all prompts and without some, the best first.

    The differences are to the condition that leads with all prompts, on the prompts that both have.

    Args:
        entries: conditions that can stand side by side, with scores.
        suspects: prompts to leave out, ascending.
        heard: condition keys of the models whose votes found them.
        clusters: for the errors of the differences.
        level: nominal coverage of the intervals.
    """
    whole = coverage_of(entries)
    lines = [
        _line(entry, entry.usable, suspects, coverage_flags(entry, whole))
        for entry in entries
        if entry.usable is not None
    ]
    sign = 1 if lines and lines[0].entry.metric.higher_is_better is False else -1
    ranks = _ranks([line.estimate for line in lines], lines, sign)
    ranks_kept = _ranks([line.estimate_kept for line in lines], lines, sign)
    ordered = sorted(
        range(len(lines)), key=lambda i: (ranks[i] is None, sign * lines[i].estimate, lines[i].entry.label)
    )
    leader = lines[ordered[0]] if ordered else None
    rows = []
    for place in ordered:
        line = lines[place]
        before, after = (
            (None, None) if line is leader or leader is None else _differences(line, leader, clusters, level)
        )
        rows.append(
            EffectRow(
                model=line.entry.condition.model,
                condition=line.entry.label,
                heard=line.entry.condition.key in heard,
                n_prompts=line.scores.n,
                n_kept=int(line.kept.sum()),
                estimate=line.estimate,
                estimate_kept=line.estimate_kept,
                change=None if line.estimate_kept is None else line.estimate_kept - line.estimate,
                rank=ranks[place],
                rank_kept=ranks_kept[place],
                difference=None if before is None else before.difference,
                ci_low=None if before is None else before.ci_low,
                ci_high=None if before is None else before.ci_high,
                difference_kept=None if after is None else after.difference,
                ci_low_kept=None if after is None else after.ci_low,
                ci_high_kept=None if after is None else after.ci_high,
                flags=line.flags,
            )
        )
    return tuple(rows)


def _line(entry: ScoredCondition, scores: PromptScores, suspects: Ids, flags: tuple[str, ...]) -> _Line:
    kept = ~np.isin(scores.prompts, suspects)
    figure = _figure(entry, scores, np.ones(scores.n, dtype=bool))
    assert figure is not None  # usable scores are some
    return _Line(entry, scores, kept, figure, _figure(entry, scores, kept), flags)


def _figure(entry: ScoredCondition, scores: PromptScores, kept: NDArray[np.bool_]) -> float | None:
    if not kept.any():
        return None
    return linked(find_link(entry.metric.link), float(np.average(scores.values[kept], weights=scores.weights[kept])))


def _ranks(figures: Sequence[float | None], lines: Sequence[_Line], sign: int) -> list[int | None]:
    """Places of the rows that cover the whole benchmark; where none does, of all."""
    some_whole = any(not is_partial(line.flags) for line in lines)
    ranked = [
        figure is not None and not (some_whole and is_partial(line.flags))
        for figure, line in zip(figures, lines, strict=True)
    ]
    values = [sign * figure for figure, is_in in zip(figures, ranked, strict=True) if is_in and figure is not None]
    return [
        1 + sum(value < sign * figure for value in values) if is_in and figure is not None else None
        for figure, is_in in zip(figures, ranked, strict=True)
    ]


def _differences(
    line: _Line, leader: _Line, clusters: ClusterMap, level: float
) -> tuple[PairedDifference | None, PairedDifference | None]:
    """To the leader, with all common prompts and with those that are kept."""
    _, own, of_leader = np.intersect1d(
        line.scores.prompts, leader.scores.prompts, assume_unique=True, return_indices=True
    )
    kept = line.kept[own]
    return (
        _difference(line, leader, own, of_leader, clusters, level),
        _difference(line, leader, own[kept], of_leader[kept], clusters, level),
    )


def _difference(
    line: _Line, leader: _Line, own: NDArray[np.intp], of_leader: NDArray[np.intp], clusters: ClusterMap, level: float
) -> PairedDifference | None:
    if not len(own):
        return None
    a, b = line.scores, leader.scores
    uneven = a.uneven_weights is not None or b.uneven_weights is not None
    try:
        return paired_difference(
            a.values[own],
            b.values[of_leader],
            clusters=clusters.labels(a.prompts[own]),
            level=level,
            weights_a=a.weights[own] if uneven else None,
            weights_b=b.weights[of_leader] if uneven else None,
            link=line.entry.metric.link,
            bounds=line.entry.metric.bounds_of(
                min(a.values[own].min(), b.values[of_leader].min()), max(a.values[own].max(), b.values[of_leader].max())
            ),
        )
    except StatisticsError:  # a figure without an error
        return None
