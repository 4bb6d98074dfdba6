"""Importer of scans of Inspect Scout: the folder ``scan_id=…`` with a Parquet file for each scanner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import mapping_of, part_of, text_or_none
from warehouse.importers.common.jsonl import RowSource, has_keys, head_of, read_document
from warehouse.importers.inspect_scout.scanner import Failures, Scanner
from warehouse.records import Candidate, Dump, ImportSettings, Scan, SourceFiles

SPEC, SUMMARY, ERRORS = "_scan.json", "_summary.json", "_errors.jsonl"
FOLDER = "scan_id="


class InspectScout:
    """A scan. Its values belong to generations of runs which logs of Inspect bring, before or after it."""

    name = "inspect_scout"
    version = "1"
    folders = 0

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Each folder of a scan is a source; one by its name alone, so that what it lacks is reported."""
        folders = {item.path.parent for item in candidates if _is_spec(item)}
        folders |= {item.path.parent for item in candidates if item.path.parent.name.startswith(FOLDER)}
        for folder in sorted(folders):
            files = [item.path for item in candidates if item.path.parent == folder and _is_part(item.path)]
            if files:
                yield SourceFiles(str(folder), folder, tuple(sorted(files)))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one scan (InputError: it lacks what says which scan it is, holds no values, or a file is damaged)."""
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
            raise InputError("no scan_id", path=str(files[SPEC]), expected="a scan of Inspect Scout")
        summary = read_document(files[SUMMARY]) if SUMMARY in files else {}
        dump = Dump((), ())
        failures = Failures(_errors(files[ERRORS], dump)) if ERRORS in files else Failures(())
        scanners = [Scanner(path, spec, dump.notes) for path in source.files if path.suffix == ".parquet"]
        if not scanners:
            raise InputError(
                "holds no values",
                path=source.name,
                expected="a Parquet file for each scanner",
                advice="a scan that still runs keeps them elsewhere: ingest it when it has ended",
            )
        metrics = tuple(metric for scanner in scanners for metric in scanner.metrics)
        dump.scan = Scan(scan_id, metrics, _batches(scanners, failures, spec, summary, dump))
        return dump


IMPORTER = InspectScout()


def _is_spec(candidate: Candidate) -> bool:
    head = head_of(candidate) if candidate.path.name == SPEC else ""
    return head.startswith("{") and has_keys(head, "scan_id")


def _is_part(path: Path) -> bool:
    return path.name in (SPEC, SUMMARY, ERRORS) or path.suffix == ".parquet"


def _errors(path: Path, dump: Dump) -> Iterator[dict[str, Any]]:
    """The lines of the errors of the last attempt; there is no line where nothing failed."""
    if path.stat().st_size:
        yield from (row for _, row in RowSource(path, ERRORS, (), dump.rejections, dump.notes).numbered())


def _batches(
    scanners: Sequence[Scanner], failures: Failures, spec: Mapping[str, Any], summary: Mapping[str, Any], dump: Dump
) -> Iterator[pa.RecordBatch]:
    started, first = moment(spec.get("timestamp")), 0
    for scanner in scanners:
        yield from scanner.batches(first, failures.of(scanner.key), started, dump.rejections)
        first += len(scanner.metrics)
    dump.notes += _notes(scanners, spec, summary)


def _notes(scanners: Sequence[Scanner], spec: Mapping[str, Any], summary: Mapping[str, Any]) -> Iterator[str]:
    """What is not as it should be, and the published means against those of the values."""
    lacking = sorted(part_of(dict(spec), "scanners").keys() - {scanner.key for scanner in scanners})
    if summary.get("complete") is False or lacking:
        failed = [f"{item.n_failed} of {item.n_rows} of {item.key} failed" for item in scanners if item.n_failed]
        no_file = [f"no values of {name}" for name in lacking[:10]]
        yield f"the scan is not complete: {', '.join(failed + no_file) or 'its summary says so'}"
    agree, n_values = [], 0
    for scanner in scanners:
        published_metrics = mapping_of(summary, "scanners", scanner.key, "metrics")
        for name, published, found, n in scanner.published(published_metrics):
            if abs(published - found) <= 1e-9 * max(abs(published), abs(found)):
                agree.append(name)
                n_values = max(n_values, n)
            else:
                yield f"{name}: a mean of {published:.6g} is published, its {n} values have {found:.6g}"
    if agree:
        yield f"published means over all {n_values} generations together agree: {', '.join(agree[:10])}"
