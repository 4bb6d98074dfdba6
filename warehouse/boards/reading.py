"""Files and folders as boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from warehouse.analysis.board.named import NamedBoard
from warehouse.boards.delimited import delimited_table
from warehouse.boards.folder import Entry, entry_of, grouped, tables_of_entries
from warehouse.boards.harness import is_lm_eval, lm_eval_table, long_table_parts
from warehouse.boards.helm import helm_tables, is_helm
from warehouse.boards.html import html_tables
from warehouse.boards.latex import latex_tables
from warehouse.boards.long import as_wide
from warehouse.boards.markdown import markdown_tables
from warehouse.boards.nested import read_json, read_json_lines, tables_in
from warehouse.boards.table import FEWEST_ROWS, RawTable, board_of
from warehouse.boards.terminal import terminal_tables
from warehouse.boards.texts import read_text
from warehouse.errors import InputError, MisuseError
from warehouse.importers.common.file_walk import Unread, look_at, walk
from warehouse.importers.common.yaml_text import read_yaml

_JSON, _LINES = (".json",), (".jsonl", ".ndjson")
_YAML, _MARKDOWN = (".yml", ".yaml"), (".md", ".markdown", ".mdx")
_HTML, _LATEX = (".html", ".htm"), (".tex",)
_DELIMITED = (".csv", ".tsv", ".tab", ".ssv", ".psv")
#: Files of a folder that are looked at, and their bytes: larger ones hold samples.
_MOST_FILES, _MOST_BYTES_IN_FOLDER = 20_000, 8 << 20
#: Rows of a table within a document that is more than a part of an entry.
_FEWEST_WITHIN = 8
_KNOWN = (*_JSON, *_LINES, *_YAML, *_MARKDOWN, *_HTML, *_LATEX, *_DELIMITED)


@dataclass(frozen=True)
class ReadBoards:
    """What was read of some paths."""

    boards: tuple[NamedBoard, ...]
    n_files: int  #: files that were looked at.
    unread: tuple[str, ...]  #: files that could not be read, each with the reason.


def read_boards(paths: Sequence[str | Path]) -> ReadBoards:
    """The boards of files and folders.

    In a folder what cannot be read is said and left out; a file that is named is refused.

    Raises:
        MisuseError: there is no such file or folder.
        InputError: a named file cannot be read, or holds no table.
    """
    by_path: list[tuple[Path, list[NamedBoard]]] = []
    unread: list[str] = []
    n_files = 0
    for path in map(Path, paths):
        if not path.exists():
            raise MisuseError(f"no file or folder '{path}'")
        if path.is_dir():
            found, files, problems = _of_folder(path)
            unread += problems
            n_files += files
            if not found:
                raise _no_table(path)
            by_path.append((path, list(found)))
            continue
        n_files += 1
        by_path.append((path.parent, _of_named_file(path, unread)))
    return ReadBoards(tuple(_told_apart(by_path)), n_files, tuple(unread))


def _told_apart(
    by_path: Sequence[tuple[Path, Sequence[NamedBoard]]],
) -> Iterator[NamedBoard]:
    """Boards of several paths; those of one name are called by their folders, too.

    Args:
        by_path: the folder that each path is, or lies in, with its boards.
    """
    times: Counter[str] = Counter()
    for _, boards in by_path:
        times.update({named.name for named in boards})
    folders = _short_names([folder for folder, _ in by_path])
    for folder, (_, boards) in zip(folders, by_path, strict=True):
        for named in boards:
            if times[named.name] > 1:
                yield replace(named, name=f"{folder}/{named.name}")
            else:
                yield named


def _short_names(folders: Sequence[Path]) -> list[str]:
    """The last parts of folders, as many as tell them apart."""
    whole = [folder.resolve().parts for folder in folders]
    different = len({*whole})
    for n_parts in range(1, max(map(len, whole), default=0) + 1):
        names = ["/".join(parts[-n_parts:]) for parts in whole]
        if len({*names}) == different:
            return names
    return [str(folder) for folder in folders]


def _of_named_file(path: Path, unread: list[str]) -> list[NamedBoard]:
    tables, _ = _tables_of(path, path.name)
    problems: list[InputError] = []
    found = _boards(tables, problems)
    if not found:
        raise problems[0] if problems else _no_table(path)
    unread += map(str, problems)
    return found


def _no_table(path: Path) -> InputError:
    return InputError(
        "no table with names of entries and three rows",
        path=str(path),
        expected=(
            "a table as JSON, YAML, CSV, Markdown, HTML, LaTeX or drawn on a terminal, "
            "a row an entry (such as a model; rows of samples, or called by numbers, "
            "are none), or a folder with a file an entry"
        ),
    )


def _boards(tables: Iterable[RawTable], problems: list[InputError]) -> list[NamedBoard]:
    """The boards of tables; what is not clear of long ones is added to the problems."""
    found = []
    for table in tables:
        for part in _parts(table, problems):
            board = board_of(part)
            if board is not None:
                found.append(board)
    return found


def _parts(table: RawTable, problems: list[InputError]) -> list[RawTable]:
    """A table as boards have it: long ones with a column for each task."""
    parts = list(long_table_parts(table))
    if parts:
        return parts
    try:
        wide = as_wide(table)
    except InputError as error:
        problems.append(error)
        return []
    return [wide or table]


def _tables_of(path: Path, name: str) -> tuple[list[RawTable], Any]:
    """The tables of a file, and the document that it is, where it is one."""
    suffix = path.suffix.lower()
    if suffix in _YAML:
        document = read_yaml(path)
        return list(tables_in(document, name, is_ordered=False)), document
    text = read_text(path)
    if suffix in _LINES:
        return list(tables_in(read_json_lines(text, name), name)), None
    if suffix in (*_MARKDOWN, *_HTML, *_LATEX):
        return list(_tables_of_text(text, name)), None
    if suffix in _JSON or text.lstrip()[:1] in ("{", "["):
        return _tables_of_json(text, name)
    if suffix not in _DELIMITED:
        tables = list(_tables_of_text(text, name))
        if tables:
            return tables, None
    one = delimited_table(text, name)
    return [one] if one else [], None


def _tables_of_json(text: str, name: str) -> tuple[list[RawTable], Any]:
    """The tables of JSON, as some tool writes it, and the document."""
    try:
        document = read_json(text, name)
    except InputError as error:
        if not error.found.startswith("Extra data"):
            raise
        return list(tables_in(read_json_lines(text, name), name)), None
    if is_helm(document):
        return list(helm_tables(document, name)), document
    if is_lm_eval(document):
        table = lm_eval_table(document, name)
        return [table] if table else [], document
    return list(tables_in(document, name)), document


def _tables_of_text(text: str, name: str) -> Iterator[RawTable]:
    """Tables of Markdown, of a terminal, of HTML and LaTeX in a text."""
    yield from markdown_tables(text, name)
    yield from terminal_tables(text, name)
    if "<table" in text.lower():
        yield from html_tables(text, name)
    if "\\begin{" in text:
        yield from latex_tables(text, name)


def _of_folder(folder: Path) -> tuple[list[NamedBoard], int, list[str]]:
    boards: list[NamedBoard] = []
    entries: list[Entry] = []
    inner: dict[PurePath, list[NamedBoard]] = {}
    unread: list[str] = []
    n_files = 0
    for path in _files(folder):
        place = path.relative_to(folder)
        read = _read_within(path, str(place), unread)
        if read is None:
            continue
        n_files += 1
        of_file, document = read
        entry = None
        if is_lm_eval(document) or not _is_board(of_file, str(place)):
            entry = entry_of(place, document)
        if entry is None or is_lm_eval(document):
            boards += of_file
        if entry is not None:
            entries.append(entry)
            inner[entry.path] = of_file
    groups = grouped(entries)
    for group in groups:
        if len(group) < FEWEST_ROWS and not is_lm_eval(group[0].document):
            for entry in group:
                boards += inner[entry.path]
    boards += _boards(tables_of_entries(groups, folder.name), [])
    return boards, n_files, unread


def _read_within(
    path: Path, name: str, unread: list[str]
) -> tuple[list[NamedBoard], Any] | None:
    """The boards of a file of a folder, and its document; None, and the reason among
    those of others, where it cannot be read."""
    found = look_at(path)
    if isinstance(found, Unread):
        unread.append(str(found))
        return None
    if found.size > _MOST_BYTES_IN_FOLDER:
        unread.append(f"{name}: {found.size:,} bytes; name it to have it read")
        return None
    try:
        tables, document = _tables_of(path, name)
    except InputError as error:
        unread.append(str(error))
        return None
    problems: list[InputError] = []
    boards = _boards(tables, problems)
    unread += map(str, problems)
    return boards, document


def _is_board(found: Sequence[NamedBoard], name: str) -> bool:
    """Whether a file is a table itself, and no entry with small tables within."""
    return any(
        named.name == name
        or (len(named.board.entries) >= _FEWEST_WITHIN and named.board.scores)
        for named in found
    )


def _files(folder: Path) -> Iterator[Path]:
    n_files = 0
    for path in walk(folder):
        if path.suffix.lower() not in _KNOWN:
            continue
        n_files += 1
        if n_files > _MOST_FILES:
            raise InputError(
                f"more than {_MOST_FILES:,} files",
                path=str(folder),
                advice="name the folder in which the tables are",
            )
        yield path
