"""The mutation campaign in small, and that it would notice what it is there to notice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.campaign import trials
from tests.campaign.mutations import VALUES
from tests.campaign.sweep import cases, sweep
from tests.campaign.units import ROOT, Unit, units
from warehouse.importers import importer
from warehouse.store.connection import Store
from warehouse.store.open import open_store

MUTANTS = 9


@pytest.fixture(scope="module")
def small_units() -> dict[str, list[Unit]]:
    return units(None)


@pytest.fixture
def known_store(store_url: str) -> Iterator[Store]:
    with open_store(store_url, create=True) as store:
        trials.ingest(store, [ROOT / "tests/data/tabular/long.csv"])
        yield store


def trial(
    store: Store, chosen: dict[str, list[Unit]], number: int, folder: Path
) -> trials.Trial:
    made = trials.make(chosen, number, 5, folder)
    return trials.run(store, made, trials.pick(chosen, number, 5), folder, 5)


@pytest.mark.slow_on_server
def test_broken_fixtures_leave_the_store_as_it_was(
    known_store: Store, small_units: dict[str, list[Unit]], tmp_path: Path
) -> None:
    known = trials.fingerprint(known_store)
    done = [
        trial(known_store, small_units, n, tmp_path / "dump") for n in range(MUTANTS)
    ]
    assert [item for item in done if item.outcome == "DEFECT"] == []
    assert {"loaded", "refused"} <= {item.outcome for item in done}
    assert len({item.mutation for item in done}) > 5
    assert trials.verdict(known_store, known) == []


@pytest.mark.slow_on_server
def test_strange_values_of_every_key_leave_the_store_as_it_was(
    known_store: Store, small_units: dict[str, list[Unit]], tmp_path: Path
) -> None:
    every = list(cases(small_units, VALUES[:40]))
    assert len(every) > 10_000
    chosen = random.Random(1).sample(every, MUTANTS)
    assert sweep(known_store, chosen, tmp_path / "dump") == []


def test_a_mutant_is_decided_by_its_number_and_the_seed(
    small_units: dict[str, list[Unit]], tmp_path: Path
) -> None:
    def bytes_of(number: int, seed: int, folder: str) -> dict[str, bytes]:
        trials.make(small_units, number, seed, tmp_path / folder)
        return {
            str(path.relative_to(tmp_path / folder)): path.read_bytes()
            for path in (tmp_path / folder).rglob("*")
            if path.is_file()
            and path.suffix != ".eval"  # a zip entry holds the time of day
        }

    seen = [bytes_of(number, 3, f"a{number}") for number in range(8)]
    assert seen == [bytes_of(number, 3, f"b{number}") for number in range(8)]
    assert seen != [bytes_of(number, 4, f"c{number}") for number in range(8)]


def test_a_failing_importer_is_a_defect(
    duckdb_url: str,
    small_units: dict[str, list[Unit]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyError("not there")

    chosen = {"fixtures/inspect": small_units["fixtures/inspect"]}
    monkeypatch.setattr(type(importer("inspect")), "read", fail)
    with open_store(duckdb_url, create=True) as store:
        outcomes = {
            trial(store, chosen, n, tmp_path / "dump").outcome for n in range(6)
        }
    assert "DEFECT" in outcomes


def test_a_known_run_that_changes_is_noticed(known_store: Store) -> None:
    known = trials.fingerprint(known_store)
    with known_store.begin() as connection:
        connection.execute(sa.text("update score set value = 0.25 where value = 1"))
    wrong = trials.verdict(known_store, known)
    assert wrong[0] == "known runs changed" and "prompt_score" in wrong[1]


@pytest.mark.slow
def test_the_supervisor_goes_on_where_the_log_ends(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"

    def call(mutants: int) -> list[int]:
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "tests/campaign/run.py"),
                "--mutants",
                str(mutants),
                "--log",
                str(log),
                "--data",
                str(tmp_path / "none"),
                "--groups",
                "tabular",
            ],
            check=True,
            capture_output=True,
        )
        return [
            json.loads(line).get("number", -1) for line in log.read_text().splitlines()
        ]

    assert call(2) == [0, 1, -1]
    assert call(3) == [0, 1, -1, 2, -1]
