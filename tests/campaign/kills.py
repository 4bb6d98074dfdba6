"""Kill an ingest with SIGKILL at random moments: whole sources only, and the next one completes.

    python tests/campaign/kills.py --url kills.db --kills 200
    python tests/campaign/kills.py --url postgresql://… --kills 200     # its database is emptied

Ingests run in processes forked from one that has opened no store, so that a kill strikes the load
and not the start of Python. After every kill the store is opened by another process: it must be
sound, and hold each source whole or not at all. After some kills an ingest is left in peace, and
must leave everything in place.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES, PROMPTS = 24, 300
KILLS_OF_A_ROUND = 8


def main() -> int:
    """Exit code 0 if nothing was found."""
    sys.path.append(str(ROOT))  # behind the installed package
    from tests.support import races

    parser = argparse.ArgumentParser(description="see the head of the file")
    parser.add_argument("--url", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=FILES, help="250 small ones are three loads")
    parser.add_argument("--prompts", type=int, default=PROMPTS, help="of each file")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="warehouse-kills-") as name:
        folder = Path(name)
        races.dumps(folder, options.files, options.prompts)
        _succeed(lambda: _empty(options.url))
        full = _timed(lambda: _succeed(lambda: _ingest(options.url, folder)))
        kills = struck = 0
        while kills < options.kills:
            _succeed(lambda: _empty(options.url))
            for _ in range(min(KILLS_OF_A_ROUND, options.kills - kills)):
                struck += _killed(lambda: _ingest(options.url, folder), rng.random() * full / 3)
                kills += 1
                _succeed(lambda: _verify(options, complete=False))
            _succeed(lambda: _ingest(options.url, folder))
            _succeed(lambda: _verify(options, complete=True))
    print(
        f"{kills} kills, {struck} of them struck a running ingest of {full:.1f} s: "
        "whole sources only, every next ingest completed"
    )
    return 0


# --- in processes of their own -----------------------------------------------------------------


def _forked(work: Callable[[], None]) -> int:
    process = os.fork()
    if process:
        return process
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _succeed(work: Callable[[], None]) -> None:
    _, status = os.waitpid(_forked(work), 0)
    if status:
        raise SystemExit(f"a step that must succeed ended with {status}")


def _killed(work: Callable[[], None], seconds: float) -> bool:
    """Whether the work was still going on when it was killed."""
    process = _forked(work)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if status not in (0, signal.SIGKILL):
        raise SystemExit(f"the ingest ended with {status} before it was killed")
    return status == signal.SIGKILL


def _timed(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


# --- what they do ------------------------------------------------------------------------------


def _empty(url: str) -> None:
    from warehouse.store.open import open_store
    from warehouse.store.schema import migrate

    with open_store(url, create=True) as store:
        migrate.downgrade(store, "base")
        migrate.upgrade(store)


def _ingest(url: str, folder: Path) -> None:
    from warehouse.ingest.pipeline import ingest
    from warehouse.store.open import open_store

    with open_store(url, write=True, wait=60) as store:
        report = ingest(store, [folder])
    assert report.refused == (), report.refused


def _verify(options: argparse.Namespace, *, complete: bool) -> None:
    from warehouse.store.open import open_store
    from warehouse.store.schema.check import check

    with open_store(options.url, wait=60) as store:
        report = check(store)
        assert report.ok, str(report)
        held = store.arrow(
            "select source.state, source.id, count(score.run_id) as n from source "
            "left join run_source on run_source.source_id = source.id "
            "left join score on score.run_id = run_source.run_id group by source.state, source.id"
        ).to_pylist()
        for row in held:
            assert row["n"] == (options.prompts if row["state"] == "loaded" else 0), row
        runs = store.arrow("select count(*) as n from run")["n"][0].as_py()
        assert runs == sum(row["state"] == "loaded" for row in held), (runs, held)
        if complete:
            assert runs == options.files and report.integrity == (), (runs, str(report))


if __name__ == "__main__":
    sys.exit(main())
