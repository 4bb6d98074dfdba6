"""How few votes, voters or prompts are enough for another model to be first (statistics.md
§26.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.handful.question import PreferHandful
from warehouse.analysis.prefer.answer import counted_votes, fitted
from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.prefer.votes import read_votes
from warehouse.analysis.results import Result, Row
from warehouse.questions.question import answers
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.leaving_out.votes import (
    PROMPTS,
    VOTERS,
    VOTES,
    HandfulOfVotes,
    handful_of_votes,
)
from warehouse.stats.preferences.ballots import Ballots
from warehouse.stats.preferences.fit import ELO, Fit
from warehouse.store.connection import Store
from warehouse.tables.view import Part, Table, TableNote, View
from warehouse.tables.words import counted, visible

#: Pairs of models of the votes that are left out, which a row names.
_PAIRS = 5
_SAID = (
    "so many are enough, found by fits without them; fewer may be, and it is no test"
)


@dataclass(frozen=True)
class PreferHandfulRow(Row):
    """Units of one kind that are enough to put another model first."""

    benchmark: str  #: name of the benchmark.
    scorer: str  #: who judged.
    unit: str  #: what is left out: ``votes``, ``voters`` or ``prompts``.
    n_units: int  #: units of this kind.
    #: so many are enough; None where none were found.
    count: int | None
    first: str  #: the model that is first by all votes.
    rival: str  #: the one that leads it without them; the second where none does.
    gap: float  #: points of Elo of the first above the rival, by all votes.
    gap_after: float | None  #: the same without the units.
    n_votes: int  #: votes that are left out with the units.
    #: of these votes, who was preferred to whom, how often, most often first.
    pairs: tuple[str, ...]


@dataclass(frozen=True)
class PreferHandfulAnswer(Result):
    """A row for each kind of unit."""

    benchmark: str  #: its name.
    rows: tuple[PreferHandfulRow, ...]
    notes: tuple[str, ...]  #: what a reader should know of the rows.

    def view(self, *, verbose: bool = False) -> View:
        """How few votes are enough, in a sentence, and a line for each kind of unit;
        with ``verbose`` whose votes those are."""
        row = self.rows[0]
        cells = []
        for own in self.rows:
            enough = "none found"
            if own.count is not None:
                enough = str(own.count)
            cells.append(
                {
                    "left out": own.unit,
                    "of": own.n_units,
                    "enough": enough,
                    "then first": own.rival if own.count is not None else "",
                    "Elo before": f"{own.gap:+.1f}",
                    "Elo after": _signed(own.gap_after),
                }
            )
        parts: list[Part] = [
            visible(_sentence(row)),
            "",
            Table.of(cells),
            TableNote(_SAID),
        ]
        if verbose:
            parts += ["", f"votes that are left out: {'; '.join(row.pairs)}"]
        return View(tuple(parts), self.notes)


def _signed(points: float | None) -> str:
    if points is None:
        return ""
    return f"{points:+.1f}"


def _sentence(row: PreferHandfulRow) -> str:
    if row.count is None:
        return (
            f"No number of votes was found without which another than {row.first} is "
            "first."
        )
    verb = "is" if row.count == 1 else "are"
    votes = f"{row.count} of {counted(row.n_units, 'vote')}"
    return f"{votes} {verb} enough to put {row.rival} before {row.first}."


@answers(PreferHandful)
def prefer_handful(store: Store, question: PreferHandful) -> PreferHandfulAnswer:
    """A row for each kind of unit that is known."""
    asked = question.shared_with(Prefer)
    votes = read_votes(
        store, question.benchmark, question.scorer, covariates=question.covariate
    )
    chosen = np.ones(len(votes), dtype=bool)
    counted_ones, models = counted_votes(votes, chosen, asked)
    scorer = votes.scorers[0].label
    rows = _rows(fitted(counted_ones, models, asked, scorer), models)
    named = [
        PreferHandfulRow(benchmark=votes.benchmark, scorer=scorer, **row)
        for row in rows
    ]
    return PreferHandfulAnswer(votes.benchmark, tuple(named), ())


@one_blas_thread()
def _rows(fit: Fit, models: Sequence[str]) -> list[dict[str, Any]]:
    """What is found of votes, and of voters and prompts where there are several."""
    kinds = [VOTES]
    has_voters, has_prompts = fit.votes.identified
    if has_voters and len(np.unique(fit.votes.voters)) > 1:
        kinds.append(VOTERS)
    if has_prompts and len(np.unique(fit.votes.prompts)) > 1:
        kinds.append(PROMPTS)
    return [_row(fit, handful_of_votes(fit, kind), models) for kind in kinds]


def _row(fit: Fit, found: HandfulOfVotes, models: Sequence[str]) -> dict[str, Any]:
    codes = {
        VOTES: np.arange(fit.votes.n),
        VOTERS: fit.votes.voters,
        PROMPTS: fit.votes.prompts,
    }
    left_out = fit.votes.subset(np.isin(codes[found.unit], found.left_out))
    gap_after = None
    if found.gap_after is not None:
        gap_after = ELO * found.gap_after
    return {
        "unit": found.unit,
        "n_units": found.n_units,
        "count": found.count,
        "first": models[found.first],
        "rival": models[found.rival],
        "gap": ELO * found.gap,
        "gap_after": gap_after,
        "n_votes": left_out.n,
        "pairs": _pairs(left_out, models),
    }


def _pairs(votes: Ballots, models: Sequence[str]) -> tuple[str, ...]:
    """Who was preferred to whom, how often, most often first."""
    times: Counter[str] = Counter()
    for first, second, sign in zip(
        votes.first.tolist(), votes.second.tolist(), votes.signs.tolist(), strict=True
    ):
        if sign == 0:
            times[f"{models[first]} equal to {models[second]}"] += 1
        elif sign > 0:
            times[f"{models[first]} over {models[second]}"] += 1
        else:
            times[f"{models[second]} over {models[first]}"] += 1
    return tuple(f"{pair} {n}" for pair, n in times.most_common(_PAIRS))
