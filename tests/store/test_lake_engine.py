"""Engines on a lake give what the store gives: every view, every library query, row for
row."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.queries.test_library import GIVEN
from tests.queries.test_views_engines import GRAIN
from tests.store.test_lake_faults import change_version
from tests.support.lakes import MARKS, SailServer, world_with_lake
from tests.support.pages import ROOT, blocks
from tests.support.same_rows import assert_same_rows
from tests.support.world import build_world
from warehouse.api import connect
from warehouse.errors import MisuseError, ReadOnlyError, SchemaVersionError, StoreError
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.engines import spark_tasks
from warehouse.store.engines.spark_sql import translated
from warehouse.store.lake.sync import sync
from warehouse.store.lake.versions import LakeLocation
from warehouse.store.open import open_store
from warehouse.store.sql import query_files
from warehouse.store.sql.run_query import run_named, run_query, run_sql

pytestmark = MARKS
ODD = "it's 100 % :name \\ \"quoted\" \u00e9\U0001f600 $1 {0} --\n`tick` \\' ''"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, and a lake of it."""
    return world_with_lake(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def store(made: Path) -> Iterator[Store]:
    with open_store(f"duckdb:///{made / 'store.duckdb'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def lake(made: Path) -> Iterator[Store]:
    with open_store(f"sail:?lake={made / 'lake'}", guarded=True) as opened:
        yield opened


@pytest.mark.parametrize("name", [view.name for view in query_files.views()])
def test_a_view_gives_the_same_rows(store: Store, lake: Store, name: str) -> None:
    keys = ", ".join(
        f"{column.strip()} nulls last" for column in GRAIN[name].split(",")
    )
    assert_same_rows(
        *(
            run_sql(side, f"select * from {name} order by {keys}", {})
            for side in (store, lake)
        )
    )


@pytest.mark.parametrize("name", GIVEN)
def test_a_library_query_gives_the_same_rows_in_the_same_order(
    store: Store, lake: Store, name: str
) -> None:
    assert_same_rows(*(run_named(side, name, GIVEN[name]) for side in (store, lake)))


def test_a_view_by_its_name_has_the_order_of_the_store(
    store: Store, lake: Store
) -> None:
    one, other = (
        run_query(side, "run_current", {}).to_pylist() for side in (store, lake)
    )
    assert one == other and isinstance(one[0]["started_at"], datetime | None)


def test_values_and_quotes_arrive_as_they_are(lake: Store) -> None:
    sql = (
        'select :odd as a, \'it\'\'s \\n\' as "b ""c""", :n as n, :x as x, :t as t, :f '
        "as f, :z as z"
    )
    moment = datetime(2026, 1, 31, 12, 0, 1, 5)
    values = {"odd": ODD, "n": -3, "x": 0.1, "t": moment, "f": True, "z": None}
    assert list(run_sql(lake, sql, values).to_pylist()[0].values()) == [
        ODD,
        "it's \\n",
        -3,
        0.1,
        moment,
        True,
        None,
    ]
    assert run_sql(lake, sql, values).column_names[1] == 'b "c"'
    text = "select cast(f('as text)', (1)) as text), cast((2) as double precision)"
    assert (
        translated(text, {})
        == "select cast(f('as text)', (1)) as string), cast((2) as double)"
    )
    stable = (
        "select (covar_pop(f(a, 1), ',)') / nullif(sqrt(var_pop(f(a, 1))) * "
        "sqrt(var_pop(',)')), 0)) from t"
    )
    assert translated("select corr(f(a, 1), ',)') from t", {}) == stable
    window = (
        "select min(x) over w - 1, 'over w - 1', sum(x) over w from t window w as "
        "(order by x)"
    )
    assert translated(window, {}) == window.replace("over w - 1,", "over w + - 1,", 1)
    assert translated("select (select a as text)", {}) == "select (select a as text)"
    empty = (
        "select perturbation = '' and f.perturbation='' and no_perturbation = '' and "
        "'perturbation = ' <> ''"
    )
    assert translated(empty, {}) == empty.replace(
        "perturbation = '' and f.perturbation=''",
        "octet_length(perturbation) = 0 and octet_length(f.perturbation) = 0",
        1,
    )


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("drop table run", "expected one SELECT"),
        ("", "expected one SELECT"),
        ("select 1; select 2", "cannot be run"),
        ("with a as (select 1 as x) insert into run select * from a", "cannot be run"),
        ("select * from parquet.`/etc/passwd`", "may not read files"),
        ('select * from "csv"."/etc/passwd"', "may not read files"),
        ("select * from run, text.passwd", "may not read files"),
        ("select * from x.`s3://bucket/y`", "may not read files"),
        ("select java_method('a', 'b')", "may not call java_method"),
        ("select nothing from run", "nothing"),
        ("select * from no_such_table", "no_such_table"),
        ("select :a", "no value for the parameter a"),
    ],
)
def test_what_is_no_reading_select_is_refused(
    lake: Store, sql: str, words: str
) -> None:
    with pytest.raises(MisuseError, match=words):
        run_sql(lake, sql, {})
    assert run_sql(lake, "select count(*) as n from run", {}).to_pylist() == [{"n": 79}]


def test_what_a_lake_does_not_have_is_said(lake: Store) -> None:
    with pytest.raises(
        ReadOnlyError,
        match=r"a lake has no texts of what was sent and answered \(content\)",
    ):
        lake.arrow("select * from content")
    with pytest.raises(ReadOnlyError, match="no vectors"):
        lake.vectors("select 1", 3)


def test_a_lake_is_not_written(made: Path) -> None:
    url = f"sail:?lake={made / 'lake'}"
    for options in ({"write": True}, {"create": True}):
        with pytest.raises(
            ReadOnlyError,
            match=r"can only be asked; do this on the store .*--db STORE lake sync",
        ):
            open_store(url, **options)
    with open_store(url) as lake, pytest.raises(ReadOnlyError), lake.begin():
        pass
    with open_store(url) as lake, pytest.raises(ReadOnlyError):
        sync(lake, str(made / "other"))


def test_an_older_version_is_asked_by_its_number(made: Path, tmp_path: Path) -> None:
    place, url = tmp_path / "lake", f"duckdb:///{made / 'store.duckdb'}"
    with open_store(url) as store:
        sync(store, str(place))
        sync(store, str(place), anew=True)
    for version in (0, 1):
        with open_store(f"sail:?lake={place}&version={version}") as lake:
            assert lake.name.endswith(f"&version={version}")
            assert lake.arrow("select count(*) as n from score").to_pylist() == [
                {"n": 1896}
            ]
    with pytest.raises(MisuseError, match="has the versions 0 to 1, no version 2"):
        open_store(f"sail:?lake={place}&version=2")


def test_an_open_session_stays_with_its_version(made: Path, tmp_path: Path) -> None:
    place, url = tmp_path / "lake", f"duckdb:///{tmp_path / 'store.duckdb'}"
    with open_store(url, create=True) as store:
        rows = build_world()
        rows.rows["score"] = rows.rows["score"][:10]
        rows.write(store)
    with open_store(url) as store:
        sync(store, str(place))
    with open_store(f"sail:?lake={place}") as old:
        with open_store(f"duckdb:///{made / 'store.duckdb'}") as store:
            sync(store, str(place), anew=True)
        assert old.arrow("select count(*) as n from score").to_pylist() == [{"n": 10}]
        with open_store(f"sail:?lake={place}") as new:
            assert new.arrow("select count(*) as n from score").to_pylist() == [
                {"n": 1896}
            ]


@pytest.mark.parametrize("reading", ["", "&read=files"])
def test_a_missing_file_is_told(made: Path, tmp_path: Path, reading: str) -> None:
    shutil.copytree(made / "lake", tmp_path / "lake")
    for file in (tmp_path / "lake" / "score").glob("*.parquet"):
        file.unlink()
    said = pytest.raises(StoreError, match=r"lacks a file: .* --anew")
    with open_store(f"sail:?lake={tmp_path / 'lake'}{reading}") as lake, said:
        lake.arrow("select sum(value) as s from score")
    shutil.rmtree(tmp_path / "lake" / "model")
    with (
        open_store(f"sail:?lake={tmp_path / 'lake'}") as lake,
        pytest.raises(StoreError, match="--anew"),
    ):
        lake.arrow("select * from model")


@pytest.mark.parametrize(
    ("pattern", "keep"),
    [("_delta_log/*.json", 100), ("_delta_log/*.json", 0), ("*.parquet", 0.5)],
    ids=["a log cut short", "an empty log", "half a file"],
)
def test_a_damaged_table_is_told(
    made: Path, tmp_path: Path, pattern: str, keep: float
) -> None:
    """On one line, with what to do, and without what a program says to its makers."""
    shutil.copytree(made / "lake", tmp_path / "lake")
    for file in (tmp_path / "lake" / "score").glob(pattern):
        raw = file.read_bytes()
        file.write_bytes(raw[: int(keep if keep > 1 else keep * len(raw))])
    with (
        open_store(f"sail:?lake={tmp_path / 'lake'}") as lake,
        pytest.raises(StoreError) as told,
    ):
        lake.arrow("select sum(value) as s from score")
    place = LakeLocation(str(tmp_path / "lake"))
    with pytest.raises(StoreError) as checked, place.translating_errors("score"):
        place.require("score", 0).to_pyarrow_table()
    for said in (str(told.value), str(checked.value)):
        assert "cannot be used: " in said and said.endswith(
            f"warehouse lake sync {tmp_path / 'lake'} --anew"
        )
        assert "<unknown>" not in said and "\n" not in said and "\x1b" not in said


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sail:", "with no lake; expected sail:"),
        ("sail:?lake=", "with no lake"),
        ("sail:?lake=/x&secret=abc", "an unknown part secret"),
        (
            "sail:?lake=/x&version=new",
            "version=new is no number of a version; see: warehouse lake versions /x",
        ),
        ("sail:?lake=/x&read=csv", "read= of a URL of a lake is files"),
        ("sail://host?lake=/x", "whose server cannot be read"),
        ("sc://u:p@host?lake=/x", "whose server cannot be read"),
        ("sc://host:99999?lake=/x", "whose server cannot be read"),
        ("spark://host?lake=/x", "no engine 'spark'; a store URL starts with"),
    ],
)
def test_a_url_of_another_form_is_refused(url: str, words: str) -> None:
    with pytest.raises(MisuseError, match=words.replace("?", r"\?")):
        engines.dialect_of(engines.parse_url(url))


def test_a_url_is_shown_without_secrets() -> None:
    url = engines.parse_url(
        "sc://host:15002/;use_ssl=true;token=abc?lake=s3://b/a%26c&version=3"
    )
    assert engines.shown_url(url) == "sc://host:15002?lake=s3://b/a&c&version=3"
    assert (
        engines.shown_text("sc://host/;token=abc?lake=/x") == "sc://host:15002?lake=/x"
    )
    assert "abc" not in engines.without_secrets("failed with token abc", url)
    assert (
        engines.shown_text("sc://a:secret@host?lake=/x")
        == "what cannot be read as a URL"
    )


def test_a_server_that_is_not_there_or_another_is_told(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_tasks, "PATIENCE", 1.0)
    with pytest.raises(
        StoreError,
        match=r"no server at 127.0.0.1:1: .*; start it, or ask in this process: --db",
    ):
        open_store(f"sc://127.0.0.1:1?lake={made / 'lake'}")
    with socket.create_server(("127.0.0.1", 0)) as other:

        def hang_up() -> None:
            while True:
                try:
                    other.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        port = other.getsockname()[1]
        with pytest.raises(StoreError, match="does not speak Spark Connect"):
            open_store(f"sc://127.0.0.1:{port}?lake={made / 'lake'}")
        other.shutdown(socket.SHUT_RDWR)


def test_a_server_elsewhere_is_sent_small_tables(made: Path, tmp_path: Path) -> None:
    """A cluster opens each file in a job of its own: of a join of many tables that is
    most of its time."""
    place = shutil.copytree(made / "lake", tmp_path / "lake")
    with (
        SailServer() as server,
        open_store(f"{server.url}?lake={place}&read=files") as lake,
    ):
        models = lake.rows("select id, name from model order by id")
        for file in place.glob("model/*.parquet"):
            file.unlink()
        assert (
            len(models) > 1
            and lake.rows("select id, name from model order by id") == models
        )


@pytest.mark.parametrize("how", ["", "&read=files"])
def test_a_server_elsewhere_gives_the_same(made: Path, store: Store, how: str) -> None:
    """Also one that cannot read Delta itself, and is given the files of the version."""
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    port = server.listening_address[1]
    sql = (
        "select run_id, metric_id, estimate from run_score order by run_id nulls last, "
        "metric_id nulls last"
    )
    with open_store(f"sc://127.0.0.1:{port}?lake={made / 'lake'}{how}") as lake:
        found = lake.arrow(sql)
        assert lake.arrow(
            "select * from analysis"
        ).num_rows == 0 and lake.name.endswith(f"lake{how}")
    server.stop()
    assert_same_rows(store.arrow(sql), found)


def test_a_lake_of_another_schema_says_what_to_run(made: Path, tmp_path: Path) -> None:
    for schema, command in (
        ("0001", "lake sync"),
        ("9999", "pip install --upgrade eval-warehouse"),
    ):
        place = tmp_path / schema
        shutil.copytree(made / "lake", place)
        change_version(place, schema_revision=schema)
        with pytest.raises(SchemaVersionError, match=command):
            open_store(f"sail:?lake={place}")


def test_a_notebook_asks_a_lake(made: Path) -> None:
    asked = connect(f"sail:?lake={made / 'lake'}")
    held = connect(f"duckdb:///{made / 'store.duckdb'}")
    assert asked.leaderboard("quiz").to_dict() == held.leaderboard("quiz").to_dict()


def test_a_program_without_a_file_asks_a_lake(made: Path) -> None:
    program = (
        "import sys, warehouse; print(warehouse.connect(sys.argv[1]).arrow('select 1 "
        "as one').num_rows)"
    )
    call = [sys.executable, "-c", program, f"sail:?lake={made / 'lake'}"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_a_program_of_the_docs_reads_a_lake_without_us(
    made: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    names: dict[str, Any] = {}
    (code,) = blocks((ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), "python")
    exec(code, names)
    (row,) = store.rows("select count(*) as n from prompt_score", {})
    assert names["scores"].num_rows == row["n"] > 0


SERVER = """
from pysail.spark import SparkConnectServer
server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
print(server.listening_address[1], flush=True)
input()
"""


@pytest.mark.timeout(120)
def test_a_server_that_is_gone_is_told_without_minutes_of_asking(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        spark_tasks, "RETRIES", 2
    )  # by itself the client asks for ten minutes
    call = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        with open_store(
            f"sc://127.0.0.1:{int(server.stdout.readline())}?lake={made / 'lake'}"
        ) as lake:
            assert lake.arrow("select count(*) as n from run").num_rows == 1
            server.kill()
            server.wait()
            with pytest.raises(Exception, match="(?i)refused|unavailable") as told:
                lake.arrow("select * from run")
            assert lake.dialect.query_error(told.value)


def test_without_the_extra_it_is_said_what_to_install(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(
        MisuseError,
        match=r"needs the package pyspark, which is not installed; run: .*pyspark-client",
    ):
        open_store(f"sail:?lake={made / 'lake'}")
