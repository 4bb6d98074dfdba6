"""Queries in .sql files: their headers are checked, their parameters typed."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from warehouse.errors import InputError, MisuseError
from warehouse.store.sql import query_files
from warehouse.store.sql.query_files import NamedQuery, read_folder

HEADER = "-- Rows of t.\n-- grain: one row per t\n"
COLUMNS = "-- columns:\n--   a: a thing [s]\n"


def library(folder: Path, text: str, name: str = "things.sql") -> NamedQuery:
    (folder / name).write_text(text)
    (query,) = read_folder(folder, "library")
    return query


def test_a_file_becomes_a_query(tmp_path: Path) -> None:
    text = (
        "-- Rows of t,\n-- in two lines.\n-- grain: one row per t\n"
        "-- parameter: limit integer = 20 -- how many\n"
        "-- parameter: name text -- whose\n"
        "-- columns:\n--   a: a thing [s],\n--     told in two lines\n--   b: another\n"
        "select a, b from t where n = :name -- not :this\nlimit :limit\n"
    )
    query = library(tmp_path, text)
    assert (query.name, query.kind, query.path) == (
        "things",
        "library",
        str(tmp_path / "things.sql"),
    )
    assert query.description == "Rows of t, in two lines."
    assert query.grain == "one row per t"
    assert query.columns == (("a", "a thing [s], told in two lines"), ("b", "another"))
    limit, name = query.parameters
    assert (limit.type, limit.default, limit.required) == ("integer", 20, False)
    assert (name.type, name.default, name.required) == ("text", None, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "select 1 as a\n", "the header has no columns"),
        (
            "-- grain: one row\n" + COLUMNS + "select 1 as a\n",
            "line 1: the header has no description",
        ),
        ("-- Rows.\n" + COLUMNS + "select 1 as a\n", "the header has no grain"),
        (HEADER + COLUMNS, "no statement"),
        (
            HEADER + "-- columns:\n--   a thing\nselect 1 as a\n",
            "line 4: '  a thing' under columns",
        ),
        (
            HEADER
            + "-- parameter: n integer = 1 -- unused\n"
            + COLUMNS
            + "select ':n' as a\n",
            "line 3: parameter n declared but not used",
        ),
        (
            HEADER + COLUMNS + "select :n as a\n",
            "line 5: parameter n used but not declared",
        ),
        (
            HEADER
            + "-- parameter: n integer -- x\n" * 2
            + COLUMNS
            + "select :n as a\n",
            "line 3: parameter n declared twice",
        ),
        (
            HEADER + "-- parameter: n colour -- x\n" + COLUMNS + "select :n as a\n",
            "line 3: parameter 'n colour -- x'; expected name type = default -- "
            "description",
        ),
        (
            HEADER + "-- parameter: n integer\n" + COLUMNS + "select :n as a\n",
            "line 3: parameter 'n integer'",
        ),
        (
            HEADER
            + "-- parameter: n integer = few -- x\n"
            + COLUMNS
            + "select :n as a\n",
            "line 3: default of parameter n: 'few' is not a whole number",
        ),
    ],
)
def test_a_wrong_header_names_file_and_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        library(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "things.sql"))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("view", "things.sql"), ("library", "10_things.sql"), ("library", "Things.sql")],
)
def test_a_wrong_file_name_is_refused(tmp_path: Path, kind: Any, name: str) -> None:
    (tmp_path / name).write_text(HEADER + COLUMNS + "select 1 as a\n")
    with pytest.raises(InputError, match="a file name that is no query's"):
        read_folder(tmp_path, kind)


def test_a_view_takes_no_parameters(tmp_path: Path) -> None:
    text = HEADER + "-- parameter: n integer -- x\n" + COLUMNS + "select :n as a\n"
    (tmp_path / "10_things.sql").write_text(text)
    with pytest.raises(InputError, match="parameter n not possible in a view"):
        read_folder(tmp_path, "view")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("10_things.sql", "20_things.sql"):
        (tmp_path / name).write_text(HEADER + COLUMNS + "select 1 as a\n")
    with pytest.raises(
        InputError, match="20_things.sql: .*second query things: 10_things.sql"
    ):
        read_folder(tmp_path, "view")


def test_views_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("10_b.sql", "9_c.sql", "100_a.sql"):
        (tmp_path / name).write_text(HEADER + COLUMNS + "select 1 as a\n")
    (tmp_path / "notes.txt").write_text("no query")
    assert [query.name for query in read_folder(tmp_path, "view")] == ["c", "b", "a"]


def test_an_override_takes_the_place_on_its_engine_only(tmp_path: Path) -> None:
    (tmp_path / "things.sql").write_text(HEADER + COLUMNS + "select 1 as a\n")
    (tmp_path / "things.other.sql").write_text(HEADER + COLUMNS + "select 2 as a\n")
    assert "select 1" in read_folder(tmp_path, "library", "some")[0].text
    assert "select 2" in read_folder(tmp_path, "library", "other")[0].text


def query_of(*declarations: str) -> NamedQuery:
    parameters = tuple(
        query_files.parse_parameter(text, "x.sql", 1) for text in declarations
    )
    return NamedQuery("things", "library", "", "", parameters, (), "", "x.sql")


@pytest.mark.parametrize(
    ("declaration", "given", "value"),
    [
        ("n integer = 5 -- x", "7", 7),
        ("n number = 0.5 -- x", "1e-3", 0.001),
        ("n number = 0.5 -- x", 2, 2.0),
        ("n boolean = false -- x", "TRUE", True),
        ("n timestamp = 2026-01-01 -- x", "2026-02-03", datetime(2026, 2, 3)),
        ("n text = 'it''s' -- x", "", ""),
        ("n integer = 5 -- x", None, 5),
        ("n text = 'it''s' -- x", None, "it's"),
        ("n timestamp = 2026-01-01T12:30 -- x", None, datetime(2026, 1, 1, 12, 30)),
    ],
)
def test_values_are_read_by_type(
    declaration: str, given: object, value: object
) -> None:
    bound = query_of(declaration).bind({} if given is None else {"n": given})
    assert bound == {"n": value}
    assert type(bound["n"]) is type(value)


@pytest.mark.parametrize(
    ("declaration", "given", "message"),
    [
        (
            "n integer = 5 -- x",
            {"n": "five"},
            "parameter n: 'five' is not a whole number",
        ),
        ("n integer = 5 -- x", {"n": 1.5}, "parameter n: 1.5 is not a whole number"),
        ("n integer = 5 -- x", {"n": True}, "parameter n: True is not a whole number"),
        (
            "n number = 5 -- x",
            {"n": "nan"},
            "parameter n: 'nan' is not a finite number",
        ),
        ("n boolean = true -- x", {"n": "maybe"}, "is not true or false"),
        ("n timestamp = 2026-01-01 -- x", {"n": "soon"}, "is not a time such as"),
        ("n integer = 5 -- x", {"m": "1"}, "things has no parameter m; it has: n"),
        ("n integer -- how many", {}, "things needs a value for n (integer): how many"),
    ],
)
def test_a_value_that_cannot_be_read_is_said(
    declaration: str, given: dict[str, object], message: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        query_of(declaration).bind(given)
    assert message in str(caught.value)


def test_queries_are_found_by_name() -> None:
    assert query_files.find("score_summary").kind == "view"
    assert query_files.find("leaderboard").kind == "library"
    with pytest.raises(MisuseError, match="'score_sumary'; did you mean score_summary"):
        query_files.find("score_sumary")
    with pytest.raises(MisuseError, match="there are: benchmark_tree"):
        query_files.find("xyzzy")


def test_no_view_and_library_query_share_a_name() -> None:
    names = [query.name for query in (*query_files.views(), *query_files.library())]
    assert len(names) == len(set(names))
