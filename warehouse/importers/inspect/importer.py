"""Importer of Inspect logs: ``.eval`` archives and ``.json`` files, one log one run."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.json_fields import text_or_none
from warehouse.importers.inspect.header import run_header
from warehouse.importers.inspect.log import Log, open_log
from warehouse.importers.inspect.metrics import Scoring
from warehouse.importers.inspect.rows import Reader
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

#: Samples that are looked at for the metrics which the header does not name.
FIRST_SAMPLES = 8

#: What the first keys of a log look like, as Inspect writes it.
_JSON_LOG = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,'
    rb'\s*"eval"\s*:\s*\{'
)
#: Keys of a log which another program may have put first, and what its object ``eval`` then holds.
_KEYS = {
    "version",
    "status",
    "eval",
    "plan",
    "results",
    "stats",
    "error",
    "invalidated",
    "tags",
    "metadata",
    "samples",
    "reductions",
    "location",
    "etag",
    "log_updates",
}
_OF_EVAL = (b'"created"', b'"run_id"', b'"task_id"')
#: First keys with values so long that the file may have to be searched for ``eval``.
_LONG = {"samples", "reductions", "plan", "stats", "metadata"}
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]')
#: Folders beside a log that hold its unfinished parts.
_NO_LOGS = (".checkpoints", ".shards")


class Inspect:
    """Logs of Inspect AI. Retries of a task keep its id, so that they supersede each other."""

    name = "inspect"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each log is a source; by file name, which begins with the time: retries come last."""
        logs = [item.path for item in candidates if _is_log(item)]
        for path in sorted(logs, key=lambda item: (item.name, str(item))):
            yield source_of(path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one log.

        Raises:
            InputError: it is no log, not whole, or hostile.
        """
        (path,) = source.files
        log = open_log(path)
        try:
            return self._dump(log, source, settings)
        except BaseException:
            log.close()
            raise

    def _dump(self, log: Log, source: SourceFiles, settings: ImportSettings) -> Dump:
        scoring = Scoring(log.header, log.first(FIRST_SAMPLES))
        stated = settings.stated
        header = run_header(log.header, scoring, log.n_samples, source.files[0].name, text_or_none(stated.get("model")))
        if not (header.benchmark or stated.get("benchmark")):
            raise InputError(
                "nothing here names the task",
                path=source.name,
                expected="eval.task in the header",
                advice="give the name with --default benchmark=NAME",
            )
        return Dump(
            (header,), Reader(log, scoring).batches(), rejections=log.rejections, notes=log.notes, close=log.close
        )


IMPORTER = Inspect()


def _is_log(candidate: Candidate) -> bool:
    path: Path = candidate.path
    if path.parent.name.endswith(_NO_LOGS):
        return False
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    return _JSON_LOG.match(candidate.head) is not None or _is_reordered(candidate)


def _is_reordered(candidate: Candidate) -> bool:
    """Whether this is a log whose keys stand in another order than Inspect's."""
    head = candidate.head.removeprefix(BOM_UTF8).lstrip()
    if not head.startswith(b"{"):
        return False
    keys = list(_members(head))
    if not keys or not {key for key, _ in keys} <= _KEYS:
        return False
    if ("eval", b"{") in keys:
        return all(name in head for name in _OF_EVAL)
    return keys[-1][0] in _LONG and _holds_eval(candidate.path)


def _members(head: bytes) -> Iterator[tuple[str, bytes]]:
    """Keys of an object of which the beginning is given, and how the value of each begins: with a
    bracket, or otherwise (empty)."""
    depth, key, is_key = 0, "", True
    for match in _TOKEN.finditer(head):
        token = match.group()
        if depth == 1 and token == b"," or depth == 0:
            is_key = True
        elif depth == 1 and token == b":":
            is_key = False
            yield key, _first_of_value(head, match.end())
        elif depth == 1 and is_key and token[:1] == b'"':
            key = token[1:-1].decode("utf-8", "replace")
        depth += (token in b"{[") - (token in b"}]")


def _first_of_value(head: bytes, place: int) -> bytes:
    first = head[place:].lstrip()[:1]
    return first if first in (b"{", b"[") else b""


def _holds_eval(path: Path) -> bool:
    """Whether a file has the object that every log has, behind what is too long for its head."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return re.search(rb'"eval"\s*:\s*\{', text) is not None and all(name in text for name in _OF_EVAL)
