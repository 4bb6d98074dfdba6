"""Ids of rows that are made of other columns: ``gpt_seed3`` beside ``gpt`` and ``3`` names
no prompt that several systems have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from warehouse.importers.tabular.column_names import METADATA_NAMES, plain_name
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.looks import is_long, is_verdict, shown_text
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_key, toml_text

#: Names that are a part of ids, at most.
_NAMES = 12
#: Rows that are looked at.
_LOOKED_AT = 500


def of_composed_ids(
    table: TableProfile,
    ids: ColumnProfile,
    columns: Sequence[ColumnProfile],
    run: Mapping[str, ColumnProfile],
) -> Choice | None:
    """What a column names that is a part of the id of each row, where the rest of the ids
    comes back under each of its names; None where there is none.

    Args:
        columns: those that nothing else takes.
        run: those that are fields of the run.
    """
    if not ids.is_unique or ids.kind != "text":
        return None
    for column in columns:
        rests = _rests(table, ids, column) if _may_be_a_part(column) else []
        if rests and min(Counter(rests).values()) > 1:
            rest = _same_rest(table, (column, ids), rests)
            return _what_the_part_names(column, ids, rest, run)
    return None


def _may_be_a_part(column: ColumnProfile) -> bool:
    """True if a column holds a few names, and is not called as properties of prompts
    are."""
    is_of_prompt = plain_name(column.name) in METADATA_NAMES
    are_few = 2 <= len(column.values) <= min(_NAMES, column.rows // 2)
    is_named = column.kind == "text" and not column.nulls and not is_of_prompt
    return are_few and is_named and not is_long(column) and not is_verdict(column)


def _rests(table: TableProfile, ids: ColumnProfile, column: ColumnProfile) -> list[str]:
    """What remains of each id without the name in a column; nothing where one does not
    hold it."""
    pairs = zip(table.values(ids), table.values(column), strict=True)
    rests = []
    for number, (identifier, name) in enumerate(pairs):
        part = rf"(?<![^\W_]){re.escape(shown_text(name))}(?![^\W_])"
        rest, n_parts = re.subn(part, "", shown_text(identifier), count=1)
        if not n_parts:
            return []
        rests.append(rest)
        if number > _LOOKED_AT:
            break
    return rests


def _what_the_part_names(
    column: ColumnProfile,
    ids: ColumnProfile,
    rest: str,
    run: Mapping[str, ColumnProfile],
) -> Choice:
    path = toml_text(column.path)
    shown = ", ".join(map(str, column.values[:3]))
    taken = [name for name, own in run.items() if own.path == rest]
    prompt = toml_text(rest) + "".join(f", without [run] {name}" for name in taken)
    return Choice(
        f"what {path} names ({shown}), a part of each {toml_text(ids.path)}, of which "
        "the rest comes back",
        (
            "models, which have the prompts in common",
            "settings of one model, a run each",
            "parts of the benchmark, each with prompts of its own",
        ),
        (
            f"[run] model = {path}, [sample] prompt_id = {prompt}",
            f"[run.configuration] {toml_key(column.name)} = {path}, [sample] prompt_id "
            f"= {prompt}",
            f"[sample] prompt_id = {toml_text(ids.path)}",
        ),
    )


def _same_rest(
    table: TableProfile, known: Sequence[ColumnProfile], rests: Sequence[str]
) -> str:
    """The path of the column that tells rows apart as the rest of their ids does."""
    n_rests = len({*rests})
    for column in table.columns:
        if column in known or column.nulls or len(column.values) != n_rests:
            continue
        values = map(shown_text, table.values(column)[: len(rests)])
        if len({*zip(rests, values, strict=True)}) == n_rests:
            return column.path
    return "COLUMN"
