"""Several processes that ingest at once: dumps that overlap, and the processes
themselves."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.forked import COMMAND, Popen

PROMPTS = 40


def dumps(folder: Path, count: int, prompts: int = PROMPTS) -> list[Path]:
    """Files of one run each: models by benchmarks, of which every one has several runs."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        model, benchmark = f"org/model-{number // 8}", f"quiz-{number % 8}"
        lines = ["model,benchmark,prompt_id,metric,score,response"]
        lines += [
            f"{model},{benchmark},p{row},acc,{(row * 7 + number) % 3 == 0:d},answer "
            f"{row % 11}"
            for row in range(prompts)
        ]
        made.append(folder / f"dump-{number:04}.csv")
        made[-1].write_text("\n".join(lines) + "\n")
    return made


def overlapping(folder: Path, files: Sequence[Path], writers: int) -> list[Path]:
    """A folder for each writer with half of the files, so that each file is in several."""
    folders = []
    for writer in range(writers):
        mine = folder / f"writer-{writer}"
        mine.mkdir(parents=True)
        start = writer * len(files) // writers
        for place in range(start, start + max(1, len(files) // 2)):
            source = files[place % len(files)]
            (mine / source.name).symlink_to(source)
        folders.append(mine)
    return folders


def ingest_at_once(
    url: str, folders: Sequence[Path], wait: float = 10.0
) -> list[tuple[int, str]]:
    """Exit code and standard error of one ``warehouse ingest`` for each folder, all at
    once."""
    started = [
        Popen(
            [str(COMMAND), "--db", url, "--wait", str(wait), "ingest", str(folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder in folders
    ]
    return [
        (process.wait(), said)
        for process in started
        for said in [process.communicate()[1]]
    ]
