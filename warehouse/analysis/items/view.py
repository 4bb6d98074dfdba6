"""The prompts of a benchmark over all models: rows, the sentence, the table, and what
its columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Part, Table, View, legend
from warehouse.tables.words import number, p_value


@dataclass(frozen=True)
class ItemRow(Row):
    """One prompt over all models."""

    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    #: models that answered it: every figure but those of the fit is over them.
    n_models: int
    #: mean over models: the higher, the easier (where higher is better).
    mean_score: float
    #: correlation with the rest of the benchmark that the fitted model implies: the
    #: figure to sort by, also with few models; None without a fit.
    r_implied: float | None
    #: Pearson's correlation of the prompt with the sum of the others over models; noise
    #: below 30 models. None where either is constant.
    r_corrected: float | None
    #: chance of such a correlation below 0, after Benjamini and Hochberg.
    q_negative: float | None
    negative: bool  #: it goes against the rest: q_negative at most .05.
    constant: bool  #: every model has the same score: it compares nobody.
    #: slope on the fitted abilities that may be negative, as with a wrong key, where a
    #: may not: logits per standard deviation of the models; None without a fit.
    free_discrimination: float | None
    #: it is significantly below 0 (false discovery rate .05): the prompt goes against
    #: the ability that the others measure, which sums of scores hide where such prompts
    #: are many.
    reversed: bool
    discrimination: float | None  #: a of the item response model; None without a fit.
    se_discrimination: float | None  #: its standard error, the models a sample.
    #: −d/a in standard deviations of the models' abilities; None without a fit.
    difficulty: float | None
    se_difficulty: float | None  #: its standard error.
    #: mean squared residual, 1 where the model fits: a ranking, no test.
    outfit: float | None
    same_text: int  #: other prompts of the benchmark with the same text.
    #: other prompts in its semantic cluster, of those that are stored; None where there
    #: are none (`warehouse text cluster`).
    near: int | None
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class ItemReport(Result):
    """The prompts of a benchmark, those that go most against the rest first."""

    DRAWN_BY = "warehouse.analysis.items.charts:item_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "prompt",
            "mean_score",
            "r_implied",
            "r_corrected",
            "q_negative",
            "difficulty",
            "text",
        ),
    )
    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    n_models: int  #: models; not every one need have answered every prompt.
    model: str  #: ``1pl`` or ``2pl``; empty without a fit.
    rows: tuple[ItemRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        negative = sum(row.negative for row in self.rows)
        constant = sum(row.constant for row in self.rows)
        against = sum(row.reversed for row in self.rows)
        fitted = ""
        if against:
            fitted = f", {against} against the fitted ability"
        copies = sum(row.same_text > 0 for row in self.rows)
        twice = ""
        if copies:
            twice = f", {copies} have the text of another"
        return (
            f"{self.benchmark} by {self.metric}: {len(self.rows)} prompts x "
            f"{self.n_models} models; {negative} go against the rest{fitted}, "
            f"{constant} have one score for all{twice}"
        )

    def view(self, *, verbose: bool = False, top: int = 20) -> View:
        """Prompts, those that go against the rest first.

        Args:
            verbose: with every column, and what each means.
            top: prompts in the table; 0 for all.
        """
        if top:
            shown = self.rows[:top]
        else:
            shown = self.rows
        notes = self.notes
        if len(shown) < len(self.rows):
            notes = (
                f"{len(self.rows) - len(shown)} more prompts: --top 0 has all",
                *notes,
            )
        return View(
            (
                self.one_line,
                "",
                *self._table(shown, verbose=verbose),
            ),
            notes,
        )

    def _table(self, rows: Sequence[ItemRow], *, verbose: bool) -> list[Part]:
        """The prompts; in brief without what only says how a figure was made."""
        table = _table(rows, self.n_models)
        if verbose:
            return [table, *legend(_LEGEND, are_terms=False)]
        said = {"r_c": _LEGEND["r_c"], "free a": _LEGEND["free a"]}
        return [table.without(_OF_FITS), *legend(said, are_terms=False)]


#: Columns that say how the model of item response fits.
_OF_FITS = ("r implied", "q negative", "a", "se", "outfit")
#: Columns in words.
_LEGEND = {
    "r implied": (
        "correlation with the other prompts that the item response model implies; "
        "sorted by it"
    ),
    "r_c": "correlation with the sum of the other prompts, over models",
    "q negative": "chance of an r_c so far below 0 if there were none, of a sum in which such prompts count in reverse"
    " (Benjamini and Hochberg over prompts)",
    "models": "that answered it, where not all did",
    "a": "how well the prompt tells able models from others",
    "free a": (
        "the same where it may be negative, of prompts that go against the fitted "
        "ability: a wrong key?"
    ),
    "difficulty": (
        "ability at which half of the models are right, in standard deviations of "
        "their abilities"
    ),
    "outfit": "mean squared residual of the model, about 1 where it fits",
}
#: Columns that are left out where no prompt has them.
_HIDDEN = (
    *(
        "models",
        "q negative",
        "r implied",
        "a",
        "free a",
        "difficulty",
        "se",
        "outfit",
        "copies",
        "near",
        "text",
    ),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("se", "id", "outfit", "a", "r implied")


def _table(rows: Sequence[ItemRow], n_models: int) -> Table:
    return Table.of(
        [_cells(row, n_models) for row in rows], hide_empty=_HIDDEN, minor=_MINOR
    )


def _cells(row: ItemRow, n_models: int) -> dict[str, Any]:
    models = None
    if row.n_models != n_models:
        models = row.n_models
    return {
        "prompt": row.prompt,
        "id": row.key,
        "models": models,
        "mean": number(row.mean_score, 3),
        "r implied": number(row.r_implied, 2),
        "r_c": number(row.r_corrected, 2),
        "q negative": p_value(row.q_negative) if row.negative else None,
        "a": number(row.discrimination, 2),
        "free a": number(row.free_discrimination, 2) if row.reversed else None,
        "difficulty": number(row.difficulty, 2),
        "se": number(row.se_difficulty, 2),
        "outfit": number(row.outfit, 2),
        "copies": row.same_text or None,
        "near": row.near or None,
        "text": row.text,
    }
