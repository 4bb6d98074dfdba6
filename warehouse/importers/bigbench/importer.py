"""Importer of BIG-bench results: figures of a task, with the log of its queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from warehouse.importers.base import source_of
from warehouse.importers.bigbench.header import headers
from warehouse.importers.bigbench.rows import batches
from warehouse.importers.bigbench.task import TaskResults
from warehouse.importers.common.documents import has_keys, head_of, read_document
from warehouse.importers.common.json_fields import text_or_none
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles

_LOG, _SCORES = "full-log_", "scores_"


class BigBench:
    """One run for each task or subtask and number of examples in the prompt."""

    name = "bigbench"
    version = "1"
    folders = 2

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """A log and the figures that it repeats are one source; the log comes first."""
        paths_by_stem = defaultdict[tuple[Path, str], list[Path]](list)
        for item in candidates:
            head = head_of(item)
            if (
                item.path.suffix == ".json"
                and head.startswith("{")
                and has_keys(head, "scores", "score_dict", "preferred_score", "number_of_shots")
            ):
                name = item.path.stem.removeprefix(_LOG).removeprefix(_SCORES)
                paths_by_stem[item.path.parent, name].append(item.path)
        for paths in paths_by_stem.values():
            ordered = sorted(paths, key=lambda path: (not path.name.startswith(_LOG), path.name))
            yield source_of(*ordered)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open the log, or the figures where there is none.

        Raises:
            InputError: the file is damaged, or nothing names the model.
        """
        path = source.files[0]
        dump = Dump((), ())
        task = TaskResults(path, read_document(path), dump.rejections, dump.notes)
        dump.runs = headers(task, text_or_none(settings.stated.get("model")), source.name)
        dump.batches = batches(task)
        return dump


IMPORTER = BigBench()
