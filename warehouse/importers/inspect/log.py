"""An Inspect log, whatever its container: header, samples one by one, reductions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from warehouse.errors import InputError
from warehouse.importers.inspect.eval_log import EvalLog
from warehouse.importers.inspect.json_log import JsonLog
from warehouse.importers.inspect.sample import Sample
from warehouse.records import Rejection

_POINTER = b"version https://git-lfs"


class Log(Protocol):
    """What both containers offer. ``rejections`` and ``notes`` grow while samples are read."""

    header: Mapping[str, Any]
    rejections: list[Rejection]
    notes: list[str]

    @property
    def n_samples(self) -> int:
        """Samples that the container holds."""

    def samples(self) -> Iterator[Sample]:
        """Every sample that can be read; the others are recorded."""

    def first(self, count: int) -> list[Sample]:
        """Some of the first samples that can be read; what is wrong with others is not recorded."""

    def reductions(self) -> list[Any]:
        """Scores of each sample reduced over its epochs."""

    def close(self) -> None:
        """Let go of the file; nothing can be read any more."""


def open_log(path: Path) -> Log:
    """The log in a file.

    Raises:
        InputError: it is none, or not whole.
    """
    with path.open("rb") as handle:
        head = handle.read(64)
    if head.startswith(_POINTER):
        raise InputError(
            "a large-file pointer stands here",
            path=str(path),
            expected="the log itself",
            advice="fetch it with git lfs pull",
        )
    if not head.strip():
        raise InputError("the file is empty", path=str(path), expected="an Inspect log")
    return EvalLog(path) if path.suffix == ".eval" else JsonLog(path)
