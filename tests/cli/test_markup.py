"""``--markdown``, ``--latex`` and ``--html``: what people see, ready for a page or a
paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import warehouse
from tests.support.cli import Caller
from warehouse.errors import MisuseError
from warehouse.tables.markup import in_latex, in_markdown, in_percent
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import number

DEMO = Path(__file__).parents[2] / "docs" / "demo" / "results"
ROWS = [
    {
        "model": "a_b & c",
        "figure": number(0.655, 3),
        "se": number(0.007, 3),
        "flags": "x|y",
    },
    {"model": "50 %", "figure": number(0.5, 3), "se": None, "flags": ""},
]
VIEW = View(
    (
        "sums by acc",
        "a leads",
        Table.of(ROWS, hide_empty=("flags",)),
        "errors paired",
        TableNote("split: of no column here", "split"),
        "",
        "bye",
    )
)


def test_columns_are_explained_behind_a_gap_too() -> None:
    """In a paragraph of their own, and only those that a table shows."""
    columns = [
        TableNote("figure: a share", "figure"),
        TableNote("flags: of none", "flags"),
    ]
    view = View(
        (Table.of(ROWS[1:], hide_empty=("flags",)), "errors paired", "", *columns)
    )
    assert in_markdown(view).endswith("errors paired\n\nfigure: a share\n")
    assert "figure: a share" in in_latex(view) and "of none" not in in_latex(view)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("markup") / "demo.duckdb"
    warehouse.connect(f"duckdb:///{path}").ingest(DEMO)
    return str(path)


def test_markdown_has_the_error_in_brackets_and_what_belongs_to_the_table() -> None:
    assert in_markdown(VIEW).split("\n\n") == [
        "sums by acc  \na leads",
        "| model | figure (se) | flags |\n| --- | ---: | --- |\n"
        "| a_b & c | 0.655 (0.007) | x\\|y |\n| 50 % | 0.500 |  |",
        "errors paired",
        "bye\n",
    ]


def test_latex_is_a_table_of_booktabs() -> None:
    text = in_latex(VIEW)
    assert r"\caption{sums by acc.}" in text and r"\begin{tabular}{lrl}" in text
    assert r"\label{tab:sums-by-acc}" in text
    assert (
        r"a\_b \& c & 0.655 (0.007) & x\textbar{}y \\" in text
        and r"50 \% & 0.500 &  \\" in text
    )
    assert (
        text.index(r"\bottomrule")
        < text.index("a leads. errors paired.")
        < text.index(r"\end{table}")
        < text.index("bye.")
    )
    assert "split" not in text


def test_an_error_belongs_to_the_figure_that_it_follows() -> None:
    rows = [
        {"mean": number(0.5, 1), "difficulty": number(1.5, 1), "se": number(0.2, 1)}
    ]
    assert "| 0.5 | 1.5 (0.2) |" in in_markdown(View((Table.of(rows),)))


@pytest.mark.parametrize(
    "command",
    [
        "leaderboard sums",
        "compare model-a model-b",
        "pairs sums",
        "noise variance sums",
    ],
)
def test_commands_write_what_they_show(run: Caller, db: str, command: str) -> None:
    plain, markdown, latex = (
        run(*command.split(), *more, db=db).out
        for more in ((), ("--markdown",), ("--latex",))
    )
    figure = r"\d\.\d{3}\b|\d+\.\d [%\\(]|[+-]\d+\.\d\b"
    figures = {text.rstrip(" %(") for text in re.findall(figure, plain)}
    assert figures
    assert all(text in markdown and text in latex for text in figures)
    assert latex.count(r"\begin{table}") == markdown.count("| ---") // max(
        1, markdown.count("| ---")
    )
    html = run(*command.split(), "--html", db=db).out
    assert html.startswith("<div>") and all(figure in html for figure in figures)


def test_columns_are_chosen_and_forms_exclude_each_other(run: Caller, db: str) -> None:
    chosen = run(
        "leaderboard", "sums", "--markdown", "--columns", "model,estimate", db=db
    ).out
    assert "| model | estimate |" in chosen
    run("leaderboard", "sums", "--latex", "--json", db=db).fails(
        2, "give one of --json"
    )
    run("leaderboard", "sums", "--latex", "--columns", "modle", db=db).fails(
        2, "no column 'modle'"
    )


def test_results_write_the_same_from_python(run: Caller, db: str) -> None:
    board = warehouse.connect(f"duckdb:///{db}").leaderboard("sums")
    assert board.to_latex() == run("leaderboard", "sums", "--latex", db=db).out
    assert board.to_markdown() == run("leaderboard", "sums", "--markdown", db=db).out


def test_shares_are_written_in_per_cent_where_asked(run: Caller, db: str) -> None:
    plain, percent = (
        run("leaderboard", "reading", "--markdown", *more, db=db).out
        for more in ((), ("--percent",))
    )
    assert plain == percent and "| 62.2 % (5.1) | [51.9, 71.5] |" in plain
    assert (
        r"& 57.8 \% & +4.4 &"
        in run("compare", "model-a", "model-b", "--latex", "--percent", db=db).out
    )
    board = warehouse.connect(f"duckdb:///{db}").leaderboard("reading")
    assert board.to_markdown(percent=True) == percent
    run("leaderboard", "reading", "--percent", db=db).fails(
        2, "--percent goes with --markdown or --latex or --html"
    )
    table = Table.of([{"figure": number(6.5, 1), "se": number(0.7, 1)}])
    with pytest.raises(MisuseError, match="figure holds 6.5"):
        in_percent(View((table,)))
