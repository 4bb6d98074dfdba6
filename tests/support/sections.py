"""A store with something for every section of the report, and the analyses that it
holds."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.embedders import TinyEmbedder
from tests.support.html import EVIL
from tests.support.matrices import binary
from tests.support.stores import empty_store, store_at
from warehouse.analysis.report_data.part import BenchmarkPart, Section
from warehouse.store.open import open_store

Kind = TypeVar("Kind", bound=Section)


def section_of(part: BenchmarkPart, kind: type[Kind]) -> Kind | None:
    """The section of this kind in the part of a report on one benchmark; None where it
    has none."""
    return next(
        (section for section in part.sections.values() if isinstance(section, kind)),
        None,
    )


EXAM = binary(30, 7, seed=5)
#: Answers of each prompt by run, and the expected one is "yes": P is 0, 1, 1/4, 1/2.
ANSWERS = {
    "wrong": ["no"] * 4,
    "right": ["yes"] * 4,
    "torn": ["no", "yes", "so", "la"],
    "half": ["yes", "no", "yes", "no"],
}
STEPS = (0.0, 100.0, 1000.0, 30000.0)


def build() -> StoreRows:
    """`exam` (matrix), `steps` (training), `gens` (data map), and two suites."""
    rows = StoreRows()
    for name in ("exam", "steps", "gens"):
        rows.benchmark(name, None if name == "gens" else "course")
        rows.describe(name, rows.metric())
    _exam(rows)
    _steps(rows)
    _gens(rows)
    _extra(rows)
    for prompt in rows.rows["prompt"]:
        prompt["target"] = f"yes {EVIL}"
    for table in list(rows.rows):  # ids go on after those made here
        if "id" in rows.rows[table][0]:
            rows.rows["id_counter"].append(
                {"table_name": table, "next_id": len(rows.rows[table]) + 1}
            )
    return rows


def _exam(rows: StoreRows) -> None:
    """30 prompts by 7 models."""
    for place in range(len(EXAM)):
        rows.prompt(
            "exam", f"q{place:02}", text=f"{EVIL} word{place % 3} word{place % 5}"
        )
    for number, column in enumerate(EXAM.T):
        run = rows.run(f"lab/m{number} {EVIL}", "exam")
        rows.scores(
            run, {f"q{place:02}": float(score) for place, score in enumerate(column)}
        )


def _steps(rows: StoreRows) -> None:
    """Two models with two training seeds at four steps."""
    dice = random.Random(3)
    for model in ("lab/a", "lab/b"):
        for seed in ("s0", "s1"):
            for place, step in enumerate(STEPS):
                run = rows.run(model, "steps", seed=seed, step=step)
                skill = 0.2 + 0.2 * place
                scores = {f"p{n}": float(dice.random() < skill) for n in range(20)}
                rows.scores(run, scores)


def _gens(rows: StoreRows) -> None:
    """Four answers to each of four prompts, at two temperatures."""
    for temperature in (0.2, 0.8):
        run = rows.run("lab/a", "gens", temperature=temperature)
        rows.scores(
            run,
            {
                key: [float(one == "yes") for one in given]
                for key, given in ANSWERS.items()
            },
        )
        for key, given in ANSWERS.items():
            for draw, answer in enumerate(given):
                said = f"{EVIL} {answer}" if key == "wrong" else answer
                rows.generation(run, key, draw, f"so: {answer}", extracted_answer=said)


def _extra(rows: StoreRows) -> None:
    """A suite of one benchmark, on which a model has two conditions that look alike."""
    rows.benchmark("twice", "extra")
    rows.describe("twice", rows.metric())
    for size in (4, 5):
        rows.scores(
            rows.run("lab/a", "twice", n_benchmark=size),
            {"t0": 1.0, "t1": 0.0, "t2": 1.0},
        )


def analyse(url: str) -> None:
    """Compute every analysis of `exam`'s matrix."""
    home = warehouse.connect(url)
    home.embed("exam", embedder=TinyEmbedder(max_length=None))
    matrix = home.matrix("exam")
    matrix.test(permutations=49)
    matrix.cluster(n_clusters=(2, 3, 4), permutations=19)
    matrix.weights(draws=500)
    matrix.grow()
    matrix.explain(permutations=19)


@contextmanager
def analysed_url(request: pytest.FixtureRequest, engine: str) -> Iterator[str]:
    """URL of a store that nobody has open, with all analyses."""
    with empty_store(request, engine) as url:
        if engine == "duckdb":
            Path(url.removeprefix("duckdb:///")).write_bytes(_analysed_file())
        else:
            _fill(url)
        yield url


def _fill(url: str) -> None:
    with open_store(url, write=True) as store:
        build().write(store)
    analyse(url)


@cache
def _analysed_file() -> bytes:
    """Made once for all modules of a test process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.duckdb"
        _fill(store_at(path))
        return path.read_bytes()
