"""A file of lighteval's details: one row for each document of one task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common.streams import damaged_parquet
from warehouse.records import Candidate
from warehouse.records.hashing import sha256_of

READ_ROWS = 200
#: What a file may unpack to: more than any real one, less than what stops a machine.
LARGEST = 64 << 30
#: Columns that no field of the store takes, and that can be larger than everything else.
UNREAD = ("model_response.logits", "doc.fewshot_samples", "pred_logits", "prediction_logits")

_NAME = re.compile(r"details_(.+)_(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)\.parquet", re.DOTALL)
_STAMP = re.compile(r"_(\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)\.(?:json|parquet)$")

Row = dict[str, Any]

#: What reading a damaged file ends with.
_FAULTS = (pa.ArrowException, OSError, ValueError, MemoryError)


def is_details(candidate: Candidate) -> bool:
    """Whether a file is named as details are."""
    return _NAME.fullmatch(candidate.path.name) is not None


def stamp_of(path: Path) -> str:
    """The time stamp in a file's name: what joins details and results."""
    match = _STAMP.search(path.name)
    return match[1] if match else ""


def safe_name(task: str) -> str:
    """A task's name as copies of the files have it.

    >>> safe_name("leaderboard|mmlu:anatomy|5")
    'leaderboard__mmlu__anatomy__5'
    """
    return re.sub(r"[|:]", "__", task)


class Details:
    """A file of details.

    Args:
        path: the file.
        tasks: names of tasks that the results file knows.

    Raises:
        InputError: no Parquet file, or not one of lighteval's.
    """

    def __init__(self, path: Path, tasks: Sequence[str] = ()) -> None:
        self.path, self._tasks = path, tasks
        names = set(self.schema.names)
        if not ({"doc", "metric", "model_response"} <= names or {"metrics", "example"} <= names):
            raise InputError(
                f"columns {', '.join(sorted(names))[:200]}",
                path=str(path),
                expected="doc, metric, model_response, or example, metrics, predictions",
            )
        for name in ("doc", "model_response") if self.is_nested else ():
            kind = self.schema.field(name).type
            if not pa.types.is_struct(kind):
                raise InputError(f"column '{name}' holds {kind}", path=str(path), expected="structures")

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of the file."""
        with self._open() as file:
            return file.schema_arrow

    @property
    def is_nested(self) -> bool:
        """Whether it is of 0.11 or later."""
        return "doc" in self.schema.names

    @cached_property
    def first(self) -> Row:
        """The first row; empty where there is none."""
        return next(self.rows(), (0, {}))[1]

    @cached_property
    def task(self) -> str:
        """The task: as the rows say, else as the results file has it, else by the file's name."""
        stated = (self.first.get("doc") or {}).get("task_name") if self.is_nested else None
        if isinstance(stated, str) and stated:
            return stated
        named = _NAME.fullmatch(self.path.name)
        name = named[1] if named else self.path.stem
        fitting = [task for task in self._tasks if name in (task, safe_name(task))]
        return fitting[0] if fitting else re.sub(r"__(\d+)$", r"|\1", name)

    @cached_property
    def metrics(self) -> dict[str, pa.DataType]:
        """Type of each metric's values."""
        kind = self.schema.field("metric" if self.is_nested else "metrics").type
        return {field.name: field.type for field in kind} if pa.types.is_struct(kind) else {}

    def rows(self) -> Iterator[tuple[int, Row]]:
        """All rows with their 0-based numbers.

        Raises:
            InputError: the file is damaged.
        """
        place = 0
        try:
            with self._open() as file:
                wanted = [
                    name
                    for name in _leaves(file.schema_arrow)
                    if not any(name == item or name.startswith(f"{item}.") for item in UNREAD)
                ]
                for batch in file.iter_batches(READ_ROWS, columns=wanted):
                    batch.validate(full=True)
                    for row in batch.to_pylist():
                        yield place, plain(row)
                        place += 1
        except _FAULTS as error:
            raise damaged_parquet(str(self.path), error) from None

    def _open(self) -> Any:
        try:
            file = pq.ParquetFile(self.path)
        except _FAULTS as error:
            raise damaged_parquet(str(self.path), error) from None
        sizes = (file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
        size = sum(max(size, 0) for size in sizes)
        if size > LARGEST:
            raise InputError(f"unpacks to {size} bytes", path=str(self.path), expected=f"at most {LARGEST}")
        return file


def plain(value: Any) -> Any:
    """A value with bytes (images) as their hashes."""
    if isinstance(value, bytes):
        return f"sha256:{sha256_of(value)}"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], (dict, list, bytes)):
        return [plain(item) for item in value]
    return value


def _leaves(schema: pa.Schema) -> list[str]:
    """Columns, those of the outer structs one by one."""
    leaves = []
    for column in schema:
        inner = column.type if pa.types.is_struct(column.type) else ()
        leaves += [f"{column.name}.{part.name}" for part in inner] or [column.name]
    return leaves
