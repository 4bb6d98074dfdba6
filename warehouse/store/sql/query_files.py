"""The queries kept as .sql files: finding them, and checking their headers against the
SQL.

A file holds one SELECT that runs as it stands. Its header is made of comments::

    -- One line of meaning.
    -- grain: one row per run and metric
    -- parameter: limit integer = 20 -- how many rows
    -- columns:
    --   estimate: mean over prompts, in the metric's unit

Views lie in ``views/NN_name.sql``, where NN is the order of creation, and take no
parameters; library queries lie in ``library/name.sql``. ``name.<engine>.sql`` beside a
file takes its place on that engine.

The statements that the program runs for itself lie in folders named for who runs them
(``analysis``, ``store``, ``ingest`` …); :func:`query_text` reads them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from warehouse.errors import InputError, MisuseError, did_you_mean
from warehouse.store.sql.bind_parameters import bind_names

Kind = Literal["view", "library"]

_FILE = re.compile(
    r"(?:(?P<number>\d+)_)?(?P<name>[a-z][a-z0-9_]*)(?:\.(?P<engine>[a-z]+))?\.sql"
)
_COLUMN = re.compile(r"  (?P<name>[a-z]\w*): (?P<text>.+)")


@dataclass(frozen=True)
class NamedQuery:
    """One query of the collection."""

    name: str  #: what users call it.
    kind: Kind  #: ``"view"`` (created in the store) or ``"library"`` (run with parameters).
    description: str  #: one line.
    grain: str  #: what one row is.
    parameters: tuple[Parameter, ...]  #: in the order of the header; views have none.
    #: name and meaning with unit, in the order of the result.
    columns: tuple[tuple[str, str], ...]
    text: str  #: the whole file.
    path: str  #: of the file.

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values of all parameters: those given, as text or of their type, else the
        defaults.

        Raises:
            MisuseError: a parameter that the query lacks, needs, or cannot read.
        """
        known = {p.name for p in self.parameters}
        unknown = [name for name in given if name not in known]
        if unknown:
            has = ", ".join(p.name for p in self.parameters) or "none"
            raise MisuseError(
                f"{self.name} has no parameter {', '.join(unknown)}; it has: {has}"
            )
        missing = [p for p in self.parameters if p.required and p.name not in given]
        if missing:
            needed = [f"{p.name} ({p.type}): {p.description}" for p in missing]
            needs = "; ".join(needed)
            how = " ".join(f"-p {p.name}=…" for p in missing)
            raise MisuseError(
                f"{self.name} needs a value for {needs}; in the command: {how}"
            )
        return {
            p.name: p.read(given[p.name]) if p.name in given else p.default
            for p in self.parameters
        }


@cache
def query_text(folder: str, name: str) -> str:
    """Text of ``queries/FOLDER/NAME.sql``, header included, read when it is first asked
    for.

    A statement whose text depends on the call is a template for ``str.format``: the
    header names each of its ``{placeholders}``, of what kind it is, and its meaning::

        -- placeholder: runs condition -- on fact.run_id

    The kinds are ``condition``, ``column`` (or an expression, or several), ``number``,
    ``numbers`` (with commas between them), ``table`` and ``join`` (a whole JOIN, or
    nothing). What is filled in is our own text or a number; values of users, and lists
    of ids (``in (:ids)``), are ``:parameters``. No comment of a template has a brace.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return (files("warehouse.queries") / folder / f"{name}.sql").read_text(
        encoding="utf-8"
    )


@cache
def views(engine: str = "") -> list[NamedQuery]:
    """The views in order of creation; ``engine`` chooses the override files."""
    return read_folder(files("warehouse.queries") / "views", "view", engine)


@cache
def view_names() -> tuple[str, ...]:
    """Names of the views, in order of creation, from the names of their files."""
    matches = (
        _FILE.fullmatch(file.name)
        for file in (files("warehouse.queries") / "views").iterdir()
    )
    found = {
        (int(match["number"] or 0), match["name"])
        for match in matches
        if match and not match["engine"]
    }
    return tuple(name for _, name in sorted(found))


@cache
def library(engine: str = "") -> list[NamedQuery]:
    """The library queries by name; ``engine`` chooses the override files."""
    return read_folder(files("warehouse.queries") / "library", "library", engine)


def find(name: str, engine: str = "") -> NamedQuery:
    """The view or library query called ``name`` (MisuseError: there is none; names what
    comes close)."""
    queries = {query.name: query for query in (*views(engine), *library(engine))}
    if name in queries:
        return queries[name]
    hint = did_you_mean(name, queries, f"there are: {', '.join(queries)}")
    raise MisuseError(f"no query is called {name!r}; {hint}")


def read_folder(folder: Traversable, kind: Kind, engine: str = "") -> list[NamedQuery]:
    """Read and check the .sql files of a folder.

    Raises:
        InputError: a file name or header that is wrong, or two files of one name.
    """
    chosen: dict[str, tuple[int, Traversable]] = {}
    overrides: dict[str, Traversable] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        name, number, suffix = _name_parts(file, kind)
        if suffix:
            if suffix == engine:
                overrides[name] = file
        elif name in chosen:
            other = chosen[name][1].name
            raise InputError(f"there is a second query {name}: {other}", path=str(file))
        else:
            chosen[name] = (number, file)
    order = sorted(chosen, key=lambda name: (chosen[name][0], name))
    return [parse(overrides.get(name, chosen[name][1]), name, kind) for name in order]


def parse(file: Traversable, name: str, kind: Kind) -> NamedQuery:
    """Read one file and check its header (InputError: with the file, and the line where
    there is one)."""
    text = file.read_text(encoding="utf-8")
    path = str(file)
    header = _header(text, path)
    parameters = tuple(
        parse_parameter(value, path, line) for line, value in header["parameter"]
    )
    _check_parameters(parameters, text, kind, path)
    return NamedQuery(
        name=name,
        kind=kind,
        description=_only(header, "description", path),
        grain=_only(header, "grain", path),
        parameters=parameters,
        columns=tuple(_columns(header["columns"], path)),
        text=text,
        path=path,
    )


def _name_parts(file: Traversable, kind: Kind) -> tuple[str, int, str]:
    match = _FILE.fullmatch(file.name)
    if match is None or (kind == "view") != bool(match["number"]):
        expected = {"view": "NN_name.sql", "library": "name.sql"}[kind]
        raise InputError(
            "a file name that is no query's", path=str(file), expected=expected
        )
    return match["name"], int(match["number"] or 0), match["engine"] or ""


def _header(text: str, path: str) -> dict[str, list[tuple[int, str]]]:
    """The comment lines at the top, sorted by what they say, each with its line number."""
    header: dict[str, list[tuple[int, str]]] = {
        "description": [],
        "grain": [],
        "parameter": [],
        "columns": [],
    }
    section = "description"
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.startswith("--"):
            break
        word, colon, rest = line.removeprefix("-- ").partition(":")
        if colon and word in ("grain", "parameter", "columns"):
            section = word
            if rest.strip():
                header[word].append((number, rest.strip()))
        else:
            header[section].append((number, line.removeprefix("--").removeprefix(" ")))
    statements = [line for line in lines if line.strip() and not line.startswith("--")]
    if not statements:
        raise InputError(
            "no statement", path=path, expected="one SELECT below the header"
        )
    return header


def _only(header: dict[str, list[tuple[int, str]]], section: str, path: str) -> str:
    words = " ".join(value.strip() for _, value in header[section])
    if not words:
        what = {
            "description": "-- what the rows say",
            "grain": "-- grain: one row per …",
        }[section]
        raise InputError(
            f"the header has no {section}", path=path, place="line 1", expected=what
        )
    return words


def _columns(lines: Iterable[tuple[int, str]], path: str) -> list[tuple[str, str]]:
    columns: list[tuple[str, str]] = []
    for number, line in lines:
        match = _COLUMN.fullmatch(line)
        if match:
            columns.append((match["name"], match["text"]))
        elif columns and line.startswith("    "):
            name, words = columns[-1]
            columns[-1] = (name, f"{words} {line.strip()}")
        else:
            expected = "--   name: meaning [unit]"
            raise InputError(
                f"{line!r} under columns",
                path=path,
                place=f"line {number}",
                expected=expected,
            )
    if not columns:
        raise InputError("the header has no columns", path=path, place="line 1")
    return columns


def _check_parameters(
    parameters: tuple[Parameter, ...], text: str, kind: Kind, path: str
) -> None:
    declared = [p.name for p in parameters]
    used = bind_names(text)
    twice = sorted({name for name in declared if declared.count(name) > 1})
    faults = {
        "declared twice": twice,
        "declared but not used": [name for name in declared if name not in used],
        "used but not declared": [name for name in used if name not in declared],
        "not possible in a view": list(used) if kind == "view" else [],
    }
    for fault, names in faults.items():
        if names:
            line = _line_of(names[0], text)
            raise InputError(
                f"parameter {', '.join(names)} {fault}", path=path, place=line
            )


def _line_of(name: str, text: str) -> str:
    lines = text.splitlines()
    used = re.compile(rf":{name}\b|^-- parameter: {name}\b")
    return (
        f"line {next(i for i, line in enumerate(lines, start=1) if used.search(line))}"
    )


_DECLARATION = re.compile(
    r"(?P<name>[a-z]\w*) (?P<type>\w+)(?: = (?P<default>'(?:[^']|'')*'|\S+))?"
    r" -- (?P<description>.+)"
)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


#: Type -> how it is read from text; a KeyError or ValueError means that it cannot be.
TYPES: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": int,
    "number": _number,
    "boolean": _flag,
    "timestamp": datetime.fromisoformat,
}
_PYTHON = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "timestamp": datetime,
}
_EXAMPLE = {
    "text": "any text",
    "integer": "a whole number",
    "number": "a finite number",
    "boolean": "true or false",
    "timestamp": "a time such as 2026-01-31 or 2026-01-31T12:00",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a query."""

    name: str
    type: str  #: a key of :data:`TYPES`.
    description: str
    default: Any = None  #: value where none is given (``None`` if ``required``).
    required: bool = False  #: there is no default.

    def read(self, value: Any) -> Any:
        """A value given as text or already of the type (MisuseError: it cannot be
        read)."""
        if not isinstance(value, str):
            return self._checked(value)
        try:
            return TYPES[self.type](value)
        except (KeyError, ValueError):
            raise self._unreadable(value) from None

    def _checked(self, value: Any) -> Any:
        python_type = _PYTHON[self.type]
        if (
            self.type == "number"
            and isinstance(value, int)
            and not isinstance(value, bool)
        ):
            return float(value)
        if not isinstance(value, python_type) or (
            isinstance(value, bool) and python_type is not bool
        ):
            raise self._unreadable(value)
        return value

    def _unreadable(self, value: Any) -> MisuseError:
        return MisuseError(
            f"parameter {self.name}: {value!r} is not {_EXAMPLE[self.type]}"
        )


def parse_parameter(declaration: str, path: str, line: int) -> Parameter:
    """Read ``name type = default -- description``; without a default a value is
    required.

    Raises:
        InputError: another form, an unknown type, a default that is not of it.
    """
    match = _DECLARATION.fullmatch(declaration)
    if match is None or match["type"] not in TYPES:
        raise InputError(
            f"parameter {declaration!r}",
            path=path,
            place=f"line {line}",
            expected=(
                f"name type = default -- description, with a type of {', '.join(TYPES)}"
            ),
        )
    parameter = Parameter(
        match["name"],
        match["type"],
        match["description"],
        required=match["default"] is None,
    )
    if parameter.required:
        return parameter
    try:
        return replace(parameter, default=parameter.read(_unquoted(match["default"])))
    except MisuseError as error:
        raise InputError(
            f"default of {error}", path=path, place=f"line {line}"
        ) from None


def _unquoted(default: str) -> str:
    quoted = len(default) > 1 and default[0] == default[-1] == "'"
    if quoted:
        return default[1:-1].replace("''", "'")
    return default
