"""Scores written as words, told by the values of a whole column."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.columns import Column, Unfit, encode, number_of, text_of, to_number

_RIGHT = frozenset("yes y correct right pass passed success ok".split())
_WRONG = frozenset("no n incorrect wrong fail failed failure".split())
#: How 1 and 0 are written among such words.
_NUMBERS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "true": 1, "false": 0, "True": 1, "False": 0, "TRUE": 1, "FALSE": 0}
#: Texts that stand for a missing score.
NULL_WORDS = frozenset({"na", "n/a", "#n/a", "null", "none", "-", "--", "?", "missing"})
PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_COMMA = re.compile(r"[+-]?\d+,\d+")
#: Distinct texts that are remembered; a column with more is no column of scores.
_MOST = 32


@dataclass
class ScoreValues:
    """The values of one metric, as far as they decide how to read it.

    Attributes:
        binary: every number so far is 0 or 1.
        numbers: whether there was any number.
        texts: distinct values that are no numbers, as they stand, at most 33 of them.
    """

    binary: bool = True
    numbers: bool = False
    texts: dict[str, None] = field(default_factory=dict)

    def learn(self, column: Column, size: int) -> None:
        """Take in some values; nulls, NaN and empty texts tell nothing."""
        array = _numbers(column, size)
        if array is not None:
            self._take_numbers(array)
        else:
            self.learn_values(encode(column, size)[1])

    def learn_values(self, values: Iterable[Any]) -> None:
        """Take in distinct values, one by one."""
        for value in values:
            number = number_of(value)
            if isinstance(number, Unfit):
                if len(self.texts) <= _MOST:
                    self.texts[str(text_of(value))] = None
            elif number is not None:
                self.numbers = True
                self.binary &= number in (0, 1)

    @property
    def is_truth(self) -> bool:
        """Whether all values are 0 or 1, true or false, or words for them."""
        words = {text for text in self.texts if plain(text) not in NULL_WORDS}
        return self.binary and _are_words(words) and (self.numbers or bool(words))

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the texts into numbers, and what they do in words.

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
            meaning = ", ".join(filter(None, [f"{' and '.join(map(repr, nulls))} = missing", meaning]))
        return keys, meaning

    def _take_numbers(self, array: pa.Array) -> None:
        finite = array.filter(pc.is_finite(array))
        if len(finite):
            self.numbers = True
            self.binary &= bool(pc.all(pc.is_in(finite, pa.array([0.0, 1.0]))).as_py())


def plain(text: str) -> str:
    """A word as it is compared."""
    return text.strip().lower()


def _keys(words: list[str], values: ScoreValues, delimiter: str) -> tuple[dict[str, Any], str]:
    if not words or len(values.texts) > _MOST:
        return {}, ""
    if values.binary and _are_words(words):
        known = {word: int(plain(word) in _RIGHT) for word in sorted(words)}
        known |= _NUMBERS if values.numbers else {}
        meaning = ", ".join(f"{word!r} = {known[word]}" for word in sorted(words))
        return {"values": known}, meaning
    if not values.numbers and all(map(PERCENT.fullmatch, map(plain, words))):
        decimal = {"decimal": ","} if any("," in word for word in words) else {}
        return {"pattern": "[^%]+", **decimal, "scale": 0.01}, "percent are divided by 100"
    if delimiter != "," and all(map(_COMMA.fullmatch, map(plain, words))):
        return {"decimal": ","}, "decimal commas"
    return {}, ""


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
    return None if converted.faults else converted.array
