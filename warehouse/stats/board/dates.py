"""Dates that are none, and dates that two columns tell apart (B14, §25.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations

from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.table import Board

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].*)?")
_FEWEST, _CLOSE, _DAYS = 8, 0.9, 1
#: Share of the rows beyond which dates that are none are written in another way.
_FORMAT = 0.1


def date_findings(board: Board, *, as_of: date | None = None) -> Iterator[Finding]:
    """B14 of each column of dates.

    Args:
        as_of: when the file was written; None: nobody says it.
    """
    columns: dict[str, list[date | None]] = {}
    for name, texts in board.texts.items():
        n_filled = sum(bool(text) for text in texts)
        n_dates = sum(_DATE.fullmatch(text) is not None for text in texts)
        if not n_dates or 2 * n_dates < n_filled:
            continue
        columns[name] = [_date_of(text) for text in texts]
        yield from _impossible(name, texts, columns[name], as_of)
    for one, other in combinations(columns, 2):
        yield from _apart(one, columns[one], other, columns[other])


def _date_of(text: str) -> date | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def _impossible(
    name: str, texts: Sequence[str], dates: Sequence[date | None], as_of: date | None
) -> Iterator[Finding]:
    no_dates = [
        row
        for row, text in enumerate(texts)
        if _DATE.fullmatch(text) and dates[row] is None
    ]
    if len(no_dates) > max(1, _FORMAT * len(texts)):
        words = f"{name} holds what is no date of the calendar: written in another way?"
        yield Finding(CHECK, "B14", tuple(no_dates), name, words, float(len(no_dates)))
        no_dates = []
    for row, (text, day) in enumerate(zip(texts, dates, strict=True)):
        if row in no_dates:
            grade = WRONG
            if "-00" in text:  # a day, or a month, that nobody knows
                grade = CHECK
            words = f"{name} {{printed}} is no date of the calendar"
            yield Finding(grade, "B14", (row,), name, words, 1.0)
        elif day is not None and as_of is not None and day > as_of:
            words = f"{name} {{printed}} is later than the file, {as_of.isoformat()}"
            score = float((day - as_of).days)
            yield Finding(WRONG, "B14", (row,), name, words, score)


def _apart(
    one: str, first: Sequence[date | None], other: str, second: Sequence[date | None]
) -> Iterator[Finding]:
    days = {}
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is not None and b is not None:
            days[row] = abs((a - b).days)
    n_close = sum(apart <= _DAYS for apart in days.values())
    if len(days) < _FEWEST or n_close < _CLOSE * len(days):
        return
    for row, apart in days.items():
        if apart > _DAYS:
            words = (
                f"{one} {{printed}} and {other} are {apart} days apart; at most one in "
                f"{n_close} of {len(days)} rows"
            )
            yield Finding(CHECK, "B14", (row,), one, words, float(apart))
