"""What the scripts that calibrate share: their options, the lines they print and put
into a page, cells done before.

To be imported before numpy: the processes are the parallelism.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("WAREHOUSE_TEST_DATA", ROOT.parent / "shared" / "data"))
#: Where the pages are that scripts write.
REFERENCE = ROOT / "docs" / "reference"
#: Between these the tables of a page lie, where it has only one place for them.
MARKS = ("<!-- calibration: begin -->", "<!-- calibration: end -->")
Cell = TypeVar("Cell")
Result = TypeVar("Result")


def parser_of(
    document: str | None,
    page: str,
    counts: Mapping[str, tuple[int, str]],
    *,
    seed: bool = True,
) -> argparse.ArgumentParser:
    """A parser for ``--output`` (a page of docs/reference), ``--seed`` and whole numbers with
    their usual value and help."""
    parser = argparse.ArgumentParser(description=(document or "").partition("\n")[0])
    for name, (usual, words) in counts.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int,
            default=usual,
            help=f"{words} ({usual})",
        )
    if seed:
        parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=REFERENCE / page)
    return parser


def told(line: str) -> str:
    """The line, printed at once."""
    print(line, flush=True)
    return line


def row(names: Sequence[str], figures: Iterable[float] = (), digits: int = 3) -> str:
    """A line of a table: words, then figures, empty where one is NaN."""
    return (
        "| "
        f"{' | '.join([*names, *('' if value != value else f'{value:.{digits}f}' for value in figures)])} "
        "|"
    )


def write_between(page: Path, marks: tuple[str, str], lines: Iterable[str]) -> None:
    """Put lines in the place of what stands between two marks."""
    begin, end = marks
    before, rest = page.read_text(encoding="utf-8").split(begin)
    text = "\n".join([before + begin, *lines, end + rest.split(end)[1]])
    page.write_text(text, encoding="utf-8")


def add_cache(parser: argparse.ArgumentParser, name: str, words: str) -> None:
    """The options of `each_cell`."""
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument(
        "--cache", type=Path, default=ROOT / "build" / f"{name}.cells.jsonl", help=words
    )


def each_cell(
    cells: Sequence[Cell],
    work: Callable[[Cell], Result],
    read: Callable[[Any], Result],
    key: object,
    options: Any,
) -> dict[Cell, Result]:
    """What ``work`` makes of each cell; ``read`` has it from what a run before, of the
    same key, left in the cache."""
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    lines = options.cache.read_text().splitlines() if options.cache.exists() else []
    before = {
        json.dumps(cell): result
        for own, cell, result in map(json.loads, lines)
        if own == key
    }
    done = {
        cell: read(before[name])
        for cell in cells
        if (name := json.dumps(cell)) in before
    }
    missing = [cell for cell in cells if cell not in done]
    with options.cache.open("a") as cache, multiprocessing.Pool(options.jobs) as pool:
        for number, (cell, result) in enumerate(
            zip(missing, pool.imap(work, missing), strict=True), 1
        ):
            done[cell] = result
            cache.write(json.dumps([key, cell, result]) + "\n")
            cache.flush()
            if sys.stderr.isatty() or number % 200 == 0:
                print(
                    f"\r{number} of {len(missing)} cells",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    return done
