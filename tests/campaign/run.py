"""Run the campaign: thousands of broken dumps into stores that hold known runs.

    make campaign                                    # 10 000 mutants, resumable
    python tests/campaign/run.py --mutants 1000 --seed 7 --log campaign.jsonl

Every mutant has a number; number and seed decide all about it. A worker process takes a
block of them into one store, then proves the store; if it dies or hangs, that is a
finding, and another goes on behind the mutant that killed it. The log has one line per
mutant and per block; a second call with the same log goes on where it ends.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # behind the installed package

from tests.support.incapable import give_up_overrides  # noqa: E402

BLOCK = 200
MEMORY = (
    12 << 30
)  # address space of a worker: a bomb hits this before it hits the machine
PEAK_MB = 3000  # resident memory that no worker may exceed
HUNG = (
    600.0  # seconds without a line in the log; how slow a mutant may be, its trial says
)


def main() -> int:
    """The supervisor, or with ``--worker`` one block."""
    options = _options()
    if options.worker:
        return _work(options)
    log: Path = options.log
    log.touch()
    folder = Path(tempfile.mkdtemp(prefix="warehouse-campaign-"))
    try:
        while (first := _next(log)) < options.mutants:
            _supervise(options, first, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _report(log)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="see the head of the file")
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, default=Path("campaign.jsonl"))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--groups",
        default="",
        help="only groups whose name holds one of these, with commas between",
    )
    parser.add_argument(
        "--kinds", type=float, default=0.15, help="part that is no bytes: FIFOs .."
    )
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the supervisor ---------------------------------------------------------------------------


def _supervise(options: argparse.Namespace, first: int, folder: Path) -> None:
    """One worker, until it ends, dies or hangs."""
    command = [sys.executable, __file__, "--worker", str(folder), "--first", str(first)]
    for name in ("mutants", "seed", "log", "data", "groups", "kinds"):
        command += [f"--{name}", str(getattr(options, name))]
    limit = (MEMORY, MEMORY)
    begun = folder / "begun"
    begun.unlink(missing_ok=True)  # of a worker that died
    process = subprocess.Popen(command, preexec_fn=lambda: _bind(limit))
    code = _watched(process, options.log)
    if code and begun.exists():
        line = json.loads(begun.read_text())
        line |= {"outcome": "DEFECT", "message": f"the process ended with {code}"}
        _append(options.log, line)
    elif code:
        raise SystemExit(f"the worker fails before its first mutant: exit code {code}")


def _bind(limit: tuple[int, int]) -> None:
    """Bounds of a worker: its memory, and permissions even where root runs it."""
    resource.setrlimit(resource.RLIMIT_AS, limit)
    give_up_overrides()


def _watched(process: subprocess.Popen[bytes], log: Path) -> int:
    size, since = log.stat().st_size, time.monotonic()
    while process.poll() is None:
        time.sleep(0.5)
        now = log.stat().st_size
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > HUNG:
            process.kill()
            process.wait()
            return -9
    return int(process.returncode)


def _append(log: Path, line: dict[str, Any]) -> None:
    with log.open("a") as out:
        out.write(json.dumps(line) + "\n")


def _lines(log: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")
    ]


def _next(log: Path) -> int:
    return (
        max((line["number"] for line in _lines(log) if "number" in line), default=-1)
        + 1
    )


def _report(log: Path) -> int:
    trials = [line for line in _lines(log) if "number" in line]
    blocks = [line for line in _lines(log) if "block" in line]
    outcomes = Counter(line["outcome"] for line in trials)
    bad = [line for line in trials if line["outcome"] == "DEFECT"]
    wrong = [line for line in blocks if line["wrong"]]
    print(f"{len(trials)} mutants: {dict(outcomes.most_common())}")
    print(
        f"slowest {max((line['seconds'] for line in trials), default=0):.1f} s, "
        f"peak {max((line['peak_mb'] for line in trials), default=0)} MB"
    )
    print(f"{len(blocks)} stores checked, {len(wrong)} not as they should be")
    for line in bad[:50]:
        print(
            f"{line['number']} {line['group']} {line['file']} {line['mutation']}: "
            f"{line['message'][:300]}"
        )
    for line in wrong:
        print(line)
    return 1 if bad or wrong else 0


# --- a worker ----------------------------------------------------------------------------------


def _work(options: argparse.Namespace) -> int:
    from tests.campaign import trials
    from tests.campaign.units import units
    from warehouse.store.open import open_store

    all_units = units(options.data if options.data.is_dir() else None)
    wanted = options.groups.split(",")
    chosen = {
        name: found
        for name, found in all_units.items()
        if any(part in name for part in wanted)
    }
    folder: Path = options.worker
    last = min(options.first - options.first % BLOCK + BLOCK, options.mutants)
    url = _store_of(folder, last)
    with open_store(url, write=True) as store:
        for number in range(options.first, last):
            made = trials.make(
                chosen,
                number,
                options.seed,
                folder / "dump",
                part_of_kinds=options.kinds,
            )
            (folder / "begun").write_text(made.to_line())
            unit = trials.pick(chosen, number, options.seed)
            done = trials.run(store, made, unit, folder / "dump", options.seed)
            with options.log.open("a") as out:
                out.write(done.to_line())
        (folder / "begun").unlink(missing_ok=True)
        wrong = trials.verdict(store, _known(folder))
        _append(options.log, {"block": last, "wrong": wrong})
    return 0


def _store_of(folder: Path, last: int) -> str:
    """The store of a block: a copy of the one with the known runs, or what a dead
    worker left."""
    from tests.campaign import trials
    from warehouse.store.open import open_store

    template, path = folder / "known.duckdb", folder / f"block-{last}.duckdb"
    if not template.exists():
        trials.fill_known(f"duckdb:///{template}")
        with open_store(f"duckdb:///{template}") as store:
            (folder / "known").write_text(" ".join(map(str, trials.fingerprint(store))))
    if not path.exists():
        for old in folder.glob("block-*"):
            old.unlink() if old.is_file() else shutil.rmtree(old)
        shutil.copy(template, path)
    return f"duckdb:///{path}"


def _known(folder: Path) -> tuple[int, str]:
    last_run, digest = (folder / "known").read_text().split()
    return int(last_run), digest


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
