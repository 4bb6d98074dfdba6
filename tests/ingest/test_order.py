"""What a store says does not depend on the order in which its sources came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.campaign.units import MAPPINGS, PLAIN, TABULAR
from tests.support.dumps import Source, small_dumps
from tests.support.naturals import Picture, differences, picture
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

MAPPING = """
[run]
model = "model"
benchmark = "benchmark"

[sample]
prompt_id = "prompt_id"
text = "question"
target = "answer"

[metadata]
topic = "topic"

[[scores]]
metric = "score"
value = "score"
"""


def loaded(url: str, sources: Sequence[Source], boards: int | None = None) -> Picture:
    """What the store holds in the end, and which sources were refused."""
    refused: list[str] = []
    with open_store(url, create=True, write=True) as store:
        for source in sources:
            refused += [item.error for item in ingest(store, **source).refused]
        return picture(store, boards=boards) | {"refused": sorted(refused)}


class Stores:
    """Empty stores of one engine."""

    def __init__(self, request: pytest.FixtureRequest, engine: str) -> None:
        self.request, self.engine, self.count = request, engine, 0
        self.cluster = (
            None if engine == "duckdb" else request.getfixturevalue("postgres_cluster")
        )
        self.folder = request.getfixturevalue("tmp_path")

    def both_orders(
        self, sources: Sequence[Source], boards: int | None = None
    ) -> list[str]:
        pictures = [self._loaded(order, boards) for order in (sources, sources[::-1])]
        return differences(*pictures)

    def _loaded(self, sources: Sequence[Source], boards: int | None) -> Picture:
        if self.cluster is None:
            self.count += 1
            return loaded(
                f"duckdb:///{self.folder / f'{self.count}.duckdb'}", sources, boards
            )
        name = self.cluster.create()
        try:
            return loaded(self.cluster.url(name), sources, boards)
        finally:
            self.cluster.drop(name)


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.engine)
        for name in ("duckdb", "postgresql")
    ]
)
def stores(request: pytest.FixtureRequest) -> Stores:
    return Stores(request, request.param)


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Source]:
    """Tables of one benchmark that know different things of its prompts and metrics."""
    (tmp_path / "map.toml").write_text(MAPPING)

    def lines(name: str, models: Sequence[str], **more: Sequence[Any]) -> Source:
        rows = [
            {"model": model, "benchmark": "quiz", "prompt_id": str(place)}
            | {key: values[place] for key, values in more.items()}
            for model in models
            for place in range(3)
        ]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return {"paths": [tmp_path / name], "mapping": tmp_path / "map.toml"}

    def plain(
        name: str, metric: str, models: Sequence[str], values: Sequence[float]
    ) -> Source:
        body = [
            f"{model},quiz,{place},{metric},{value}"
            for model in models
            for place, value in enumerate(values)
        ]
        (tmp_path / name).write_text(
            "\n".join(["model,benchmark,prompt_id,metric,score", *body])
        )
        return {"paths": [tmp_path / name]}

    nothing = [None] * 3
    return {
        "bare": plain("bare.csv", "score", ["a"], [1, 0, 1]),
        "other metric": plain("other.csv", "f1", ["b", "c"], [0.2, 0.4, 0.5]),
        "texts": lines(
            "texts.jsonl",
            ["d"],
            question=["x?", "y?", "z?"],
            answer=nothing,
            topic=nothing,
            score=[1, 1, 0],
        ),
        "targets": lines(
            "targets.jsonl",
            ["e"],
            question=nothing,
            answer=["x", "y", "z"],
            topic=["p", "p", None],
            score=[1, 0, 0],
        ),
        "part": lines(
            "part.jsonl",
            ["f"],
            question=["x?", None, None],
            answer=["x", None, None],
            topic=[None, None, "q"],
            score=[0, 0, 37],
        ),
    }


@pytest.mark.rare_on_server
def test_tables_forwards_and_backwards(
    stores: Stores, tables: dict[str, Source]
) -> None:
    assert stores.both_orders(list(tables.values())) == []


@pytest.mark.slow
def test_every_pair_of_tables(stores: Stores, tables: dict[str, Source]) -> None:
    found = {
        pair: stores.both_orders([tables[name] for name in pair])
        for pair in combinations(tables, 2)
    }
    assert {pair: lines for pair, lines in found.items() if lines} == {}


@pytest.mark.slow
def test_all_fixtures_forwards_and_backwards(
    stores: Stores, tables: dict[str, Source]
) -> None:
    """Every pair is loaded in both orders here, among all the others."""
    sources = [*small_dumps().values(), *tables.values()]
    assert stores.both_orders(sources) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_sets_of_real_data_forwards_and_backwards(
    stores: Stores, data_dir: Path
) -> None:
    """Every pair of sets is loaded in both orders here, among all the others."""
    plain = [
        {"paths": [data_dir / name], "defaults": {"model": "org/unnamed"}}
        for name, _ in PLAIN
    ]
    tables = [
        {"paths": [data_dir / name], "mapping": MAPPINGS / f"{mapping}.toml"}
        for name, mapping in TABULAR
    ]
    sources = [source for source in (*plain, *tables) if source["paths"][0].exists()]
    assert stores.both_orders(sources, boards=40) == []
