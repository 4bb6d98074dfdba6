"""Files that lie beside a table and hold the same prompts: those of other models, as a
rule, by which the rows of one file can be understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from warehouse.errors import InputError
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.profile import (
    TableProfile,
    label_of_value,
    profile,
)
from warehouse.importers.tabular.evidence import Codes, Evidence, Rows, Standing

#: Files that are read beside one, those that are looked for, and their bytes at most.
_READ, _LISTED, _BYTES = 3, 200, 16 << 20
#: Share of the columns of both files that both have.
_ALIKE = 0.7
#: Distinct values from which on a column that agrees in two files says that they hold
#: the same prompts.
_TELLING = 5


def rows_beside(table: TableProfile) -> Rows:
    """The rows of a table with those of files beside it that hold the same prompts."""
    alone = _rows_of(table, [])
    together = _rows_of(table, list(_alike(table)))
    if together.n_files > 1 and _holds_same_prompts(table, together):
        return together
    return alone


def _rows_of(table: TableProfile, others: Sequence[TableProfile]) -> Rows:
    codes: dict[str, Codes] = {}
    for column in table.columns:
        numbers = {
            label_of_value(value): number for number, value in enumerate(column.values)
        }
        parts = [column.codes]
        for other in others:
            parts.append(_codes_in(other, column.path, numbers))
        codes[column.path] = np.concatenate(parts)
    sizes = [table.rows, *(other.rows for other in others)]
    files = np.repeat(np.arange(len(sizes)), sizes)
    return Rows(codes, files, tuple(other.path for other in others))


def _codes_in(table: TableProfile, path: str, numbers: dict[str, int]) -> Codes:
    """Numbers of the values of a column in another file; new values get new numbers."""
    column = next((column for column in table.columns if column.path == path), None)
    if column is None:
        return np.full(table.rows, -1, np.int64)
    known = [
        numbers.setdefault(label_of_value(value), len(numbers))
        for value in column.values
    ]
    found: Codes = np.append(np.array(known, np.int64), -1)[column.codes]
    return found


def _alike(table: TableProfile) -> Iterator[TableProfile]:
    """The first files beside a table that have its columns, and its rows in the same
    place."""
    paths = {column.path for column in table.columns}
    read = 0
    for path in _candidates(table.path):
        if read == _READ:
            return
        read += 1
        try:
            other = profile(path)
        except (InputError, OSError):
            continue  # whoever ingests it says so
        found = {column.path for column in other.columns}
        is_alike = len(paths & found) >= _ALIKE * len(paths | found)
        if is_alike and other.location.at == table.location.at:
            yield other


def count_beside(path: Path) -> int:
    """How many files of the same kind lie in the folder of a file, up to 200."""
    return sum(
        other.suffix == path.suffix and other != path
        for other in islice(path.parent.iterdir(), _LISTED)
    )


#: Values of a column that two files have in common, from which on they hold figures of
#: the same models.
_SHARED = 2


def of_same_names(table: TableProfile, column: ColumnProfile) -> list[Path]:
    """Files beside a table that have its columns, and in one of them names that stand
    in the table as well."""
    names = {*map(label_of_value, column.values)}
    found = []
    for other in _alike(table):
        own = [own for own in other.columns if own.path == column.path]
        theirs = {label_of_value(value) for one in own for value in one.values}
        if len(names & theirs) >= _SHARED:
            found.append(other.path)
    return found


def _candidates(path: Path) -> Iterator[Path]:
    """Files of the same kind in the same folder, then those of the same name in folders
    beside it."""
    if path.suffix.lower() == ".zip":
        return
    suffixes = path.suffixes[-2:] if path.suffix == ".gz" else [path.suffix]
    ending = "".join(suffixes)
    inside = (
        other
        for other in islice(sorted(path.parent.iterdir()), _LISTED)
        if other.name.endswith(ending) and other.name != path.name
    )
    outside = _of_same_name(path.resolve())
    for other in (*inside, *outside):
        if (
            other.is_file()
            and not other.is_symlink()
            and other.stat().st_size <= _BYTES
        ):
            yield other


def _of_same_name(path: Path) -> list[Path]:
    """Files of the same name in the folders beside that of a file, or in folders of the
    same name in those beside the one above, where most folders there have one, as
    results/MODEL/samples.jsonl and results/MODEL/task/samples.jsonl."""
    for up in (1, 2):
        if len(path.parts) < up + 2:
            return []
        below, own = path.parts[-up:], path.parents[up - 1]
        folders = [
            folder
            for folder in islice(sorted(own.parent.iterdir()), _LISTED)
            if folder.is_dir() and not folder.is_symlink()
        ]
        found = [folder.joinpath(*below) for folder in folders if folder != own]
        there = [other for other in found if other.is_file()]
        if there and 2 * len(there) > len(found):
            return there
    return []


def _holds_same_prompts(table: TableProfile, rows: Rows) -> bool:
    """True if the values of a column are in several files, and these are no mere
    numbers of rows, or another column agrees with them."""
    bare = Evidence(rows)
    keys = [
        column
        for column in table.columns
        if bare.names_prompts(column) or bare.repeats(column)
    ]
    for key in keys:
        if not key.is_counted:
            return True
        evidence = Evidence(rows, prompts=[key])
        for column in table.columns:
            is_varied = len(column.values) >= _TELLING and column is not key
            if is_varied and evidence.standing(column) is Standing.OF_PROMPT:
                return True
    return False
