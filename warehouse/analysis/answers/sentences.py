"""Metrics of whole sets in sentences: of all models, of one, of two."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.answers.metrics import LOW_IS_GOOD, AskedMetric, asked
from warehouse.analysis.answers.rows import (
    AnswerDifferenceRow,
    AnswerMetricRow,
    ConfusionCell,
)
from warehouse.tables.units import Unit
from warehouse.tables.words import counted, p_value

#: What flags and reasons mean here.
REASONS = {
    "never_answered": "never answered: a share of nothing",
    "constant_answers": "all answers are of one class",
    "one_class": "all targets are of one class",
}


def unit_for(metric: AskedMetric, errors: Sequence[float | None]) -> Unit:
    """Percent for shares; κ, Matthews' correlation and figures of numbers as they
    are."""
    return Unit.of(errors, in_percent=metric.is_share)


def unit_of_rows(metric: AskedMetric, rows: Sequence[AnswerMetricRow]) -> Unit:
    """`unit_for` the errors of some rows."""
    return unit_for(metric, [row.standard_error for row in rows])


def named(row: AnswerMetricRow) -> str:
    """Model, with what tells it apart."""
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


def titled(metric: AskedMetric, of_class: str | None) -> str:
    """A metric with the class that it is of."""
    if of_class is None:
        return metric.heading
    return f"{metric.heading} of {of_class!r}"


def board_sentence(
    ranked: Sequence[AnswerMetricRow], lead: AnswerDifferenceRow | None
) -> str:
    """The best of all models, and how the next stands to it.

    Args:
        ranked: rows of one metric, the best first.
        lead: the best less the next; None where there is no next.
    """
    best = ranked[0]
    metric = asked(best.metric)
    unit = unit_of_rows(metric, ranked)
    title = titled(metric, best.of_class)
    if best.estimate is None:
        return f"No model has {with_article(title)}: {REASONS.get(best.reason, best.reason)}."
    figure = _with_interval(best, unit)
    if len(ranked) == 1:
        return f"{named(best)} has {with_article(title)} of {figure}."
    word = "highest"
    if metric.name in LOW_IS_GOOD:
        word = "lowest"
    sentence = f"{named(best)} has the {word} {title} of {len(ranked)}, {figure}"
    if lead is None:
        return f"{sentence}."
    return f"{sentence}; {_next_in_words(lead, metric)}."


def _with_interval(row: AnswerMetricRow, unit: Unit) -> str:
    ends = unit.ends(row.ci_low, row.ci_high)
    figure = f"{unit.figure(row.estimate)}"
    if ends is None:
        return figure
    return f"{figure} {ends}"


def _next_in_words(lead: AnswerDifferenceRow, metric: AskedMetric) -> str:
    """How the next stands to the best."""
    name = lead.model_b
    if lead.difference is None:
        return f"{name} is next"
    if lead.verdict == "":
        answers = counted(lead.n_differing, "prompt")
        return f"{name}, next, answers otherwise on {answers} only: no verdict"
    if lead.verdict == "open":
        return f"{name}, next, cannot be told apart (p {p_value(lead.p_value)})"
    return f"{_amount(lead, metric)} above {name}, the next (p {p_value(lead.p_value)})"


def _amount(row: AnswerDifferenceRow, metric: AskedMetric) -> str:
    """A difference with its interval, in points where figures are shares."""
    unit = unit_for(metric, [row.standard_error])
    said = f"{unit.difference(row.difference)}"
    if unit.in_percent:
        said += " points"
    ends = unit.ends(row.ci_low, row.ci_high)
    if ends is None:
        return said
    return f"{said} {ends}"


def model_sentence(
    rows: Sequence[AnswerMetricRow], confusion: Sequence[ConfusionCell]
) -> str:
    """The first metric of a model, and what it takes for what most often.

    Args:
        rows: all of the model.
        confusion: all cells of its counts.
    """
    whole = {row.metric: row for row in rows if row.of_class is None}
    row = whole.get("macro_f1") or rows[0]
    metric = asked(row.metric)
    title = titled(metric, row.of_class)
    if row.estimate is None:
        sentence = f"{named(row)} has no {title} on {row.benchmark}"
    else:
        figure = _with_interval(row, unit_of_rows(metric, [row]))
        sentence = (
            f"{named(row)} has {with_article(title)} of {figure} on {row.benchmark}"
        )
    wrong = []
    for cell in confusion:
        if cell.n and cell.answer not in (None, cell.target):
            wrong.append(cell)
    if not wrong:
        return f"{sentence}, and takes no class for another."
    most = max(wrong, key=lambda cell: cell.n)
    of = sum(cell.n for cell in confusion if cell.target == most.target)
    return (
        f"{sentence}; most often it says {most.answer!r} where {most.target!r} is right "
        f"({count_in_words(most.n)} of {count_in_words(of)})."
    )


def with_article(title: str) -> str:
    """``a macro F1``, ``an MCC``."""
    is_spelled = title[:2].isupper() or title[1:2].isdigit()
    if title[0] in "aeio" or is_spelled and title[0] in "AEFHILMNORSX":
        return f"an {title}"
    return f"a {title}"


def count_in_words(n: float) -> str:
    """Prompts; of several draws in tenths."""
    if abs(n - round(n)) < 1e-6:
        return f"{round(n)}"
    return f"{n:.1f}"


def pair_sentence(differences: Sequence[AnswerDifferenceRow]) -> str:
    """How the first of two models stands to the second, by macro F1, else by the first
    metric."""
    whole = {row.metric: row for row in differences if row.of_class is None}
    row = whole.get("macro_f1") or differences[0]
    metric = asked(row.metric)
    title = titled(metric, row.of_class)
    names = f"{row.model_a} and {row.model_b}"
    if row.difference is None:
        why = REASONS.get(row.reason, row.reason)
        return f"{names} have no difference in {title} on {row.benchmark}: {why}."
    if not row.verdict:
        return (
            f"{names} answer otherwise on {row.n_differing} of {row.n_prompts} prompts: "
            f"too few for a verdict ({title} {_amount(row, metric)})."
        )
    if row.verdict == "open":
        return (
            f"{names} cannot be told apart by {title} on {row.benchmark}: "
            f"{_amount(row, metric)}, p {p_value(row.p_value)}."
        )
    return (
        f"{row.model_a} is {row.verdict} than {row.model_b} by {title} on "
        f"{row.benchmark}: {_amount(row, metric)}, p {p_value(row.p_value)}."
    )
