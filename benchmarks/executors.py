"""What executors take over of an ingest: seconds of parsing there, and of loading here.

The ratios are those of executors with a core each, beside the cores of this machine:
here both share them, so that they are computed (the larger of parsing / executors and
loading), not measured.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import helm_run
from dumps import write_lm_eval
from measure import run_process

#: Both sides in one process, one after the other; `ingest --on` has them on several
#: machines.
SHARES = """
import sys, time
from pathlib import Path
from warehouse.ingest import parse_elsewhere
from warehouse.ingest.discover import discover
from warehouse.ingest.reading import Reading, identify
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader
from warehouse.store.open import open_store
store, folder = sys.argv[1], Path(sys.argv[2])
discovered = discover([folder])
plan, archives, parsing = discovered.plan, [], 0.0
for job in discovered.jobs:
    known = identify(job)
    packed = parse_elsewhere.pack([Reading(job.importer, job.files, known.stamps)], plan.settings, plan.options)
    archive, started = Path(f"{store}.{len(archives)}"), time.process_time()
    with archive.open("wb") as file:
        file.writelines(parse_elsewhere.parse(packed))
    parsing += time.process_time() - started
    archives.append((archive, job, known))
with open_store(store, create=True) as opened:
    loader, started, begun = Loader(opened, overlapping=True), time.process_time(), time.monotonic()
    for archive, job, known in archives:
        version, size = job.importer.version, job.size
        entry = source_ledger.LedgerEntry(job.files.name, size, known.sha256, job.importer.name, version, {})
        (claim,) = source_ledger.claim_all(opened, [entry])
        came = parse_elsewhere.arrived(archive)
        assert not isinstance(came, str) and claim is not None, came
        loader.load(loader.receive(came.dumps, came.n_rows, came.rows(), 0), claim, plan.options)
    loading, clock = time.process_time() - started, time.monotonic() - begun
    loader.close()
back = sum(archive.stat().st_size for archive, _, _ in archives) / 1e6
size = sum(job.size for _, job, _ in archives) / 1e6
one = max(parsing, clock)
print(f"{size:.0f} MB in {len(archives)} sources, {back:.0f} MB back: parsing {parsing:.2f} s of one core, loading"
      f" {loading:.2f} s of all cores, {clock:.2f} s by the clock; two executors against one:"
      f" {one / max(parsing / 2, clock):.1f} x at most, many: {one / clock:.1f} x")
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print both for two formats."""
    del options
    helm = folder / "executors-helm" / "runs" / "v1" / "bench"
    if not helm.exists():
        helm_run._write(helm)
    rows = folder / "executors-lm-eval"
    if not rows.exists():
        write_lm_eval(rows, 4, 2)
    for name, dumps in (("HELM", helm.parents[2]), ("lm-eval", rows)):
        store = folder / f"executors-{name}.duckdb"
        store.unlink(missing_ok=True)
        print(
            name,
            run_process(
                [sys.executable, "-c", SHARES, str(store), str(dumps)]
            ).output.strip(),
        )
