"""Eight processes that ingest overlapping folders of 200 files into PostgreSQL, against
one."""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

from measure import COMMAND, time_script
from server import RESET

FILES, PROMPTS, WRITERS = 200, 1000, 8


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print both times and their ratio."""
    if not options.server:
        print("skipped: give --server postgresql://… (its database is emptied)")
        return
    folders = _dumps(folder / "writers")
    alone = _seconds(options.server, folders[:1])
    together = _seconds(options.server, folders[1:])
    print(f"one writer, {FILES} files of {PROMPTS} scores: {alone:.1f} s")
    print(f"{WRITERS} writers, half of the files each: {together:.1f} s")
    print(f"throughput: {alone / together:.2f} times that of one")


def _dumps(folder: Path) -> list[Path]:
    """The folder of all files, then one for each writer."""
    whole = folder / "all"
    whole.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        rows = (
            f"org/m{number // 8},quiz{number % 8},p{row},acc,{(row * 7 + number) % 3 == 0:d}"
            for row in range(PROMPTS)
        )
        text = "\n".join(["model,benchmark,prompt_id,metric,score", *rows])
        (whole / f"{number:03}.csv").write_text(text)
    parts = []
    for writer in range(WRITERS):
        part = folder / f"writer-{writer}"
        part.mkdir(exist_ok=True)
        for place in range(FILES // 2):
            name = f"{(writer * FILES // WRITERS + place) % FILES:03}.csv"
            if not (part / name).exists():
                (part / name).symlink_to((whole / name).resolve())
        parts.append(part)
    return [whole, *parts]


def _seconds(server: str, folders: list[Path]) -> float:
    time_script(RESET, [server], 1)
    started = time.monotonic()
    writers = [
        subprocess.Popen(
            [COMMAND, "--db", server, "-q", "ingest", folder], stdout=subprocess.DEVNULL
        )
        for folder in folders
    ]
    codes = [writer.wait() for writer in writers]
    assert not any(codes), codes
    return time.monotonic() - started
