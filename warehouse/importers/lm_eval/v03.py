"""Importer of lm-evaluation-harness 0.3: aggregates, and the samples that
``--write_out`` wrote."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.header_values import fingerprint
from warehouse.importers.common.json_fields import (
    as_text,
    as_text_or_none,
    compact,
    first_of,
    mapping_of,
    number_or_none,
    paired_value,
    require_model,
    response_pair,
    text_of_any,
    text_or_none,
    whole_or_none,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    in_batches,
    read_document,
    unpacked_head,
)
from warehouse.importers.common.model_names import position_fields
from warehouse.importers.lm_eval.importer import looks_like_results
from warehouse.importers.lm_eval.layout import argument_settings, model_fields
from warehouse.importers.lm_eval.metrics import (
    PAIRED,
    Seen,
    aggregation_of,
    metric_specs,
    published_scores,
)
from warehouse.importers.lm_eval.results import HARNESS
from warehouse.importers.lm_eval.rows import BATCH_ROWS
from warehouse.importers.lm_eval.settings import configuration_of
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    Rejection,
    RunHeader,
    SourceFiles,
)

#: {"results": {"task": {"acc": 0.5     no filter in the key, which 0.4 has
_FIRST_FIGURE = re.compile(
    r'\{\s*"results"\s*:\s*\{\s*"[^"]+"\s*:\s*\{\s*"[^",]+"\s*:\s*(?:-?[\d.]|NaN|-?Infinity)'
)
_SETTINGS = re.compile(r'"(?:no_cache|description_dict)"\s*:')
_KEYS = frozenset(("results", "versions", "config"))
_LARGEST = 64 << 20


class LmEvalV03:
    """A file of aggregates over many tasks, with the samples of its tasks where it is
    the only one of its folder; else each file of samples is a source."""

    name = "lm_eval_v03"
    version = "3"  # 2: aggregates and their samples are one source; 3: all settings
    folders = 2

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files of aggregates by their content, files of samples also by their name."""
        found = [
            item.path
            for item in candidates
            if item.path.name.endswith(SUFFIX) or _is_ours(item)
        ]
        written = [
            path
            for path in found
            if path.name.endswith(SUFFIX) or _starts_as_list(path)
        ]
        results = [path for path in found if path not in written]
        holders = Counter(path.parent for path in results)
        for path in results:
            beside = []
            if holders[path.parent] == 1:
                beside = [item for item in written if item.parent == path.parent]
            own = []
            if beside:
                own = _written_with(path, beside)
            yield source_of(path, *own)
            written = [item for item in written if item not in own]
        yield from map(source_of, written)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source (InputError: an empty or incomplete file, or nothing names
        the model)."""
        path, *beside = source.files
        model_setting = settings.model
        if path.name.endswith(SUFFIX) or _starts_as_list(path):
            written = WriteOut(path)
            model = require_model(model_setting, source.name)
            return Dump(
                (written.header(model),),
                written.batches(),
                (),
                written.rejections,
                written.notes,
            )
        document = read_document(path)
        if not _has_keys(document):
            raise InputError(
                "not aggregates of lm-evaluation-harness 0.3",
                path=source.name,
                expected="an object with results, versions and config",
            )
        dump = Dump((), ())
        samples = {
            _task_of(item): WriteOut(item, dump.rejections, dump.notes)
            for item in beside
        }
        tasks = list(mapping_of(document, "results"))
        headers = tuple(
            _header(document, task, path, samples.get(task)) for task in tasks
        )
        for header in headers:
            require_model(model_setting or header.model, source.name)
        batches = chain.from_iterable(
            item.batches(tasks.index(task)) for task, item in samples.items()
        )
        return replace(dump, runs=headers, batches=batches)


IMPORTER = LmEvalV03()


def _header(
    document: Mapping[str, Any], task: str, path: Path, samples: WriteOut | None
) -> RunHeader:
    if samples:
        seen = samples.seen
    else:
        seen = Seen()
    config = mapping_of(document, "config")
    figures = mapping_of(document, "results", task)
    description = mapping_of(config, "description_dict").get(task)
    version = mapping_of(document, "versions").get(task)
    sampling = {
        "backend": text_or_none(config.get("model")),
        "model_args": argument_settings(document, {}),
    }
    stated = configuration_of(document, {}, {}, None)
    template_hash = None
    if description:
        template_hash = fingerprint({"description": description})
    if samples:
        place = samples.path.name
    else:
        place = path.name
    return RunHeader(
        harness=HARNESS,
        benchmark=task,
        **model_fields(document, path),
        task_version=text_of_any(version),
        fewshot=whole_or_none(config.get("num_fewshot")),
        template_hash=template_hash,
        sampling={name: value for name, value in sampling.items() if value},
        metrics=metric_specs({}, figures, {}, seen),
        configuration={name: value for name, value in stated.items() if name != "task"},
        n_requested=whole_or_none(config.get("limit")),
        published=published_scores({}, figures, None, seen),
        place=place,
    )


def _is_ours(candidate: Candidate) -> bool:
    head = unpacked_head(candidate)
    if looks_like_write_out(head):
        return True
    if looks_like_results(head) or not (
        _FIRST_FIGURE.match(head) or _SETTINGS.search(head)
    ):
        return False
    if not head.startswith("{") or candidate.size > _LARGEST:
        return False
    try:
        return _has_keys(read_document(candidate.path))
    except InputError:  # cut short, but it began as one: reading it says what is wrong
        return _FIRST_FIGURE.match(head) is not None


def _written_with(results: Path, written: Sequence[Path]) -> list[Path]:
    """Files of samples that are of tasks of a file of aggregates."""
    try:
        tasks = mapping_of(read_document(results), "results")
    except InputError:  # the source says so when it is read
        return []
    return [path for path in written if _task_of(path) in tasks]


def _has_keys(document: Mapping[str, Any]) -> bool:
    return document.keys() >= _KEYS and "model_args" in mapping_of(document, "config")


def _starts_as_list(path: Path) -> bool:
    with path.open("rb") as handle:
        return handle.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


SUFFIX = "_write_out_info.json"

_START = re.compile(r'\[\s*\{\s*"doc_id"\s*:')
_OURS = re.compile(r'"(?:prompt_0|logit_0)"\s*:')
_NUMBERED = re.compile(r"(prompt|logit)_\d+")
_TRUTH_VALUES = {"True": 1.0, "False": 0.0}


def looks_like_write_out(head: str) -> bool:
    """True if a file begins as such a list."""
    return _START.match(head) is not None and _OURS.search(head) is not None


def _task_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX).removesuffix(".json")


@dataclass
class WriteOut:
    """One file. The task is in its name; the model is nowhere."""

    path: Path
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rows = RowSource(
            self.path, self.path.name, rejections=self.rejections, notes=self.notes
        )
        self._first = self._rows.first()

    @property
    def seen(self) -> Seen:
        """Metrics as the samples show them."""
        metrics = dict.fromkeys(
            chain.from_iterable(_metrics(row) for row in self._first)
        )
        values = {}
        for name in metrics:
            said = (row.get(name) for row in self._first if name in row)
            values[name] = next(map(_parsed, said), None)
        return Seen(tuple((name, "") for name in metrics), values)

    @property
    def formulation(self) -> str | None:
        """How the task was asked, by its first row."""
        if self._first:
            return _formulation(self._first[0])
        return None

    def header(self, model: str) -> RunHeader:
        """The header, as far as samples alone give one."""
        self.notes.append(
            f"{self.path.name}: no results file, so no settings or versions"
        )
        return RunHeader(
            harness=HARNESS,
            model=model,
            benchmark=_task_of(self.path),
            **position_fields((), model, self.path),
            formulation=self.formulation,
            metrics=metric_specs({}, {}, {}, self.seen),
            place=self.path.name,
        )

    def batches(self, run: int = 0) -> Iterator[pa.RecordBatch]:
        """All sample rows."""
        return in_batches(
            ([_record(row) | {"run": run}] for row, _ in self._rows.rows()), BATCH_ROWS
        )


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    prompts = [as_text(prompt) for prompt in _numbered(row, "prompt")]
    outputs = _numbered(row, "logit")
    target = row.get("truth")
    written = next((item for item in outputs if isinstance(item, str)), None)
    text = None
    if prompts:
        # the examples before the question are divided by blank lines
        text = prompts[0].rpartition("\n\n")[2]
    choice_scores = None
    if written is None:
        choice_scores = _likelihoods(outputs, target)
    return {
        "position": row["doc_id"]
        if type(row["doc_id"]) is int
        else None,  # true is no place
        "prompt_id": str(row["doc_id"]),
        "identity": compact({"prompts": prompts, "target": target}),
        "text": text,
        "target": as_text_or_none(target),
        "draw": 0,
        "prompt_sent": first_of(prompts),
        "response": written,
        "scores": [_score(name, row.get(name)) for name in _metrics(row)],
        "choice_scores": choice_scores,
    }


def _likelihoods(outputs: list[Any], target: Any) -> list[dict[str, Any]]:
    pairs = [response_pair(output) for output in outputs]
    has_target = type(target) is int and 0 <= target < len(pairs)
    return [
        {
            "choice_index": index,
            "loglikelihood": number,
            "is_greedy": greedy,
            "is_target": (index == target) if has_target else None,
        }
        for index, (number, greedy) in enumerate(pairs)
    ]


def _score(name: str, value: Any) -> dict[str, Any]:
    """Scores were written as ``str(value)``: truth values, numbers and pairs come
    back."""
    if isinstance(value, str) and value in _TRUTH_VALUES:
        mapped = _TRUTH_VALUES[value]
        return {
            "metric": name,
            "filter": "",
            "value": mapped,
            "raw": value,
            "origin": "mapped",
        }
    parsed = _parsed(value)
    if aggregation_of(name, {}) in PAIRED:
        return {"metric": name, "filter": "", **paired_value(parsed)}
    number = number_or_none(parsed)
    if number is not None:
        return {"metric": name, "filter": "", "value": number}
    status = "not_scalar"
    if value is None or isinstance(parsed, float):
        status = "error"
    raw = as_text_or_none(value)
    return {"metric": name, "filter": "", "status": status, "raw": raw}


def _parsed(value: Any) -> Any:
    """The value that a ``str()`` was made of; the text itself where that is unclear."""
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
    if isinstance(literal, tuple):
        return list(literal)
    return literal


def _metrics(row: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name in row
        if name not in ("doc_id", "truth") and not _NUMBERED.match(name)
    ]


def _numbered(row: Mapping[str, Any], stem: str) -> list[Any]:
    """Values of ``<stem>_0``, ``<stem>_1`` …, in the order of their numbers."""
    names = [
        name
        for name in row
        if name.startswith(f"{stem}_") and _NUMBERED.fullmatch(name)
    ]
    return [
        row[name]
        for name in sorted(names, key=lambda name: int(name.rpartition("_")[2]))
    ]


def _formulation(row: Mapping[str, Any]) -> str:
    outputs = _numbered(row, "logit")
    if any(isinstance(output, str) for output in outputs):
        return "generate_until"
    if len(outputs) > 1:
        return "multiple_choice"
    return "loglikelihood"
