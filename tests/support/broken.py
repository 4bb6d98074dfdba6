"""Small dumps, each way in which one is broken, and what must hold of whatever is read
of it then."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.campaign import containers, mutations
from tests.campaign.units import Unit
from tests.support.mutants import swapped
from warehouse.errors import InputError, MappingError
from warehouse.ingest.discover import discover
from warehouse.records import BulkQuery, Dump
from warehouse.testing.changed_files import (
    BROKEN,
    change_json,
    damages,
    lines_in_another_order,
)

#: Changes a copy of a dump; the paths are those of its files.
Way = Callable[[Path, list[Path], random.Random], object]
#: What some dumps do not say.
UNNAMED = {"model": "org/m", "benchmark": "quiz"}
#: These unpack to hundreds of megabytes, which takes a second each: `tests/campaign`
#: has them.
_LARGE = (containers.bomb, mutations.gzip_bomb)


def copy_of(unit: Unit, folder: Path) -> list[Path]:
    """Put the files of a source into a folder, in place of what was there; where they
    lie."""
    shutil.rmtree(folder, ignore_errors=True)
    copies = []
    for path in unit.files:
        copy = folder / path.relative_to(unit.root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        copies.append(copy)
    return copies


def targets_of(unit: Unit, copies: list[Path]) -> list[Path]:
    """Those of the copies that may be broken: large ones only cost time."""
    return [
        copy
        for path, copy in zip(unit.files, copies, strict=True)
        if path in unit.targets
    ]


# --- ways -------------------------------------------------------------------------------------------


def change_at_random(path: Path, rng: random.Random) -> str:
    """Break a file in a way that suits its kind; the name of the way."""
    raw = path.read_bytes()
    change = rng.choice(
        [item for item in containers.mutations_for(path, raw) if item not in _LARGE]
    )
    path.write_bytes(change(raw, rng))
    return change.__qualname__.split(".")[0]


def swap_a_value(path: Path, rng: random.Random) -> str:
    """Put something strange in place of a part of a JSON document or of one of its
    lines, as often deep inside as there is much of it; the name of the way."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        lines = text.splitlines()
        place = rng.randrange(len(lines))
        lines[place] = json.dumps(swapped(json.loads(lines[place]), rng))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(swapped(json.loads(text), rng)), encoding="utf-8")
    return "another value"


def has_values(path: Path) -> bool:
    """It holds JSON, a document or lines."""
    if path.suffix not in (".json", ".jsonl"):
        return False
    texts = (
        path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".jsonl"
        else [path.read_text("utf-8")]
    )
    try:
        return all(
            isinstance(json.loads(text), dict | list) for text in texts
        ) and bool(texts)
    except ValueError:
        return False


def _at_random(_folder: Path, files: list[Path], rng: random.Random) -> None:
    change_at_random(rng.choice(files), rng)


def _lines(_folder: Path, files: list[Path], rng: random.Random) -> None:
    path = rng.choice(files)
    path.write_bytes(mutations.lines(path.read_bytes(), rng))


def _missing(_folder: Path, files: list[Path], rng: random.Random) -> None:
    rng.choice(files).unlink()


def _exchanged(_folder: Path, files: list[Path], rng: random.Random) -> None:
    one, other = rng.choice(files), rng.choice(files)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _turned_round(folder: Path, _files: list[Path], _rng: random.Random) -> None:
    lines_in_another_order(folder)


def _damaged(name: str) -> Way:
    def way(_folder: Path, files: list[Path], rng: random.Random) -> None:
        path = rng.choice(files)
        path.write_bytes(dict(damages(path.read_bytes()))[name])

    return way


def _odd_json(name: str) -> Way:
    def way(folder: Path, _files: list[Path], _rng: random.Random) -> None:
        change_json(folder, name)

    return way


#: What is said otherwise, and means the same.
SAME = ("lines in another order", "keys in another order")
WAYS: dict[str, Way] = {
    **{name: _damaged(name) for name, _ in damages(b"any")},
    **{name: _odd_json(name) for name in BROKEN},
    "lines in another order": _turned_round,
    "a line dropped, doubled, moved, emptied or cut": _lines,
    "a file missing": _missing,
    "two files exchanged": _exchanged,
    "anything": _at_random,
}


# --- what must hold ---------------------------------------------------------------------------------


def read_or_refused(folder: Path, unit: Unit) -> str:
    """Read what importers find in a folder: each rejected row has its place, each
    refusal is clear."""
    found = discover([folder], defaults=UNNAMED, mapping=unit.mapping)
    outcomes = set()
    for job in found.jobs:
        try:
            dump = _read(job.importer.read(job.files, found.plan.settings))
        except InputError as error:
            assert_clear(error, folder, unit)
            outcomes.add("refused")
        else:
            assert [
                item
                for item in dump.rejections
                if not (item.place and item.found and item.expected)
            ] == []
            outcomes.add("rejected" if dump.rejections else "read")
    return min(outcomes, default="unclaimed")


def _read(dump: Dump) -> Dump:
    for batch in dump.batches:
        if isinstance(batch, BulkQuery):
            for _ in batch.fallback():
                pass
    return dump


def assert_clear(error: InputError, folder: Path, unit: Unit) -> None:
    """A refusal names the file, what was found there, and what was expected or what to
    do."""
    assert error.found, error
    named = {str(unit.mapping), *(path.name for path in unit.files)}
    assert error.path.startswith(str(folder)) or error.path in named, error
    assert error.expected or error.advice or isinstance(error, MappingError), error
    assert "defect" not in str(error) and "Traceback" not in str(error), error


@contextmanager
def told(unit: Unit, way: object, number: object = "") -> Iterator[None]:
    """Whatever fails is told with the dump, and with how it was broken."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{unit.group}, {unit.files[0].name}: {way} {number}")
        raise
