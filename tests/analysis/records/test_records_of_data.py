"""Published goldens of records over time, through a store: real verdicts, days made
up."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.records.answer import records
from warehouse.store.connection import Store

#: Entries of G28-5, one a day.
DAILY = (
    *("Yi-6B", "Mistral-7B-Instruct-v0.1", "Yi-6b-Chat", "Mistral-7B-v0.2-hf"),
    *("Mistral-7B-Instruct-v0.2", "Mistral-7B-v0.1", "gemma-7b", "Meta-Llama-3-8B"),
    *("Meta-Llama-3_1-8B", "Llama-2-70b-hf", "Mixtral-8x7B-v0.1"),
    *("Mixtral-8x7B-Instruct-v0.1", "Yi-34B", "Meta-Llama-3_1-8B-Instruct"),
)
N = 400


@pytest.fixture(scope="module")
def rows(data_dir: Path) -> StoreRows:
    """The first 400 questions, a model a day."""
    path = data_dir / "mmlu_pro_matrix" / "correct.parquet"
    columns = pq.read_table(path, columns=list(DAILY)).slice(0, N).to_pydict()
    made = StoreRows()
    metric = made.metric()
    made.describe("mmlu-pro", metric)
    for number, name in enumerate(DAILY):
        start = datetime(2023, 11, 1, 9) + timedelta(days=number)
        run = made.run(name, "mmlu-pro", started_at=start)
        scores = {}
        for place, right in enumerate(columns[name]):
            scores[f"q{place:03}"] = float(right)
        made.scores(run, scores)
    return made


def test_g28_5_of_a_store(world: Store) -> None:
    found = records(world, benchmark="mmlu-pro")
    assert [row.model for row in found.rows] == [
        "Yi-6b-Chat",
        "Llama-2-70b-hf",
        "Yi-34B",
    ]
    times = [row.p_times_entries for row in found.rows]
    assert times == pytest.approx([0.3499677969, 0.0004148322634, 0.1059710476])
    adjusted = [row.step_p_holm for row in found.rows]
    assert adjusted == pytest.approx([0.1749838985, 0.0204948938, 0.07064736508])
    assert [row.stands for row in found.rows] == [False, True, False]


def test_it_reads_as_the_page_shows(run: Caller, url: str) -> None:
    said = run("records", "mmlu-pro", db=url).out.rstrip()
    assert max(map(len, said.splitlines())) <= 80
    page = Path(__file__).parents[3] / "docs" / "reference" / "methods_leaderboard.md"
    assert f"$ warehouse records mmlu-pro\n{said}\n```" in page.read_text()
