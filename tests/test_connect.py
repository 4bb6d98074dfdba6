"""``warehouse.connect``: what it takes, and that it keeps nobody from reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.races import dumps
from warehouse import connect
from warehouse.api import Warehouse
from warehouse.errors import InputError, StoreError

READER = """
import sys
from warehouse import connect
with connect(sys.argv[1], create=False)._reading():
    print("reading", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "s.duckdb"
    connect(str(made)).ingest(
        dumps(tmp_path / "dumps", 9)[0], tmp_path / "dumps" / "dump-0008.csv"
    )
    return made


def test_a_path_is_a_store_as_its_name_is(path: Path) -> None:
    assert isinstance(connect(path), Warehouse)
    boards = [connect(store).leaderboard("quiz-0") for store in (path, str(path))]
    assert [len(board.rows) for board in boards] == [2, 2]
    with pytest.raises(StoreError, match="no store at"):
        connect(path.with_name("other.duckdb"), create=False)
    assert not path.with_name("other.duckdb").exists()
    other = connect(path.with_name("other.duckdb"))
    with pytest.raises(StoreError, match="no store at"):
        other.leaderboard()
    assert not path.with_name("other.duckdb").exists()  # reading makes no store
    other.ingest(path.with_name("dumps") / "dump-0008.csv")
    assert len(other.models()) == 1


def test_connecting_needs_no_more_than_reading_where_a_store_is(path: Path) -> None:
    command = [sys.executable, "-c", READER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout and reader.stdout.readline() == b"reading\n"
        assert len(connect(str(path), wait=0).leaderboard("quiz-0").rows) == 2
        reader.communicate()
    assert reader.returncode == 0


def test_a_single_condition_may_be_a_text(path: Path) -> None:
    store = connect(str(path))
    (row,) = store.leaderboard("quiz-0", where="model=org/model-1").rows
    assert row.model == "org/model-1"
    assert len(store.leaderboard("quiz-0", where=["model!=org/model-1"]).rows) == 1


def test_a_frame_that_nobody_knows_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="no column holds scores: score.*mapping="):
        connect(path).ingest(
            pa.table({"model": ["m"], "benchmark": ["b"], "prompt_id": ["1"]})
        )
