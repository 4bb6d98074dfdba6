"""Whatever writes a file goes through the one place that looks at what stands there, or
is named here with why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.test_layers import ROOT, modules

#: Functions that write to a file or a folder otherwise, by file.
ALLOWED = {
    # the place itself: `replace_file` writes drafts, `in_place_of` folders of drafts,
    # `put_back` what killed ones left
    "warehouse/files.py": {"replace_file", "in_place_of", "put_back", "_send"},
    # drafts of an export, moved by `in_place_of`
    "warehouse/export.py": {"_write"},
    "warehouse/interchange/every_eval_ever.py": {"_write_all", "_write"},
    "warehouse/interchange/inspect_logs.py": {"export", "_write"},
    # a draft, moved once it is whole, where `refuse_target` has looked; a look at a
    # copy; the lock beside the store
    "warehouse/store/snapshot.py": {"publish"},
    # looks for room beside the store, and removes what it wrote
    "warehouse/store/room.py": {"try_room"},
    "warehouse/store/engines/duckdb.py": {"_snapshot", "is_published", "_refresh_lock"},
    # `check_folder` makes the folder that it has looked at
    "warehouse/report/writing.py": {"check_folder"},
    # the lake's package commits; `_require_target` looks at the folder
    "warehouse/store/lake/sync.py": {"TableWriter._write", "TableWriter._put_aside"},
    "warehouse/store/lake/versions.py": {"commit"},
    # temporary folders of this process
    "warehouse/serve/following.py": {"_own_folder"},
    "warehouse/store/temporary.py": {
        "TemporaryFolder.__init__",
        "TemporaryFolder.keep_as",
        "_is_abandoned",
    },
    # a folder of this process, which may stay in the user's cache; locks in it
    "warehouse/dumps/stores.py": {"_made"},
    "warehouse/dumps/shelf.py": {"Shelf.draft", "_removed"},
    "warehouse/ingest/remote.py": {
        "_Fetch._base",
        "_Fetch._folder",
        "_Fetch._get_one",
        "_Fetch._matching",
    },
    "warehouse/ingest/frames.py": {"written"},
    "warehouse/ingest/parse_elsewhere.py": {"Apart._fetch", "parse", "_write"},
    "warehouse/store/load/scratch.py": {"Scratch.__init__"},  # in memory
    "warehouse/store/connection.py": {"_copy"},  # in memory
    "warehouse/store/schema/found_before.py": {"keep"},  # the user's cache
    # a temporary folder of this process
    "warehouse/store/schema/objects.py": {"_views_of_a_file"},
    "warehouse/store/sql/apart.py": {"_fork", "_answer"},  # into a pipe
    # copies of a dump in temporary folders of this process
    "warehouse/testing/changed_files.py": {"change_json", "lines_in_another_order"},
    "warehouse/testing/importer.py": {"_Proof.copy", "_Proof.damage"},
    "warehouse/testing/setting_leaves.py": {"Document.write", "Document.restore"},
    "cli/ui/output.py": {"write_parquet"},  # to the file that the guard has opened
    # no standard output, or one that nobody reads any more
    "cli/main.py": {"_prepare_output"},
    "cli/lazy_group.py": {"LazyGroup.invoke"},
    "cli/commands/help.py": {"_print_output"},  # to click's formatter, in memory
}
WRITERS = frozenset(
    "write_text write_bytes to_parquet to_csv to_excel write_table write_dataset "
    "write_feather ParquetWriter RecordBatchFileWriter NamedTemporaryFile "
    "TemporaryDirectory mkstemp mkdtemp mkdir makedirs touch copyfile copy2 copytree "
    "move rename renames symlink symlink_to hardlink_to write_deltalake savefig"
    " extractall truncate".split()
)
FLAGS = frozenset(("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"))
SQL = re.compile(
    r"\bcopy\b[^;]*\bto\s+'|\bcopy from database\b|\bexport database\b|\battach\b(?![^;]*read_only)",
    re.I | re.S,
)


def writers(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, int, str]]:
    """Function, line and name of each call that can write a file."""
    for node in ast.iter_child_nodes(tree):
        name = (
            getattr(node, "name", "")
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else ""
        )
        here = (
            f"{inside}.{name}".strip(".")
            if name and (not inside or isinstance(tree, ast.ClassDef))
            else inside
        )
        if isinstance(node, ast.Call) and (found := _writes(node)):
            yield inside, node.lineno, found
        elif not isinstance(tree, ast.Expr) and _is_statement(node):
            yield inside, node.lineno, "a statement"
        yield from writers(node, here)


def _is_statement(node: ast.AST) -> bool:
    """Whether a text, which is no docstring, is a statement that has an engine write a
    file."""
    text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and SQL.match(text.strip()) is not None


def _writes(call: ast.Call) -> str:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in WRITERS or (
        name == "open"
        and any(getattr(part, "attr", "") in FLAGS for part in ast.walk(call))
    ):
        return name
    if (
        name == "replace"
        and len(call.args) == 1
        and not call.keywords
        and isinstance(call.func, ast.Attribute)
    ):
        return name  # of a path: that of a text has two arguments
    if name in ("open", "fdopen", "ZipFile", "TarFile"):
        modes = [
            *call.args[:2],
            *(keyword.value for keyword in call.keywords if keyword.arg == "mode"),
        ]
        texts = [
            mode.value
            for mode in modes
            if isinstance(mode, ast.Constant) and isinstance(mode.value, str)
        ]
        return (
            name
            if any(re.fullmatch(r"[rwaxbt+]*[wax+][rwaxbt+]*", text) for text in texts)
            else ""
        )
    return ""


def test_every_writer_goes_through_the_guard() -> None:
    found: dict[str, set[str]] = {}
    for module in modules():
        if module.path.parts[0] in ("warehouse", "cli"):
            for function, _line, _call in writers(module.tree):
                found.setdefault(module.path.as_posix(), set()).add(function)
    assert found == ALLOWED


def test_no_statement_of_ours_writes_a_file() -> None:
    texts = [path.read_text() for path in (ROOT / "queries").rglob("*.sql")]
    assert texts and not [
        text for text in texts if SQL.search(re.sub(r"--.*", "", text))
    ]


def test_the_guard_is_the_only_one_that_replaces_files() -> None:
    """Beside `write_output` only what edits a file of its own in place, and drafts of
    folders."""
    callers = {
        module.path.as_posix()
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "replace_file"
    }
    assert (
        callers
        == {
            "warehouse/files.py",
            "warehouse/export.py",
            "warehouse/interchange/every_eval_ever.py",
            "warehouse/interchange/inspect_logs.py",
            "warehouse/config.py",  # adds to warehouse.toml
            "warehouse/store/engines/postgresql_roles.py",  # adds to the driver's password file
            "warehouse/store/schema/found_before.py",  # the user's cache
            "warehouse/dumps/shelf.py",  # the user's cache
            "cli/ui/reference_docs.py",  # renews docs/reference/cli.md
        }
    )


@pytest.mark.parametrize(
    "source",
    [
        "open(path, 'w')",
        "path.open('xb')",
        "open(path, mode='a')",
        "Path(path).write_text(text)",
        "pq.write_table(table, path)",
        "frame.to_csv(path)",
        "draft.replace(path)",
        "os.open(path, os.O_RDWR | os.O_CREAT)",
        "connection.execute(f\"copy (select 1) to '{path}'\")",
        "raw.execute('attach x as y')",
        "shutil.copyfile(one, other)",
    ],
)
def test_a_writer_is_caught(source: str) -> None:
    assert [*writers(ast.parse(f"def f():\n    {source}"))]


@pytest.mark.parametrize(
    "source",
    [
        *(
            "open(path)",
            "path.open('rb')",
            "text.replace('a', 'b')",
            "replace(row, place=1)",
            "'copy that to me'",
        ),
        "m.open(x)",
    ],
)
def test_a_reader_is_none(source: str) -> None:
    assert not [*writers(ast.parse(f"def f():\n    {source}"))]
