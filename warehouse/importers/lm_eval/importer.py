"""Importer of lm-evaluation-harness >= 0.4: results, samples, or both of one time
stamp."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import has_text_name
from warehouse.importers.common.json_fields import mapping_of, require_model
from warehouse.importers.common.jsonl import (
    EmbeddedRows,
    RowSource,
    read_document,
    unpacked_head,
)
from warehouse.importers.lm_eval.bulk_query import can_read, reading
from warehouse.importers.lm_eval.layout import NAMING, Layout, find_layout, other_model
from warehouse.importers.lm_eval.metrics import Seen, figures_of
from warehouse.importers.lm_eval.results import (
    LmEvalResults,
    first_seen,
    header_without_results,
    scan,
)
from warehouse.importers.lm_eval.rows import RowReader
from warehouse.records import (
    Batch,
    Candidate,
    Dump,
    ImportSettings,
    Rejection,
    RunHeader,
    SourceFiles,
)

HEAD_BYTES = 65_536


class LmEval:
    """``results_<time>.json`` with its ``samples_<task>_<time>.jsonl``; either may be
    missing, and the samples of one that was written from Python may stand in the
    results."""

    name = "lm_eval"
    version = "4"  # 3: the question is the document, not what was sent; 4: all settings, as they took effect
    folders = 2
    in_bulk = True

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Files of one folder and time stamp are one source; before 0.4.3 the names of
        samples are made of the model arguments that the results file holds."""
        recognised = [kind for kind in map(recognise, candidates) if kind is not None]
        stamped = defaultdict[tuple[Path, str], list[ResultsFile | SamplesFile]](list)
        loose: list[ResultsFile | SamplesFile] = []
        for file in recognised:
            key = (file.path.parent, file.stamp)
            if file.stamp:
                stamped[key].append(file)
            else:
                loose.append(file)
        for files in stamped.values():
            yield _source(files)
        yield from _claim_loose(loose)

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source (InputError: an empty or incomplete file, or nothing names
        the model or benchmark)."""
        reader = _SourceReader(source, settings)
        return Dump(
            runs=tuple(reader.headers()),
            batches=reader.batches(),
            published=reader.results.group_scores(),
            rejections=reader.rejections,
            notes=reader.notes,
        )


IMPORTER = LmEval()


@dataclass
class _Samples:
    """One sample file of a source, looked at."""

    task: str
    rows: RowSource
    layout: Layout
    seen: Seen
    stamp: str

    @property
    def in_bulk(self) -> bool:
        """True if the bulk query can read it."""
        odd = self.rows.is_array() or self.rows.has_mark()
        return can_read(self.layout) and not odd and has_text_name(self.rows.path)


class _SourceReader:
    """The files of one source on their way to headers and batches; the results are
    empty where there are none."""

    def __init__(self, source: SourceFiles, settings: ImportSettings) -> None:
        self.source, self.settings = source, settings
        self.rejections: list[Rejection] = []
        self.notes: list[str] = []
        self.results = LmEvalResults({}, source.root)
        recognised = [recognise(_candidate(path)) for path in source.files]
        for file in recognised:
            if isinstance(file, ResultsFile):
                self.results = LmEvalResults(read_document(file.path), file.path)
        self.samples = [
            self._of_file(file) for file in recognised if isinstance(file, SamplesFile)
        ]
        own = {item.task for item in self.samples}
        self.samples += [
            self._embedded(task) for task in self.results.samples if task not in own
        ]
        self.notes += self.results.strange_parts()
        self.notes += other_model(self.results.document, self.results.path)
        if not (self.results.document or self.samples):
            raise InputError(
                "neither results nor samples of lm-evaluation-harness",
                path=source.name,
                expected=(
                    "an object with results and configs, or rows with doc_id, doc and "
                    "resps"
                ),
            )

    def headers(self) -> Iterator[RunHeader]:
        """One header for each task, in the order that rows number them."""
        by_task = {item.task: item for item in self.samples}
        for task in self._tasks:
            samples = by_task.get(task)
            if samples:
                file_name = samples.rows.name
            else:
                file_name = self.results.path.name
            yield self._header(task, samples, file_name)

    def batches(self) -> Iterator[Batch]:
        """Files of one layout in one query each, then what has to be read row by
        row."""
        groups = defaultdict[Layout, list[_Samples]](list)
        slow: list[_Samples] = []
        for item in self.samples:
            if item.in_bulk:
                groups[item.layout].append(item)
            else:
                slow.append(item)
        for layout, items in groups.items():
            runs = {item.rows.path: self._run(item) for item in items}
            yield reading(layout, runs, lambda items=items: self._row_by_row(items))  # type: ignore[misc]
        yield from self._row_by_row(slow)

    @property
    def _tasks(self) -> list[str]:
        return list(
            dict.fromkeys((*self.results.tasks, *(item.task for item in self.samples)))
        )

    def _row_by_row(self, items: Sequence[_Samples]) -> Iterator[pa.RecordBatch]:
        for item in items:
            yield from RowReader(item.rows, item.layout, self._run(item)).batches()

    def _run(self, item: _Samples) -> int:
        return self._tasks.index(item.task)

    def _of_file(self, file: SamplesFile) -> _Samples:
        rows = RowSource(
            file.path, file.path.name, rejections=self.rejections, notes=self.notes
        )
        return self._look(file.task or self._task_of(file.path), rows, file.stamp)

    def _embedded(self, task: str) -> _Samples:
        path = self.results.path
        rows = self.results.samples[task]
        name = f"{path.name} samples.{task}"
        return self._look(
            task, EmbeddedRows(path, name, rejections=self.rejections, embedded=rows)
        )

    def _look(self, task: str, rows: RowSource, stamp: str = "") -> _Samples:
        first_rows = rows.sample() or [{}]
        if self.results.document:
            figures = self.results.figures(task)
            filters = tuple(dict.fromkeys(name for _, name, _ in figures_of(figures)))
            seen = first_seen(first_rows)
        else:
            seen, filters = scan(rows)
        layout = find_layout(
            first_rows, self.results.config(task), filters, rows.has_requests
        )
        return _Samples(task, rows, layout, seen, stamp)

    def _task_of(self, path: Path) -> str:
        task = task_of_old_name(
            path, self.results.tasks
        ) or self.settings.user_values.get("benchmark")
        if task:
            return str(task)
        raise InputError(
            "the file name does not say which task these samples are of",
            path=str(path),
            expected=(
                "samples_<task>_<time>.jsonl, or the results file of its run beside it"
            ),
            advice="give the task with --default benchmark=NAME",
        )

    def _header(
        self, task: str, samples: _Samples | None, source_file: str
    ) -> RunHeader:
        if self.results.document:
            if samples:
                seen = samples.seen
            else:
                seen = Seen()
            header = self.results.header(task, seen, source_file)
            require_model(self.settings.model or header.model, self.source.name)
            return header
        assert samples is not None
        model = require_model(self.settings.model, self.source.name)
        return header_without_results(
            task, model, samples.rows, samples.seen, samples.stamp
        )


def _claim_loose(files: Sequence[ResultsFile | SamplesFile]) -> Iterator[SourceFiles]:
    """Sources among files without a time stamp: each results file with its samples, the
    rest one by one."""
    taken: set[Path] = set()
    for file in files:
        if isinstance(file, ResultsFile):
            neighbours = [
                other
                for other in files
                if isinstance(other, SamplesFile)
                and other.path.parent == file.path.parent
            ]
            alone = not any(
                isinstance(other, ResultsFile)
                and other is not file
                and other.path.parent == file.path.parent
                for other in files
            )
            members = _members(file, neighbours, alone)
            taken |= {file.path, *(other.path for other in members)}
            yield _source([file, *members])
    yield from (_source([file]) for file in files if file.path not in taken)


def _members(
    results: ResultsFile, neighbours: Sequence[SamplesFile], alone: bool
) -> list[SamplesFile]:
    """The samples of a results file without a time stamp."""
    if not neighbours:
        return []
    try:
        document = read_document(results.path)
    except InputError:  # the source says so when it is read
        if alone:
            return list(neighbours)
        return []
    names = old_sample_names(document)
    tasks = LmEvalResults(document, results.path).tasks

    def is_own(file: SamplesFile) -> bool:
        stem = _plain(file.path.name.split(".json")[0])
        renamed = (
            alone
            and not _OF_ARGUMENTS.match(stem)
            and task_of_old_name(file.path, tasks)
        )
        return stem in names or bool(renamed)

    return list(filter(is_own, neighbours))


def _source(files: Sequence[ResultsFile | SamplesFile]) -> SourceFiles:
    results = sorted(file.path for file in files if isinstance(file, ResultsFile))
    samples = sorted(file.path for file in files if isinstance(file, SamplesFile))
    paths = (*results, *samples)
    first = paths[0]
    several = not results and len(samples) > 1
    name = first
    if several:
        name = first.with_name(f"samples_*_{files[0].stamp}.jsonl")
    return SourceFiles(str(name), first.parent, paths)


def _candidate(path: Path) -> Candidate:
    with path.open("rb") as handle:
        return Candidate(path, handle.read(HEAD_BYTES), path.stat().st_size)


_STAMP = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
_SAMPLES_NAME = re.compile(rf"samples_(.+)_({_STAMP})\.jsonl?(?:\.gz)?", re.DOTALL)
_RESULTS_NAME = re.compile(rf".*_({_STAMP})\.json(?:\.gz)?", re.DOTALL)
# 20260102_030405_results.json   of lmms-eval, whose files have the same keys and mean
# something else
_STAMP_FIRST = re.compile(r"\d{8}_\d{6}_(?:results\.json|samples_)")

# "acc,none": 0.5   the key that names a metric and a filter, which no other tool writes
_METRIC_AND_FILTER = re.compile(
    r'"[^"\\\n]+,[^"\\\n]+"\s*:\s*(?:-?[\d.]|"N/A"|NaN|-?Infinity|null)'
)
_RESULTS_KEY = re.compile(r'"(?:results|groups)"\s*:\s*\{')
# pretrained__org__tiny,dtype__float16_arc   a name before 0.4.3, when the last run's
# results.json replaced the others'
_OF_ARGUMENTS = re.compile(rf"(?:{'|'.join(NAMING)})_")
_ROW_START = re.compile(r"(?:\[\s*)?\{")
_ROW_KEYS = ('"doc_id":', '"doc":')
_RESPONSE_KEY = re.compile(r'"(?:target|arguments|resps|filtered_resps)"\s*:')
_LONG_HEAD = 60_000  # characters; a document of this length hides the keys after it


@dataclass(frozen=True)
class SamplesFile:
    """A file of sample rows. ``stamp`` and ``task`` are empty where its name does not
    say."""

    path: Path
    task: str = ""
    stamp: str = ""


@dataclass(frozen=True)
class ResultsFile:
    """A file of aggregates. ``stamp`` is empty where its name does not say."""

    path: Path
    stamp: str = ""


def recognise(candidate: Candidate) -> SamplesFile | ResultsFile | None:
    """The kind of a file, by its name and first bytes; ``None``: none of ours (>=
    0.4)."""
    name = candidate.path.name
    if _STAMP_FIRST.match(name):
        return None
    named = _SAMPLES_NAME.fullmatch(name)
    head = unpacked_head(candidate)
    if named and (looks_like_samples(head) or not head.startswith(("{", "["))):
        # also what is not JSON at all: an empty file, a pointer or damage deserves its
        # message
        return SamplesFile(candidate.path, named[1], named[2])
    if looks_like_results(head):
        stamped = _RESULTS_NAME.fullmatch(name)
        stamp = ""
        if stamped:
            stamp = stamped[1]
        return ResultsFile(candidate.path, stamp)
    if looks_like_samples(head):
        return SamplesFile(candidate.path)
    return None


def looks_like_samples(head: str) -> bool:
    """True if a file begins with a sample row of 0.4 or later."""
    keyed = head.replace('" :', '":')
    return (
        _ROW_START.match(head) is not None
        and all(key in keyed for key in _ROW_KEYS)
        and (_RESPONSE_KEY.search(head) is not None or len(head) >= _LONG_HEAD)
    )


def looks_like_results(head: str) -> bool:
    """True if a file begins with aggregates of 0.4 or later; samples may follow
    them."""
    before = head.partition(_ROW_KEYS[0])[0]
    return (
        before.startswith("{")
        and bool(_RESULTS_KEY.search(before))
        and bool(_METRIC_AND_FILTER.search(before))
    )


def task_of_old_name(path: Path, tasks: Iterable[str]) -> str:
    """Task in ``<model_args>_<task>.jsonl`` (0.4.0-0.4.2): the longest that ends the
    name."""
    stem = path.name.split(".json")[0]
    fitting = [task for task in tasks if stem == task or stem.endswith(f"_{task}")]
    return max(fitting, key=len, default="")


def old_sample_names(results: Any) -> set[str]:
    """Stems of the sample files that 0.4.0-0.4.2 writes beside a results file."""
    arguments = mapping_of(results, "config").get("model_args")
    return {_plain(f"{arguments}_{task}") for task in mapping_of(results, "configs")}


def _plain(name: str) -> str:
    """A name as it is compared: versions differ in the characters that they replace."""
    return re.sub(r"\W+|_+", "_", name)
