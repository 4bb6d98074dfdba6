"""Importer of lm-evaluation-harness 0.3: aggregates, and the samples that ``--write_out`` wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.documents import read_document, unpacked_head
from warehouse.importers.common.fingerprint import fingerprint
from warehouse.importers.common.json_fields import mapping_of, require_model, text_or_none, whole_or_none
from warehouse.importers.lm_eval.files import looks_like_results
from warehouse.importers.lm_eval.metrics import Seen, metric_specs, published_scores
from warehouse.importers.lm_eval.model import argument_settings, model_fields
from warehouse.importers.lm_eval.results import HARNESS
from warehouse.importers.lm_eval.v03_rows import SUFFIX, WriteOut, looks_like_write_out
from warehouse.records import Candidate, Dump, ImportSettings, RunHeader, SourceFiles

#: {"results": {"task": {"acc": 0.5     no filter in the key, which 0.4 has
_FIRST_FIGURE = re.compile(r'\{\s*"results"\s*:\s*\{\s*"[^"]+"\s*:\s*\{\s*"[^",]+"\s*:\s*(?:-?[\d.]|NaN|-?Infinity)')
_SETTINGS = re.compile(r'"(?:no_cache|description_dict)"\s*:')
_KEYS = frozenset(("results", "versions", "config"))
_LARGEST = 64 << 20


class LmEvalV03:
    """Each file is a source: one of aggregates over many tasks, or one of samples of one task."""

    name = "lm_eval_v03"
    version = "1"
    folders = 2

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files of aggregates by their content, files of samples also by their name."""
        for candidate in candidates:
            path = candidate.path
            if path.name.endswith(SUFFIX) or _is_ours(candidate):
                yield source_of(path)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source.

        Raises:
            InputError: an empty or incomplete file, or nothing names the model.
        """
        path = source.files[0]
        stated = text_or_none(settings.stated.get("model"))
        if path.name.endswith(SUFFIX) or _starts_as_list(path):
            written = WriteOut(path)
            model = require_model(stated, source.name)
            return Dump((written.header(model),), written.batches(), (), written.rejections, written.notes)
        document = read_document(path)
        if not _has_keys(document):
            raise InputError(
                "not aggregates of lm-evaluation-harness 0.3",
                path=source.name,
                expected="an object with results, versions and config",
            )
        headers = tuple(_header(document, task, path) for task in mapping_of(document, "results"))
        for header in headers:
            require_model(stated or header.model, source.name)
        return Dump(headers, ())


IMPORTER = LmEvalV03()


def _header(document: Mapping[str, Any], task: str, path: Path) -> RunHeader:
    config = mapping_of(document, "config")
    figures = mapping_of(document, "results", task)
    description = mapping_of(config, "description_dict").get(task)
    version = mapping_of(document, "versions").get(task)
    sampling = {"backend": text_or_none(config.get("model")), "model_args": argument_settings(document)}
    return RunHeader(
        harness=HARNESS,
        benchmark=task,
        **model_fields(document, path),
        task_version=None if version is None else str(version),
        fewshot=whole_or_none(config.get("num_fewshot")),
        template_hash=fingerprint({"description": description}) if description else None,
        sampling={name: value for name, value in sampling.items() if value},
        metrics=metric_specs({}, figures, {}, Seen()),
        configuration={"config": config},
        n_requested=whole_or_none(config.get("limit")),
        published=published_scores({}, figures, None, Seen()),
        place=path.name,
    )


def _is_ours(candidate: Candidate) -> bool:
    head = unpacked_head(candidate)
    if looks_like_write_out(head):
        return True
    if looks_like_results(head) or not (_FIRST_FIGURE.match(head) or _SETTINGS.search(head)):
        return False
    if not head.startswith("{") or candidate.size > _LARGEST:
        return False
    try:
        return _has_keys(read_document(candidate.path))
    except InputError:  # cut short, but it began as one: reading it says what is wrong
        return _FIRST_FIGURE.match(head) is not None


def _has_keys(document: Mapping[str, Any]) -> bool:
    return document.keys() >= _KEYS and "model_args" in mapping_of(document, "config")


def _starts_as_list(path: Path) -> bool:
    with path.open("rb") as handle:
        return handle.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
