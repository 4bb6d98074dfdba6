"""The layout, held to its table: which room imports which, and where engines are named."""

from __future__ import annotations

import ast
import gc
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {  # on disk -> as imported
    "warehouse": "warehouse",
    "cli": "warehouse.cli",
    "migrations": "warehouse.migrations",
    "queries": "warehouse.queries",
}

ERRORS = "warehouse.errors"
EXTRAS = "warehouse.extras"
FILES = "warehouse.files"
FIELD_DOCS = "warehouse.field_docs"
RECORDS = "warehouse.records"
QUESTIONS = "warehouse.questions"
IMPORTERS = "warehouse.importers"
STORE = "warehouse.store"
STATS = "warehouse.stats"
EMBEDDINGS = "warehouse.embeddings"
TABLES = "warehouse.tables"
CHARTS = "warehouse.charts"
ANALYSIS = "warehouse.analysis"
REFRESH = "warehouse.refresh"
INTERCHANGE = "warehouse.interchange"
REPORT = "warehouse.report"
SERVE = "warehouse.serve"
CLAIMS = "warehouse.claims"
BOARDS = "warehouse.boards"
SCHEDULE = "warehouse.schedule"
TRACING = "warehouse.tracing"
INGEST = "warehouse.ingest"
DUMPS = "warehouse.dumps"
INTEGRATIONS = "warehouse.integrations"
EXPORT = "warehouse.export"
QUERIES = "warehouse.queries"
MIGRATIONS = "warehouse.migrations"
CLI = "warehouse.cli"
TESTING = "warehouse.testing"
LIBRARY = {
    *(
        ERRORS,
        EXTRAS,
        FILES,
        FIELD_DOCS,
        RECORDS,
        IMPORTERS,
        STORE,
        STATS,
        EMBEDDINGS,
        TABLES,
        CHARTS,
        QUESTIONS,
    ),
    *(
        ANALYSIS,
        BOARDS,
        CLAIMS,
        REFRESH,
        REPORT,
        QUERIES,
        INTERCHANGE,
        SCHEDULE,
        TRACING,
        INGEST,
        DUMPS,
        EXPORT,
        "warehouse.config",
    ),
    "warehouse.api",
}
#: What every importer is made of; beside it an importer knows only the folder that it
#: is in.
PARTS_OF_IMPORTERS = {
    ERRORS,
    EXTRAS,
    RECORDS,
    "warehouse.importers.base",
    "warehouse.importers.common",
}

# Room -> what it may import of ours. A file directly under warehouse/ that is not named
# here has no room: it belongs inside one, or gets a row of its own.
MAY_IMPORT: dict[str, set[str]] = {
    ERRORS: set(),
    FILES: {ERRORS, FILES},
    FIELD_DOCS: set(),
    RECORDS: {ERRORS, RECORDS},
    IMPORTERS: {ERRORS, EXTRAS, RECORDS, IMPORTERS},
    STORE: {ERRORS, EXTRAS, FILES, RECORDS, QUERIES, STORE},
    STATS: {ERRORS, FIELD_DOCS, STATS},
    EMBEDDINGS: {ERRORS, EXTRAS, QUESTIONS, EMBEDDINGS},
    TABLES: {ERRORS, TABLES},
    CHARTS: {ERRORS, FILES, TABLES, CHARTS},
    QUESTIONS: {ERRORS, RECORDS, QUESTIONS},
    ANALYSIS: {
        ERRORS,
        FILES,
        FIELD_DOCS,
        RECORDS,
        QUESTIONS,
        STORE,
        STATS,
        EMBEDDINGS,
        TABLES,
        CHARTS,
        ANALYSIS,
    },
    TRACING: set(),
    REFRESH: {
        ERRORS,
        RECORDS,
        QUESTIONS,
        ANALYSIS,
        STORE,
        STATS,
        TABLES,
        TRACING,
        REFRESH,
    },
    BOARDS: {
        ERRORS,
        IMPORTERS,
        STORE,
        STATS,
        ANALYSIS,
        BOARDS,
    },  # published tables in files
    CLAIMS: {ERRORS, FILES, RECORDS, QUESTIONS, STORE, ANALYSIS, INGEST, CLAIMS},
    REPORT: {ERRORS, EXTRAS, FILES, RECORDS, TABLES, CHARTS, ANALYSIS, REPORT},
    SERVE: {
        ERRORS,
        EXTRAS,
        RECORDS,
        QUESTIONS,
        STORE,
        TABLES,
        CHARTS,
        ANALYSIS,
        REFRESH,
        REPORT,
        SERVE,
    },
    SCHEDULE: {
        ERRORS,
        FILES,
        RECORDS,
        STORE,
        ANALYSIS,
        BOARDS,
        REFRESH,
        REPORT,
        INGEST,
        TRACING,
        SCHEDULE,
    },
    QUERIES: set(),
    MIGRATIONS: set(),  # history must not change when code does
    "warehouse.migrations.env": {"warehouse.store.schema.tables"},
    CLI: {"warehouse"},  # everything
    EXTRAS: {ERRORS},  # packages that only some commands need
    "warehouse.config": {
        ERRORS,
        FILES,
        RECORDS,
        STORE,
    },  # where the store is, and who said so
    INTEGRATIONS: {
        ERRORS,
        EXTRAS,
        RECORDS,
        IMPORTERS,
        STORE,
        QUESTIONS,
        ANALYSIS,
        INTEGRATIONS,
    },  # tools of others
    INTERCHANGE: {
        ERRORS,
        FILES,
        RECORDS,
        STORE,
        EXPORT,
        INTERCHANGE,
    },  # formats of others
    EXPORT: {
        ERRORS,
        FILES,
        RECORDS,
        STORE,
    },  # tables and views -> Parquet, by natural keys
    INGEST: {
        ERRORS,
        EXTRAS,
        RECORDS,
        IMPORTERS,
        STORE,
        INGEST,
    },  # paths -> importer -> loader
    DUMPS: {
        ERRORS,
        FILES,
        RECORDS,
        IMPORTERS,
        STORE,
        ANALYSIS,
        INGEST,
        DUMPS,
    },  # a store of dumps that are only asked
    TESTING: {
        ERRORS,
        RECORDS,
        QUESTIONS,
        STORE,
        TABLES,
        ANALYSIS,
        REFRESH,
        INGEST,
        TESTING,
    },  # proofs for parts of others
    "warehouse.api": LIBRARY,
    "warehouse": LIBRARY,
    "warehouse.__main__": {CLI},
}
# Rooms that take nothing from outside but Python's own library and these.
PURE: dict[str, set[str]] = {
    ERRORS: set(),
    STATS: {"numba", "numpy", "scipy", "threadpoolctl"},
    QUERIES: set(),
}

# Rooms of the analysis that answer what is asked every day. They import none of the
# others, which are rare: what those add to a daily answer fills a hook
# (`selection/hook_table.py`), and is loaded where a store or an option calls for it.
DAILY = {
    f"{ANALYSIS}.{room}"
    for room in (
        "leaderboard",
        "comparison",
        "compare",
        "pairs",
        "gate",
        "power",
        "suites",
        "selection",
    )
}
#: Files that answer rare questions in daily rooms.
RARE_FILES = {
    *(f"{ANALYSIS}.compare.{file}" for file in ("exploratory", "flips")),
    f"{ANALYSIS}.power.costs",
}
#: What all rooms of the analysis are made with; it imports none of the rare ones
#: either. Fields of the sequential gate are options of `gate`, whose help names them.
COMMON = {
    *(f"{ANALYSIS}.{file}" for file in ("results", "groups", "listing_view")),
    f"{ANALYSIS}.sequential.question",
}
#: What every question is made of.
DAILY_QUESTIONS = {
    f"{QUESTIONS}.{file}"
    for file in (
        *("question", "options", "spelling", "registry", "methods"),
        *("asked_by_methods", "saying", "python_words"),
    )
}

ENGINE = re.compile(
    r"duckdb|postgres|psycopg|sqlite|(?<![a-z])(py)?spark(?![a-z])", re.IGNORECASE
)
ENGINE_HOME = "warehouse.store.engines"
CALLS = ("import_module", "__import__")
ENGINE_FREE = ("warehouse", "cli")


class Module(NamedTuple):
    """A Python file: its name as imported, its text and syntax tree, its path in the
    repository."""

    name: str
    text: str
    tree: ast.Module
    path: Path

    @property
    def room(self) -> str | None:
        rooms = [
            room for room in MAY_IMPORT if room == self.name or _below(self.name, room)
        ]
        return max(rooms, key=len, default=None)

    @cache  # noqa: B019 - for the life of the tests
    def imports(self) -> tuple[tuple[int, str], ...]:
        """Line and absolute name of each thing imported, at whatever depth of the file."""
        return tuple(self._imports())

    def _imports(self) -> Iterator[tuple[int, str]]:
        calls = any(
            name in self.text for name in CALLS
        )  # may stand in any expression; to walk through all takes long
        for node in ast.walk(self.tree) if calls else _statements(self.tree.body):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield from (
                    (node.lineno, f"{base}.{alias.name}") for alias in node.names
                )
            elif isinstance(node, ast.Call) and _is_import_call(node):
                yield node.lineno, ast.literal_eval(node.args[0])

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        up = node.level - (self.path.name == "__init__.py")
        parts = self.name.split(".")
        return ".".join([*parts[: len(parts) - up], *filter(None, [node.module])])


def _below(name: str, room: str) -> bool:
    """Whether `name` lies inside `room`; the bare package is no room for what lies in
    it."""
    return room != "warehouse" and name.startswith(room + ".")


def _is_import_call(node: ast.Call) -> bool:
    """`import_module("name")` or `__import__("name")`."""
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    named = bool(node.args) and isinstance(node.args[0], ast.Constant)
    return named and called in CALLS


def _statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every statement, at whatever depth."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, part, []))


@cache
def modules() -> tuple[Module, ...]:
    gc.disable()  # none of the trees is garbage, and to look at all of them again and again is four fifths of the time
    try:
        return tuple(_modules())
    finally:
        gc.enable()


def _modules() -> Iterator[Module]:
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join([package, *(part for part in inner if part != "__init__")])
            text = path.read_text()
            yield Module(name, text, ast.parse(text), path.relative_to(ROOT))


def layer_faults(module: Module) -> list[str]:
    """What `module` imports against the table."""
    if module.room is None:
        return [f"{module.path}: in no room of MAY_IMPORT"]
    return [
        f"{module.path}:{line}: {module.room} may not import {target}"
        for line, target in module.imports()
        if not _allowed(module.room, target)
    ]


def _allowed(room: str, target: str) -> bool:
    package = target.split(".")[0]
    if package == "warehouse":
        return any(
            f"{target}.".startswith(f"{open_to}.") for open_to in MAY_IMPORT[room]
        )
    if package in FOLDERS:  # a mapped folder under its bare name would be loaded twice
        return False
    return room not in PURE or package in PURE[room] | sys.stdlib_module_names


def is_rare(name: str) -> bool:
    """A module of the analysis, or one of questions, that no daily answer needs as
    such."""
    if _below(name, QUESTIONS):
        return not _is_of(name, DAILY_QUESTIONS)
    if not _below(name, ANALYSIS):
        return False
    if any(_below(common, name) for common in COMMON):
        return False  # a folder, which is loaded with its file that all need
    return _is_of(name, RARE_FILES) or not _is_of(name, DAILY | COMMON)


def _is_of(name: str, rooms: set[str]) -> bool:
    return any(name == room or _below(name, room) for room in rooms)


def rare_faults(module: Module) -> list[str]:
    """What a daily module imports of the rare ones, at whatever depth."""
    is_daily = _below(module.name, ANALYSIS) or module.name in DAILY_QUESTIONS
    if not is_daily or is_rare(module.name):
        return []
    return [
        f"{module.path}:{line}: daily, and may not import {target}, which is rare"
        for line, target in module.imports()
        if is_rare(target)
    ]


def engine_faults(module: Module) -> list[str]:
    """Where `module` names an engine: imports, names, strings that are no docstring and
    no URL. Importers read files of SQLite, which is no engine of a store."""
    read = ""
    if _below(module.name, IMPORTERS):
        read = "sqlite"
    if (
        module.name == ENGINE_HOME
        or _below(module.name, ENGINE_HOME)
        or not ENGINE.search(module.text)
    ):
        return []
    return [
        f"{module.path}:{line}: names an engine, which belongs in {ENGINE_HOME}: "
        f"{word!r}"
        for line, word in _words(module.tree)
        if ENGINE.search(word.lower().replace(read, "") if read else word)
        and "://" not in word
    ]


def _words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each identifier, imported name and string, docstrings left out."""
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        for word in ("id", "attr", "name", "asname", "arg", "module", "value"):
            text = getattr(node, word, None)
            if isinstance(text, str):
                yield getattr(node, "lineno", 0), text


def _module(path: str, source: str) -> Module:
    folder, *inner = Path(path).with_suffix("").parts
    name = ".".join([FOLDERS[folder], *(part for part in inner if part != "__init__")])
    return Module(name, source, ast.parse(source), Path(path))


def test_every_import_follows_the_arrows() -> None:
    found = modules()
    assert {"warehouse.errors", "warehouse.cli", "warehouse.migrations"} <= {
        m.name for m in found
    }
    assert [fault for module in found for fault in layer_faults(module)] == []


def test_no_entry_point_leads_from_the_library_to_the_command_line() -> None:
    """What the library finds by an entry point it imports, though no line of it says
    so."""
    declared = tomllib.loads(
        (Path(__file__).parents[1] / "pyproject.toml").read_text()
    )["project"]
    assert "warehouse.cli" in declared["scripts"]["warehouse"]
    points = [
        place for group in declared["entry-points"].values() for place in group.values()
    ]
    assert points and not [
        place for place in points if place.startswith("warehouse.cli")
    ]


def test_no_importer_imports_another() -> None:
    """A family is a folder of `importers`, or a file beside the folders."""
    faults = []
    for module in modules():
        if not _below(module.name, IMPORTERS):
            continue
        family = ".".join(module.name.split(".")[:3])
        allowed = {*PARTS_OF_IMPORTERS, family}  # what they share knows none of them
        faults += [
            f"{module.path}:{line}: {family} may not import {target}"
            for line, target in module.imports()
            if target.startswith("warehouse.")
            and not any(f"{target}.".startswith(f"{open_to}.") for open_to in allowed)
        ]
    assert faults == []


def test_no_files_import_each_other_in_a_circle() -> None:
    """At whatever depth of a file the import stands, and only for types too."""
    known = {module.name: module for module in modules()}
    arrows = {
        name: {_file_of(target, known) for _line, target in module.imports()}
        & known.keys() - {name}
        for name, module in known.items()
        if not _only_hands_on(module)
    }
    assert len(list(TopologicalSorter(arrows).static_order())) >= len(arrows)


def _only_hands_on(module: Module) -> bool:
    """An ``__init__.py`` that defines nothing of its own."""
    defines = any(
        isinstance(node, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(module.tree)
    )
    return module.path.name == "__init__.py" and not defines


def _file_of(target: str, known: Mapping[str, Module]) -> str:
    """The file that an imported name is in, or is."""
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target


def test_daily_questions_import_none_of_the_rare_ones() -> None:
    named = {module.name for module in modules()}
    assert named >= DAILY | RARE_FILES | COMMON | DAILY_QUESTIONS
    assert [fault for module in modules() for fault in rare_faults(module)] == []


@pytest.mark.parametrize(
    ("path", "source", "faults"),
    [
        (
            "warehouse/analysis/leaderboard/row.py",
            "from warehouse.analysis.subsets.stored import recognise",
            1,
        ),
        (
            "warehouse/analysis/leaderboard/row.py",
            "def f():\n    from ..irt import fitting",
            1,
        ),
        (
            "warehouse/analysis/gate/answer.py",
            "from ..frontier.costs import cost_source",
            1,
        ),
        (
            "warehouse/analysis/power/answer.py",
            "if TYPE_CHECKING:\n    from .costs import CostPlan",
            1,
        ),
        (
            "warehouse/analysis/results.py",
            "from warehouse.analysis.training import curves",
            1,
        ),
        (
            "warehouse/questions/options.py",
            "from warehouse.analysis.judge.question import CorrectedGate",
            1,
        ),
        (
            "warehouse/analysis/frontier/costs.py",
            "from warehouse.analysis.subsets.stored import recognise",
            0,
        ),
        (
            "warehouse/analysis/subsets/stored.py",
            "from warehouse.analysis.leaderboard.row import make_row",
            0,
        ),
        (
            "warehouse/analysis/power/answer.py",
            "from ..selection.scores import PromptScores",
            0,
        ),
    ],
)
def test_a_rare_import_is_caught(path: str, source: str, faults: int) -> None:
    assert len(rare_faults(_module(path, source))) == faults


def test_engines_are_named_in_one_place() -> None:
    free = [module for module in modules() if module.path.parts[0] in ENGINE_FREE]
    assert [fault for module in free for fault in engine_faults(module)] == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("warehouse/errors.py", "import numpy"),
        ("warehouse/errors.py", "from .records import RunHeader"),
        ("warehouse/records.py", "def f():\n    from warehouse.store import tables"),
        ("warehouse/importers/lm_eval/importer.py", "from ...store.loader import load"),
        ("warehouse/importers/__init__.py", "from ..store import loader"),
        ("warehouse/store/load/loader.py", "from warehouse import api"),
        ("warehouse/store/load/loader.py", "from warehouse import connect"),
        ("warehouse/store/load/loader.py", "import warehouse"),
        ("warehouse/stats/means.py", "import pandas as pd"),
        ("warehouse/stats/means.py", "from warehouse.analysis.summary import x"),
        (
            "warehouse/analysis/a.py",
            "import importlib as i\ni.import_module('warehouse.cli')",
        ),
        ("warehouse/analysis/summary.py", "from .. import importers"),
        ("warehouse/report/page.py", "from warehouse.store import read"),
        ("warehouse/__init__.py", "from .cli.main import main"),
        ("warehouse/api/connection.py", "from warehouse.cli import main"),
        ("warehouse/strays.py", ""),
        ("cli/main.py", "from cli.options import db"),
        ("migrations/env.py", "from warehouse.store import loader"),
        (
            "migrations/versions/0001_initial.py",
            "from warehouse.store.schema.tables import metadata",
        ),
        ("queries/__init__.py", "import sqlalchemy"),
    ],
)
def test_a_forbidden_import_is_caught(path: str, source: str) -> None:
    assert len(layer_faults(_module(path, source))) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("warehouse/records.py", "import pyarrow\nfrom .errors import InputError"),
        ("warehouse/importers/__init__.py", "from .registry import importers"),
        (
            "warehouse/store/load/loader.py",
            "from . import tables\nimport sqlalchemy as sa",
        ),
        (
            "warehouse/stats/means.py",
            "import math\nimport numpy as np\nfrom scipy import stats",
        ),
        (
            "warehouse/api/connection.py",
            "from ..analysis import summary\nfrom ..store.read import rows",
        ),
        (
            "cli/main.py",
            "from . import options\nfrom warehouse import connect\nimport click",
        ),
        ("migrations/env.py", "from warehouse.store.schema.tables import metadata"),
    ],
)
def test_an_arrow_of_the_table_is_open(path: str, source: str) -> None:
    assert layer_faults(_module(path, source)) == []


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("import duckdb", 1),
        ("from sqlalchemy.dialects import postgresql", 1),
        ("if dialect.name == 'sqlite': pass", 1),
        ("if dialect.is_duckdb: pass", 1),
        ("engine = f'{kind} on PostgreSQL'", 1),
        ("def on_spark(): pass", 1),
        ("'''Loads DuckDB files.'''\n# and psycopg", 0),
        ("def f():\n    '''Loads DuckDB files.'''", 0),
        ("help = 'URL of the store, such as duckdb:///warehouse.duckdb'", 0),
        ("sparkline = 'sparkling'", 0),
    ],
)
def test_an_engine_name_is_caught(source: str, faults: int) -> None:
    assert (
        len(engine_faults(_module("warehouse/store/load/loader.py", source))) == faults
    )
    assert engine_faults(_module("warehouse/store/engines/postgresql.py", source)) == []
