"""Which files form which sources, and which importer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from warehouse.ingest.file_rules import NO_RULES, FileRules, is_data
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
    mapping: str | Path | Mapping[str, Any] | None,
    options: LoadOptions,
    defaults: Mapping[str, Any],
    force: bool = False,
    higher_is_better: bool | None = None,
) -> _DiscoveryPlan:
    from warehouse.importers.tabular.importer import load_mapping
    from warehouse.importers.tabular.mapping_files import mapping_file

    parsed: Mapping[str, Any] | None = None
    where = str(mapping or "")
    if isinstance(mapping, Mapping):
        parsed, where = mapping, "draft"
    elif mapping:
        parsed = load_mapping(mapping_file(mapping))
    fields = options.cluster_by
    settings = ImportSettings(
        dict(values),
        parsed,
        where,
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
    paths: Iterable[str | Path],
    format: str | None,
    settings: ImportSettings,
    takes: Callable[[Path], bool] | None = None,
) -> tuple[list[_Job], list[Unread]]:
    jobs: list[_Job] = []
    unread: list[Unread] = []
    unmatched: NothingMatchesError | None = None
    for path in map(Path, paths):
        files = list(walk(path))
        seen = [look_at(file) for file in files if takes is None or takes(file)]
        candidates = [item for item in seen if isinstance(item, Candidate)]
        left = [item for item in seen if isinstance(item, Unread)]
        for tool in _tools(format, settings, files):
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


def _tools(
    format: str | None, settings: ImportSettings, files: Sequence[Path]
) -> list[Importer]:
    """The importers that are asked; ``files`` are those of the whole walk, in whose
    folder a mapping looks for what it joins."""
    if settings.mapping is not None:
        from warehouse.importers.tabular.importer import IMPORTER, common_folder

        tool = IMPORTER.for_mapping(settings.mapping, settings.mapping_path)
        tool.folder = common_folder(files)
        return [tool]
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
    #: what is read otherwise: by the mappings of the rules on files.
    more: tuple[Discovered, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is nothing that is read, or was meant to be."""
        return not self.jobs and not self.missed and not self.more

    @property
    def unread_by_all(self) -> tuple[Unread, ...]:
        """Files that nobody reads and that were not missed; those that are read with
        others (joined tables) are none."""
        left = [item for item in self.unread if not item.is_missed]
        if not left:
            return ()
        companions = set(self.companions)
        return tuple(item for item in left if item.path not in companions)

    @property
    def companions(self) -> tuple[Path, ...]:
        """Files that are read with the sources, and are none of theirs."""
        found = chain.from_iterable(map(_companions, self.jobs))
        return tuple(dict.fromkeys(found))

    @property
    def known(self) -> dict[str, Any]:
        """Header fields that the user gave."""
        settings = self.plan.settings
        return {**settings.values, **settings.defaults}

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
    rules: FileRules | None = None,
) -> Discovered:
    """Find the dumps below some paths; arguments and errors as of
    :func:`warehouse.ingest.pipeline.ingest`. Needs no store."""
    places = list(paths)
    rules = rules or NO_RULES

    def found_by(name: str | Path | Mapping[str, Any] | None, takes: Any) -> Discovered:
        plan = _plan(
            values or {},
            name,
            options or LoadOptions(),
            defaults or {},
            force,
            higher_is_better,
        )
        jobs, unread = _jobs(places, format, plan.settings, takes)
        return Discovered(tuple(_in_time(jobs)), tuple(unread), plan)

    if mapping or format:  # said of all files: by name, none is read otherwise
        rules = replace(rules, maps=(), by_shape=False)
    found = found_by(mapping, rules.takes(None))
    more = []
    for name in dict.fromkeys(name for _, name in rules.maps):
        part = found_by(name, rules.takes(name))
        if not part.is_empty:
            more.append(replace(part, notes=(_by_rule(name, part),)))
    if rules.by_shape:
        beside = {path.parent for path in _files_of(found.jobs)}
        unread = [item for item in found.unread if item.path.parent not in beside]
        for name, files in _shaped(unread, values or {}).items():
            part = found_by(name, files.__contains__)
            if part.jobs:
                found = _without(found, part)
                more.append(replace(part, notes=(_by_shape(name, part),)))
    known = {**(values or {}), **(defaults or {})}
    is_read = bool(more) or any(not _lacks_names(job, known) for job in found.jobs)
    if rules.by_shape and not is_read:
        found, parts = _with_drafts(found, known, found_by)
        more += parts
    return replace(found, more=tuple(more))


def _lacks_names(job: _Job, known: Mapping[str, Any]) -> bool:
    """True if a source is a table whose columns name no model, or no benchmark."""
    if job.importer.name != "tabular" or getattr(job.importer, "mapping", None):
        return False
    from warehouse.importers.tabular.head_columns import names_runs

    return not names_runs(job.files.files[0], known)


def _unknown(unread: Sequence[Unread]) -> list[Path]:
    """Files of data that nobody knows, and that nothing else speaks against."""
    return [item.path for item in unread if is_data(item) and not item.reason]


def _files_of(jobs: Iterable[_Job]) -> Iterator[Path]:
    """The files of some sources."""
    return chain.from_iterable(job.files.files for job in jobs)


#: Files of which drafts are made, where nobody knows any.
_MOST_DRAFTED = 200


def _with_drafts(
    found: Discovered, known: Mapping[str, Any], found_by: Any
) -> tuple[Discovered, list[Discovered]]:
    """What was found but for what drafts of mappings read, with what they say of the
    rest; and that."""
    files = [*_unknown(found.unread), *_files_of(found.jobs)]
    parts, lacking = _by_drafts(files, known, found_by)
    for part in parts:
        found = _without(found, part)
    if parts:
        found = _with_reasons(found, lacking)
    else:
        found = _with_reasons(found, _asked_of_tables(found, lacking))
    return found, parts


def _asked_of_tables(
    found: Discovered, lacking: Mapping[Path, Unread]
) -> dict[Path, Unread]:
    """Tables that name no model or no benchmark, and of which a draft asks more than
    these names: nobody reads them, as what is asked is said of files that nobody
    knows."""
    asked = {path for path, item in lacking.items() if not item.is_missed}
    return {path: Unread(path) for path in _files_of(found.jobs) if path in asked}


def _by_drafts(
    files: Sequence[Path], known: Mapping[str, Any], found_by: Any
) -> tuple[list[Discovered], dict[Path, Unread]]:
    """What is read by drafts of mappings, of files that nobody knows, and what others
    of them lack."""
    from warehouse.ingest.drafted import drafted

    by_roles: dict[str, list[Discovered]] = {}
    lacking: dict[Path, Unread] = {}
    left = dict.fromkeys(files[:_MOST_DRAFTED])
    while left:
        path = next(iter(left))
        del left[path]
        draft = drafted(path, known, is_alone=len(files) == 1)
        if not draft.mapping:
            if draft.why_not:
                reason = f"{draft.why_not}; {draft.advice_for('FILE')}"
                lacking[path] = Unread(path, reason, is_missed=draft.lacks_names)
            continue
        part = found_by(draft.mapping, {path, *left}.__contains__)
        read = set(_files_of(part.jobs))
        left = {other: None for other in left if other not in read}
        if read:
            # what this draft leaves is read by the next one, or said of all
            part = replace(part, unread=tuple(part.missed))
            by_roles.setdefault(draft.roles, []).append(part)
    parts = [
        part for roles, alike in by_roles.items() for part in _said_once(roles, alike)
    ]
    return parts, lacking


def _with_reasons(found: Discovered, lacking: Mapping[Path, Unread]) -> Discovered:
    """What was found, with what a draft says that the files lack which nobody reads."""
    others = [item for item in found.unread if item.path not in lacking]
    jobs = [job for job in found.jobs if lacking.keys().isdisjoint(job.files.files)]
    return replace(found, jobs=tuple(jobs), unread=(*others, *lacking.values()))


def _said_once(roles: str, parts: Sequence[Discovered]) -> Iterator[Discovered]:
    """What drafts read that take columns for the same, with one note for all."""
    names = [job.shown for part in parts for job in part.jobs]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    note = (
        f"nobody knows {names[0]}{others}: read as its rows say, {roles} (`warehouse "
        "mapping FILE` says why; --no-map: not so)"
    )
    first, *rest = parts
    yield replace(first, notes=(note,))
    yield from rest


#: Files that nobody knows of which the shape is looked at.
_MOST_SHAPED = 500


def _shaped(
    unread: Sequence[Unread], values: Mapping[str, Any]
) -> dict[str, set[Path]]:
    """Files that nobody knows, by the shipped mapping that each fits as a whole; those
    beside known dumps, such as their costs, are left out before."""
    from warehouse.importers.tabular.mapping_shapes import fitting_mapping

    found: dict[str, set[Path]] = {}
    for item in [item for item in unread if is_data(item)][:_MOST_SHAPED]:
        if item.reason:
            continue
        name = fitting_mapping(item.path, values)
        if name:
            found.setdefault(name, set()).add(item.path)
    return found


def _without(found: Discovered, part: Discovered) -> Discovered:
    """What was found but for what a part of it reads."""
    read = {*_files_of(part.jobs), *part.companions}
    left = tuple(item for item in found.unread if item.path not in read)
    jobs = tuple(job for job in found.jobs if read.isdisjoint(job.files.files))
    return replace(found, unread=left, jobs=jobs)


def _by_shape(mapping: str, found: Discovered) -> str:
    """That files are read by a shipped mapping, in words."""
    names = [job.shown for job in found.jobs]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"read by the shipped mapping {mapping}, whose shape it has (--no-map: not "
        f"so): {names[0]}{others}"
    )


def _by_rule(mapping: str, found: Discovered) -> str:
    """That files are read by a mapping that a rule names, in words."""
    names = [job.shown for job in found.jobs] + [item.shown for item in found.missed]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"read by the mapping {mapping} (ingest.maps): {names[0]}{others}"


def sources(
    paths: Iterable[str | Path], **reading: Any
) -> tuple[dict[tuple[Path, ...], tuple[Path, ...]], list[Unread]]:
    """Files of each source that :func:`ingest` would find, with the files of others
    that are read with them (joined tables), and what it would not read. ``reading`` as
    for :func:`discover`."""
    discovered = discover(paths, **reading)
    parts = [discovered, *discovered.more]
    jobs = list(chain.from_iterable(part.jobs for part in parts))
    unread = list(chain.from_iterable(part.unread for part in parts))
    companions = {tuple(job.files.files): _companions(job) for job in jobs}
    with_others = set(chain.from_iterable(companions.values()))
    return companions, [item for item in unread if item.path not in with_others]


def _companions(job: _Job) -> tuple[Path, ...]:
    """None where they cannot be found, which whoever reads the source will say."""
    with suppress(InputError, OSError):
        return tuple(companions_of(job.importer, job.files))
    return ()
