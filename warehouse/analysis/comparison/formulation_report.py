"""What is said of two formulations: rows, the sentence, the tables, and what their columns mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.results import Column, Result, Row
from warehouse.stats import Agreement
from warehouse.tables.view import Table, TableNote, View, legend
from warehouse.tables.words import decimals, interval, level_column, number, p_value

#: Models and crossings that are shown unless all are asked for.
MOST = 12
#: Columns that a narrow terminal does without, the first of them first.
MODELS_MINOR = ("prompts", "p Holm", "rank second", "rank first")
CROSSINGS_MINOR = ("p second", "p first", "second", "first")
_WIDE = 0.3
#: Why a model has no paired difference where prompts are not linked.
NO_PROMPT = "no prompt in both"


@dataclass(frozen=True)
class AgreementRow(Row):
    """One correlation over models.

    Attributes:
        statistic: ``pearson``, ``kendall`` (τ-b) or ``spearman``.
        estimate: of the models' figures, sampling noise included; None below 3 models, or where a side is constant.
        models_low: interval for what other models like these would give on these prompts.
        models_high: its upper end.
        prompts_low: interval for these very models on all prompts like these: sampling noise is taken off, so that it
            may lie above the estimate.
        prompts_high: its upper end.
        both_low: interval for all models like these on all prompts like these.
        both_high: its upper end.
        level: nominal coverage of the intervals.
        n_models: models that have both formulations.
        n_linked: prompts that stand in both.
        flags: ``few_units``: fewer than 20 prompts or clusters in one of them.
        reason: why an interval is not there.
        agreement: that the columns from ``statistic`` on come from.
    """

    statistic: ClassVar[Column[str]] = Column("agreement.statistic")
    estimate: ClassVar[Column[float | None]] = Column("agreement.estimate")
    models_low: ClassVar[Column[float | None]] = Column("agreement.models_low")
    models_high: ClassVar[Column[float | None]] = Column("agreement.models_high")
    prompts_low: ClassVar[Column[float | None]] = Column("agreement.prompts_low")
    prompts_high: ClassVar[Column[float | None]] = Column("agreement.prompts_high")
    both_low: ClassVar[Column[float | None]] = Column("agreement.both_low")
    both_high: ClassVar[Column[float | None]] = Column("agreement.both_high")
    level: float
    n_models: int
    n_linked: int
    flags: tuple[str, ...]
    reason: str
    agreement: Agreement

    PARTS = ("agreement",)


@dataclass(frozen=True)
class FormulationModel(Row):
    """One model in both formulations.

    Attributes:
        model: its name, with checkpoint, seed and agent.
        mean_first: its figure in the first, over all its scored prompts; as published where it has none.
        mean_second: in the second.
        rank_first: 1 + models with a better figure in the first.
        rank_second: in the second.
        rank_change: ``rank_second - rank_first``; below 0: better placed in the second.
        difference: first minus second over the prompts that both have; None where ``reason`` says why.
        standard_error: of the difference.
        ci_low: lower end of its interval.
        ci_high: upper end.
        p_value: two-sided, paired by prompt.
        p_holm: adjusted for the number of models.
        n_prompts: common prompts.
        reason: why there is no difference, or no error of it.
        runs_first: ids of the runs of the first.
        runs_second: of the second.
    """

    model: str
    mean_first: float
    mean_second: float
    rank_first: int
    rank_second: int
    rank_change: int
    difference: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_holm: float | None
    n_prompts: int
    reason: str
    runs_first: tuple[int, ...]
    runs_second: tuple[int, ...]


@dataclass(frozen=True)
class CrossingRow(Row):
    """Two models whose order differs between the formulations.

    Attributes:
        model_a: the model that is better in the first formulation.
        model_b: the one that is better in the second.
        difference_first: a minus b in the first.
        difference_second: a minus b in the second.
        p_first: two-sided p of the difference in the first; None without samples.
        p_second: in the second.
        p_holm: the larger of the two, adjusted for all pairs of models (Holm).
        is_shown: whether both differences are significant by ``p_holm``: the two do change places.
    """

    model_a: str
    model_b: str
    difference_first: float
    difference_second: float
    p_first: float | None
    p_second: float | None
    p_holm: float | None
    is_shown: bool


@dataclass(frozen=True)
class FormulationsReport(Result):
    """Two formulations over the models that have both.

    Attributes:
        first: the first, with what tells it from the second.
        second: the second.
        metric_first: metric of the first, with its filter.
        metric_second: of the second.
        rows: Pearson, Kendall, Spearman.
        models: one row for each model, by rank in the first.
        crossings: pairs of models whose order differs, those that are shown first.
        n_pairs: pairs of models that there are.
        notes: what a reader should know, and what was left out.
    """

    ROW = AgreementRow

    first: str
    second: str
    metric_first: str
    metric_second: str
    rows: tuple[AgreementRow, ...]
    models: tuple[FormulationModel, ...]
    crossings: tuple[CrossingRow, ...]
    n_pairs: int
    notes: tuple[str, ...]

    @property
    def n_shown(self) -> int:
        """Crossings that are shown."""
        return sum(row.is_shown for row in self.crossings)

    @property
    def one_line(self) -> str:
        """The answer in words."""
        return in_a_sentence(self)

    def view(self, *, verbose: bool = False) -> View:
        """The command's sentences and tables."""
        return formulations_view(self, verbose=verbose)

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows are dictionaries."""
        lists = {name: [row.to_dict() for row in getattr(self, name)] for name in ("models", "crossings")}
        return super().to_dict() | lists


def in_a_sentence(report: FormulationsReport) -> str:
    """What is known, how sure it is, and what would settle it."""
    pearson = report.rows[0]
    models = f"{pearson.n_models} model{'s' * (pearson.n_models > 1)}"
    head = f"{report.first} and {report.second} over {models}"
    if pearson.estimate is None:
        return f"{head}: no correlation, {pearson.reason}.{_of_one(report)}"
    kendall = report.rows[1].estimate
    tau = "" if kendall is None else f", Kendall's tau {kendall:.2f}"
    return (
        f"{head}: Pearson {pearson.estimate:.2f}{tau}.{_without_noise(pearson)} {_crossed(report)}{_settled(pearson)}"
    )


def _of_one(report: FormulationsReport) -> str:
    """The difference of a single model."""
    row = report.models[0]
    if len(report.models) > 1 or row.difference is None or row.ci_low is None or row.ci_high is None:
        return ""
    known = "differs" if row.ci_low > 0 or row.ci_high < 0 else "cannot be told apart"
    ends = f"{row.difference:+.3g} [{row.ci_low:.3g}, {row.ci_high:.3g}]"
    return f" {row.model} {known} in the two: first - second {ends}, {row.n_prompts} common prompts."


def _without_noise(row: AgreementRow) -> str:
    if row.prompts_low is None or row.prompts_high is None:
        return ""
    return (
        f" Without the noise of sampling prompts Pearson is between {row.prompts_low:.2f} and"
        f" {row.prompts_high:.2f} for these models."
    )


def _crossed(report: FormulationsReport) -> str:
    n, pairs = len(report.crossings), f"{report.n_pairs} pair{'s' * (report.n_pairs > 1)} of models"
    if not n:
        return f"None of {pairs} changes order."
    changed = f"{n} of {pairs} change{'s' * (n == 1)} order"
    if all(row.p_holm is None for row in report.crossings):
        return f"{changed}; whether that is noise cannot be told without samples."
    if not report.n_shown:
        return f"{changed}, none of them by more than noise can make."
    return f"{changed}, {report.n_shown} of them by more than noise can make."


def _settled(row: AgreementRow) -> str:
    """What would narrow the widest interval."""
    if row.both_low is None or row.both_high is None or row.prompts_low is None or row.prompts_high is None:
        return ""
    if row.both_high - row.both_low <= _WIDE:
        return ""
    by_prompts = (row.prompts_high - row.prompts_low) / (row.both_high - row.both_low)
    more = "more prompts" if by_prompts > 0.5 else "more models"
    return f" It takes {more} to say how well the two agree."


_MEANINGS = {
    "r": "over models, noise of sampling prompts included",
    "other models": "what other models like these would give, on these prompts",
    "other prompts": "these models on all prompts like these: noise is taken off, which raises r",
    "both": "all models like these on all prompts like these",
}


def formulations_view(report: FormulationsReport, *, verbose: bool = False) -> View:
    """The sentence, correlations, models and crossings."""
    metrics = dict.fromkeys((report.metric_first, report.metric_second))
    parts: list[str | Table | TableNote] = [
        in_a_sentence(report),
        f"first: {report.first}, second: {report.second}, by {' and '.join(metrics)}",
        "",
    ]
    if report.rows[0].estimate is not None:
        parts += [agreement_table(report), *legend(_MEANINGS), ""]
    parts += [models_table(report, None if verbose else MOST)]
    if report.n_shown:
        parts += ["", crossings_table(report, None if verbose else min(MOST, report.n_shown))]
    reasons = ({row.reason for row in report.rows} | {row.reason for row in report.models}) - {"", NO_PROMPT}
    return View(tuple(parts), (*report.notes, *sorted(reasons)))


def agreement_table(report: FormulationsReport) -> Table:
    """The three correlations with their intervals."""
    cells = [
        {
            "": {"pearson": "Pearson", "kendall": "Kendall", "spearman": "Spearman"}[row.statistic],
            "r": number(row.estimate, 3),
            "other models": interval(row.models_low, row.models_high, 3, at=row.estimate),
            "other prompts": interval(row.prompts_low, row.prompts_high, 3),
            "both": interval(row.both_low, row.both_high, 3),
            "flags": row.flags,
        }
        for row in report.rows
    ]
    return Table.of(cells, hide_empty=("r", "other models", "other prompts", "both", "flags"))


def models_table(report: FormulationsReport, most: int | None = None) -> Table:
    """One row for each model; of many those that move most."""
    places = decimals(row.standard_error for row in report.models)
    rows = list(report.models)
    if most is not None and len(rows) > most:
        rows = sorted(rows, key=lambda row: -abs(row.rank_change))[:most]
    level = report.rows[0].level
    cells = [_model_cells(row, places, level) for row in rows]
    hide_empty = ("difference", level_column(level), "p Holm", "prompts")
    return Table.of(cells, hide_empty=hide_empty, counts=("prompts",), minor=MODELS_MINOR)


def _model_cells(row: FormulationModel, places: int, level: float) -> dict[str, Any]:
    return {
        "model": row.model,
        "first": number(row.mean_first, places),
        "second": number(row.mean_second, places),
        "difference": number(row.difference, places, sign=True),
        level_column(level): interval(row.ci_low, row.ci_high, places, at=row.difference),
        "p Holm": p_value(row.p_holm),
        "prompts": row.n_prompts,
        "rank first": row.rank_first,
        "rank second": row.rank_second,
        "moves": number(float(row.rank_change), 0, sign=True) if row.rank_change else "",
    }


def crossings_table(report: FormulationsReport, most: int | None = None) -> Table:
    """Pairs of models that change places, those that are shown first."""
    cells = [_crossing_cells(row) for row in report.crossings[:most]]
    return Table.of(cells, empty="no pair of models changes order", minor=CROSSINGS_MINOR)


def _crossing_cells(row: CrossingRow) -> dict[str, Any]:
    return {
        "better in first": row.model_a,
        "better in second": row.model_b,
        "first": number(row.difference_first, 4, sign=True),
        "second": number(row.difference_second, 4, sign=True),
        "p first": p_value(row.p_first),
        "p second": p_value(row.p_second),
        "p Holm": p_value(row.p_holm),
        "": "shown" if row.is_shown else "",
    }
