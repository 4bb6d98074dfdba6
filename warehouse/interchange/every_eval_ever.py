"""The current runs as a folder of Every Eval Ever (schema 0.3.0): one evaluation for each run.

What the format has no field for (draws, statuses, weights, likelihoods, the condition) is kept as
JSON text among the details that it leaves free, so that an import gives the same runs again.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.export import require_free
from warehouse.files.whole_file import draft_beside, in_place_of, replace_file
from warehouse.interchange.every_eval_ever_results import aggregate
from warehouse.interchange.every_eval_ever_rows import lines_of
from warehouse.interchange.every_eval_ever_run import Run, runs_of
from warehouse.store.connection import Store

SCHEMA_VERSION = "0.3.0"

#: Says what the folder is; hidden, since it is no evaluation.
MANIFEST = ".eval-warehouse.json"

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True)
class EveryEvalEverReport:
    """What was written.

    Attributes:
        folder: where.
        n_runs: evaluations, one for each run.
        n_rows: lines of samples.
        n_unscored: lines of samples without a score, which the format has no form for; they are
            beside the samples, in files ending in ``_unscored.ndjson``.
        left_out: runs of which no figure can be given, with the reason.
    """

    folder: Path
    n_runs: int
    n_rows: int
    n_unscored: int
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.n_runs} evaluations, {self.n_rows} sample rows, {self.n_unscored} without a score in {self.folder}"
        )


def export(
    store: Store,
    folder: Path,
    *,
    now: float,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _name: None,
) -> EveryEvalEverReport:
    """Write ``data/BENCHMARK/DEVELOPER/MODEL/UUID.json`` and its samples for each current run.

    The folder is complete or not there at all. Names of files follow from what was measured: the
    same runs give the same names.

    Args:
        store: an open store.
        folder: where to; must not exist or be empty.
        now: time of the export, in Unix seconds.
        overwrite: replace an earlier export that lies there.
        progress: told each file's name before it is written.

    Raises:
        MisuseError: the folder holds something already, or there is no run to write.
    """
    folder = require_free(folder, overwrite, MANIFEST)
    partial = draft_beside(folder)
    with in_place_of(folder, partial):
        report = _write_all(store, folder, partial, now, progress)
        files = sorted(path.relative_to(partial).as_posix() for path in partial.rglob("*") if path.is_file())
        manifest = {"format": f"every-eval-ever {SCHEMA_VERSION}", "runs": report.n_runs, "rows": files}
        replace_file(partial / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    return report


def _write_all(
    store: Store, folder: Path, partial: Path, now: float, progress: Callable[[str], None]
) -> EveryEvalEverReport:
    rows, unscored, written = 0, 0, 0
    left_out: list[str] = []
    for run in runs_of(store):
        where = Path("data") / _place(run)
        document = aggregate(store, run, now)
        if not document["evaluation_results"]:
            left_out.append(f"{run.header['model']} on {run.header['benchmark']}: no figure")
            continue
        progress(f"{where}.json")
        target = partial / where
        target.parent.mkdir(parents=True, exist_ok=True)
        samples = target.with_name(f"{target.name}_samples.jsonl")
        apart = target.with_name(f"{target.name}_unscored.ndjson")
        counts = [
            _write(lines_of(store, run, document["evaluation_id"], scored), path)
            for scored, path in ((True, samples), (False, apart))
        ]
        if counts[0]:
            with samples.open("rb") as file:
                checksum = hashlib.file_digest(file, "sha256").hexdigest()
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{where.as_posix()}_samples.jsonl",
                "hash_algorithm": "sha256",
                "total_rows": counts[0],
                "checksum": checksum,
            }
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        replace_file(target.with_name(f"{target.name}.json"), f"{text}\n".encode())
        rows, unscored, written = rows + counts[0], unscored + counts[1], written + 1
    if not written:
        raise MisuseError("the store has no run with a figure: there is nothing to export")
    return EveryEvalEverReport(folder, written, rows, unscored, tuple(left_out))


def _place(run: Run) -> Path:
    """Collection, developer, model and file name of a run."""
    developer, _, model = run.model_id.partition("/")
    parts = [_safe(part) for part in (str(run.header["benchmark"]), developer, model)]
    digest = hashlib.sha256(f"{run.condition_key} {run.content_digest}".encode()).digest()
    return Path(*parts) / str(uuid.UUID(bytes=digest[:16], version=4))


def _safe(name: str) -> str:
    cleaned = _UNSAFE.sub("_", name).strip(".")
    return cleaned[:100] or "unknown"


def _write(lines: Iterator[dict[str, Any]], path: Path) -> int:
    """Write lines; no file where there are none."""
    count = 0
    with path.open("w", encoding="utf-8") as handle:
        for line in lines:
            handle.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count
