"""Fixtures of the whole suite: real database engines, and the shared data where it is
present."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

# Before numpy is loaded: test processes share the cores already, and threads of the
# algebra library that wait for one another burn a sixth of what tests of statistics
# compute. Tests of threads ask for theirs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# For the same reason, and on tables as small as those of tests they take a quarter more
# for nothing; tests/store/test_threads.py holds the answers of several threads against
# those of one.
os.environ.setdefault("WAREHOUSE_THREADS", "1")

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from tests.support.builders import StoreRows
from tests.support.cli import Caller, fill, filled_url
from tests.support.costs import Costs, not_counted
from tests.support.dear import dear_functions, function_of
from tests.support.golden import golden as golden
from tests.support.held import begin, give_up_in, readers_held
from tests.support.rare_part import part_of_rare
from tests.support.rewriting import rewrite_share
from tests.support.stores import ENGINES, copied, made_from_copy, store_at
from tests.support.world import the_world
from warehouse import connect
from warehouse.api import Warehouse
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema import new_store

# Children inherit that a shell has its background jobs ignore SIGINT, and nohup SIGHUP:
# commands under test shall ignore neither.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# How long an example takes says how busy the machine is.
settings.register_profile(
    "warehouse",
    deadline=None,
    max_examples=int(
        os.environ.get("WAREHOUSE_EXAMPLES", "40")
    ),  # of tests that do not say how many; 1000 at leisure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("warehouse")

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 30.0
#: Room that is wanted of a file system in memory; a container may have 64 MB of it.
MEMORY_BYTES = 4 * 10**9

# The shell's standard input is a pipe that only the test process holds. It closes
# however the test process ends, also by `kill -9`; the shell then stops the server and
# removes the cluster.
WATCHED_SERVER = """
    "$@" >"$CLUSTER/log" 2>&1 </dev/null &
    read -r _
    kill -QUIT $! 2>/dev/null
    wait $!
    rm -rf "$CLUSTER"
"""
SERVER_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "max_wal_size": "256MB",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "50",
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "jit": "off",  # to compile a plan takes longer than to carry it out on tables of tests
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="write what commands print anew (tests/**/golden)",
    )
    parser.addoption(
        "--rare-part",
        metavar="K/N",
        help="of the rare tests that are chosen, the K-th of N parts (from 0)",
    )
    parser.addoption(
        "--write-costs",
        action="store_true",
        help="write which tests are rare by what they cost (tests/support/dear.txt)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs())
    rewrite_share(config)


#: Rooms and files of tests that load or ask, of which
#: `tests/store/test_engines_agree.py` proves on every small dump and every command that
#: both engines hold and answer the same.
ALIKE = ("analysis", "report", "cli", "refresh", "claims", "ingest", "importers")
ALIKE_FILES = (
    "test_identity.py",
    "test_prompts.py",
    "test_bad_rows.py",
    "test_dimensions.py",
)
#: Among these dumps are scans, votes and transcripts; retries and what is forgotten are
#: tried on the server in `test_any_cut.py`, `test_executions.py` and
#: `test_taken_back.py`.
ALIKE_FILES += (
    "test_lives.py",
    "test_scans.py",
    "test_votes.py",
    "test_transcripts.py",
)
#: Files in these rooms whose statements the server treats otherwise: roles, limits,
#: locks.
OTHERWISE = ("test_query.py", "test_query_limits.py", "test_store.py", "test_lake.py")
#: So are tests with such names, and one that pastes every example: they run on both
#: engines, by default or rarely. Scans, votes and transcripts are forgotten on the
#: server nowhere else, and migrations of theirs are of an engine.
DIFFERS = re.compile(
    r"engine|kill|interrupt|vector|embed|older|every_example|_\d{4}_|lakes"
    "|scan_that_is_forgotten|source_takes_its_votes|told_of_the_way"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Marks what engines have alike and what costs much; of rare tests leaves those
    whose turn it is."""
    _mark_what_engines_have_alike(items)
    _mark_what_costs_much(items)
    if part := config.getoption("--rare-part"):
        kept, left_out = part_of_rare(items, part)
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)


def _mark_what_engines_have_alike(items: list[pytest.Item]) -> None:
    """What is left to `make test-server`: server variants of what is alike on both
    engines; and what is rare there."""
    for item in items:
        if (
            not isinstance(item, pytest.Function)
            or not _on_server(item)
            or item.get_closest_marker("slow")
        ):
            if item.get_closest_marker("slow_on_server"):
                item.add_marker(pytest.mark.rare)
            continue
        file = item.path.name
        is_alike = (_room(item) in ALIKE and file not in OTHERWISE) or (
            file in ALIKE_FILES
        )
        if item.get_closest_marker("slow_on_server"):
            item.add_marker(pytest.mark.slow)
        elif is_alike and not DIFFERS.search(item.originalname):
            item.add_marker(pytest.mark.on_server)
        elif item.get_closest_marker("rare_on_server") or (
            is_alike and "engine" not in item.originalname
        ):
            item.add_marker(pytest.mark.rare)


def _mark_what_costs_much(items: list[pytest.Item]) -> None:
    """What takes long by the list of what tests cost is rare; what is slow stays so."""
    dear = dear_functions()
    for item in items:
        is_slow = item.get_closest_marker("slow") is not None
        if function_of(item.nodeid) in dear and not is_slow:
            item.add_marker(pytest.mark.rare)


def _room(item: pytest.Item) -> str:
    """The folder of `tests` that holds a test, also where a question has its own in it."""
    return item.path.relative_to(ROOT / "tests").parts[0]


def _on_server(item: pytest.Function) -> bool:
    values = item.callspec.params.values() if hasattr(item, "callspec") else []
    return any(isinstance(value, str) and value == "postgresql" for value in values)


def pytest_collectstart() -> None:
    """Next to nothing of what is loaded here is garbage, and to look for some takes a
    fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the collector of garbage need not look at it again.
    Some library calls it in every step, which on the heap of the whole suite takes a
    third of a second."""
    gc.collect()
    gc.freeze()
    gc.enable()
    frozen = gc.get_freeze_count()
    gc.get_freeze_count = lambda: (
        frozen
    )  # it counts one by one, 20 ms here, and each ingest asks


class PostgresMissing(Exception):
    """This machine has no PostgreSQL server programs."""


@dataclass
class PostgresCluster:
    """A private PostgreSQL on loopback; it ends with the test process, however that
    ends."""

    programs: Path
    folder: Path
    port: int = 0
    _numbers: Iterator[int] = field(default_factory=count)
    _shell: subprocess.Popen[bytes] | None = None
    _connection: psycopg.Connection[Any] | None = (
        None  # to connect anew takes a third of making a database
    )

    def start(self) -> None:
        self._initdb()
        self.port = _free_port()
        self._launch()
        self._wait_until_it_answers()

    def stop(self) -> None:
        if self._connection:
            self._connection.close()
        if self._shell and self._shell.stdin:
            self._shell.stdin.close()
            self._shell.wait()

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def create(self, template: str = "template1") -> str:
        """Make a database, a copy of `template`; its name."""
        name = f"test_{next(self._numbers)}"
        self._run(f'create database "{name}" template "{template}" strategy file_copy')
        return name

    def drop(self, name: str) -> None:
        """Remove a database; the test that still holds a connection to it fails.

        Otherwise the warning about that connection would strike some later test.
        """
        try:
            self._run(f'drop database "{name}"')
        except psycopg.errors.ObjectInUse:
            self._run(f'drop database "{name}" with (force)')
            pytest.fail(
                "this test left a PostgreSQL connection open: dispose of its engine"
            )

    def _initdb(self) -> None:
        options = [
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]
        command = [
            str(self.programs / "initdb"),
            "-D",
            str(self.folder / "data"),
            *options,
        ]
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        made = subprocess.run(
            _as_server_user(command), cwd="/", capture_output=True, text=True
        )
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")

    def _launch(self) -> None:
        settings = SERVER_SETTINGS | {"port": str(self.port)}
        server = [str(self.programs / "postgres"), "-D", str(self.folder / "data")]
        server += [f"--{name}={value}" for name, value in settings.items()]
        self._shell = subprocess.Popen(
            ["sh", "-c", WATCHED_SERVER, "sh", *_as_server_user(server)],
            stdin=subprocess.PIPE,
            cwd="/",
            env=os.environ | {"CLUSTER": str(self.folder)},
        )

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return self._run("select 1")
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    log = (self.folder / "log").read_text()
                    raise RuntimeError(f"PostgreSQL does not answer:\n{log}") from error
                time.sleep(0.05)

    def _run(self, statement: str) -> None:
        if self._connection is None:
            where = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"
            self._connection = psycopg.connect(where, autocommit=True)
        self._connection.execute(statement)


def _postgres_programs() -> Path:
    """The folder of `initdb` and `postgres`: that of PATH, else Debian's newest."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    debian = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(debian, key=lambda program: int(program.parts[-3]), default=None)
    if newest is None:
        raise PostgresMissing(
            "no PostgreSQL server programs in PATH or /usr/lib/postgresql"
        )
    return newest.parent


def _as_server_user(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root: there it runs as `postgres`."""
    if os.geteuid() != 0:
        return command
    return [
        "setpriv",
        "--reuid=postgres",
        "--regid=postgres",
        "--clear-groups",
        *command,
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _in_memory() -> Path | None:
    """A file system in memory with room for a cluster, where there is one: each new
    database is a checkpoint, which on a busy disk takes a third of a second."""
    memory = Path("/dev/shm")
    return (
        memory
        if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > MEMORY_BYTES
        else None
    )


@contextmanager
def started_cluster() -> Iterator[PostgresCluster]:
    """A server that is stopped afterwards."""
    try:
        programs = _postgres_programs()
    except PostgresMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}: .ci/run installs them")
        pytest.skip(str(missing))
    cluster = PostgresCluster(
        programs, Path(tempfile.mkdtemp(prefix="warehouse-postgres-", dir=_in_memory()))
    )
    try:
        cluster.start()
        yield cluster
    finally:
        with not_counted():
            cluster.stop()


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[PostgresCluster]:
    """One server for each test process, started by the first test that asks for it."""
    with started_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster_of_its_own() -> Iterator[PostgresCluster]:
    """A server for the tests of one file, which do to its roles what other tests would
    not survive."""
    with started_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session", autouse=True)
def new_files_are_copies() -> Iterator[None]:
    """What makes a store in this process gets a copy of an empty one, which one test
    process makes once."""
    with pytest.MonkeyPatch.context() as patch, readers_held():
        patch.setattr(new_store, "create", made_from_copy)
        yield


#: Rooms of tests that ask a file more than once, and have nobody else write to it
#: meanwhile.
ASKING = (
    "analysis",
    "claims",
    "cli",
    "importers",
    "ingest",
    "queries",
    "refresh",
    "report",
)


def pytest_runtest_setup(item: pytest.Item) -> None:
    begin(_room(item) in ASKING)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    give_up_in(getattr(item, "funcargs", {}).get("tmp_path"))


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store of the embedded engine, to be copied: to make one takes 50 times
    as long."""
    path = tmp_path_factory.mktemp("empty") / "store.duckdb"
    store_at(path)
    return path


@pytest.fixture(scope="session")
def empty_database(postgres_cluster: PostgresCluster) -> str:
    """Name of a database with an empty store, to be used as a template."""
    name = postgres_cluster.create()
    open_store(postgres_cluster.url(name), create=True).close()
    return name


@pytest.fixture(scope="session")
def world_database(postgres_cluster: PostgresCluster, empty_database: str) -> str:
    """Name of a database with the store of the world of tests, to be used as a
    template."""
    name = postgres_cluster.create(template=empty_database)
    fill(postgres_cluster.url(name), the_world())
    return name


@pytest.fixture
def postgres_url(
    postgres_cluster: PostgresCluster, empty_database: str
) -> Iterator[str]:
    """URL of an empty store on PostgreSQL, of this test alone."""
    name = postgres_cluster.create(template=empty_database)
    yield postgres_cluster.url(name)
    postgres_cluster.drop(name)


@pytest.fixture
def duckdb_url(empty_file: Path, tmp_path: Path) -> str:
    """URL of an empty store in a DuckDB file, of this test alone."""
    return copied(empty_file, tmp_path / "store.duckdb")


@pytest.fixture(params=ENGINES)
def store_url(request: pytest.FixtureRequest) -> str:
    """URL of an empty store: a test that asks for it runs once on each engine."""
    fixture = {"duckdb": "duckdb_url", "postgresql": "postgres_url"}[request.param]
    return str(request.getfixturevalue(fixture))


@pytest.fixture
def bare_postgres_url(postgres_cluster: PostgresCluster) -> Iterator[str]:
    """URL of a PostgreSQL database without a store in it."""
    name = postgres_cluster.create()
    yield postgres_cluster.url(name)
    postgres_cluster.drop(name)


@pytest.fixture
def bare_duckdb_url(tmp_path: Path) -> str:
    """URL of a DuckDB file that does not exist yet."""
    return f"duckdb:///{tmp_path / 'store.duckdb'}"


@pytest.fixture(params=ENGINES)
def bare_url(request: pytest.FixtureRequest) -> str:
    """URL of a database where no store was made yet, on each engine."""
    fixture = {"duckdb": "bare_duckdb_url", "postgresql": "bare_postgres_url"}[
        request.param
    ]
    return str(request.getfixturevalue(fixture))


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> StoreRows:
    """What the store of a test module holds: the module's ``ROWS``, what its ``build``
    makes, else the world; or the module has a fixture of its own of this name."""
    own = getattr(request.module, "ROWS", None)
    return (
        own
        if isinstance(own, StoreRows)
        else getattr(request.module, "build", the_world)()
    )


@pytest.fixture(scope="module", params=ENGINES)
def url(request: pytest.FixtureRequest, rows: StoreRows) -> Iterator[str]:
    """URL of a store that all tests of a module look at, once on each engine."""
    with filled_url(request, request.param, rows) as filled:
        yield filled


@pytest.fixture(scope="module", params=ENGINES)
def original(request: pytest.FixtureRequest, rows: StoreRows) -> Iterator[str]:
    """URL of a store like that of ``url``, which nobody opens: it is copied."""
    with filled_url(request, request.param, rows) as filled:
        yield filled


@pytest.fixture
def own_url(
    request: pytest.FixtureRequest, original: str, tmp_path: Path
) -> Iterator[str]:
    """URL of a copy of it, of this test alone, to be written to: filled in a tenth of
    the time."""
    if original.startswith("duckdb"):
        yield copied(Path(original.removeprefix("duckdb:///")), tmp_path / "own.duckdb")
        return
    cluster: PostgresCluster = request.getfixturevalue("postgres_cluster")
    name = cluster.create(template=original.rpartition("/")[2])
    yield cluster.url(name)
    cluster.drop(name)


@pytest.fixture
def world(url: str) -> Iterator[Store]:
    """That store, open for reading."""
    with open_store(url) as store:
        yield store


@pytest.fixture
def house(url: str) -> Warehouse:
    """The same in Python."""
    return connect(url)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Caller:
    """The command line, in this process."""
    return Caller(capsys)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real dumps, which is not part of the repository."""
    named = os.environ.get("WAREHOUSE_TEST_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            f"no real dumps in {folder}; WAREHOUSE_TEST_DATA names their folder"
        )
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser without a window; skipped where there is none, but not in CI."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        reason = (
            "no chromium and chromedriver; on Debian: apt-get install chromium-driver"
        )
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in (
        *(
            "headless=new",
            "no-sandbox",
            "disable-gpu",
            "disable-dev-shm-usage",
            "disable-background-networking",
        ),
        "no-first-run",
    ):
        options.add_argument(f"--{switch}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    service = webdriver.ChromeService(executable_path=driver)
    found = webdriver.Chrome(options=options, service=service)
    yield found
    with not_counted():
        found.quit()


@pytest.fixture
def opened(browser: Any, written: Path) -> Any:
    """The browser on the page that the module's fixture ``written`` made, with its logs
    empty."""
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(written.as_uri())
    return browser
