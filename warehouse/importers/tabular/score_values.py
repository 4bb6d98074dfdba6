"""Values of a column of scores: numbers, verdicts in words, percentages, and marks that
stand for no score."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.columns import (
    Column,
    Unfit,
    encode,
    number_of,
    text_of,
    to_number,
)

_RIGHT = frozenset("yes y t correct right pass passed success ok ✓ ✔ ✔️ ✅ ☑".split())
_WRONG = frozenset("no n f incorrect wrong fail failed failure ✗ ✘ ✖ ✖️ ❌ ☒".split())
#: Such words that a judge says of a response; classes of questions are called yes and
#: no, too.
VERDICTS = (_RIGHT | _WRONG) - {"yes", "y", "t", "no", "n", "f", "ok"}
#: How 1 and 0 are written among such words.
_NUMBERS = {
    "1": 1,
    "0": 0,
    "1.0": 1,
    "0.0": 0,
    "true": 1,
    "false": 0,
    "True": 1,
    "False": 0,
    "TRUE": 1,
    "FALSE": 0,
}
#: Texts that stand for a missing score.
NULL_WORDS = frozenset(
    {"na", "n/a", "#n/a", "null", "none", "-", "--", "–", "—", "?", "missing"}
)
PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_COMMA = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d+")
#: Distinct texts that are remembered; a column with more is no column of scores.
_MOST = 32
#: Numbers that often stand for no score.
_MARKS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0)


@dataclass
class ScoreValues:
    """The values of one metric, as far as they decide how to read it."""

    binary: bool = True  #: every number so far is 0 or 1.
    numbers: bool = False  #: whether there was any number.
    #: distinct values that are no numbers, as they stand, at most 33 of them; of
    #: numbers in words one of each form.
    forms: dict[object, str] = field(default_factory=dict)
    low: float = math.inf  #: the least number apart from marks, and the greatest.
    high: float = -math.inf
    #: numbers that may stand for no score.
    marks: set[float] = field(default_factory=set)

    def learn(self, column: Column, size: int) -> None:
        """Take in some values; nulls, NaN and empty texts tell nothing."""
        array = _numbers(column, size)
        if array is not None:
            self._take_numbers(array)
        else:
            self.learn_values(encode(column, size)[1])

    def learn_values(self, values: Iterable[Any]) -> None:
        """Take in distinct values, one by one."""
        self.learn_parsed((value, number_of(value)) for value in values)

    def learn_parsed(
        self, values: Iterable[tuple[Any, int | float | None | Unfit]]
    ) -> None:
        """Take in distinct values, each with the number that it is."""
        for value, number in values:
            if isinstance(number, Unfit):
                if len(self.forms) <= _MOST:
                    text = str(text_of(value))
                    self.forms.setdefault(_form(text), text)
            elif number is not None:
                self.numbers = True
                self.binary &= number in (0, 1)
                self._learn_ends(number, number)

    def _learn_ends(self, low: float, high: float) -> None:
        if low in _MARKS and low == high:
            self.marks.add(float(low))
        else:
            self.low, self.high = min(self.low, low), max(self.high, high)

    @property
    def texts(self) -> list[str]:
        """The values that are no numbers."""
        return [*self.forms.values()]

    def unread(self, delimiter: str) -> str | None:
        """A text like ``85 %`` that is a number to people, and none beside the plain
        numbers of this column."""
        if not self.numbers or self.reading(delimiter)[0]:
            return None
        return next((text for form, text in self.forms.items() if form != text), None)

    @property
    def is_marked(self) -> bool:
        """True if a -1 (-9, -99 …) stands beside numbers from 0: what judges write
        where they gave none. Beside 1 alone it is a loss beside a win."""
        return (
            bool(self.marks)
            and 0 <= self.low <= self.high
            and (self.low == 0 or self.high > 1)
        )

    @property
    def marked(self) -> str:
        """The farthest mark, and what it stands beside."""
        usual = f"{self.low:g} to {self.high:g}"
        return f"{min(self.marks):g} beside {usual}"

    @property
    def is_truth(self) -> bool:
        """True if all values are 0 or 1, true or false, or words for them."""
        words = {text for text in self.texts if plain(text) not in NULL_WORDS}
        return self.binary and _are_words(words) and (self.numbers or bool(words))

    @property
    def are_verdicts(self) -> bool:
        """True if all values are what a judge says of a response."""
        words = {plain(text) for text in self.texts} - NULL_WORDS
        return not self.numbers and bool(words) and words <= VERDICTS

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the texts into numbers, and what they do in
        words.

        Args:
            delimiter: what parts the cells; where it is a comma, ``0,5`` is no number.

        Returns:
            nothing at all where the values are numbers already, or no numbers at all.
        """
        nulls = sorted(text for text in self.texts if plain(text) in NULL_WORDS)
        words = [text for text in self.texts if text not in nulls]
        keys, meaning = _keys(words, self, delimiter)
        if words and not keys:
            return {}, ""
        if nulls:
            keys = {"null": nulls} | keys
            meaning = ", ".join(
                filter(None, [f"{' and '.join(map(repr, nulls))} = missing", meaning])
            )
        return keys, meaning

    def _take_numbers(self, array: pa.Array) -> None:
        finite = array.filter(pc.is_finite(array))
        if len(finite):
            self.numbers = True
            is_binary = pc.is_in(finite, pa.array([0.0, 1.0]))
            self.binary &= bool(pc.all(is_binary).as_py())
            are_marks = pc.is_in(finite, pa.array(_MARKS))
            self.marks.update(pc.unique(finite.filter(are_marks)).to_pylist())
            if len(others := finite.filter(pc.invert(are_marks))):
                self._learn_ends(*pc.min_max(others).as_py().values())


def plain(text: str) -> str:
    """A word as it is compared."""
    return text.strip().lower()


def _keys(
    words: list[str], values: ScoreValues, delimiter: str
) -> tuple[dict[str, Any], str]:
    if not words or len(values.forms) > _MOST:
        return {}, ""
    if values.binary and _are_words(words):
        numbers = {word: int(plain(word) in _RIGHT) for word in sorted(words)}
        numbers |= _NUMBERS if values.numbers else {}
        meanings = [f"{word!r} = {numbers[word]}" for word in sorted(words)]
        meaning = ", ".join(meanings)
        return {"values": numbers}, meaning
    if not values.numbers and all(map(PERCENT.fullmatch, map(plain, words))):
        decimal = {}
        if any("," in word for word in words):
            decimal = {"decimal": ","}
        return {
            "pattern": "[^%]+",
            **decimal,
            "scale": 0.01,
        }, "percent are divided by 100"
    if delimiter != "," and all(map(_COMMA.fullmatch, map(plain, words))):
        return {"decimal": ","}, "decimal commas"
    return {}, ""


def _form(text: str) -> object:
    """The form of all texts that are read as this one is; a text that is no
    number is alone."""
    word = plain(text)
    return next(
        ((form, "," in word) for form in (PERCENT, _COMMA) if form.fullmatch(word)),
        text,
    )


def _are_words(words: Iterable[str]) -> bool:
    return all(plain(word) in _RIGHT or plain(word) in _WRONG for word in words)


def _numbers(column: Column, size: int) -> pa.Array | None:
    """The column as numbers if it is an Arrow array of nothing else."""
    if not isinstance(column, pa.Array):
        return None
    if pa.types.is_string(column.type):
        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid:
            return None
    converted = to_number(column, size)
    if converted.faults:
        return None
    return converted.array
