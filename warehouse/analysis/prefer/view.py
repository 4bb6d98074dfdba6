"""Strengths by votes: rows, the sentences and the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import Result, Row
from warehouse.stats.preferences.contrasts import Contrast, Position
from warehouse.stats.preferences.fit import ELO
from warehouse.tables.view import Part, Table, TableNote, View, legend
from warehouse.tables.words import (
    count_range,
    decimals,
    fixed,
    interval,
    level_column,
    listed,
    number,
    p_value,
    percentage,
)

#: Scorers whose sentences are said together.
_SAID = 3
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("prompts", "ties", "wins", "rank without", "p", "votes")
#: Columns in words.
_LEGEND = {
    "ranks": (
        "places that the model may have, by intervals that hold for all pairs together"
    ),
    "Elo": (
        "400 points are odds of ten to one; 1000 is the mean of all, where no model is "
        "the reference"
    ),
    "rank without": "by votes as they are, without covariates",
}
#: Flags in words.
_FLAGS = {
    "voters_unknown": (
        "each vote of an unknown voter counts as that of another: errors are too short "
        "if few cast many"
    ),
    "prompts_unknown": (
        "each vote on an unknown prompt counts as on another: errors are too short if "
        "few are on many"
    ),
    "few_clusters": (
        "so few voters or prompts, by share of the votes, that all intervals are wide"
    ),
    "jackknife_singular": (
        "one voter, or one prompt, alone holds some model to the others: it has no "
        "interval"
    ),
    "order_confounded": (
        "which of two models was shown first follows from the models: it may be the "
        "place that won"
    ),
    "penalised": (
        "strengths are pulled towards each other by the penalty, and have no errors"
    ),
}
#: Covariates of answers and places of differences that are told one by one.
_DIFFERENCES = 5


@dataclass(frozen=True)
class PreferenceRow(Row):
    """A model's strength by one scorer's votes."""

    benchmark: str  #: that was voted on.
    scorer: str  #: who judged.
    model: str  #: its name.
    rank: int  #: by the estimate.
    #: log-odds against ``reference``, or against the mean of all models.
    estimate: float
    #: of it, by voters and prompts; None with a ``reason``.
    standard_error: float | None
    low: float | None  #: lower end of the interval, ``high`` the upper.
    high: float | None
    level: float  #: nominal coverage, also of the ranks.
    degrees_of_freedom: float | None  #: of the interval.
    p_value: float | None  #: of no difference from the reference (the mean).
    #: of beating the reference (a model of mean strength), a tie as half; ``win_low``,
    #: ``win_high``.
    win_probability: float
    win_low: float | None
    win_high: float | None
    #: best rank that the model may have by intervals that hold for all pairs together;
    #: ``rank_high``.
    rank_low: int | None
    rank_high: int | None
    elo: float  #: 1000 + 400/ln 10 times the strength against the mean.
    reference: str  #: model that the figures are against; empty: the mean of all.
    #: the estimate of the plain fit, with its ``rank_without``; None without
    #: covariates.
    without_covariates: float | None
    rank_without: int | None
    n_votes: int  #: votes on its answers; ``n_wins``, ``n_ties`` of these.
    n_wins: int
    n_ties: int
    n_prompts: int  #: prompts of these.
    ties: str  #: ``half`` or ``davidson``.
    weights: str  #: ``votes``, or ``uniform_pairs``.
    flags: tuple[str, ...]  #: ``penalised``, and those of the scorer.
    reason: str  #: why there is no error.


@dataclass(frozen=True, eq=False)
class Judge:
    """One scorer and the strengths by its votes."""

    scorer: str  #: who judged, of ``kind`` human, model or match.
    kind: str
    models: tuple[str, ...]  #: best first.
    n_votes: int  #: that count, of which ``n_ties`` are ties, ``n_both_bad`` of these of two bad answers.
    n_ties: int
    n_both_bad: int
    n_pairs: int  #: of models, that met; ``n_apart`` pairs of all that are told apart.
    n_apart: int | None
    n_first: int | None  #: models that may be the first.
    #: n_prompts, n_voters: that are known.
    n_prompts: int
    n_voters: int
    #: effective_voters, effective_prompts: 1/Σ share²: as many of equal share would
    #: weigh as much.
    effective_voters: float
    effective_prompts: float
    degrees_of_freedom: float | None  #: of all intervals.
    #: that the row beats the column, in the order of ``models``; ``apart``: told apart.
    chances: NDArray[np.float64]
    apart: NDArray[np.bool_]
    #: coefficients by name, for a standard deviation.
    covariates: Mapping[str, Contrast]
    tie_parameter: Contrast | None  #: Davidson's ln ν.
    position: Position | None  #: whether it helps to be shown first.
    left_out: Mapping[str, int]  #: votes that do not count, by reason.
    #: ``voters_unknown``, ``prompts_unknown``, ``few_clusters``,
    #: ``jackknife_singular``, ``penalised``, ``order_confounded``: who was shown first
    #: follows from the models, so that it may be the place that won.
    flags: tuple[str, ...]
    reason: str  #: why there are no errors, or no strengths.


@dataclass(frozen=True)
class JudgeAgreement(Row):
    """Two who judged the same pairs."""

    #: first, second: scorers.
    first: str
    second: str
    tau: float | None  #: Kendall's τ-b of the strengths; ``spearman`` of their ranks.
    spearman: float | None
    n_votes: int  #: of both, on the prompts and pairs that both saw.
    #: by model, strength by the first less by the second.
    differences: Mapping[str, Contrast]
    n_differ: int  #: models of which these differ (Holm).
    reason: str  #: why they are not compared.


@dataclass(frozen=True)
class PreferenceReport(Result):
    """Strengths by votes."""

    DRAWN_BY = "warehouse.analysis.prefer.charts:preference_charts"

    benchmark: str  #: its name.
    #: one for each scorer and model, the strongest first.
    rows: tuple[PreferenceRow, ...]
    judges: tuple[Judge, ...]  #: what each scorer's votes say.
    #: between each two scorers, where several were asked for.
    agreement: tuple[JudgeAgreement, ...]
    notes: tuple[str, ...]  #: on votes that stand in several sources.
    source_ids: tuple[int, ...]  #: where the votes are from.
    errors: str  #: whose spread the errors are of: ``two-way``, ``cr1``, ``voters`` or ``prompts``.

    @property
    def one_line(self) -> str:
        """The strengths, in a sentence for each of the first scorers."""
        more = []
        if len(self.judges) > _SAID:
            more = [f"{len(self.judges) - _SAID} more scorers have rows."]
        return " ".join(
            [*(self.said_of(judge) for judge in self.judges[:_SAID]), *more]
        )

    def said_of(self, judge: Judge) -> str:
        """The sentence of one scorer."""
        who = ""
        if len(self.judges) > 1:
            who = f"{judge.scorer}: "
        rows = [row for row in self.rows if row.scorer == judge.scorer]
        if not rows:
            return f"{who}no strengths: {judge.reason}."
        if len(rows) < len(judge.models):
            row = rows[0] if rows[1].model == rows[0].reference else rows[1]
            return f"{who}{_duel(row, judge)}"
        m = len(judge.models)
        plural = "s"
        if judge.n_votes == 1:
            plural = ""
        votes = f"{who}{judge.n_votes:,} vote{plural} over {m} models"
        votes = votes.replace(",", " ")
        if judge.n_apart is None:
            return f"{votes}: what they tell apart is not known: {judge.reason}."
        if m == 2:
            better, worse = judge.models
            if not judge.n_apart:
                return f"{votes}: {better} and {worse} cannot be told apart."
            said = f"{better} is better than {worse}"
            if "order_confounded" in judge.flags:
                said += ", or the place: one of the two was always shown first"
            return f"{votes}: {said}."
        first = "the first place is decided"
        if judge.n_first != 1:
            first = f"any of {judge.n_first} models may be the first"
        return (
            f"{votes}: {judge.n_apart} of {m * (m - 1) // 2} pairs are told apart; "
            f"{first}."
        )

    def view(self, *, verbose: bool = False, elo: bool = False) -> View:
        """Strengths by each scorer's votes, what they rest on, and how far scorers
        agree.

        Args:
            elo: strengths as points of Elo.
        """
        parts: list[Part] = []
        for judge in self.judges:
            if len(self.judges) > 1:
                parts.append(f"{judge.scorer} ({judge.kind})")
            rows = [row for row in self.rows if row.scorer == judge.scorer]
            parts += [
                self.said_of(judge),
                *_strengths(judge, rows, self.errors, elo),
                "",
            ]
        parts += map(_agreed, self.agreement)
        found = set(chain.from_iterable(judge.flags for judge in self.judges))
        flags = (
            f"{flag}: {meaning}" for flag, meaning in _FLAGS.items() if flag in found
        )
        return View(tuple(parts), (*flags, *self.notes))


def _duel(row: PreferenceRow, judge: Judge) -> str:
    """Two models in a sentence."""
    beats = (
        f"{row.model} beats {row.reference} in {row.win_probability:.0%} of votes, a "
        "tie as half"
    )
    if row.win_low is None or row.win_high is None or row.p_value is None:
        return f"{beats}; how sure that is is not known: {row.reason or judge.reason}."
    apart = "the two cannot be told apart"
    if row.p_value < 1 - row.level:
        apart = "the two are told apart"
    return (
        f"{beats} [{row.win_low:.0%}, {row.win_high:.0%}]: {apart} (p = "
        f"{row.p_value:.2g})."
    )


def _strengths(
    judge: Judge, rows: list[PreferenceRow], errors: str, elo: bool
) -> list[Part]:
    """The table of one scorer, and what it rests on; nothing without strengths."""
    if not rows:
        return []
    if elo:
        n_decimals = 0
    else:
        n_decimals = decimals(row.standard_error for row in rows)
    cells = [_cells(row, n_decimals, elo) for row in rows]
    table = Table.of(cells, hide_empty=("ranks", "rank without"), minor=_MINOR)
    basis = _basis(judge, rows[0], errors)
    parts: list[Part] = ["", table, "", *_legend(table), basis]
    parts += [
        f"{name}, a standard deviation more: {_with_ends(found)}"
        for name, found in judge.covariates.items()
    ]
    if judge.position is not None:
        parts.append(_position(judge.position))
    return parts + [
        f"left out: {count} votes, {reason}" for reason, count in judge.left_out.items()
    ]


def _legend(table: Table) -> list[TableNote]:
    """Columns of this table in words: that of another scorer may have others."""
    shown = {table.columns[index] for index in table.filled()}
    words = {name: meaning for name, meaning in _LEGEND.items() if name in shown}
    return legend(words, are_terms=False)


def _cells(row: PreferenceRow, n_decimals: int, elo: bool) -> dict[str, Any]:
    scale, start = (1.0, 0)
    if elo:
        scale = ELO
        start = 0 if row.reference else 1000
    estimate = start + scale * row.estimate
    low, high = (
        None if end is None else start + scale * end for end in (row.low, row.high)
    )
    who = row.reference or "mean"
    if row.rank_low is None or row.rank_high is None:
        ranks = None
    else:
        ranks = count_range(row.rank_low, row.rank_high)
    return {
        "ranks": ranks,
        "model": row.model,
        "Elo" if elo else "strength": number(estimate, n_decimals),
        level_column(row.level): interval(low, high, n_decimals, at=estimate),
        f"beats {who}": percentage(row.win_probability),
        "p": p_value(row.p_value),
        "rank without": row.rank_without,
        "votes": row.n_votes,
        "wins": row.n_wins,
        "ties": row.n_ties,
        "prompts": row.n_prompts,
    }


def _basis(judge: Judge, row: PreferenceRow, errors: str) -> str:
    """A note on what the intervals rest on."""
    against = "less the mean of all models"
    if row.reference:
        against = f"less {row.reference}'s"
    pairs = ""
    if row.weights == "uniform_pairs":
        pairs = "; each pair of models counts alike"
    text = (
        f"strength: log-odds of winning, {against}; {judge.n_ties} of {judge.n_votes} "
        "votes are ties"
    )
    bad = ""
    if judge.n_both_bad:
        bad = f" ({judge.n_both_bad} of two bad answers)"
    if judge.degrees_of_freedom is None:
        return f"{text}{bad}{pairs}; no intervals: {judge.reason}"
    who = f"{judge.n_voters} voters (worth {judge.effective_voters:.1f} of equal share)"
    what = f"{judge.n_prompts} prompts (worth {judge.effective_prompts:.1f})"
    prompts = "unknown voters"
    if judge.n_voters:
        prompts = who
    parts = {"prompts": prompts}
    if judge.n_prompts:
        parts["voters"] = what
    else:
        parts["voters"] = "unknown prompts"
    parts.pop(errors, None)  # by one of the two, the other is taken for fixed
    df = f"t with {judge.degrees_of_freedom:.1f} degrees of freedom"
    bases = listed([*parts.values()])
    return f"{text}{bad}{pairs}; errors by {bases}, {df}"


def _with_ends(found: Contrast) -> str:
    if found.low is None or found.high is None:
        return (
            f"{fixed(found.estimate, 3, sign=True)}, without an error: {found.reason}"
        )
    ends = f"[{fixed(found.low, 3)}, {fixed(found.high, 3)}]"
    return f"{fixed(found.estimate, 3, sign=True)} {ends}, p {p_value(found.p_value)}"


def _position(position: Position) -> str:
    """A sentence on whether it helps to be shown first."""
    if position.gamma is None:
        return f"Shown first: not known: {position.reason}."
    text = (
        f"Shown first: {_with_ends(position.gamma)} "
        f"({100 * (position.first_wins or 0):+.1f} points of winning)"
    )
    if position.is_ordered:
        text += (
            f"; orders were not random (p {p_value(position.order_p)}), so that this "
            "may be the models'"
        )
    if position.n_twice:
        share = position.n_changed / position.n_twice
        text += (
            f"; of {position.n_twice} verdicts given in both orders {share:.0%} "
            f"changed, {position.n_first} for the first both times, "
            f"{position.n_second} for the second"
        )
    return f"{text}."


def _agreed(pair: JudgeAgreement) -> str:
    """How far two scorers agree."""
    if pair.tau is None or pair.spearman is None:
        return f"{pair.first} against {pair.second}: not compared: {pair.reason}."
    text = (
        f"{pair.first} against {pair.second}, on what both saw ({pair.n_votes} votes): "
        f"Kendall's tau {pair.tau:.2f}"
    )
    text += (
        f", Spearman {pair.spearman:.2f}; {pair.n_differ} of {len(pair.differences)} "
        "models differ in strength (Holm)"
    )
    largest = sorted(pair.differences.items(), key=lambda item: -abs(item[1].estimate))[
        :_DIFFERENCES
    ]
    return (
        f"{text}. The largest: "
        + "; ".join(f"{model} {_with_ends(found)}" for model, found in largest)
        + "."
    )
