"""Commands on a lake: the same answers as from the store that it was made from, byte
for byte."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from tests.support.lakes import MARKS
from tests.support.races import dumps
from tests.support.world import build_world
from warehouse.api import connect
from warehouse.store.lake.check import check
from warehouse.store.lake.sync import sync
from warehouse.store.open import open_store

pytestmark = MARKS
DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo" / "results"
ON_WORLD = (
    *(
        "query leaderboard -p benchmark=quiz",
        "leaderboard quiz",
        "leaderboard --group suite --force",
        "leaderboard",
    ),
    *(
        "compare org/b org/c --benchmark quiz",
        "pairs quiz",
        "noise variance quiz",
        "noise variance run:5 --pass-at 1,2",
    ),
    *(
        "gate org/b org/c -b quiz --margin 0.02",
        "items difficulty items",
        "matrix test items",
        "matrix cluster items",
        "list runs",
    ),
    *(
        "list models",
        "list benchmarks",
        "list sources",
        "show run:7",
        "training seeds",
        "history quiz",
    ),
)
ON_DEMO = (
    "leaderboard sums",
    "leaderboard reading",
    "compare model-a model-b --benchmark reading",
    "pairs reading",
    "noise variance reading",
    "power --from model-a model-b --benchmark reading --delta 0.02",
)


@pytest.fixture(scope="module")
def world_and_lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """URLs of a store and of a lake of it."""
    url = f"duckdb:///{tmp_path_factory.mktemp('world') / 'store.duckdb'}"
    with open_store(url, create=True) as store:
        build_world().write(store)
    return url, lake_of(url)


@pytest.fixture(scope="module")
def demo_and_lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    url = f"duckdb:///{tmp_path_factory.mktemp('demo') / 'store.duckdb'}"
    connect(url).ingest(DEMO)
    return url, lake_of(url)


def lake_of(url: str) -> str:
    place = Path(url.removeprefix("duckdb:///")).with_name("lake")
    with open_store(url) as store:
        sync(store, str(place))
    return f"sail:?lake={place}"


@pytest.mark.parametrize("line", ON_WORLD)
def test_a_command_answers_as_on_the_store(
    run: Caller, world_and_lake: tuple[str, str], line: str
) -> None:
    assert_same(run, world_and_lake, line)


@pytest.mark.parametrize("line", ON_DEMO)
def test_a_command_on_the_demo_answers_as_on_the_store(
    run: Caller, demo_and_lake: tuple[str, str], line: str
) -> None:
    assert_same(run, demo_and_lake, line)


def assert_same(run: Caller, urls: tuple[str, str], line: str) -> None:
    one, other = (run(*line.split(), "--json", db=url) for url in urls)
    assert one.code == other.code and one.out.startswith("["), one.err
    assert list(faults(json.loads(one.out), json.loads(other.out))) == []
    assert [
        words for words in other.err.splitlines() if "not stored" not in words
    ] == one.err.splitlines()


def faults(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Leaves of two documents that differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from faults(one[name], other[name])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from faults(left, right)
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15):
            yield one, other
    elif one != other:
        yield one, other


def test_a_report_of_a_lake_is_the_report_of_its_store(
    run: Caller, demo_and_lake: tuple[str, str], tmp_path: Path
) -> None:
    pages = []
    for number, url in enumerate(demo_and_lake):
        page = tmp_path / f"{number}.html"
        assert run("report", "--out", str(page), db=url).code == 0
        pages.append(page.read_text(encoding="utf-8").replace(url, "STORE"))
    assert "model-a" in pages[0] and len(pages[0]) == len(pages[1])


@pytest.mark.parametrize(
    "line",
    [
        *(
            "fix forget 1",
            "refresh",
            "fix invalidate run:7 --reason wrong",
            "fix link quiz golden",
            "fix alias org/a org/b",
        ),
        *(
            "store upgrade",
            "store check",
            "store vacuum",
            "store init",
            "store publish copy.db",
            "store export --parquet out",
        ),
        "lake sync other",
    ],
)
def test_what_a_lake_cannot_do_is_said_in_a_line(
    run: Caller,
    world_and_lake: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*line.split(), db=world_and_lake[1])
    done.fails(2, "is a lake, which ")
    assert len(done.err.splitlines()) == 1 and not list(tmp_path.iterdir())


def test_a_refresh_brings_the_lake_up_in_one_version(
    run: Caller, tmp_path: Path
) -> None:
    url, lake = f"duckdb:///{tmp_path / 'store.duckdb'}", tmp_path / "lake"
    connect(url).ingest(DEMO, lake=str(lake))
    said = run("refresh", db=f"sail:?lake={lake}")
    said.fails(
        2,
        "refresh that, and the lake with it: warehouse --db STORE refresh --lake "
        f"{lake}",
    )
    run("history", "reading", db=f"sail:?lake={lake}").fails(
        2, "no refresh has computed figures of reading"
    )
    done = run("refresh", "--lake", str(lake), db=url)
    assert done.code == 0 and f"{lake} is at version 1: 0 runs written" in done.err
    held, asked = (
        run("history", "reading", "--json", db=one)
        for one in (url, f"sail:?lake={lake}")
    )
    assert held.rows and list(faults(held.rows, asked.rows)) == []
    with open_store(url) as store:
        assert check(store, str(lake)).verdict == "same"
    connect(url).refresh(lake=str(lake))
    assert [version.number for version in connect(url).lake_versions(str(lake))][0] in (
        1,
        2,
    )
    run("refresh", "--dry-run", "--lake", str(lake), db=url).fails(
        2, "one of --dry-run and --lake"
    )


def test_a_refresh_for_a_lake_of_another_store_computes_nothing(
    run: Caller, tmp_path: Path
) -> None:
    urls = [f"duckdb:///{tmp_path / name}.duckdb" for name in ("one", "other")]
    connect(urls[0]).ingest(DEMO, lake=str(tmp_path / "lake"))
    connect(urls[1]).ingest(*dumps(tmp_path / "dumps", 1))
    run("refresh", "--lake", str(tmp_path / "lake"), db=urls[1]).fails(
        2, "was made from another store"
    )
    assert connect(urls[1]).arrow("select count(*) as n from refresh").to_pylist() == [
        {"n": 0}
    ]


def test_texts_stay_in_the_store(run: Caller, world_and_lake: tuple[str, str]) -> None:
    run("show", "run:7", "p0", db=world_and_lake[1]).fails(
        2, "a lake has no texts of what was sent and answered"
    )
    flips = ("compare", "org/b", "org/c", "--benchmark", "quiz", "--flips", "5")
    run(*flips, db=world_and_lake[1]).fails(
        2, "a lake has no texts of what was sent and answered"
    )
    run("text", "similar", "hello", db=world_and_lake[1]).fails(
        2, "a lake has no vectors of texts"
    )
    assert run("store", "current", "--json", db=world_and_lake[1]).rows[0]["schema"]
