"""The section store of the command line, on both engines."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.config import KNOWN
from warehouse.store.engines import full_connection, parse_url
from warehouse.store.engines.duckdb_dialect import DRIVER
from warehouse.store.engines.urls import full_url
from warehouse.store.open import open_store
from warehouse.store.schema import revision


def change(url: str, statement: str) -> None:
    with open_store(url, write=True, check=False) as store, store.begin() as connection:
        connection.execute(sa.text(statement))


def fill(url: str) -> None:
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    rows.scores(rows.run("org/a", "quiz"), {"p1": 1.0, "p2": 0.0})
    with open_store(url, create=True) as store:
        rows.write(store)


def test_init_makes_a_store_once(run: Caller, bare_url: str) -> None:
    first, second = run("store", "init", db=bare_url), run("store", "init", db=bare_url)
    assert (first.code, second.code) == (0, 0)
    assert first.err.startswith("created ") and second.err == ""
    assert first.out == second.out and revision.HEAD in first.out
    assert run("store", "check", db=bare_url).code == 0


@pytest.mark.rare
def test_tables_of_somebody_else_are_left_alone(
    run: Caller, bare_url: str, tmp_path: Path
) -> None:
    dump = tmp_path / "a.csv"
    dump.write_text("model,benchmark,prompt_id,score\norg/a,quiz,p1,1\n")
    url = full_url(parse_url(bare_url))
    if url.drivername == "duckdb":
        url = url.set(drivername=DRIVER)
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(sa.text("create table theirs as select 1 as number"))
    engine.dispose()
    refused = run("ingest", str(dump), db=bare_url)
    assert (
        refused.code == 4
        and "theirs" in refused.err
        and refused.err.rstrip().endswith("init")
    )
    with open_store(bare_url, check=False) as store, store.begin() as connection:
        assert sa.inspect(full_connection(connection)).get_table_names() == ["theirs"]
    assert run("store", "init", db=bare_url).code == 0  # who says so gets it
    assert run("ingest", str(dump), db=bare_url).code == 0
    assert run("store", "check", db=bare_url).code == 0
    # what `downgrade base` leaves is nobody else's
    change(bare_url, "drop table theirs")
    assert run("store", "downgrade", "base", "--yes", db=bare_url).code == 0
    assert run("ingest", str(dump), db=bare_url).code == 0


def test_a_damaged_file_is_told_with_what_to_do(run: Caller, tmp_path: Path) -> None:
    file = tmp_path / "store.duckdb"
    fill(f"duckdb:///{file}")
    content = bytearray(file.read_bytes())
    start = 3 * 4096  # behind the headers
    content[start + 16 :] = bytes(255 - byte for byte in content[start + 16 :])
    file.write_bytes(content)
    run("list", "runs", db=f"duckdb:///{file}").fails(
        4, "cannot open", "the file is damaged", "backup"
    )


def test_a_schema_of_another_version_is_refused_with_the_repair(
    run: Caller, store_url: str
) -> None:
    run("store", "init", db=store_url)
    change(store_url, "update alembic_version set version_num = '0000'")
    run("list", "runs", db=store_url).fails(4, "0000", revision.HEAD, "store upgrade")
    run(
        "ingest", str(Path(__file__).parents[1] / "data/tabular/long.csv"), db=store_url
    ).fails(4, "0000")
    run("store", "init", db=store_url).fails(4, "0000")
    change(store_url, "update alembic_version set version_num = '9999'")
    run("list", "runs", db=store_url).fails(4, "9999", "pip install --upgrade")
    (row,) = run("store", "current", "--json", db=store_url).rows
    assert (row["schema"], row["program"]) == ("9999", revision.HEAD)


@pytest.mark.rare
def test_down_and_up_again(run: Caller, store_url: str) -> None:
    run("store", "init", db=store_url)
    assert run("store", "downgrade", "base", "--yes", db=store_url).out.endswith(
        "-> empty\n"
    )
    run("list", "runs", db=store_url).fails(4, "holds no store", "init")
    assert f"empty -> {revision.HEAD}" in run("store", "upgrade", db=store_url).out
    again = run("store", "upgrade", db=store_url).out
    assert again.endswith(f"up to date at {revision.HEAD}; the views were made anew\n")
    assert run("list", "runs", db=store_url).code == 0
    run("store", "downgrade", "nope", "--yes", db=store_url).fails(2, "nope")


def test_downgrade_loses_no_data_that_nobody_gave_up(
    run: Caller, duckdb_url: str
) -> None:
    run("store", "init", db=duckdb_url)
    run("store", "downgrade", "base", db=duckdb_url).fails(2, "--yes")
    assert run("list", "runs", db=duckdb_url).code == 0


def test_a_database_that_a_server_lacks_is_made_where_that_is_said(
    run: Caller, bare_postgres_url: str, duckdb_url: str
) -> None:
    url = bare_postgres_url + "_other"
    name = url.rpartition("/")[2]
    for asked in (("leaderboard",), ("store", "init")):
        run(*asked, db=url).fails(
            4, f"no database {name}", f"--db {url} store init --create", "createdb"
        )
    with open_store(bare_postgres_url, create=True) as store, store.begin() as begun:
        begun.exec_driver_sql(f'create role "{name}_weak" login')
    weak = url.replace("postgres@", f"{name}_weak@")
    run("store", "init", "--create", db=weak).fails(4, "permission denied", "createdb")
    try:
        made = run("store", "init", "--create", db=url)
        assert made.code == 0 and f"created the database {name}" in made.err
        assert run("store", "init", "--create", db=url).err == ""
        assert run("list", "runs", db=url).code == 0
    finally:
        plain = bare_postgres_url.replace("+psycopg", "")
        with psycopg.connect(plain, autocommit=True) as raw:
            raw.execute(f'drop database if exists "{name}" with (force)')
            raw.execute(f'drop role if exists "{name}_weak"')
    run("store", "init", "--create", db=duckdb_url).fails(2, "made on a server")


def test_what_a_server_lacks_is_said_with_what_to_do(
    run: Caller, bare_postgres_url: str
) -> None:
    (said,) = {
        run(*asked, db=bare_postgres_url).err
        for asked in (("store", "check"), ("leaderboard",))
    }
    assert (
        said
        == f"Error: the database holds no store; make one: warehouse --db {bare_postgres_url} store init\n"
    )
    run("list", "runs", db=re.sub(r":\d+/", ":1/", bare_postgres_url)).fails(
        4, "is the server up"
    )
    run("store", "init", db=bare_postgres_url)
    with (
        open_store(bare_postgres_url, write=True) as store,
        store.begin() as connection,
    ):
        connection.exec_driver_sql("create role weak login")
        connection.exec_driver_sql("grant all on all tables in schema public to weak")
    weak = bare_postgres_url.replace("postgres@", "weak@")
    run("store", "reader", "not_yet", db=weak).fails(4, "CREATEROLE")
    run("store", "reader", "weak", db=weak)  # it may read itself
    with (
        open_store(bare_postgres_url, write=True) as store,
        store.begin() as connection,
    ):
        connection.exec_driver_sql("create role waits login")
    run("store", "reader", "waits", db=weak).fails(4, "waits was not let in", "owner")


@pytest.mark.rare
def test_check_finds_what_was_broken(run: Caller, store_url: str) -> None:
    run("store", "init", db=store_url)
    assert run("store", "check", "--json", db=store_url).rows == []
    change(store_url, "insert into run_source (run_id, source_id) values (5, 6)")
    change(store_url, "drop view ingest_log")
    found = run("store", "check", db=store_url)
    assert found.code == 1
    assert "view ingest_log is missing" in found.out and "orphan_facts" in found.out
    assert found.out.endswith("not ok\n")
    rows = run("store", "check", "--json", db=store_url).rows
    assert {row["part"] for row in rows} == {"drift", "integrity"}


def test_config_names_the_origin_and_hides_the_password(
    run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text('[store]\nurl = "mine.duckdb"')
    row = run("config", "--json").rows[0]
    assert (
        row["value"].endswith("mine.duckdb")
        and row["origin"] == "warehouse.toml, line 2"
    )
    monkeypatch.setenv("WAREHOUSE_URL", "postgresql://me:secret@host/evals")
    shown = run("config")
    assert "secret" not in shown.out and "$WAREHOUSE_URL" in shown.out
    (tmp_path / "warehouse.toml").write_text(
        "[alerts]\n"
        'max_silence = "1.5d"\n'
        "[refresh]\n"
        'baselines = ["a", "b"]\n'
        "level = 0.9\n"
    )
    found = {row["setting"]: row for row in run("config", "--json").rows}
    assert list(found) == [
        f"{table}.{key}" for table, keys in KNOWN.items() for key in keys
    ]
    assert {
        name: row["value"] for name, row in found.items() if row["origin"][0] == "w"
    } == {
        "refresh.baselines": "a, b",
        "refresh.level": "0.9",
        "alerts.max_silence": "36h",
    }
    defaults = {
        name: row["value"]
        for name, row in found.items()
        if row["origin"] == "the default"
    }
    assert defaults["refresh.families"] == "differences, ranks, scores, variance"
    numbers = (
        "refresh.permutations",
        "refresh.resamples",
        "refresh.seed",
        "alerts.alpha",
    )
    assert [float(defaults[name]) for name in numbers] == [1000, 1999, 0, 0.05]
    assert defaults["alerts.moved"] == "true" and defaults["alerts.max_unscored"] == ""
    assert defaults["schedule.settle"] == "2" and defaults["schedule.cron"] == ""
    assert (
        "--db" in run("config", "--db", "other.duckdb").out
    )  # the flag may stand behind


@pytest.mark.rare
def test_export_writes_a_folder_once(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    fill(store_url)
    folder = tmp_path / "out"
    done = run("store", "export", "--parquet", str(folder), db=store_url)
    assert done.code == 0 and str(folder) in done.out
    assert pq.read_table(folder / "views" / "score_summary.parquet")[
        "estimate"
    ].to_pylist() == [0.5]
    run("store", "export", "--parquet", str(folder), db=store_url).fails(
        2, "not empty", "--overwrite"
    )
    assert (
        run(
            "store", "export", "--parquet", str(folder), "--overwrite", db=store_url
        ).code
        == 0
    )
    assert json.loads((folder / "manifest.json").read_text())["schema"] == revision.HEAD


def test_export_to_a_folder_that_cannot_be_written(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    fill(duckdb_url)
    (tmp_path / "file").touch()
    run(
        "store", "export", "--parquet", str(tmp_path / "file" / "out"), db=duckdb_url
    ).fails(2, "file")


def test_a_store_that_another_process_holds_is_waited_for_then_named(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    import subprocess
    import sys

    fill(duckdb_url)
    code = (
        "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('held', "
        "flush=True); sys.stdin.read()"
    )
    path = duckdb_url.removeprefix("duckdb:///")
    holder = subprocess.Popen(
        [sys.executable, "-c", code, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin and holder.stdout
    try:
        assert holder.stdout.readline() == b"held\n"
        outcome = run("--wait", "0.3", "list", "runs", db=duckdb_url)
        outcome.fails(4, f"process {holder.pid}", "waited 0.3 s")
        assert "waiting for" in outcome.err
        assert (
            "waiting for"
            not in run("--wait", "0.3", "-q", "list", "runs", db=duckdb_url).err
        )
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
    assert run("list", "runs", db=duckdb_url).code == 0


@pytest.mark.rare
def test_sources_of_an_earlier_importer_are_named_with_what_reads_them_anew(
    run: Caller, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored of them is replaced by the command; nothing is said of others."""
    monkeypatch.chdir(tmp_path)
    Path("my a.csv").write_text("benchmark,prompt_id,score\nquiz,p1,1\nquiz,p2,0\n")
    Path("b.csv").write_text(
        "model,benchmark,prompt_id,score\nbob,quiz,p1,1\nbob,quiz,p2,0\n"
    )
    asked = (
        "ingest",
        "my a.csv",
        "--set",
        "model=ada",
        "--lower-is-better",
        "--text",
        "none",
    )
    assert (
        run(*asked, db=store_url).code == 0
        and run("ingest", "b.csv", db=store_url).code == 0
    )
    assert "read anew" not in run("store", "check", db=store_url).out
    change(
        store_url,
        "update source set importer_version = '1', settings_key = 'earlier' where path "
        "= 'my a.csv'",
    )
    found = run("store", "check", db=store_url)
    assert found.code == 0 and "read anew" in found.out
    (line,) = (text for text in found.out.splitlines() if "tabular 1, now" in text)
    command = line.partition(": warehouse ")[2]
    assert shlex.split(command) == list(asked[:4]) + [
        "--lower-is-better",
        "--text",
        "none",
    ]
    (row,) = run("store", "check", "--json", db=store_url).rows
    assert (row["check"], row["severity"]) == ("read_anew", "note") and command in row[
        "finding"
    ]
    assert "replaced" in run(*shlex.split(command), db=store_url).err
    assert "read anew" not in run("store", "check", db=store_url).out
    assert [
        entry["path"] for entry in run("list", "sources", "--json", db=store_url).rows
    ] == [
        "b.csv",
        "my a.csv",
    ]
