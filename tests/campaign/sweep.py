"""Every key of every dump with every strange value: what a random campaign reaches by
chance.

    python tests/campaign/sweep.py --part 0/7 --values 1e308 9223372036854775808 null
    python tests/campaign/sweep.py --url postgresql://user@host/empty_database

Without --part it takes hours. So many mutants at a time go into a store that holds
known runs; then the store is proved and every view is read. Findings are printed as
lines of JSON; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # behind the installed package

from tests.campaign import trials  # noqa: E402
from tests.campaign.mutations import VALUES, everywhere, keys_of  # noqa: E402
from tests.campaign.units import Unit, units  # noqa: E402
from warehouse.store.connection import Store  # noqa: E402
from warehouse.store.load.state import LoadOptions  # noqa: E402
from warehouse.store.open import open_store  # noqa: E402
from warehouse.store.schema import migrate  # noqa: E402

BLOCK = 150
#: Heads of files whose text is not JSON: archives and Parquet.
PACKED = (b"PK\x03\x04", b"PAR1", b"\x1f\x8b")


@dataclass(frozen=True)
class Case:
    """One value for one key of one file of a source."""

    unit: Unit
    target: Path
    key: str
    value: bytes

    def write(self, folder: Path) -> None:
        """The source with that value, into an empty folder."""
        shutil.rmtree(folder, ignore_errors=True)
        for path in self.unit.files:
            copy = folder / path.relative_to(self.unit.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            raw = path.read_bytes()
            copy.write_bytes(
                everywhere(raw, self.key, self.value) if path == self.target else raw
            )

    def __str__(self) -> str:
        return json.dumps(
            [self.unit.group, self.target.name, self.key, repr(self.value[:40])]
        )


def cases(
    found: Mapping[str, Sequence[Unit]], values: Sequence[bytes]
) -> Iterator[Case]:
    """Every key of a fixture; a key of many files of one corpus counts once."""
    seen: set[tuple[str, str]] = set()
    for group, members in sorted(found.items()):
        for unit in members:
            for target in unit.targets:
                raw = target.read_bytes()
                place = str(target) if group.startswith("fixtures/") else group
                for key in () if raw.startswith(PACKED) else keys_of(raw):
                    if (place, key) not in seen:
                        seen.add((place, key))
                        yield from (Case(unit, target, key, value) for value in values)


def sweep(store: Store, block: Sequence[Case], folder: Path) -> list[str]:
    """Ingest the cases; the findings, and what is wrong with the store afterwards."""
    known = trials.fingerprint(store)
    findings = []
    for number, case in enumerate(block):
        case.write(folder)
        options = LoadOptions(
            max_rejected=(0, 1_000_000)[number % 2],
            on_duplicate=("error", "first")[number // 2 % 2],
        )
        outcome, message = trials.outcome_of(store, case.unit, folder, options)
        if outcome == "DEFECT":
            findings.append(f"{case}: {message}")
    wrong = trials.verdict(store, known)
    return findings + ([f"{block[0]} to {block[-1]}: {wrong}"] if wrong else [])


def main() -> int:
    parser = argparse.ArgumentParser(description="see the head of the file")
    parser.add_argument("--url", help="of an empty database [default: a file]")
    parser.add_argument(
        "--part", default="0/1", help="I/N: every N-th case, from the I-th"
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--values", nargs="*", default=None, help="[default: those of mutations]"
    )
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    values = (
        VALUES[:40]
        if options.values is None
        else [one.encode() for one in options.values]
    )
    found = units(options.data if options.data.is_dir() else None)
    todo = list(cases(found, values))[first::step]
    print(f"{len(todo)} cases", flush=True)
    n_findings = 0
    with tempfile.TemporaryDirectory(prefix="warehouse-sweep-") as folder:
        for start in range(0, len(todo), BLOCK):
            url = options.url or f"duckdb:///{folder}/block-{start}.duckdb"
            if start and options.url:
                with open_store(url, write=True) as store:
                    migrate.downgrade(store, "base")
            trials.fill_known(url)
            with open_store(url, write=True) as store:
                findings = sweep(
                    store, todo[start : start + BLOCK], Path(folder) / "dump"
                )
            n_findings += len(findings)
            print(*findings, sep="\n", end="\n" if findings else "", flush=True)
            for path in Path(folder).glob("block-*"):
                path.unlink()
    print(f"{n_findings} findings")
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
