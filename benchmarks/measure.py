"""Commands as processes of their own: seconds by the clock and of the processor, peak
memory; rows of the page.

Ways to do the same are run in turn, again and again, so that what else the machine does
meets all of them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

COMMAND = str(Path(sys.executable).with_name("warehouse"))
#: Before each script, which measures a part of itself from `now()` to `spent(...)`, its
#: last line; a script that prints seconds alone has the processor time of its whole
#: process.
PRELUDE = """
import os, time
def now():
    return time.perf_counter(), time.process_time() + sum(os.times()[2:4])
def spent(since):
    print(*(end - begun for begun, end in zip(since, now())))
"""
#: A dump into a store of its own. What is imported only when it is needed is not
#: counted: a small dump goes first.
INGEST = """
import sys
from pathlib import Path
import warehouse, warehouse.ingest.pipeline
store, folder, small = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
for file, dump in ((store.with_name("warm.duckdb"), small), (store, folder)):
    if file != store or "--again" not in sys.argv:
        file.unlink(missing_ok=True)
    started = now()
    report = warehouse.connect(f"duckdb:///{file}").ingest(dump)
    assert not report.refused, report.refused[0].error
spent(started)
"""
#: How a figure comes about, and whether it is to be at least as large as what is wanted
#: of it.
FIGURES: dict[str, tuple[Callable[[Row], float], bool]] = {
    "times as fast": (lambda row: row.reference.used / row.ours.used, True),
    "times its cost": (lambda row: row.ours.used / row.reference.used, False),
    "a second": (lambda row: row.count / row.ours.used, True),
    "seconds": (lambda row: row.ours.used, False),
    "seconds each": (lambda row: row.ours.used / row.count, False),
    "MiB": (lambda row: row.ours.peak, False),
    "times its memory": (lambda row: row.ours.peak / row.reference.peak, False),
}


class Ran(NamedTuple):
    """What one process took."""

    seconds: float
    processor: float
    peak: float
    output: str


Way = Callable[[], Ran]


@dataclass(frozen=True)
class Timing:
    """Seconds by the clock and of the processor of each time, and the most MiB."""

    seconds: list[float]
    processor: list[float]
    peak: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def used(self) -> float:
        """The median of the processor, which other programs change little."""
        return statistics.median(self.processor)

    def __str__(self) -> str:
        runs = " ".join(f"{value:.2f}" for value in self.seconds)
        return (
            f"median {self.median:.2f} s ({runs}), processor {self.used:.2f} s, peak "
            f"{self.peak:.0f} MiB"
        )

    def to_dict(self) -> dict[str, Any]:
        digits = {"seconds": self.median, "processor": self.used, "peak": self.peak}
        return {name: float(f"{value:.4g}") for name, value in digits.items()} | {
            "times": len(self.seconds)
        }


@dataclass(frozen=True)
class Row:
    """A row of docs/reference/performance.md: some work, what is wanted of it by
    figure, and what
    it is held against."""

    work: str
    ours: Timing
    wanted: Mapping[str, float]
    against: str
    reference: Timing
    count: int = 1

    def figures(self) -> Iterator[tuple[str, float, float, bool]]:
        """Each figure, what is wanted of it, and whether that is reached."""
        for name, wanted in self.wanted.items():
            figure, at_least = FIGURES[name]
            value = figure(self)
            yield name, value, wanted, value >= wanted if at_least else value <= wanted

    def __str__(self) -> str:
        lines = [f"{self.work}: {self.ours}", f"  {self.against}: {self.reference}"]
        for name, value, wanted, reached in self.figures():
            lines.append(
                f"  {value:.3g} {name}; wanted: {wanted:g}; "
                f"{'reached' if reached else 'MISSED'}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        names = ("figure", "value", "wanted", "reached")
        figures = [
            dict(zip(names, (n, float(f"{v:.3g}"), w, bool(r)), strict=True))
            for n, v, w, r in self.figures()
        ]
        ours, reference = self.ours.to_dict(), self.reference.to_dict()
        return {
            "work": self.work,
            "figures": figures,
            "ours": ours,
            "against": self.against,
            "reference": reference,
        }


def spaced(number: int) -> str:
    """A number as the page has it: 10 000."""
    return f"{number:,}".replace(",", " ")


#: Starts a command from a small process: a command's peak is never told below what
#: started it held, and this program has made dumps. Writes its exit code, seconds,
#: processor seconds and peak (KiB) to a pipe.
STARTER = """
import os, sys, time
started = time.monotonic()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
seconds, processor = time.monotonic() - started, usage.ru_utime + usage.ru_stime
figures = os.waitstatus_to_exitcode(status), seconds, processor, usage.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, figures)).encode())
"""


def run_process(command: Sequence[str]) -> Ran:
    """Run one command; it ends this program where it fails."""
    told, end = os.pipe()
    with tempfile.TemporaryFile("w+") as out, open(told) as pipe:
        others = _used_by_server()
        starter = [sys.executable, "-I", "-S", "-c", STARTER, str(end), *command]
        with subprocess.Popen(
            starter, stdout=out, stderr=subprocess.STDOUT, pass_fds=[end]
        ):
            os.close(end)
            code, seconds, processor, peak = map(float, pipe.read().split())
        out.seek(0)
        output = out.read()
    if code != 0:
        sys.exit(f"{' '.join(command)} ended with {code:.0f}:\n{output}")
    return Ran(seconds, processor + _used_by_server() - others, peak / 1024, output)


def script(
    text: str, arguments: Sequence[str] = (), python: str = sys.executable
) -> Way:
    """Python text; its last line holds what counts: seconds, and those of the
    processor."""

    def way() -> Ran:
        others = _used_by_server()
        ran = run_process([python, "-P", "-c", PRELUDE + text, *arguments])
        last = ran.output.strip().rpartition("\n")[2]
        seconds, *processor = (
            [ran.seconds] if last[-1:] in "}" else map(float, last.split())
        )
        used = processor[0] + _used_by_server() - others if processor else ran.processor
        return Ran(seconds, used, ran.peak, ran.output)

    return way


def command(*words: str) -> Way:
    """A command of ours from a cold process."""
    return lambda: run_process([COMMAND, *words])


def interleaved(runs: int, *ways: Way) -> list[Timing]:
    """What each way takes, one after the other, so many times."""
    rounds = [[way() for way in ways] for _ in range(runs)]
    return [
        Timing(
            [one.seconds for one in own],
            [one.processor for one in own],
            max(one.peak for one in own),
        )
        for own in zip(*rounds, strict=True)
    ]


def time_script(
    text: str,
    arguments: Sequence[str] = (),
    runs: int = 3,
    python: str = sys.executable,
) -> Timing:
    """Run Python text several times."""
    return interleaved(runs, script(text, arguments, python))[0]


def time_command(words: Sequence[str], runs: int = 5) -> Timing:
    """Run a command several times, from a cold process each time."""
    return interleaved(runs, lambda: run_process(words))[0]


@dataclass
class _Server:
    """The process of a PostgreSQL that this program has started: its work is counted as
    that of who asks."""

    folder: Path | None = None
    ticks: int = field(default_factory=lambda: os.sysconf("SC_CLK_TCK"))


_SERVER = _Server()


def _used_by_server() -> float:
    """Processor seconds of the server and of all that it started, those that have ended
    too."""
    if _SERVER.folder is None:
        return 0.0
    time.sleep(0.05)  # the process of a connection ends just after it
    first = (_SERVER.folder / "data" / "postmaster.pid").read_text().split()[0]
    total = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if first in (place.parent.name, fields[1]):
            total += sum(
                map(int, fields[11:15] if place.parent.name == first else fields[11:13])
            )
    return total / _SERVER.ticks


@contextmanager
def postgresql(url: str | None) -> Iterator[str]:
    """The URL that was given, whose server's work is not counted; else that of a server
    of its own, as tests have."""
    if url:
        yield url
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    with patch.dict(
        os.environ
    ):  # tests work with one thread; what is measured, here or after, does not
        from tests.conftest import PostgresCluster, _postgres_programs

    cluster = PostgresCluster(
        _postgres_programs(), Path(tempfile.mkdtemp(prefix="warehouse-bench-server-"))
    )
    try:
        cluster.start()
        _SERVER.folder = cluster.folder
        yield cluster.url(cluster.create())
    finally:
        _SERVER.folder = None
        cluster.stop()
