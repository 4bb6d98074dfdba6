"""Tables of figures that others have worked out, a row per model, as a starting mapping takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.importers.tabular.plain_tables import Guess, plain_name
from warehouse.importers.tabular.profile import ColumnProfile, TableProfile
from warehouse.importers.tabular.score_words import PERCENT
from warehouse.importers.tabular.toml import inline_table, toml_text

#: Names of columns with errors, with numbers of prompts, and with what is no result.
_ERROR = re.compile(r"(.*_)?(std_?err(or)?|standard_error|se|sem)")
_SIZE = re.compile(r"n|count|size|(n|num|number_of)_(total|samples|prompts|examples|questions|instances)")
_SETTING = re.compile(r"(n_|num_|#_?)?(param|tokens|flops|layers|year|rank|release|context|size|column_\d).*")


@dataclass(frozen=True)
class Figures:
    """Which columns of a table are what.

    Attributes:
        model: names the rows.
        values: columns of figures: one for each benchmark, or for each metric if there are errors.
        error: standard errors of the first of them, or None.
        size: prompts behind it, or None.
        keys: of an expression that makes numbers of them.
    """

    model: ColumnProfile
    values: Sequence[ColumnProfile]
    error: ColumnProfile | None
    size: ColumnProfile | None
    keys: Mapping[str, Any]

    @property
    def is_wide(self) -> bool:
        """Whether every column of figures is a benchmark."""
        return self.error is None

    @property
    def metric(self) -> str:
        """What the figures are called."""
        return "score" if self.is_wide else self.values[0].name

    @property
    def columns(self) -> list[ColumnProfile]:
        """All of them."""
        return [column for column in (self.model, *self.values, self.error, self.size) if column is not None]

    def run(self) -> dict[str, str]:
        """Fields of a run and the path of each."""
        return {"model": "@row", "benchmark": "@column"} if self.is_wide else {"model": self.model.path}

    def matrix(self) -> Iterator[str]:
        """The section that makes a row of each cell."""
        if self.is_wide:
            yield "# A row per model, a column per benchmark (or metric): each cell becomes a figure."
            yield "[matrix]"
            yield f"label = {toml_text(self.model.name)}  # the column that names the models"
            names = "|".join(re.escape(column.name) for column in self.values)
            yield f"cells = {toml_text(names)}  # the columns with figures"
            yield ""

    def published(self) -> Iterator[str]:
        """The section of the figures themselves."""
        yield "[[published]]  # figures that the table states; there are no scores of prompts behind them"
        if self.is_wide:
            yield from ('metric = "score"', f"value = {self._value('@cell')}", "")
            return
        first, *others = self.values
        yield f"metric = {toml_text(first.name)}"
        yield f"value = {self._value(first.path)}"
        for name, column in (("standard_error", self.error), ("n", self.size)):
            if column is not None:
                yield f"{name} = {toml_text(column.path)}"
        yield ""
        for column in others:
            yield f"# [[published]]  # if {toml_text(column.name)} is a figure too"
            yield from (f"# metric = {toml_text(column.name)}", f"# value = {toml_text(column.path)}", "")

    def _value(self, path: str) -> str:
        return inline_table({"path": path} | dict(self.keys)) if self.keys else toml_text(path)


def figures_of(table: TableProfile, guessed: Guess) -> Figures | None:
    """The columns of a table of figures; None where its rows are prompts or cannot be told from them."""
    by_name = {column.name: column for column in table.columns}
    free = {*guessed.unused, *(name for _, name in guessed.scores)}
    known = [(plain_name(c.name), c) for c in table.columns if c.name in free and (c.is_number or _keys([c], table))]
    error = next((column for name, column in known if _ERROR.fullmatch(name)), None)
    label = guessed.run.get("model") or (table.columns[0].name if error is not None else "")
    model = by_name.get(label)
    if model is None or model.kind != "text" or not model.is_unique or model.rows < 2 or {*guessed.sample} - {"target"}:
        return None
    size = next((column for name, column in known if _SIZE.fullmatch(name)), None)
    values = [c for name, c in known if c is not size and not _ERROR.fullmatch(name) and not _SETTING.fullmatch(name)]
    if error is None:  # where some are in percent, other numbers are times and prices
        values = [column for column in values if "scale" in _keys([column], table)] or values
    if not values or (guessed.scores and error is None) or (error is None and "benchmark" in guessed.run):
        return None
    return Figures(model, values, error, size, _keys(values if error is None else values[:1], table))


def _keys(columns: Sequence[ColumnProfile], table: TableProfile) -> dict[str, Any]:
    """What turns the values of columns into numbers; nothing where they are numbers."""
    values = [value for column in columns for value in column.values]
    if all(isinstance(value, str) and PERCENT.fullmatch(value.strip()) for value in values):
        values = values[:8]  # of many different texts nothing is said
    return ColumnProfile("", "", 0, 0, values).scores.reading(table.delimiter)[0]
