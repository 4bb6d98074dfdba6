"""Store URLs of every sort: never a traceback, the documented exit codes, and no secret
shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.store.engines import parse_url, shown_url, without_secrets

SECRET = "s3cretw0rd"
NOT_THERE = "127.0.0.1:1"
#: None of them can be opened; {0} is the secret.
URLS = [
    "postgresql://u:{0}@127.0.0.1:1/x",
    "postgres://u:{0}@127.0.0.1:1/x",
    "POSTGRESQL://u:{0}@127.0.0.1:1/x",
    "postgresql+psycopg2://u:{0}@127.0.0.1:1/x",
    "postgresql://u:%733cretw0rd@127.0.0.1:1/x",
    "postgresql://u:a@{0}@127.0.0.1:1/x",
    "postgresql://u:{0}@a@127.0.0.1:1/x",
    "postgresql://u:a/{0}@127.0.0.1:1/x",
    "postgresql://u:{0}%zz@127.0.0.1:1/x",
    "postgresql://127.0.0.1:1/x?password={0}",
    "postgresql://127.0.0.1:1/x?user=u&password={0}&sslmode=require",
    "postgresql://127.0.0.1:1/x?sslpassword={0}",
    "postgresql://127.0.0.1:1/x?token={0}",
    "postgresql://u:{0}@127.0.0.1:1/x?service=nowhere",
    "postgresql://u:{0}@127.0.0.1:1/x?passfile=/nowhere",
    "postgresql://u:{0}@127.0.0.1:1/x?connect_timeout=abc",
    "postgresql://u:{0}@127.0.0.1:1/x?sslmode=bogus",
    "postgresql://u:{0}@127.0.0.1:abc/x",
    "postgresql://u:{0}@127.0.0.1:99999/x",
    "postgresql://u:{0}@127.0.0.1:-5/x",
    "postgresql://u:{0}@127.0.0.1:0/x",
    "postgresql://u:{0}@[::1/x",
    "postgresql://u:{0}@127.0.0.1:1,127.0.0.1:2/x",
    "postgresql://u:{0}@127.0.0.1:1/x?host=127.0.0.1&host=127.0.0.1:2",
    "postgresql://u:{0}@127.0.0.1:1/%00",
    "postgresql://u:{0}@127.0.0.1:1/x\n",
    "postgresql:/u:{0}@h/x",
    "postgresql:u:{0}@h/x",
    "postgresql:///x?host=/nowhere&password={0}",
    "postgresql://?password={0}",
    "host=127.0.0.1 port=1 user=u password={0}",
    "dbname=x password={0}",
    "mysql://u:{0}@h/x",
    "http://u:{0}@h/x",
    "://u:{0}@h",
    "://",
    "sqlite:///x",
    "s3://bucket/{0}",
    "duckdb://",
    "duckdb:///",
    "duckdb:////",
    "duckdb://u:{0}@h/x",
    "duckdb:///nowhere?password={0}",
    "duckdb:///md:x?motherduck_token={0}",
    "duckdb:///s3://u:{0}@bucket/x",
    "md:x?motherduck_token={0}",
    "duckdb:///:memory:",
    ":memory:",
    ".",
    "/",
    "/dev/null",
    " ",
    "a\x00b",
    "nowhere/x",
]


@pytest.mark.parametrize("form", URLS)
def test_no_url_makes_a_crash_or_tells_a_secret(
    run: Caller, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = form.format(SECRET)
    for command in (
        (
            "list",
            "runs",
        ),
        ("-v", "list", "runs"),
        (
            "store",
            "init",
        ),
        ("store", "publish", "copy.db"),
    ):
        if (
            command
            == (
                "store",
                "init",
            )
            and url.strip() != url
        ):
            continue
        found = run("--db", url, *command)
        if "nowhere?" not in url:  # a file that can be made
            assert found.code in (2, 4), (command, found.err)
            assert [line[:7] for line in found.err.splitlines()].count("Error: ") == 1
        _hides(found.out + found.err)
    found = run("--db", url, "config", "--json")
    assert found.code == 0, found.err
    _hides(found.out + found.err)
    _hides(repr(Warehouse(url)))
    quoted = url.replace("\\", "").replace("\n", "\\n").replace("\x00", "\\u0000")
    (tmp_path / "warehouse.toml").write_text(
        f'[store]\nurl = "{quoted}"\nreader = "{quoted}"\n'
    )
    found = run("config")
    assert found.code == 0, found.err
    _hides(found.out + found.err)


def _hides(text: str) -> None:
    assert SECRET not in text
    assert "%733cret" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "postgresql://u:p@h:5/x?sslmode=require",
            "postgresql+psycopg://u:***@h:5/x?sslmode=require",
        ),
        ("postgresql://h/x?password=a%20b", "postgresql+psycopg://h/x?password=***"),
        ("duckdb:///a.db", "duckdb:///a.db"),
        ("a.db", "duckdb:///a.db"),
    ],
)
def test_how_a_url_is_shown(text: str, shown: str) -> None:
    assert shown_url(parse_url(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "duckdb:///s.db?allow_unsigned_extensions=true",
        "duckdb:///s.db?threads=2&custom_extension_repository=ext",
        "duckdb:///s.db?extension_directory=xd",
        "duckdb:///s.db?autoinstall_known_extensions=true",
        "duckdb:///s.db?enable_external_access=true",
        "duckdb:///s.db?temp_directory=/etc",
        "duckdb:///s.db?THREADS=2",
        "duckdb:///s.db?threads=0",
        "duckdb:///s.db?threads=2&threads=100000",
        "duckdb:///s.db?memory_limit=much",
        "postgresql://h/x?options=-csearch_path%3Devil",
        "postgresql://h/x?options=-c%20session_preload_libraries%3Devil",
        "postgresql://h/x?replication=database",
        "postgresql://h/x?connect_timeout=-1",
    ],
)
def test_a_parameter_that_is_not_allowed_is_refused(text: str) -> None:
    with pytest.raises(MisuseError, match="a store URL w"):
        parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "duckdb:///s.db?threads=2&memory_limit=4GB",
        "postgresql://h/x?sslmode=require&connect_timeout=10&application_name=evals",
        "postgresql://h/x?options=endpoint%3Dquiet-lake-123",
        "postgresql:///x?host=a:5432&host=b:5432&target_session_attrs=read-write",
    ],
)
def test_parameters_that_are_allowed(text: str) -> None:
    assert parse_url(text).query


def test_words_of_a_driver_lose_the_secret() -> None:
    url = parse_url("postgresql://u:p%40ss@h/x?sslpassword=t%20k")
    said = 'bad option "p@ss", p%40ss, "t k", t+k, t%20k; passport'
    assert (
        without_secrets(said, url) == 'bad option "***", ***, "***", ***, ***; passport'
    )
    assert (
        without_secrets("u in user", parse_url("postgresql://a:u@h/x")) == "*** in user"
    )


@pytest.mark.parametrize(
    "line",
    [
        '[alerts]\nwebhook = ["https://u:{0}@h/x"]',
        '[store]\nurl = ["postgresql://u:{0}@h/x"]',
        '[schedule]\ncron = 1\nhealth = ["u:{0}@h"]',
        '[alerts]\nwebhook = "https://u:{0}@h/{0}?t={0}#{0}"',
        '[alerts]\nwebhook = "ftp://u:{0}@h/{0}"',
        '[alerts]\nwebhook = "https://u:{0}@[h"',
    ],
)
def test_a_settings_file_does_not_tell(
    run: Caller, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text(line.format(SECRET))
    for command in (
        ("config",),
        ("refresh",),
        ("-v", "list", "runs"),
        ("schedule", "show"),
    ):
        found = run(*command)
        assert found.code in (0, 2, 3, 4)
        _hides(found.out + found.err)


@pytest.mark.engine
def test_pages_logs_and_history_do_not_tell(
    run: Caller, postgres_url: str, tmp_path: Path
) -> None:
    """The server trusts whoever comes from here, so that the secret is in the URL and
    nowhere else."""
    url = postgres_url.replace("postgres@", f"postgres:{SECRET}@")
    rows = "".join(f"m,b,{n},{n % 2}\nn,b,{n},{n % 3 // 2}\n" for n in range(40))
    (tmp_path / "r.csv").write_text("model,benchmark,prompt_id,score\n" + rows)
    report = tmp_path / "report.html"
    for command in (
        ("-v", "ingest", str(tmp_path / "r.csv")),
        ("-v", "refresh"),
        ("-v", "report", "--out", str(report)),
        ("history", "m", "b", "--json"),
        ("query", "ingest_log", "--json"),
        ("schedule", "--once"),
    ):
        found = run("--db", url, *command)
        assert found.code == 0, (command, found.err)
        _hides(found.out + found.err)
    _hides(report.read_text())


def test_three_slashes_before_an_absolute_path_are_told(
    run: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "a.duckdb"
    for command in (
        (
            "store",
            "init",
        ),
        (
            "list",
            "runs",
        ),
    ):
        found = run("--db", f"duckdb://{file}", *command)
        assert found.code != 0 and f"four slashes: duckdb:///{file}" in found.err
        assert "four slashes" not in run("--db", "nowhere/a.duckdb", *command).err
    assert run("--db", f"duckdb:///{file}", "store", "init").code == 0
