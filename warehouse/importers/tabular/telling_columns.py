"""Columns that tell apart rows of one prompt, where nothing that a mapping reads does:
draws, scorers or settings that nobody has mapped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import pyarrow as pa

from warehouse.errors import WarehouseError
from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import path_of, plain_name, words_of
from warehouse.importers.tabular.columns import (
    Unfit,
    as_list,
    number_of,
    text_of,
    to_text,
)
from warehouse.importers.tabular.constant_columns import leaves_at
from warehouse.importers.tabular.drafts.toml import toml_text
from warehouse.importers.tabular.expressions import Source
from warehouse.importers.tabular.field_paths import PathError
from warehouse.importers.tabular.mapping_rules import TabularMapping, Variant
from warehouse.importers.tabular.mapping_variants import RUN_FIELDS
from warehouse.importers.tabular.readers import ignore
from warehouse.importers.tabular.runs import RunColumns, RunRegistry
from warehouse.importers.tabular.table import MappedTable

#: Rows that are looked at, and columns of them.
_MOST_ROWS = 200_000
_MOST_COLUMNS = 60
#: Columns of which two together are tried.
_MOST_PAIRED = 12
_SHOWN = 3
#: Share of rows of one prompt that have the same response, from which on they are one
#: answer scored several times.
_NEARLY_ALL = 0.95

_OF_PROMPT = ("prompt_id", "position", "text", "target", "choices", "response")
_OF_DRAW = ("draw", "perturbation", "fewshot_draw", "template")
#: Words in the names of columns that say who scored.
_SCORER_WORDS = frozenset(
    "judge grader scorer rater annotator evaluator autograder labeler reviewer metric "
    "verifier".split()
)
_FILE = "the name of the file"


@dataclass(frozen=True)
class _Column:
    """A column that may tell rows apart, with what it holds."""

    name: str
    path: str
    values: list[Any]


@dataclass(frozen=True)
class _Found:
    """Columns of which each makes rows unique (or, where ``are_needed``, all together);
    and whether the rows of one prompt say the same, so that only their scores can
    differ."""

    columns: tuple[_Column, ...]
    are_needed: bool
    is_one_answer: bool


def telling_words(
    mapping: TabularMapping, tables: Sequence[MappedTable], registry: RunRegistry
) -> str:
    """A sentence on the columns that tell apart rows of one prompt, and what they may
    be; empty where there are none, or the files cannot be read.

    Args:
        mapping: how the tables were read.
        tables: those of the source.
        registry: their runs, all of which it knows.
    """
    try:
        found = _found(mapping, tables, registry)
    except (WarehouseError, PathError, pa.ArrowException):
        return ""
    if found is None:
        return ""
    words = []
    if found.is_one_answer:
        words.append(
            "their responses are the same: several scorers of one answer, no draws"
        )
    if found.columns:
        words.append(_sentence(found))
    return "; ".join(words)


def _sentence(found: _Found) -> str:
    shown = []
    for column in found.columns[:_SHOWN]:
        values = [str(text_of(value))[:20] for value in column.values]
        shown.append(f"{column.name} ({listed(values, _SHOWN)})")
    first = found.columns[0]
    if found.are_needed:
        return (
            f"{' and '.join(shown)} together tell them apart: map both, as settings "
            "([run.configuration]), [sample] draw or [scorer]"
        )
    readings = " or ".join(_readings(first, found.is_one_answer))
    if len(shown) == 1:
        return f"{shown[0]} tells them apart: map it as {readings}"
    return f"{' and '.join(shown)} each tell them apart: map one, as {readings}"


def _readings(column: _Column, is_one_answer: bool) -> list[str]:
    """What a column may be, as a mapping says it, the likeliest first."""
    if column.name == _FILE:
        groups = ["scorer", "draw", "perturbation"]
        if is_one_answer:
            groups = ["scorer"]
        return [f"a group (?P<{group}>…) of [path] pattern" for group in groups]
    path = toml_text(column.path)
    words = set(words_of(column.name))
    field = plain_name(column.name)
    scorer = f"the scorer ([scorer] scorer = {path})"
    setting = f"a setting ([run.configuration] {_key(column.name)} = {path})"
    draw = f"the draw ([sample] draw = {path})"
    if field in RUN_FIELDS:
        return [f"[run] {field} = {path}"]
    if is_one_answer:
        return [scorer, setting]
    readings = [setting, scorer]
    if all(isinstance(number_of(value), int) for value in column.values):
        readings = [draw, setting, scorer]
    if words & _SCORER_WORDS:
        readings.remove(scorer)
        readings.insert(0, scorer)
    return readings


def _key(name: str) -> str:
    """A name as a key of TOML."""
    key = name.rpartition(".")[2]
    if re.fullmatch(r"[\w-]+", key, re.ASCII):
        return key
    return plain_name(key) or "name"


def _found(
    mapping: TabularMapping, tables: Sequence[MappedTable], registry: RunRegistry
) -> _Found | None:
    variant = mapping.variants[0]
    columns = _candidates(mapping, tables)
    parts: list[pa.Table] = []
    n_rows = 0
    for table in tables:
        runs = RunColumns(variant, registry, table.member.name)
        for view in table.views(None, ignore):
            parts.append(_part(view, mapping, runs, columns, table.member.name))
            n_rows += view.size
            if n_rows >= _MOST_ROWS:
                break
    if not parts:
        return None
    rows = pa.concat_tables(parts)
    key = [name for name in rows.column_names if name.startswith("key ")]
    n_keys = _n_groups(rows, key)
    if n_keys == rows.num_rows:
        return None
    names = [name for name in (_FILE, *columns) if rows.column(name).null_count == 0]
    telling = [name for name in names if _tells(rows, key, name)]
    are_needed = not telling
    if are_needed:
        telling = _pair(rows, key, names)
    described = [
        _Column(name, columns.get(name, ""), rows.column(name).unique().to_pylist())
        for name in telling
    ]
    kinds = {
        metric.scorer_kind for header in registry.headers() for metric in header.metrics
    }
    is_one = kinds != {"human"} and _is_one_answer(rows, key, n_keys)
    return _Found(tuple(described), are_needed, is_one)


def _tells(rows: pa.Table, key: Sequence[str], name: str) -> bool:
    """True if the values of a column come back, and each stands once with a key."""
    n_values = len(rows.column(name).unique())
    comes_back = 1 < n_values <= max(2, rows.num_rows // 2)
    return comes_back and bool(_n_groups(rows, [*key, name]) == rows.num_rows)


def _pair(rows: pa.Table, key: Sequence[str], names: Sequence[str]) -> list[str]:
    """Two columns that together do what none does alone; none where no two do."""
    varying = [
        name
        for name in names
        if 1 < len(rows.column(name).unique()) <= rows.num_rows // 2
    ]
    for one, two in combinations(varying[:_MOST_PAIRED], 2):
        if _n_groups(rows, [*key, one, two]) == rows.num_rows:
            return [one, two]
    return []


def _is_one_answer(rows: pa.Table, key: Sequence[str], n_keys: int) -> bool:
    """True if nearly all rows of one prompt have the same response."""
    response = rows.column("response")
    if response.null_count or len(response.unique()) < 2:
        return False
    n_further = rows.num_rows - n_keys
    n_other = _n_groups(rows, [*key, "response"]) - n_keys
    return bool(n_other <= (1 - _NEARLY_ALL) * n_further)


def _n_groups(rows: pa.Table, names: Sequence[str]) -> int:
    return int(rows.group_by(list(names)).aggregate([]).num_rows)


def _candidates(
    mapping: TabularMapping, tables: Sequence[MappedTable]
) -> dict[str, str]:
    """Columns, and leaves of objects, that hold plain values and are no part of a
    prompt, its answer or its score; each with its path."""
    variant = mapping.variants[0]
    taken = set(_paths(_sources(variant, (*_OF_PROMPT, *_OF_DRAW))))
    taken |= set(_paths(rule.value for rule in variant.scores))
    taken |= set(_paths(rule.metric for rule in variant.scores))
    found: dict[str, str] = {}
    for table in tables[:_SHOWN]:
        view = table.sample()
        if view is None or mapping.matrix is not None:
            continue
        for name in view.chunk.names():
            path = path_of(name)
            if path in taken or name in taken:
                continue
            if _are_plain(view, path):
                found[name] = path
            else:
                found |= leaves_at(view, path, taken)
    return dict(list(found.items())[:_MOST_COLUMNS])


def _are_plain(view: RowView, path: str) -> bool:
    try:
        values = as_list(view.column(path), view.size)
    except PathError:
        return False
    return not any(isinstance(value, list | dict) for value in values)


def _sources(variant: Variant, names: Iterable[str]) -> Iterator[Source]:
    for name in names:
        if name in variant.sample:
            yield variant.sample[name]


def _paths(sources: Iterable[Source]) -> Iterator[str]:
    return chain.from_iterable(source.paths() for source in sources)


def _part(
    view: RowView,
    mapping: TabularMapping,
    runs: RunColumns,
    columns: dict[str, str],
    file: str,
) -> pa.Table:
    """Some rows: what they are known by, their response, and the columns in question."""
    numbers, _ = runs.runs(view)
    variant = runs.variant
    known_by = ["prompt_id"]
    if mapping.key:
        known_by = list(mapping.key)
    elif "prompt_id" not in variant.sample:
        known_by = ["position"]
    parts: dict[str, pa.Array] = {"key run": pa.array(numbers)}
    mapped = {**variant.metadata, **variant.sample}
    for name in (*known_by, *_OF_DRAW):
        if name in mapped:
            parts[f"key {name}"] = _texts(mapped[name], view)
    for number, rule in enumerate(variant.scores[:1]):
        parts[f"key metric {number}"] = _texts(rule.metric, view)
    if mapping.rules.draws is not None:
        parts["key @draw"] = to_text(view.column("@draw"), view.size).array
    if "response" in mapped:
        parts["response"] = _texts(mapped["response"], view)
    else:
        parts["response"] = pa.nulls(view.size, pa.string())
    parts[_FILE] = pa.array([file] * view.size, pa.string())
    for name, path in columns.items():
        parts[name] = pa.nulls(view.size, pa.string())
        if view.holds(path):
            parts[name] = to_text(view.column(path), view.size, labels=True).array
    return pa.table(parts).filter(pa.array(numbers >= 0))


def _texts(source: Source, view: RowView) -> pa.Array:
    values = [
        None if isinstance(value, Unfit) else value
        for value in as_list(source.column(view), view.size)
    ]
    return to_text(values, view.size, labels=True).array
