"""Sources in which nothing lies that their mapping reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.mapping_rules import TabularMapping
from warehouse.importers.tabular.readers import ignore
from warehouse.importers.tabular.table import MappedTable, open_reader


def refuse_empty(
    mapping: TabularMapping, tables: Sequence[MappedTable], absent: Sequence[str]
) -> None:
    """Refuse a source that gives neither rows nor figures nor votes: a run without any
    would look as if it were complete.

    Args:
        mapping: how it was read.
        tables: its files.
        absent: notes on records that hold nothing at the paths of rows.

    Raises:
        InputError: always, if there is a file.
    """
    if not tables:
        return
    table = tables[0]
    if absent:
        raise InputError(
            f"holds nothing that the mapping reads: {'; '.join(absent)[:300]}; "
            f"{there_instead(table)}",
            path=table.member.name,
            expected="records with what [rows] at and draws name",
            advice="correct the path in the mapping",
        )
    notes = "; ".join(chain.from_iterable(part.notes() for part in tables))[:300]
    found = "holds nothing that the mapping reads"
    if notes:
        found += f" ({notes})"
    raise InputError(
        found,
        path=table.member.name,
        expected=f"{_wanted(mapping)}; {there_instead(table)}",
    )


def _wanted(mapping: TabularMapping) -> str:
    """What a mapping reads, in words."""
    if any(variant.votes for variant in mapping.variants):
        return "votes"
    if any(variant.has_samples for variant in mapping.variants):
        return "rows with scores"
    rules = chain.from_iterable(variant.published for variant in mapping.variants)
    paths = chain.from_iterable(rule.value.paths() for rule in rules)
    return f"a figure at {listed(list(dict.fromkeys(map(repr, paths))), 5)}"


def there_instead(table: MappedTable) -> str:
    """The columns of a table, or the keys of its first records where the mapping's
    paths of rows lead nowhere (``there are: idx, infos[]``)."""
    rules = table.mapping.rules
    for at in (rules.at, None):
        reader = open_reader(table.member, replace(rules, at=at, draws=None))
        chunk = next(iter(reader.chunks(None, ignore)), None)
        if chunk is None:
            continue
        first = chunk.records()[0]
        names = [_shown_key(first, name) for name in chunk.names()]
        return f"there are: {listed(names) or 'no names'}"
    return "there are no rows"


def _shown_key(record: Any, name: str) -> str:
    """A key, with the brackets of its list."""
    if isinstance(record, dict) and isinstance(record.get(name), list):
        return f"{name}[]"
    return name
