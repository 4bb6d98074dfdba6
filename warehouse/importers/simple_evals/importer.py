"""Importer of results of OpenAI's simple-evals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from warehouse.importers.base import source_of
from warehouse.importers.common.documents import has_keys, head_of
from warehouse.importers.common.json_fields import number_or_none, require_model, text_or_none
from warehouse.importers.simple_evals.header import header
from warehouse.importers.simple_evals.results import WHOLE, Results
from warehouse.importers.simple_evals.rows import batches
from warehouse.records import Candidate, Dump, ImportSettings, SourceFiles, parse_json

# {"score": 0.5, "metrics": {   how a file with samples begins
_START = re.compile(r'\{\s*"score"\s*:[^,{\["]{1,40},\s*"metrics"\s*:\s*\{')
_SPREAD = (':std"', ':bootstrap_std"')
_SCORES = ("score", "overall_score")


class SimpleEvals:
    """One run for each evaluation of a model."""

    name = "simple_evals"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """``NAME_allresults.json`` with the figures of ``NAME.json``; each alone too."""
        paths_by_stem = defaultdict[tuple[Path, str], list[Path]](list)
        for item in candidates:
            if item.path.suffix == ".json" and _kind(item):
                paths_by_stem[item.path.parent, item.path.stem.removesuffix(WHOLE)].append(item.path)
        for paths in paths_by_stem.values():
            ordered = sorted(paths, key=lambda path: not path.stem.endswith(WHOLE))
            yield source_of(*ordered)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open the results of one evaluation.

        Raises:
            InputError: a file is damaged, its lists do not belong together, or nothing names the
                model.
        """
        results = Results(source.files)
        require_model(text_or_none(settings.stated.get("model")) or results.model, source.name)
        rows = batches(results)
        return Dump((header(results),), rows, (), results.rejections, results.notes)


def _kind(candidate: Candidate) -> bool:
    """Whether a file holds samples, or figures with their spread and nothing else."""
    head = head_of(candidate)
    if _START.match(head):
        return has_keys(head, "htmls") or has_keys(head, "convos")
    if candidate.size > len(candidate.head) or not any(text in head for text in _SPREAD):
        return False
    try:
        document = parse_json(head)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(document, dict)
        and any(name in document for name in _SCORES)
        and all(value is None or number_or_none(value) is not None for value in document.values())
    )


IMPORTER = SimpleEvals()
