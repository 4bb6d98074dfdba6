"""Importer of event logs of OpenAI evals (``oaieval``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common import bounds
from warehouse.importers.common.batches import batches_of
from warehouse.importers.common.documents import has_keys, head_of
from warehouse.importers.common.json_fields import text_or_none
from warehouse.importers.common.jsonl import RowSource
from warehouse.importers.openai_evals.event_log import EventLog
from warehouse.importers.openai_evals.header import header
from warehouse.importers.openai_evals.rows import row_of
from warehouse.records import CUT_SHORT, Candidate, Dump, ImportSettings, Rejection, SourceFiles, is_cut, parse_json


class OpenaiEvals:
    """One log of events is one run."""

    name = "openai_evals"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each file is a source."""
        for item in candidates:
            head = head_of(item)
            first = head.partition("\n")[0]
            if first.startswith("{") and has_keys(first[:200], "spec") and has_keys(first, "eval_name", "run_id"):
                yield source_of(item.path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one log.

        Raises:
            InputError: the file is damaged or too large, or nothing names the model.
        """
        path = source.files[0]
        bounds.refuse_large(path)
        log = EventLog()
        dump = Dump((), ())
        lines = RowSource(path, path.name, (), notes=dump.notes)
        for number, text in lines.texts():
            place = f"{path.name} line {number}"
            try:
                log.add(place, parse_json(text))
            except (ValueError, RecursionError) as error:
                reason = (CUT_SHORT if is_cut(text) else "") + str(error)[:300]
                dump.rejections.append(Rejection(place, reason, "an event of evals"))
        if not log.spec:
            raise InputError("no line has the 'spec' of a run", path=str(path), expected="a log as evals writes it")
        dump.notes += log.notes()
        dump.runs = (header(log, text_or_none(settings.stated.get("model")), source.name),)
        dump.batches = batches_of(
            log.ordered(), lambda sample: [row_of(log, sample)], dump.rejections, "events as evals writes them"
        )
        return dump


IMPORTER = OpenaiEvals()
