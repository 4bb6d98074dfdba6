"""``query``: the forms of an answer, made of the same table whatever engine gave it.

What engines do otherwise is in `test_query.py`, and each of their types in
`tests/queries/test_query_types.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.cli import Caller, in_fork, on_a_terminal
from tests.support.pages import Terminal
from warehouse.cli.ui.output import _by_importance
from warehouse.store.sql import query_files


def test_json_lines_are_the_objects_of_the_array(run: Caller, url: str) -> None:
    # stored rows: sums of parallel threads differ in their last digit from one question
    # to the next
    order = "order by run_id, metric_id, variant_id, draw"
    asked = (
        "query",
        "--sql",
        f"select * from score join run_current using (run_id) {order}",
    )
    lines = run(*asked, "--jsonl", db=url).out.splitlines()
    assert [json.loads(line) for line in lines] == run(*asked, "--json", db=url).rows
    assert (
        run("query", "--sql", "select 1 as n where 1 = 0", "--jsonl", db=url).out == ""
    )
    run("query", "score_summary", "--jsonl", "--csv", db=url).fails(
        2, "one of --json, --jsonl, --csv"
    )


def test_a_statement_comes_from_standard_input(url: str, tmp_path: Path) -> None:
    asked = ["--db", url, "query", "--sql", "-", "-p", "n=3", "--jsonl"]
    ended = in_fork(*asked, folder=tmp_path, text="select :n as given\n")
    assert (ended.returncode, ended.stdout) == (0, '{"given":"3"}\n')
    ended = in_fork(*asked, folder=tmp_path, text=" \n")
    assert (
        ended.returncode == 2 and "expected a SELECT on standard input" in ended.stderr
    )


def test_columns_of_one_name_are_told_apart(
    run: Caller, url: str, tmp_path: Path
) -> None:
    sql = "select 1 as a, 2 as a, 3 as a_2, 4 as a"
    expected = {"a": 1, "a_3": 2, "a_2": 3, "a_4": 4}
    assert run("query", "--sql", sql, "--json", db=url).rows == [expected]
    assert (
        run("query", "--sql", sql, "--csv", db=url).out.splitlines()[0]
        == "a,a_3,a_2,a_4"
    )
    file = tmp_path / "x.parquet"
    assert run("query", "--sql", sql, "--parquet", str(file), db=url).code == 0
    assert pq.read_table(file).to_pylist() == [expected]


def test_no_rows_are_an_empty_array(run: Caller, url: str) -> None:
    sql = "select model from score_summary where model = 'nobody'"
    assert run("query", "--sql", sql, "--json", db=url).out == "[]\n"
    assert run("query", "--sql", sql, "--csv", db=url).out == "model\n"
    assert run("query", "--sql", sql, db=url).out == "no rows\n"


def test_without_a_name_all_queries_are_listed(run: Caller) -> None:
    rows = run("query", "--json").rows
    assert {row["name"] for row in rows} == {
        query.name for query in (*query_files.views(), *query_files.library())
    }
    assert all(row["meaning"] and row["rows"] for row in rows)
    assert "score_summary" in run("query").out


def test_cells_that_a_spreadsheet_would_run(run: Caller, url: str) -> None:
    sql = 'select cast(:a as varchar) as a, -1.5 as b, cast(:c as varchar) as "=c"'
    given = ["-p", "a==cmd|' /C calc'!A0", "-p", "c=plain\x1b[2J"]
    plain = run("query", "--sql", sql, *given, "--csv", db=url).out
    assert plain == "a,b,=c\n=cmd|' /C calc'!A0,-1.5,plain\\x1b[2J\n"
    safe = run("query", "--sql", sql, *given, "--csv-safe", db=url).out
    assert safe == "a,b,'=c\n'=cmd|' /C calc'!A0,-1.5,plain\\x1b[2J\n"
    texts = ("+1", "-1", "@x", "\t=1", " =1", "\uff1d1")
    named = " union all ".join(
        f"select cast(:t{place} as varchar) as a" for place in range(len(texts))
    )
    given = [
        word for place, text in enumerate(texts) for word in ("-p", f"t{place}={text}")
    ]
    found = run("query", "--sql", named, *given, "--csv-safe", db=url).out.splitlines()
    assert len(found) == 1 + len(texts) and all(
        line.startswith("'") for line in found[1:]
    ), found


def test_a_narrow_terminal_keeps_the_figures_of_a_view(url: str) -> None:
    head = " ".join(on_a_terminal(80, "--db", url, "query", "score_summary")[:2])
    assert "model" in head and "estimate" in head and "condition_key" not in head


def test_the_list_of_queries_fits_a_terminal(tmp_path: Path, run: Caller) -> None:
    shown = Terminal(tmp_path, columns=80)("warehouse query")
    assert max(map(len, shown.splitlines())) <= 80
    names = {row["name"] for row in run("query", "--json").rows}
    assert names == set(re.findall(r"^  (\w+) ", shown, re.MULTILINE))
    assert "(benchmark, min_conditions=2, limit=20)" in " ".join(shown.split())


def test_a_parameter_that_is_lacking_is_told_with_what_to_type(
    run: Caller, url: str
) -> None:
    asked = run("query", "hardest_prompts", db=url)
    asked.fails(
        2, "benchmark (text): name of the benchmark; in the command: -p benchmark="
    )


def test_columns_without_a_value_are_the_first_to_go() -> None:
    table = pa.table(
        {
            "name": ["a", "b"],
            "text": pa.nulls(2, pa.string()),
            "x_hash": ["1", "2"],
            "n": [1, 2],
        }
    )
    assert _by_importance(table)[:2] == ["text", "x_hash"]
