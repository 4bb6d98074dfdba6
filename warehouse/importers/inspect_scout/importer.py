"""Importer of scans of Inspect Scout: the folder ``scan_id=…`` with a Parquet file for
each scanner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    as_text,
    mapping_of,
    number_or_none,
    object_of,
    part_of,
    text_or_none,
    without_empty,
)
from warehouse.importers.common.jsonl import RowSource, has_keys, head_of, read_document
from warehouse.importers.common.run_settings import without_what_does_not_count
from warehouse.importers.common.streams import open_parquet
from warehouse.importers.inspect_scout.values import (
    LONGEST,
    LONGEST_ID,
    Value,
    failed_value,
    parsed_value,
    whole_text,
)
from warehouse.records import (
    SCAN_SCHEMA,
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    Rejection,
    Scan,
    SourceFiles,
    place_of,
)
from warehouse.records.canonical_json import canonical_digest

READ_ROWS, BATCH_ROWS = 1_000, 5_000
#: What the columns that are read may unpack to; and the most keys of objects that are
#: metrics.
LARGEST, MOST_KEYS = 16 << 30, 100
#: Unit of what a scanner counts: the things that it found.
ITEMS = "items"

#: Columns that a file must have; the last two of a row are names of 0.1.
_NEEDED = ("transcript_id", "value", "value_type")
_OF_ROWS = (
    *_NEEDED,
    *("transcript_source_id", "transcript_task_id", "transcript_task_repeat"),
    *("label", "scan_error", "scan_error_type", "timestamp"),
    *("id", "epoch"),
)
#: Columns that say which metrics there are, and that are the same in all rows.
_OF_METRICS = (
    "value",
    "value_type",
    "input_type",
    "scan_total_tokens",
    "scan_model_usage",
)
_OF_SCANNER = ("scanner_key", "scanner_name", "scanner_version", "scanner_params")
_READ = {*_OF_ROWS, *_OF_METRICS, *_OF_SCANNER}

Row = Mapping[str, Any]


def _settings_of_model(spec: Row) -> dict[str, Any]:
    """How the model was asked that scans: its settings of generation and its arguments,
    without those of requests."""
    model = mapping_of(spec, "model")
    parts = {name: mapping_of(model, name) for name in ("config", "args")}
    counted = without_what_does_not_count("inspect_scout", {"model": parts})
    return without_empty(
        {name: without_empty(part) for name, part in counted["model"].items()}
    )


class Failures:
    """Errors of the last attempt, by scanner and generation: those that a file of
    values lacks are added to it."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._by_scanner: dict[str, dict[str, Value]] = defaultdict(dict)
        for row in rows:
            scanner = text_or_none(row.get("scanner"))
            uuid = text_or_none(row.get("transcript_id"))
            if scanner and uuid and len(uuid) <= LONGEST_ID:
                self._by_scanner[scanner][uuid] = failed_value(
                    row.get("error"), row.get("refusal") is True
                )

    def of(self, scanner: str) -> dict[str, Value]:
        """Why a scanner failed, by generation."""
        return self._by_scanner.get(scanner, {})


class Scanner:
    """One file of values (InputError: it cannot be read, or holds no values of a
    scanner).

    Args:
        spec: ``_scan.json``, which says what was asked of the scanner.
        notes: told what is odd.
    """

    def __init__(self, path: Path, spec: Row, notes: list[str]) -> None:
        self.path = path
        with self._open() as file:
            self._columns = file.schema_arrow.names
        lacking = [name for name in _NEEDED if name not in self._columns]
        if lacking:
            raise InputError(
                f"no column {lacking[0]}", path=str(path), expected=", ".join(_NEEDED)
            )
        first = next(self._rows(("value_type", *_OF_SCANNER)), {})
        self.key = text_or_none(first.get("scanner_key")) or path.stem
        self.n_rows = self.n_failed = 0
        self._survey(notes)
        self.metrics = self._specs(first, spec)
        self._sums = [(0, 0.0)] * len(self.metrics)

    def _survey(self, notes: list[str]) -> None:
        """Which metrics there are (keys of objects, and the value itself), and which
        models judged."""
        keys: dict[str, None] = {}
        kinds: set[str | None] = set()
        inputs: set[str] = set()
        judges: set[str] = set()
        tokens = 0
        for row in self._rows(_OF_METRICS):
            kind = text_or_none(row.get("value_type"))
            kinds.add(kind)
            inputs.add(text_or_none(row.get("input_type")) or "")
            if kind == "object":
                keys |= dict.fromkeys(_object(row.get("value")))
            judges |= set(map(str, _object(row.get("scan_model_usage"))))
            tokens += int(number_or_none(row.get("scan_total_tokens")) or 0)
        for part in sorted(inputs & {"message", "event"}):
            score = "their mean"
            if "resultset" in kinds:
                score = "what was found in all"
            notes.append(
                f"{self.key} looked at each {part}: {score} is the score of a "
                "generation"
            )
        if len(keys) > MOST_KEYS:
            notes.append(
                f"{self.key}: objects of {len(keys)} different keys are kept as texts, "
                "unscored"
            )
            keys = {}
        self._keys, self._judges, self._is_judged = (
            list(keys),
            sorted(judges),
            bool(judges or tokens > 0),
        )
        self._is_list = "resultset" in kinds
        self._has_plain = not keys or bool(kinds - {"object", "null", None})

    def _specs(self, first: Row, spec: Row) -> tuple[MetricSpec, ...]:
        own = mapping_of(spec, "scanners", self.key)
        name = (
            text_or_none(own.get("name"))
            or text_or_none(first.get("scanner_name"))
            or self.key
        )
        version = own.get("version", first.get("scanner_version"))
        params = without_empty(
            part_of(own, "params") or _object(first.get("scanner_params"))
        )
        main = text_or_none(mapping_of(spec, "model").get("model"))
        asked = _settings_of_model(spec) if self._is_judged else {}
        judge = (
            main
            if main and (main in self._judges or not self._judges)
            else "+".join(self._judges)
        )
        settings = [
            f"v{as_text(version)}" if version else "",
            (judge or "a model") if self._is_judged else "",
            canonical_digest({**params, **asked})[:8] if params or asked else "",
        ]
        plain = MetricSpec(
            self.key,
            filter=" ".join(["scan", *filter(None, settings)]),
            scorer=self.key,
            scorer_kind="model" if self._is_judged else "match",
            judge_model=(judge or "") if self._is_judged else "",
            scorer_parameters={
                "scanner": name,
                "version": version,
                **without_empty({"params": params}),
                **asked,
            },
            unit=ITEMS if self._is_list else "",
        )
        of_keys = (
            MetricSpec(**{**vars(plain), "name": f"{self.key}.{key}", "unit": ""})
            for key in self._keys
        )
        return (*((plain,) if self._has_plain else ()), *of_keys)

    # rows

    def batches(
        self,
        first: int,
        failures: Mapping[str, Value],
        started: datetime | None,
        rejections: list[Rejection],
    ) -> Iterator[pa.RecordBatch]:
        """All values, of metrics that are counted from ``first`` on.

        Args:
            failures: of this scanner; those of generations that the file has rows of
                are known from there.
            started: when the scan began.
            rejections: told which rows are left out.
        """
        left = dict(failures)
        found: list[tuple[Any, ...]] = []
        for row in self._rows(_OF_ROWS):
            self.n_rows += 1
            uuid, location = _names(row)
            if (uuid or location) is None:
                names = f"transcript_id {str(row.get('transcript_id'))[:100]!r}"
                rejections.append(
                    Rejection(
                        f"{self.path.name}, row {self.n_rows}",
                        names,
                        "the id of a transcript",
                    )
                )
                continue
            left.pop(uuid or "", None)
            when = moment(row.get("timestamp")) or started
            for metric, position, label, value in self._values(row):
                found.append(
                    (first + metric, uuid, location, position, label, *value, when)
                )
            if len(found) >= BATCH_ROWS:
                yield _batch(found)
                found = []
        for uuid, value in left.items():
            self.n_rows += 1
            self.n_failed += 1
            found += [
                (first + metric, uuid, None, 0, None, *value, started)
                for metric in range(len(self.metrics))
            ]
        if found:
            yield _batch(found)

    def _values(self, row: Row) -> Iterator[tuple[int, int, str | None, Value]]:
        """(metric, position, label, value) of a row; 0 is the position of what counts
        as the score."""
        kind = row.get("value_type")
        content = row.get("value")
        label = text_or_none(row.get("label"))
        error = row.get("scan_error")
        if error or content is None:
            self.n_failed += bool(error)
            refused = row.get("scan_error_type") == "refusal"
            if error:
                value = failed_value(error, refused)
            else:
                value = Value(None, None, "no_answer")
            yield from (
                (metric, 0, label, value) for metric in range(len(self.metrics))
            )
            return
        if kind == "object" and self._keys:
            members = _object(content)
            for metric, key in enumerate(self._keys, int(self._has_plain)):
                value = _of_json(members.get(key))
                self._count(metric, value)
                yield metric, 0, label, value
            return
        items = None
        if kind == "resultset":
            items = parsed_value(content)
        if isinstance(items, list):
            yield from self._found(items, label)
            return
        value = _cast(content, kind)
        self._count(0, value)
        yield 0, 0, label, value

    def _found(
        self, items: Sequence[Any], label: str | None
    ) -> Iterator[tuple[int, int, str | None, Value]]:
        """How many things a scanner found, and these; none is a finding too."""
        count = Value(float(len(items)), None, "scored")
        self._count(0, count)
        yield 0, 0, label, count
        for position, item in enumerate(items, 1):
            if isinstance(item, dict):
                own = item
            else:
                own = {"value": item}
            yield (
                0,
                position,
                text_or_none(own.get("label")),
                _of_json(own.get("value")),
            )

    def _count(self, metric: int, value: Value) -> None:
        if value.number is not None:
            n, total = self._sums[metric]
            self._sums[metric] = (n + 1, total + value.number)

    def published(self, metrics: Row) -> Iterator[tuple[str, float, float, int]]:
        """(metric, published mean, mean of the values, their number) of the means that
        a summary states."""
        named = {
            spec.name: sums for spec, sums in zip(self.metrics, self._sums, strict=True)
        }
        for name in metrics:
            if name in named:
                metric = name
            else:
                metric = f"{self.key}.{name}"
            mean = number_or_none(part_of(metrics, name).get("mean"))
            n, total = named.get(metric, (0, 0.0))
            if mean is not None and n:
                yield metric, mean, total / n, n

    # the file

    def _rows(self, requested: Iterable[str]) -> Iterator[Row]:
        """All rows with some columns; what else there is may be as large as the log."""
        names = [name for name in requested if name in self._columns]
        with self._open() as file:
            for batch in file.iter_batches(READ_ROWS, columns=names):
                batch.validate(full=True)
                yield from batch.to_pylist()

    def _open(self) -> AbstractContextManager[Any]:
        return open_parquet(self.path, LARGEST, _READ.__contains__)


def _names(row: Row) -> tuple[str | None, str | None]:
    """The id of a generation, and what names it where its log has none."""
    source = text_or_none(row.get("transcript_source_id"))
    if "transcript_task_id" in row:
        sample = row.get("transcript_task_id")
    else:
        sample = row.get("id")
    if "transcript_task_repeat" in row:
        epoch = row.get("transcript_task_repeat")
    else:
        epoch = row.get("epoch")
    uuid = text_or_none(row.get("transcript_id"))
    location = None
    if source and sample is not None and epoch is not None:
        location = place_of(source, sample, epoch)
    names = [
        name if name and len(name) <= LONGEST_ID else None for name in (uuid, location)
    ]
    return names[0], names[1]


def _cast(content: Any, kind: Any) -> Value:
    """A value written as text, read by the type written next to it."""
    if kind == "boolean" and str(content).lower() in ("true", "false"):
        return Value(float(str(content).lower() == "true"), None, "scored")
    if kind == "number" and (number := _number(content)) is not None:
        return Value(number, None, "scored")
    return Value(None, whole_text(content)[:LONGEST], "not_scalar")


def _number(content: Any) -> float | None:
    """A number in JSON's spelling, of a size that every engine can calculate with."""
    number = number_or_none(
        parsed_value(content) if isinstance(content, str) else content
    )
    if number is not None and abs(number) < 1e140:
        return number
    return None


def _of_json(content: Any) -> Value:
    """A value inside an object or list."""
    if content is None:
        return Value(None, None, "no_answer")
    if isinstance(content, str):
        number = None
    else:
        number = _number(content)
    if number is not None:
        return Value(number, None, "scored")
    return Value(None, as_text(content)[:LONGEST], "not_scalar")


def _object(text: Any) -> dict[str, Any]:
    value = parsed_value(text)
    return object_of(value)


def _batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.record_batch(
        [
            pa.array(values, field.type)
            for values, field in zip(columns, SCAN_SCHEMA, strict=True)
        ],
        schema=SCAN_SCHEMA,
    )


SPEC, SUMMARY, ERRORS = "_scan.json", "_summary.json", "_errors.jsonl"
FOLDER = "scan_id="


class InspectScout:
    """A scan. Its values belong to generations of runs which logs of Inspect bring,
    before or after it."""

    name = "inspect_scout"
    version = "2"  # 2: how the model was asked that scans
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each folder of a scan is a source; one by its name alone, so that what it
        lacks is reported."""
        folders = {item.path.parent for item in candidates if _is_spec(item)}
        folders |= {
            item.path.parent
            for item in candidates
            if item.path.parent.name.startswith(FOLDER)
        }
        for folder in sorted(folders):
            files = [
                item.path
                for item in candidates
                if item.path.parent == folder and _is_part(item.path)
            ]
            if files:
                yield SourceFiles(str(folder), folder, tuple(sorted(files)))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one scan (InputError: it lacks what says which scan it is, holds no
        values, or a file is damaged)."""
        files = {path.name: path for path in source.files}
        if SPEC not in files:
            raise InputError(
                f"no {SPEC} beside {source.files[0].name}",
                path=source.name,
                expected="the whole folder of a scan",
                advice=f"give the folder {FOLDER}…, with all its files",
            )
        spec = read_document(files[SPEC])
        scan_id = text_or_none(spec.get("scan_id"))
        if scan_id is None:
            raise InputError(
                "no scan_id", path=str(files[SPEC]), expected="a scan of Inspect Scout"
            )
        summary = read_document(files[SUMMARY]) if SUMMARY in files else {}
        dump = Dump((), ())
        failures = (
            Failures(_errors(files[ERRORS], dump)) if ERRORS in files else Failures(())
        )
        scanners = [
            Scanner(path, spec, dump.notes)
            for path in source.files
            if path.suffix == ".parquet"
        ]
        if not scanners:
            raise InputError(
                "holds no values",
                path=source.name,
                expected="a Parquet file for each scanner",
                advice=(
                    "a scan that still runs keeps them elsewhere: ingest it when it "
                    "has ended"
                ),
            )
        metrics = tuple(chain.from_iterable(scanner.metrics for scanner in scanners))
        dump.scan = Scan(
            scan_id, metrics, _batches(scanners, failures, spec, summary, dump)
        )
        return dump


IMPORTER = InspectScout()


def _is_spec(candidate: Candidate) -> bool:
    head = ""
    if candidate.path.name == SPEC:
        head = head_of(candidate)
    return head.startswith("{") and has_keys(head, "scan_id")


def _is_part(path: Path) -> bool:
    return path.name in (SPEC, SUMMARY, ERRORS) or path.suffix == ".parquet"


def _errors(path: Path, dump: Dump) -> Iterator[dict[str, Any]]:
    """The lines of the errors of the last attempt; there is no line where nothing
    failed."""
    if path.stat().st_size:
        yield from (
            row
            for _, row in RowSource(
                path, ERRORS, (), dump.rejections, dump.notes
            ).numbered()
        )


def _batches(
    scanners: Sequence[Scanner],
    failures: Failures,
    spec: Mapping[str, Any],
    summary: Mapping[str, Any],
    dump: Dump,
) -> Iterator[pa.RecordBatch]:
    started = moment(spec.get("timestamp"))
    first = 0
    for scanner in scanners:
        yield from scanner.batches(
            first, failures.of(scanner.key), started, dump.rejections
        )
        first += len(scanner.metrics)
    dump.notes += _notes(scanners, spec, summary)


def _notes(
    scanners: Sequence[Scanner], spec: Mapping[str, Any], summary: Mapping[str, Any]
) -> Iterator[str]:
    """Notes on what is not as it should be, and the published means against those of
    the values."""
    lacking = sorted(
        part_of(spec, "scanners").keys() - {scanner.key for scanner in scanners}
    )
    if summary.get("complete") is False or lacking:
        failed = [
            f"{item.n_failed} of {item.n_rows} of {item.key} failed"
            for item in scanners
            if item.n_failed
        ]
        no_file = [f"no values of {name}" for name in lacking[:10]]
        yield (
            "the scan is not complete: "
            f"{', '.join(failed + no_file) or 'its summary says so'}"
        )
    agree, n_values = [], 0
    for scanner in scanners:
        published_metrics = mapping_of(summary, "scanners", scanner.key, "metrics")
        for name, published, found, n in scanner.published(published_metrics):
            if abs(published - found) <= 1e-9 * max(abs(published), abs(found)):
                agree.append(name)
                n_values = max(n_values, n)
            else:
                yield (
                    f"{name}: a mean of {published:.6g} is published, its {n} values "
                    f"have {found:.6g}"
                )
    if agree:
        yield (
            f"published means over all {n_values} generations together agree: "
            f"{', '.join(agree[:10])}"
        )
