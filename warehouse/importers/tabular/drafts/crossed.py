"""Two columns that together tell apart rows of one prompt: conditions, and generations
under each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.looks import is_long, is_verdict, shown_text
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    brief,
    inline_table,
    toml_key,
    toml_text,
)

#: Names of conditions at most.
_NAMES = 12


def crossed_pair(
    table: TableProfile, rows: Sequence[Any], free: Sequence[ColumnProfile]
) -> tuple[ColumnProfile, ColumnProfile] | None:
    """Two columns of a few names, of which each pair has all prompts once.

    Args:
        rows: what is known to tell rows apart, by row.
        free: the columns that may.
    """
    named = [
        column
        for column in free
        if 2 <= len(column.values) <= _NAMES
        and column.kind in ("text", "number")
        and not is_long(column)
        and all(number.is_integer() for number in column.numbers)
    ]
    n_prompts = len({*rows})
    for one, two in combinations(named, 2):
        cells = len(one.values) * len(two.values)
        if cells * n_prompts != len(rows):
            continue
        told = zip(
            rows,
            map(shown_text, table.values(one)),
            map(shown_text, table.values(two)),
            strict=True,
        )
        if len({*told}) == len(rows):
            return one, two
    return None


#: Share of the prompts that each condition has, and that stand under several.
_MOST = 0.6


def several_times(
    table: TableProfile, rows: Sequence[Any], free: Sequence[ColumnProfile]
) -> ColumnProfile | None:
    """A column of a few names of which each has most prompts, some of them several
    times: conditions, with generations under each that nothing numbers."""
    n_prompts = len({*rows})
    for column in free:
        if column.kind != "text" or not 2 <= len(column.values) <= _NAMES:
            continue
        if is_long(column) or is_verdict(column):
            continue
        pairs = {*zip(rows, map(str, table.values(column)), strict=True)}
        if len(pairs) == len(rows):
            continue  # no row is left that repeats another
        by_name = Counter(name for _, name in pairs)
        if min(by_name.values()) >= _MOST * n_prompts and n_prompts > 1:
            return column
    return None


def which_condition(
    column: ColumnProfile,
    prompts: Sequence[str],
    repeated: tuple[int, int],
    has_model: bool,
) -> Choice:
    """What a column names, under whose names prompts stand several times."""
    path = toml_text(column.path)
    again = "further rows of a prompt are its generations"
    say = "and say --on-duplicate draws"
    template = " ".join(f"{{{name}}}" for name in (*prompts, column.path))
    kinds = [
        f"runs, a figure each; {again}",
        f"a property of the prompts; {again}",
        "nothing that matters: all rows of a prompt are its generations",
    ]
    lines = [
        f"[run.configuration] {toml_key(column.name)} = {path}, {say}",
        f"[sample] prompt_id = {{ template = {toml_text(template)} }}, {say}",
        f"leave it, {say}",
    ]
    if not has_model:
        kinds.insert(0, f"models; {again}")
        lines.insert(0, f"[run] model = {path}, {say}")
    shown = ", ".join(map(str, column.values[:3]))
    return Choice(
        f"what {path} names ({shown}), where rows are of one prompt ({repeated[0]} of "
        f"{repeated[1]} repeat another, some under one name)",
        tuple(kinds),
        tuple(lines),
    )


def which_pair(
    pair: tuple[ColumnProfile, ColumnProfile],
    prompts: Sequence[ColumnProfile],
    repeated: int,
    rows: int,
) -> Choice:
    """What two columns tell apart together: under numbers that count in each pair, one of
    them may name the prompts."""
    one, two = pair
    paths = [toml_text(column.path) for column in pair]
    settings = [
        f"{toml_key(column.name)} = {toml_text(column.path)}" for column in pair
    ]
    template = " ".join(f"{{{own.path}}}" for own in (*prompts, one, two))
    counted = [own for own in prompts if own.is_counted and not own.parents]
    again = _under_counts(pair, counted[0]) if len(prompts) == len(counted) == 1 else []
    runs = ("runs, a figure each", f"[run.configuration] {', '.join(settings)}")
    as_prompts = f"[sample] prompt_id = {{ template = {toml_text(template)} }}"
    drawn = [
        (
            f"{paths[1 - place]} runs, {paths[place]} generations of each prompt",
            f"[run.configuration] {settings[1 - place]}; [sample] draw = "
            f"{numbered(pair[place])}",
        )
        for place in (1, 0)
        if may_number(pair[place])
    ]
    between, written = brief([*again, runs, *drawn, ("prompts", as_prompts)])
    return Choice(
        f"what {paths[0]} and {paths[1]} together tell apart, where rows are of one "
        f"prompt ({repeated} of {rows} repeat another)",
        between,
        written,
    )


def may_number(column: ColumnProfile) -> bool:
    """True if each value has a digit, as numbers of generations do: names and letters
    number nothing."""
    return all(any(map(str.isdigit, shown_text(value))) for value in column.values)


def _under_counts(
    pair: tuple[ColumnProfile, ColumnProfile], count: ColumnProfile
) -> list[tuple[str, str]]:
    """The readings by which numbers from one on are generations, and one of two columns
    names the prompts: in words, and as a mapping says them."""
    found = []
    for system, prompt in (pair, pair[::-1]):
        names = [toml_text(own.path) for own in (system, prompt, count)]
        words = f"{names[0]} models, {names[1]} prompts, {names[2]} their generations"
        line = (
            f"[run] model = {names[0]}; [sample] prompt_id = {names[1]}, draw = "
            f"{numbered(count)}"
        )
        found.append((words, line))
    return found


def numbered(column: ColumnProfile) -> str:
    """An expression that numbers what a column tells apart, from 0."""
    if not column.is_number:
        return inline_table(
            {
                "path": column.path,
                "values": dict(
                    zip(map(shown_text, column.values), range(99), strict=False)
                ),
            }
        )
    first = min(column.numbers)
    if first:
        return inline_table({"path": column.path, "add": -int(first)})
    return toml_text(column.path)
