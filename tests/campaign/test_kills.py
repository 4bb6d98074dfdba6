"""Each work is killed a few times, so that `kills.py` goes on doing what it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.lakes import MARKS

SCRIPT = Path(__file__).with_name("kills.py")
#: That both engines have. By day a load is killed at statements of its own, on both
#: (tests/store/test_faults.py), and a vacuum is one transaction like it.
WORKS = [
    pytest.param("upgrade", marks=pytest.mark.slow_on_server),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("ingest", "vacuum")),
    pytest.param(
        "refresh", marks=pytest.mark.slow
    ),  # tests/refresh/test_refresh.py ends one at points over all of it
    pytest.param(
        "sync", marks=[*MARKS, pytest.mark.slow]
    ),  # tests/store/test_lake_writers.py kills one by day
]


def killed(url: str, work: str) -> str:
    command = [
        sys.executable,
        str(SCRIPT),
        "--url",
        url,
        "--work",
        work,
        "--kills",
        "2",
        "--files",
        "8",
    ]
    ended = forked.run([*command, "--prompts", "10"])
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("work", WORKS)
def test_what_is_killed_loses_nothing(bare_url: str, work: str) -> None:
    assert killed(bare_url, work).startswith(f"{work}: 2 kills, ")


@pytest.mark.rare
def test_readers_of_a_copy_meet_no_killed_publisher(bare_duckdb_url: str) -> None:
    assert "publish: 2 kills, " in killed(bare_duckdb_url, "publish")
