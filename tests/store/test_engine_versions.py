"""Files of the embedded engine go both ways between the versions of it that are allowed.

Needs a second one: ``WAREHOUSE_OTHER_DUCKDB`` names a folder that holds it (``make
test-duckdb`` installs it and sets this).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import COMMAND
from tests.support.pages import ROOT

OTHER = os.environ.get("WAREHOUSE_OTHER_DUCKDB", "")
RESULTS = ROOT / "docs" / "demo" / "results"
pytestmark = [
    pytest.mark.rare,
    pytest.mark.skipif(not OTHER, reason="no second version of DuckDB"),
]


def call(path: str, store: Path, *words: str) -> str:
    """What a command says with the version that a folder holds, or with our own."""
    environment = os.environ | {"WAREHOUSE_URL": str(store)}
    environment["PYTHONWARNINGS"] = "error::DeprecationWarning,error::UserWarning"
    if path:
        environment["PYTHONPATH"] = path
    done = subprocess.run(
        [str(COMMAND), *words], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def version(path: str, store: Path) -> Any:
    text = call(path, store, "query", "--json", "--sql", "select version() as v")
    return json.loads(text)[0]["v"]


@pytest.mark.parametrize("first", ["", OTHER], ids=["ours first", "other first"])
def test_a_store_is_written_by_one_version_after_the_other(
    tmp_path: Path, first: str
) -> None:
    store = tmp_path / "s.duckdb"
    second = "" if first else OTHER
    parts = sorted(path for path in RESULTS.iterdir() if path.is_dir())
    call(first, store, "ingest", str(parts[0]))
    assert version(first, store) != version(second, store)
    board = call(first, store, "leaderboard", "--json")
    assert call(second, store, "leaderboard", "--json") == board
    call(second, store, "store", "check")
    call(second, store, "ingest", *map(str, parts[1:]))
    call(second, store, "refresh")
    call(first, store, "store", "check")
    call(first, store, "refresh")
    board = call(first, store, "leaderboard", "--json")
    assert call(second, store, "leaderboard", "--json") == board
    call(first, store, "store", "upgrade")
    call(second, store, "store", "check")


def test_a_published_copy_of_one_version_is_read_by_the_other(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    call("", store, "ingest", str(RESULTS))
    for number, (writes, reads) in enumerate((("", OTHER), (OTHER, ""))):
        copy = tmp_path / f"copy{number}.duckdb"
        call(writes, store, "store", "publish", str(copy))
        assert call(reads, copy, "leaderboard", "--json") == call(
            writes, store, "leaderboard", "--json"
        )
