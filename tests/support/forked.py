"""Commands in processes of their own that need not load the program first: forked from
a process that has.

That process has loaded the program and opened no store, as that of
``tests/campaign/kills.py``; it ends with the test process. A command is `Popen` of the
installed program as elsewhere, with its own process id, folder, environment, standard
streams and exit code; so is a script of Python. Only how the program is loaded is left
out, which `tests/cli` tries. Where a test gives what is read while Python starts
(another environment than `WAREHOUSE_*`, what runs before the program) it is an ordinary
process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("warehouse")
ROOT = Path(__file__).resolve().parents[2]
#: What commands load when they are needed.
LOADED = (
    "pandas deltalake pyarrow.dataset pyarrow.parquet scipy.stats yaml zoneinfo "
    "duckdb_sqlalchemy alembic.command psycopg warehouse.cli.main "
    "warehouse.cli.ui.output warehouse.cli.ui.ingest_summary "
    "warehouse.cli.commands.ingest warehouse.cli.commands.schedule "
    "warehouse.ingest.pipeline warehouse.ingest.watch warehouse.refresh.run "
    "warehouse.analysis.families warehouse.store.schema.migrate "
    "warehouse.store.snapshot warehouse.schedule.job"
)
#: Exit status, and seconds of the processor, of a process that has ended.
ENDED = struct.Struct("id")
#: Seconds of the processor of all that have ended.
spent = 0.0


class Popen(subprocess.Popen[Any]):
    """As the usual one."""

    _told: socket.socket | None = None

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, *rest: Any
    ) -> None:
        close_fds, pass_fds, cwd, env, info, flags, shell, *pipes = rest
        differs = {
            name
            for name, _ in set((env or os.environ).items()) ^ set(os.environ.items())
        }
        own = shell or preexec_fn or pass_fds or rest[-1] not in (-1, None) or rest[-2]
        if (
            own
            or str(args[0]) not in (str(COMMAND), sys.executable)
            or not all(map(_is_read_late, differs))
        ):
            super()._execute_child(args, executable, preexec_fn, *rest)  # type: ignore[misc]
            return
        stdin_read, stdin_write, out_read, out_write, error_read, error_write = pipes[
            :6
        ]
        ours, theirs = socket.socketpair()
        handed = [
            stdin_read if stdin_read != -1 else 0,
            out_write if out_write != -1 else 1,
        ]
        handed += [error_write if error_write != -1 else 2, theirs.fileno()]
        call = {
            "argv": list(map(str, args)),
            "cwd": os.fspath(cwd or os.getcwd()),
            "env": dict(env or os.environ),
        }
        socket.send_fds(_loaded(), [json.dumps(call).encode()], handed)
        theirs.close()
        for end, other in (
            (stdin_read, stdin_write),
            (out_write, out_read),
            (error_write, error_read),
        ):
            if end != -1 and other != -1:
                os.close(end)
        self.pid = int(ours.recv(20))
        self._told, self._child_created = ours, True

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._told is None:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        with suppress(BlockingIOError):
            status, seconds = ENDED.unpack(
                self._told.recv(ENDED.size, socket.MSG_DONTWAIT if wait_flags else 0)
            )
            self._told.close()
            globals()["spent"] += seconds
            return self.pid, status
        return 0, 0

    def _internal_poll(self, *args: Any, **named: Any) -> int | None:
        if self._told is None:
            return super()._internal_poll(*args, **named)  # type: ignore[misc,no-any-return]
        if self.returncode is None and (ended := self._try_wait(os.WNOHANG))[0]:
            self._handle_exitstatus(ended[1])  # type: ignore[attr-defined]
        return self.returncode


def _is_read_late(variable: str) -> bool:
    late = ("PYTEST_CURRENT_TEST", "COLUMNS", "NO_COLOR", "TERM", "SPARK_HOME")
    return variable.startswith("WAREHOUSE_") or variable in late


def run(
    arguments: list[str], text: str | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """To its end, with what it says."""
    streams: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    with Popen(
        arguments, stdin=None if text is None else subprocess.PIPE, **streams, **options
    ) as process:
        try:
            out, error = process.communicate(text, timeout=300)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, out, error)


#: A program that asks for a command, with what it has itself, and ends as that does.
#: Its bytes are read to their end: a process id, and then how it has ended.
ASKING = """#!{python} -IS
import json, os, socket, struct, sys
ours, theirs = socket.socketpair()
with socket.socket(fileno={number}) as served:
    call = dict(argv=[{command!r}, *sys.argv[1:]], cwd=os.getcwd(), env=dict(os.environ))
    socket.send_fds(served, [json.dumps(call).encode()], [0, 1, 2, theirs.fileno()])
theirs.close()
told = b"".join(iter(lambda: ours.recv(64), b""))
code = os.waitstatus_to_exitcode(struct.unpack({ended!r}, told[-{size}:])[0])
os.kill(os.getpid(), -code) if code < 0 else sys.exit(code)
"""


def in_shell(script: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A shell to its end, with what it says, whose calls of the installed program are
    forked as above."""
    folder, number = _on_path()
    environment = dict(options.pop("env", None) or os.environ)
    environment["PATH"] = os.pathsep.join(
        [folder, str(COMMAND.parent), environment["PATH"]]
    )
    return subprocess.run(
        script, env=environment, text=True, pass_fds=[number], timeout=180, **options
    )


@cache
def _on_path() -> tuple[str, int]:
    """A folder for PATH with that program, and the descriptor that it reads."""
    folder, number = tempfile.mkdtemp(), _loaded().fileno()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = Path(folder) / COMMAND.name
    names = {
        "python": sys.executable,
        "command": str(COMMAND),
        "ended": ENDED.format,
        "size": ENDED.size,
    }
    program.write_text(ASKING.format(number=number, **names))
    program.chmod(0o755)
    return folder, number


@cache
def _loaded() -> socket.socket:
    """Where a process hears what to call; started by the first that asks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line = [
        sys.executable,
        "-c",
        "import sys; from tests.support import forked; forked.serve(int(sys.argv[1]))",
    ]
    number = theirs.fileno()
    process = subprocess.Popen(
        [*line, str(number)], pass_fds=[number], cwd=ROOT, stdin=subprocess.DEVNULL
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


# --- in that process ------------------------------------------------------------------------------


def serve(number: int) -> None:
    """Until the test process ends."""
    sys.path.remove("")
    for name in LOADED.split():
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # what is loaded stays shared by all
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # none of them is waited for
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the test process ends, and this with it
    with socket.socket(fileno=number) as asked:
        while True:
            call, handed, *_ = socket.recv_fds(asked, 1 << 20, 4)
            if not call:
                os._exit(0)
            if not os.fork():
                break
            for descriptor in handed:
                os.close(descriptor)
    _keep(json.loads(call), *handed)


def _keep(call: dict[str, Any], stdin: int, out: int, error: int, told: int) -> None:
    """Of one command: says its number, and how it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not (process := os.fork()):
        os.close(told)
        return _become(call, stdin, out, error)
    for descriptor in (stdin, out, error):
        os.close(descriptor)
    for descriptor in range(3):
        os.close(descriptor)
    with socket.socket(fileno=told) as teller:
        teller.send(str(process).encode())
        _, status, used = os.wait4(process, 0)
        with suppress(OSError):  # nobody waits for it any more
            teller.send(ENDED.pack(status, used.ru_utime + used.ru_stime))
    os._exit(0)


def _become(call: dict[str, Any], *streams: int) -> None:
    """The command."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        if stream > 2:
            os.close(stream)
    os.chdir(call["cwd"])
    os.environ.clear()
    os.environ.update(call["env"])
    sys.argv, tempfile.tempdir = call["argv"], None
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _text(1, sys.stdout)
    sys.stderr = sys.__stderr__ = _text(2, sys.stderr)
    try:
        code = _called()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # closed, or nobody reads it any more
            stream.flush()
    os._exit(
        code
    )  # at its usual end Python takes down all that is loaded, and copies it for that


def _called() -> int:
    """The program, or a script of Python, with the arguments of this process; its exit
    code."""
    if sys.argv[0] == str(COMMAND):
        program = importlib.import_module("warehouse.cli.main")
        return int(program.main())
    _, *sys.argv = sys.argv
    if sys.argv[0] == "-c":
        code = sys.argv.pop(1)
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def _text(number: int, usual: Any) -> io.TextIOWrapper:
    """A standard stream as Python opens it."""
    lines = number == 2 or os.isatty(number) or bool(os.environ.get("PYTHONUNBUFFERED"))
    return open(
        number,
        "w",
        encoding=usual.encoding,
        errors=usual.errors,
        buffering=1 if lines else -1,
        closefd=False,
    )
