"""Pages of the documentation: their code blocks, and a terminal that runs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tests.support import forked
from warehouse.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[\w ]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
#: What a shell must read: quotes alone do not count.
_SHELL = re.compile(r"[|<>;&$*]|^\w+=|^(?!warehouse )")


@dataclass(frozen=True)
class Example:
    """A command of a ``console`` block, and the output that the page shows."""

    command: str
    shown: str


def blocks(text: str, language: str, mark: str = "") -> list[str]:
    """Code blocks of a language; with a mark: those below a comment ``<!-- mark -->``."""
    return [
        found["text"]
        for found in _BLOCK.finditer(text)
        if found["language"] == language and (not mark or found["mark"] == mark)
    ]


def commands(block: str) -> list[str]:
    """Commands of a shell block, without comments; a backslash at its end continues a
    line."""
    joined = re.sub(r"\\\n\s*", "", block)
    lines = (re.sub(r"\s+# .*", "", line) for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def examples(text: str) -> list[Example]:
    """All commands of the ``console`` blocks of a page, in order."""
    found = []
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Example(command, shown.rstrip("\n")))
    return found


def agrees(printed: str, shown: str) -> bool:
    """Whether output is as shown, however long it took; a line ``...`` stands for any
    lines, also for none."""
    printed, shown = (
        re.sub(r"( in|,) [\d.]+ s(?=:|$)", r"\1 1.0 s", text, flags=re.MULTILINE)
        for text in (printed, shown)
    )
    pattern = "".join(
        "(?:.*\n)*" if line == "..." else re.escape(f"{line}\n")
        for line in shown.splitlines()
    )
    lines = (line.rstrip() for line in printed.splitlines())
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


class Terminal:
    """Runs commands in a folder. Plain calls of `warehouse` run in this process, for
    speed.

    Attributes:
        columns: of a screen that the program finds; None: it finds none.
        status: exit code of the last command.
    """

    def __init__(self, folder: Path, *, columns: int | None = None) -> None:
        self.folder = folder
        self.columns = columns
        self.status = 0

    def __call__(self, command: str) -> str:
        """What the command printed, on either stream."""
        if not _SHELL.search(_unquoted(command)):
            return self._here(shlex.split(command)[1:])
        shell = ["sh", "-c", command]
        done = forked.in_shell(
            shell, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.status = done.returncode
        return done.stdout

    def _here(self, arguments: list[str]) -> str:
        printed = _Screen() if self.columns else StringIO()
        before, width = Path.cwd(), os.environ.get("COLUMNS")
        os.chdir(self.folder)
        os.environ["COLUMNS"] = str(self.columns or width or "")
        try:
            with (
                redirect_stdout(printed),
                redirect_stderr(StringIO() if self.columns else printed),
            ):
                self.status = main(arguments)
        finally:
            os.chdir(before)
            os.environ.pop("COLUMNS") if width is None else os.environ.update(
                COLUMNS=width
            )
        return printed.getvalue()


class _Screen(StringIO):
    """What takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"$]*\"", "", command)
