"""Small sources are loaded together, and what becomes of each is what would by itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import store_at
from warehouse.importers.tabular.importer import Tabular
from warehouse.ingest import pipeline, reading
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store
from warehouse.store.schema import tables
from warehouse.store.schema.migrate import check
from warehouse.store.sql.natural_keys import table_query

DATA = Path(__file__).resolve().parents[1] / "data"
#: Columns that say when something happened, or hold nothing but a surrogate key.
PASSING = {"seconds", "claimed_at", "loaded_at", "created_at"}
#: What sources say beyond what stands is by ids, and may be said in other rows:
#: `store/test_taken_back.py` holds it.
LEFT_OUT = {"id_counter", "content", "statement"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dumps").mkdir()
    return tmp_path / "dumps"


def table(folder: Path, name: str, rows: list[tuple[str, Any]], **values: str) -> Path:
    """A CSV file of one run: scores by prompt, and more columns of one value each."""
    told = {"model": "org/a", "benchmark": "quiz"} | values
    lines = [",".join([*told, "prompt_id", "score"])]
    lines += [",".join([*told.values(), prompt, str(score)]) for prompt, score in rows]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def made(folder: Path) -> None:
    """Sources of every kind, small and side by side."""
    right = [("p0", 1), ("p1", 0), ("p2", 1)]
    for number in range(6):
        table(
            folder,
            f"a{number}",
            right[: 1 + number % 3],
            model=f"org/{number % 3}",
            benchmark=f"quiz{number // 3}",
        )
    shutil.copy(folder / "a1.csv", folder / "b1.csv")
    table(
        folder, "b2", right[::-1], model="org/2", benchmark="quiz0"
    )  # a2 in another order
    table(folder, "b3", [("p0", 0)], model="org/0", benchmark="quiz1")  # a repeat of a3
    (folder / "c.csv").write_text(
        "model,benchmark,prompt_id,score\norg/a,quiz,p0,1,2,3\n"
    )
    table(folder, "d", [("p0", 1), ("p0", 0)])
    table(folder, "e", [("p0", 1), ("p0", 1), ("p1", 1)])
    table(folder, "f", right)
    table(folder, "g", [("p0", 0.5), ("p7", 30)])  # widens the range of the metric
    for kind in ("lm_eval/v0_4_13", "simple_evals", "harbor"):
        shutil.copytree(DATA / kind, folder / kind)


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the store by natural keys, without what passes."""
    found = {}
    for name in tables.metadata.tables:
        if name in LEFT_OUT:
            continue
        rows = store.arrow(table_query(name))
        names = [
            column
            for column in rows.column_names
            if column.split(".")[-1] not in PASSING
        ]
        columns = (rows[column].to_pylist() for column in names)
        found[name] = sorted(
            nameless(repr(tuple(map(rounded, row))))
            for row in zip(*columns, strict=True)
        )
    return found


def rounded(value: Any) -> Any:
    """A number without what the order of a sum leaves in its last digits."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many sources each transaction has stored."""
    counts: list[int] = []
    load_all = Loader.load_all

    def counted(self: Loader, *arguments: Any, **options: Any) -> Any:
        reports = load_all(self, *arguments, **options)
        counts.append(len(reports))
        return reports

    monkeypatch.setattr(Loader, "load_all", counted)
    yield counts


def reports(found: IngestReport) -> list[Any]:
    return [
        replace(
            item,
            seconds=0.0,
            run_ids=(),
            source_id=None,
            error=nameless(item.error),
            notes=tuple(map(nameless, item.notes)),
        )
        for item in found.sources
    ]


def nameless(text: str) -> str:
    """A message without the ids of runs, which engines hand out in blocks."""
    return re.sub(r"run \d+", "run", text)


@pytest.mark.rare
def test_what_becomes_of_each_is_what_would_by_itself(
    store_url: str,
    tmp_path: Path,
    folder: Path,
    watched: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among them a twin, a run seen again, repeats, tries of one run, and three with
    faults."""
    made(folder)
    other = f"duckdb:///{tmp_path / 'other.duckdb'}"
    with (
        open_store(store_url, create=True) as together,
        open_store(other, create=True) as single,
    ):
        found = ingest(together, [folder])
        assert max(watched) > 4
        watched.clear()
        monkeypatch.setattr(reading, "GROUP_SOURCES", 1)
        expected = ingest(single, [folder])
        assert max(watched) == 1
        assert reports(found) == reports(expected)
        assert len(found.refused) >= 2
        held, alone = contents(together), contents(single)
        if (
            together.dialect.name != single.dialect.name
        ):  # a server keeps the names that a refused source began with
            assert set(alone["run_group"]) <= set(held["run_group"])
            del alone["run_group"], held["run_group"]
        assert held == alone
        assert check(together).ok
        again = ingest(together, [folder])
        assert not again.total("n_runs") and not again.total("n_seen_again")


def test_a_fault_in_one_leaves_the_others_whole(
    store_url: str, folder: Path, watched: list[int]
) -> None:
    for number in range(20):
        table(
            folder,
            f"s{number:02}",
            [("p0", 1), ("p1", number % 2)],
            model=f"org/{number}",
        )
    table(folder, "s07", [("p0", 1), ("p0", 0)], model="org/7")
    with open_store(store_url, create=True) as store:
        found = ingest(store, [folder])
        assert [item.source for item in found.refused] == [str(folder / "s07.csv")]
        assert "stands twice with different values" in found.refused[0].error
        assert found.total("n_runs") == 19
        assert len(watched) < 8  # halves, not one by one
        assert check(store).ok
        table(folder, "s07", [("p0", 1)], model="org/7")
        assert ingest(store, [folder]).total("n_runs") == 1


@pytest.mark.parametrize("which", ["rows", "bytes", "bulk", "sources", "held"])
def test_groups_are_bounded(
    tmp_path: Path,
    folder: Path,
    which: str,
    watched: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(8):
        table(
            folder,
            f"s{number}",
            [(f"p{row}", 1) for row in range(10)],
            model=f"org/{number}",
        )
    size = (folder / "s0.csv").stat().st_size
    name, limit = {
        "rows": ("GROUP_ROWS", 40),
        "bytes": ("GROUP_BYTES", 4 * size),
        "bulk": (
            "GROUP_BYTES",
            size,
        ),  # the engine reads them by itself: five times as many
        "sources": ("GROUP_SOURCES", 4),
        "held": ("GROUP_HELD", 100),  # less than the batch of one takes in memory
    }[which]
    monkeypatch.setattr(reading, name, limit)
    monkeypatch.setattr(Tabular, "in_bulk", which == "bulk", raising=False)
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        assert ingest(store, [folder]).total("n_runs") == 8
    assert watched == {"held": [1] * 8, "bulk": [5, 3]}.get(which, [4, 4])


def test_larger_sources_are_tried_together_once(
    tmp_path: Path, folder: Path, watched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one has to be loaded by itself the others of the same dump may have to:
    what is parsed in vain is one group, not half of it and half of that."""
    for number in range(12):
        rows = [("p0", 1), ("p1", 0)] + [("p0", 0)] * (number == 2)
        table(folder, f"s{number:02}", rows, model=f"org/{number}")
    monkeypatch.setattr(pipeline, "TINY_BYTES", 10)
    monkeypatch.setattr(reading, "GROUP_SOURCES", 4)
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        found = ingest(store, [folder])
    assert found.total("n_runs") == 11 and len(found.refused) == 1
    assert watched == [
        1,
        1,
        1,
        4,
        1,
        1,
        1,
        1,
    ]  # the second was under way when the first failed


def test_duplicates_that_are_kept_as_draws(tmp_path: Path, folder: Path) -> None:
    for number in range(3):
        table(
            folder,
            f"s{number}",
            [("p0", 1), ("p0", 0), ("p1", 1)],
            model=f"org/{number}",
        )
    with open_store(store_at(tmp_path / "s.duckdb"), write=True) as store:
        ingest(store, [folder], options=LoadOptions(on_duplicate="draws"))
        draws = store.arrow(
            "select run_id, max(draw) as last from score group by run_id"
        )
        assert draws["last"].to_pylist() == [1, 1, 1]
