"""The report of a store with many benchmarks, as one page and as a folder."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from measure import run_process, time_command

MODELS, PROMPTS = 2, 30


def write_tables(folder: Path, count: int) -> None:
    """A table for each benchmark with the scores of two models, from a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(2)
    for number in range(count):
        lines = ["model,benchmark,prompt_id,score"]
        lines += [
            f"org/model-{model},quiz-{number:04},p{row},{dice.random() < 0.5 + 0.1 * model:d}"
            for model in range(MODELS)
            for row in range(PROMPTS)
        ]
        (folder / f"quiz-{number:04}.csv").write_text("\n".join(lines) + "\n")


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time of the command and the size of its pages; ``--peer``: another version of us,
    whose store is its own."""
    tables = folder / f"quizzes-{options.benchmarks}"
    if not tables.exists():
        write_tables(tables, options.benchmarks)
    for name, python in (("this", Path(sys.executable)), ("peer", options.peer)):
        if python is None:
            continue
        command, url = str(python.with_name("warehouse")), f"duckdb:///{folder}/{name}.duckdb"
        run_process([command, "--db", url, "ingest", str(tables)])
        page = folder / f"{name}.html"
        timing = time_command([command, "--db", url, "report", "--out", str(page)], options.runs)  # .html: one page
        print(f"{options.benchmarks} benchmarks on one page ({name}): {timing}; {page.stat().st_size / 1e6:.1f} MB")
    pages = folder / "pages"
    url = f"duckdb:///{folder}/this.duckdb"
    command = str(Path(sys.executable).with_name("warehouse"))
    split = ["report", "--split", "--out", str(pages)]
    timing = time_command([command, "--db", url, *split], options.runs)
    index = (pages / "index.html").stat().st_size
    print(f"{options.benchmarks} benchmarks in a folder: {timing}; index {index / 1e6:.2f} MB")
