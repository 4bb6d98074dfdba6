"""A real cluster of Spark gives what the store gives, and what dies in it changes no figure."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.test_lake import faults
from tests.queries.test_library import GIVEN
from tests.queries.test_views_engines import GRAIN
from tests.store.test_lake_engine import differences
from tests.support.cli import COMMAND, Caller
from tests.support.lakes import table_versions, world_with_lake
from tests.support.same_stores import store_differences
from tests.support.spark_cluster import SparkCluster, SparkMissing
from warehouse.api import connect
from warehouse.store.connection import Store
from warehouse.store.lake.check import check
from warehouse.store.open import open_store
from warehouse.store.sql import query_files
from warehouse.store.sql.run_query import run_named, run_sql

pytestmark = [pytest.mark.spark]
ROOT = Path(__file__).resolve().parents[2]
#: How often each part is killed; WAREHOUSE_KILLS=20 takes a quarter of an hour.
KILLS = int(os.environ.get("WAREHOUSE_KILLS", "2"))
SOURCES, PROMPTS = 6, 14_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    try:
        made = SparkCluster(tmp_path_factory.mktemp("spark"))
    except SparkMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}; .ci/run installs Java")
        pytest.skip(str(missing))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, and a lake of it."""
    return world_with_lake(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def store(made: Path) -> Iterator[Store]:
    with open_store(f"duckdb:///{made / 'store.duckdb'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def lake(made: Path, cluster: SparkCluster) -> Iterator[Store]:
    with open_store(f"{cluster.url}?lake={made / 'lake'}", guarded=True) as opened:
        yield opened


@pytest.mark.parametrize("name", [view.name for view in query_files.views()])
def test_a_view_gives_the_same_rows(store: Store, lake: Store, name: str) -> None:
    keys = ", ".join(f"{column.strip()} nulls last" for column in GRAIN[name].split(","))
    one, other = (run_sql(side, f"select * from {name} order by {keys}", {}).to_pylist() for side in (store, lake))
    assert len(one) == len(other) > 0
    assert [fault for pair in zip(one, other, strict=True) for fault in differences(*pair)] == []


@pytest.mark.parametrize("name", GIVEN)
def test_a_library_query_gives_the_same_rows_in_the_same_order(store: Store, lake: Store, name: str) -> None:
    one, other = (run_named(side, name, GIVEN[name]).to_pylist() for side in (store, lake))
    assert len(one) == len(other) > 0 and list(one[0]) == list(other[0])
    assert [fault for pair in zip(one, other, strict=True) for fault in differences(*pair)] == []


@pytest.mark.parametrize(
    "line", ["leaderboard quiz", "compare org/b org/c --benchmark quiz", "pairs quiz", "variance quiz"]
)
def test_a_command_answers_as_on_the_store(run: Caller, made: Path, cluster: SparkCluster, line: str) -> None:
    urls = (f"duckdb:///{made / 'store.duckdb'}", f"{cluster.url}?lake={made / 'lake'}")
    one, other = (run(*line.split(), "--json", db=url) for url in urls)
    assert one.code == other.code and one.out.startswith("["), other.err
    assert list(faults(json.loads(one.out), json.loads(other.out))) == []


def test_dumps_that_executors_read_give_the_same_store(
    run: Caller, cluster: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    urls = [f"duckdb:///{tmp_path / name}.duckdb" for name in ("here", "there")]
    folders = ("docs/demo/results", "tests/data/lm_eval", "tests/data/inspect", "tests/data/tabular")
    here = run("ingest", *folders, db=urls[0])
    there = run("ingest", *folders, "--on", cluster.url, "--lake", str(tmp_path / "lake"), db=urls[1])
    assert here.code == there.code == 3
    assert here.err.replace(urls[0], "STORE") == there.err.replace(urls[1], "STORE")
    assert store_differences(*urls) == []
    with open_store(urls[1]) as made:
        assert check(made, str(tmp_path / "lake")).verdict == "same"


# --- what dies ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps; a store of one more, with its lake; and a store of all, read here."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "dumps").mkdir()
    rng = random.Random(1)
    for number in range(SOURCES + 1):
        lines = ["model,benchmark,prompt_id,metric,score,response"]
        lines += [
            f"org/m{number},quiz,p{row},acc,{rng.random() < 0.6:d},{rng.getrandbits(256):x}" for row in range(PROMPTS)
        ]
        place = folder / "first.csv" if number == SOURCES else folder / "dumps" / f"{number}.csv"
        place.write_text("\n".join(lines))
    connect(f"duckdb:///{folder / 'store.duckdb'}").ingest(folder / "first.csv", lake=str(folder / "lake"))
    connect(f"duckdb:///{folder / 'all.duckdb'}").ingest(folder / "first.csv", folder / "dumps")
    return folder


class Ingest:
    """An ingest on the cluster, into a store and lake of its own, in a process of its own."""

    def __init__(self, begun: Path, folder: Path, cluster: SparkCluster) -> None:
        shutil.copytree(begun / "lake", folder / "lake")
        shutil.copy(begun / "store.duckdb", folder / "store.duckdb")
        self.begun, self.lake, self.url = begun, folder / "lake", f"duckdb:///{folder / 'store.duckdb'}"
        line = ["ingest", str(begun / "dumps"), "--on", cluster.url, "--lake", str(self.lake)]
        self.call = [str(COMMAND), "--db", self.url, *line]
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ends(self) -> tuple[int, str]:
        _, said = self.process.communicate()
        return self.process.returncode, said

    def is_half_visible(self) -> bool:
        """Whether a reader sees something that is neither what was there nor all of it."""
        with open_store(f"sail:?lake={self.lake}") as lake:
            n = lake.arrow("select count(*) as n from score").to_pylist()[0]["n"]
        return n not in (PROMPTS, PROMPTS * (SOURCES + 1))

    def is_whole(self) -> bool:
        """Whether store and lake have what an ingest without executors gives, and no more."""
        sql = "select model, benchmark, metric, estimate, n_prompts from score_summary order by all"
        here, there = (connect(url).arrow(sql) for url in (f"duckdb:///{self.begun / 'all.duckdb'}", self.url))
        with open_store(self.url) as store:
            same = check(store, str(self.lake)).verdict == "same"
        names = {path.name for path in self.lake.iterdir()}
        return same and here.equals(there) and names == {*table_versions(self.lake), "lake_version"}


def at_points(seconds: float) -> list[float]:
    """Times after the beginning, spread over what an ingest takes."""
    return [seconds * (number + 0.7) / KILLS for number in range(KILLS)]


@pytest.fixture(scope="module")
def usual(begun: Path, cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that the ingest takes where nothing dies."""
    ingest, started = Ingest(begun, tmp_path_factory.mktemp("usual"), cluster), time.monotonic()
    assert ingest.ends()[0] == 0 and ingest.is_whole()
    return time.monotonic() - started


def kill_executor(cluster: SparkCluster) -> None:
    for pid in cluster.executors()[:1]:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_executor, SparkCluster.kill_worker])
def test_an_executor_or_worker_that_dies_changes_nothing(
    cluster: SparkCluster, begun: Path, usual: float, tmp_path: Path, kill: Callable[[SparkCluster], None]
) -> None:
    for number, seconds in enumerate(at_points(usual)):
        (tmp_path / str(number)).mkdir()
        ingest = Ingest(begun, tmp_path / str(number), cluster)
        time.sleep(seconds)
        kill(cluster)
        code, said = ingest.ends()
        while len(cluster.workers) < 2:
            cluster.add_worker()
        assert code == 0 and "read by this process" not in said, said
        assert ingest.is_whole()


def test_a_caller_that_dies_leaves_the_last_whole_version(
    cluster: SparkCluster, begun: Path, usual: float, tmp_path: Path
) -> None:
    for number, seconds in enumerate(at_points(usual)):
        (tmp_path / str(number)).mkdir()
        ingest = Ingest(begun, tmp_path / str(number), cluster)
        time.sleep(seconds)
        ingest.process.kill()
        ingest.ends()
        assert not ingest.is_half_visible()
        ingest.process = ingest.start()
        assert ingest.ends()[0] == 0 and ingest.is_whole()


def test_a_server_that_dies_is_told_and_the_next_run_goes_on(
    cluster: SparkCluster, begun: Path, usual: float, tmp_path: Path
) -> None:
    """The last test: what comes after it has a new server."""
    ingest = Ingest(begun, tmp_path, cluster)
    time.sleep(usual * 0.6)
    cluster.kill_server()
    code, said = ingest.ends()
    if code:
        assert (code, said.count("Error: ")) == (4, 1) and "run this again: what was loaded is known" in said, said
    assert not ingest.is_half_visible()
    cluster.start_server()
    ingest.process = ingest.start()
    assert ingest.ends()[0] == 0 and ingest.is_whole()
