"""lmms-eval. The files of ``tests/data/lmms_eval`` were written by the tracker of the
real package (``tests/writers/lmms_eval_files.py``)."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.support import lm_eval
from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers.lm_eval import IMPORTER as LM_EVAL
from warehouse.importers.lmms_eval import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

MADE = Path(__file__).parents[1] / "data" / "lmms_eval" / "org__tiny-VL"
STAMP = "20260304_050607"


take = partial(lm_eval.take, importer=IMPORTER)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MADE, tmp_path / MADE.name))


def samples(folder: Path, task: str) -> Path:
    return folder / f"{STAMP}_samples_{task}.jsonl"


def test_its_files_are_not_those_of_lm_eval(run: Path) -> None:
    assert lm_eval.claimed(MADE, importer=LM_EVAL) == []
    (source,) = lm_eval.claimed(MADE, importer=IMPORTER)
    assert source.files[0].name == f"{STAMP}_results.json" and len(source.files) == 6
    samples(run, "vqa").rename(
        run / "samples_vqa_2026-03-04T05-06-07.123456.jsonl"
    )  # the name that lm-eval gives
    assert len(lm_eval.claimed(run, importer=IMPORTER)[0].files) == 5


def test_the_header_says_what_the_results_say() -> None:
    taken = take(MADE)
    assert {run.benchmark for run in taken.dump.runs} == {
        "vqa",
        "perception",
        "judged",
        "often",
        "choice",
    }
    header = taken.run("vqa")
    assert (header.harness, header.model, header.split) == (
        "lmms_eval",
        "org/tiny-VL",
        "test",
    )
    assert str(header.started_at) == "2026-03-03 21:06:07"  # the stamp is of Singapore
    assert (header.harness_version, header.harness_commit, header.task_version) == (
        "0.7.3",
        "abc123",
        "1.0",
    )
    assert (header.temperature, header.max_tokens, header.fewshot) == (0.5, 16, 0)
    assert header.sampling == {
        "backend": "qwen2_5_vl",
        "model_args": {"max_pixels": 1024},
    }
    assert (header.n_requested, header.n_benchmark) == (3, 9)
    assert taken.run("often").suite == ("both",)
    assert [(item.benchmark, item.metric) for item in taken.dump.published] == [
        ("both", "acc")
    ]


def test_rows_without_label_belong_to_the_filters_in_turn() -> None:
    taken = take(MADE)
    assert {key[2:]: value for key, value in taken.scores("vqa").items()} == {
        ("exact_match", "first"): 0.0,
        ("exact_match", "second"): 1.0,
    }
    assert {row["response"] for row in taken.rows_of("vqa")} == {"Yes.", None}
    assert any("n-th filter (first, second)" in note for note in taken.dump.notes)
    first = taken.rows_of("vqa")[0]
    assert (
        first["extracted_answer"],
        first["input_tokens"],
        first["output_tokens"],
    ) == ("yes", 100, 2)


def test_only_an_explicit_score_of_an_object_is_a_number() -> None:
    taken = take(MADE)
    values = [row["scores"][0] for row in taken.rows_of("perception")]
    assert [value["value"] for value in values] == [0.0, 1.0, 0.0, 1.0]
    assert (
        values[1]["origin"] == "mapped"
        and json.loads(values[1]["raw"])["pred_answer"] == "yes"
    )
    (score, _) = (row["scores"][0] for row in taken.rows_of("judged"))
    assert (score["value"], score["status"]) == (None, "not_scalar")
    assert [metric.link for metric in taken.run("judged").metrics] == ["none"]


def test_repeats_are_draws_with_scores_of_all_together() -> None:
    rows = [row for row in take(MADE).rows_of("often") if row["prompt_id"] == "0"]
    assert [(row["draw"], row.get("response")) for row in rows] == [
        (0, "3"),
        (1, "4"),
        (2, "3"),
        (-1, None),
    ]
    assert [row["scores"] is None for row in rows] == [True, True, True, False]
    assert (rows[3]["scores"][0]["value"], rows[3]["scores"][0]["n_draws"]) == (
        2 / 3,
        3,
    )
    assert {
        (item.metric, item.statistic) for item in take(MADE).run("often").published
    } == {
        ("acc", "mean"),
        ("acc", "expected_accuracy"),
    }


def test_likelihoods_of_options_are_no_responses() -> None:
    row = take(MADE).rows_of("choice")[0]
    assert row["response"] is None
    assert [
        (item["loglikelihood"], item["is_greedy"], item["is_target"])
        for item in row["choice_scores"]
    ] == [
        (-1.5, False, False),
        (-0.5, True, True),
    ]


def test_the_same_question_on_two_images_is_two_prompts() -> None:
    rows = take(MADE).rows_of("perception")
    assert (
        len({row["text"] for row in rows}) == 2
        and len({row["identity"] for row in rows}) == 4
    )
    assert json.loads(rows[0]["metadata"]) == {"input_media": ["<image 0>"]}
    assert "doc_hash" not in rows[0]["identity"]


def test_samples_alone(run: Path) -> None:
    (run / f"{STAMP}_results.json").unlink()
    taken = take(run)
    assert {header.model for header in taken.dump.runs} == {
        "org/tiny-VL"
    }  # the folder's name
    assert {metric.filter for metric in taken.run("vqa").metrics} == {"", "unnamed 2"}
    assert taken.rows_of("often")[0]["response"] == '["3","4","3"]'


def test_results_alone_are_figures(run: Path) -> None:
    for path in run.glob("*_samples_*"):
        path.unlink()
    taken = take(run)
    assert len(taken.dump.runs) == 5 and taken.rows == []


def test_a_file_that_was_appended_to_is_refused(tmp_path: Path, run: Path) -> None:
    path = samples(run, "choice")
    path.write_text(2 * path.read_text())
    with open_store(f"duckdb:///{tmp_path}/a.duckdb", create=True, write=True) as store:
        (refused,) = ingest(store, [run]).refused
        assert "document 0 stands there 2 times, for 1 filters" in (refused.error or "")
        assert select(store, "select count(*) as n from run") == [{"n": 0}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
        '{"doc_id": 1, "ta',
    ],
)
def test_damaged_files_are_named(tmp_path: Path, run: Path, text: str) -> None:
    samples(run, "judged").write_text(text)
    with open_store(f"duckdb:///{tmp_path}/a.duckdb", create=True, write=True) as store:
        (refused,) = ingest(store, [run]).refused
        assert "samples_judged" in (refused.error or "")


def test_nothing_but_groups_is_refused(run: Path) -> None:
    path = run / f"{STAMP}_results.json"
    path.write_text('{"results": {}, "configs": {}}')
    for other in run.glob("*_samples_*"):
        other.unlink()
    with pytest.raises(InputError, match="no task"):
        take(run)


def test_in_a_store(store_url: str) -> None:
    with ingested(store_url, MADE) as (_, report):
        assert (report.unclaimed, report.total("n_runs")) == ((), 5)
        verdicts = {item.verdict for item in report.reconciliation}
        assert verdicts <= {"exact", "rounded", "truncated", "not_recomputable"}
