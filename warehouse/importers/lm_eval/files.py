"""Files that lm-evaluation-harness writes: names, first bytes, which belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.importers.common.documents import unpacked_head
from warehouse.importers.common.json_fields import mapping_of
from warehouse.records import Candidate

_STAMP = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
_SAMPLES_NAME = re.compile(rf"samples_(.+)_({_STAMP})\.jsonl?(?:\.gz)?", re.DOTALL)
_RESULTS_NAME = re.compile(rf".*_({_STAMP})\.json(?:\.gz)?", re.DOTALL)

# "acc,none": 0.5   the key that names a metric and a filter, which no other tool writes
_METRIC_AND_FILTER = re.compile(r'"[^"\\\n]+,[^"\\\n]+"\s*:\s*(?:-?[\d.]|"N/A"|NaN|-?Infinity|null)')
_RESULTS_KEY = re.compile(r'"(?:results|groups)"\s*:\s*\{')
_ROW_START = re.compile(r"(?:\[\s*)?\{")
_ROW_KEYS = ('"doc_id":', '"doc":')
_RESPONSE_KEY = re.compile(r'"(?:target|arguments|resps|filtered_resps)"\s*:')
_LONG_HEAD = 60_000  # characters; a document of this length hides the keys after it


@dataclass(frozen=True)
class SamplesFile:
    """A file of sample rows. ``stamp`` and ``task`` are empty where its name does not say."""

    path: Path
    task: str = ""
    stamp: str = ""


@dataclass(frozen=True)
class ResultsFile:
    """A file of aggregates. ``stamp`` is empty where its name does not say."""

    path: Path
    stamp: str = ""


def recognise(candidate: Candidate) -> SamplesFile | ResultsFile | None:
    """What a file is, by its name and first bytes; ``None``: none of ours (>= 0.4)."""
    name = candidate.path.name
    named = _SAMPLES_NAME.fullmatch(name)
    head = unpacked_head(candidate)
    if named and (looks_like_samples(head) or not _is_json(head)):
        # also what is not JSON at all: an empty file, a pointer or damage deserves its message
        return SamplesFile(candidate.path, named[1], named[2])
    if looks_like_results(head):
        stamped = _RESULTS_NAME.fullmatch(name)
        return ResultsFile(candidate.path, stamped[1] if stamped else "")
    return SamplesFile(candidate.path) if looks_like_samples(head) else None


def looks_like_samples(head: str) -> bool:
    """Whether a file begins with a sample row of 0.4 or later."""
    keyed = head.replace('" :', '":')
    return (
        _ROW_START.match(head) is not None
        and all(key in keyed for key in _ROW_KEYS)
        and (_RESPONSE_KEY.search(head) is not None or len(head) >= _LONG_HEAD)
    )


def looks_like_results(head: str) -> bool:
    """Whether a file begins with aggregates of 0.4 or later; samples may follow them."""
    before = head.partition(_ROW_KEYS[0])[0]
    return before.startswith("{") and bool(_RESULTS_KEY.search(before)) and bool(_METRIC_AND_FILTER.search(before))


def task_of_old_name(path: Path, tasks: Iterable[str]) -> str:
    """Task in ``<model_args>_<task>.jsonl`` (0.4.0-0.4.2): the longest that ends the name."""
    stem = path.name.split(".json")[0]
    fitting = [task for task in tasks if stem == task or stem.endswith(f"_{task}")]
    return max(fitting, key=len, default="")


def old_sample_names(results: Any) -> set[str]:
    """Stems of the sample files that 0.4.0-0.4.2 writes beside a results file."""
    arguments = re.sub("[/=]", "__", str(mapping_of(results, "config").get("model_args")))
    return {f"{arguments}_{task}" for task in mapping_of(results, "configs")}


def _is_json(head: str) -> bool:
    return head.startswith(("{", "["))
