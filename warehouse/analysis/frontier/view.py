"""Answers of `frontier`: a row for each model, and how people are shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from warehouse.analysis.results import ConditionRow, Result
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, View, legend
from warehouse.tables.words import (
    decimals,
    direction,
    fixed,
    level_column,
    meanings,
    percentage,
    small,
    small_interval,
    some_of,
    visible,
)


@dataclass(frozen=True)
class FrontierRow(ConditionRow):
    """Score and cost of one condition, and what beats it."""

    group: int  #: number of the rows that it is held against, of one split, task version and metric.
    cost_metric: str  #: ``cost`` (dollars as recorded), ``cost_priced``, ``tokens``, ``seconds`` or ``calls``.
    prices_digest: str  #: sha256 of the prices behind ``cost_priced``, else empty.
    estimate: float  #: mean score, over the prompts of which the cost is known too.
    standard_error: float | None  #: of it.
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of all intervals.
    mean_cost: float  #: of an answer.
    cost_low: float | None  #: lower end of its interval, by logarithms.
    cost_high: float | None  #: upper end.
    #: what was spent for each prompt that was solved; None where nothing was, or scores
    #: do not say.
    cost_per_solved: float | None
    solved_low: float | None  #: lower end of its interval.
    solved_high: float | None  #: upper end; None with a lower end: there is none.
    #: no other in the table is as good and as cheap, and one of them more.
    on_frontier: bool
    dominated_by: str  #: the best of those that are, empty where none is.
    #: share of samples of the prompts in which it is on the frontier: stability, not
    #: confidence.
    p_on_frontier: float | None
    #: not shown to be off the frontier, at the level for all rows together; None
    #: without prompts.
    in_frontier_set: bool | None
    excluded_by: str  #: the model that shows it, empty where none does.
    #: smallest adjusted p of "no other beats it"; None without prompts.
    p: float | None
    #: score minus that of the best row, on the prompts that both have.
    difference: float | None
    difference_low: float | None  #: lower end of its interval, of this pair alone.
    difference_high: float | None  #: upper end.
    cost_ratio: float | None  #: cost over that of the best row.
    ratio_low: float | None  #: lower end of its interval, of this pair alone.
    ratio_high: float | None  #: upper end.
    #: with a margin: of "worse than the best row by the margin, or not so much cheaper"
    #: (Holm).
    p_as_good: float | None
    n_prompts: int  #: prompts behind the figures.
    n_clusters: int | None  #: clusters among them; None without.
    n_missing_cost: int  #: scored prompts of which the cost is not known.
    score_missing: float | None  #: mean score of those; None where there are none.
    #: ``heavy_tail``, ``skew_gate``, ``missing_cost``, ``published`` and those of the
    #: score.
    flags: tuple[str, ...]
    reason: str  #: why figures are missing.
    run_ids: tuple[int, ...]  #: ids of the runs.

    @property
    def label(self) -> str:
        """The model, with the settings that distinguish its row."""
        if self.condition:
            return f"{self.model} ({self.condition})"
        return self.model

    @property
    def intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """Intervals of cost and score; None without an end."""
        ends = ((self.cost_low, self.cost_high), (self.ci_low, self.ci_high))
        return tuple(
            None if low is None or high is None else (low, high) for low, high in ends
        )


@dataclass(frozen=True)
class FrontierReport(Result):
    """Models by score and cost, of each benchmark the better score first."""

    DRAWN_BY = "warehouse.analysis.frontier.charts:frontier_pictures"

    target: str  #: as given.
    unit: str  #: of costs, in words.
    higher_is_better: bool  #: direction of the scores of each benchmark.
    rows: tuple[FrontierRow, ...]
    sentences: tuple[str, ...]  #: what is known, one for each benchmark.
    prices: str  #: where the prices of ``cost_priced`` came from, with the sha256; empty without.
    notes: tuple[str, ...]  #: what was left out, and why.
    #: benchmarks whose scores lie between 0 and 1: people read them in percent.
    shares: tuple[str, ...] = ()

    @property
    def one_line(self) -> str:
        return " ".join(self.sentences)

    @property
    def cost_column(self) -> str:
        """The heading of what an answer costs, with its unit."""
        if self.unit in _COUNTED:
            return f"{self.unit} an answer"
        return f"cost, {self.unit}"

    def unit_of(self, rows: Sequence[FrontierRow]) -> Unit:
        """The unit of the scores of one group."""
        return Unit.of(
            (row.standard_error for row in rows),
            in_percent=rows[0].benchmark in self.shares,
        )

    def view(self, *, verbose: bool = False) -> View:
        """Who is on the frontier, by name, with scores and costs; with ``verbose`` every
        column and what it means."""
        if not verbose:
            return self._brief()
        parts: list[str | Table | TableNote]
        if self.prices:
            parts = [self.prices]
        else:
            parts = []
        for sentence, rows in zip(self.sentences, self.groups(), strict=True):
            first = rows[0]
            unit = self.unit_of(rows)
            models = Counter(row.model for row in rows)
            of = " ".join(filter(None, (first.benchmark, first.split)))
            head = (
                f"{of} by {first.metric} ({direction(self.higher_is_better)}) and "
                f"{first.cost_metric}"
            )
            cells = [
                {"model": row.label if models[row.model] > 1 else row.model}
                | _cells(row, unit, self.cost_column)
                for row in rows
            ]
            hidden = (*_HIDDEN, level_column(first.level))
            table = Table.of(
                cells, hide_empty=hidden, counts=("no cost",), minor=_MINOR
            )
            if parts:
                parts.append("")
            parts += [sentence, "", head, table]
        parts += legend(_LEGEND | {self.cost_column: "mean cost of an answer"})
        flags = chain.from_iterable(row.flags for row in self.rows)
        parts += [TableNote(line, "flags") for line in meanings(flags)]
        return View(tuple(parts), self.notes)

    def _brief(self) -> View:
        """Who is on the frontier, and what is known of the others."""
        parts: list[str | Table | TableNote] = []
        if self.prices:
            parts += [self.prices, ""]
        for sentence, rows in zip(self.sentences, self.groups(), strict=True):
            if parts and parts[-1] != "":
                parts.append("")
            models = Counter(row.model for row in rows)
            names = []
            for row in rows:
                names.append(row.label if models[row.model] > 1 else row.model)
            unit, cost = self.unit_of(rows), self.cost_column
            cells = []
            for name, row in zip(names, rows, strict=True):
                cells.append({"model": name} | _brief_cells(row, unit, cost))
            head = _on_frontier(rows, names)
            table = Table.of(
                cells, hide_empty=("beaten by", "no cost"), counts=("no cost",)
            )
            # what was asked beside: whether one is as good for less
            beside = sentence.partition(_ON)[2]
            parts += [visible(line) for line in (head, beside) if line]
            parts += ["", table]
        flags = chain.from_iterable(row.flags for row in self.rows)
        lines = [line for line in meanings(flags) if line.split(":")[0] in _TELLING]
        return View((*parts, *map(TableNote, lines)), self.notes)

    def groups(self) -> list[list[FrontierRow]]:
        """The rows that are held against each other."""
        return [[*rows] for _, rows in groupby(self.rows, key=lambda row: row.group)]


_HIDDEN = (
    *(
        "condition",
        "cost interval",
        "per solved",
        "solved interval",
        "stable",
        "may be",
        "beaten by",
        "prompts",
    ),
    "flags",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    "solved interval",
    "prompts",
    "stable",
    "cost interval",
    "per solved",
    "flags",
)
_LEGEND = {
    "frontier": "no other row is as good and as cheap, and better in one of them",
    "stable": (
        "how often that holds when prompts are drawn again; no confidence: near a tie "
        "it is about one half"
    ),
    "may be": (
        "not shown to be off the frontier, all rows together; nor shown to be on it"
    ),
    "beaten by": "the best row that is as good and as cheap; in brackets: not shown",
    "per solved": "spent for each prompt that was solved, failures paid for as well",
    "no cost": "prompts with a score and no cost, which no figure here counts",
}


#: Units that are counted: a heading names them.
_COUNTED = ("tokens", "calls")
#: Ends what the sentence of a benchmark says of how many rows there are.
_ON = " may be. "
#: Models that a sentence names.
_NAMED = 5
#: Flags that change what a reader does.
_TELLING = ("skew_gate", "missing_cost", "published")


def _on_frontier(rows: Sequence[FrontierRow], names: Sequence[str]) -> str:
    """Which rows are on the frontier, and which others may be."""
    of = " ".join(filter(None, (rows[0].benchmark, rows[0].split)))
    on, may_be = [], []
    for name, row in zip(names, rows, strict=True):
        if row.on_frontier:
            on.append(name)
        elif row.in_frontier_set:
            may_be.append(name)
    if not on:
        return (
            f"{of}: no row has a score and a cost by which it could be on the frontier."
        )
    said = f"{of}: nobody is as good for less, or better for as little, as {some_of(on, _NAMED)}"
    if may_be:
        said += f"; that {some_of(may_be, _NAMED)} is beaten is not shown"
    return f"{said}."


def _brief_cells(row: FrontierRow, unit: Unit, cost: str) -> dict[str, Any]:
    beaten = row.excluded_by or ""
    if not beaten and row.dominated_by:
        beaten = f"({row.dominated_by})"
    return {
        "score": unit.figure(row.estimate),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.estimate),
        cost: small(row.mean_cost),
        "frontier": "yes" if row.on_frontier else "",
        "beaten by": beaten,
        "no cost": row.n_missing_cost,
    }


def _cells(row: FrontierRow, unit: Unit, cost: str) -> dict[str, Any]:
    if row.excluded_by or not row.dominated_by:
        beaten = row.dominated_by
    else:
        beaten = f"({row.dominated_by})"
    frontier = ""
    if row.on_frontier:
        frontier = "yes"
    return {
        "score": unit.figure(row.estimate),
        level_column(row.level): unit.ends(row.ci_low, row.ci_high, row.estimate),
        cost: small(row.mean_cost),
        "cost interval": small_interval(row.cost_low, row.cost_high, row.mean_cost),
        "per solved": small(row.cost_per_solved),
        "solved interval": small_interval(
            row.solved_low, row.solved_high, row.cost_per_solved
        ),
        "frontier": frontier,
        "stable": percentage(row.p_on_frontier),
        "may be": {True: "yes", False: "no", None: ""}[row.in_frontier_set],
        "beaten by": row.excluded_by or beaten,
        "prompts": row.n_prompts or None,
        "no cost": row.n_missing_cost,
        "flags": row.flags,
    }


def against(row: FrontierRow, best: FrontierRow, claims: str) -> str:
    """One sentence on a row and the best one: difference of scores, and how many times
    cheaper."""
    if abs(best.estimate) <= 1:
        scale, unit = (100, "points")
    else:
        scale, unit = (1, row.metric)
    if scale == 100:
        digits = 1
    else:
        digits = decimals([best.standard_error])
    words = f"{fixed((row.difference or 0) * scale, digits, sign=True)} {unit}"
    if row.difference_low is not None and row.difference_high is not None:
        words += (
            f" [{fixed(row.difference_low * scale, digits)}, "
            f"{fixed(row.difference_high * scale, digits)}]"
        )
    times = None
    if row.cost_ratio:
        times = 1 / row.cost_ratio
    less = "for less"
    if times is not None:
        less = f"for {times:.3g} × less"
    if row.ratio_low and row.ratio_high:
        less += f" [{1 / row.ratio_high:.3g}, {1 / row.ratio_low:.3g}]"
    return f"{row.label} {claims} {best.label} ({words}) {less}"


def count_in_words(rows: Sequence[FrontierRow]) -> str:
    """How many stand where, for a sentence."""
    tested = [row for row in rows if row.in_frontier_set is not None]
    may = ""
    if len(tested) > 1:
        n_may = sum(bool(row.in_frontier_set) for row in tested)
        may = f"; {n_may} of {len(tested)} may be"
    return (
        f"{sum(row.on_frontier for row in rows)} of {len(rows)} rows are on the "
        f"frontier{may}"
    )
