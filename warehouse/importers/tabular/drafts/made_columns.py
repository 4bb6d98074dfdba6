"""Columns of numbers that others are made of: sums and means, differences, ends of
intervals, counts beside shares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from warehouse.importers.tabular.column_names import (
    are_benchmarks,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.runs import is_summary

#: Endings of the names of columns with the ends of an interval around a figure.
_ENDS = re.compile(r"(.+)_(lo|hi|low|high|lb|ub|[lu]cl|[lu]ci)")
#: Words of names of means of those columns that have the other words of the name.
_MEANS = frozenset("overall average avg mean aggregate aggregated summary all".split())
#: Rows that a table needs, before they say that a column is made of others.
FEWEST_ROWS = 3
#: Rows that are looked at for it, and columns from which on only names are.
_LOOKED_AT, MOST_COLUMNS = 1000, 60
#: Columns up to which each pair is tried.
_MOST_COMPARED = 15
#: How often what rounding takes a difference is at least, so that no chance makes it.
_FAR = 20


def numbers_in(column: ColumnProfile) -> list[float | None]:
    """The number in each of the first rows of a column; None where there is none."""
    codes = column.codes[:_LOOKED_AT].tolist()
    values = column.values
    known = {code: values[code] for code in {*codes} if 0 <= code < len(values)}
    numbers = {code: _number(value) for code, value in known.items()}
    return [numbers.get(code) for code in codes]


def numbers_of(table: TableProfile) -> dict[str, list[float | None]]:
    """The numbers in each column of a table, by its path."""
    return {own.path: numbers_in(own) for own in table.columns if own.is_number}


def _number(value: object) -> float | None:
    number = number_of(str(value).strip().removesuffix("%"))
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number)


def is_made_of(
    column: ColumnProfile,
    values: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> bool:
    """True if a column sums up the others, or is an end of an interval around one."""
    if is_summary(column.name):
        return True
    others = [other for other in values if other is not column]
    if _is_end(column, others, rows):
        return True
    if len(values) > MOST_COLUMNS:
        return False
    return any(
        _is_mean(column, group, rows) for group in _groups(column, others, values)
    )


def _groups(
    column: ColumnProfile,
    others: Sequence[ColumnProfile],
    values: Sequence[ColumnProfile],
) -> Iterator[list[ColumnProfile]]:
    """Columns that another may be the mean of: all others, those before or behind it,
    those of known benchmarks, those of its name (``arc_aggregate``, ``arc_de``)."""
    words = {*words_of(column.name)}
    if words & _MEANS:
        single = [c for c in others if not {*words_of(c.name)} & _MEANS]
        yield single
        yield [c for c in single if words - _MEANS <= {*words_of(c.name)}]
    place = [other is column for other in values].index(True)
    yield [*others]
    yield [*values[:place]]
    yield [*values[place + 1 :]]
    yield [other for other in others if are_benchmarks([other.name])]


def _is_mean(
    column: ColumnProfile,
    group: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> bool:
    """True if a column is the mean of others in each row that has all of them."""
    if len(group) < 2 or len(column.values) < 2:
        return False
    by_row = zip(rows[column.path], *(rows[other.path] for other in group), strict=True)
    full = [row for row in by_row if None not in row]
    if len({row[0] for row in full}) < FEWEST_ROWS:
        return False
    return all(rounds_to(sum(row[1:]) / len(group), row[0]) for row in full)


def named_means(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The columns that are called as a mean, and are that of the others."""
    called = [column for column in columns if is_summary(column.name)]
    others = [column for column in columns if column not in called]
    rows = {column.path: numbers_in(column) for column in columns} if called else {}
    return [column for column in called if _is_mean(column, others, rows)]


def summed_in(
    means: Sequence[ColumnProfile],
    kept: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> list[ColumnProfile]:
    """The columns of which another is the mean, where it is that of all."""
    if any(_is_mean(column, kept, rows) for column in means):
        return [*kept]
    return []


def differences_in(
    columns: Sequence[ColumnProfile], rows: dict[str, list[float | None]]
) -> list[ColumnProfile]:
    """The columns of figures that say how much another is above a third."""
    numbers = {
        own.path: own
        for own in columns
        if own.is_number and not own.parents and not own.is_counted
    }
    return [
        own
        for own in numbers.values()
        if _is_difference(own, [*numbers.values()], rows)
    ]


def _is_difference(
    column: ColumnProfile,
    values: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> bool:
    """True if a column is one of two others less the other, in each row, but for what
    rounding of the three takes, and the smallest of them; or in parts of one of both."""
    others = [other for other in values if other is not column]
    if len(column.values) < FEWEST_ROWS or len(others) > _MOST_COMPARED:
        return False
    steps = {own.path: _step(rows[own.path]) for own in (column, *others)}
    for one, other in permutations(others, 2):
        three = (column, one, other)
        triples = zip(*(rows[own.path] for own in three), strict=True)
        full = [[x for x in triple if x is not None] for triple in triples]
        full = [triple for triple in full if len(triple) == len(three)]
        of_three = [steps[own.path] for own in three]
        if len(full) < FEWEST_ROWS:
            continue
        if _are_rests(full, of_three) or _are_changes(full, of_three):
            return True
    return False


def _step(numbers: Sequence[float | None]) -> float:
    """What the last decimal of numbers is worth."""
    stated = [repr(number) for number in numbers if number is not None]
    decimals = max((len(text.partition(".")[2]) for text in stated), default=0)
    return 10.0 ** -min(decimals, 9)


def _are_rests(rows: Sequence[Sequence[float]], steps: Sequence[float]) -> bool:
    """True if the first of three numbers is the second less the third in each row, and
    much smaller than both."""
    slack = 0.53 * sum(steps)
    sizes = [sum(map(abs, numbers)) for numbers in zip(*rows, strict=True)]
    is_small = 2 * sizes[0] < min(sizes[1:])
    is_far = max(abs(row[0]) for row in rows) >= _FAR * slack
    return is_small and is_far and all(abs(a - (b - c)) <= slack for a, b, c in rows)


def _are_changes(rows: Sequence[Sequence[float]], steps: Sequence[float]) -> bool:
    """True if the first of three numbers says in each row how much the second is above
    the third, in parts or percent of one of them. What is so of counts is a share."""
    if all(number.is_integer() for row in rows for number in row[1:]):
        return False
    for base, unit in product((1, 2), (1, 100)):
        if any(not row[base] for row in rows):
            continue
        told = [unit * (row[1] - row[2]) / row[base] for row in rows]
        slack = [
            0.53 * (steps[0] + unit * (steps[1] + steps[2]) / abs(row[base]))
            for row in rows
        ]
        stated = [row[0] for row in rows]
        are_equal = all(
            abs(own - is_so) <= off
            for own, is_so, off in zip(stated, told, slack, strict=True)
        )
        if are_equal and max(map(abs, stated)) >= _FAR * max(slack):
            return True
    return False


def rounds_to(number: float, stated: float) -> bool:
    """True if a number is another one, but for the decimals that are not stated."""
    decimals = min(len(repr(stated).partition(".")[2]), 9)
    return abs(number - stated) <= 0.51 * 10.0**-decimals


def _is_end(
    column: ColumnProfile,
    others: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> bool:
    """True if a column is called as an end of an interval around another, which lies on
    one side of it in all rows."""
    named = _ENDS.fullmatch(plain_name(column.name))
    around = [other for other in others if named and plain_name(other.name) == named[1]]
    if not around:
        return False
    pairs = zip(rows[column.path], rows[around[0].path], strict=True)
    full = [(end, figure) for end, figure in pairs if None not in (end, figure)]
    below = all(end <= figure for end, figure in full)  # type: ignore[operator]
    above = all(end >= figure for end, figure in full)  # type: ignore[operator]
    return below or above


def is_count(
    column: ColumnProfile,
    values: Sequence[ColumnProfile],
    rows: dict[str, list[float | None]],
) -> bool:
    """True if a column counts: whole numbers beside shares, or one number for all."""
    if are_benchmarks([column.name]):
        return False
    numbers = [number for number in rows[column.path] if number is not None]
    if not numbers or not are_whole(numbers):
        return False
    broken = [other for other in values if not are_whole(other.numbers)]
    are_shares = all(max(other.numbers) <= 1 for other in broken)
    is_one = len({*numbers}) == 1 and len(numbers) >= FEWEST_ROWS
    is_more = max(numbers) > 1 and not {*words_of(column.name)} & {"elo", "rating"}
    is_beside = bool(broken) and are_shares and is_more
    return is_beside or is_one and not is_metric(column.name)


def is_among(column: ColumnProfile, values: Sequence[ColumnProfile]) -> bool:
    """True if one number for all rows lies between numbers of the columns on both
    sides, as a figure does that all systems have."""
    place = [other is column for other in values].index(True)
    sides = [values[:place], values[place + 1 :]]
    if not all(sides) or len(column.values) > 1:
        return False
    others = [number for side in sides for own in side for number in own.numbers]
    return min(others) < column.numbers[0] < max(others)


def are_whole(numbers: Sequence[float]) -> bool:
    return all(number.is_integer() for number in numbers)


def have_fractions(columns: Sequence[ColumnProfile]) -> bool:
    """True if most of some columns hold numbers that are not whole."""
    broken = [column for column in columns if not are_whole(column.numbers)]
    return len(broken) * 2 > len(columns)
