"""Every column that a table of an answer shows is explained: by a word of the glossary,
or by a page of the reference that names it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import warehouse
from tests.support.pages import ROOT
from warehouse.tables.glossary import columns, find

ANALYSIS = Path(warehouse.__file__).parent / "analysis"
#: Pages that list what programs are given, or are made of the glossary.
_NO_WORDS = ("cli.md",)
#: Values of a dictionary that holds no cells: what words mean, or functions by name.
_NO_CELLS = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Lambda, ast.Name)


def _texts(nodes: list[ast.expr | None]) -> list[str]:
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _headings(tree: ast.Module) -> Iterator[str]:
    """Names of the cells of rows, and the columns that a table is made with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and len(node.keys) > 1:
            values = [
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            ]
            if not any(isinstance(value, _NO_CELLS) for value in values):
                yield from _texts(node.keys)
        yield from _texts(_made_of(node))


def _made_of(node: ast.AST) -> list[ast.expr | None]:
    """The columns that a table is made with, or what is called so before."""
    made: ast.AST | None = None
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table":
        made = node.args[0] if node.args else None
    elif (
        isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "columns"
    ):
        made = node.value
    if isinstance(made, ast.Tuple):
        return [*made.elts]
    return []


def shown_columns() -> dict[str, str]:
    """Columns of the tables of all questions, with the file of one that shows it;
    without fields of rows for programs, which have underscores, and names of types."""
    found: dict[str, str] = {}
    for path in sorted(ANALYSIS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not re.search(
            r"warehouse\.tables\.view import [^\n]*\bTable\b|    Table,", text
        ):
            continue
        for name in _headings(ast.parse(text)):
            if name and "_" not in name and not re.fullmatch(r"([A-Z]\w+){2,}", name):
                found.setdefault(name, str(path.relative_to(ANALYSIS)))
    return found


@pytest.fixture(scope="module")
def reference() -> str:
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    return "\n".join(
        page.read_text(encoding="utf-8") for page in pages if page.name not in _NO_WORDS
    )


def test_every_column_of_a_table_is_explained(reference: str) -> None:
    shown = shown_columns()
    assert len(shown) > 250 and {"place", "score", "verdict", "medoid"} <= {*shown}
    lacking = {}
    for name, file in shown.items():
        named = re.search(rf"(`|\*\*|\| ){re.escape(name)}(`|\*\*| \|)", reference)
        if find(name) is None and named is None:
            lacking[name] = file
    assert lacking == {}, "say in warehouse/tables/columns.toml what they mean"


def test_no_column_is_explained_that_a_word_explains() -> None:
    for heading in columns():
        term = find(heading)
        assert term is not None and term.name == heading
