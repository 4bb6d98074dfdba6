"""Globs, path patterns and field paths."""

from __future__ import annotations

import re

import pytest

from warehouse.importers.common.streams import glob_matches
from warehouse.importers.tabular.field_paths import (
    Each,
    PathError,
    Special,
    match_tail,
    parse_path,
)


@pytest.mark.parametrize(
    ("text", "root", "steps"),
    [
        ("score", "row", ("score",)),
        ("a.b-c.d e", "row", ("a", "b-c", "d e")),
        ('a."b.c"[0][-1].d', "row", ("a", "b.c", 0, -1, "d")),
        ("$.x", "document", ("x",)),
        ("$", "document", ()),
        ("&join.a.b", "join", ("a", "b")),
        ("rows[]", "row", ("rows", Each.ITEM)),
        ("{}.a{}[]", "row", (Each.VALUE, "a", Each.VALUE, Each.ITEM)),
        ("$.t[@key][^@index]", "document", ("t", Special("key"), Special("index", 1))),
        ("@", "special", (Special(""),)),
        ("^^@key", "special", (Special("key", 2),)),
    ],
)
def test_field_paths(text: str, root: str, steps: tuple[object, ...]) -> None:
    path = parse_path(text)
    assert (path.root, path.steps) == (root, steps)


def test_levels_above() -> None:
    assert (parse_path("^^.name").up, parse_path("^^.name").steps) == (2, ("name",))


@pytest.mark.parametrize("text", ["a[b]", "a]", 'a."b', "a[@word]", "a..b["])
def test_what_is_no_path(text: str) -> None:
    with pytest.raises(PathError, match="cannot read the path"):
        parse_path(text)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.json", "x/y/a.json", True),
        ("y/*.json", "x/y/a.json", True),
        ("x/*.json", "x/y/a.json", False),
        ("x/**/*.json", "x/a.json", True),
        ("x/**/*.json", "x/y/z/a.json", True),
        ("**", "x/y/a.json", True),
        ("a.json", "x/ba.json", False),
        ("run_?/[ab]*.csv", "d/run_1/alpha.csv", True),
        ("run_?/[ab]*.csv", "d/run_1/beta.csv", True),
        ("[a!].csv", "!.csv", True),
        ("[!a!].csv", "!.csv", False),
        ("run_?/[!ab]*.csv", "d/run_1/alpha.csv", False),
        ("humaneval+.jsonl", "humaneval+.jsonl", True),
        ("*.json", "x.jsonl", False),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert glob_matches(glob, path) is expected


def test_patterns_take_the_shortest_tail() -> None:
    pattern = re.compile(r"(?P<model>.+)_(?P<step>\d+)(?:_(?P<extra>x))?\.csv")
    assert match_tail(pattern, "/data/a_1/m_b_20.csv") == {"model": "m_b", "step": "20"}
    deeper = re.compile(r"step_(?P<step>\d+)/.*")
    assert match_tail(deeper, "runs/step_400/a/b.json") == {"step": "400"}
    assert match_tail(deeper, "runs/my_step_400/b.json") is None
