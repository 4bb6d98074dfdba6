"""Views and commands over 10 M scores: 100 runs x 5 000 prompts x 20 draws."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import report
from measure import Row, command, interleaved, postgresql, script, time_script

FILL = """
import sys, time
import alembic.ddl.impl
from warehouse.records import Dump, MetricSpec, BulkQuery, RunHeader
from warehouse.store.load import source_ledger as ledger
from warehouse.store.open import open_store
from warehouse.store.load.loader import Loader, LoadOptions
url, runs, prompts, draws = sys.argv[1], *map(int, sys.argv[2:5])
open_store(url, create=True).close()
started = time.monotonic()
with open_store(url, write=True) as store:
    loader = Loader(store)
    for run in range(runs):
        header = RunHeader(harness="bench", model=f"org/model-{run:03d}", benchmark="bench",
                           metrics=(MetricSpec("acc"),), run_id=str(run))
        sql = '''
            select 0 as run, i // $draws as position, cast(i // $draws as varchar) as prompt_id,
                cast(i % $draws as integer) as draw, '{"passage": ' || i // $draws // 5 || '}'
                    as metadata,
                [{metric: 'acc', filter: '', weight: null::double, n_draws: null::integer,
                  raw: null::varchar, status: null::varchar, origin: null::varchar,
                  value: cast(hash(i, $run) % 1000 <
                              300 + hash(i // $draws) % 500 + $run % 200 as double)}] as scores
            from range($rows) as rows(i)'''
        reading = BulkQuery(sql, {"rows": prompts * draws, "draws": draws, "run": run}, None)
        claim = ledger.claim(store, path=f"run {run}", size=0, sha256=str(run), importer="bench",
                             version="1", settings={})
        if claim:
            begun = time.monotonic()
            loader.load(Dump((header,), [reading]), claim, LoadOptions())
            print(run, time.monotonic() - begun)
    loader.close()
    with store.begin() as connection:
        store.dialect.analyze(connection)  # as an ingest does
print(time.monotonic() - started)
"""

QUERY = """
import sys
from warehouse.store.open import open_store
with open_store(sys.argv[1]) as store:
    store.arrow("select 1 as one")
    started = now()
    store.arrow(sys.argv[2])
    spent(started)
"""

MEAN = "select run_id, avg(value) as mean from score group by run_id"


COMPARE = ("compare", "org/model-007", "org/model-042", "--benchmark", "bench")


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """The view and the commands of a file."""
    url = _filled(f"duckdb:///{folder / 'scores.duckdb'}", folder / "scores.duckdb")
    bare, summary = interleaved(
        5,
        script(QUERY, [url, MEAN]),
        script(QUERY, [url, "select * from score_summary"]),
    )
    yield Row(
        "score_summary at 10 M scores",
        summary,
        {"times its cost": 1.0},
        "bare grouped mean over score",
        bare,
    )
    page = str(folder / "report.html")
    yield from _commands(
        url, options.runs, {("pairs", "bench"): 2, ("report", "--out", page): 3.5}
    )
    for words in (("leaderboard", "bench"), COMPARE, ("--help",)):
        print(
            f"warehouse {' '.join(words)}, cold: "
            f"{interleaved(options.runs, command('--db', url, *words))[0]}"
        )


def server(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """The commands on PostgreSQL."""
    with postgresql(options.server) as url:
        _filled(url)
        asked = (
            ("leaderboard", "bench"),
            COMPARE,
            ("variance", "bench"),
            ("report", "--out", str(folder / "pg.html")),
        )
        yield from _commands(url, options.runs, dict.fromkeys(asked, 2))


def models(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """The leaderboard of 1 000 models x 500 prompts."""
    url = f"duckdb:///{folder / 'models.duckdb'}"
    if not (folder / "models.duckdb").exists():
        time_script(report.FILL, [url, "1", "1000", "500", "1"], 1)
    ways = (
        script(QUERY, [url, MEAN]),
        command("--db", url, "leaderboard", "benchmark-0"),
    )
    bare, ours = interleaved(options.runs, *ways)
    yield Row(
        "leaderboard, 1 000 models x 500 prompts",
        ours,
        {"seconds": 4},
        "bare grouped mean over score",
        bare,
    )


def _filled(url: str, file: Path | None = None) -> str:
    if file is None or not file.exists():
        print(
            f"filling 10 M scores: {time_script(FILL, [url, '100', '5000', '20'], 1)}",
            flush=True,
        )
    return url


def _commands(
    url: str, runs: int, wanted: dict[tuple[str, ...], float]
) -> Iterator[Row]:
    """Each command with its process against the bare mean with its own."""
    for words, seconds in wanted.items():
        bare, ours = interleaved(
            runs, script(QUERY, [url, MEAN]), command("--db", url, *words)
        )
        name = " ".join(word for word in words if not word.startswith(("-", "/")))
        work = f"{name} at 10 M scores, {url.partition(':')[0].partition('+')[0]}"
        yield Row(
            work, ours, {"seconds": seconds}, "bare grouped mean over score", bare
        )
