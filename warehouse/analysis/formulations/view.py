"""The view of two formulations: rows, the sentence, the tables, and what their columns
mean."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.formulations.brief import brief_parts
from warehouse.analysis.formulations.row import AgreementRow as AgreementRow
from warehouse.analysis.formulations.row import CrossingRow as CrossingRow
from warehouse.analysis.formulations.row import FormulationModel as FormulationModel
from warehouse.analysis.results import Result
from warehouse.tables.view import Table, TableNote, View, legend
from warehouse.tables.words import (
    counted,
    decimals,
    interval,
    level_column,
    number,
    p_value,
)

#: Columns that a narrow terminal does without, the first of them first.
MODELS_MINOR = ("prompts", "p Holm", "rank second", "rank first")
CROSSINGS_MINOR = ("p second", "p first", "second", "first")
_WIDE = 0.3
#: Why a model has no paired difference where prompts are not linked.
NO_PROMPT = "no prompt in both"


@dataclass(frozen=True)
class FormulationsReport(Result):
    """Two formulations over the models that have both."""

    first: str  #: the first, with what tells it from the second.
    second: str  #: the second.
    metric_first: str  #: metric of the first, with its filter.
    metric_second: str  #: of the second.
    rows: tuple[AgreementRow, ...]  #: Pearson, Kendall, Spearman.
    #: one row for each model, by rank in the first.
    models: tuple[FormulationModel, ...]
    #: pairs of models whose order differs, those that are shown first.
    crossings: tuple[CrossingRow, ...]
    n_pairs: int  #: pairs of models that there are.
    notes: tuple[str, ...]  #: what a reader should know, and what was left out.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def n_shown(self) -> int:
        """Crossings that are shown."""
        return sum(row.is_shown for row in self.crossings)

    @property
    def one_line(self) -> str:
        """A sentence on what is known, how sure it is, and what would settle it."""
        pearson, kendall, _ = self.rows
        models = "model"
        if pearson.n_models > 1:
            models = "models"
        head = f"{self.first} and {self.second} over {pearson.n_models} {models}"
        if pearson.estimate is None or kendall.estimate is None:
            return f"{head}: no correlation can be told, {pearson.reason}."
        sentence = (
            f"{head}: Pearson {pearson.estimate:.2f}, Kendall's tau "
            f"{kendall.estimate:.2f}."
        )
        low, high = pearson.prompts_low, pearson.prompts_high
        if low is None or high is None:
            return f"{sentence} {_crossed(self)}"
        sentence += (
            f" Without the noise of sampling prompts Pearson is between {low:.2f} and "
            f"{high:.2f} for these models"
        )
        sentence += f" ({100 * pearson.level:g} % interval). {_crossed(self)}"
        if (
            pearson.both_low is None
            or pearson.both_high is None
            or pearson.both_high - pearson.both_low <= _WIDE
        ):
            return sentence
        more = "models"
        if high - low > (pearson.both_high - pearson.both_low) / 2:
            more = "prompts"
        return f"{sentence} It takes more {more} to say how well the two agree."

    def view(self, *, verbose: bool = False) -> View:
        """Whether the two rank models alike, and which models stand elsewhere.

        Args:
            verbose: every correlation with its intervals, and all models.
        """
        if not verbose:
            return View(tuple(brief_parts(self)), (*self.notes, *_without_error(self)))
        return self._explained

    @property
    def _explained(self) -> View:
        """The sentence, correlations, models and crossings."""
        metrics = dict.fromkeys((self.metric_first, self.metric_second))
        parts: list[str | Table | TableNote] = [
            self.one_line,
            f"first: {self.first}, second: {self.second}, by {' and '.join(metrics)}",
            "",
        ]
        if self.rows[0].estimate is not None:
            hide_empty = ("other models", "other prompts", "both", "flags")
            parts += [
                Table.of(map(_agreement_cells, self.rows), hide_empty=hide_empty),
                *legend(_MEANINGS),
                "",
            ]
        parts += [models_table(self), *legend(MODELS)]
        if self.n_shown:
            parts += ["", crossings_table(self)]
        notes = _without_error(self)
        notes += {row.reason for row in self.rows if row.reason not in self.one_line}
        return View(tuple(parts), (*self.notes, *notes))


def _without_error(report: FormulationsReport) -> list[str]:
    """Why models have no paired difference, with how many each."""
    reasons = Counter(
        row.reason for row in report.models if row.reason not in ("", NO_PROMPT)
    )
    return [
        f"{n} of {len(report.models)} models: {reason}"
        for reason, n in sorted(reasons.items())
    ]


def _crossed(report: FormulationsReport) -> str:
    n = len(report.crossings)
    pairs = f"{counted(report.n_pairs, 'pair')} of models"
    if not n:
        return f"None of {pairs} changes order."
    change = "change"
    if n == 1:
        change = "changes"
    changed = f"{n} of {pairs} {change} order"
    if all(row.p_holm is None for row in report.crossings):
        return f"{changed}; whether that is noise cannot be told."
    return f"{changed}, {report.n_shown or 'none'} of them by more than noise can make."


_MEANINGS = {
    "r": "over models, noise of sampling prompts included",
    "other models": "what other models like these would give, on these prompts",
    "other prompts": (
        "these models on all prompts like these: noise is taken off, which raises r"
    ),
    "both": "all models like these on all prompts like these",
}
#: Of the table of models.
MODELS = {
    "difference": "first less second, on the prompts that both have",
    "moves": (
        "rank in the second less rank in the first: above 0 it is placed worse there"
    ),
}


def _agreement_cells(row: AgreementRow) -> dict[str, Any]:
    return {
        "": row.statistic.capitalize(),
        "r": number(row.estimate, 3),
        "other models": interval(row.models_low, row.models_high, 3, at=row.estimate),
        "other prompts": interval(row.prompts_low, row.prompts_high, 3),
        "both": interval(row.both_low, row.both_high, 3),
        "flags": row.flags,
    }


def models_table(report: FormulationsReport, most: int | None = None) -> Table:
    """One row for each model; of many those that move most."""
    digits = decimals(row.standard_error for row in report.models)
    level = level_column(report.rows[0].level)
    rows = list(report.models)
    if most is not None and len(rows) > most:
        rows = sorted(rows, key=lambda row: -abs(row.rank_change))[:most]
    cells = [
        {
            "model": row.model,
            "first": number(row.mean_first, digits),
            "second": number(row.mean_second, digits),
            "difference": number(row.difference, digits, sign=True),
            level: interval(row.ci_low, row.ci_high, digits, at=row.difference),
            "p Holm": p_value(row.p_holm),
            "prompts": row.n_prompts,
            "rank first": row.rank_first,
            "rank second": row.rank_second,
            "moves": number(float(row.rank_change), 0, sign=True)
            if row.rank_change
            else "",
        }
        for row in rows
    ]
    return Table.of(
        cells,
        hide_empty=("difference", level, "p Holm"),
        counts=("prompts",),
        minor=MODELS_MINOR,
    )


def crossings_table(report: FormulationsReport, most: int | None = None) -> Table:
    """Pairs of models that change places, those that are shown first."""
    cells = [
        {
            "better in first": row.model_a,
            "better in second": row.model_b,
            "first": number(row.difference_first, 4, sign=True),
            "second": number(row.difference_second, 4, sign=True),
            "p first": p_value(row.p_first),
            "p second": p_value(row.p_second),
            "p Holm": p_value(row.p_holm),
            "": "shown" if row.is_shown else "",
        }
        for row in report.crossings[:most]
    ]
    return Table.of(
        cells, empty="no pair of models changes order", minor=CROSSINGS_MINOR
    )
