"""Columns of a table as they are: values, numbers, uniqueness, and what they look
like."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from warehouse.importers.tabular.columns import Unfit, number_of
from warehouse.importers.tabular.score_values import (
    NULL_WORDS,
    PERCENT,
    ScoreValues,
    plain,
)

#: Signs around a number of a leaderboard, those of LaTeX among them.
_SIGNS = r"[\s*†‡^_`~${}]*"
#: Such a number, with an error or ends of an interval behind it.
_MARKED = (
    r"[^\w.+()-]*(?:(?:textbf|underline|mathbf)\{)?"
    r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    rf"{_SIGNS}(?:(?:\\pm|[±+(])[\s\d.,/+±$-]+\)?)?{_SIGNS}"
)


@dataclass
class ColumnProfile:
    """A column of a table, as its first rows show it."""

    name: str  #: what it is called; ``path`` is how a mapping names it.
    path: str
    rows: int  #: how many rows were looked at; ``nulls`` of them have no value.
    nulls: int
    values: list[Any]  #: the distinct values, nulls left out.
    #: names of the objects that it lies in, outermost first.
    parents: tuple[str, ...] = ()
    #: for each row the number of its value, -1 where it has none; shape (rows,).
    codes: np.ndarray[Any, np.dtype[np.int64]] = field(
        default_factory=lambda: np.zeros(0, np.int64)
    )

    @cached_property
    def kind(self) -> str:
        """The kind of its values, in a word or two."""
        if not self.values:
            return "empty"
        if all(isinstance(value, list | dict) for value in self.values):
            if isinstance(self.values[0], list):
                return "list"
            return "object"
        if all(isinstance(value, bool) for value in self.values):
            return "true/false"
        scores = self.scores
        if scores.texts:
            if scores.numbers:
                return "mixed"
            return "text"
        if scores.is_truth:
            return "0/1"
        return "number"

    @cached_property
    def is_counted(self) -> bool:
        """True if the values are whole numbers one after the other, in their order, as
        ids and numbers of rows are; False where there are none."""
        texts = [str(value) for value in self.values]
        if not texts or not all(text.isascii() and text.isdigit() for text in texts):
            return False
        numbers = [int(text) for text in texts]
        return numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    @cached_property
    def scores(self) -> ScoreValues:
        """The values as if they were scores."""
        scores = ScoreValues()
        pairs = zip(self.values, self.parsed, strict=True)
        scores.learn_parsed(pair for pair in pairs if pair[0] != "")
        return scores

    @cached_property
    def parsed(self) -> list[int | float | None | Unfit]:
        """Each of the values as a number, where it is one."""
        return [number_of(value) for value in self.values]

    @cached_property
    def by_row(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The number of each row, words such as ``False`` too; NaN where there is none;
        shape (rows,)."""
        known = [n if isinstance(n, int | float) else np.nan for n in self.parsed]
        numbers: np.ndarray[Any, Any] = np.append(np.array(known, float), np.nan)
        return np.asarray(numbers[self.codes])

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the values into numbers, and what they do in
        words; nothing where they are numbers, or none at all."""
        keys, meaning = self.scores.reading(delimiter)
        if not keys and self._marked:
            nulls = [text for text in self.values if plain(str(text)) in NULL_WORDS]
            keys = ({"null": nulls} if nulls else {}) | {
                "pattern": r"[+-]?\d[\d,]*\.?\d*",
                "decimal": ".",
            }
            meaning = "commas part thousands; marks around numbers are left out"
        return keys, meaning

    @cached_property
    def _marked(self) -> list[str]:
        """The numbers, where values are written as in leaderboards: ``**86.4**``,
        ``86.4 ± 0.3``, ``1,287``."""
        if not any(isinstance(number, Unfit) for number in self.parsed):
            return []
        texts = [
            text
            for value in self.values
            if plain(text := str(value)) not in {"", *NULL_WORDS}
        ]
        found = [
            match for text in texts if (match := re.fullmatch(_MARKED, text.strip()))
        ]
        is_marked = len(found) == len(texts) and any(
            isinstance(number_of(text), Unfit) for text in texts
        )
        if is_marked:
            return [match[1].replace(",", "") for match in found]
        return []

    @cached_property
    def is_percent(self) -> bool:
        """True if all values are texts like ``85.2 %``, but for those that stand for a
        missing one."""
        texts = [value.strip() for value in self.values if isinstance(value, str)]
        filled = [text for text in texts if text and plain(text) not in NULL_WORDS]
        return (
            len(texts) == len(self.values)
            and bool(filled)
            and all(map(PERCENT.fullmatch, filled))
        )

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers."""
        numbers = self.parsed
        if self._marked:
            numbers = [number_of(text) for text in self._marked]
        return [float(number) for number in numbers if isinstance(number, int | float)]

    @property
    def coverage(self) -> float:
        """Share of the rows that have a value."""
        if self.rows:
            return 1 - self.nulls / self.rows
        return 0.0

    @property
    def is_number(self) -> bool:
        """True if all of its values are numbers."""
        scores = self.scores
        return scores.numbers and not scores.texts

    @property
    def is_figures(self) -> bool:
        """True if all of its values are numbers, percentages or words for a missing
        one, as in leaderboards."""
        scores = self.scores
        are_numbers = scores.numbers and all(
            plain(text) in NULL_WORDS for text in scores.texts
        )
        return self.is_percent or are_numbers or bool(self._marked)

    @property
    def depth(self) -> int:
        """Objects of the record that it lies in; what lies beside the record counts as
        deeper than what is in it."""
        return len(self.parents) + self.path.startswith("^")

    @property
    def is_unique(self) -> bool:
        """True if every row has a value of its own."""
        return len(self.values) == self.rows > 0


def column_of_values(values: Iterable[Any]) -> ColumnProfile:
    """Values of several columns, or a few of one, as a column."""
    return ColumnProfile("", "", 0, 0, list(values))
