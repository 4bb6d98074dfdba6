"""What the values of a column look like: texts, times, verdicts."""

from __future__ import annotations

import re
from typing import Any

from warehouse.importers.tabular.column_names import are_models, words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.verdict_words import (
    numbers_of_letters,
    numbers_of_words,
)

#: Characters of what may be a name or an id; of more it is a text.
_NAME = 80


#: Words in names of columns that hold times, and seconds from 1970 to 2000 and to 2100.
_WORDS_OF_TIMES = frozenset(
    "time timestamp tstamp ts date created updated started ended at start end".split()
)
_FIRST, _LAST = 946_684_800, 4_102_444_800
#: A day, with a time behind it or not.
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]|$)|\d\d?[./]\d\d?[./]\d{4}")


def shown_text(value: Any) -> str:
    """A value as it is compared with others."""
    return str(text_of(value))


def is_long(column: ColumnProfile) -> bool:
    """True if values are texts rather than names."""
    texts = [shown_text(value) for value in column.values]
    longest = max(map(len, texts), default=0)
    has_sentences = sum(len(text.split()) > 3 for text in texts) * 2 > len(texts)
    return longest > _NAME or has_sentences


#: What ids, paths and hashes are written with: ASCII without a blank.
_CODE = re.compile(r"[\w.:/@+#=-]{12,}", re.ASCII)


def are_codes(column: ColumnProfile) -> bool:
    """True if values are ids, paths or hashes: long, without a blank, with digits."""
    texts = [shown_text(value) for value in column.values]
    with_digits = sum(any(map(str.isdigit, text)) for text in texts)
    return all(map(_CODE.fullmatch, texts)) and 2 * with_digits > len(texts)


def are_times(column: ColumnProfile) -> bool:
    """True if values are days or times, which name no prompt."""
    if column.is_number:
        is_called = bool({*words_of(column.name)} & _WORDS_OF_TIMES)
        return is_called and all(map(_is_clock, column.numbers))
    return all(_TIME.match(str(value)) for value in column.values)


def _is_clock(number: float) -> bool:
    """True if a number is a time of this century since 1970, in seconds, thousandths,
    millionths or billionths of one."""
    return any(_FIRST <= number / unit < _LAST for unit in (1, 1e3, 1e6, 1e9))


def is_verdict(column: ColumnProfile) -> bool:
    """True if values are right or wrong, as numbers or in words."""
    if len(column.values) < 2:
        return False
    if column.kind == "true/false" or column.scores.is_truth:
        return True
    words = numbers_of_words(column.values) or numbers_of_letters(column.values)
    return bool(words)


def names_several_models(column: ColumnProfile) -> bool:
    """True if a column is called as models are, and holds several."""
    texts = [str(value) for value in column.values]
    is_called = "model" in words_of(column.name)
    are_several = 1 < len(texts) <= column.rows // 2
    return is_called and are_several and not is_long(column) and are_models(texts)
