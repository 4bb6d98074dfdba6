"""Logs with something changed at random: read, rejected or refused, never a failure."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.support.inspect_logs import FIXTURES, entries_of, take, write_deflated
from tests.support.mutants import swapped
from warehouse.errors import InputError


def read(path: Path) -> None:
    try:
        taken = take(path, model="org/m", benchmark="b")
    except InputError as error:
        assert path.name in str(error)
    else:
        assert all(item.place and item.found for item in taken.dump.rejections)


@pytest.mark.parametrize("name", ["grid.eval", "grid_chunked.eval", "choices.eval", "faults.eval"])
def test_parts_replaced_in_archives(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    entries = entries_of(FIXTURES / name)
    names = [entry for entry in entries if "/events" not in entry and "/calls" not in entry]
    for _ in range(30):
        entry = rng.choice([*names, "header.json", "header.json"])
        document = swapped(json.loads(entries[entry]), rng)
        read(write_deflated(tmp_path / "a.eval", {**entries, entry: json.dumps(document).encode()}))


def test_parts_replaced_in_json(tmp_path: Path) -> None:
    rng = random.Random(5)
    text = (FIXTURES / "grid.json").read_text()
    for _ in range(30):
        (tmp_path / "a.json").write_text(json.dumps(swapped(json.loads(text), rng)))
        try:
            read(tmp_path / "a.json")
        except ValueError as error:  # no longer claimed: its first keys are gone
            assert "unpack" in str(error)


@pytest.mark.parametrize("name", ["judged.eval", "grid_chunked.eval"])
def test_bytes_flipped(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    raw = (FIXTURES / name).read_bytes()
    for _ in range(60):
        damaged = bytearray(raw)
        for _ in range(rng.choice((1, 1, 4, 64))):
            damaged[rng.randrange(len(raw))] = rng.randrange(256)
        (tmp_path / "a.eval").write_bytes(bytes(damaged[: rng.choice((None, None, len(raw) - 9))]))
        read(tmp_path / "a.eval")
