"""Which files form which sources, and which importer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, NothingMatchesError
from warehouse.importers import importer as importer_named
from warehouse.importers import importers
from warehouse.importers.base import Importer
from warehouse.importers.common.file_walk import Unread, left_over, look_at, walk
from warehouse.importers.common.source_context import companions_of
from warehouse.records import Candidate, ImportSettings, SourceFiles
from warehouse.records.credentials import masked
from warehouse.store.load.state import LoadOptions

#: Why a file is not read under a mapping.
NOT_NAMED = "not among the files that the mapping names (files, exclude)"


@dataclass(frozen=True)
class _Job:
    """One source with the importer that claimed it."""

    importer: Importer
    files: SourceFiles

    @property
    def shown(self) -> str:
        """The name, as people are told it and the ledger keeps it: without keys that a
        folder or file is named by."""
        return masked(self.files.name)

    @property
    def size(self) -> int:
        """Bytes of the files that can be looked at."""
        return sum(map(_size_of, self.files.files))


def _size_of(path: Path) -> int:
    """Bytes of a file; 0 if it went or cannot be looked at, which whoever reads it will
    say."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


@dataclass(frozen=True)
class _DiscoveryPlan:
    """Everything that decides what sources become, besides their bytes."""

    settings: ImportSettings
    options: LoadOptions
    recorded: Mapping[str, Any] = field(default_factory=dict)
    may_rename: bool = False  # several models to one
    shown: Callable[[str], str] | None = (
        None  # a text with places of copies as the URLs that they are of
    )


def _plan(
    values: Mapping[str, Any],
    mapping: str | Path | None,
    options: LoadOptions,
    defaults: Mapping[str, Any],
    force: bool = False,
    higher_is_better: bool | None = None,
) -> _DiscoveryPlan:
    from warehouse.importers.tabular.importer import load_mapping
    from warehouse.importers.tabular.mapping_files import mapping_file

    parsed = None
    if mapping:
        parsed = load_mapping(mapping_file(mapping))
    fields = options.cluster_by
    settings = ImportSettings(
        dict(values),
        parsed,
        str(mapping or ""),
        dict(defaults),
        higher_is_better,
        fields,
    )
    recorded: dict[str, Any] = {
        "values": {key: str(value) for key, value in values.items()},
        "mapping": parsed,
        "text": options.text,
        "on_duplicate": options.on_duplicate,
    }
    if fields and parsed is None:  # of which a table that was read before lacks columns
        recorded["cluster_by"] = list(fields)
    if defaults:
        recorded["defaults"] = {key: str(value) for key, value in defaults.items()}
    # absent else: settings of older versions stay the same
    if higher_is_better is not None:
        recorded["higher_is_better"] = higher_is_better
    return _DiscoveryPlan(settings, options, recorded, force)


def _jobs(
    paths: Iterable[str | Path], format: str | None, settings: ImportSettings
) -> tuple[list[_Job], list[Unread]]:
    jobs: list[_Job] = []
    unread: list[Unread] = []
    unmatched: NothingMatchesError | None = None
    for path in map(Path, paths):
        seen = [look_at(file) for file in walk(path)]
        candidates = [item for item in seen if isinstance(item, Candidate)]
        left = [item for item in seen if isinstance(item, Unread)]
        for tool in _tools(format, settings):
            try:
                claimed = list(tool.claim(candidates))
            except (
                NothingMatchesError
            ) as error:  # below another path there may be what is meant
                unmatched, claimed = unmatched or error, []
            jobs += [_Job(tool, files) for files in claimed]
            taken = set(chain.from_iterable(files.files for files in claimed))
            candidates = [item for item in candidates if item.path not in taken]
        left += [_left_over(item, settings) for item in candidates]
        # what is named by itself was meant, whatever it is called
        unread += [
            replace(
                item,
                is_missed=bool(item.is_missed or item.path == path and item.reason),
            )
            for item in left
        ]
    if unmatched is not None and not jobs:
        raise unmatched
    return jobs, unread


def _in_time(jobs: Sequence[_Job]) -> list[_Job]:
    """The sources, those of each importer that can tell in the order of time."""
    ordered = list(jobs)
    for tool in {job.importer.name: job.importer for job in jobs}.values():
        indices = [index for index, job in enumerate(jobs) if job.importer is tool]
        if len(indices) > 1 and (in_time := getattr(tool, "in_time", None)):
            for index, files in zip(
                indices, in_time([jobs[index].files for index in indices]), strict=True
            ):
                ordered[index] = _Job(tool, files)
    return ordered


def _left_over(item: Candidate, settings: ImportSettings) -> Unread:
    """A file of a walk that is in no source."""
    unread = left_over(item)
    if unread.reason:
        return unread
    if settings.mapping is not None:
        return replace(unread, reason=NOT_NAMED)
    from warehouse.importers.common.streams import FORMATS_OF_SEVERAL

    if item.path.suffix.lower() not in FORMATS_OF_SEVERAL:
        return unread
    from warehouse.importers.tabular.head_columns import why_no_table

    reason = why_no_table(item.path)  # it holds several tables, or is damaged
    return replace(unread, reason=reason.removeprefix(f"{item.path.name}: "))


def _tools(format: str | None, settings: ImportSettings) -> list[Importer]:
    if settings.mapping is not None:
        from warehouse.importers.tabular.importer import IMPORTER

        return [IMPORTER.for_mapping(settings.mapping, settings.mapping_path)]
    if format:
        return [importer_named(format)]
    return list(importers().values())


@dataclass(frozen=True)
class Discovered:
    """Jobs and files found below some paths, and how they are to be read."""

    jobs: tuple[_Job, ...]
    unread: tuple[Unread, ...]
    plan: _DiscoveryPlan
    notes: tuple[str, ...] = ()

    @property
    def missed(self) -> list[Unread]:
        """Files that were meant to be read and cannot."""
        return [item for item in self.unread if item.is_missed]


def discover(
    paths: Iterable[str | Path],
    *,
    format: str | None = None,
    values: Mapping[str, Any] | None = None,
    mapping: str | Path | None = None,
    higher_is_better: bool | None = None,
    options: LoadOptions | None = None,
    defaults: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Discovered:
    """Find the dumps below some paths; arguments and errors as of
    :func:`warehouse.ingest.pipeline.ingest`. Needs no store."""
    plan = _plan(
        values or {},
        mapping,
        options or LoadOptions(),
        defaults or {},
        force,
        higher_is_better,
    )
    jobs, unread = _jobs(paths, format, plan.settings)
    return Discovered(tuple(_in_time(jobs)), tuple(unread), plan)


def sources(
    paths: Iterable[str | Path], **reading: Any
) -> tuple[dict[tuple[Path, ...], tuple[Path, ...]], list[Unread]]:
    """Files of each source that :func:`ingest` would find, with the files of others
    that are read with them (joined tables), and what it would not read. ``reading`` as
    for :func:`discover`."""
    discovered = discover(paths, **reading)
    companions = {tuple(job.files.files): _companions(job) for job in discovered.jobs}
    with_others = set(chain.from_iterable(companions.values()))
    return companions, [
        item for item in discovered.unread if item.path not in with_others
    ]


def _companions(job: _Job) -> tuple[Path, ...]:
    """None where they cannot be found, which whoever reads the source will say."""
    with suppress(InputError, OSError):
        return tuple(companions_of(job.importer, job.files))
    return ()
