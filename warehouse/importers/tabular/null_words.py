"""Texts and numbers that stand where a value is missing (``N/A``, -1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from warehouse.importers.tabular.columns import number_of, text_of


@dataclass(frozen=True)
class NullWords:
    """Texts and numbers that mean null.

    ``texts`` are compared with texts as they stand; ``numbers`` with whatever is that
    number, also as text (-1 is ``-1.0``), ``written`` (numbers that were given as text)
    with numbers only: ids such as ``01`` are no 1.
    """

    texts: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()
    written: frozenset[float] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.texts or self.numbers)

    def holds(self, value: Any) -> bool:
        """True if a value means null."""
        if text_of(value) in self.texts:
            return True
        if isinstance(value, str):
            return bool(self.numbers) and number_of(value) in self.numbers
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return value in self.numbers or value in self.written


#: Nothing means null.
NO_NULLS = NullWords()


def null_words(values: Iterable[Any]) -> NullWords:
    """The words of a list of texts and numbers."""
    texts: set[str] = set()
    numbers: set[float] = set()
    written: set[float] = set()
    for value in values:
        number = number_of(value)
        texts.add(str(text_of(value)))
        if not isinstance(number, int | float) or isinstance(value, bool):
            continue
        if isinstance(value, str):
            written.add(float(number))
        else:
            numbers.add(float(number))
    return NullWords(frozenset(texts), frozenset(numbers), frozenset(written))
