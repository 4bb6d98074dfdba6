"""A real standalone cluster of Spark on loopback: a master, two workers of one core, a
Connect server."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.lakes import INSTALLED

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0
# As for the server of conftest.py: the shell's standard input closes however the test
# process ends, and the shell then stops what it has started.
_WATCHED = """
    "$@" >"$LOG" 2>&1 </dev/null &
    program=$!
    echo $program
    read -r _
    kill -TERM $program 2>/dev/null
    (sleep 10; kill -KILL $program) >/dev/null 2>&1 &
    wait $program
    kill $! 2>/dev/null
"""
# What is loaded is what is distributed: to verify its bytecode takes a part of each
# start.
_LIGHT = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions "
    "-XX:-BytecodeVerificationRemote"
)
_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": _LIGHT,
    "spark.executor.cores": "1",
    "spark.executor.memory": "768m",
    "spark.executor.extraJavaOptions": _LIGHT,
    "spark.sql.shuffle.partitions": "2",
    # rows are few, plans many: to compile each takes longer than to run it
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    # nothing is nearer to one executor than to the other: a task that waits for its own
    # waits for nothing
    "spark.locality.wait": "0s",
    "spark.ui.enabled": "false",
    # nobody reads lines of each task, nor plans
    "spark.log.level": "ERROR",
    "spark.sql.maxPlanStringLength": "0",
}


class SparkMissing(Exception):
    """This machine has no Java, or no Spark."""


@dataclass
class _Program:
    """A process that ends with the test process."""

    shell: subprocess.Popen[str]
    pid: int
    log: Path

    def stop(self) -> None:
        assert self.shell.stdin and self.shell.stdout
        with suppress(BrokenPipeError):
            self.shell.stdin.close()
        self.shell.wait()
        self.shell.stdout.close()


@dataclass
class SparkCluster:
    """Started by :meth:`start`; stops by the process ids of what it has started.

    Attributes:
        folder: for its logs and what it writes.
        settings: of Spark, in the place of those that suit many small queries.
    """

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    home: Path = field(default_factory=lambda: _home())
    java: Path = field(default_factory=lambda: _java())
    workers: list[_Program] = field(default_factory=list)
    others: list[_Program] = field(default_factory=list)

    def start(self) -> None:
        master_port, self.port = _free_port(), _free_port()
        self.master = f"spark://127.0.0.1:{master_port}"
        where = ("--host", "127.0.0.1", "--port", str(master_port), "--webui-port", "0")
        self.others.append(
            self._launch("master", "org.apache.spark.deploy.master.Master", *where)
        )
        _wait(lambda: _listens(master_port), self.others[0])
        for _ in range(2):
            self.add_worker()
        self.start_server()

    def stop(self) -> None:
        for program in (*self.others[::-1], *self.workers):
            program.stop()

    @property
    def url(self) -> str:
        return f"sc://127.0.0.1:{self.port}"

    def add_worker(self) -> None:
        name = f"worker-{len(list(self.folder.glob('worker-*.log')))}"
        where = (
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--webui-port",
            "0",
            "--cores",
            "1",
            "--memory",
            "2g",
        )
        work = ("--work-dir", str(self.folder / name), self.master)
        self.workers.append(
            self._launch(name, "org.apache.spark.deploy.worker.Worker", *where, *work)
        )

    def start_server(self) -> None:
        settings = (
            _SETTINGS
            | {"spark.connect.grpc.binding.port": str(self.port)}
            | self.settings
        )
        line = [f"--conf={name}={value}" for name, value in settings.items()]
        program = "org.apache.spark.sql.connect.service.SparkConnectServer"
        line += ["--class", program, "spark-internal"]
        command = [
            str(self.home / "bin" / "spark-submit"),
            "--master",
            self.master,
            *line,
        ]
        self.others.append(self._run("server", command))
        _wait(lambda: _listens(self.port), self.others[-1])

    def executors(self) -> list[int]:
        """Process ids of the executors that live."""
        return [pid for worker in self.workers for pid in _children(worker.pid)]

    def kill_server(self) -> None:
        """kill -9 of the server, which is the driver of Spark; :meth:`start_server`
        starts another."""
        server = self.others.pop()
        os.kill(server.pid, signal.SIGKILL)
        server.stop()

    def kill_worker(self) -> None:
        """kill -9 of one worker, with a new one in its place later."""
        worker = self.workers.pop(0)
        os.kill(worker.pid, signal.SIGKILL)
        worker.stop()

    def _launch(self, name: str, program: str, *arguments: str) -> _Program:
        return self._run(
            name, [str(self.home / "bin" / "spark-class"), program, *arguments]
        )

    def _run(self, name: str, command: list[str]) -> _Program:
        log = self.folder / f"{name}.log"
        here = {
            "SPARK_HOME": str(self.home),
            "JAVA_HOME": str(self.java),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_JAVA_OPTS": _LIGHT,
            "LOG": str(log),
        }
        if name != "server":
            here["SPARK_DAEMON_MEMORY"] = "128m"
        shell = subprocess.Popen(
            ["sh", "-c", _WATCHED, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={
                key: value
                for key, value in os.environ.items()
                if not key.startswith("SPARK_")
            }
            | here,
        )
        assert shell.stdout
        return _Program(shell, int(shell.stdout.readline()), log)


def _home() -> Path:
    found = Path(os.environ.get("SPARK_HOME") or ROOT / "build" / "spark" / "pyspark")
    if not (found / "bin" / "spark-class").is_file() or not INSTALLED:
        raise SparkMissing("no Spark in build/spark: make test-spark installs it")
    return found


def _java() -> Path:
    """The folder of a Java that Spark 4 runs on: JAVA_HOME, that of PATH."""
    named = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{named}/bin" if named else None)
    if program is None:
        raise SparkMissing("no java in PATH or JAVA_HOME")
    said = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
    if int(said.partition('"')[2].partition(".")[0] or 0) < 17:
        raise SparkMissing(f"Java 17 or newer is wanted, found: {said.splitlines()[0]}")
    return Path(program).resolve().parents[1]


def _wait(ready: Callable[[], bool], program: _Program) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if time.monotonic() > deadline or not Path(f"/proc/{program.pid}").exists():
            raise RuntimeError(
                f"Spark does not answer:\n{program.log.read_text()[-4000:]}"
            )
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found
