"""Tables in documents of JSON and YAML: lists of records, entries under their names,
columns of values, and all of these below other keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from warehouse.boards.table import (
    FEWEST_ROWS,
    MOST_COLUMNS,
    MOST_ROWS,
    RawTable,
    hold_samples,
    table_of_records,
)
from warehouse.errors import InputError
from warehouse.stats.board.cells import parse_figure

_MOST_DEEP, _MOST_LEAVES, _MOST_TABLES = 6, 2_000, 200
_LONGEST_LIST = 400
_TRIED_LINES = 20
#: Elements of a list that may be boards themselves; more are samples.
_MOST_BOARDS, _FEW_BOARDS = 50, 12
#: Keys that name the elements of a list of records.
_NAMING = (
    *("hf_subset", "subset", "name", "task", "task_name", "dataset", "benchmark"),
    *("metric", "metric_name", "key", "id"),
)
#: Keys below which settings stand, and single samples.
_NO_FIGURES = frozenset(
    ("config", "configs", "configuration", "args", "arguments", "params", "parameters")
    + ("settings", "environment", "versions", "samples", "instances", "n-shot")
    + ("higher_is_better", "config_general", "metadata", "git_hash", "task_hashes")
    + ("generation_kwargs", "model_args", "hyperparameters", "resolved_ids")
    + ("unresolved_ids", "usage", "stats", "raw_results", "individual_scores")
    + ("details", "per_instance_stats", "per_sample", "raw_generations", "generations")
    + (
        "completions",
        "references",
        "choices",
        "requests",
        "responses",
        "trials",
        "messages",
        "events",
        "history",
        "logs",
    )
)


def read_json(text: str, name: str) -> Any:
    """A document whose numbers are the texts that stand there.

    Raises:
        InputError: it is no JSON; names the line.
    """
    try:
        return json.loads(
            text.lstrip("\ufeff"), parse_float=str, parse_int=str, parse_constant=str
        )
    except json.JSONDecodeError as error:
        raise InputError(
            error.msg, path=name, place=f"line {error.lineno}", expected="JSON"
        ) from None
    except (RecursionError, ValueError):
        raise InputError(
            "nested too deep, or a number too long", path=name, expected="JSON"
        ) from None


def read_json_lines(text: str, name: str) -> list[Any]:
    """The documents of a file with one a line.

    Raises:
        InputError: a line is no JSON, or there are too many; names the line.
    """
    found: list[Any] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if len(found) >= MOST_ROWS:
            raise InputError(
                f"more than {MOST_ROWS:,} lines",
                path=name,
                expected="a table of results, a line an entry",
            )
        try:
            found.append(read_json(line, name))
        except InputError as error:
            raise InputError(
                error.found, path=name, place=f"line {number}", expected="JSON"
            ) from None
        if len(found) == _TRIED_LINES and hold_samples([leaves(one) for one in found]):
            return []
    return found


def leaves(value: Any) -> dict[tuple[str, ...], str]:
    """The texts of a record, by the keys that lead to them."""
    found: dict[tuple[str, ...], str] = {}
    _collect(value, (), found, is_text=False)
    return found


def _collect(
    value: Any,
    path: tuple[str, ...],
    found: dict[tuple[str, ...], str],
    *,
    is_text: bool,
) -> None:
    if len(path) > _MOST_DEEP or len(found) >= _MOST_LEAVES:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            below = is_text or str(key).casefold() in _NO_FIGURES
            if not below or not isinstance(inner, Mapping | list):
                _collect(inner, (*path, str(key)), found, is_text=below)
    elif isinstance(value, list):
        _collect_list(value, path, found)
    elif path:
        found[path] = text_of(value)


def _collect_list(
    value: list[Any], path: tuple[str, ...], found: dict[tuple[str, ...], str]
) -> None:
    if not value or len(value) > _LONGEST_LIST:
        return
    if all(isinstance(one, str | bool | None) for one in value):
        if path and not any(parse_figure(text_of(one)) for one in value[:3]):
            found[path] = ", ".join(text_of(one) for one in value[:20])
        return
    if not all(isinstance(one, Mapping) for one in value):
        return
    naming = _named_by(value)
    if naming is None:
        return
    names = [text_of(one[naming]) for one in value]
    if len(set(names)) < len(names):
        return
    for name, one in zip(names, value, strict=True):
        inner = {key: leaf for key, leaf in one.items() if key != naming}
        _collect(inner, (*path, name), found, is_text=False)


def _named_by(records: Sequence[Mapping[Any, Any]]) -> str | None:
    """The key under which each of some records has its name; None for none."""
    for key in _NAMING:
        if all(key in one for one in records):
            return key
    return None


def text_of(value: Any) -> str:
    """The text of a single value; empty where there is none."""
    if value is None or isinstance(value, Mapping | list):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def tables_in(
    document: Any, name: str, *, is_ordered: bool = True
) -> Iterator[RawTable]:
    """The tables of a document.

    Args:
        name: of the file.
        is_ordered: whether the order of a list means something.
    """
    left = [_MOST_TABLES]
    yield from _tables(document, name, is_ordered, 0, left)


def _tables(
    value: Any, name: str, is_ordered: bool, depth: int, left: list[int]
) -> Iterator[RawTable]:
    if depth > _MOST_DEEP or left[0] <= 0:
        return
    found = None
    if not _holds_lists(value):
        found = _table(value, name, is_ordered)
    if found is not None:
        left[0] -= 1
        yield found
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, Mapping | list) and str(key) not in _NO_FIGURES:
                place = f"{name}: {key}"
                yield from _tables(inner, place, is_ordered, depth + 1, left)
    elif isinstance(value, list) and len(value) <= _MOST_BOARDS:
        for number, inner in enumerate(value, 1):
            is_known = _name_of(inner) or len(value) <= _FEW_BOARDS
            if is_known and isinstance(inner, Mapping | list):
                place = f"{name}: {_name_of(inner) or number}"
                yield from _tables(inner, place, is_ordered, depth + 1, left)


def _holds_lists(value: Any) -> bool:
    """Whether most records hold a list of records: boards of a list of boards."""
    if isinstance(value, Mapping):
        records = list(value.values())[:50]
    elif isinstance(value, list):
        records = value[:50]
    else:
        return False
    n_holding = 0
    for record in records:
        if isinstance(record, Mapping):
            n_holding += any(_are_records(inner) for inner in record.values())
    return 2 * n_holding > len(records)


def _name_of(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    for key in ("name", "title", "benchmark", "dataset", "task"):
        if isinstance(value.get(key), str):
            return str(value[key])[:80]
    return ""


def _table(value: Any, name: str, is_ordered: bool) -> RawTable | None:
    if isinstance(value, list):
        if _are_records(value):
            records = [leaves(one) for one in value if isinstance(one, Mapping)]
            return table_of_records(name, records, is_ordered=is_ordered)
        return _of_rows(value, name, is_ordered)
    if not isinstance(value, Mapping):
        return None
    split = _of_split(value, name, is_ordered)
    if split is not None:
        return split
    return _of_columns(value, name, is_ordered) or _of_keys(value, name)


def _are_records(value: Any) -> bool:
    if not isinstance(value, list) or not FEWEST_ROWS <= len(value) <= MOST_ROWS:
        return False
    n_records = sum(isinstance(one, Mapping) for one in value)
    return n_records >= 0.9 * len(value)


def _of_rows(value: list[Any], name: str, is_ordered: bool) -> RawTable | None:
    """A list of rows, the first of which has the names of the columns."""
    if len(value) <= FEWEST_ROWS or len(value) > MOST_ROWS:
        return None
    if not all(isinstance(row, list) for row in value) or len(value[0]) < 2:
        return None
    header = [text_of(cell) for cell in value[0]]
    if any(parse_figure(text) for text in header) or not all(header[1:]):
        return None
    return _of_header(header, value[1:], name, is_ordered)


def _of_split(value: Mapping[Any, Any], name: str, is_ordered: bool) -> RawTable | None:
    """Names of columns beside lists of rows, as data frames are written."""
    for head, body in (
        *(("columns", "data"), ("headers", "data"), ("headers", "rows")),
        *(("columns", "rows"), ("header", "rows"), ("header", "data")),
    ):
        header, rows = value.get(head), value.get(body)
        if not isinstance(header, list) or not isinstance(rows, list):
            continue
        names = [_header_text(one) for one in header]
        are_rows = rows and all(isinstance(row, list) for row in rows)
        if all(names) and are_rows and len(rows) <= MOST_ROWS:
            return _of_header(names, rows, name, is_ordered)
    return None


def _header_text(value: Any) -> str:
    return _name_of(value) or text_of(value)


def _of_header(
    header: Sequence[str], rows: Sequence[list[Any]], name: str, is_ordered: bool
) -> RawTable:
    columns: dict[tuple[str, ...], list[str]] = {}
    for place, column in enumerate(header[:MOST_COLUMNS]):
        cells = [text_of(row[place]) if place < len(row) else "" for row in rows]
        columns[(column,)] = cells
    return RawTable(name, columns, is_ordered=is_ordered)


def _of_columns(
    value: Mapping[Any, Any], name: str, is_ordered: bool
) -> RawTable | None:
    """Lists of one length under the names of columns."""
    lists = {str(key): cells for key, cells in value.items() if _are_cells(cells)}
    lengths = {len(cells) for cells in lists.values()}
    if len(lists) < 2 or len(lengths) != 1 or not min(lengths) >= FEWEST_ROWS:
        return None
    if min(lengths) > MOST_ROWS or 2 * len(lists) < len(value):
        return None
    columns: dict[tuple[str, ...], list[str]] = {}
    for key, cells in lists.items():
        columns[(key,)] = list(map(text_of, cells))
    return RawTable(name, columns, is_ordered=is_ordered)


def _are_cells(value: Any) -> bool:
    """True if it is a list without lists and objects in it."""
    if not isinstance(value, list):
        return False
    return not any(isinstance(cell, Mapping | list) for cell in value)


def _of_keys(value: Mapping[Any, Any], name: str) -> RawTable | None:
    """Entries under their names: records alike, or one figure each."""
    keys = [str(key) for key in value if str(key) not in _NO_FIGURES]
    inner = [one for key, one in value.items() if str(key) not in _NO_FIGURES]
    if not FEWEST_ROWS <= len(inner) <= MOST_ROWS:
        return None
    if not all(isinstance(one, Mapping) for one in inner):
        return None
    records = [leaves(one) for one in inner]
    if not _are_alike(records):
        return None
    if _are_turned(records):
        return _turned(name, keys, records)
    table = table_of_records(name, records, is_ordered=False)
    return RawTable(name, table.columns, tuple(keys), is_ordered=False)


def _are_alike(records: Sequence[Mapping[tuple[str, ...], str]]) -> bool:
    """Whether records have most of their keys in common, and figures in them."""
    counts: dict[tuple[str, ...], int] = {}
    for record in records:
        for path in record:
            counts[path] = counts.get(path, 0) + 1
    if not counts:
        return False
    share = sum(counts.values()) / (len(counts) * len(records))
    texts = chain.from_iterable(record.values() for record in records[:20])
    has_figures = any(map(parse_figure, texts))
    return has_figures and share >= 0.4


def _are_turned(records: Sequence[Mapping[tuple[str, ...], str]]) -> bool:
    """Whether few keys hold figures of many names: columns, under which entries are."""
    first = max(records, key=len)
    all_figures = all(parse_figure(text) for text in list(first.values())[:50] if text)
    return len(records) <= 12 and len(first) > 2 * len(records) and all_figures


def _turned(
    name: str, keys: Sequence[str], records: Sequence[Mapping[tuple[str, ...], str]]
) -> RawTable:
    entries: dict[tuple[str, ...], None] = {}
    for record in records:
        entries.update(dict.fromkeys(record))
    columns: dict[tuple[str, ...], list[str]] = {}
    for key, record in zip(keys, records, strict=True):
        columns[(key,)] = [record.get(path, "") for path in entries]
    names = tuple(" ".join(path) for path in entries)
    return RawTable(name, columns, names, is_ordered=False)
