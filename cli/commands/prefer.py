"""``prefer``: which models are preferred, by votes on pairs of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.errors import MisuseError
from warehouse.questions.comparison import Prefer
from warehouse.tables.words import fixed, listed

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import in_flags, options_of
from ..ui.table import (
    count_range,
    decimals,
    interval,
    level_column,
    number,
    p_value,
    percentage,
    print_legend,
    print_rows,
    print_text,
)

if TYPE_CHECKING:
    from warehouse.analysis.preferences.prefer import Judge, JudgeAgreement, PreferenceReport, PreferenceRow
    from warehouse.stats.preferences.contrasts import Contrast, Position

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("prompts", "ties", "wins", "rank without", "p", "votes")
_LEGEND = {
    "ranks": "places that the model may have, by intervals that hold for all pairs together",
    "Elo": "400 points are odds of ten to one; 1000 is the mean of all, where no model is the reference",
    "rank without": "by votes as they are, without covariates",
}
_FLAGS = {
    "voters_unknown": "each vote of an unknown voter counts as that of another: errors are too short if few cast many",
    "prompts_unknown": "each vote on an unknown prompt counts as on another: errors are too short if few are on many",
    "few_clusters": "so few voters or prompts, by share of the votes, that all intervals are wide",
    "jackknife_singular": "one voter, or one prompt, alone holds some model to the others: it has no interval",
    "order_confounded": "which of two models was shown first follows from the models: it may be the place that won",
    "penalised": "strengths are pulled towards each other by the penalty, and have no errors",
}
#: Covariates of answers and places of differences that are told one by one.
_DIFFERENCES = 5


@command("prefer")
@options_of(Prefer)
@option("--elo", "Show strengths as points of Elo.", is_flag=True)
@drawable
@output_options
def prefer(state: State, /, elo: bool, output: Output, **options: Any) -> None:
    question = Prefer.from_command(options, typed(options))
    report: PreferenceReport = state.ask(question)
    draw(report)
    if elo and not output.for_people:
        raise MisuseError("these rows have the Elo anyway: leave out --elo")
    output.give(report, lambda: _print(report, state, elo))
    state.notes(in_flags(Prefer, note) for note in report.notes)
    say_next(state, output, report, question)


def _print(report: PreferenceReport, state: State, elo: bool) -> None:
    for judge in report.judges:
        rows = [row for row in report.rows if row.scorer == judge.scorer]
        if len(report.judges) > 1:
            print_text(f"{judge.scorer} ({judge.kind})")
        _print_judge(report, judge, rows, elo)
        print_text("")
    for pair in report.agreement:
        print_text(_agreed(pair))
    flags = [flag for flag in _FLAGS if any(flag in judge.flags for judge in report.judges)]
    state.notes(f"{flag}: {_FLAGS[flag]}" for flag in flags)


def _print_judge(report: PreferenceReport, judge: Judge, rows: list[PreferenceRow], elo: bool) -> None:
    print_text(report.said_of(judge))
    if not rows:
        return
    print_text("")
    n_decimals = 0 if elo else decimals(row.standard_error for row in rows)
    shown = print_rows(
        [_cells(row, n_decimals, elo) for row in rows], hide_empty=("ranks", "rank without"), minor=_MINOR
    )
    print_text("")
    print_legend(_LEGEND, shown)
    print_text(_basis(judge, rows[0], report.errors))
    for name, found in judge.covariates.items():
        print_text(f"{name}, a standard deviation more: {_with_ends(found)}")
    if judge.position is not None:
        print_text(_position(judge.position))
    for reason, count in judge.left_out.items():
        print_text(f"left out: {count} votes, {reason}")


def _cells(row: PreferenceRow, n_decimals: int, elo: bool) -> dict[str, Any]:
    from warehouse.stats.preferences.fit import ELO

    scale, start = (ELO, 0 if row.reference else 1000) if elo else (1.0, 0)
    estimate = start + scale * row.estimate
    low, high = (None if end is None else start + scale * end for end in (row.low, row.high))
    who = row.reference or "mean"
    return {
        "ranks": None if row.rank_low is None or row.rank_high is None else count_range(row.rank_low, row.rank_high),
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
    """What the intervals rest on."""
    against = f"less {row.reference}'s" if row.reference else "less the mean of all models"
    pairs = "; each pair of models counts alike" if row.weights == "uniform_pairs" else ""
    text = f"strength: log-odds of winning, {against}; {judge.n_ties} of {judge.n_votes} votes are ties"
    bad = f" ({judge.n_both_bad} of two bad answers)" if judge.n_both_bad else ""
    if judge.degrees_of_freedom is None:
        return f"{text}{bad}{pairs}; no intervals: {judge.reason}"
    who = f"{judge.n_voters} voters (worth {judge.effective_voters:.1f} of equal share)"
    what = f"{judge.n_prompts} prompts (worth {judge.effective_prompts:.1f})"
    parts = {"prompts": who if judge.n_voters else "unknown voters"}
    parts["voters"] = what if judge.n_prompts else "unknown prompts"
    parts.pop(errors, None)  # by one of the two, the other is taken for fixed
    df = f"t with {judge.degrees_of_freedom:.1f} degrees of freedom"
    return f"{text}{bad}{pairs}; errors by {listed([*parts.values()])}, {df}"


def _with_ends(found: Contrast) -> str:
    if found.low is None or found.high is None:
        return f"{fixed(found.estimate, 3, sign=True)}, without an error: {found.reason}"
    ends = f"[{fixed(found.low, 3)}, {fixed(found.high, 3)}]"
    return f"{fixed(found.estimate, 3, sign=True)} {ends}, p {p_value(found.p_value)}"


def _position(position: Position) -> str:
    """Whether it helps to be shown first."""
    if position.gamma is None:
        return f"Shown first: not known: {position.reason}."
    text = f"Shown first: {_with_ends(position.gamma)} ({100 * (position.first_wins or 0):+.1f} points of winning)"
    if position.is_ordered:
        text += f"; orders were not random (p {p_value(position.order_p)}), so that this may be the models'"
    if position.n_twice:
        share = position.n_changed / position.n_twice
        text += (
            f"; of {position.n_twice} verdicts given in both orders {share:.0%} changed, {position.n_first} for the"
            f" first both times, {position.n_second} for the second"
        )
    return f"{text}."


def _agreed(pair: JudgeAgreement) -> str:
    """How far two scorers agree."""
    if pair.tau is None or pair.spearman is None:
        return f"{pair.first} against {pair.second}: not compared: {pair.reason}."
    text = f"{pair.first} against {pair.second}, on what both saw ({pair.n_votes} votes): Kendall's tau {pair.tau:.2f}"
    text += (
        f", Spearman {pair.spearman:.2f}; {pair.n_differ} of {len(pair.differences)} models differ in strength (Holm)"
    )
    largest = sorted(pair.differences.items(), key=lambda item: -abs(item[1].estimate))[:_DIFFERENCES]
    return f"{text}. The largest: " + "; ".join(f"{model} {_with_ends(found)}" for model, found in largest) + "."
