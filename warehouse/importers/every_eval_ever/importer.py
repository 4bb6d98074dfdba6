"""Importer of Every Eval Ever: an evaluation's JSON file with the rows of its samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.importers.common.batches import BATCH_ROWS
from warehouse.importers.common.documents import read_document, require_content, unpacked_head
from warehouse.importers.common.json_fields import require_model, text_or_none
from warehouse.importers.every_eval_ever.evaluation import Evaluation
from warehouse.importers.every_eval_ever.own_export import own_header, own_rows
from warehouse.importers.every_eval_ever.rows import foreign_rows
from warehouse.records import Candidate, Dump, ImportSettings, Rejection, SourceFiles

_ROW = ('"evaluation_id"', '"interaction_type"', '"sample_id"')
_AGGREGATE = ('"schema_version"', '"evaluation_id"')
_PARTS = ('"evaluation_results"', '"source_metadata"', '"model_info"', '"eval_library"')
_REFERENCE = re.compile(r"(?:_samples|_unscored)?\.(?:jsonl|ndjson|json)$")


class EveryEvalEver:
    """An evaluation and its samples; either alone too."""

    name = "every_eval_ever"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Evaluations by their keys; samples, which have the same name, by theirs."""
        paths_by_stem: dict[tuple[Path, str], list[Path]] = {}
        for item in candidates:
            if _is_ours(item):
                stem = _REFERENCE.sub("", item.path.name)
                paths_by_stem.setdefault((item.path.parent, stem), []).append(item.path)
        for (folder, _), paths in paths_by_stem.items():
            ordered = tuple(sorted(paths, key=lambda path: (path.suffix != ".json", path.name)))
            yield SourceFiles(str(ordered[0]), folder, ordered)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open an evaluation.

        Raises:
            InputError: a file is damaged, or nothing names the model.
        """
        for path in source.files:
            require_content(path)
        stated = [path for path in source.files if path.suffix == ".json"]
        samples = [path for path in source.files if path not in stated]
        document = read_document(stated[0]) if stated else {}
        rejections: list[Rejection] = []
        notes: list[str] = []
        own = own_header(document, source.name)
        if own is not None:
            rows = chain.from_iterable(own_rows(path, rejections) for path in samples)
            batches = _batched(rows, source.name)
            return Dump((own,), batches, (), rejections, notes)
        evaluation = Evaluation(document, samples, source.name)
        wanted = text_or_none(settings.stated.get("model"))
        require_model(wanted or evaluation.model, source.name)
        runs = tuple(evaluation.headers(notes))
        rows = chain.from_iterable(foreign_rows(evaluation, path, rejections) for path in samples)
        return Dump(runs, _batched(rows, source.name), (), rejections, notes)


def _is_ours(candidate: Candidate) -> bool:
    suffix = candidate.path.suffix
    head = unpacked_head(candidate)
    if not head.startswith("{") or suffix not in (".json", ".jsonl", ".ndjson"):
        return False
    if suffix == ".json":
        start = head[:20_000]
        return all(key in start for key in _AGGREGATE) and any(key in start for key in _PARTS)
    line = head.partition("\n")[0]
    return all(key in line for key in _ROW)


def _batched(rows: Iterator[dict[str, Any]], place: str) -> Iterator[pa.RecordBatch]:
    """Rows in batches.

    Raises:
        InputError: a value is of a type that its column cannot hold.
    """
    while chunk := list(islice(rows, BATCH_ROWS)):
        try:
            yield batch_of(chunk)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"samples hold what their fields cannot: {str(error)[:200]}", path=place) from None


IMPORTER = EveryEvalEver()
