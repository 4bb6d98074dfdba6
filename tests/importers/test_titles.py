"""Titles above the row that names the columns: left out where what stands below tells
which row that is, and said; else the line that looks like it is named."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from tests.support.cli import Caller
from warehouse.importers.tabular.drafts.draft import starting_mapping
from warehouse.importers.tabular.titles import title_rows

TITLES = [
    "Our results\n\n",
    '"Our results, 2026"\n',
    "Our results;;;\n;;;\n",
    "# by a tool\n",
    "Our results\nof May\n",
]


@pytest.mark.parametrize("title", TITLES)
def test_a_table_below_titles_is_read_and_they_are_said(
    tmp_path: Path, run: Caller, title: str
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"{title}model;benchmark;id;score\na;b;1;1\na;b;2;0\n")
    store = {"db": f"duckdb:///{tmp_path / 's.db'}"}
    said = run("ingest", str(path), **store)
    assert said.code == 0 and "of titles above the names of the columns" in said.err
    assert "2 answers, 2 scores" in said.out
    assert "of titles above the names of the columns left out" in starting_mapping(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Our results\nmodel;id;verdict\na;x;good\n", 2),  # nothing has a type
        ("# one\na,b,c\n1,2,3\n\n# two\nd,e,f,g\n1,2,3,4\n", 2),  # two tables
    ],
)
def test_a_line_is_named_where_nothing_below_tells_that_it_is_the_header(
    tmp_path: Path, run: Caller, text: str, line: int
) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text)
    run("mapping", str(path)).fails(
        3, f"line {line} looks like it", "take out the lines above it"
    )


def test_rows_are_counted_as_the_file_has_them(tmp_path: Path, run: Caller) -> None:
    path = tmp_path / "r.csv"
    rows = "".join(f"a,b,{number},1\n" for number in range(300))
    path.write_text(f"Our results\n\nmodel,benchmark,id,score\n{rows}a,b,x\n")
    said = run("ingest", str(path), db=f"duckdb:///{tmp_path / 's.db'}")
    assert "row 304" in said.out + said.err


def test_names_that_stand_over_several_columns_are_no_title(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(",gsm8k,,mmlu,\nmodel,acc,n,acc,n\na,.5,10,.6,20\nb,.4,10,.7,20\n")
    assert "a second row of headers" in starting_mapping(path)


def test_a_column_of_texts_has_no_title(tmp_path: Path, run: Caller) -> None:
    path = tmp_path / "r.csv"
    path.write_text('text\n"several\na, b, c\nlines"\n"d, e, f"\n')
    assert run("mapping", str(path)).code == 0


def test_a_sheet_below_joined_cells_is_read(tmp_path: Path, run: Caller) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Leaderboard of May"])
    sheet.merge_cells("A1:C1")
    sheet.append([])
    for row in (("model", "mmlu", "gsm8k"), ("gpt-5", 71.5, 80.25), ("ada", 60, 70.5)):
        sheet.append(row)
    book.save(tmp_path / "b.xlsx")
    said = run("ingest", str(tmp_path / "b.xlsx"), db=f"duckdb:///{tmp_path / 's.db'}")
    assert said.code == 0 and "'Leaderboard of May'" in said.err
    assert "4 runs of ada and gpt-5 on gsm8k and mmlu" in said.out


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["t", ""], ["model", "acc"], ["a", "0.5"]], 1),
        ([["t", "of May", *[""] * 4], [*"abcdef"], [*"u12345"]], 1),
        ([["t", ""], ["u", ""], ["model", "acc"], ["a", "50 %"]], 2),
        ([["model", "acc"], ["a", "0.5"], ["b", "0.6"]], 0),
        ([["t", ""], ["a", "0.5"], ["b", "0.6"]], 0),  # no row of names
        ([["t", ""], ["model", "acc"]], 0),  # nothing below
        ([["t", "", ""], ["m", "acc", "acc"], ["a", "1", "2"]], 0),  # a name twice
    ],
)
def test_the_first_row_of_names_with_types_below(
    rows: list[list[str]], expected: int
) -> None:
    assert title_rows(rows) == expected
