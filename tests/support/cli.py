"""Calls of the command line in this process, and stores for it to look at."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support import forked
from tests.support.builders import StoreRows
from tests.support.forked import COMMAND
from tests.support.stores import empty_store, filled_once
from tests.support.world import the_world
from warehouse.cli.main import main
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store


@dataclass(frozen=True)
class Outcome:
    """What a call printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The answer of a call with --json."""
        assert self.code in (0, 1), self.err
        rows: list[dict[str, Any]] = json.loads(self.out)
        return rows

    def fails(self, code: int, *parts: str) -> None:
        """One message on standard error, with these parts, and nothing that looks like
        a crash."""
        assert self.code == code, (self.code, self.err)
        said = [
            line
            for line in self.err.splitlines()
            if line.startswith(("Error: ", '{"error": '))
        ]
        assert len(said) == 1, self.err
        assert "Traceback" not in self.err
        text = self.err
        if said[0].startswith("{"):  # as --json has it
            told = json.loads(said[0])
            assert (
                set(told) == {"error", "kind", "advice", "exit_code"}
                and told["exit_code"] == code
            )
            text += "; ".join(filter(None, (told["error"], told["advice"])))
        for part in parts:
            assert part in text, text


class Caller:
    """Runs command lines and keeps what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str, db: str = "") -> Outcome:
        self.capsys.readouterr()
        code = main([*(["--db", db] if db else []), *arguments])
        printed = self.capsys.readouterr()
        return Outcome(code, printed.out, printed.err)


def in_subprocess(
    *arguments: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """The installed command, as a shell would run it."""
    return subprocess.run(
        [str(COMMAND), *arguments],
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=60,
        env={**os.environ, **(environment or {})},
        **options,
    )


#: The command, which finds what is installed in a folder, too.
FINDING = (
    "import sys; sys.path.append(sys.argv.pop(1)); from warehouse.cli.main import "
    "main; sys.exit(main())"
)


def in_fork(
    *arguments: str, folder: Path, packages: Path | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """The same without loading the program: `tests/support/forked.py`; with more
    packages, those of a folder."""
    program = (
        [str(COMMAND)]
        if packages is None
        else [sys.executable, "-c", FINDING, str(packages)]
    )
    return forked.run([*program, *arguments], cwd=folder, **options)


def on_a_terminal(width: int, *call: str, codes: Sequence[int] = (0,)) -> list[str]:
    """Lines that a command of this process prints to a real terminal of so many
    columns."""
    master, slave = pty.openpty()
    seen: list[str] = []
    reader = Thread(target=lambda: seen.append(_until_closed(master)))
    reader.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "TERM": "xterm",
            "COLUMNS": str(width),
            "NO_COLOR": "1",
        }.items():
            patch.setenv(name, value)
        with open(slave, "w") as terminal, open(os.devnull, "w") as nowhere:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", nowhere)
            code = main(list(call))
    reader.join()
    assert code in codes, call
    return re.sub(r"\x1b\[[0-9;]*m", "", seen[0]).splitlines()


def _until_closed(master: int) -> str:
    seen = b""
    with contextlib.suppress(OSError):  # raised when the other side is closed
        while block := os.read(master, 4096):
            seen += block
    os.close(master)
    return seen.decode()


@contextmanager
def filled_url(
    request: pytest.FixtureRequest, engine: str, rows: StoreRows
) -> Iterator[str]:
    """URL of a store that nobody has open, holding `rows`."""

    if rows is the_world() and engine == "postgresql":
        cluster = request.getfixturevalue("postgres_cluster")
        name = cluster.create(template=request.getfixturevalue("world_database"))
        yield cluster.url(name)
        cluster.drop(name)
        return
    with empty_store(request, engine) as url:
        if rows is the_world():
            filled_once(url, the_world, lambda: fill(url, rows))
        else:
            fill(url, rows)
        yield url


def fill(url: str, rows: StoreRows) -> None:
    """Write rows to a store that is empty."""
    with open_store(url, create=True) as store:
        rows.write(store)
        if store.dialect.roles:
            upkeep.make_reader(
                store
            )  # typed queries do not run as the superuser of the tests
