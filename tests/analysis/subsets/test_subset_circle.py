"""The circle on what lm-eval and Inspect wrote: plan, export, run, ingest, estimate.

The dumps were made by ``tests/writers/subset_runs.py`` from the very exports that this
test makes again. Where the harnesses are installed, the last test runs them anew.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import warehouse
from warehouse.analysis.subsets.plan import SubsetPlan
from warehouse.ingest.pipeline import ingest
from warehouse.stats.subsets.design import draw_subset
from warehouse.stats.subsets.estimate import estimate_subset
from warehouse.store.open import open_store

TESTS = Path(__file__).resolve().parents[2]
DATA = TESTS / "data" / "subsets"
SIZE = 16
#: Before the planned runs began, after the whole ones.
BEFORE = datetime(2026, 11, 22, 16, 33)
FORMS = {"lm-eval": ("lm_eval", "samples.json"), "inspect": ("inspect", "ids.txt")}


def take(url: str, *paths: Path) -> None:
    with open_store(url, create=True, write=True) as store:
        assert not ingest(store, paths).refused


def right_answers(url: str, model: str) -> Mapping[str, float]:
    """The score of each prompt by its id, as the run's own rows have it."""
    query = (
        "select prompt.tool_id, prompt_score.value from prompt_score join prompt on "
        "prompt.id = prompt_score.prompt_id"
        " join run_current on run_current.run_id = prompt_score.run_id where "
        "run_current.model = :model"
    )
    with open_store(url) as store:
        return {
            row["tool_id"]: row["value"]
            for row in store.arrow(query, {"model": model}).to_pylist()
        }


def check_estimate(url: str, plan: SubsetPlan, model: str) -> None:
    """The row is what the run's own scores and the plan's strata give, in another way:
    stratum by stratum."""
    scores = right_answers(url, model)
    asked = [row for row in plan.rows if row.selected]
    assert sorted(scores) == sorted(row.tool_id for row in asked)
    theta = sum(
        sum(row.stratum == h for row in plan.rows)
        / plan.n_prompts
        * np.mean([scores[row.tool_id] for row in asked if row.stratum == h])
        for h in range(plan.design.n_strata)
    )
    y = np.array([scores.get(row.tool_id, np.nan) for row in plan.rows])
    expected = estimate_subset(y, plan.stratum, plan.selected, bounds=(0, 1))
    board = warehouse.connect(url).leaderboard("sums")
    found = next(row for row in board.rows if row.model == model)
    assert found.estimate == pytest.approx(theta)
    assert (found.ci_low, found.ci_high) == (expected.ci_low, expected.ci_high)
    assert (
        "planned" in found.flags
        and found.rank is not None
        and found.rank_low is not None
    )
    assert f"{model}: {SIZE} of 40 prompts, plan {plan.key}" in "\n".join(board.basis)


@pytest.mark.parametrize("harness", FORMS)
def test_circle_on_real_dumps(harness: str, tmp_path: Path) -> None:
    folder, file = (
        DATA / FORMS[harness][0],
        DATA / FORMS[harness][0] / FORMS[harness][1],
    )
    url = f"duckdb:///{tmp_path / 'circle.duckdb'}"
    whole = (
        [folder / "whole"] if harness == "inspect" else sorted(folder.glob("lab__*"))
    )
    take(url, *whole)
    store = warehouse.connect(url)
    plan = store.subset_plan("sums", size=SIZE, now=BEFORE).rows[0]
    f = np.array([row.prediction for row in plan.rows])
    assert (
        draw_subset([row.id for row in plan.rows], f, SIZE).selected.tolist()
        == plan.selected.tolist()
    )
    assert store.subset_export(plan.key, to=harness).text == file.read_text()
    take(url, folder / ("planned" if harness == "inspect" else "new__model"))
    check_estimate(
        url, plan, "new/model" if harness == "lm-eval" else "mockllm/new/model"
    )


@pytest.mark.rare
@pytest.mark.parametrize("harness", FORMS)
def test_circle_with_the_harness_itself(harness: str, tmp_path: Path) -> None:
    program = shutil.which(FORMS[harness][0])
    if program is None:
        pytest.skip(f"{FORMS[harness][0]} is not installed")
    python, script = (
        Path(program).parent / "python",
        TESTS / "writers" / "subset_runs.py",
    )
    url = f"duckdb:///{tmp_path / 'circle.duckdb'}"

    def run(folder: Path, *more: str) -> None:
        command = [str(python), str(script), harness, str(folder), *more]
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert not made.returncode, made.stderr

    run(tmp_path / "whole", "whole")
    shutil.rmtree(tmp_path / "whole" / "task", ignore_errors=True)
    take(url, tmp_path / "whole")
    store = warehouse.connect(url)
    plan = store.subset_plan("sums", size=SIZE).rows[0]
    text = store.subset_export(plan.key, to=harness).text.strip()
    if harness == "lm-eval":
        assert json.loads(text)["sums"] == sorted(json.loads(text)["sums"])
    run(tmp_path / "planned", "planned", text)
    shutil.rmtree(tmp_path / "planned" / "task", ignore_errors=True)
    take(url, tmp_path / "planned")
    check_estimate(
        url, plan, "new/model" if harness == "lm-eval" else "mockllm/new/model"
    )
