"""Prompts of published matrices: the figures of the README of the real dumps come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warehouse
from tests.support.stores import store_at
from warehouse.analysis.items.answer import items
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.open import open_store

pytestmark = pytest.mark.rare

MAPPINGS = Path(__file__).parents[3] / "docs" / "mappings"
SETS = ("mmlu_pro_matrix", "math500_matrix", "eval_arena")


@pytest.fixture(scope="module")
def url(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    found = store_at(tmp_path_factory.mktemp("items_real") / "items.duckdb")
    with open_store(found, write=True) as store:
        for name in SETS:
            assert not ingest(
                store, [data_dir / name], mapping=MAPPINGS / f"{name}.toml"
            ).refused
    return found


def test_mmlu_pro_matrix(world: Store) -> None:
    right = {
        row.model: round((row.estimate or 0) * 6835)
        for row in leaderboard(world, "mmlu_pro_7").rows
    }
    assert (
        right["Llama-2-7b-hf"] == 1326
        and right["Meta-Llama-3-70B"] == 3598
        and right["gemma-7b"] == 2192
    )
    assert np.mean(list(right.values())) / 6835 == pytest.approx(0.33672705, abs=5e-9)
    rows = items(world, "mmlu_pro_7", irt="none").rows
    corrected = np.array(
        [row.r_corrected for row in rows if row.r_corrected is not None]
    )
    assert (len(corrected), (corrected < 0).sum()) == (5688, 1168)
    assert corrected.mean() == pytest.approx(0.244961, abs=1e-6)
    assert [sum(row.mean_score == end for row in rows) for end in (0, 1)] == [972, 175]


def test_math500_matrix(world: Store) -> None:
    rows = items(world, "math_500", irt="none").rows
    assert sum(row.mean_score for row in rows) * 140 == pytest.approx(38208)
    corrected = np.array(
        [row.r_corrected for row in rows if row.r_corrected is not None]
    )
    assert (len(corrected), (corrected < 0).sum()) == (489, 7)
    assert corrected.mean() == pytest.approx(0.619399, abs=1e-6)
    assert sum(row.mean_score == 0 for row in rows) == 11
    best = leaderboard(world, "math_500").rows[:2]
    assert {row.model for row in best} == {"Qwen_Qwen3_30B_A3B_Instruct_2507"} and best[
        0
    ].estimate == 0.928


def test_one_scale_over_two_benchmarks_of_one_arena(url: str) -> None:
    found = warehouse.connect(url).irt(["humaneval+", "mbpp+"]).abilities()
    assert (found.n_models, found.n_items, found.n_cells) == (
        71,
        542,
        49 * 164 + 59 * 378,
    )
    assert {"gpt-4-1106-preview", "claude-3-opus-20240229"} == {
        row.model for row in found.rows[:2]
    }
    with pytest.raises(MisuseError, match="share no scale"):
        warehouse.connect(url).irt(["mbpp+", "lcb_codegen"]).abilities()
    counts = warehouse.connect(url).irt("lcb_codegen")
    assert counts.data.responses.are_counts and counts.fit().model == "2pl"
