"""Every query that users can run stays inside the SQL that all engines read alike."""

from __future__ import annotations

import pytest

from tests.support.sql_lint import Schema, faults, reads_facts
from warehouse.store.schema import tables
from warehouse.store.sql import query_files

QUERIES = [*query_files.views(), *query_files.library()]
FACTS = {table.name for table in tables.RUN_FACTS}


def schema() -> Schema:
    columns = {table.name: set(table.columns.keys()) for table in tables.metadata.sorted_tables}
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
    lines = query.text.splitlines()
    assert query.text.endswith("\n")
    assert max(map(len, lines)) <= 100
    assert len(lines) < 300
    assert [line for line in lines if line != line.rstrip() or "\t" in line] == []


def test_facts_are_known_through_views() -> None:
    known = schema().facts
    assert {"score_summary", "run_score", "checkpoint_curve", "prompt_difficulty"} <= known
    assert not {"run_current", "benchmark_tree", "ingest_log"} & known


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("select a from t qualify row_number() over (order by a nulls last) = 1", "QUALIFY"),
        ("select list_transform(b, x -> x + 1) as c from t", "a lambda"),
        ("select [1, 2] as c", "a list"),
        ("select list(a) as c from t", "array_agg"),
        ("select b[1] as c from t", "a subscript"),
        ("select {'a': 1} as c", "not read by every engine"),
        ("from t pivot (sum(a) for b in ('x'))", "PIVOT"),
        ("select arg_max(a, b) as c from t", "arg_max"),
        ("select a, count(*) as n from t group by all", "GROUP BY ALL"),
        ("select a, count(*) as n from t group by 1", "number of a column"),
        ("select quantile_cont(a, 0.5) as c from t", "percentile_cont() without WITHIN GROUP"),
        ("select median(a) as c from t", "median"),
        ("select log(a) as c from t", "log"),
        ("select a::bigint as c from t", "::"),
        ("select cast(a as varchar) as c from t", "casts to"),
        ("select cast(a as double precision) as c from t", "casts to"),
        ("select try_cast(a as bigint) as c from t", "not read by every engine|TRY_CAST"),
        ("select a from t order by a", "without NULLS LAST"),
        ("select a from t order by a desc", "without NULLS LAST"),
        ("select sum(a) over (order by b) as c from t", "without NULLS LAST"),
        (
            "select sum(a) over (order by b nulls last range between 1 preceding and current row)"
            " as c from t",
            "window frame of RANGE",
        ),
        ("select round(a) as a, b from t order by a nulls last", "alias a shadows"),
        ("select b as a, count(*) as n from t group by b having max(a) > 0", "alias a shadows"),
        ("select sum(b) as a from t group by a", "alias a shadows"),
        ("with x as (select b from t) select b + 1 as b from x order by b nulls last", "shadows"),
        (
            "with x as (select a from fact) select x.a from x join x y on x.a = y.a",
            "uses x, which holds a fact table, 2 times",
        ),
        (
            "with x as (select a from fact), y as (select a from x)"
            " select y.a from y join y z on y.a = z.a",
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
        "select avg(a) over (order by b nulls last rows between 2 preceding and current row) as c"
        " from t",
        "select case when a > 0 then 'x' || b end as c, cast(a as bigint) as d from t",
        "with recursive n as (select 0 as j union all select j + 1 as j from n where j < 9)"
        " select j from n",
        "select a from t where a = :wanted limit :limit",
    ],
)
def test_what_is_portable_passes(sql: str) -> None:
    assert faults(sql, Schema({"t": {"a", "b"}}, {"fact"})) == []
