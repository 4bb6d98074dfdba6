"""What the columns of a leaderboard are, as its rows and their names say: figures of
benchmarks, metrics of one benchmark, and what is neither, such as means of the others,
counts and ends of intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_names import (
    SIZE,
    are_benchmarks,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.made_columns import (
    FEWEST_ROWS,
    MOST_COLUMNS,
    are_whole,
    differences_in,
    have_fractions,
    is_among,
    is_count,
    is_made_of,
    numbers_in,
    rounds_to,
    summed_in,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text

#: Words of names of metrics, beyond those that name a score of a single prompt.
_RATES = frozenset(
    "rate rates ratio coefficient corr corrcoef correlation kappa mcc agreement".split()
)
#: Words of names of percentages, which say nothing of what they are of.
_PERCENTAGES = frozenset("pct percent percentage percents".split())
#: Endings of the names of metrics of several tries at a prompt: ``pass@3``, ``avg_at_3``.
_OF_TRIES = re.compile(
    r"(^|.*[\W_])(pass|avg|mean|maj|majority|cons|consensus|best|worst|any|all|acc)"
    r"[\W_]*(at|pow|of|hat)?[\W_]*(\d+|k|n)",
    re.IGNORECASE,
)
#: Words of names of figures of all benchmarks together.
_OF_ALL = frozenset("overall average avg mean total weighted macro micro".split())
#: Names of parts of a benchmark, which name none.
_SPLITS = frozenset("train dev test val valid validation public private".split())
#: Prompts that a figure has at least, where nothing else tells them from generations.
_PROMPTS = 20
#: Words of names of numbers of generations of a prompt.
_DRAWS = frozenset(
    "samples trials attempts generations completions runs rollouts repeats draws k tokens"
    " words chars characters".split()
)
#: Parts of a prompt, by which rounded shares may be off and still tell their number.
_TELLS = 0.2
#: Names that a question shows.
_SHOWN = 4


@dataclass(frozen=True)
class Board:
    """The columns of a board that are figures, and what they are figures of."""

    values: list[ColumnProfile]
    left_out: list[ColumnProfile]  #: which sum up others, or count.
    are_metrics: bool  #: True if they are metrics of one benchmark.
    is_sure: bool  #: False if they may be benchmarks as well as metrics.
    unknown: list[ColumnProfile]  #: of the values, those that may be no figures.
    #: True if others are the differences of some, as of conditions of one benchmark.
    are_compared: bool = False


def board_of(values: Sequence[ColumnProfile], table: TableProfile) -> Board:
    """What columns of figures are, of a table with a row for each model."""
    rows = {column.path: numbers_in(column) for column in table.columns}
    left_out = [column for column in values if is_made_of(column, values, rows)]
    kept = [column for column in values if column not in left_out]
    if len(kept) < 2:
        return Board(kept or [*values], left_out if kept else [], False, True, [])
    differences = differences_in([*kept, *table.columns], rows)
    if differences:
        left_out += [column for column in kept if column in differences]
        kept = [column for column in kept if column not in differences]
    if differences and len(kept) > 1:
        return Board(kept, left_out, False, False, [], are_compared=True)
    alike: list[ColumnProfile] = []
    if not are_named_benchmarks(kept):
        summed = summed_in(left_out, kept, rows)
        counts = [column for column in kept if is_count(column, kept, rows)]
        alike = [own for own in counts if own not in summed and is_among(own, kept)]
        counts = [own for own in counts if own not in [*summed, *alike]]
        left_out += counts
        kept = [column for column in kept if column not in counts] or kept
    totals = _totals_in(kept, rows)
    left_out += totals
    kept = [column for column in kept if column not in totals]
    of_all = [column for column in kept if _is_of_all(column.name)]
    others = [column for column in kept if column not in of_all]
    if len(others) > 1 and not any(_ends_as_metric(column.name) for column in others):
        left_out += of_all
        kept = others
    names = [column.name for column in kept]
    if all(map(is_percentage, names)):  # of what, the rest of the name says
        are_known = are_named_benchmarks(kept)
        return Board(kept, left_out, not are_known, are_known, [])
    if all(map(is_rate, names)):
        is_one = is_one_metric_of_several(names)
        return Board(kept, left_out, not is_one, True, [])
    are_splits = all(plain_name(name) in _SPLITS for name in names)
    if not are_splits and not any(map(_ends_as_metric, names)):
        is_list = bool(table.location.at)  # whose fields may be anything of a model
        return Board(kept, left_out, is_list, not is_list, [] if is_list else alike)
    if are_named_benchmarks(kept):
        unknown = [column for column in kept if _is_unlike(column, kept)]
        return Board(kept, left_out, False, True, unknown)
    return Board(kept, left_out, True, False, [])


#: What no percentage exceeds.
_PERCENT = 100
#: What a figure is called that says all of the others together, and how many these are.
_TOTALS, _PARTS = frozenset({"score", "total", "total_score", "result", "points"}), 4


def _totals_in(
    columns: Sequence[ColumnProfile], rows: dict[str, Any]
) -> list[ColumnProfile]:
    """The one column that is called as a score of all, beside several percentages that no
    name calls a metric, among which it lies in each row."""
    totals = [own for own in columns if plain_name(own.name) in _TOTALS]
    others = [own for own in columns if own not in totals]
    if len(totals) != 1 or len(others) < _PARTS:
        return []
    are_percents = all(1 < max(own.numbers, default=0) <= _PERCENT for own in others)
    if not are_percents or any(is_metric(own.name) for own in others):
        return []
    whole = np.array(rows[totals[0].path], float)
    parts = np.array([rows[own.path] for own in others], float)
    if np.isnan(whole).any() or np.isnan(parts).any():
        return []
    is_among = (parts.min(axis=0) <= whole) & (whole <= parts.max(axis=0))
    return totals if is_among.all() else []


def are_metrics(columns: Sequence[ColumnProfile]) -> bool:
    """True if each of several columns is called as a metric and holds shares or
    percentages rather than counts."""
    are_called = all(is_rate(column.name) for column in columns)
    are_broken = all(
        column.is_percent or is_percentage(column.name) or not are_whole(column.numbers)
        for column in columns
    )
    return len(columns) > 1 and are_called and are_broken


def sizes_of(
    values: Sequence[ColumnProfile], size: ColumnProfile | None, table: TableProfile
) -> dict[str, ColumnProfile | None]:
    """Numbers of prompts behind shares that are no shares of the size of the table:
    path of the figure -> the column that they are shares of, None where that is not
    known; nothing where the table has no other size."""
    if size is None:
        return {}
    rows = {column.path: numbers_in(column) for column in table.columns}
    counts = [
        column
        for column in table.columns
        if column is not size and column.is_number and are_whole(column.numbers)
    ]
    found: dict[str, ColumnProfile | None] = dict(_called_sizes(values, counts))
    if max(len(values), len(counts)) > MOST_COLUMNS:
        return found
    for column in values:
        if column.path in found or max(column.numbers, default=0) > 1:
            continue
        if _is_share_of(rows[column.path], rows[size.path]):
            continue
        fitting = [
            count
            for count in counts
            if _is_share_of(rows[column.path], rows[count.path])
        ]
        inside = [count for count in fitting if count.parents == column.parents]
        fitting = inside if column.parents else fitting
        found[column.path] = fitting[0] if len(fitting) == 1 else None
    if any(found.values()):
        return found
    return {}


def _called_sizes(
    values: Sequence[ColumnProfile], counts: Sequence[ColumnProfile]
) -> Iterator[tuple[str, ColumnProfile]]:
    """Figures with the numbers of prompts that are called after them: ``comet_n``."""
    by_name = {(plain_name(count.name), count.parents): count for count in counts}
    for column in values:
        name = plain_name(column.name)
        for called in (f"{name}_n", f"n_{name}"):
            if (called, column.parents) in by_name:
                yield column.path, by_name[called, column.parents]


def are_shares(table: TableProfile, values: Sequence[ColumnProfile]) -> bool:
    """True if a column of figures is a share of a number of prompts: of one of which
    several rows have others, or of one that stands beside the number of right ones."""
    sizes = [column for column in _whole(table) if min(column.numbers) >= 1]
    named = [column for column in sizes if SIZE.fullmatch(plain_name(column.name))]
    shares = [column for column in values if max(column.numbers, default=2) <= 1]
    told = [column for column in named if len(column.values) >= FEWEST_ROWS]
    if max(len(shares), len(told)) > MOST_COLUMNS:
        return False
    rows = {column.path: numbers_in(column) for column in (*shares, *told)}
    if any(
        _is_share_of(rows[share.path], rows[size.path])
        for share, size in product(shares, told)
    ):
        return True
    many = [column for column in sizes if _counts_prompts(column)]
    return any(size in many for _, size, _ in parts_in(table, shares))


def parts_in(
    table: TableProfile, shares: Sequence[ColumnProfile]
) -> Iterator[tuple[ColumnProfile, ColumnProfile, ColumnProfile]]:
    """Shares with the numbers that they are of, and those that they are: ``rate``,
    ``cases``, ``resolved``."""
    percents = [own for own in table.columns if is_percentage(own.name)]
    broken = [share for share in shares if any(0 < n < 1 for n in share.numbers)]
    broken += [own for own in percents if own.is_number and own not in broken]
    whole = _whole(table)
    if max(len(broken), len(whole)) > MOST_COLUMNS:
        return
    rows = {column.path: numbers_in(column) for column in whole}
    rows |= {column.path: _shares_in(column) for column in broken}
    for share, size, count in product(broken, whole, whole):
        if share in (size, count) or size is count or min(size.numbers) < 1:
            continue
        if _are_parts(rows[share.path], rows[size.path], rows[count.path]):
            yield share, size, count


def _shares_in(column: ColumnProfile) -> list[float | None]:
    """The numbers of a column by row, as shares of 1 where they are per cent."""
    numbers = numbers_in(column)
    if max(column.numbers, default=0) <= 1 or not is_percentage(column.name):
        return numbers
    return [None if own is None else round(own / 100, 9) for own in numbers]


def _whole(table: TableProfile) -> list[ColumnProfile]:
    """The columns of whole numbers."""
    return [
        column
        for column in table.columns
        if column.is_number and column.numbers and are_whole(column.numbers)
    ]


def _counts_prompts(size: ColumnProfile) -> bool:
    """True if numbers are too many for generations of a prompt, and not called so."""
    return min(size.numbers) >= _PROMPTS and not {*words_of(size.name)} & _DRAWS


def _are_parts(
    shares: Sequence[float | None],
    sizes: Sequence[float | None],
    counts: Sequence[float | None],
) -> bool:
    """True if shares are counts by sizes in each row, and some are none of 0 and 1."""
    n_broken = 0
    for share, size, count in zip(shares, sizes, counts, strict=True):
        if share is None or not size or count is None:
            continue
        if not rounds_to(count / size, share):
            return False
        n_broken += 0 < share < 1
    return n_broken > 1


def _is_share_of(
    figures: Sequence[float | None], counts: Sequence[float | None]
) -> bool:
    """True if figures are whole numbers divided by counts, as far as decimals tell."""
    told = 0
    for figure, count in zip(figures, counts, strict=True):
        if figure is None or count is None or not count or not 0 < figure < 1:
            continue
        decimals = min(len(repr(figure).partition(".")[2]), 9)
        slack = max(0.51 * 10.0**-decimals * count, 1e-6)
        part = figure * count
        if slack < _TELLS and abs(part - round(part)) > slack:
            return False
        told += slack < _TELLS
    return told > 1


def are_named_benchmarks(columns: Sequence[ColumnProfile]) -> bool:
    """True if most of some columns are called as known benchmarks are."""
    return are_benchmarks([column.name for column in columns])


def is_one_metric_of_several(names: Sequence[str]) -> bool:
    """True if names are one metric of several benchmarks: ``BabyAI progress``,
    ``NetHack progress``."""
    words = [{*words_of(name)} for name in names]
    shared = set.intersection(*words)
    are_named = any(map(is_rate, shared))
    return are_named and shared not in words


def is_rate(name: str) -> bool:
    """True if a name is that of a metric, or of a rate of something."""
    has_word = bool({*words_of(name)} & (_RATES | _PERCENTAGES))
    return is_metric(name) or has_word or bool(_OF_TRIES.fullmatch(name))


def is_percentage(name: str) -> bool:
    """True if a name says that numbers are percentages, and no metric."""
    return bool({*words_of(name)} & _PERCENTAGES) and not is_metric(name)


def _ends_as_metric(name: str) -> bool:
    """True if a name is that of a metric by its last word: ``pass_rate``, and not
    ``Relevance Detection``, or by the number of its tries."""
    words = words_of(name)
    if _OF_TRIES.fullmatch(name) or words[1:] and words[-1] in _OF_ALL:
        return True
    return bool(words) and is_rate(words[-1]) and is_rate(name)


def _is_of_all(name: str) -> bool:
    """True if a name is that of a metric of all the others together: ``Overall Acc``,
    ``avg_score``."""
    words = words_of(name)
    others = [word for word in words if word not in _OF_ALL]
    return len(others) < len(words) and all(map(is_metric, others))


def _is_unlike(column: ColumnProfile, others: Sequence[ColumnProfile]) -> bool:
    """True if a column among known benchmarks is called as a metric is, or holds whole
    numbers beside fractions."""
    if are_benchmarks([column.name]):
        return False
    is_whole = are_whole(column.numbers) and have_fractions(others)
    return is_rate(column.name) or is_whole and len(column.values) > 1


# --- questions ------------------------------------------------------------------------


def what_columns_are(
    values: Sequence[ColumnProfile],
    label: ColumnProfile,
    cells: str,
    are_compared: bool = False,
) -> Choice:
    """Whether columns are metrics of one benchmark, or benchmarks; or its conditions,
    where others state their differences."""
    more = ""
    if len(values) > _SHOWN:
        more = f" … ({len(values)} in all)"
    shown = ", ".join(toml_text(column.name) for column in values[:_SHOWN]) + more
    matrix = (
        f"[matrix] label = {toml_text(label.name)}, cells = {cells}; [run] model = "
    )
    stated = (
        '[[published]] metric = "score", value = "@cell", in place of [run] model and of '
        "all [[published]]"
    )
    kinds = ["metrics of one benchmark", "benchmarks, of which each has a figure"]
    lines = [
        "leave [[published]] as they are; delete those that are no figures",
        f'{matrix}"@row", benchmark = "@column"; {stated}',
    ]
    if are_compared:
        kinds.insert(0, "conditions of one benchmark, a run each")
        lines.insert(
            0, f'{matrix}"@row", [run.configuration] condition = "@column"; {stated}'
        )
    return Choice(f"what the columns {shown} are", tuple(kinds), tuple(lines))


def what_else_is(unknown: Sequence[ColumnProfile]) -> Choice:
    """Whether some columns beside known benchmarks are benchmarks."""
    shown = ", ".join(toml_text(column.name) for column in unknown[:_SHOWN])
    return Choice(
        f"what the columns {shown} beside benchmarks are",
        (
            "benchmarks too",
            "metrics of one benchmark, as the others",
            "something else",
        ),
        (
            "leave [matrix] cells as it is",
            '[[published]] metric = "COLUMN", value = "COLUMN" for each, in place of '
            "[matrix]",
            "take them out of [matrix] cells",
        ),
    )
