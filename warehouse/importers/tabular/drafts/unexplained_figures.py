"""What a draft of published figures leaves unexplained: ranks by a figure that is not
taken, names of columns that are no benchmarks, figures that say nothing, and rows of
several versions of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from warehouse.importers.tabular.column_names import (
    SIZE,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.boards import (
    are_named_benchmarks,
    is_one_metric_of_several,
    what_columns_are,
)
from warehouse.importers.tabular.drafts.made_columns import numbers_in
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.published_columns import PublishedColumns
from warehouse.importers.tabular.drafts.toml import Choice, toml_text

#: Rows from which on it is no chance that one figure is equal in all, or orders them.
_ALIKE, _ORDERED = 3, 4
#: What no percentage exceeds.
_PERCENT = 100
#: Names that a question shows, and values of a column.
_SHOWN = 3
#: What places in a ranking are called.
_RANKS = frozenset(
    "rank ranking # no. pos position place platz rang puesto posição posto 排名 順位 순위".split()
)
#: Words by which columns say which of several figures of one thing they are.
_STATISTICS = frozenset(
    "latest current initial first last final best worst max min maximum minimum highest "
    "lowest avg average mean median total sum overall std stdev spread old new previous "
    "raw adjusted weighted macro micro p50 p90 p95 p99 lower upper low high".split()
)
#: Last words of names of figures that are no benchmarks beside one another.
_MEASURES = frozenset(
    "mean rate rates winrate winrates wins win losses loss ties tie draws elo".split()
)
#: Words of names of numbers of prompts, and of ends of intervals.
_SIZES = frozenset("n num count counts evaluated questions prompts tasks games".split())
_ENDS = frozenset("ci lo hi lower upper".split())
#: Words of names of columns that say what was evaluated.
_SETS = frozenset(
    "benchmark dataset suite testset corpus split subset track edition".split()
)


def of_figures_unexplained(
    table: TableProfile, figures: PublishedColumns
) -> Iterator[Choice]:
    """What columns of figures leave unexplained."""
    yield from _of_ranks(table, figures)
    yield from _of_no_benchmarks(table, figures)
    yield from _of_one_value(figures)
    yield from of_other_places(table)
    yield from _of_sets(table, figures)


def _of_ranks(table: TableProfile, figures: PublishedColumns) -> Iterator[Choice]:
    """Which figure the ranks of a board are by, where it is none of those taken."""
    ranks = [own for own in table.columns if _are_ranks(own)]
    if not ranks or table.rows < _ORDERED or figures.is_wide:
        return
    order = _by_row(table, ranks[0])
    known = {own.path for own in (*figures.read, *figures.left_out, *ranks)}
    if any(_orders(order, _by_row(table, own)) for own in figures.read):
        return
    others = [
        own
        for own in table.columns
        if own.path not in known
        and own.is_number
        and len(own.values) > 1
        and _orders(order, _by_row(table, own))
    ]
    if not others:
        return
    read = ", ".join(toml_text(own.name) for own in figures.read[:_SHOWN])
    yield Choice(
        f"which figures are meant, where {toml_text(ranks[0].path)} orders the rows by "
        f"{toml_text(others[0].path)}",
        (
            *(f"{own.path}, by which the rows are ranked" for own in others[:_SHOWN]),
            f"{read}, by which they are not",
        ),
        (
            *(
                f"[[published]] metric = {toml_text(own.name)}, value = "
                f"{toml_text(own.path)}, before the others"
                for own in others[:_SHOWN]
            ),
            "leave [[published]] as they are",
        ),
    )


def _are_ranks(column: ColumnProfile) -> bool:
    """True if a column is called as places in a ranking, and counts rows."""
    is_called = column.name.strip().lower() in _RANKS
    are_whole = all(number.is_integer() for number in column.numbers)
    is_first = min(column.numbers, default=0) == 1
    return is_called and column.is_number and are_whole and is_first


def _by_row(table: TableProfile, column: ColumnProfile) -> list[float | None]:
    """The numbers of a column, row by row, also where they are marked or per cent."""
    found: list[float | None] = []
    for number, value in zip(numbers_in(column), table.values(column), strict=True):
        if number is None and isinstance(value, str):
            bare = number_of(value.strip().removesuffix("%").strip())
            number = float(bare) if isinstance(bare, int | float) else None
        found.append(number)
    return found


def _orders(ranks: Sequence[float | None], values: Sequence[float | None]) -> bool:
    """True if numbers rise, or fall, with the ranks."""
    pairs = [
        (rank, value)
        for rank, value in zip(ranks, values, strict=True)
        if rank is not None and value is not None
    ]
    if len(pairs) < _ORDERED or len(pairs) < len(ranks):
        return False
    sorted_values = [value for _, value in sorted(pairs, key=lambda pair: pair[0])]
    steps = [after - before for before, after in pairwise(sorted_values)]
    return all(step <= 0 for step in steps) or all(step >= 0 for step in steps)


def _of_no_benchmarks(
    table: TableProfile, figures: PublishedColumns
) -> Iterator[Choice]:
    """What columns are that were taken for benchmarks, where nothing calls them so, and
    they are neither percentages nor have a mean beside them; where other columns say
    that all are of one set of prompts; or where names differ in words for statistics
    (``latest_score``, ``avg_score``) or measures (``x_mean``, ``x_winrate``) alone."""
    values = figures.values
    if not figures.is_wide or figures.is_turned or figures.label is None:
        return
    measures = {words_of(own.name)[-1] for own in values if words_of(own.name)}
    are_measures = len(measures & _MEASURES) > 1
    if are_named_benchmarks(values) and not are_measures:
        return
    known = {own.path for own in (figures.label, *values)}
    others = [
        own
        for own in table.columns
        if own.path not in known and not _is_called_after(own, values)
    ]
    are_measures = are_measures or _are_statistics(values)
    is_told = bool(figures.left_out) or _are_alike(values)
    if is_told and not are_measures and not any(map(_is_of_one_set, others)):
        return
    yield _what_cells_are(values, figures.label)


def _what_cells_are(values: Sequence[ColumnProfile], label: ColumnProfile) -> Choice:
    """Whether the cells of a matrix are metrics of one benchmark, or benchmarks, and what
    to write in its place."""
    cells = toml_text("|".join(re.escape(value.name) for value in values))
    first = toml_text(values[0].name)
    asked = what_columns_are(values, label, cells)
    lines = (
        f"[run] model = {toml_text(label.name)}, and [[published]] metric = {first}, "
        f"value = {first}, one for each of them, in place of [matrix] and its [run] and "
        "[[published]]",
        "leave [matrix] as it is; take out of its cells what is no figure",
    )
    return Choice(asked.what, asked.between, lines)


def _are_alike(values: Sequence[ColumnProfile]) -> bool:
    """True if figures are percentages, or one metric of several benchmarks, as their
    names say."""
    are_percent = all(
        own.is_percent or 1 < max(own.numbers, default=0) <= _PERCENT for own in values
    )
    return are_percent or is_one_metric_of_several([own.name for own in values])


def _are_statistics(values: Sequence[ColumnProfile]) -> bool:
    """True if names differ in words for statistics alone."""
    names = [{*words_of(own.name)} for own in values]
    shared = set.intersection(*names)
    return len(names) > 1 and all(words - shared <= _STATISTICS for words in names)


def _is_called_after(column: ColumnProfile, values: Sequence[ColumnProfile]) -> bool:
    """True if a column is called after one of some: ``mmlu_n``, ``mmlu_lo``."""
    name = plain_name(column.name)
    return any(name.startswith(f"{plain_name(own.name)}_") for own in values)


def _is_of_one_set(column: ColumnProfile) -> bool:
    """True if a column is the number of prompts of a row, or an end of an interval."""
    words = {*words_of(column.name)}
    is_size = bool(SIZE.fullmatch(plain_name(column.name))) or bool(words & _SIZES)
    is_whole = all(number.is_integer() for number in column.numbers)
    is_end = bool(words & _ENDS)
    return column.is_number and (is_size and is_whole or is_end)


def _of_one_value(figures: PublishedColumns) -> Iterator[Choice]:
    """What figures are of which all rows have one that is no rate."""
    read = figures.read
    if not read or figures.is_turned:
        return
    if any(own.rows < _ALIKE or len(own.values) > 1 for own in read):
        return
    if max(read[0].numbers, default=0) <= _PERCENT:
        return
    names = ", ".join(toml_text(own.name) for own in read[:_SHOWN])
    yield Choice(
        f"what {names} says, which is {read[0].values[0]} in all rows",
        ("figures, in which all are alike", "nothing of the models: no figures"),
        (
            "leave them as they are",
            "[[published]] metric = NAME, value = COLUMN for the figures; or take the "
            "file that has them",
        ),
    )


def _of_sets(table: TableProfile, figures: PublishedColumns) -> Iterator[Choice]:
    """Whether rows are of several benchmarks or versions of one, where a column that
    nothing takes is called so."""
    known = {own.path for own in (*figures.columns, *figures.left_out, *figures.parts)}
    known |= {own.path for own in (figures.benchmark,) if own is not None}
    known.add(figures.metric_path)
    if figures.is_wide:
        return
    for column in table.columns:
        is_few = 1 < len(column.values) <= table.rows // 2 + 1
        is_list = column.kind in ("list", "object")
        if column.path in known or not is_few or is_list or not _names_sets(column):
            continue
        path = toml_text(column.path)
        shown = ", ".join(map(str, column.values[:_SHOWN]))
        yield Choice(
            f"what {path} says ({shown}), which differs between the rows",
            ("benchmarks, or versions of one: not ranked together", "something else"),
            (
                f"[run] benchmark = {path}, or {{ template = "
                f"{toml_text(f'NAME {{{column.path}}}')} }}",
                "leave it",
            ),
        )
        return


def of_other_places(table: TableProfile) -> Iterator[Choice]:
    """Which figures of a document are meant, where other places of it have numbers by
    the keys of its records."""
    if not table.same_keys:
        return
    others = ", ".join(map(toml_text, table.same_keys[:_SHOWN]))
    more = f" … ({len(table.same_keys)})" if len(table.same_keys) > _SHOWN else ""
    yield Choice(
        f"which figures of the same keys are meant: those at "
        f"{toml_text(table.location.at)}, or at {others}{more}",
        (
            f"those at {table.location.at} alone",
            *(f"those at {place}" for place in table.same_keys[:_SHOWN]),
        ),
        (
            f"leave [rows] at = {toml_text(table.location.at)}; [run] benchmark = the "
            "name of this part",
            *(
                f"[rows] at = {toml_text(place + '{}')}, and a mapping begun for it"
                for place in table.same_keys[:_SHOWN]
            ),
        ),
    )


def _names_sets(column: ColumnProfile) -> bool:
    """True if a column is called as benchmarks or their versions are."""
    words = words_of(column.name)
    is_last = words[-1:] and words[-1] in {"version", "name", "id", "release", *_SETS}
    return bool({*words} & _SETS) and bool(is_last)
