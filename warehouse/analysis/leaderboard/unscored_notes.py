"""What samples without a score do to the rows of a leaderboard: what else they may count
as, and where the source counts them otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.leaderboard.hooks import Line
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import label_of
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.tables.words import listed, some_of

#: Models that a note names.
_SHOWN = 3
#: By how much a figure may differ from a published one, as a share of the scale, and be
#: that one rounded.
_ROUNDED = 0.0005


def unscored_notes(scores: BenchmarkScores, lines: Sequence[Line]) -> list[str]:
    """Notes where samples without a score are missing; none under a policy.

    Args:
        scores: that the rows were made of.
    """
    if scores.policy.policy is not None:
        return []
    return [*_many_missing(scores, lines), *_published_otherwise(lines)]


def _many_missing(scores: BenchmarkScores, lines: Sequence[Line]) -> list[str]:
    """What else unscored samples may count as, where there are many."""
    many = [label_of(row) for _, row in lines if "many_unscored" in row.flags]
    if not many:
        return []
    ways = ["--policy all-wrong counts them as wrong"]
    if scores.can_read_attempts:
        ways.append("--policy attempts limits, refusals and missing answers alone")
    return [
        f"many samples have no score, and are missing here: {some_of(many, _SHOWN)}; "
        f"{', '.join(ways)}"
    ]


def _published_otherwise(lines: Sequence[Line]) -> list[str]:
    """Rows whose source publishes the figure that has samples without a score as
    wrong."""
    named = []
    for entry, row in lines:
        published = _published_as_wrong(entry, row)
        if published is not None:
            named.append(f"{label_of(row)} {published:.4g}")
    if not named:
        return []
    return [
        "published figures are others, as samples without a score count as wrong in "
        f"them: {listed(named)}; --policy all-wrong gives these"
    ]


def _published_as_wrong(entry: ScoredCondition, row: LeaderboardRow) -> float | None:
    """The published figure of a row, where it is not the one that is shown and has
    samples without a score as wrong; else None."""
    if entry.published is None or row.estimate is None or not row.n_unscored:
        return None
    as_wrong = row.unscored_low
    if entry.metric.higher_is_better is False:
        as_wrong = row.unscored_high
    low, high = entry.metric.bounds or (None, None)
    if as_wrong is None or low is None or high is None:
        return None
    published = entry.published.value
    most = _ROUNDED * (high - low)
    is_shown = abs(published - row.estimate) <= most
    if is_shown or abs(published - as_wrong) > most:
        return None
    return published
