"""How cost grows with rows, models, benchmarks and runs: exponents of counts, which no
other program changes.

Python calls of a command, its statements, the rows that the engine read for them (as
its own log has it), the bytes that it wrote; and processor seconds without any of this.
An exponent is that of the last step: what is paid once would hide in a line through all
sizes.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import run_process, script, spaced

#: Benchmarks, models and prompts of each store.
Size = tuple[int, int, int]
AXES: dict[str, list[Size]] = {
    "rows": [(1, 10, 10_000), (1, 10, 100_000), (1, 10, 300_000)],
    "models": [(1, 10, 100), (1, 100, 100), (1, 1000, 100)],
    "benchmarks": [(10, 3, 30), (100, 3, 30), (900, 3, 30)],
    "runs": [(10, 100, 10), (100, 100, 10), (1000, 100, 10)],
}
#: What is asked of each.
WORK = {
    "ingest": ("ingest", "{tables}", "--higher-is-better"),
    "leaderboard": ("leaderboard", "quiz-0"),
    "compare": ("compare", "model-0", "model-1", "--benchmark", "quiz-0"),
    "pairs": ("pairs", "quiz-0"),
    "report": ("report", "--split", "--jobs", "1", "--out", "{pages}"),
    "overview": ("/",),
    "refresh": ("refresh",),
}
COUNTS = ("calls", "statements", "rows read", "bytes written")

TABLES = """
import sys, duckdb
from pathlib import Path
folder, (benchmarks, models, prompts) = Path(sys.argv[1]), map(int, sys.argv[2:5])
folder.mkdir()
for b in range(benchmarks):
    duckdb.execute(f'''copy (
        select 'model-' || m as model, 'quiz-{b}' as benchmark, 'p' || i as prompt_id,
            (hash(i, m, {b}) % 1000 < 300 + hash(i, {b}) % 400 + m * 200 // {models})::integer as score
        from range({models}) as m(m), range({prompts}) as i(i) order by m, i) to '{folder / f"{b:04}.csv"}' (header)''')
"""
#: One command, or a page of `serve`, in this process.
ASK = """
import os, sys
url, work = sys.argv[1], sys.argv[2:]
def ask():
    if work[0] == "/":
        import time, asyncio
        from starlette.testclient import TestClient
        from warehouse.serve.app import create_app
        with TestClient(create_app(url), base_url="http://127.0.0.1:8321") as client:
            while "data-again" in client.get("/").text:
                time.sleep(0.05)
    else:
        from warehouse.cli.main import main
        sys.stdout = open(os.devnull, "w")
        code = main(["--db", url, *work])
        sys.stdout = sys.__stdout__
        assert code in (0, 1), code
"""
SECONDS = f"{ASK}\nstarted = now()\nask()\nspent(started)"
#: Engines that this process opens log their statements, and the rows that each read,
#: beside the store.
COUNTED = (
    ASK
    + """
import csv, json, re, threading, duckdb
from pathlib import Path
from tempfile import TemporaryDirectory
connect, logs, calls, scratch = duckdb.connect, [], 0, TemporaryDirectory()
def logged(*where, **how):
    connection = connect(*where, **how)
    logs.append(Path(scratch.name, str(len(logs))))
    for statement in (
        "set enable_profiling = 'no_output'",
        '''set custom_profiling_settings = '{"CUMULATIVE_ROWS_SCANNED": "true"}' ''',
        f"call enable_logging(['QueryLog', 'Metrics'], storage = 'file', storage_path = '{logs[-1]}')",
    ):
        connection.execute(statement)
    return connection
duckdb.connect = logged
def follow(frame, event, argument):
    global calls
    calls += event == "call"
def written():
    return int(re.search(r"wchar: (\\d+)", Path("/proc/self/io").read_text())[1])
threading.setprofile(follow)
sys.setprofile(follow)
before = written()
ask()
sys.setprofile(None)
counts = {"calls": calls, "statements": 0, "rows read": 0, "bytes written": written() - before}
csv.field_size_limit(sys.maxsize)
for log in logs:
    for file in log.glob("*entries.csv"):
        counts["bytes written"] -= file.stat().st_size
        for entry in csv.DictReader(file.open(newline="")):
            counts["statements"] += entry["type"] == "QueryLog"
            if entry["type"] == "Metrics":
                counts["rows read"] += int(re.search(r"value': (\\d+)", entry["message"])[1])
print(json.dumps(counts))
"""
)


@dataclass(frozen=True)
class Growth:
    """What some work took at each size of an axis; a row of
    docs/reference/performance.md without
    anything that it is against."""

    axis: str
    work: str
    sizes: Sequence[int]
    figures: dict[str, list[float]]

    def exponents(self) -> dict[str, float]:
        """Of the last step of each figure."""
        step = math.log(self.sizes[-1] / self.sizes[-2])
        return {
            name: round(
                math.log(max(values[-1], 1e-9) / max(values[-2], 1e-9)) / step, 2
            )
            + 0.0
            for name, values in self.figures.items()
        }

    def __str__(self) -> str:
        figures = "; ".join(
            f"{name} {exponent:.2f} "
            f"({', '.join(f'{value:.4g}' for value in self.figures[name])})"
            for name, exponent in self.exponents().items()
        )
        return (
            f"{self.work} by {self.axis} {', '.join(map(spaced, self.sizes))}: "
            f"{figures}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "work": f"{self.work} by {self.axis}",
            "sizes": list(self.sizes),
            "exponents": self.exponents(),
            "largest": {
                name: float(f"{values[-1]:.4g}")
                for name, values in self.figures.items()
            },
        }


def run(folder: Path, options: argparse.Namespace) -> Iterator[Growth]:
    """All work at all sizes, with processor seconds; a report of 100 000 runs takes
    long, so only with ``--large``."""
    for axis in AXES:
        works = [
            work for work in WORK if options.large or (axis, work) != ("runs", "report")
        ]
        yield from grown(folder, axis, AXES[axis], works, seconds=True)


def grown(
    folder: Path,
    axis: str,
    sizes: Sequence[Size],
    works: Sequence[str],
    *,
    seconds: bool = False,
) -> Iterator[Growth]:
    """What each work counts at each size; the first is the ingest, which makes the
    store of the others."""
    found: dict[str, dict[str, list[float]]] = {work: {} for work in works}
    for size in sizes:
        place = folder / f"growth-{axis}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        names = {"tables": str(place / "tables"), "pages": str(place / "pages")}
        run_process([sys.executable, "-c", TABLES, names["tables"], *map(str, size)])
        for work in works:
            words = [word.format(**names) for word in WORK[work]]
            counts = {}
            if seconds:
                if (place / "store").exists():
                    shutil.copy(place / "store", place / "other")
                counts["processor seconds"] = script(
                    SECONDS, [f"duckdb:///{place / 'other'}", *words]
                )().processor
            store = f"duckdb:///{place / 'store'}"
            counts |= json.loads(
                run_process(
                    [sys.executable, "-P", "-c", COUNTED, store, *words]
                ).output.splitlines()[-1]
            )
            for name, value in counts.items():
                found[work].setdefault(name, []).append(value)
    along = [
        math.prod(size) if axis == "rows" else math.prod(size[:2]) for size in sizes
    ]
    for work, figures in found.items():
        yield Growth(axis, work, along, figures)
    shutil.rmtree(folder / f"growth-{axis}")
