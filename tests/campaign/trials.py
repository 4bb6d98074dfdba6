"""One store, many broken dumps: what each did, and whether the store is what it was."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.campaign.containers import mutations_for
from tests.campaign.kinds import KINDS, meddling
from tests.campaign.units import FIXTURES, Unit
from warehouse.errors import WarehouseError
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check
from warehouse.store.sql import query_files

#: A mutant may take so long; files are below 1 MB, archives may unpack to 256 MB.
SECONDS = 60.0
#: Messages that only a defect of an importer produces.
DEFECTS = ("this is a defect", "the importer '")


@dataclass(frozen=True)
class Trial:
    """What came of one mutant."""

    number: int
    group: str
    file: str
    mutation: str
    outcome: str  # loaded, refused, misuse, unclaimed, unchanged, DEFECT
    seconds: float = 0.0
    peak_mb: int = 0
    message: str = ""

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self)) + "\n"


def fill_known(url: str) -> None:
    """A store with runs that no mutant may change."""
    with open_store(url, create=True) as store:
        for name in ("lm_eval", "inspect"):
            ingest(
                store, [FIXTURES / name], values={"model": "known/model"}, force=True
            )


def fingerprint(store: Store, last_run: int | None = None) -> tuple[int, str]:
    """Last known run, and one hash over all that is stored of the known runs but what
    scans say of them."""
    if last_run is None:
        last_run = int(store.arrow("select max(id) as n from run")["n"][0].as_py())
    total = hashlib.sha256()
    for table in (*tables.RUN_FACTS, tables.run):
        key = "id" if table.name == "run" else "run_id"
        names = [
            column.name for column in table.columns if column.name != "superseded_by"
        ]
        selected = ", ".join(f'"{name}"' for name in names)
        own = (
            "and metric_id not in (select metric_id from scan_value)"
            if "metric_id" in names
            else ""
        )
        rows = store.arrow(
            f'select {selected} from "{table.name}" where {key} <= :last {own}',
            {"last": last_run},
        )
        lines = sorted(repr(tuple(row.values())) for row in rows.to_pylist())
        total.update(f"{table.name} {len(lines)}\n".encode())
        total.update("\n".join(lines).encode("utf-8", "backslashreplace"))
    return last_run, total.hexdigest()


def make(
    units: Mapping[str, Sequence[Unit]],
    number: int,
    seed: int,
    folder: Path,
    *,
    part_of_kinds: float = 0.15,
) -> Trial:
    """Write mutant ``number`` into a folder; the trial has no outcome yet.

    ``part_of_kinds`` of the mutants are files of another kind instead of other bytes.
    """
    rng = random.Random(f"{seed}:{number}")
    unit = pick(units, number, seed)
    target = rng.choice(unit.targets)
    raw = target.read_bytes()
    is_kind = rng.random() < part_of_kinds
    kind, mutation = rng.choice(KINDS), rng.choice(mutations_for(target, raw))
    _clear(folder)
    for path in unit.files:
        copy = folder / path.relative_to(unit.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        mutated = path == target and not is_kind
        copy.write_bytes(mutation(raw, rng) if mutated else path.read_bytes())
    if is_kind:
        kind(folder / target.relative_to(unit.root), rng)
    name = getattr(kind if is_kind else mutation, "__qualname__", "").split(".")[0]
    return Trial(number, unit.group, str(target.relative_to(unit.root)), name, "")


def _clear(folder: Path) -> None:
    """Remove what the last mutant left, whoever may read it."""
    if folder.exists():
        folder.chmod(0o755)
    for place, names, _ in os.walk(folder):
        for name in names:
            if not (Path(place) / name).is_symlink():
                (Path(place) / name).chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


def pick(units: Mapping[str, Sequence[Unit]], number: int, seed: int) -> Unit:
    """The source of mutant ``number``: every group is as likely, whatever its size."""
    rng = random.Random(f"unit:{seed}:{number}")
    return rng.choice(units[rng.choice(sorted(units))])


def run(store: Store, made: Trial, unit: Unit, folder: Path, seed: int) -> Trial:
    """Ingest a mutant; whatever is not an error of ours is a defect."""
    rng = random.Random(f"options:{seed}:{made.number}")
    options = LoadOptions(
        max_rejected=rng.choice((0, 1_000_000)),
        on_conflict=rng.choice(("error", "error", "skip", "supersede")),
        on_duplicate=rng.choice(("error", "first", "last", "draws")),
        text=rng.choice(("all", "responses", "none")),
    )
    started = time.monotonic()
    with (
        meddling(folder / made.file, rng)
        if made.mutation == "changing"
        else nullcontext()
    ):
        outcome, message = outcome_of(store, unit, folder, options)
    seconds = round(time.monotonic() - started, 3)
    if seconds > SECONDS:
        outcome, message = "DEFECT", f"took {seconds} s; {outcome}: {message}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Trial(
        made.number,
        made.group,
        made.file,
        made.mutation,
        outcome,
        seconds,
        peak,
        message[:600],
    )


def outcome_of(
    store: Store, unit: Unit, folder: Path, options: LoadOptions
) -> tuple[str, str]:
    """What becomes of a source in a folder, and what is said. Bytes that did not change
    are those of a known run, read under another model: they stand beside it."""
    options = replace(options, beside=True)
    try:
        report = ingest(
            store,
            [folder],
            values=unit.values,
            mapping=unit.mapping,
            options=options,
            force=True,
        )
    except WarehouseError as error:
        return "misuse", str(error)
    except Exception as error:
        import traceback

        return (
            "DEFECT",
            f"{type(error).__name__}: {error} | {traceback.format_exc()[-900:]}",
        )
    states = sorted({item.state for item in report.sources})
    message = "; ".join(item.error for item in report.refused)
    if any(part in message for part in DEFECTS):
        return "DEFECT", message
    if not states:
        return "unclaimed", ""
    return ("refused" if "refused" in states else states[0]), message


def verdict(store: Store, known: tuple[int, str]) -> list[str]:
    """What is wrong with a store after its mutants; nothing, if all is well."""
    wrong = []
    if fingerprint(store, known[0]) != known:
        wrong.append("known runs changed")
    report = check(store)
    if not report.ok:
        wrong.append(str(report))
    for view in query_files.views(store.dialect.name):
        try:
            store.arrow(f'select * from "{view.name}"')
        except Exception as error:
            wrong.append(f"view {view.name}: {str(error)[:200]}")
    loading: Any = store.arrow(
        "select count(*) as n from source where state = 'loading'"
    )["n"]
    if loading[0].as_py():
        wrong.append(f"{loading[0].as_py()} sources were left half done")
    return wrong
