"""Run headers out of results files of lm-evaluation-harness: every field, of every
version."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.lm_eval import FIXTURES, STAMP, take
from warehouse.errors import InputError
from warehouse.importers.lm_eval.results import LmEvalResults
from warehouse.importers.lmms_eval.results import Results
from warehouse.records import MetricSpec, PublishedScore
from warehouse.store.load.run_keys import condition_key, run_key

RESULTS = FIXTURES / "v0_4_13" / "org__demo-model" / f"results_{STAMP}.json"


def changed(folder: Path, **top: Any) -> Path:
    """A copy of the 0.4.13 results with some top-level entries replaced."""
    document = json.loads(RESULTS.read_text()) | top
    path = folder / RESULTS.name
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not ...}))
    return path


def config(**entries: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text())["config"] | entries
    return found


def test_every_field_of_a_header() -> None:
    run = take(FIXTURES / "v0_4_13").run("demo_gen")
    got = {
        name: value
        for name, value in vars(run).items()
        if name not in ("metrics", "published")
    }
    assert got.pop("template_hash") not in (None, "7e4p1a7e")
    assert len(got["sampling"].pop("scoring")) == 64
    assert got.pop("configuration")["task"]["dataset_path"] == "org/demo-gen"
    expected = {
        "harness": "lm_eval",
        "model": "org/demo-model",
        "benchmark": "demo_gen",
        "parameter_count": 1234567,
        "revision": "step1000",
        "step": 1000,
        "dataset_revision": "d4t4",
        "split": "test",
        "task_version": "3",
        "formulation": "generate_until",
        "fewshot": 4,
        "fewshot_seed": 14,
        "system_prompt_hash": "5y57e4",
        "temperature": 0.75,
        "top_p": 0.875,
        "max_tokens": 48,
        "sampling_seed": 77,
        "run_id": "1772600767.25",
        "started_at": datetime(2026, 3, 4, 5, 6, 7, 250000),
        "harness_version": "0.4.13",
        "harness_commit": "c0ffee00",
        "hardware": "2 x NVIDIA H100, 1 x NVIDIA L4",
        "n_benchmark": 2,
        "n_requested": 2,
        "place": f"samples_demo_gen_{STAMP}.jsonl",
        "sampling": {
            "until": ["\n\n"],
            "repetition_penalty": 1.25,
            "backend": "hf",
            "model_args": {"enable_thinking": False},
            "fewshot_as_multiturn": True,
        },
    }
    assert {name: got[name] for name in expected} == expected
    empty = (None, "", (), {}, "complete")
    assert {name: value for name, value in got.items() if name not in expected} == {
        name: value
        for name, value in got.items()
        if name not in expected and value in empty
    }


def test_groups_are_the_suite_and_publish_by_name() -> None:
    dump = take(FIXTURES / "v0_4_13").dump
    assert [run.benchmark for run in dump.runs] == ["demo_mc", "demo_gen", "demo_ppl"]
    assert [run.suite for run in dump.runs] == [
        ("demo_suite", "demo_group"),
        (),
        ("demo_suite",),
    ]
    assert dump.published == (
        PublishedScore("acc", 0.625, benchmark="demo_group", standard_error=0.25, n=3),
        PublishedScore("f1", None, benchmark="demo_group", raw="N/A", statistic="f1"),
    )


def test_metrics_say_how_they_add_up() -> None:
    dump = take(FIXTURES / "v0_4_13").dump
    specs = {
        (spec.name, spec.filter): spec for run in dump.runs for spec in run.metrics
    }
    binary = {"kind": "binary", "low": 0.0, "high": 1.0, "higher_is_better": True}
    assert specs["acc", ""] == MetricSpec("acc", **binary, is_default=False)  # type: ignore[arg-type]
    assert specs["acc_norm", ""].is_default  # the first of the task's list
    assert [specs["f1", ""].link, specs["brier_score", ""].link] == ["none", "none"]
    assert specs["verdict", ""].link == specs["parts", ""].link == "none"
    assert specs["brier_score", ""].higher_is_better is False
    assert specs["word_perplexity", ""] == MetricSpec(
        "word_perplexity",
        unit="nats/word",
        link="exp_neg",
        kind="continuous",
        high=0.0,
        higher_is_better=False,
        is_default=True,
    )
    assert specs["byte_perplexity", ""].unit == "nats/byte"
    assert specs["bits_per_byte", ""].link == "neg_over_ln2"
    voted = specs["exact_match", "maj@2"]
    assert (voted.scorer_kind, voted.kind, voted.is_default) == (
        "execution",
        "binary",
        False,
    )
    assert specs["exact_match", "strict-match"].is_default


def test_published_figures() -> None:
    dump = take(FIXTURES / "v0_4_13").dump
    found = {
        (run.benchmark, score.metric, score.filter): score
        for run in dump.runs
        for score in run.published
    }
    assert found["demo_mc", "acc", ""] == PublishedScore(
        "acc", 2 / 3, standard_error=pytest.approx(1 / 3), n=3
    )
    assert found["demo_mc", "acc_norm", ""].standard_error is None  # "N/A"
    assert found["demo_mc", "f1", ""].statistic == "f1"
    assert found["demo_gen", "exact_match", "maj@2"].value == 1.0
    assert len(found) == 4 + 3 + 3


def test_without_results_the_samples_say_what_they_can() -> None:
    run = take(FIXTURES / "samples_only", model="org/echo").run("echo")
    assert (run.model, run.run_id, run.formulation) == (
        "org/echo",
        "2026-01-02T03-04-05.000001",
        "generate_until",
    )
    assert (run.temperature, run.max_tokens, run.sampling) == (
        0.25,
        9,
        {"until": ["\n"]},
    )
    assert [(spec.name, spec.filter) for spec in run.metrics] == [
        ("match", ""),
        ("match", "upper"),
    ]


def test_a_missing_model_is_asked_for() -> None:
    with pytest.raises(InputError, match="--default model="):
        take(FIXTURES / "samples_only")


def test_arguments_as_text_and_an_endpoint() -> None:
    dump = take(FIXTURES / "v0_4_9").dump
    chat, mutual = dump.runs
    assert (chat.model, chat.endpoint, chat.revision) == (
        "org/chat-model",
        "api.example.org",
        None,
    )
    assert (chat.temperature, chat.top_p, chat.max_tokens) == (0.0, 0.5, 64)  # greedy
    assert (chat.task_version, chat.fewshot, chat.fewshot_seed) == ("4b", 0, None)
    assert (mutual.fewshot, mutual.fewshot_seed, mutual.temperature) == (2, 22, None)
    assert chat.sampling.keys() == {"until", "backend", "scoring"}


def test_an_adapter_is_the_model_and_its_folder_the_epoch() -> None:
    run = take(FIXTURES / "v0_4_5").run("sums")
    assert (run.model, run.epoch, run.step) == ("../runs/tuned", 20.0, None)
    assert (run.base_checkpoint, run.revision) == ("meta/base@ba5e5ha", "ada97e4")
    assert run.suite == ("old_group",)


def test_the_oldest_results() -> None:
    dump = take(FIXTURES / "v0_4_2").dump
    yes_no, lists = dump.runs
    assert (yes_no.model, yes_no.split, yes_no.harness_version) == (
        "org/tiny",
        "val",
        None,
    )
    assert (yes_no.n_requested, yes_no.started_at) == (
        None,
        datetime(2023, 11, 14, 22, 13, 20, 500000),
    )
    assert (lists.task_version, lists.temperature, lists.fewshot) == ("Yaml", 0.0, 1)
    assert yes_no.metrics[0].higher_is_better is True


@pytest.mark.parametrize(
    ("entries", "revision"),
    [
        ({}, "step1000"),
        ({"model_revision": "main"}, "5ha5ha5ha"),
        ({"model_revision": "main", "model_sha": ""}, None),
        ({"model_revision": None, "model_sha": None}, "step1000"),  # from the arguments
        (
            {"model_revision": None, "model_args": "pretrained=org/demo-model"},
            "5ha5ha5ha",
        ),
    ],
)
def test_a_branch_that_moves_gives_way_to_its_commit(
    tmp_path: Path, entries: dict[str, Any], revision: str | None
) -> None:
    run = take(changed(tmp_path, config=config(**entries))).run("demo_mc")
    assert run.revision == revision


@pytest.mark.parametrize(
    ("name", "folder", "model", "step", "epoch"),
    [
        ("stepfun-ai/step3", "stepfun-ai__step3", "stepfun-ai/step3", None, None),
        ("org/llama-step-2000", "x", "org/llama-step-2000", 2000, None),
        ("/home/me/runs/a/checkpoint-500", "x", "/home/me/runs/a", 500, None),
        ("./out/epoch_3/", "x", "./out", None, 3.0),
        ("org/m", "step_400", "org/m", 400, None),
        ("org/m", "plain", "org/m", None, None),
    ],
)
def test_step_and_epoch_come_from_names(
    tmp_path: Path,
    name: str,
    folder: str,
    model: str,
    step: int | None,
    epoch: float | None,
) -> None:
    (tmp_path / folder).mkdir()
    entries = config(
        model_args={"pretrained": name}, model_revision="main", model_sha="c0"
    )
    path = changed(tmp_path / folder, model_name=name, config=entries)
    run = take(path).run("demo_mc")
    assert (run.model, run.step, run.epoch) == (model, step, epoch)


def test_made_up_names_are_not_models(tmp_path: Path) -> None:
    path = changed(
        tmp_path, model_name="Xa81bC2d", config=config(model="dummy", model_args=None)
    )
    assert take(path).run("demo_mc").model == "dummy"


def test_the_condition_is_blind_to_what_does_not_matter(tmp_path: Path) -> None:
    run = take(FIXTURES / "v0_4_13").run("demo_gen")
    entries = config(
        device="cpu", batch_size=1, limit=None, random_seed=5, use_cache="y"
    )
    entries["model_args"] |= {"device_map": "cpu", "seed": 78}
    entries["model_args"] |= {"base_url": "http://localhost:8000/v1"}
    other = take(
        changed(tmp_path, config=entries, date=1772600999.5, git_hash="0")
    ).run("demo_gen")
    assert condition_key(other) == condition_key(run)
    assert other.sampling_seed == 78
    assert run_key(other) != run_key(run)


@pytest.mark.parametrize(
    "entries",
    [
        {"config": {"gen_kwargs": {"temperature": 0.5}}},
        {"config": {"gen_kwargs": {"do_sample": False}}},
        {
            "config": {
                "model_args": {"pretrained": "org/demo-model", "revision": "step1000"}
            }
        },
        {"config": {"model": "vllm"}},
        {
            "config": {
                "model_args": {
                    "pretrained": "org/demo-model",
                    "tokenizer": "/elsewhere",
                }
            }
        },
        {
            "config": {
                "model_args": {
                    "pretrained": "org/demo-model",
                    "lora_local_path": "/run2/final",
                }
            }
        },
        {"config": {"fewshot_seed": 15}},
        {"n-shot": {"demo_gen": 5}},
        {"versions": {"demo_gen": 4}},
        {"chat_template_sha": "other"},
        {"system_instruction_sha": "other"},
    ],
    ids=str,
)
def test_the_condition_sees_what_matters(
    tmp_path: Path, entries: dict[str, Any]
) -> None:
    run = take(FIXTURES / "v0_4_13").run("demo_gen")
    if "config" in entries:
        entries = {"config": config(**entries["config"])}
    assert condition_key(
        take(changed(tmp_path, **entries)).run("demo_gen")
    ) != condition_key(run)


def test_addresses_in_reprs_do_not_count(tmp_path: Path) -> None:
    keys = set()
    for address in ("0x7f001122", "0x7f99aabb"):
        text = (FIXTURES / "v0_4_9" / "run:7_2025-07-21T14-41-47.json").read_text()
        path = tmp_path / "results_2025-07-21T14-41-47.json"
        path.write_text(text.replace("0x7f001122", address))
        keys.add(condition_key(take(path).run("chat_math")))
    assert len(keys) == 1


def test_predict_only_publishes_nothing(tmp_path: Path) -> None:
    figures = {"alias": "x", "bypass,none": 999, "bypass_stderr,none": "N/A"}
    none = {"demo_mc": {"original": 3, "effective": 0}}  # 0.4.13, of options
    run = take(
        changed(tmp_path, results={"demo_mc": figures}, **{"n-samples": none})
    ).run("demo_mc")
    assert (run.published, run.metrics, run.n_requested) == ((), (), None)


def test_a_median_cannot_be_recomputed(tmp_path: Path) -> None:
    configs = json.loads(RESULTS.read_text())["configs"]
    configs["demo_mc"]["metric_list"] = [
        {"metric": "acc", "aggregation": "median"},
        {"metric": "acc_norm", "aggregation": "def mean(x): …"},
        {"metric": "f1", "aggregation": "perplexity"},
    ]
    specs = {
        spec.name: spec
        for spec in take(changed(tmp_path, configs=configs)).run("demo_mc").metrics
    }
    assert (specs["acc"].link, specs["acc_norm"].link, specs["f1"].link) == (
        "none",
        "identity",
        "exp_neg",
    )


def test_perplexities_of_the_fixture_are_what_the_harness_computes() -> None:
    run = take(FIXTURES / "v0_4_13").run("demo_ppl")
    figures = {score.metric: score.value for score in run.published}
    assert figures["word_perplexity"] == pytest.approx(math.exp(15.75 / 8), rel=1e-15)


@pytest.mark.parametrize("turned", [True, False])
def test_of_two_groups_of_a_task_the_smaller_is_above_it_whatever_their_order(
    turned: bool,
) -> None:
    groups = {
        "all": ["stem", "algebra", "law"],
        "stem": ["algebra"],
        "b": ["law", "x"],
        "a": ["law", "y"],
    }
    subtasks = dict(reversed(groups.items())) if turned else groups
    for document in (
        LmEvalResults({"group_subtasks": subtasks}, RESULTS),
        Results({"group_subtasks": subtasks}, FIXTURES),
    ):
        assert [document._suite(task) for task in ("algebra", "law", "x", "z")] == [
            ("all", "stem"),
            ("a",),
            ("b",),
            (),
        ]
