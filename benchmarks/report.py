"""Reports: of every section, of many benchmarks, of many models; seconds, memory,
bytes, and what a browser does."""

from __future__ import annotations

import argparse
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import (
    COMMAND,
    Ran,
    Row,
    Way,
    command,
    interleaved,
    run_process,
    time_script,
)

FILL = """
import sys, time
import alembic.ddl.impl
from warehouse.records import Dump, MetricSpec, BulkQuery, RunHeader
from warehouse.store.load import source_ledger as ledger
from warehouse.store.open import open_store
from warehouse.store.load.loader import Loader, LoadOptions
url, benchmarks, models, prompts, draws = sys.argv[1], *map(int, sys.argv[2:6])
open_store(url, create=True).close()
started = time.monotonic()
SQL = '''
    select m as run, i // $draws as position, cast(i // $draws as varchar) as prompt_id,
        cast(i % $draws as integer) as draw, 'What is ' || i // $draws || '?' as text,
        'one' as target,
        case when right_or_not then 'one' else 'two' || hash(i, m, $seed, 1) % 3 end
            as extracted_answer,
        [{metric: 'acc', filter: '', weight: null::double, n_draws: null::integer,
          raw: null::varchar, status: null::varchar, origin: null::varchar,
          value: cast(right_or_not as double)}] as scores
    from (
        select m, i, hash(i, m, $seed) % 1000 < 200 + hash(i // $draws, $seed) % 500 + 6 * m
            as right_or_not
        from range($models) as a(m), range($rows) as b(i)
    )
    order by m, i'''
with open_store(url, write=True) as store:
    loader = Loader(store)
    for b in range(benchmarks):
        headers = tuple(
            RunHeader(harness="bench", model=f"organisation/model-{m:03d}-instruct",
                      benchmark=f"benchmark-{b}", metrics=(MetricSpec("acc"),), run_id=f"{b}-{m}")
            for m in range(models)
        )
        parameters = {"rows": prompts * draws, "draws": draws, "models": models, "seed": b}
        claim = ledger.claim(store, path=f"dump {b}", size=0, sha256=str(b), importer="bench",
                             version="1", settings={})
        loader.load(Dump(headers, [BulkQuery(SQL, parameters, None)]), claim, LoadOptions())
    loader.close()
print(time.monotonic() - started)
"""

ANALYSES = """
import sys, time, zlib
import numpy as np
import warehouse
url, benchmarks = sys.argv[1], int(sys.argv[2])
started = time.monotonic()
class Embedder:
    name, revision, dimension, max_length = "bench", "1", 32, None
    def encode(self, texts):
        dice = (np.random.default_rng(zlib.crc32(text.encode())) for text in texts)
        return np.stack([one.standard_normal(32) for one in dice]).astype(np.float32)
    def too_long(self, texts):
        return np.zeros(len(texts), np.bool_)
home = warehouse.connect(url)
for b in range(benchmarks):
    matrix = home.matrix(f"benchmark-{b}")
    matrix.test(permutations=50)
    matrix.cluster(n_clusters=range(2, 11))
    matrix.weights(draws=2000)
    matrix.grow()
    home.embed(f"benchmark-{b}", embedder=Embedder())
    matrix.explain(permutations=50)
print(time.monotonic() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """50 models on 10 benchmarks with every section."""
    store, page = folder / "report.duckdb", folder / "report.html"
    url = f"duckdb:///{store}"
    if not store.exists():
        sizes = ['10', '50', '300', '4']  # fmt: skip
        print(f"filling: {time_script(FILL, [url, *sizes], 1)}")
        print(f"analyses: {time_script(ANALYSES, [url, sizes[0]], 1)}")
    (timing,) = interleaved(
        options.runs, command("--db", url, "report", "--out", str(page))
    )
    print(
        f"warehouse report, 50 models on 10 benchmarks: {timing}; "
        f"{page.stat().st_size} bytes"
    )


def large(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """20 benchmarks x 500 models against 50 models."""
    ways = [_written(folder, options.runs, 20, models, 100) for models in (50, 500)]
    fewer, ours = interleaved(1, *ways)
    wanted = {"seconds": 30, "MiB": 800}
    yield Row(
        "report, 20 benchmarks x 500 models",
        ours,
        wanted,
        "the same with 50 models",
        fewer,
    )


def wide(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """1 000 benchmarks x 100 models against a tenth of the benchmarks."""
    fewer, ours = interleaved(
        1, *(_written(folder, options.runs, n, 100, 50) for n in (100, 1000))
    )
    wanted = {"seconds": 115, "MiB": 800}  # a minute of two idle cores
    yield Row(
        "report, 1 000 benchmarks x 100 models",
        ours,
        wanted,
        "the same with 100 benchmarks",
        fewer,
    )


def many(folder: Path, options: argparse.Namespace) -> None:
    """910 benchmarks with two models on one page and in a folder."""
    tables, url = (
        folder / f"quizzes-{options.benchmarks}",
        f"duckdb:///{folder}/many.duckdb",
    )
    if not tables.exists():
        write_tables(tables, options.benchmarks)
    run_process([COMMAND, "--db", url, "ingest", str(tables)])
    for out, how in (("many.html", ()), ("many", ("--split",))):
        (timing,) = interleaved(
            options.runs,
            command("--db", url, "report", *how, "--out", str(folder / out)),
        )
        print(f"{options.benchmarks} benchmarks in {out}: {timing}")
    sizes = [
        (folder / name).stat().st_size / 1e6
        for name in ("many.html", "many/index.html")
    ]
    print(f"page {sizes[0]:.1f} MB, index {sizes[1]:.2f} MB")


def write_tables(folder: Path, count: int) -> None:
    """A table for each benchmark with the scores of two models, from a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(2)
    for number in range(count):
        lines = ["model,benchmark,prompt_id,score"]
        lines += [
            f"org/model-{model},quiz-{number:04},p{row},{dice.random() < 0.5 + 0.1 * model:d}"
            for model in range(2)
            for row in range(30)
        ]
        (folder / f"quiz-{number:04}.csv").write_text("\n".join(lines) + "\n")


def _written(
    folder: Path, runs: int, benchmarks: int, models: int, prompts: int
) -> Way:
    """A folder of pages, and what a browser has to do to open its index and its largest
    page."""
    name = f"report-{benchmarks}-{models}"
    store, pages = folder / f"{name}.duckdb", folder / name
    url = f"duckdb:///{store}"

    def way() -> Ran:
        if not store.exists():
            time_script(FILL, [url, *map(str, (benchmarks, models, prompts, 1))], 1)
        shutil.rmtree(pages, ignore_errors=True)
        ran = command("--db", url, "report", "--split", "--out", str(pages))()
        files = sorted(pages.iterdir(), key=lambda path: path.stat().st_size)
        print(
            f"{name}: {len(files)} pages, "
            f"{sum(path.stat().st_size for path in files) / 1e6:.1f} MB"
        )
        for page in (pages / "index.html", files[-1]):
            print(
                f"  {page.name}, {page.stat().st_size / 1e6:.2f} MB: "
                f"{_opened(page, runs)}",
                flush=True,
            )
        return ran

    return way


def _opened(page: Path, runs: int) -> str:
    """Milliseconds until a page is loaded, and nodes of it, in a browser without a
    window."""
    browser = new_browser()
    if browser is None:
        return "no chromium and chromedriver to open it with"
    try:
        times = []
        for _ in range(runs):
            browser.get(page.as_uri())
            times.append(
                browser.execute_script(
                    "return performance.getEntriesByType('navigation')[0].loadEventEnd"
                )
            )
        nodes = browser.execute_script("return document.querySelectorAll('*').length")
    finally:
        browser.quit()
    return f"opens in {' '.join(f'{one:.0f}' for one in times)} ms, {nodes} nodes"


def new_browser() -> Any:
    """A real browser without a window; None where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        return None
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "no-first-run",
    ):
        options.add_argument(f"--{switch}")
    return webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=driver)
    )
