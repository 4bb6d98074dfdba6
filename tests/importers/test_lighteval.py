"""Details and results of lighteval. The files are those of its own tracker, of 0.10 and
0.13 (``tests/writers/lighteval_details.py``); every field in them has a value of its
own."""

from __future__ import annotations

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import lm_eval
from tests.support.lm_eval import Taken, candidates
from tests.support.stores import select
from warehouse.errors import InputError
from warehouse.importers import importers
from warehouse.importers.lighteval.header import model_of_path, task_of
from warehouse.importers.lighteval.importer import IMPORTER
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

FIXTURES = Path(__file__).parents[1] / "data" / "lighteval"
NEW, OLD = FIXTURES / "v0.13", FIXTURES / "v0.10"


take = partial(lm_eval.take, importer=IMPORTER)


@pytest.fixture(scope="module")
def new() -> Taken:
    return take(NEW)


@pytest.fixture(scope="module")
def old() -> Taken:
    return take(OLD)


def row_of(taken: Taken, benchmark: str, place: int, draw: int = 0) -> dict[str, Any]:
    (found,) = (
        row
        for row in taken.rows_of(benchmark)
        if (row["position"], row["draw"]) == (place, draw)
    )
    return found


def values(row: dict[str, Any]) -> dict[str, Any]:
    return {score["metric"]: score["value"] for score in row["scores"] or ()}


def test_folders_that_name_another_model_are_noted(tmp_path: Path, new: Taken) -> None:
    assert not [note for note in new.dump.notes if "says that the model is" in note]
    shutil.copytree(NEW, tmp_path / "out")
    for kind in ("results", "details"):
        (tmp_path / "out" / kind / "org" / "tiny").rename(
            tmp_path / "out" / kind / "org" / "grand"
        )
    notes = [
        note
        for note in take(tmp_path / "out").dump.notes
        if "says that the model is" in note
    ]
    assert notes == [
        "a folder says that the model is 'org/grand', the data say 'org/tiny': the "
        "latter holds"
    ]


# --- headers ---------------------------------------------------------------------------------


def test_what_a_results_file_says_of_a_task(new: Taken) -> None:
    run = new.run("quiz:maps")
    assert (run.harness, run.model, run.revision, run.step) == (
        "lighteval",
        "org/tiny",
        "step77",
        77,
    )
    assert (run.suite, run.split, run.task_version) == (("quiz",), "test", "3")
    assert (run.fewshot, run.formulation, run.dataset_revision) == (
        2,
        "logprobs",
        "abc123",
    )
    assert run.system_prompt_hash == hashlib.sha256(b"Be brief.").hexdigest()
    assert (run.n_benchmark, run.n_requested) == (9, 4)
    assert run.run_id == "2026-11-21T04-10-40.067508"
    assert (
        run.started_at is not None
        and run.started_at.isoformat() == "2026-11-21T04:10:40.067508"
    )
    assert run.sampling == {
        "dtype": "bfloat16",
        "max_length": 2048,
        "use_chat_template": True,
    }
    assert (
        run.temperature is run.max_tokens is run.sampling_seed is None
    )  # nothing is sampled
    assert run.configuration["task"]["hf_subset"] == "sub quiz:maps"
    assert [(spec.name, spec.is_default) for spec in run.metrics] == [
        ("acc", True),
        ("acc_norm", False),
    ]


def test_sampling_settings_of_a_task_that_generates(new: Taken) -> None:
    run = new.run("essay")
    assert (run.temperature, run.top_p, run.max_tokens, run.sampling_seed) == (
        0.5,
        0.75,
        31,
        5,
    )
    assert run.sampling["top_k"] == 3 and run.sampling["min_p"] == 0.125
    assert "batch_size" not in run.sampling and run.fewshot == 0
    specs = {spec.name: spec for spec in run.metrics}
    judge = specs["judge_score_judy"]
    assert (judge.scorer_kind, judge.judge_model) == ("model", "judy")
    assert (specs["mf1"].link, specs["extractive_match"].high) == ("none", 1.0)
    assert not {"judgement_judy", "user_prompt_judy"} & specs.keys()


def test_the_older_generation_of_results(old: Taken) -> None:
    run = old.run("custom|essay")
    assert (run.model, run.revision, run.parameter_count) == (
        "org/old-tiny",
        "def456",
        123,
    )
    assert (run.temperature, run.top_p, run.max_tokens, run.sampling_seed) == (
        0.25,
        0.875,
        13,
        6,
    )
    assert run.sampling == {"dtype": "float16", "top_k": 4}
    assert (run.split, run.task_version, run.fewshot) == ("validation", "2", 0)
    maps = old.run("leaderboard|quiz:maps")
    assert (maps.suite, maps.fewshot, maps.formulation) == (
        ("leaderboard|quiz",),
        5,
        "logprobs",
    )
    assert (maps.n_benchmark, maps.n_requested, maps.dataset_revision) == (
        8,
        3,
        "abc124",
    )


def test_published_figures_and_averages_of_groups(new: Taken) -> None:
    (acc,) = (row for row in new.run("quiz:seas").published if row.metric == "acc")
    assert (acc.value, acc.standard_error, acc.n) == (0.5, 0.28867513459481287, 4)
    (mf1,) = (row for row in new.run("essay").published if row.metric == "mf1")
    assert (mf1.value, mf1.statistic) == (0.625, "aggregate")
    groups = {(row.benchmark, row.metric): row for row in new.dump.published}
    assert groups.keys() == {("quiz", "acc"), ("quiz", "acc_norm")}
    assert groups["quiz", "acc"].value == 0.625
    assert groups["quiz", "acc"].standard_error is None  # an average of errors is none


def test_names() -> None:
    assert task_of("mmlu:anatomy|5").benchmark == "mmlu:anatomy"
    assert task_of("gsm8k").fewshot is None
    assert task_of("helm|boolq|3|1").fewshot == 3  # with the flag of the oldest files
    stamp = "2026-01-02T03-04-05.678"
    name = f"details_x|0_{stamp}.parquet"
    assert model_of_path(Path(f"out/details/org/m/{stamp}/{name}")) == "org/m"
    assert model_of_path(Path(f"hub/details_org__m_private/{stamp}/{name}")) == "org/m"
    assert model_of_path(Path(f"elsewhere/{name}")) is None


# --- rows ------------------------------------------------------------------------------------


def test_a_question_with_options(new: Taken) -> None:
    row = row_of(new, "quiz:maps", 1)
    assert (row["prompt_id"], row["text"], row["target"]) == (
        "1",
        "question 0.1",
        " wrong 0.1",
    )
    options = [" right 0.1", " wrong 0.1", " odd 0.1"]
    assert json.loads(row["choices"]) == options
    assert json.loads(row["identity"]) == {
        "query": "question 0.1",
        "choices": options,
        "gold": [" wrong 0.1"],
    }
    assert json.loads(row["metadata"]) == {
        "topic": "topic 1",
        "original_query": "original 0.1",
    }
    assert json.loads(row["prompt_sent"]) == [{"role": "user", "content": "sent 0.1"}]
    assert (row["input_tokens"], row["response"], row["output_tokens"]) == (
        11,
        None,
        None,
    )
    assert values(row) == {"acc": 1.0, "acc_norm": 0.0}
    found = row["choice_scores"]
    assert [item["loglikelihood"] for item in found] == [-2.0, -2.25, -4.5]
    assert [item["unconditional_loglikelihood"] for item in found] == [
        -8.0,
        -10.0,
        -10.0,
    ]
    assert [item["is_greedy"] for item in found] == [True, False, False]
    assert [item["n_tokens"] for item in found] == [1, 2, 3]
    assert [item["is_target"] for item in found] == [False, True, False]
    assert found[2]["n_bytes"] == len(" odd 0.1")


def test_several_texts_are_draws_and_scores_are_of_all_of_them(new: Taken) -> None:
    first, second, both = (row_of(new, "essay", 2, draw) for draw in (0, 1, -1))
    assert (first["response"], first["extracted_answer"]) == (
        "<think>hm</think>first 2",
        "first 2",
    )
    assert (second["response"], second["extracted_answer"]) == ("second 2", None)
    assert (first["input_tokens"], first["output_tokens"], second["output_tokens"]) == (
        22,
        32,
        42,
    )
    assert first["prompt_sent"] == "sent write 2"
    assert (
        json.loads(first["target"]) == ["gold 2", "also 2"] and first["choices"] is None
    )
    assert first["scores"] in (None, []) and both["response"] is None
    assert both["explanation"] == "good 2"
    scores = {score["metric"]: score for score in both["scores"]}
    assert (scores["avg@n:n=2"]["value"], scores["avg@n:n=2"]["n_draws"]) == (2 / 3, 2)
    assert (scores["maj@n:n=2"]["value"], scores["maj@n:n=2"]["n_draws"]) == (1.0, None)
    assert scores["judge_score_judy"]["value"] == 8.0
    assert scores["mf1"]["status"] == "not_scalar"
    assert json.loads(scores["mf1"]["raw"]) == {
        "golds": ["gold 2"],
        "preds": ["first 2"],
    }
    assert "3 prompts were cut" in new.dump.notes[0]


def test_perplexities_are_weighted_likelihoods(new: Taken) -> None:
    (spec,) = new.run("wiki").metrics
    assert (spec.link, spec.unit, spec.higher_is_better) == (
        "exp_neg",
        "nats/word",
        False,
    )
    (score,) = row_of(new, "wiki", 3)["scores"]
    assert (score["value"], score["weight"]) == (-7.0 / 5, 5.0)
    assert row_of(new, "wiki", 3)["choice_scores"] in (None, [])


def test_rows_of_the_older_generation(old: Taken) -> None:
    row = row_of(old, "leaderboard|quiz:maps", 2)
    assert (row["prompt_id"], row["text"], row["target"]) == (
        None,
        "question 0.2",
        " odd 0.2",
    )
    assert (row["prompt_sent"], row["input_tokens"]) == ("shots, question 0.2", 13)
    assert json.loads(row["metadata"]) == {"topic": "topic 2"}
    assert [item["loglikelihood"] for item in row["choice_scores"]] == [
        -3.5,
        -4.5,
        -5.5,
    ]
    assert [item["n_tokens"] for item in row["choice_scores"]] == [1, 2, 3]
    assert [item["is_target"] for item in row["choice_scores"]] == [False, False, True]
    first, second, both = (row_of(old, "custom|essay", 1, draw) for draw in (0, 1, -1))
    assert (first["response"], second["response"]) == ("first 1", "second 1")
    assert (first["input_tokens"], first["output_tokens"], second["output_tokens"]) == (
        22,
        32,
        42,
    )
    assert (first["target"], first["metadata"]) == ("gold 1", None)
    assert values(both) == {"maj@n:n=2": 1.0}


def test_a_question_has_one_key_in_both_generations(new: Taken, old: Taken) -> None:
    """Also the right one is the same in the first two rows of these files."""
    for place in (0, 1):
        keys = {
            row_of(new, "quiz:maps", place)["identity"],
            row_of(old, "leaderboard|quiz:maps", place)["identity"],
        }
        assert len(keys) == 1


def flat_file(folder: Path, **columns: Any) -> Path:
    """Details of the older generation with one row."""
    stated = {
        "example": "q",
        "full_prompt": "q",
        "choices": ["a", "b"],
        "gold": None,
        "gold_index": [0],
        "predictions": [-1.0, -2.0],
        "metrics": {"acc": 1},
    }
    path = folder / "details_quiz|0_2026-01-02T03-04-05.678.parquet"
    pq.write_table(pa.Table.from_pylist([stated | columns]), path)
    return path


def test_likelihoods_with_the_greedy_flag_and_without_a_prompt(tmp_path: Path) -> None:
    path = flat_file(
        tmp_path,
        predictions=[
            ["-1.5", "True"],
            ["-2.5", "False"],
            ["-3.5", "False"],
            ["-4.5", "False"],
        ],
    )
    (row,) = take(path, model="org/m").rows
    found = row["choice_scores"]
    assert [item["loglikelihood"] for item in found] == [-1.5, -2.5]
    assert [item["is_greedy"] for item in found] == [True, False]
    assert [item["unconditional_loglikelihood"] for item in found] == [-3.5, -4.5]


def test_a_turn_is_no_judge(tmp_path: Path) -> None:
    (run,) = take(
        flat_file(tmp_path, metrics={"judge_score_turn_1": 6}), model="org/m"
    ).dump.runs
    assert [(spec.scorer_kind, spec.judge_model) for spec in run.metrics] == [
        ("model", "")
    ]


def test_no_number_is_an_error_and_not_zero(tmp_path: Path) -> None:
    (row,) = take(
        flat_file(tmp_path, metrics={"acc": float("nan")}), model="org/m"
    ).rows
    (score,) = row["scores"]
    assert (score["value"], score["status"], score["raw"]) == (None, "error", "nan")


def test_a_document_that_is_asked_in_several_ways_is_one_prompt(tmp_path: Path) -> None:
    """As mmlu_redux is: a row for each way, with nothing where a metric is of the
    other; the ways come as a set."""
    for ways in (["GENERATIVE", "LOGPROBS"], ["LOGPROBS", "GENERATIVE"]):
        doc = {
            "query": "q?",
            "choices": [" A", " B"],
            "gold_index": 1,
            "id": "7",
            "sampling_methods": ways,
        }
        said = {
            "input": "q?",
            "input_tokens": [1],
            "text": [" B"],
            "output_tokens": [[1]],
        }
        ranked = {
            "input": "q",
            "input_tokens": [1, 2],
            "text": [],
            "logprobs": [-1.0, -2.0],
        }
        both = [
            (said, {"gpqa_pass@k:k=1&n=1": 1.0, "acc": None}),
            (ranked, {"acc": 0, "gpqa_pass@k:k=1&n=1": None}),
        ]
        rows = [
            {"doc": doc, "model_response": answer, "metric": metric}
            for answer, metric in both
        ]
        path = (
            tmp_path
            / "details"
            / "org"
            / "m"
            / f"details_redux:{ways[0]}|0_2026-01-02T03-04-05.678.parquet"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
    with open_store(f"duckdb:///{tmp_path}/x.duckdb", create=True) as store:
        ingest(store, [tmp_path])
        figures = (
            "select benchmark, metric, estimate, n_prompts from score_summary order by "
            "1, 2"
        )
        assert [tuple(row.values())[1:] for row in select(store, figures)] == 2 * [
            ("acc", 0.0, 1),
            ("gpqa_pass@k:k=1&n=1", 1.0, 1),
        ]
        (formulation,) = select(store, "select distinct formulation from run_current")
        assert formulation == {"formulation": "generative+logprobs"}


# --- files -----------------------------------------------------------------------------------


def real_names(folder: Path) -> Path:
    """The files of 0.10 with the names that lighteval gives them."""
    shutil.copytree(OLD, folder / "out")
    for name, real in (("quiz__maps", "quiz:maps"), ("quiz__seas", "quiz:seas")):
        for path in folder.rglob(f"*{name}*.parquet"):
            path.rename(
                path.with_name(
                    path.name.replace(
                        f"leaderboard__{name}__5", f"leaderboard|{real}|5"
                    )
                )
            )
    return folder / "out"


def test_files_with_their_own_names_are_the_same_run(
    tmp_path: Path, old: Taken
) -> None:
    taken = take(real_names(tmp_path))
    assert taken.rows == old.rows and [run.benchmark for run in taken.dump.runs] == [
        run.benchmark for run in old.dump.runs
    ]


def test_details_alone_take_the_model_from_their_folders(tmp_path: Path) -> None:
    out = real_names(tmp_path)
    shutil.rmtree(out / "results")
    taken = take(out)
    assert {run.model for run in taken.dump.runs} == {"org/old-tiny"}
    rows = taken.rows_of("leaderboard|quiz:maps")
    assert [values(row) for row in rows] == [{"acc": 1.0}, {"acc": 0.0}, {"acc": 0.0}]
    assert taken.run("custom__essay").fewshot == 0  # as far as a changed name tells
    path = next(out.rglob("*quiz:maps*"))
    with pytest.raises(InputError, match="names the model"):
        take(path.rename(tmp_path / path.name))


def test_results_alone_are_published_figures(tmp_path: Path) -> None:
    shutil.copytree(NEW / "results", tmp_path / "results")
    taken = take(tmp_path)
    assert taken.rows == [] and len(taken.dump.runs) == 4
    assert taken.run("wiki").metrics[0].link == "exp_neg"


def test_only_its_own_files_are_claimed() -> None:
    files = candidates([FIXTURES, lm_eval.FIXTURES])
    own = {path for source in IMPORTER.claim(files) for path in source.files}
    assert own == {item.path for item in candidates([FIXTURES])}
    for name, other in importers().items():
        if name not in ("lighteval", "tabular"):
            assert not list(other.claim(candidates([FIXTURES]))), name


@pytest.mark.parametrize("kept", [0, 3, 4000])
def test_damaged_details_refuse_the_source(tmp_path: Path, kept: int) -> None:
    out = real_names(tmp_path)
    path = next(out.rglob("*maps*.parquet"))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError, match="maps"):
        take(out)


@pytest.mark.parametrize("name", ["doc", "model_response"])
def test_columns_of_another_type_refuse_the_source(tmp_path: Path, name: str) -> None:
    shutil.copytree(NEW, out := tmp_path / "out")
    path = next(out.rglob("*seas*.parquet"))
    table = pq.read_table(path)
    other = pa.array([True] * table.num_rows)
    pq.write_table(table.set_column(table.schema.names.index(name), name, other), path)
    with pytest.raises(InputError, match=f"column '{name}' holds bool"):
        take(out)


def test_both_generations_in_a_store(store_url: str) -> None:
    with open_store(store_url, create=True, write=True) as store:
        report = ingest(store, [FIXTURES])
        assert (report.total("n_runs"), report.refused, report.unclaimed) == (7, (), ())
        assert {item.verdict for item in report.reconciliation} == {
            "exact",
            "not_recomputable",
        }
        exact = [item for item in report.reconciliation if item.verdict == "exact"]
        assert len(exact) == 12
        found = {
            (row["benchmark"], row["metric"]): row
            for row in select(
                store,
                "select benchmark, metric, estimate, n_prompts from score_summary",
            )
        }
        perplexity = found["wiki", "word_perplexity"]["estimate"]
        assert perplexity == pytest.approx(4.813519741131481, rel=1e-12)
        assert check(store).ok
        again = ingest(store, [FIXTURES])
        assert {item.state for item in again.sources} == {"unchanged"}
