"""Changes of one table of a lake: each is a commit that fails where another process was quicker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import StoreError
from warehouse.store.lake.contents import schema_of
from warehouse.store.lake.location import LakeLocation
from warehouse.store.lake.versions import KEEPING, TableVersion

#: Units that one statement of deletion names.
_AT_ONCE = 5_000


class TableWriter:
    """Writes one table, beginning at the version that the lake's names.

    What stands in the table beyond that version was never visible: a sync that did not finish left
    it. It is taken back first, so that every version is made from the one that readers see.
    """

    def __init__(self, lake: LakeLocation, name: str, base: TableVersion | None, *, aside: bool = False) -> None:
        """Looks at the table, and changes nothing.

        Args:
            base: its version that readers see; ``None``: they see none.
            aside: put a table that cannot be read aside, where it is in a folder, and begin afresh.
        """
        self.lake, self.name, self.base = lake, name, base
        self.n_rows = base.n_rows if base else 0
        self._begun = False
        try:
            self._table = lake.table(name)
        except StoreError:
            if not aside or lake.is_remote:
                raise
            self._put_aside()
            self._table = None

    def version(self, digest: str = "") -> TableVersion:
        """What was written."""
        return TableVersion(self._table.version(), self.n_rows, digest)

    def overwrite(self, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Put rows in place of all that are there."""
        self.n_rows = 0
        if self._table is None:
            self._write(self._counted(rows), mode="error", configuration=KEEPING)
            self._table = self.lake.require(self.name)
        else:
            self._write(self._counted(rows), mode="overwrite", schema_mode="overwrite")

    def append(self, rows: pa.RecordBatchReader) -> None:
        """Add rows."""
        self._take_back()
        self._write(self._counted(rows), mode="append")

    def delete(self, unit: str, units: Sequence[int]) -> None:
        """Remove the rows of some units."""
        self._take_back()
        for start in range(0, len(units), _AT_ONCE):
            listed = ", ".join(map(str, units[start : start + _AT_ONCE]))
            with self.lake.speaking(self.name):
                metrics = self._table.delete(f"{unit} in ({listed})", commit_properties=self._once())
            self.n_rows -= int(metrics["num_deleted_rows"])

    def _take_back(self) -> None:
        """See, before the first change, that the table is what readers see of it."""
        if self._begun:
            return
        assert self.base is not None
        if self._table is None or self._table.version() < self.base.version:
            self.lake.require(self.name, self.base.version)  # says what is wrong
        if self._table.version() > self.base.version:
            with self.lake.speaking(self.name):
                self._table.restore(self.base.version, commit_properties=self._once())
        self._begun = True

    def _write(self, rows: pa.RecordBatchReader, **options: Any) -> None:
        target = self.lake.uri(self.name) if self._table is None else self._table
        packed = self.lake.package.WriterProperties(compression="ZSTD")
        with self.lake.speaking(self.name):
            self.lake.package.write_deltalake(
                target, rows, commit_properties=self._once(), writer_properties=packed, **options
            )

    def _once(self) -> Any:
        return self.lake.package.CommitProperties(max_commit_retries=0)

    def _counted(self, rows: pa.Table | pa.RecordBatchReader) -> pa.RecordBatchReader:
        batches = rows.to_batches() if isinstance(rows, pa.Table) else rows

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                self.n_rows += batch.num_rows
                yield batch

        return pa.RecordBatchReader.from_batches(schema_of(self.name), counted())

    def _put_aside(self) -> None:
        folder = Path(self.lake.uri(self.name))
        free = next(
            path for number in count(1) if not (path := folder.with_name(f"{self.name}.damaged-{number}")).exists()
        )
        with self.lake.speaking(self.name):
            shutil.move(folder, free)
