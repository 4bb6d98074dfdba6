"""Strengths by votes: rows, the sentences and the tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.prefer.brief import brief_parts
from warehouse.analysis.prefer.rows import Judge, JudgeAgreement, PreferenceRow
from warehouse.analysis.prefer.scorers import scorer_parts
from warehouse.analysis.results import Result
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
#: Below which p it is said that being shown first helps.
_TELLING = 0.05
#: Covariates of answers and places of differences that are told one by one.
_DIFFERENCES = 5


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

    def view(
        self, *, verbose: bool = False, elo: bool = False, top: int | None = None
    ) -> View:
        """Strengths by each scorer's votes, and how far scorers agree.

        Args:
            verbose: also what they rest on, and every column.
            elo: strengths as points of Elo.
            top: rows of a table; None: of many those that matter most; 0: all.
        """
        parts: list[Part] = []
        if len(self.judges) > 1 and not verbose:
            rows_of = {judge.scorer: self._rows_of(judge) for judge in self.judges}
            parts += scorer_parts(self.judges, rows_of, self.agreement)
            parts.append("")
        for judge in self._shown_apart(verbose=verbose, top=top):
            rows = self._rows_of(judge)
            if verbose:
                parts += self._explained(judge, rows, elo=elo)
            else:
                said = self.said_of(judge).removeprefix(f"{judge.scorer}: ")
                parts += brief_parts(judge, rows, said, elo=elo, top=top)
                parts += _differing(judge)
            parts.append("")
        if verbose or top == 0:
            parts += map(_agreed, self.agreement)
        found = set(chain.from_iterable(judge.flags for judge in self.judges))
        flags = (
            f"{flag}: {meaning}" for flag, meaning in _FLAGS.items() if flag in found
        )
        return View(tuple(parts), (*flags, *self.notes))

    def _rows_of(self, judge: Judge) -> list[PreferenceRow]:
        return [row for row in self.rows if row.scorer == judge.scorer]

    def _shown_apart(self, *, verbose: bool, top: int | None) -> tuple[Judge, ...]:
        """Scorers with a table of their own: one alone, or all where that is asked."""
        if len(self.judges) > 1 and not verbose and top is None:
            return ()
        return self.judges

    def _explained(
        self, judge: Judge, rows: list[PreferenceRow], *, elo: bool
    ) -> list[Part]:
        """One scorer's strengths, and what they rest on."""
        parts: list[Part] = []
        if len(self.judges) > 1:
            parts.append(f"{judge.scorer} ({judge.kind})")
        parts.append(self.said_of(judge))
        parts += _strengths(judge, rows, self.errors, elo)
        return parts


def _differing(judge: Judge) -> list[Part]:
    """What covariates do, and what being shown first does where it does something."""
    parts: list[Part] = [
        f"{name}, a standard deviation more: {_with_ends(found)}"
        for name, found in judge.covariates.items()
    ]
    if judge.position is not None:
        parts += _place_helps(judge.position)
    return parts


def _place_helps(position: Position) -> list[Part]:
    """What being shown first does; nothing where it is not shown to do anything."""
    if position.gamma is None or position.first_wins is None:
        return []
    p = position.gamma.p_value
    if p is None or p >= _TELLING:
        return []
    verb = "helps"
    if position.first_wins < 0:
        verb = "harms"
    points = abs(100 * position.first_wins)
    said = f"To be shown first {verb}: by {points:.1f} points of winning"
    unless = ""
    if position.is_ordered:
        unless = ", unless it is the models', as orders were not random"
    return [f"{said} (p {p_value(p)}){unless}."]


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
