"""``docs/tools.md``: what it asks of the store is there, for tools that know nothing of
us."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import sqlalchemy as sa
import yaml

from tests.support.pages import ROOT, Terminal, agrees, blocks, commands, examples
from tests.support.stores import ENGINES, empty_store
from warehouse import connect
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store

PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
QUERIES = blocks(PAGE, "sql")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of the page were run, each printing what the page shows."""
    home = tmp_path_factory.mktemp("tools")
    (home / "docs").symlink_to(ROOT / "docs")
    terminal = Terminal(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WAREHOUSE_URL", raising=False)
        for example in examples(PAGE):
            printed = terminal(example.command)
            assert terminal.status == 0 and agrees(printed, example.shown), (
                f"$ {example.command}\n{printed}"
            )
    return home


@pytest.fixture(params=ENGINES, scope="module")
def ask(request: pytest.FixtureRequest, folder: Path) -> Iterator[Any]:
    """Rows of a query, as a tool of others asks: the published copy, or the server as
    the role that can read."""
    if request.param == "duckdb":
        with duckdb.connect(str(folder / "published.db"), read_only=True) as connection:
            yield lambda text: connection.execute(text).fetchall()
        return
    with empty_store(request, request.param) as url:
        store = connect(url)
        store.ingest(ROOT / "docs" / "demo" / "results")
        store.refresh()
        with open_store(url, write=True) as opened:
            role = upkeep.make_reader(opened).role
        there = (
            sa.make_url(url)
            .set(drivername="postgresql", username=role)
            .render_as_string()
        )
        with psycopg.connect(there) as connection:
            yield lambda text: connection.execute(text).fetchall()


@pytest.mark.parametrize("text", QUERIES, ids=["over time", "table"])
def test_queries_of_boards_give_rows(ask: Any, text: str) -> None:
    rows = ask(text)
    assert rows and all(value is not None for value in rows[0])


def test_sources_of_dbt_are_views_that_can_be_read(ask: Any) -> None:
    found = [yaml.safe_load(text) for text in blocks(PAGE, "yaml")]
    (sources,) = [one["sources"][0] for one in found if "sources" in one]
    for table in sources["tables"]:
        assert ask(f"select count(*) from {table['name']}")[0][0] > 0
    (profile,) = [one["evals"] for one in found if "evals" in one]
    assert (
        profile["outputs"][profile["target"]]["attach"][0]["alias"] == sources["name"]
    )


def test_what_the_shell_of_duckdb_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (block,) = [text for text in blocks(PAGE, "sh") if text.startswith("duckdb ")]
    first, second = re.findall(r'"([^"]+)"', block)
    with duckdb.connect("published.db", read_only=True) as connection:
        assert connection.execute(first).fetchall()
    with duckdb.connect() as connection:
        for part in second.split(";"):
            rows = connection.execute(part).fetchall()
        assert rows


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="needs sqlite3")
def test_the_way_to_sqlite(folder: Path) -> None:
    (block,) = [text for text in blocks(PAGE, "sh") if "sqlite3" in text]
    terminal = Terminal(folder)
    for line in commands(block):
        if not line.startswith("datasette"):
            terminal(line)
            assert terminal.status == 0
    count = subprocess.run(
        ["sqlite3", "evals.db", "select count(*) from score_summary"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert int(count.stdout) > 0
