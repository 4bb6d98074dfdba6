"""A work folder that tasks and summarizer of OpenCompass 0.5.4 wrote
(``tests/writers/opencompass_work.py``)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.lm_eval import Row, claimed
from tests.support.stores import select
from warehouse.importers.opencompass.importer import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.records import ImportSettings, RunHeader
from warehouse.store.open import open_store

WORK = Path(__file__).parents[1] / "data" / "opencompass"
STAMP = "20261125_101112"


def read(folder: Path) -> dict[str, tuple[RunHeader, list[Row]]]:
    """Header and rows of each source by the folder of the model and the data set."""
    taken = {}
    for source in claimed(folder, importer=IMPORTER):
        dump = IMPORTER.read(source, ImportSettings({}))
        rows: list[Row] = [row for batch in dump.batches for row in batch.to_pylist()]  # type: ignore[union-attr]
        for run in dump.runs:
            taken[f"{source.files[0].parent.name}/{run.benchmark}"] = run, rows
    return taken


@pytest.fixture(scope="module")
def work() -> Any:
    return read(WORK)


def test_what_a_work_folder_holds(work: Any) -> None:
    assert {
        name: (run.model, run.formulation, run.task_version)
        for name, (run, _) in work.items()
    } == {
        "tiny-api/sums": ("org/tiny", "gen", "bbd7bf"),
        "tiny-api/sums_twice": ("org/tiny", "gen", "bbd7bf"),
        "tiny-api/failed": ("org/tiny", "gen", None),
        "tiny-base/words": ("org/tiny-base", "ppl", "3b0517"),
        "tiny-rollout/sums": ("org/tiny", "gen", "bbd7bf"),
        "summary/all-sums": ("org/tiny", "gen", None),
    }
    assert (
        "predictions and references have different length"
        in work["tiny-api/failed"][0].note
    )
    assert {(run.temperature, run.max_tokens) for run, _ in work.values()} == {
        (0.25, 77)
    }


def test_repeats_are_draws(work: Any) -> None:
    run, rows = work["tiny-api/sums_twice"]
    found = {
        (row["prompt_id"], row["draw"]): (row["response"], row["scores"][0]["value"])
        for row in rows
    }
    assert len(found) == 8 and run.n_requested == 4
    assert (found["sums_twice_0", 0], found["sums_twice_0", 1]) == (
        ("2", 1.0),
        ("3", 0.0),
    )
    assert [(figure.metric, figure.value) for figure in run.published][:2] == [
        ("score", 0.625),
        ("sums/G-Pass@2_0.0", 100.0),
    ]


def test_options_by_their_perplexities(work: Any) -> None:
    _, rows = work["tiny-base/words"]
    assert [
        (row["target"], row["extracted_answer"], row["scores"][0]["value"])
        for row in rows
    ] == [
        ("A", "A", 1.0),
        ("B", "A", 0.0),
        ("A", "B", 0.0),
    ]
    assert json.loads(rows[0]["choices"]) == ["A", "B"]


def test_texts_with_log_probabilities(work: Any) -> None:
    run, rows = work["tiny-rollout/sums"]
    assert [
        (row["response"], row["output_tokens"], row["finish_reason"]) for row in rows
    ] == [
        ("2", 3, "stop"),
        ("4", 4, "length"),
        ("7", 5, "stop"),
        ("8", 6, "length"),
    ]
    assert not run.published and not any(row["scores"] for row in rows)


def test_a_request_that_failed_has_no_response(tmp_path: Path) -> None:
    shutil.copytree(WORK, tmp_path, dirs_exist_ok=True)
    path = tmp_path / STAMP / "predictions" / "tiny-rollout" / "sums.json"
    document = json.loads(path.read_text())
    nothing = {
        "token_logprobs": [None],
        "sum_neg_logprob": 0.0,
        "num_tokens": 0,
        "finish_reason": "error",
    }
    document["0"]["prediction"] = {"output": "filtered", "rollout": nothing}
    path.write_text(json.dumps(document))
    row = read(tmp_path)["tiny-rollout/sums"][1][0]
    assert (
        row["response"],
        row["error"],
        row["finish_reason"],
        row["output_tokens"],
    ) == (
        None,
        "filtered",
        "error",
        None,
    )


def test_a_model_that_was_asked_in_two_ways_makes_two_runs(
    tmp_path: Path, work: Any
) -> None:
    """Both have one path, and one work folder: only their names tell them apart."""
    ids = {name: run.run_id for name, (run, _) in work.items()}
    assert (ids["tiny-api/sums"], ids["tiny-rollout/sums"]) == (
        f"{STAMP}/tiny-api",
        f"{STAMP}/tiny-rollout",
    )
    assert ids["tiny-base/words"] == STAMP
    with open_store(f"duckdb:///{tmp_path}/x.duckdb", create=True) as store:
        report = ingest(store, [WORK])
        assert select(store, "select count(*) as n from run") == [{"n": 6}]
        verdicts = [row.verdict for row in report.reconciliation]
    assert (
        verdicts.count("exact"),
        verdicts.count("not_recomputable"),
        len(verdicts),
    ) == (3, 13, 16)
