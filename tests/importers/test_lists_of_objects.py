"""What stands where a tool writes an object is said or recorded, never left out without
a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from warehouse.importers.common.json_fields import no_objects
from warehouse.ingest.pipeline import ingest
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

DATA = Path(__file__).parents[1] / "data"
#: Dump, file below it, and the keys to a list of objects; ``*`` is the first.
LISTS = (
    (
        "lm_eval/v0_4_13",
        "org__demo-model/results_*.json",
        "configs.demo_mc.metric_list",
    ),
    ("mteb", "org__embed/external/FactRetrieval.json", "scores.*"),
    ("evalscope/20260304_050607", "reports/tiny/quiz.json", "metrics"),
    ("inspect", "grid.json", "results.scores"),
    ("swe_bench_site", "leaderboards.json", "leaderboards.*.results"),
    ("swe_bench_site", "leaderboards.json", "leaderboards"),
    ("pydantic_evals", "report.json", "failures"),
    ("lighteval/v0.13", "results/org/tiny/results_*.json", "config_tasks.*.metrics"),
    ("promptfoo", "out.json", "config.providers"),
)


def test_entries_that_are_no_objects_are_said() -> None:
    said = list(no_objects([{"a": 1}, 0.37, None], "r.json: scores"))
    assert said == [
        "r.json: scores[1] is 0.37, no object: nothing is read there",
        "r.json: scores[2] is null, no object: nothing is read there",
    ]
    assert list(no_objects("x", "r.json: scores")) == [
        'r.json: scores is "x", no list: nothing is read there'
    ]
    assert not list(no_objects(None, "r.json: scores"))


def list_at(document: Any, keys: str) -> list[Any]:
    """The list at a path of keys."""
    part = document
    for key in keys.split("."):
        items = part if isinstance(part, list) else list(part.values())
        part = items[0] if key == "*" else part[key]
    assert isinstance(part, list)
    return part


def said_of(folder: Path, url: str) -> tuple[list[str], int]:
    """Notes on a dump, and how many rows are recorded as bad."""
    with open_store(url, create=True, write=True) as store:
        options = LoadOptions(max_rejected=1)
        report = ingest(
            store, [folder], values={"model": "org/m"}, options=options, force=True
        )
    assert any(source.state == "loaded" for source in report.sources)
    return report.all_notes, sum(source.n_rejected for source in report.sources)


@pytest.mark.parametrize(("dump", "file", "keys"), LISTS)
@pytest.mark.rare
def test_a_number_among_the_objects_of_a_list_is_said(
    tmp_path: Path, duckdb_url: str, dump: str, file: str, keys: str
) -> None:
    folder = Path(shutil.copytree(DATA / dump, tmp_path / "dump"))
    (path,) = folder.glob(file)
    document = json.loads(path.read_text())
    list_at(document, keys).append(0.37)
    path.write_text(json.dumps(document))
    notes, n_rejected = said_of(folder, duckdb_url)
    assert n_rejected == 1 or any(
        "is 0.37, no object: nothing" in note
        or "is 0.37, neither object nor name: nothing" in note
        for note in notes
    )


def test_a_number_among_the_results_of_every_eval_ever_is_said(
    tmp_path: Path, duckdb_url: str
) -> None:
    result = {
        "evaluation_name": "accuracy",
        "source_data": {"dataset_name": "sums"},
        "metric_config": {
            "evaluation_description": "accuracy",
            "lower_is_better": False,
        },
        "score_details": {"score": 0.5},
    }
    document = {
        "schema_version": "0.2.0",
        "evaluation_id": "sums/org_m/1",
        "retrieved_timestamp": "1700000000",
        "source_metadata": {"source_type": "evaluation_run"},
        "model_info": {"name": "m", "id": "org/m"},
        "evaluation_results": [result, 0.37],
    }
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "a.json").write_text(json.dumps(document))
    notes, _ = said_of(tmp_path / "dump", duckdb_url)
    assert any("evaluation_results[1] is 0.37, no object" in note for note in notes)
