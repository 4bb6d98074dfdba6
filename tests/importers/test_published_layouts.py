"""Dumps as their owners publish them: folders and files of other names, tables of
something else beside them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import lm_eval
from tests.support.cli import Caller
from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.bfcl import IMPORTER as BFCL
from warehouse.importers.common.model_names import is_fixed_name
from warehouse.importers.swe_bench import IMPORTER as SWE_BENCH
from warehouse.importers.terminal_bench import IMPORTER as TERMINAL_BENCH
from warehouse.records import ImportSettings

DATA = Path(__file__).parents[1] / "data"


def runs(store: Any) -> list[tuple[str, float]]:
    found = select(store, "select model, estimate from score_summary order by model")
    return [(row["model"], row["estimate"]) for row in found]


def report(
    resolved: int, total: int, submitted: int | None = None, **more: Any
) -> dict[str, Any]:
    names = [f"org__repo-{number}" for number in range(submitted or total)]
    return {
        "total_instances": total,
        "submitted_instances": len(names),
        "completed_instances": total,
        "resolved_instances": resolved,
        "completed_ids": names[:total],
        "incomplete_ids": [],
        "empty_patch_ids": [],
        "submitted_ids": names,
        "resolved_ids": names[:resolved],
        "unresolved_ids": names[resolved:total],
        "error_ids": [],
        **more,
    }


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_predictions_that_instance_ids_leave_out_are_no_samples(tmp_path: Path) -> None:
    path = write(tmp_path / "org__tiny.trial.json", report(1, 2, submitted=6))
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", path) as (store, found):
        assert select(store, "select n_found, n_requested, n_benchmark from run") == [
            {"n_found": 2, "n_requested": 2, "n_benchmark": 6}
        ]
        assert select(store, "select count(*) as n from score where value is null") == [
            {"n": 0}
        ]
        assert any("4 predictions were left out" in note for note in found.all_notes)


def test_a_submitted_instance_of_which_nobody_says_what_became_of_it_stays_unscored(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "org__tiny.trial.json",
        report(1, 2, submitted=6) | {"total_instances": 6},
    )
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", path) as (store, _):
        assert select(store, "select count(*) as n from score where value is null") == [
            {"n": 4}
        ]


@pytest.mark.parametrize("backwards", [False, True])
def test_reports_of_one_fixed_name_are_of_the_models_of_their_folders(
    tmp_path: Path, backwards: bool
) -> None:
    first = write(tmp_path / "claude-sonnet" / "output.report.json", report(8, 10))
    second = write(
        tmp_path / "gpt-5_maxiter_100_N_v1" / "output.report.json", report(3, 10)
    )
    paths = (second, first) if backwards else (first, second)
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", *paths) as (store, found):
        assert runs(store) == [("claude-sonnet", 0.8), ("gpt-5", 0.3)]
        assert (
            sum(
                "its name is the same for every model" in note
                for note in found.all_notes
            )
            == 2
        )


def test_a_report_that_names_its_model_is_believed(tmp_path: Path) -> None:
    path = write(
        tmp_path / "any" / "output.report.json",
        report(8, 10, model_name_or_path="org/m"),
    )
    other = write(tmp_path / "other" / "output.report.json", report(3, 10))
    write(
        tmp_path / "other" / "metadata.json",
        {"agent_class": "A", "llm_config": {"model": "org/n"}},
    )
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", path, other.parent) as (store, _):
        assert runs(store) == [("org/m", 0.8), ("org/n", 0.3)]


def test_no_model_is_made_of_a_name_that_files_of_any_model_have(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "results" / "output.report.json", report(8, 10))
    (source,) = SWE_BENCH.claim(lm_eval.candidates([path]))
    with pytest.raises(InputError, match="nothing here names the model") as error:
        SWE_BENCH.read(source, ImportSettings())
    assert "--default model=" in str(error.value)
    assert SWE_BENCH.read(source, ImportSettings({"model": "org/m"})).runs
    assert is_fixed_name("all-preds") and not is_fixed_name("o3")


@pytest.mark.parametrize("suffix", ["", "-BFCL", "_2024"])
@pytest.mark.rare
def test_folders_of_bfcl_may_be_called_further(tmp_path: Path, suffix: str) -> None:
    result = (
        tmp_path
        / f"result{suffix}"
        / "m-FC"
        / "gorilla_openfunctions_v1_test_simple_result.json"
    )
    score = tmp_path / f"score{suffix}" / "m-FC" / "simple_score.json"
    for path, lines in (
        (result, [{"id": f"simple_{number}", "result": "f()"} for number in range(2)]),
        (
            score,
            [
                {"accuracy": 0.5, "correct_count": 1, "total_count": 2},
                {"id": "simple_1", "valid": False},
            ],
        ),
    ):
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (source,) = BFCL.claim(lm_eval.candidates([tmp_path]))
    assert len(source.files) == 2
    with ingested(f"duckdb:///{tmp_path}/s.duckdb", tmp_path) as (store, _):
        assert runs(store) == [("m", 0.5)]


def test_results_of_terminal_bench_may_have_their_time_in_front(
    run: Caller, tmp_path: Path
) -> None:
    for stamp in ("20250902_101010", "20250923_101010"):
        shutil.copy(
            DATA / "terminal_bench" / "demo" / "results.json",
            tmp_path / f"{stamp}_results.json",
        )
    sources = list(TERMINAL_BENCH.claim(lm_eval.candidates([tmp_path])))
    assert [len(source.files) for source in sources] == [1, 1]
    db = f"duckdb:///{tmp_path}/s.duckdb"
    assert run("ingest", str(tmp_path), "--default", "model=org/m", db=db).code == 0
    assert run(
        "query", "--sql", "select n_found from run", "--json", db=db
    ).rows  # the same bytes: seen again


MAPPING = """
files = ["subjects/*.csv"]
together = true
[run]
model = "model"
benchmark = { const = "quiz" }
[sample]
prompt_id = "id"
[[scores]]
metric = "acc"
value = "acc"
[metrics.acc]
kind = "binary"
"""


def test_a_summary_of_its_own_beside_the_tables_is_left_out(
    run: Caller, tmp_path: Path
) -> None:
    folder = tmp_path / "subjects"
    folder.mkdir()
    for number, subject in enumerate(("art", "law")):
        (folder / f"{subject}.csv").write_text(
            f"model,id,acc\nada,{subject},{number}\n"
        )
    (folder / "summary.csv").write_text("model,n,share\nada,2,0.5\n")
    (tmp_path / "m.toml").write_text(MAPPING)
    db = f"duckdb:///{tmp_path}/s.duckdb"
    found = run("ingest", str(tmp_path), "--map", str(tmp_path / "m.toml"), db=db)
    assert (
        found.code == 0
        and "summary.csv: nothing there says which prompt a row is" in found.err
    )
    assert len(run("query", "--sql", "select * from score", "--json", db=db).rows) == 2
    (folder / "music.csv").write_text("model,id,accuracy\nada,music,1\n")
    found = run("ingest", str(tmp_path), "--map", str(tmp_path / "m.toml"), db=f"{db}2")
    assert found.code != 0 and "music.csv" in found.err
