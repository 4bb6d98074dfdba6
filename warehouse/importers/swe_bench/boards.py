"""Leaderboards of SWE-bench's site: a run for each entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    Row,
    items_of,
    no_objects,
    number_or_none,
    object_of,
    objects_of,
    part_of,
    share_of,
    text_or_none,
    texts_of,
    without_nulls,
)
from warehouse.importers.common.jsonl import read_document
from warehouse.importers.swe_bench.reports import (
    API_CALLS,
    METRIC,
    RESOLVED,
    Instances,
    details,
    sample_rows,
    track_fields,
)
from warehouse.records import (
    Dump,
    PublishedScore,
    Rejection,
    RunHeader,
)

_MODEL, _ATTEMPTS = "Model: ", "System: Attempts - "
#: What a result of a leaderboard says of its outcome, and what is read by itself.
_OF_A_RESULT = frozenset({"per_instance_details", "resolved", "folder", "name", "tags"})
#: Who submitted, and tags that are read by themselves.
_ORGANISATION = "Org: "
_READ_TAGS = (_ORGANISATION, _MODEL, _ATTEMPTS)


@dataclass
class Board:
    """The runs of a file, and the instances of those that have them, by number of the
    run."""

    path: Path
    dump: Dump
    headers: list[RunHeader] = field(default_factory=list)
    instances: dict[int, Instances] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, dump: Dump) -> Board:
        """Read a file (InputError: it is damaged, or holds no result)."""
        board = cls(path, dump)
        tracks = read_document(path).get("leaderboards")
        dump.notes += no_objects(tracks, f"{path.name}: leaderboards")
        for track in objects_of(tracks):
            name = (text_or_none(track.get("name")) or "").lower()
            for number, result in enumerate(items_of(track.get("results")), start=1):
                board.add(name, f"{path.name}, {name} {number}", result)
        if not board.headers:
            raise InputError(
                "names no result", path=str(path), expected="leaderboards of SWE-bench"
            )
        return board

    def add(self, track: str, location: str, entry: Any) -> None:
        """One submission; what is none, or has no name or figure, is recorded."""
        result = object_of(entry)
        name = text_or_none(result.get("name"))
        entries = part_of(result, "per_instance_details")
        share = number_or_none(result.get("resolved"))
        if name is None or (share is None and not entries):
            self.dump.rejections.append(
                Rejection(
                    location,
                    str(entry)[:100] or "an empty text",
                    "a result with 'name' and 'resolved'",
                )
            )
            return
        instances = details(entries, self.dump.rejections, location)
        if instances:
            self.instances[len(self.headers)] = instances
        self.headers.append(_header(track, name, result, share, instances))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The instances, one batch for each run that has them."""
        for run, instances in self.instances.items():
            yield batch_of([{**row, "run": run} for row in sample_rows(instances, {})])


def _header(
    track: str, name: str, result: Row, share: float | None, instances: Instances
) -> RunHeader:
    tags = texts_of(result.get("tags"))
    models = [tag.removeprefix(_MODEL) for tag in tags if tag.startswith(_MODEL)]
    attempts = next(
        (tag.removeprefix(_ATTEMPTS) for tag in tags if tag.startswith(_ATTEMPTS)), None
    )
    folder = text_or_none(result.get("folder"))
    system = (folder or "").partition("_")[2] or name
    model = models[0] if len(models) == 1 else name
    # 0 is written where nothing is known
    calls = number_or_none(result.get("instance_calls")) or None
    published = []
    if share is not None:
        published.append(
            PublishedScore(METRIC, share_of(share), raw=f"{share:.15g} percent")
        )
    if calls is not None:
        published.append(PublishedScore(API_CALLS.name, calls))
    configuration = {
        key: value for key, value in result.items() if key not in _OF_A_RESULT
    }
    configuration |= {
        "submission_name": name,
        "models": sorted(models) if len(models) > 1 else None,
    }
    configuration["org"] = [tag for tag in tags if tag.startswith(_ORGANISATION)]
    configuration["tags"] = sorted(
        tag for tag in set(tags) if not tag.startswith(_READ_TAGS)
    )
    return RunHeader(
        harness="swe_bench",
        model=model,
        **track_fields(track),
        agent=system if model != system else None,
        agent_version=text_or_none(result.get("mini-swe-agent_version")),
        agent_parameters=attempts_of(attempts),
        reasoning_effort=text_or_none(result.get("reasoning_effort")),
        metrics=(RESOLVED, API_CALLS)
        if calls is not None or instances
        else (RESOLVED,),
        run_id=folder,
        cost=number_or_none(result.get("cost")) or None,
        started_at=moment(result.get("date")),
        configuration=without_nulls(configuration),
        note=text_or_none(result.get("warning")),
        published=tuple(published),
        place=f"{track}/{folder or name}",
    )


def attempts_of(attempts: str | None) -> Row:
    """How many attempts at an answer a system has; one is what is so where nothing is
    said."""
    if attempts in (None, "", "1"):
        return {}
    return {"attempts": attempts}


HARNESS = "swe_bench"
