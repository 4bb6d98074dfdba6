"""Claimed sources parsed, one or several together, here or by executors."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from warehouse.errors import DiskFullError, InputError, WarehouseError
from warehouse.importers.common import file_walk as stamps
from warehouse.ingest.claiming import Claimed
from warehouse.ingest.parse_elsewhere import Arrived
from warehouse.ingest.reading import read, read_together
from warehouse.ingest.work import Work
from warehouse.store import engines
from warehouse.store.load.bulk_insert import NeedsMemoryError
from warehouse.store.load.state import Parsed

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Together:
    """Sources that were parsed into one slot, and those that are to be read one by one."""

    parsed: Parsed
    taken: Sequence[Claimed]
    left: Sequence[Claimed]


def parse_claimed(work: Work, claimed: Sequence[Claimed], slot: int) -> Together:
    """Parse sources into a slot: one, or what can be read of several. What is read must be what was
    hashed.

    Raises:
        InputError: a file changed while it was read, or what is wrong with one otherwise.
        NotTogetherError: they are too large to be loaded together.
    """
    there = _parse_elsewhere(work, claimed, slot)
    if isinstance(there, Together):
        return there
    all_stamps = [stamp for item in claimed for stamp in item.identity.stamps]
    try:
        together = _parse_stamped(work, claimed, slot)
    except Exception:
        stamps.refuse_changed(all_stamps)  # then it is no wonder
        raise
    stamps.refuse_changed(all_stamps)
    if there and work.apart is not None:
        work.apart.read_here(len(together.taken), there)
    return together


def _parse_elsewhere(work: Work, claimed: Sequence[Claimed], slot: int) -> Together | str | None:
    """What executors made of sources; ``None`` if they were not asked, a text if they could not."""
    numbers = tuple(item.task.number for item in claimed)
    if work.apart is None:
        return None
    arrived = work.apart.take(numbers)
    if not isinstance(arrived, Arrived):
        return arrived
    with arrived.archive:
        parsed = work.loader.receive(arrived.dumps, arrived.n_rows, arrived.rows(), slot)
    work.apart.release(numbers)
    for dump in arrived.dumps:
        work.retell(dump)
    taken = [claimed[place] for place in arrived.places]
    if len(claimed) == 1:
        claimed[0].rejections[:] = arrived.dumps[0].rejections
    return Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_stamped(work: Work, claimed: Sequence[Claimed], slot: int) -> Together:
    if len(claimed) == 1:
        return Together(_parse_one(work, claimed[0], slot), claimed, [])
    readings = [item.reading for item in claimed]
    places, dumps = read_together(readings, work.plan.settings, work.plan.options.max_rejected)
    parsed = work.loader.parse_all(dumps, work.plan.options, slot)
    for dump in dumps:
        work.retell(dump)
    taken = [claimed[place] for place in places]
    return Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_one(work: Work, item: Claimed, slot: int) -> Parsed:
    while True:
        dump = read(item.reading, work.plan.settings)
        try:
            return work.loader.parse(dump, work.plan.options, slot)
        except NeedsMemoryError:
            if not work.loader.more_memory():
                raise
        finally:
            work.retell(dump)
            item.rejections[:] = dump.rejections


def parsed_source(item: Claimed, parsed: Future[Together]) -> Together:
    """What came of the parsing of a source.

    Raises:
        InputError: also where the importer failed in a way that it should not: one source that an
            importer cannot cope with does not stop the others.
    """
    try:
        return parsed.result()
    except WarehouseError:
        raise
    except Exception as error:
        if reason := engines.disk_full(error):
            raise DiskFullError(reason) from error
        # the latter are the words of the parser
        if isinstance(error, RecursionError) or "Recursion limit" in str(error):
            raise InputError(
                "lists or objects stand inside each other, too deep to read",
                expected="at most 250 levels",
                advice="repair that place, or leave it out",
            ) from error
        tool = item.task.job.importer.name
        _log.debug("the importer %s failed", tool, exc_info=True)
        raise InputError(
            f"the importer '{tool}' failed on it: {type(error).__name__}: {error}",
            advice="this is a defect of the importer; -v shows where",
        ) from error
