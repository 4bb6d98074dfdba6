"""Kill commands with SIGKILL at random moments: what was stored stands, and the next
one completes.

    python tests/campaign/kills.py --url kills.db --kills 200                        #
    an ingest python tests/campaign/kills.py --url postgresql://… --work refresh --kills
    200   # its database is made anew

Works run in processes forked from one that has opened no store, so that a kill strikes
the work and not the start of Python. After every kill the store is opened by another
process: it must be sound, hold what it held, and show its readers what was there before
or what comes after the work (an ingest: each source whole or not at all). Readers of
what may be read meanwhile, a published copy and a lake, look at it all the time. After
some kills the work is left in peace, and must leave what it leaves of a store on which
it was never killed.

DuckDB overwrites a block in use at the end of each write (docs/writers.md): files that
do not open again, and say so, are counted.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # behind the installed package

from tests.campaign.killed_works import WORKS, Place, Work, dumps, whole_sources  # noqa: E402
from tests.support.same_stores import Rows, lost_rows, stored_rows  # noqa: E402
from tests.support.store_copies import beside, copy_store, empty_place, remove_store  # noqa: E402
from warehouse.errors import StoreError  # noqa: E402
from warehouse.store.open import open_store  # noqa: E402
from warehouse.store.schema import revision  # noqa: E402
from warehouse.store.schema.migrate import check  # noqa: E402

FILES, PROMPTS = 12, 100
KILLS_OF_A_ROUND = 8
DAMAGED = 3


def main() -> int:
    """Exit code 0 if nothing was found."""
    parser = argparse.ArgumentParser(description="see the head of the file")
    parser.add_argument("--url", required=True)
    parser.add_argument(
        "--work",
        choices=WORKS,
        default="ingest",
        help="a server has nothing to publish",
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--files", type=int, default=FILES, help="250 small ones are three loads"
    )
    parser.add_argument("--prompts", type=int, default=PROMPTS, help="of each file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warehouse-kills-") as name:
        files = dumps(Path(name, "dumps"), options.files, options.prompts)
        urls = options.url, beside(options.url, "before"), beside(options.url, "after")
        places = [
            Place(url, Path(name, folder))
            for url, folder in zip(urls, ("now", "before", "after"), strict=True)
        ]
        try:
            campaign = Campaign(
                WORKS[options.work], files, *places, times=3 if options.kills > 3 else 1
            )
            campaign.go(options.kills, random.Random(options.seed))
        finally:
            for url in urls[1:]:
                remove_store(url)
    print(f"{options.work}: {campaign}")
    return 0


class Campaign:
    """Kills of one work: of a store as it is now, as it was before, as it is after the
    undisturbed work."""

    def __init__(
        self,
        work: Work,
        files: list[Path],
        now: Place,
        before: Place,
        after: Place,
        *,
        times: int,
    ) -> None:
        self.work, self.files, self.now, self.before, self.after = (
            work,
            files,
            now,
            before,
            after,
        )
        self.counts: Counter[str] = Counter()
        empty_place(before.url)
        before.folder.mkdir()
        _succeed(lambda: work.prepare(before, files))
        _copy(before, after)
        _succeed(lambda: work.run(after, files))
        self.held, self.whole = _told(
            self._states, before.folder.with_name("undisturbed")
        )
        self.seconds = min(self._undisturbed() for _ in range(times))

    def _undisturbed(self) -> float:
        """Seconds that the work takes."""
        _copy(self.before, self.now)
        with self._looked_at():
            started = time.monotonic()
            _succeed(lambda: self.work.run(self.now, self.files))
            return time.monotonic() - started

    def _states(self) -> tuple[Rows, list[Rows]]:
        """What may not be lost, and what readers may see."""
        rows, seen = stored_rows(self.before.url), self.work.seen
        return {table: rows[table] for table in self.work.keeps}, [
            seen(place) for place in (self.before, self.after) if seen
        ]

    def __str__(self) -> str:
        counts = self.counts
        return (
            f"{counts['kills']} kills, {counts['struck']} of them struck running work "
            f"of {self.seconds:.1f} s; {counts['damaged']} files damaged by the "
            f"engine; {counts['looks']} looks meanwhile; nothing lost, every next one "
            "completed"
        )

    def go(self, kills: int, rng: random.Random) -> None:
        """Rounds of kills, each of which ends with work in peace, and with a store as
        it shall be."""
        while self.counts["kills"] < kills:
            _copy(self.before, self.now)
            with self._looked_at():
                self._round(min(KILLS_OF_A_ROUND, kills - self.counts["kills"]), rng)
                _succeed(lambda: self.work.run(self.now, self.files))
            _succeed(self._compare)

    def _round(self, kills: int, rng: random.Random) -> None:
        """Kills on top of one another, until the work has ended before it could be
        killed."""
        for _ in range(kills):
            struck = _killed(
                lambda: self.work.run(self.now, self.files),
                1.1 * rng.random() * self.seconds,
            )
            self.counts.update(kills=1, struck=struck)
            if _exit_code(self._verify) == DAMAGED:
                self.counts["damaged"] += 1
                _copy(self.before, self.now)
            if not struck:
                return

    def _verify(self) -> None:
        """After a kill."""
        _prove(self.now.url)
        if self.held:
            assert (lost := lost_rows(self.held, stored_rows(self.now.url))) == [], (
                lost[:9]
            )
        if self.work.seen:
            assert self.work.seen(self.now) in self.whole
        else:
            whole_sources(self.now.url, self.after.url)

    def _compare(self) -> None:
        """After work in peace."""
        _prove(self.now.url)
        assert (found := self.work.differences(self.now.url, self.after.url)) == [], (
            found[:9]
        )
        if self.work.seen:
            assert self.work.seen(self.now) == self.whole[1]

    @contextmanager
    def _looked_at(self) -> Iterator[None]:
        """Another process looks all the time, where that does not keep the work
        waiting."""
        if not self.work.is_beside:
            yield
            return
        end, looks = (self.now.folder.with_name(name) for name in ("end", "looks"))
        end.unlink(missing_ok=True)
        process = _forked(lambda: self._look(end, looks))
        try:
            yield
        finally:
            end.touch()
            _, status = os.waitpid(process, 0)
        self.counts["looks"] = looks.stat().st_size
        if status:
            raise SystemExit("a reader met something else than the old and the new")

    def _look(self, end: Path, looks: Path) -> None:
        assert self.work.seen
        parent = os.getppid()  # if that is killed, nobody says that this is the end
        with looks.open("a") as file:
            while not end.exists() and os.getppid() == parent:
                started = time.monotonic()
                assert self.work.seen(self.now) in self.whole
                file.write(".")
                time.sleep(
                    time.monotonic() - started
                )  # the work shall have the machine, too


def _prove(url: str) -> None:
    """The store opens and is sound, or is of an older revision still."""
    try:
        store = open_store(url, check=False, wait=60)
    except StoreError as error:
        if "the file is damaged" in str(error):
            os._exit(DAMAGED)
        raise
    with store:
        report = check(store)
        assert report.ok or revision.found(store) != revision.HEAD, str(report)


def _copy(source: Place, target: Place) -> None:
    copy_store(source.url, target.url)
    shutil.rmtree(target.folder, ignore_errors=True)
    shutil.copytree(source.folder, target.folder)


# --- in processes of their own -----------------------------------------------------------------


def _forked(work: Callable[[], object]) -> int:
    process = os.fork()
    if process:
        return process
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _exit_code(work: Callable[[], object]) -> int:
    """0, or `DAMAGED`."""
    _, status = os.waitpid(_forked(work), 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, DAMAGED):
        raise SystemExit(f"a step that must succeed ended with {code}")
    return code


def _succeed(work: Callable[[], object]) -> None:
    if _exit_code(work):
        raise SystemExit("undisturbed work has damaged the store")


def _told(work: Callable[[], Any], file: Path) -> Any:
    """What it returns."""
    _succeed(lambda: file.write_bytes(pickle.dumps(work())))
    return pickle.loads(file.read_bytes())


def _killed(work: Callable[[], object], seconds: float) -> bool:
    """Whether the work was still going on when it was killed."""
    process = _forked(work)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if status not in (0, signal.SIGKILL):
        raise SystemExit(f"the work ended with {status} before it was killed")
    return status == signal.SIGKILL


if __name__ == "__main__":
    sys.exit(main())
