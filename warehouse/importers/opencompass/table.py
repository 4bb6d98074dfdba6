"""The summary of OpenCompass as a table: figures of data sets and of groups of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.common import bounds

HEADING = "dataset,version,metric,mode,"
#: Larger files are no summary, in bytes.
LARGEST_BYTES = 64 << 20

_BLOCK = "csv format"
_VERSION = re.compile(r"[0-9a-f]{6}")
_NONE = "-"
_BOM = "\ufeff"


@dataclass(frozen=True)
class Line:
    """A line of the table: a data set or group, and a figure of each model."""

    dataset: str
    version: str
    metric: str
    mode: str
    figures: tuple[str, ...]

    @property
    def is_group(self) -> bool:
        """Whether it is about several data sets: these have no prompt of their own."""
        return _VERSION.fullmatch(self.version) is None

    @property
    def stated_mode(self) -> str | None:
        """How was asked: ``gen``, ``ppl``, ``ll``; none where that is unknown or mixed."""
        return self.mode if self.mode in ("gen", "ppl", "ll") else None


@dataclass(frozen=True)
class Table:
    """Names of the models, the lines, and places of lines that are none."""

    models: tuple[str, ...]
    lines: tuple[Line, ...]
    faults: tuple[tuple[str, str], ...]


def is_summary(path: Path) -> bool:
    """Whether a file is a summary by its name."""
    named = path.name.startswith("summary_") and path.suffix in (".csv", ".txt")
    return named and path.parent.name == "summary"


def read_table(path: Path) -> Table:
    """A summary: the file with commas, or the part of the text file that is like it.

    Raises:
        InputError: it cannot be read, or has no table.
    """
    try:
        bounds.refuse_large(path, LARGEST_BYTES, "for a summary")
        text = path.read_text(encoding="utf-8").removeprefix(_BOM)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", path=str(path), expected="a summary of OpenCompass") from None
    if path.suffix == ".txt":
        text = text.partition(f"\n{_BLOCK}\n")[2]
    lines = list(_table(text))
    if not lines:
        raise InputError(f"no line begins with '{HEADING}'", path=str(path), expected="a summary of OpenCompass")
    models = tuple(lines[0][1].split(",")[4:])
    result_lines: list[Line] = []
    faults: list[tuple[str, str]] = []
    for number, line in lines[1:]:
        parts = line.split(",")  # commas inside are blanks already, and nothing is quoted
        if len(parts) != 4 + len(models):
            faults.append((f"{path.name} line {number}", line[:200]))
        elif parts[2] != _NONE:  # else a heading, or without results
            result_lines.append(Line(parts[0], parts[1], parts[2], parts[3], tuple(parts[4:])))
    return Table(models, tuple(result_lines), tuple(faults))


def prompt_version(files: Iterable[Path], dataset: str, notes: list[str]) -> tuple[str | None, str | None]:
    """Hash of a data set's prompt and how was asked, by a summary among the files. One that cannot
    be read takes nothing from the results."""
    path = next((path for path in files if is_summary(path)), None)
    try:
        lines = read_table(path).lines if path else ()
    except InputError as error:
        notes.append(f"the summary is left out: {error}")
        return None, None
    for line in lines:
        if line.dataset == dataset.replace(",", " ") and not line.is_group:
            return line.version, line.stated_mode
    return None, None


def _table(text: str) -> Iterator[tuple[int, str]]:
    """Lines of the table with their numbers, the heading first."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or line.startswith(HEADING)
        if inside and (not line or line.startswith("$$$")):
            return
        if inside:
            yield number, line
