"""A dump as importers yield it, the files that it is read from, and what the user said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from warehouse.records.run_header import PublishedScore, RunHeader

#: How a rejection begins where the file ends inside the row.
CUT_SHORT = "the file ends inside this row: "


@dataclass(frozen=True)
class Rejection:
    """One row that could not be taken: where, what stood there, what was expected."""

    place: str
    found: str
    expected: str

    @property
    def is_cut(self) -> bool:
        """Whether the file ends inside this row: what should follow is lacking too."""
        return self.found.startswith(CUT_SHORT)


@dataclass(frozen=True)
class BulkQuery:
    """A query over files that yields the columns of :data:`SAMPLE_SCHEMA`.

    Args:
        sql: a SELECT with ``$name`` parameters. Columns are matched by name. ``scores`` and
            ``choice_scores`` are lists of structs with the fields of the schema (any order).
        parameters: values of the parameters; paths go here, escaped by :func:`literal_path`.
        fallback: called when the query fails; yields the same rows one file at a time, and
            records each bad row in ``Dump.rejections`` with its line.
    """

    sql: str
    parameters: Mapping[str, Any]
    fallback: Callable[[], Iterable[pa.RecordBatch]]


Batch: TypeAlias = pa.RecordBatch | BulkQuery


@dataclass(frozen=True)
class SameContent:
    """What rows of one run are that hold the same content, in a dump whose own ids do not settle it.

    Attributes:
        are_draws: of one prompt, in their order; else prompts of their own, told apart by ids or by place.
        belong_together: rows may be about one prompt, of other variants, draws or metrics.
        by_metric: each row holds a metric of its own.
        by_id: ids tell them apart.
        key: how a mapping says that they are draws of one prompt.
    """

    are_draws: bool
    belong_together: bool = False
    by_metric: bool = False
    by_id: bool = False
    key: str = ""


@dataclass
class Dump:
    """What an importer makes of one source. ``rejections`` and ``notes`` grow while reading.

    ``close`` lets go of what is held open for the batches, where they are not read.
    """

    runs: tuple[RunHeader, ...]
    batches: Iterable[Batch]
    published: tuple[PublishedScore, ...] = ()  # figures of groups, which belong to no run
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    close: Callable[[], None] = lambda: None
    same_content: SameContent | None = None  # where the importer does not know


@dataclass(frozen=True)
class Candidate:
    """A file offered to the importers: its path, first bytes (up to 64 KiB) and size in bytes."""

    path: Path
    head: bytes
    size: int


@dataclass(frozen=True)
class SourceFiles:
    """Files that form one source. ``name`` is what the ledger shows; ``root`` the folder it is
    relative to; ``files`` in a fixed order (they are hashed together)."""

    name: str
    root: Path
    files: tuple[Path, ...]


@dataclass(frozen=True)
class ImportSettings:
    """What the user said about the source.

    ``values`` overrides header fields (``--set field=value``, already of the field's type);
    ``defaults`` fills those that the dump leaves empty (``--default field=value``);
    ``mapping`` is the parsed mapping file of the tabular importer; ``mapping_path`` names it.
    ``higher_is_better`` is the direction of metrics of which the source says none.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    mapping: Mapping[str, Any] | None = None
    mapping_path: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    higher_is_better: bool | None = None

    @property
    def stated(self) -> dict[str, Any]:
        """What the user said of a field in either way: what a dump need not say."""
        return {**self.defaults, **self.values}


def literal_path(path: Path | str) -> str:
    """The path with characters escaped that a file glob would take as wildcards."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
