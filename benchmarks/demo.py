"""The leaderboard of the demonstration's store from a cold process, against a program
that reads its scores bare."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import COMMAND, Row, command, interleaved, run_process

BARE = """
import sys, duckdb
import numpy, scipy.stats
with duckdb.connect(sys.argv[1], read_only=True) as store:
    store.execute("select run_id, avg(value) from score group by run_id").fetchall()
"""


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """With its process and its imports."""
    store = folder / "demo.duckdb"
    url = f"duckdb:///{store}"
    run_process(
        [
            COMMAND,
            "--db",
            url,
            "ingest",
            str(Path(__file__).parents[1] / "docs" / "demo" / "results"),
        ]
    )
    bare, ours = interleaved(
        3 * options.runs,
        lambda: run_process([sys.executable, "-c", BARE, str(store)]),
        command("--db", url, "leaderboard"),
    )
    yield Row(
        "leaderboard of the demo store",
        ours,
        {"seconds": 0.9},
        "duckdb, numpy, scipy.stats and a mean",
        bare,
    )
