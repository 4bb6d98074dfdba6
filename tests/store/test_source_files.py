"""Whether a file is one that the ledger knows as a source, so that nothing is written
in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from warehouse.store.known_sources import known_as
from warehouse.store.load import source_ledger
from warehouse.store.schema import tables


def enter(kit: Any, path: Path, size: int) -> None:
    """A source as the ledger has it once it was claimed."""
    claim = source_ledger.claim(
        kit.store,
        path=str(path),
        size=size,
        sha256="0" * 64,
        importer="t",
        version="1",
        settings={},
    )
    assert claim is not None
    with kit.store.begin() as connection:
        (stored,) = connection.execute(sa.select(tables.source.c.path)).scalars()
    assert stored.isprintable()


def test_a_source_is_known_by_its_path_whatever_bytes_that_has(
    kit: Any, tmp_path: Path
) -> None:
    path, other = tmp_path / "lo\udcffg.json", tmp_path / "log.json"
    for one in (path, other):
        one.write_text("{}")
    enter(kit, path, 2)
    assert known_as(kit.store, path, True).startswith("source 1 (")
    assert known_as(kit.store, other, True) == known_as(kit.store, other, False) == ""


def test_files_beside_the_first_of_a_source_of_several_are_its_own_unless_we_wrote_them(
    kit: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "dump"
    (folder / "below").mkdir(parents=True)
    first, beside, below, elsewhere = (
        path
        for path in (
            folder / "a.json",
            folder / "b.json",
            folder / "below" / "c.json",
            tmp_path / "d.json",
        )
    )
    for path in (first, beside, below, elsewhere):
        path.write_text("{}")
    enter(kit, first, 6)  # of all its files
    assert known_as(kit.store, first, True).startswith("source 1 (")
    for path in (beside, below):
        assert known_as(kit.store, path, False).startswith(
            "in the folder of source 1 ("
        )
        assert known_as(kit.store, path, True) == ""
    assert known_as(kit.store, elsewhere, False) == ""


def test_files_beside_a_source_of_one_file_are_none(kit: Any, tmp_path: Path) -> None:
    first, beside = tmp_path / "a.json", tmp_path / "b.json"
    for path in (first, beside):
        path.write_text("{}")
    enter(kit, first, 2)
    assert known_as(kit.store, beside, False) == ""
