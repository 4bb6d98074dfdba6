"""Samples of lm-evaluation-harness 0.3: ``<task>_write_out_info.json``, one JSON list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.importers.common.batches import in_batches
from warehouse.importers.common.json_fields import as_text, compact, number_or_none
from warehouse.importers.common.jsonl import RowSource
from warehouse.importers.common.model_arguments import position_fields
from warehouse.importers.common.response_pairs import paired_value, response_pair
from warehouse.importers.lm_eval.metrics import PAIRED, Seen, aggregation_of, metric_specs
from warehouse.importers.lm_eval.results import HARNESS
from warehouse.importers.lm_eval.rows import BATCH_ROWS
from warehouse.records import Rejection, RunHeader

SUFFIX = "_write_out_info.json"

_START = re.compile(r'\[\s*\{\s*"doc_id"\s*:')
_OURS = re.compile(r'"(?:prompt_0|logit_0)"\s*:')
_NUMBERED = re.compile(r"(prompt|logit)_\d+")
_TRUTH_VALUES = {"True": 1.0, "False": 0.0}


def looks_like_write_out(head: str) -> bool:
    """Whether a file begins as such a list."""
    return _START.match(head) is not None and _OURS.search(head) is not None


class WriteOut:
    """One file. The task is in its name; the model is nowhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rejections: list[Rejection] = []
        self.notes: list[str] = []
        self._rows = RowSource(path, path.name, rejections=self.rejections, notes=self.notes)
        self._first = self._rows.first()

    def header(self, model: str) -> RunHeader:
        """The header, as far as samples alone give one."""
        task = self.path.name.removesuffix(SUFFIX).removesuffix(".json")
        metrics = dict.fromkeys(name for row in self._first for name in _metrics(row))
        values = {name: next((_parsed(row.get(name)) for row in self._first if name in row), None) for name in metrics}
        seen = Seen(tuple((name, "") for name in metrics), values)
        self.notes.append(f"{self.path.name}: no results file, so no settings or versions")
        return RunHeader(
            harness=HARNESS,
            model=model,
            benchmark=task,
            **position_fields((), model, self.path),
            formulation=_formulation(self._first[0]) if self._first else None,
            metrics=metric_specs({}, {}, {}, seen),
            place=self.path.name,
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All sample rows."""
        return in_batches(([_record(row)] for row, _ in self._rows.rows()), BATCH_ROWS)


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    prompts = [as_text(prompt) for prompt in _numbered(row, "prompt")]
    outputs = _numbered(row, "logit")
    target = row.get("truth")
    written = next((item for item in outputs if isinstance(item, str)), None)
    return {
        "run": 0,
        "position": row["doc_id"] if type(row["doc_id"]) is int else None,  # true is no place
        "prompt_id": str(row["doc_id"]),
        "identity": compact({"prompts": prompts, "target": target}),
        # the examples before the question are divided by blank lines
        "text": prompts[0].rpartition("\n\n")[2] if prompts else None,
        "target": None if target is None else as_text(target),
        "draw": 0,
        "prompt_sent": prompts[0] if prompts else None,
        "response": written,
        "scores": [_score(name, row.get(name)) for name in _metrics(row)],
        "choice_scores": None if written is not None else _likelihoods(outputs, target),
    }


def _likelihoods(outputs: list[Any], target: Any) -> list[dict[str, Any]]:
    pairs = [response_pair(output) for output in outputs]
    known = type(target) is int and 0 <= target < len(pairs)
    return [
        {
            "choice_index": index,
            "loglikelihood": number,
            "is_greedy": greedy,
            "is_target": (index == target) if known else None,
        }
        for index, (number, greedy) in enumerate(pairs)
    ]


def _score(name: str, value: Any) -> dict[str, Any]:
    """Scores were written as ``str(value)``: truth values, numbers and pairs come back."""
    if isinstance(value, str) and value in _TRUTH_VALUES:
        mapped = _TRUTH_VALUES[value]
        return {"metric": name, "filter": "", "value": mapped, "raw": value, "origin": "mapped"}
    parsed = _parsed(value)
    if aggregation_of(name, {}) in PAIRED:
        return {"metric": name, "filter": "", **paired_value(parsed)}
    number = number_or_none(parsed)
    if number is not None:
        return {"metric": name, "filter": "", "value": number}
    status = "error" if value is None or isinstance(parsed, float) else "not_scalar"
    raw = None if value is None else as_text(value)
    return {"metric": name, "filter": "", "status": status, "raw": raw}


def _parsed(value: Any) -> Any:
    """What a ``str()`` was made of; the text itself where that cannot be told."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        pass
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return list(literal) if isinstance(literal, tuple) else literal


def _metrics(row: Mapping[str, Any]) -> list[str]:
    return [name for name in row if name not in ("doc_id", "truth") and not _NUMBERED.match(name)]


def _numbered(row: Mapping[str, Any], stem: str) -> list[Any]:
    """Values of ``<stem>_0``, ``<stem>_1`` …, in the order of their numbers."""
    names = [name for name in row if name.startswith(f"{stem}_") and _NUMBERED.fullmatch(name)]
    return [row[name] for name in sorted(names, key=lambda name: int(name.rpartition("_")[2]))]


def _formulation(row: Mapping[str, Any]) -> str:
    outputs = _numbered(row, "logit")
    if any(isinstance(output, str) for output in outputs):
        return "generate_until"
    return "multiple_choice" if len(outputs) > 1 else "loglikelihood"
