"""The views and the library give the rows that stand in `cases/*.txt`, on every engine
and on a lake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lakes import needs_lake, world_with_lake
from tests.support.sql_cases import Case, ask, cases_of, differences
from warehouse.store.connection import Store
from warehouse.store.open import open_store

CASES = list(cases_of(Path(__file__).parent / "cases"))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = world_with_lake(tmp_path_factory.mktemp("lake"))
    with open_store(f"sail:?lake={folder / 'lake'}") as store:
        yield store


def test_headings_tell_cases_apart() -> None:
    assert len({str(case) for case in CASES}) == len(CASES) > 10


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_of_a_query(world: Store, case: Case) -> None:
    assert differences(ask(world, case), case.rows) == []


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.lake
@needs_lake
def test_rows_of_a_query_of_a_lake(lake: Store, case: Case) -> None:
    assert differences(ask(lake, case), case.rows) == []
