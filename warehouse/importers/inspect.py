"""Importer of Inspect logs: ``.eval`` archives and ``.json`` files, one log one run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.inspect_header import run_header
from warehouse.importers.inspect_log import Log, open_log
from warehouse.importers.inspect_metrics import Scoring
from warehouse.importers.inspect_rows import Reader
from warehouse.importers.parts import text_or_none
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

#: Samples that are looked at for the metrics which the header does not name.
FIRST_SAMPLES = 8

_JSON_LOG = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,'
    rb'\s*"eval"\s*:\s*\{'
)
#: A log whose keys another program put in order, and what its first key then holds.
_SORTED_LOG = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"eval"\s*:\s*\{')
_SORTED_KEYS = (b'"created"', b'"run_id"', b'"task_id"')
#: Folders beside a log that hold its unfinished parts.
_NO_LOGS = (".checkpoints", ".shards")


class Inspect:
    """Logs of Inspect AI. Retries of a task keep its id, so that they supersede each other."""

    name = "inspect"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each log is a source; by file name, which begins with the time: retries come last."""
        found = [item.path for item in candidates if _is_log(item)]
        for path in sorted(found, key=lambda item: (item.name, str(item))):
            yield SourceFiles(str(path), path.parent, (path,))

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
        header = run_header(
            log.header,
            scoring,
            log.n_samples,
            source.files[0].name,
            text_or_none(stated.get("model")),
        )
        if not (header.benchmark or stated.get("benchmark")):
            raise InputError("nothing here names the task", path=source.name,
                             expected="eval.task in the header",
                             advice="give the name with --default benchmark=NAME")  # fmt: skip
        return Dump((header,), Reader(log, scoring).batches(),
                    rejections=log.rejections, notes=log.notes, close=log.close)  # fmt: skip


IMPORTER = Inspect()


def _is_log(candidate: Candidate) -> bool:
    path: Path = candidate.path
    if path.parent.name.endswith(_NO_LOGS):
        return False
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json":
        return False
    head = candidate.head
    if _SORTED_LOG.match(head):
        return all(key in head for key in _SORTED_KEYS)
    return _JSON_LOG.match(head) is not None
