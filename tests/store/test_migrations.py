"""The schema goes up and down with data in it; a store of another revision is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from threading import Barrier
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from tests.support.stores import select
from warehouse.errors import MisuseError, SchemaVersionError, StoreError
from warehouse.store.computed import prompt_vectors, result_cache
from warehouse.store.computed.result_cache import StoredQuestion
from warehouse.store.curate import aliases, headline_metric, metric_aliases
from warehouse.store.curate.prices import Price, put_prices
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader
from warehouse.store.open import open_store
from warehouse.store.schema import migrate, revision, tables
from warehouse.store.schema.objects import foreign_objects
from warehouse.store.sql import query_files


def names(store: Any) -> tuple[set[str], set[str]]:
    with store.begin() as connection:
        inspector = sa.inspect(connection)
        return set(inspector.get_table_names()), set(inspector.get_view_names())


def test_there_is_one_newest_migration_and_the_program_knows_it() -> None:
    config = Config()
    config.set_main_option("script_location", str(files("warehouse.migrations")))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [revision.HEAD]


def test_an_empty_database_becomes_a_store(bare_url: str) -> None:
    with open_store(bare_url, create=True) as store:
        found, views = names(store)
        assert found == {*tables.metadata.tables, "alembic_version"}
        assert views == {view.name for view in query_files.views(store.dialect.name)}
        assert (migrate.schema_drift(store), revision.found(store)) == (
            [],
            revision.HEAD,
        )
        for view in sorted(views):
            assert store.arrow(f'select * from "{view}"').num_rows == 0
    open_store(bare_url).close()


def objects(store: Any) -> set[tuple[Any, ...]]:
    """Tables, views, constraints and indexes of a store, each as its engine describes
    it; views of a file by name, since DuckDB 2 prints what it has not yet written another
    way."""
    queries = {
        "duckdb": (
            "select sql from duckdb_tables()",
            "select view_name from duckdb_views() where not internal",
        ),
        "postgresql": (
            "select table_name, ordinal_position, column_name, udt_name, is_nullable, "
            "column_default"
            " from information_schema.columns where table_schema = current_schema()",
            "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from "
            "pg_constraint",
            "select indexdef from pg_indexes where schemaname = current_schema()",
        ),
    }
    return {
        tuple(row.values())
        for query in queries[store.dialect.name]
        for row in select(store, query)
    }


def test_a_new_store_is_what_the_steps_lead_to(kit: Any) -> None:
    made_at_once = objects(kit.store)
    assert any("bytes_key" in str(item) for item in made_at_once)
    migrate.downgrade(kit.store, "base")
    assert len(objects(kit.store)) < len(made_at_once) / 5
    migrate.upgrade(kit.store)
    assert objects(kit.store) == made_at_once
    assert foreign_objects(kit.store) == []  # their texts, too


@pytest.mark.rare
def test_threads_make_stores_of_their_own_at_the_same_time(tmp_path: Path) -> None:
    both = Barrier(2)

    def make(name: str) -> list[str]:
        duckdb.connect(tmp_path / name).close()
        with open_store(str(tmp_path / name), write=True, check=False) as store:
            both.wait()
            migrate.upgrade(store)
            return migrate.schema_drift(store)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(make, ("a.duckdb", "b.duckdb"))) == [[], []]


def test_down_and_up_again_with_data(kit: Any) -> None:
    header = kit.header(published=(kit.figure("acc", 0.5),), suite=("top",))
    option = [{"choice_index": 0, "loglikelihood": -1.0}]
    rows = [kit.row("a", 1.0, response="x", choice_scores=option, metadata='{"t": 1}')]
    kit.load(header, rows)
    migrate.downgrade(kit.store, "base")
    assert names(kit.store) == ({"alembic_version"}, set())
    assert revision.found(kit.store) is None
    migrate.upgrade(kit.store)
    assert (
        migrate.schema_drift(kit.store),
        kit.counts("run", "score", "id_counter"),
    ) == ([], (0, 0, 0))
    kit.loader = Loader(kit.store)
    assert kit.load(header, rows).n_runs == 1
    migrate.upgrade(kit.store)
    assert (kit.current(), kit.counts("score", "choice", "content")) == ([1], (1, 1, 1))


def test_stored_analyses_come_with_0002_and_go_without_touching_the_rest(
    kit: Any,
) -> None:
    header = kit.header()
    kit.load(header, [kit.row("a", 1.0)])
    question = StoredQuestion("kind", "quiz", "1", "fingerprint", 0)
    result_cache.put(kit.store, question, {"n": 1})
    migrate.downgrade(kit.store, "0001")
    assert "analysis" not in names(kit.store)[0]
    assert revision.found(kit.store) == "0001"
    assert kit.counts("run", "score") == (1, 1)
    migrate.upgrade(kit.store)
    assert (
        migrate.schema_drift(kit.store),
        kit.counts("run", "score", "analysis"),
    ) == ([], (1, 1, 0))
    result_cache.put(kit.store, question, {"n": 2})
    assert kit.counts("analysis") == (1,)


def test_0003_keeps_what_was_the_headline_as_the_word_of_a_tool(kit: Any) -> None:
    spec = kit.spec("f1", is_default=True)
    kit.load(
        kit.header(metrics=(spec,)), [kit.row("a", 1.0, metric="f1"), kit.row("b", 1.0)]
    )
    before = kit.all("select run_id, metric_id, n_scored from run_metric order by 2")
    migrate.downgrade(kit.store, "0002")
    said = "select is_default from benchmark_metric order by metric_id"
    assert (
        kit.all(said) == [(False,), (True,)] and "run_metric" not in names(kit.store)[0]
    )
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert (
        kit.all("select run_id, metric_id, n_scored from run_metric order by 2")
        == before
    )
    sql = (
        "select name from headline_metric join metric on metric.id = metric_id where "
        "is_default"
    )
    assert kit.all(sql) == [("f1",)]


def test_0004_keeps_the_direction_that_a_person_said(kit: Any) -> None:
    kit.load(kit.header(metrics=(kit.spec("f1"),)), [kit.row("a", 1.0, metric="f1")])
    headline_metric.direct(kit.store, kit.header().benchmark, "f1", False)
    migrate.downgrade(kit.store, "0003")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.all("select higher_is_better, direction_by from benchmark_metric") == [
        (False, None)
    ]


def test_0006_keeps_vectors_of_whole_texts_alone(kit: Any) -> None:
    kit.load(
        kit.header(), [kit.row(name, 1.0, text=f"what is {name}?") for name in "ab"]
    )
    key = prompt_vectors.declare_embedder(kit.store, "tiny", "1", 2)
    ids = [row[0] for row in kit.all("select id from prompt order by id")]
    benchmark = kit.all("select benchmark_id from prompt limit 1")[0][0]
    prompt_vectors.write_vectors(kit.store, key, ids[:1], np.ones((1, 2), np.float32))
    prompt_vectors.write_vectors(
        kit.store, key, ids[1:], np.ones((1, 2), np.float32), {benchmark: "abc"}
    )
    migrate.downgrade(kit.store, "0005")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    found = kit.all(
        "select prompt_id, template, text_hash is null from prompt_embedding order by "
        "prompt_id"
    )
    assert found == [(ids[0], None, False), (ids[1], None, True)]


def test_0009_keeps_vectors_of_questions_alone(kit: Any) -> None:
    kit.load(
        kit.header(), [kit.row(name, 1.0, text=f"what is {name}?") for name in "ab"]
    )
    key = prompt_vectors.declare_embedder(kit.store, "tiny", "1", 2)
    ids = [row[0] for row in kit.all("select id from prompt order by id")]
    benchmark = kit.all("select benchmark_id from prompt limit 1")[0][0]
    vector = np.ones((1, 2), np.float32)
    targets = prompt_vectors.PartTexts(
        "target", dict.fromkeys(ids, benchmark), {ids[1]: b"x" * 32}
    )
    prompt_vectors.write_vectors(kit.store, key, ids[:1], vector)
    prompt_vectors.write_vectors(kit.store, key, ids[1:], vector, None, targets)
    assert kit.all("select prompt_id, part from prompt_embedding order by 1") == [
        (ids[0], None),
        (ids[1], "target"),
    ]
    migrate.downgrade(kit.store, "0008")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    found = kit.all(
        "select prompt_id, part, text_hash is null from prompt_embedding order by "
        "prompt_id"
    )
    assert found == [(ids[0], None, False), (ids[1], None, True)]
    (embedder,) = prompt_vectors.embedders(kit.store)
    assert embedder.n_prompts == 1
    assert prompt_vectors.read_vectors(kit.store, embedder).prompts.tolist() == ids[:1]


def test_0010_says_when_models_were_released(kit: Any) -> None:
    kit.load(kit.header(model="org/m"), [kit.row("a", 1.0)])
    migrate.downgrade(kit.store, "0009")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    aliases.set_release_date(kit.store, "org/m", "2024-01-31")
    assert kit.all("select name, release_date from model") == [("org/m", "2024-01-31")]


def test_0011_takes_votes_away_and_leaves_the_rest(kit: Any) -> None:
    kit.load(kit.header(model="org/m"), [kit.row("a", 1.0)])
    migrate.downgrade(kit.store, "0010")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.counts("score", "preference", "label_draw") == (1, 0, 0)
    assert migrate.check(kit.store).ok


def test_0012_prices_end_and_reasoning_has_its_own(kit: Any) -> None:
    day, until = datetime(2026, 1, 1), datetime(2026, 2, 1)
    put_prices(kit.store, [Price("org/m", day, 1.0, 2.0, reasoning=3.0, until=until)])
    migrate.downgrade(kit.store, "0011")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.all(
        "select model, valid_from, valid_until, reasoning_price from price"
    ) == [("org/m", day, None, None)]


def test_0013_keeps_what_superseded_a_run(kit: Any) -> None:
    kit.load(kit.header(), kit.rows({"a": 1.0}))
    kit.load(kit.header(), kit.rows({"a": 1.0, "b": 1.0}))
    said = "select run_id, run_key, superseded_by from run_source order by run_id"
    before = kit.all(said)
    migrate.downgrade(kit.store, "0012")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert (kit.all(said), kit.current(), [row[2] for row in before]) == (
        before,
        [2],
        [2, None],
    )
    assert migrate.check(kit.store).ok


def test_0014_keeps_the_mean_of_each_draw(kit: Any) -> None:
    """As a load does: where each draw has as many scores, without weights."""
    several = [
        kit.row(prompt, value * draw, draw=draw)
        for prompt, value in (("a", 0.5), ("b", 0.2))
        for draw in (1, 2)
    ]
    loads = (
        several,
        [*several, kit.row("c", 1.0, draw=1)],
        [
            *several[1:],
            kit.row(
                "a", scores=[{"metric": "acc", "value": 0.5, "weight": 2.0}], draw=1
            ),
        ],
        [*several, kit.row("a", scores=[{"metric": "acc", "value": 1.0}], draw=-1)],
        kit.rows({"a": 1.0, "b": 0.0}),
        [
            kit.row("a", 1.0, draw=1),
            kit.row("b", 0.0, draw=2),
        ],  # a draw of its own: as many means as scores
    )
    for number, rows in enumerate(loads):
        kit.load(kit.header(str(number), model=f"org/{number}"), rows)
    said = "select run_id, draw, value, n_prompts from draw_score order by draw"
    assert (before := kit.all(said)) == [
        (1, 1, pytest.approx(0.35), 2),
        (1, 2, pytest.approx(0.7), 2),
    ]
    migrate.downgrade(kit.store, "0013")
    migrate.upgrade(kit.store)
    assert (kit.all(said), migrate.schema_drift(kit.store)) == (before, [])
    assert migrate.check(kit.store).ok


def test_0017_adds_what_is_written_into_a_cache(kit: Any) -> None:
    tokens = {"cached_tokens": 100}
    row = kit.row(
        "a", 1.0, response="x", input_tokens=1000, output_tokens=10, transcript=tokens
    )
    kit.load(kit.header("r", started_at=datetime(2026, 3, 6)), [row])
    said = "select cached_tokens, cache_write_tokens from transcript"
    assert (before := kit.all(said)) == [(100, None)]
    migrate.downgrade(kit.store, "0014")
    assert kit.all("select cached_tokens from transcript") == [(100,)]
    migrate.upgrade(kit.store)
    assert (kit.all(said), migrate.schema_drift(kit.store)) == (before, [])
    assert migrate.check(kit.store).ok


def test_0018_keeps_what_is_said_of_benchmarks(kit: Any) -> None:
    metrics = (kit.spec("acc"), kit.spec("correct"))
    rows = [kit.row("a", 1.0), kit.row("b", 1.0, metric="correct")]
    kit.load(kit.header(metrics=metrics), rows)
    metric_aliases.alias_metric(kit.store, "correct", "acc")
    migrate.downgrade(kit.store, "0017")
    assert "declaration" not in names(kit.store)[0]
    assert kit.counts("score") == (2,)
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.counts("declaration", "score") == (0, 2)
    metric_aliases.alias_metric(kit.store, "correct", "acc", benchmark="quiz")
    assert kit.counts("declaration") == (1,)
    assert migrate.check(kit.store).ok


CHANGES = {
    "drop view score_summary cascade": "view score_summary is missing",
    "alter table rejection drop column found": "add column: rejection, found",
    "alter table content add column more varchar": "remove column: content, more",
    "drop table choice": "add table: choice",
    "alter table rejection alter column found type integer using null": (
        "modify type: rejection, found"
    ),
    "comment on column rejection.found is 'x'": "modify comment: rejection, found",
    "alter table rejection alter column source_id drop not null": (
        "modify nullable: rejection, source_id"
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_drift_is_told_in_words(kit: Any, change: str) -> None:
    assert migrate.schema_drift(kit.store) == []  # what the engine says now is known
    kit.do(change)
    found = migrate.schema_drift(kit.store)
    assert any(CHANGES[change] in line for line in found), found


def test_a_missing_view_comes_back(kit: Any) -> None:
    kit.do("drop view score_summary cascade")
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ("0000", ("0000", revision.HEAD, "store upgrade")),
        (None, ("holds no store", " init")),
        ("9999", ("9999", revision.HEAD, "pip install --upgrade")),
    ],
    ids=["older", "none", "newer"],
)
def test_another_revision_is_refused(
    store_url: str, recorded: str | None, words: tuple[str, ...]
) -> None:
    with open_store(store_url, write=True) as store, store.begin() as connection:
        connection.execute(sa.text("delete from alembic_version"))
        if recorded:
            connection.execute(
                sa.text("insert into alembic_version values (:r)"), {"r": recorded}
            )
    with pytest.raises(SchemaVersionError) as refused:
        open_store(store_url)
    assert all(word in str(refused.value) for word in words)
    assert (refused.value.found, refused.value.expected) == (recorded, revision.HEAD)
    with open_store(store_url, check=False) as store:
        assert revision.found(store) == recorded


@pytest.fixture
def empty_url(bare_url: str) -> str:
    """URL of a database that exists and has no tables."""
    if bare_url.startswith("duckdb:///"):
        duckdb.connect(bare_url.removeprefix("duckdb:///")).close()
    return bare_url


def test_a_database_that_is_no_store_is_refused(empty_url: str) -> None:
    with pytest.raises(SchemaVersionError, match="holds no store.* init"):
        open_store(empty_url, write=True)


def test_no_such_revision(kit: Any) -> None:
    for move in (migrate.upgrade, migrate.downgrade):
        with pytest.raises(MisuseError, match=rf"0815.*{revision.HEAD}"):
            move(kit.store, "0815")
    assert migrate.schema_drift(kit.store) == []


def test_a_step_that_fails_leaves_the_store_as_it_was(empty_url: str) -> None:
    with open_store(empty_url, write=True, check=False) as store:
        with store.begin() as connection:
            connection.execute(sa.text("create table score (mine integer)"))
        with pytest.raises(StoreError, match="score"):
            migrate.upgrade(store)
        assert names(store) == ({"score"}, set())


def test_0015_takes_what_stands_for_the_word_of_every_source(kit: Any) -> None:
    """So a store of an earlier version goes on: what only a forgotten source can have
    said goes with it."""
    spec = kit.spec("f1", higher_is_better=False, low=0.0, high=5.0, kind="bounded")
    kit.load(
        kit.header("1", metrics=(spec,), suite=("top",)),
        [kit.row("a", 1.0, metric="f1", target="A")],
    )
    kit.load(kit.header("2", model="org/b"), kit.rows({"a": 0.0, "b": 1.0}))
    before = kit.all("select * from benchmark_metric order by id")
    migrate.downgrade(kit.store, "0014")
    assert "statement" not in names(kit.store)[0]
    migrate.upgrade(kit.store)
    assert migrate.schema_drift(kit.store) == []
    assert kit.all("select * from benchmark_metric order by id") == before
    about = kit.all(
        "select source_id, about, count(*) from statement group by 1, 2 order by 1, 2"
    )
    assert [tuple(row) for row in about] == [
        *((1, "benchmark_metric", 1), (1, "earlier version", 1), (1, "suites", 2)),
        *((2, "benchmark_metric", 1), (2, "earlier version", 1), (2, "suites", 2)),
    ]
    told: list[str] = []
    source_ledger.forget(kit.store, "2", say=told.append)
    assert migrate.check(kit.store).ok
    assert [
        note.startswith("of 1 of its prompts another source stays") for note in told
    ] == [True]
    assert kit.all("select name from metric") == [("f1",)]
    said = kit.one("select higher_is_better, low, high from benchmark_metric")
    assert tuple(said) == (False, 0.0, 5.0)
    assert kit.one("select target from prompt") == "A"
