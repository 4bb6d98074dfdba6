"""Every query that users can run stays inside the SQL that all engines read alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.sql_lint import (
    STORES,
    Schema,
    faults,
    filled,
    reads_facts,
    statement_faults,
)
from warehouse.store.schema import migrate, tables
from warehouse.store.sql import query_files

QUERIES = [*query_files.views(), *query_files.library(), *migrate.checks()]
ROOT = Path(__file__).resolve().parents[2]
#: Folders of statements that the program runs for itself -> the engines that read them.
OWN = {
    "analysis": STORES,
    "interchange": STORES,
    "lake": STORES,
    "refresh": STORES,
    "store": STORES,
    "ingest": ("duckdb",),
    "file_objects": ("duckdb",),
    "server_objects": ("postgres",),
    "roles": ("postgres",),
    "scans": STORES,
    "vacuum": STORES,
}
OWN_FILES = {
    path.relative_to(ROOT / "queries").with_suffix("").as_posix(): path
    for folder in OWN
    for path in sorted((ROOT / "queries" / folder).rglob("*.sql"))
}
#: Those that one engine alone runs, and so in its own words.
ONE_ENGINE = ("ingest", "roles", "file_objects", "server_objects")
CHANGES = ("delete", "insert", "update", "create")
SQL = re.compile(
    r"\s*(select|with|insert|update|delete)\b.*\b(from|into|set)\b",
    re.IGNORECASE | re.DOTALL,
)
#: A text that begins so; files without one need not be parsed.
BEGINS = re.compile(
    r"""["'](\s|\\[nt])*(select|with|insert|update|delete)\b""", re.IGNORECASE
)
#: Lines of SQL that stand in code.
MOST_SQL = 2
FACTS = {table.name for table in tables.RUN_FACTS}


@cache
def schema() -> Schema:
    columns = {
        table.name: set(table.columns.keys()) for table in tables.metadata.sorted_tables
    }
    facts = set(FACTS)
    for view in query_files.views():
        columns[view.name] = {name for name, _ in view.columns}
        facts |= {view.name} if reads_facts(view.text, facts) else set()
    return Schema(columns, facts)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_query_is_portable(query: query_files.NamedQuery) -> None:
    assert faults(query.text, schema()) == []


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_query_is_laid_out_to_be_read(query: query_files.NamedQuery) -> None:
    assert_laid_out(query.text)


def assert_laid_out(text: str) -> None:
    lines = text.splitlines()
    assert text.endswith("\n")
    assert max(map(len, lines)) <= 100
    assert len(lines) < 300
    assert [line for line in lines if line != line.rstrip() or "\t" in line] == []


def test_every_file_is_under_the_lint() -> None:
    known = {Path(query.path) for query in QUERIES} | set(OWN_FILES.values())
    assert {path.resolve() for path in (ROOT / "queries").rglob("*.sql")} == {
        path.resolve() for path in known
    }


@pytest.mark.parametrize("name", OWN_FILES)
def test_an_own_statement_is_read_by_its_engines(name: str) -> None:
    folder = name.split("/")[0]
    text = filled(query_files.query_text(*name.rsplit("/", 1)))
    first = next(line for line in text.splitlines() if not line.startswith("--"))
    if folder in ONE_ENGINE or first.startswith(CHANGES):
        assert [
            fault for engine in OWN[folder] for fault in statement_faults(text, engine)
        ] == []
    else:
        assert faults(text, schema(), OWN[folder]) == []


@pytest.mark.parametrize("name", OWN_FILES)
def test_an_own_statement_says_what_it_is(name: str) -> None:
    text = query_files.query_text(*name.rsplit("/", 1))
    assert_laid_out(text)
    header = [line for line in text.splitlines() if line.startswith("--")]
    assert len(header[0]) > len("-- grain: ") and not header[0].startswith("-- grain:")
    assert sum(line.startswith("-- grain: ") for line in header) == 1


def test_every_own_statement_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in code_files())
    assert [
        name for name in OWN_FILES if f'"{name.rsplit("/", 1)[1]}"' not in code
    ] == []


def test_no_long_sql_in_code() -> None:
    """What has more than two lines lies in queries/, in sight of this lint."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in code_files()
        for line in long_sql(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def code_files() -> Iterator[Path]:
    return (
        path for room in ("warehouse", "cli") for path in (ROOT / room).rglob("*.py")
    )


def long_sql(code: str) -> Iterator[int]:
    """First lines of the texts of more lines that are SQL; docstrings are none."""
    if not BEGINS.search(code):
        return
    tree = ast.parse(code)
    passed = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.JoinedStr)
        for part in ast.iter_child_nodes(node)
    }
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(_parts(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        n_lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if "\n" in text:  # the quotes may stand on lines of their own
            n_lines = min(n_lines, len(text.strip().splitlines()))
        if n_lines > MOST_SQL and SQL.match(text):
            yield node.lineno


def _parts(node: ast.JoinedStr) -> Iterator[str]:
    return (
        part.value if isinstance(part, ast.Constant) else "x" for part in node.values
    )


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ('A = """\nselect a\nfrom t\nwhere b\n"""\n', [1]),
        ('a = 1\nA = (\n  "update t"\n  " set a = 1"\n  " where b"\n)\n', [3]),
        ('A = f"""\nwith x as (select {a}\nfrom t)\nselect 1"""\n', [1]),
        ('A = """select a\nfrom t"""\n', []),
        ('def f():\n  """Select what\n\n  comes from b.\n  """\n', []),
        ('A = f"select a from (\\n{b}\\n) as q"\n', []),
    ],
)
def test_long_sql_is_found(code: str, lines: list[int]) -> None:
    assert list(long_sql(code)) == lines


def test_facts_are_known_through_views() -> None:
    known = schema().facts
    assert {
        "score_summary",
        "run_score",
        "checkpoint_curve",
        "prompt_difficulty",
    } <= known
    assert not {"run_current", "benchmark_tree", "ingest_log"} & known


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        (
            "select a from t qualify row_number() over (order by a nulls last) = 1",
            "QUALIFY",
        ),
        ("select list_transform(b, x -> x + 1) as c from t", "a lambda"),
        ("select [1, 2] as c", "a list"),
        ("select list(a) as c from t", "array_agg"),
        ("select b[1] as c from t", "a subscript"),
        ("select {'a': 1} as c", "not read by every engine"),
        ("from t pivot (sum(a) for b in ('x'))", "PIVOT"),
        ("select arg_max(a, b) as c from t", "arg_max"),
        ("select a, count(*) as n from t group by all", "GROUP BY ALL"),
        ("select a, count(*) as n from t group by 1", "number of a column"),
        (
            "select quantile_cont(a, 0.5) as c from t",
            "percentile_cont() without WITHIN GROUP",
        ),
        ("select median(a) as c from t", "median"),
        ("select log(a) as c from t", "log"),
        ("select a::bigint as c from t", "::"),
        ("select cast(a as varchar) as c from t", "casts to"),
        ("select cast(a as double precision) as c from t", "casts to"),
        (
            "select try_cast(a as bigint) as c from t",
            "not read by every engine|TRY_CAST",
        ),
        ("select a from t order by a", "without NULLS LAST"),
        ("select a from t order by a desc", "without NULLS LAST"),
        ("select sum(a) over (order by b) as c from t", "without NULLS LAST"),
        (
            "select sum(a) over (order by b nulls last range between 1 preceding and "
            "current row) as c from t",
            "window frame of RANGE",
        ),
        ("select round(a) as a, b from t order by a nulls last", "alias a shadows"),
        (
            "select b as a, count(*) as n from t group by b having max(a) > 0",
            "alias a shadows",
        ),
        ("select sum(b) as a from t group by a", "alias a shadows"),
        (
            "with x as (select b from t) select b + 1 as b from x order by b nulls "
            "last",
            "shadows",
        ),
        (
            "with x as (select a from fact) select x.a from x join x y on x.a = y.a",
            "uses x, which holds a fact table, 2 times",
        ),
        (
            "with x as (select a from fact), y as (select a from x) select y.a from y "
            "join y z on y.a = z.a",
            "uses y, which holds a fact table, 2 times",
        ),
        ("select * exclude (a) from t", "EXCLUDE"),
        ("select columns('a.*') from t", "not read by every engine|COLUMNS|columns"),
        ("select distinct on (a) a, b from t", "DISTINCT ON"),
        ('select "a" from t', "quotes the name"),
        ("select a from t where b like 'x%'", "percent sign"),
        ("select a from t where b ilike 'x'", "ILIKE"),
        ("select a from t where a is not distinct from b", "DISTINCT FROM"),
        ("select regexp_replace(a, 'x', 'y') as c from t", "regexp_replace"),
        ("select sha256(a) as c from t", "sha"),
        ("select current_timestamp as c", "current_timestamp"),
        ("select a from t using sample 10", "not read by every engine|sample"),
        ("select 1 as a; select 2 as b", "not one SELECT"),
        ("create table x as select 1 as a", "not one SELECT"),
        ("select from where", "not read by every engine"),
    ],
)
def test_a_fault_is_found(sql: str, fault: str) -> None:
    known = Schema({"t": {"a", "b"}, "fact": {"a"}}, {"fact"})
    found = "; ".join(faults(sql, known))
    assert any(word in found for word in fault.split("|")), found


@pytest.mark.parametrize(
    "sql",
    [
        "with x as (select a from t) select x.a from x join x y on x.a = y.a",  # no fact
        "select t.a, sum(b) filter (where b > 0) as total from t group by t.a",
        "select round(a) as a from t order by t.a nulls last",  # qualified: no doubt
        "select a as place from t order by place nulls last",
        "select percentile_cont(0.5) within group (order by a nulls last) as c from t",
        "select avg(a) over (order by b nulls last rows between 2 preceding and "
        "current row) as c from t",
        "select case when a > 0 then 'x' || b end as c, cast(a as bigint) as d from t",
        "with recursive n as (select 0 as j union all select j + 1 as j from n where j "
        "< 9) select j from n",
        "select a from t where a = :wanted limit :limit",
    ],
)
def test_what_is_portable_passes(sql: str) -> None:
    assert faults(sql, Schema({"t": {"a", "b"}}, {"fact"})) == []
