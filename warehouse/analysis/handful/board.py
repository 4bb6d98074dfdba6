"""How few questions carry the places of a leaderboard (statistics.md §26.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from warehouse.analysis.handful.board_view import places_parts
from warehouse.analysis.handful.question import LeaderboardHandful
from warehouse.analysis.handful.row import PlaceRow
from warehouse.analysis.leaderboard.hooks import Line
from warehouse.analysis.leaderboard.placed import placed_rows
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Result
from warehouse.analysis.selection.score_matrix import score_table
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import HandfulOfPlaces, handful_of_places
from warehouse.stats.core.inputs import FloatArray
from warehouse.store.connection import Store
from warehouse.tables.view import View
from warehouse.tables.words import visible


@dataclass(frozen=True)
class PlacesAnswer(Result):
    """A row for each place, best first."""

    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    rows: tuple[PlaceRow, ...]
    notes: tuple[str, ...]  #: what a reader should know of the rows.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """What would put another first, and a line for each place.

        Args:
            verbose: how it was found, too.
            top: rows of the table; None: of many the first; 0: all.
        """
        parts = places_parts(
            self.rows, is_share=self.is_share, verbose=verbose, top=top
        )
        head = visible(f"{self.benchmark} · {self.metric}")
        return View((head, *parts), self.notes)


@answers(LeaderboardHandful)
def leaderboard_handful(store: Store, question: LeaderboardHandful) -> PlacesAnswer:
    """Of the rows that are ranked among one another with the first."""
    scores = select_entries(store, selection_of(question))
    options = question.shared_with(OneLeaderboard, n_resamples=0)
    placed, notes = placed_rows(scores, options, "there are no questions to leave out")
    entries = [entry for entry, _ in placed]
    table = score_table(entries, scores.clusters)
    if table.is_weighted or entries[0].metric.link != "identity":
        raise MisuseError(
            f"{scores.metric.label} of {scores.benchmark.name} is no mean of the scores "
            "of questions, so that none can be left out one by one"
        )
    values = table.values
    if scores.metric.higher_is_better is False:
        values = -values
    found = handful_of_places(values)
    return PlacesAnswer(
        benchmark=scores.benchmark.name,
        metric=scores.metric.label,
        rows=_rows(placed, found, table.values),
        notes=tuple(notes),
        is_share=scores.metric.bounds == (0.0, 1.0),
    )


def _rows(
    placed: Sequence[Line], found: HandfulOfPlaces, values: FloatArray
) -> tuple[PlaceRow, ...]:
    """A row for each place; the last one has nothing below it."""
    rows = [row for _, row in placed]
    made = []
    for place, row in enumerate(rows[:-1]):
        differences = values[:, place] - values[:, place + 1]
        below = rows[place + 1]
        inside = rows[found.inside[place]]
        outside = rows[found.outside[place]]
        alone = _alone(row)
        made.append(
            replace(
                alone,
                n_common=int(np.count_nonzero(~np.isnan(differences))),
                handful=found.to_next[place],
                next_model=below.model,
                next_condition=below.condition,
                handful_first=found.of_first[place],
                inside=inside.model,
                inside_condition=inside.condition,
                outside=outside.model,
                outside_condition=outside.condition,
            )
        )
    return (*made, _alone(rows[-1]))


def _alone(row: LeaderboardRow) -> PlaceRow:
    """A row without what is below it."""
    return PlaceRow(
        benchmark=row.benchmark,
        split=row.split,
        metric=row.metric,
        rank=row.rank,
        model=row.model,
        condition=row.condition,
        estimate=row.estimate,
        standard_error=row.standard_error,
        n_prompts=row.n_prompts,
    )
