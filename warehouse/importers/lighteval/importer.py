"""Importer of lighteval: results files and the details of both generations."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pyarrow as pa

from warehouse.importers.common.documents import read_document, require_content, unpacked_head
from warehouse.importers.common.json_fields import require_model, text_or_none
from warehouse.importers.common.model_names import disagreement, same_model
from warehouse.importers.lighteval.details import Details, is_details, stamp_of
from warehouse.importers.lighteval.header import Results, group_scores, header, model_of_path
from warehouse.importers.lighteval.rows import batches
from warehouse.records import Candidate, Dump, ImportSettings, Rejection, SourceFiles


class Lighteval:
    """A results file with the details of the same time stamp; either alone too."""

    name = "lighteval"
    version = "1"
    folders = 8

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Results files by their first keys, details by their names."""
        results = [item.path for item in candidates if _is_results(item)]
        stamped = defaultdict[str, list[Path]](list)
        for path in results:
            stamped[stamp_of(path)].append(path)
        belonging = defaultdict[Path, list[Path]](list)
        for item in candidates:
            if is_details(item):
                owner = _nearest(item.path, stamped.get(stamp_of(item.path), []))
                belonging[owner or item.path.parent].append(item.path)
        for path in (*results, *(owner for owner in belonging if owner not in set(results))):
            files = ((path,) if path in set(results) else ()) + tuple(sorted(belonging[path]))
            root = Path(os.path.commonpath([file.parent for file in files]))
            yield SourceFiles(str(path), root, files)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open a results file and its details.

        Raises:
            InputError: a file is damaged, or nothing names the model.
        """
        for path in source.files:
            require_content(path)
        stated = [path for path in source.files if path.suffix == ".json"]
        document = read_document(stated[0]) if stated else {}
        results = Results(document, stated[0] if stated else source.files[0])
        rejections: list[Rejection] = []
        notes = list(other_models(results, source.files))
        details = [Details(path, results.tasks) for path in source.files if path not in stated]
        model = results.model or model_of_path(source.files[-1])
        require_model(text_or_none(settings.stated.get("model")) or model, source.name)
        by_task = {item.task: item for item in details}
        tasks = dict.fromkeys((*results.tasks, *by_task))
        runs = tuple(header(results, task, by_task.get(task), model or "") for task in tasks)
        numbers = {task: number for number, task in enumerate(tasks)}

        def rows() -> Iterator[pa.RecordBatch]:
            return chain.from_iterable(batches(item, numbers[item.task], rejections, notes) for item in details)

        return Dump(runs, rows(), group_scores(results), rejections, notes)


def other_models(results: Results, paths: Sequence[Path]) -> Iterator[str]:
    """A note for each model that folders name and the results file does not."""
    model = results.model
    named = dict.fromkeys(name for path in paths if (name := model_of_path(path.absolute())))
    return (disagreement(model, "a folder", name) for name in named if model and not same_model(name, model))


def _is_results(candidate: Candidate) -> bool:
    """Whether a file begins as lighteval's results do."""
    if candidate.path.suffix != ".json":
        return False
    start = unpacked_head(candidate)[:4000]
    return (
        start.startswith("{")
        and '"config_general"' in start
        and ('"lighteval_sha"' in start or '"total_evaluation_time_secondes"' in start)
    )


def _nearest(path: Path, owners: Sequence[Path]) -> Path | None:
    """The results file that shares most folders with a file of details."""
    return max(owners, key=lambda owner: len(os.path.commonpath([owner, path])), default=None)


IMPORTER = Lighteval()
