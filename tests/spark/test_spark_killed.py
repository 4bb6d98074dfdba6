"""What dies in a cluster, or asks it, changes no figure: kill -9 at points spread over
the work."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_lake import faults
from tests.conftest import ROOT
from tests.support.cli import COMMAND
from tests.support.lakes import table_versions
from tests.support.spark_cluster import SparkCluster
from warehouse.api import connect
from warehouse.store.lake.check import check
from warehouse.store.open import open_store

#: How often each part is killed; WAREHOUSE_KILLS=20 takes hours on a busy machine.
KILLS = int(os.environ.get("WAREHOUSE_KILLS", "2"))
#: Each point is a test of its own, with its own time limit: what waits for ever is told
#: from what is many.
POINTS = pytest.mark.parametrize("point", range(KILLS))
pytestmark = [pytest.mark.spark, POINTS]
SOURCES, PROMPTS = 6, 14_000


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps; a store of one more, with its lake; and a store of all, read here."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "dumps").mkdir()
    rng = random.Random(1)
    for number in range(SOURCES + 1):
        lines = ["model,benchmark,prompt_id,metric,score,response"]
        lines += [
            f"org/m{number},quiz,p{row},acc,{rng.random() < 0.6:d},{rng.getrandbits(256):x}"
            for row in range(PROMPTS)
        ]
        place = (
            folder / "first.csv"
            if number == SOURCES
            else folder / "dumps" / f"{number}.csv"
        )
        place.write_text("\n".join(lines))
    connect(f"duckdb:///{folder / 'store.duckdb'}").ingest(
        folder / "first.csv", lake=str(folder / "lake")
    )
    connect(f"duckdb:///{folder / 'all.duckdb'}").ingest(
        folder / "first.csv", folder / "dumps"
    )
    connect(f"duckdb:///{folder / 'all.duckdb'}").lake_sync(str(folder / "lake-of-all"))
    return folder


class Job:
    """A command on the cluster in a process of its own, on a copy of a store and its
    lake."""

    def __init__(self, begun: Path, folder: Path, cluster: SparkCluster) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(begun / self.lake_name, folder / "lake")
        shutil.copy(begun / self.store_name, folder / "store.duckdb")
        self.begun, self.lake, self.url = (
            begun,
            folder / "lake",
            f"duckdb:///{folder / 'store.duckdb'}",
        )
        self.call = self.command(cluster)
        self.process = self.start()

    store_name, lake_name = "store.duckdb", "lake"

    def command(self, cluster: SparkCluster) -> list[str]:
        """What is called."""
        raise NotImplementedError

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.call,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def ends(self) -> tuple[int, str]:
        self.out, said = self.process.communicate()
        return self.process.returncode, said

    def is_half_visible(self) -> bool:
        """Whether a reader sees something that is neither what was there nor all of it."""
        raise NotImplementedError

    def is_whole(self) -> bool:
        """Whether store and lake, or the answer, are what they are where nothing dies,
        and no more."""
        raise NotImplementedError

    def lake_is_clean(self) -> bool:
        """Whether the lake is what the store holds, and has no other folders."""
        with open_store(self.url) as store:
            same = check(store, str(self.lake)).verdict == "same"
        return same and {path.name for path in self.lake.iterdir()} == {
            *table_versions(self.lake),
            "lake_version",
        }

    def asked(self, sql: str) -> list[dict[str, Any]]:
        """What a reader of the lake sees."""
        with open_store(f"sail:?lake={self.lake}") as lake:
            return lake.arrow(sql).to_pylist()


class Ingest(Job):
    """Dumps that executors read, and the lake of them."""

    def command(self, cluster: SparkCluster) -> list[str]:
        line = [
            "ingest",
            str(self.begun / "dumps"),
            "--on",
            cluster.url,
            "--lake",
            str(self.lake),
        ]
        return [str(COMMAND), "--db", self.url, *line]

    def is_half_visible(self) -> bool:
        return self.asked("select count(*) as n from score")[0]["n"] not in (
            PROMPTS,
            PROMPTS * (SOURCES + 1),
        )

    def is_whole(self) -> bool:
        sql = (
            "select model, benchmark, metric, estimate, n_prompts from score_summary "
            "order by all"
        )
        here, there = (
            connect(url).arrow(sql)
            for url in (f"duckdb:///{self.begun / 'all.duckdb'}", self.url)
        )
        return self.lake_is_clean() and here.equals(there)


class Refresh(Job):
    """Figures of the store, and the lake with them; executors have no part in it."""

    store_name, lake_name = "all.duckdb", "lake-of-all"
    FIGURES = (
        "select subject, metric, statistic, estimate, low, high, n from metric_current "
        "order by all"
    )

    def command(self, cluster: SparkCluster) -> list[str]:
        return [
            str(COMMAND),
            "--db",
            self.url,
            "refresh",
            "--baseline",
            "org/m0",
            "--lake",
            str(self.lake),
        ]

    def is_half_visible(self) -> bool:
        return len(self.asked("select estimate from metric_current")) not in (
            0,
            len(self.expected()),
        )

    def is_whole(self) -> bool:
        return (
            self.lake_is_clean()
            and connect(self.url).arrow(self.FIGURES).to_pylist() == self.expected()
        )

    def expected(self) -> list[dict[str, Any]]:
        """The figures of a refresh that nobody kills."""
        kept = self.begun / "refreshed.duckdb"
        if not kept.exists():
            shutil.copy(self.begun / self.store_name, kept)
            connect(f"duckdb:///{kept}").refresh(baselines=["org/m0"])
        return connect(f"duckdb:///{kept}").arrow(self.FIGURES).to_pylist()


#: However small the matrix, executors are asked.
PERMUTATIONS = """
import sys
from warehouse.analysis.matrix import analyses
from warehouse.cli.main import main
analyses.WORTH_SECONDS = 0.0
sys.exit(main())
"""


class Permutations(Job):
    """A permutation test of a performance matrix; nothing is written."""

    store_name, lake_name = "all.duckdb", "lake-of-all"
    LINE = ("matrix", "test", "quiz", "--permutations", "64", "--json", "--no-store")

    def command(self, cluster: SparkCluster) -> list[str]:
        return [
            sys.executable,
            "-c",
            PERMUTATIONS,
            "--db",
            f"{cluster.url}?lake={self.lake}",
            *self.LINE,
        ]

    def is_half_visible(self) -> bool:
        return not self.lake_is_clean()

    def is_whole(self) -> bool:
        kept = self.begun / "permutations.json"
        if not kept.exists():
            line = [str(COMMAND), "--db", self.url, *self.LINE]
            kept.write_text(
                subprocess.run(line, check=True, capture_output=True, text=True).stdout
            )
        return (
            list(faults(json.loads(kept.read_text()), json.loads(self.out))) == []
            and self.lake_is_clean()
        )


Usual = Callable[[type[Job]], float]


@pytest.fixture(scope="module")
def usual(
    begun: Path, cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory
) -> Usual:
    """Seconds that a command takes where nothing dies: the second time, when the
    cluster is warm. Where each part is killed once `test_spark.py` has warmed it by an
    ingest."""

    @cache
    def measured(kind: type[Job]) -> float:
        for _ in range(
            1 if kind is Refresh or KILLS < 2 else 2
        ):  # executors have no part in a refresh
            job, started = (
                kind(begun, tmp_path_factory.mktemp("usual"), cluster),
                time.monotonic(),
            )
            code, said = job.ends()
            seconds = time.monotonic() - started
            assert code == 0 and "could not" not in said and job.is_whole(), said
        return seconds

    return measured


def wait_until(point: int, seconds: float) -> None:
    """Points are spread over what a command takes."""
    time.sleep(seconds * (point + 0.7) / KILLS)


def kill_executor(cluster: SparkCluster) -> None:
    for pid in cluster.executors()[:1]:
        os.kill(pid, signal.SIGKILL)


#: Where each part is killed once, an ingest is what is killed: a permutation test asks
#: executors through the same function of a session and takes minutes, a refresh asks
#: none, and is killed without a cluster by `tests/campaign`. A worker takes its
#: executor with it, of which alone the driver hears.
MORE = pytest.mark.skipif(
    KILLS < 2, reason="WAREHOUSE_KILLS=1: one of each kind is enough"
)
#: Left to `make test-spark`: an executor that dies is Spark's own to replace, and a
#: caller is killed without a cluster by `tests/campaign`.
AT_NIGHT = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "kill"),
    [
        pytest.param(Ingest, kill_executor, marks=AT_NIGHT),
        pytest.param(Ingest, SparkCluster.kill_worker, marks=MORE),
        pytest.param(Permutations, kill_executor, marks=MORE),
        pytest.param(Permutations, SparkCluster.kill_worker, marks=MORE),
    ],
)
def test_an_executor_or_worker_that_dies_changes_nothing(
    cluster: SparkCluster,
    begun: Path,
    usual: Usual,
    tmp_path: Path,
    kill: Callable[[SparkCluster], None],
    kind: type[Job],
    point: int,
) -> None:
    seconds = usual(kind)
    job = kind(begun, tmp_path, cluster)
    wait_until(point, seconds)
    kill(cluster)
    code, said = job.ends()
    while len(cluster.workers) < 2:
        cluster.add_worker()
    assert code == 0 and "by this process" not in said, said
    assert job.is_whole()


@AT_NIGHT
@pytest.mark.parametrize(
    "kind",
    [Ingest, *(pytest.param(kind, marks=MORE) for kind in (Refresh, Permutations))],
)
def test_a_caller_that_dies_leaves_the_last_whole_version(
    cluster: SparkCluster,
    begun: Path,
    usual: Usual,
    tmp_path: Path,
    kind: type[Job],
    point: int,
) -> None:
    seconds = usual(kind)
    job = kind(begun, tmp_path, cluster)
    wait_until(point, seconds)
    job.process.kill()
    job.ends()
    assert not job.is_half_visible()
    job.process = job.start()
    assert job.ends()[0] == 0 and job.is_whole()


@pytest.mark.parametrize("kind", [Ingest, pytest.param(Permutations, marks=MORE)])
def test_a_server_that_dies_is_told_and_the_next_run_goes_on(
    cluster: SparkCluster,
    begun: Path,
    usual: Usual,
    tmp_path: Path,
    kind: type[Job],
    point: int,
) -> None:
    seconds = usual(kind)
    job = kind(begun, tmp_path, cluster)
    wait_until(point, seconds)
    cluster.kill_server()
    code, said = job.ends()
    if code:
        assert (code, said.count("Error: ")) == (4, 1), said
    else:
        assert job.is_whole()
    assert not job.is_half_visible()
    cluster.start_server()
    job.process = job.start()
    assert job.ends()[0] == 0 and job.is_whole()
