"""Running commands as processes of their own: wall seconds and peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Wall seconds (as the process itself reports them, else from outside) and peak MiB."""

    seconds: list[float]
    peak: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        runs = " ".join(f"{value:.2f}" for value in self.seconds)
        return f"median {self.median:.2f} s ({runs}), peak {self.peak:.0f} MiB"


def run_process(command: Sequence[str]) -> tuple[float, float, str]:
    """Wall seconds, peak MiB and output of one command."""
    with tempfile.TemporaryFile("w+") as out:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, text=True)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{output}")
    return seconds, usage.ru_maxrss / 1024, output


def time_script(script: str, arguments: Sequence[str] = (), runs: int = 3, python: str = sys.executable) -> Timing:
    """Run Python text several times; it prints the seconds that count on its last line."""
    seconds, peaks = [], []
    for _ in range(runs):
        _, peak, output = run_process([python, "-c", script, *arguments])
        seconds.append(float(output.strip().splitlines()[-1]))
        peaks.append(peak)
    return Timing(seconds, max(peaks))


def time_command(command: Sequence[str], runs: int = 5) -> Timing:
    """Run a command several times, from a cold process each time."""
    processes = [run_process(command) for _ in range(runs)]
    return Timing([item[0] for item in processes], max(item[1] for item in processes))
