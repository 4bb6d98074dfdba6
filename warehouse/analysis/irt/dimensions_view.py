"""How many dimensions the answers have: rows, the sentences and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.irt.results import IrtResult
from warehouse.analysis.results import Row
from warehouse.stats.items.dimension_choice import DimensionError
from warehouse.tables.view import Table, View
from warehouse.tables.words import counted, listed, number

#: Level at which an estimate has to be nearer to be called so.
_LEVEL = 0.95


@dataclass(frozen=True)
class DimensionRow(Row, DimensionError):
    """A number of dimensions and of prompts, on models left out; its columns are the
    fields of :class:`~warehouse.stats.items.dimension_choice.DimensionError`."""


@dataclass(frozen=True)
class DimensionsReport(IrtResult):
    """How many dimensions the answers have, and what estimates of scores by them are
    worth."""

    n_groups: int  #: models, all settings of one being one.
    chosen: int  #: the fewest dimensions within one standard error of the least loss.
    rows: tuple[DimensionRow, ...]  #: one for each number of dimensions and of prompts.

    def view(self, *, verbose: bool = False) -> View:
        """How many abilities the answers show, and what estimates of scores by them
        are worth.

        Args:
            verbose: losses with their errors, and what the columns mean.
        """
        own = [row for row in self.rows if row.chosen]
        if not verbose:
            head = (_found(self), *_worth(own, self.n_groups), f"{self.one_line}.")
            return View((*head, "", _brief(self, own), "", _SHORT), self.notes)
        sentences = [
            f"{self.one_line}, on models left out ({self.n_groups} in 5 folds).",
            _fewest(self),
            _gains("p-IRT", own, self.n_groups),
            _gains("gp-IRT", own, self.n_groups),
        ]
        return View((*sentences, "", _dimensions(self, own), "", _LEGEND), self.notes)


_LEGEND = (
    "log loss: of hidden answers, nats a draw; behind: less the least, with its error "
    "over models. off at m: points of 100 that a score from m random prompts is off: "
    "p-IRT by each number of dimensions, then gp-IRT by the chosen one and the plain "
    "mean of the same prompts."
)


#: What the columns mean of the table that is read first.
_SHORT = (
    "behind: how much worse answers of models left out are predicted, with its standard "
    "error; off at m: points of 100 that a score from m random prompts is off"
)


def _found(report: DimensionsReport) -> str:
    """How many abilities there are, and how sure that is."""
    own = f"{report.n_groups} models left out in turn"
    if report.chosen == 1:
        best = min(report.rows, key=lambda row: row.log_loss).n_dimensions
        better = "no better"
        if best != 1:
            better = "not clearly better"
        return (
            "The answers show one ability: more of them predict the answers of models "
            f"{better} ({own})."
        )
    single = next((row for row in report.rows if row.n_dimensions == 1), None)
    said = f"The answers show {report.chosen} abilities"
    if single is None:
        return f"{said}, by how well answers are predicted ({own})."
    return (
        f"{said}: one alone predicts answers worse, by {single.behind:.4f} nats an "
        f"answer (standard error {single.behind_standard_error:.4f}; {own})."
    )


def _worth(rows: Sequence[DimensionRow], n_groups: int) -> list[str]:
    """Where estimates by abilities are nearer to the score than the plain mean."""
    from warehouse.stats.core.quantiles import t_quantile  # takes a while

    needed = t_quantile(_LEVEL, n_groups - 1)
    nearer = []
    for row in rows:
        if row.gp_irt_gain > needed * row.gp_irt_gain_standard_error:
            nearer.append(f"{row.n_prompts} ({100 * row.gp_irt_gain:.1f} points)")
    if nearer:
        return [
            "A score from few random prompts is nearer to that of all by gp-IRT than by "
            f"their mean: of {listed(nearer)}."
        ]
    return [
        "No estimate by gp-IRT is shown to be nearer to the score than the mean of the "
        "same prompts."
    ]


def _brief(report: DimensionsReport, own: Sequence[DimensionRow]) -> Table:
    """The table without the losses themselves."""
    whole = _dimensions(report, own)
    first = {row.n_dimensions: row for row in report.rows}.values()
    behind: list[str | None] = []
    for row in first:
        behind.append(f"{row.behind:.4f} ({row.behind_standard_error:.4f})")
    at = whole.columns.index("behind")
    rows = []
    for line, cells in enumerate(whole.rows):
        said = behind[line] if line < len(behind) else None
        rows.append((*cells[:at], said, *cells[at + 1 :]))
    table = replace(whole, rows=tuple(rows), hide_empty=())
    return table.without(("log loss", "se", "its se"))


def _dimensions(report: DimensionsReport, own: Sequence[DimensionRow]) -> Table:
    """A line for each number of dimensions, and two for the estimates by those that
    were chosen."""
    numbers = dict.fromkeys(row.n_dimensions for row in report.rows)
    lines = []
    for n_dimensions in numbers:
        own_rows = [row for row in report.rows if row.n_dimensions == n_dimensions]
        lines.append(_dimension(own_rows))
    for label, name in (
        (f"gp-IRT ({report.chosen})", "gp_irt_error"),
        ("plain mean", "mean_error"),
    ):
        lines.append(
            dict.fromkeys(lines[0]) | {"dimensions": label} | _errors(own, name)
        )
    return Table.of(lines, minor=("se",))


def _dimension(rows: Sequence[DimensionRow]) -> dict[str, Any]:
    first = rows[0]
    return {
        "dimensions": f"{first.n_dimensions}{' *' * first.chosen}",
        "log loss": number(first.log_loss, 4),
        "se": number(first.standard_error, 4),
        "behind": number(first.behind, 4),
        "its se": number(first.behind_standard_error, 4),
        **_errors(rows, "p_irt_error"),
    }


def _errors(rows: Sequence[DimensionRow], name: str) -> dict[str, Any]:
    return {
        f"off at {row.n_prompts}": number(100 * getattr(row, name), 2) for row in rows
    }


def _fewest(report: DimensionsReport) -> str:
    """The chosen number, and how far one dimension is behind."""
    by_number = {row.n_dimensions: row for row in report.rows}
    best = min(report.rows, key=lambda row: row.log_loss).n_dimensions
    single = by_number.get(1)
    why = "the least log loss"
    if report.chosen != best:
        why = (
            f"the fewest within a standard error of the least log loss, that of {best}"
        )
    if single is not None and not single.chosen:
        why += (
            f"; one dimension is {single.behind:.4f} behind (se "
            f"{single.behind_standard_error:.4f})"
        )
    return f"{counted(report.chosen, 'dimension')} (*): {why}."


def _gains(estimate: str, rows: Sequence[DimensionRow], n_groups: int) -> str:
    """At which numbers of prompts an estimate is nearer to the score than the plain
    mean."""
    from warehouse.stats.core.quantiles import t_quantile  # takes a while

    name = f"{estimate.replace('-', '_').lower()}_gain"
    found: dict[str, list[str]] = {}
    for row in rows:
        gain = getattr(row, name)
        error = getattr(row, f"{name}_standard_error")
        clear = abs(gain) > t_quantile(_LEVEL, n_groups - 1) * error
        if not clear:
            verdict = "cannot be told from it"
        elif gain > 0:
            verdict = "nearer than it"
        else:
            verdict = "farther off than it"
        at = f"{row.n_prompts} ({100 * gain:+.2f})"
        found.setdefault(verdict, []).append(at)
    parts = [f"{verdict} at {', '.join(at)}" for verdict, at in found.items()]
    return (
        f"{estimate} against the plain mean of the same prompts, points nearer to the "
        f"score: {'; '.join(parts)}."
    )
