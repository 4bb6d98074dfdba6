"""A judge held against people: rows, the tables and the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.judge.bar import bar_in_words
from warehouse.analysis.judge.brief import brief_parts, has_corrected
from warehouse.analysis.judge.corrected import CorrectedRow
from warehouse.analysis.judge.question import ASSUMPTION
from warehouse.analysis.judge.rows import JudgeRow
from warehouse.analysis.judge.votes import OrderEffect
from warehouse.analysis.results import Result
from warehouse.stats import (
    AgreementFigure,
    BiasFigure,
    GradersAgreement,
    JudgeAgreement,
    RoganGladen,
)
from warehouse.tables.view import Part, Table, View, legend
from warehouse.tables.words import interval, level_column, number, reasons, visible

#: From which correlation on a judge saves more than a twentieth of the width.
_HELPS_FROM = 0.3
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    "κ interval",
    "below",
    "above",
    "prompts",
    "judged",
    "condition",
    "p",
    "joint p",
)
#: Columns of agreement, and of corrected means, in words.
_AGREE = {
    "agree": "share on which judge and people say the same; intervals by prompts",
    "κ": "Cohen's kappa: falls where one answer is frequent",
    "AC1": "Gwet's: does not; read both",
    "above": "share on which the judge scores above people",
    "bias": "mean of judge minus people",
    "joint p": "of no bias, for all models at once",
}
_CORRECTED = {
    "judge": "its mean over all answers",
    "labels": "people's mean over those that they labelled",
    "corrected": "what people would say of all, by both",
    "λ": "how far the judge is believed, 0 to 1",
    "r": "correlation of judge and people",
    "width": "of the interval, to that of the labels alone",
}
#: Flags of rows in words.
_FLAGS = {
    "labels_not_random": "not drawn by known chance: no mean is corrected",
    "unscored": "the judge has no score of some answers: all figures are of the others",
    "other_prompts": "two models were labelled on different prompts: errors are added",
    "labels_only": "the labels alone, see the notes",
    "labels_missing": "answers were drawn that have no label",
    "labels_outside": "labels of answers that were not drawn do not count",
    "strata_lost": (
        "the judge's scores no longer give the strata of the draw: labels count by "
        "their chances"
    ),
    "pooled_weight": "λ of all models together: fewer than 50 labels",
    "few_clusters": "fewer than 20 prompts or clusters: intervals may be short",
    "few_units": "fewer than 10 answers that both have judged: no errors",
    "one_category": "all that was said is alike",
    "few_disagreements": (
        "fewer than 10 labelled answers on which they differ (of a corrected mean: 5)"
    ),
    "judge_against_people": "the judge goes against people, and is not used",
}


@dataclass(frozen=True)
class JudgeReport(Result):
    """A judge held against people."""

    DRAWN_BY = "warehouse.analysis.judge.charts:judge_pictures"

    benchmark: str  #: its name.
    judge: str  #: who judges; ``human``: whose labels.
    human: str
    of: str  #: ``"scores"`` of answers, or ``"votes"`` between two.
    metric: str  #: of the judge; empty for votes.
    rows: tuple[JudgeRow, ...]  #: all models together, then each.
    #: of all models together, with the table; None where they do not score on one
    #: scale.
    agreement: JudgeAgreement | None
    #: bias towards the judge's own family, minus that towards the others; None without.
    self_preference: BiasFigure | None
    differences: tuple[CorrectedRow, ...]  #: of two models, where asked for.
    #: what the order of answers does to the judge's votes; None for scores, and without
    #: both orders.
    order: OrderEffect | None
    sample: RoganGladen | None  #: what Rogan and Gladen's rates rest on.
    #: Krippendorff's α of three or more graders of the same answers, the judge among
    #: them; None of fewer, and of votes.
    graders: GradersAgreement | None
    grader_names: tuple[str, ...]  #: who these are.
    level: float
    notes: tuple[str, ...]  #: what a reader should know.
    #: of the answers, and of their labels; of votes ``source_ids``.
    run_ids: tuple[int, ...] = ()
    source_ids: tuple[int, ...] = ()

    @property
    def one_line(self) -> str:
        """The result in a sentence."""
        all_of_it = self.rows[0]
        if all_of_it.agreement is None:
            return (
                f"{self.judge} and {self.human} on {self.benchmark}: no agreement, "
                f"{all_of_it.reason}."
            )
        share = (
            f"{self.judge} and {self.human} agree on {all_of_it.agreement:.1%} of "
            f"{all_of_it.n_labels}"
        )
        what = "votes"
        if self.of == "scores":
            what = "answers"
        kappa, ac1 = (
            f"no {name}" if value is None else f"{name} {value:.2f}"
            for name, value in (("κ", all_of_it.kappa), ("AC1", all_of_it.ac1))
        )
        return f"{share} {what} ({kappa}, {ac1}) on {self.benchmark}."

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """Agreement by model, whom the judge favours, and what people would say on
        average; with ``verbose`` every measure, and what the columns mean.

        Args:
            verbose: everything that there is to say.
            top: rows of the tables; None: of many those that matter most; 0: all.
        """
        flags = set(chain.from_iterable(row.flags for row in self.rows))
        said = [
            f"{flag}: {meaning}" for flag, meaning in _FLAGS.items() if flag in flags
        ]
        drawn = [row for row in self.rows[1:] if "labels_not_random" not in row.flags]
        notes = (*reasons((row, row.reason) for row in drawn), *self.notes)
        if verbose:
            return View((*self._everything(), *said), notes)
        parts = [
            self.one_line,
            *map(visible, bar_in_words(self.rows)),
            *brief_parts(
                self.judge,
                self.human,
                self.rows,
                self.graders,
                self.grader_names,
                top=top,
            ),
            *self.of_the_judge,
            *map(_difference, self.differences),
        ]
        if self.sample is not None:
            parts += _rates(self.sample, self.rows[1:])
        of_rows = [line for line in said if not line.startswith("labels_not_random")]
        return View((*parts, *of_rows), notes)

    def _everything(self) -> list[Part]:
        """Every measure of agreement, corrected means with what the judge brings."""
        parts: list[Part] = [
            self.one_line,
            *map(visible, bar_in_words(self.rows)),
            "",
            *_agreement(self.rows),
            *self._sentences(),
        ]
        if has_corrected(self.rows):
            parts += _corrected(self.rows[1:])
        parts += [_difference(difference) for difference in self.differences]
        if self.sample is not None:
            parts += _rates(self.sample, self.rows[1:])
        return parts

    def _sentences(self) -> list[str]:
        """Other measures of agreement, of all graders too, and what else the judge goes
        by."""
        found = []
        if self.agreement is not None and (words := _other_measures(self.agreement)):
            found.append(f"of all: {', '.join(words)}")
        if self.graders is not None:
            found.append(_graders(self.graders, self.grader_names))
        return found + self.of_the_judge

    @property
    def of_the_judge(self) -> list[str]:
        """Sentences on whether the judge goes by the order of answers, and favours its
        own family."""
        found = []
        if self.order is not None:
            found.append(_order(self.order))
        if self.self_preference is not None:
            found.append(_preference(self.self_preference))
        return found


def _agreement(rows: Sequence[JudgeRow]) -> list[Part]:
    """By model, all of them first."""
    hidden = ("condition", "bias", "p", "joint p", "above", "below")
    table = Table.of(map(_agreement_cells, rows), hide_empty=hidden, minor=_MINOR)
    return [table, "", *legend(_AGREE, are_terms=False)]


def _agreement_cells(row: JudgeRow) -> dict[str, Any]:
    return {
        "model": row.model or "all",
        "condition": row.condition,
        "judged": row.n_units,
        "labels": row.n_labels,
        "prompts": row.n_prompts,
        "agree": number(row.agreement, 3),
        level_column(row.level): interval(row.agreement_low, row.agreement_high, 2),
        "κ": number(row.kappa, 2),
        "κ interval": interval(row.kappa_low, row.kappa_high, 2),
        "AC1": number(row.ac1, 2),
        "above": number(row.judge_above, 2),
        "below": number(row.judge_below, 2),
        "bias": number(row.bias, 3),
        "p": number(row.bias_p, 3),
        "joint p": number(row.bias_p_simultaneous, 3),
    }


def _other_measures(agreement: JudgeAgreement) -> list[str]:
    # of two all are alike
    more = ("kappa_", "alpha_") if len(agreement.categories) > 2 else ("alpha_nominal",)
    others = [figure for figure in agreement.figures if figure.measure.startswith(more)]
    return [
        f"{figure.measure.replace('_', ' ')} {figure.estimate:.3f}"
        for figure in others
        if figure.estimate is not None
    ]


def _graders(graders: GradersAgreement, names: Sequence[str]) -> str:
    """Krippendorff's α of all graders, in a sentence."""
    figures = [
        f"{figure.measure.removeprefix('alpha_')} {figure.estimate:.3f}{_of(figure)}"
        for figure in graders.figures
        if figure.estimate is not None
    ]
    why = next((figure.reason for figure in graders.figures if figure.reason), "")
    said = ", ".join(figures) or f"none, {why}"
    return (
        f"Krippendorff's alpha of {graders.n_graders} graders ({', '.join(names)}) on "
        f"{graders.n_units} answers: {said}"
    )


def _of(figure: AgreementFigure) -> str:
    if figure.low is None:
        return ""
    return f" {interval(figure.low, figure.high, 2)}"


def _corrected(rows: Sequence[JudgeRow]) -> list[Part]:
    """Means by the judge, by labels and by both, and what the judge brings."""
    cells = [_corrected_cells(row) for row in rows if row.label_estimate is not None]
    table = Table.of(
        cells, hide_empty=("condition", "flags"), minor=("condition", "λ", "flags", "r")
    )
    gains = dict.fromkeys(filter(None, map(_gain, rows)))
    return ["", table, "", *legend(_CORRECTED, are_terms=False), *gains]


def _corrected_cells(row: JudgeRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        "judge": number(row.judge_estimate, 3),
        "labels": number(row.label_estimate, 3),
        "n": row.n_labels,
        "corrected": number(row.estimate, 3),
        level_column(row.level): interval(row.low, row.high, 3),
        "λ": number(row.weight, 2),
        "r": number(row.correlation, 2),
        "width": number(row.width_ratio, 2),
        "flags": row.flags,
    }


def _gain(row: JudgeRow) -> str:
    """The gain by the judge, in a sentence; empty where it was not used: a note has the
    reason."""
    if row.estimate is None or row.width_ratio is None or "labels_only" in row.flags:
        return ""
    if row.correlation is not None and row.correlation < _HELPS_FROM:
        return f"{row.model}: no gain: correlation {row.correlation:.2f}."
    if row.width_ratio >= 0.995:
        return f"{row.model}: no gain: the interval is as wide as that of the labels."
    words = (
        f"{row.model}: the interval is {1 - row.width_ratio:.0%} narrower than the "
        "labels'"
    )
    again = ""
    if row.repeat_sd is not None:
        again = f"; asked again, the judge would move the figure by {row.repeat_sd:.2g}"
    flips = ""
    if row.flip_rate is not None:
        flips = f", and two of its verdicts differ in {row.flip_rate:.0%}"
    return f"{words}{again}{flips}."


def _difference(row: CorrectedRow) -> str:
    ends = "no interval"
    if row.low is not None:
        ends = f"[{row.low:.3f}, {row.high:.3f}]"
    exact = ""
    if row.mcnemar_p is not None:
        exact = f", McNemar's exact p {row.mcnemar_p:.3g}"
    p = ""
    if row.p_value is not None:
        p = f", p {row.p_value:.3g}"
    label = ""
    if row.label_estimate is not None:
        label = f", labels {row.label_estimate:+.3f}"
    why = ""
    if row.reason:
        why = f" ({row.reason})"
    return (
        f"{row.model_a} - {row.model_b}: judge {row.judge_estimate:+.3f}{label}, "
        f"corrected {row.estimate:+.3f} {ends}{p}{exact}; {row.n_labels} of "
        f"{row.n_units} prompts labelled for both{why}."
    )


def _order(order: OrderEffect) -> str:
    said = "; ".join(
        f"{name} first: agrees with people on {right} of {n}"
        for name, n, right in order.in_order
    )
    return (
        f"In both orders: {order.n_both} pairs, the verdict changes in "
        f"{order.n_changed} (for the first shown {order.first_both}, for the second "
        f"{order.second_both}; p {order.p_value:.2g}). {said}; right both times "
        f"{order.n_both_right}."
    )


def _preference(figure: BiasFigure) -> str:
    if figure.low is None or figure.high is None:
        return (
            f"Its own family: favoured by {figure.estimate:+.3f} over the others; "
            f"{figure.reason}."
        )
    return (
        f"Its own family is favoured by {figure.estimate:+.3f} [{figure.low:.3f}, "
        f"{figure.high:.3f}] over the others (p {figure.p_value:.2g})."
    )


def _rates(sample: RoganGladen, rows: Sequence[JudgeRow]) -> list[Part]:
    """Rates of the judge, corrected by what it finds and rejects in the sample."""
    sentence = (
        f"In the sample the judge finds {sample.sensitivity:.1%} of what is right and "
        f"rejects {sample.specificity:.1%} of what is wrong. Its rates here, corrected "
        f"by that: if {ASSUMPTION}."
    )
    cells = [
        {
            "model": row.model,
            "condition": row.condition,
            "judge": number(row.judge_estimate, 3),
            "rate": number(row.rate, 3),
            level_column(row.level): interval(row.rate_low, row.rate_high, 3),
        }
        for row in rows
    ]
    return ["", sentence, Table.of(cells, hide_empty=("condition",))]
