"""The protocol of importers, and small helpers that importers share."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.records import (
    SAMPLE_SCHEMA,
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    SourceFiles,
)
from warehouse.records.dump import too_large

_STEP = re.compile(
    r"(?:^|[^a-z])(?:step|checkpoint|ckpt)[-_=]?(\d{1,18})(?!\d)", re.IGNORECASE
)


@runtime_checkable
class Importer(Protocol):
    """One dump format. An object of this shape, named by an entry point in the group
    ``warehouse.importers``, is all that a new format needs.

    ``name`` is what ``--format`` takes; ``version`` is stored with each source, and
    raising it makes unchanged files be read again.

    Same bytes in folders of other names may be another run: an importer that looks at
    the names of the folders above a source says at how many of them by an attribute
    ``folders`` (0 if at none); one that does not say so is taken to look at four. One
    whose rows the engine mostly reads by itself (:class:`~warehouse.records.BulkQuery`)
    says so by ``in_bulk = True``: more of its sources are loaded together. One that can
    tell which of several sources came later has ``in_time(sources)``, which gives them
    in that order: their names then decide nothing.
    """

    name: str
    version: str

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """Group the files that are of this format into sources.

        Args:
            candidates: all files of the walk that no earlier importer has claimed.

        Returns:
            the sources; files that are not named in any are left to the next importer.
        """

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one source.

        Raises:
            InputError: the source is not what it claims to be.
        """


def source_of(first: Path, *others: Path) -> SourceFiles:
    """A source that is called by its first file, in that file's folder."""
    return SourceFiles(str(first), first.parent, (first, *others))


#: What a task costs on average, as a tool publishes it [US dollars].
TASK_COST = MetricSpec(
    "cost",
    kind="continuous",
    low=0,
    higher_is_better=False,
    unit="USD",
    link="none",
    is_default=False,
)


def binary_metric(name: str, **more: Any) -> MetricSpec:
    """A metric of right and wrong."""
    return MetricSpec(name, kind="binary", low=0, high=1, higher_is_better=True, **more)


def batch_of(rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Rows (dictionaries with fields of the sample schema; missing ones are null) as a
    batch.

    Raises:
        InputError: a whole number that its column cannot hold.
    """
    try:
        return pa.RecordBatch.from_pylist(list(rows), schema=SAMPLE_SCHEMA)
    except (OverflowError, pa.ArrowInvalid):
        for row in rows:
            for field in SAMPLE_SCHEMA:
                number = too_large(row.get(field.name), field.type)
                if number is not None:
                    raise _beyond(
                        number, f"{field.name} of item {row.get('prompt_id')}"
                    ) from None
        raise


def require_utf8(head: bytes, name: str) -> None:
    """Refuse text in UTF-16, by its mark at the beginning.

    Raises:
        InputError: it is UTF-16.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(
            "text in UTF-16",
            path=name,
            expected="text in UTF-8",
            advice="save the file again as UTF-8",
        )


def _beyond(number: int, location: str) -> InputError:
    return InputError(
        f"{location} is {str(number)[:30]}",
        expected="a whole number that fits a column of the store",
        advice="repair it, or leave it out",
    )


def infer_step(*texts: str | Path | None) -> int | None:
    """Checkpoint step out of the first text that names one.

    >>> infer_step("main", "runs/model_x/step_400/results.json")
    400
    """
    for text in texts:
        steps = []
        if text is not None:
            steps = _STEP.findall(str(text))
        if steps:
            return int(steps[-1])
    return None
