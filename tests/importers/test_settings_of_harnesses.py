"""One thing changed in files of tools that write few settings down: another condition,
or the same one. Where names of files and folders are the only place of an option, they
are what is changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.dumps import DATA
from tests.support.setting_leaves import headers_of, leaves_in
from warehouse.importers.alpaca_eval import IMPORTER as ALPACA
from warehouse.importers.bfcl.importer import IMPORTER as BFCL
from warehouse.importers.bigbench.importer import IMPORTER as BIGBENCH
from warehouse.importers.evalplus import EVALPLUS, HUMAN_EVAL
from warehouse.importers.livecodebench import IMPORTER as LIVECODEBENCH
from warehouse.importers.metr import IMPORTER as METR
from warehouse.importers.openai_evals.importer import IMPORTER as OPENAI_EVALS
from warehouse.importers.simple_evals.importer import IMPORTER as SIMPLE_EVALS
from warehouse.records.settings import settings_of

#: The user's values for files that name no model.
UNNAMED = {"model": "m"}


def conditions(importer: Any, folder: Path, name: str, document: Any) -> list[str]:
    """The conditions of a folder with one file."""
    path = folder / name
    path.parent.mkdir(parents=True)
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    values = UNNAMED if importer is HUMAN_EVAL else {}
    return [
        settings_of(header).condition_key
        for header in headers_of(importer, folder, values)
    ]


# --- names of files ------------------------------------------------------------------------------

PROBLEM = {
    "question_content": "q",
    "question_id": "1",
    "output_list": ["a"],
    "code_list": ["a"],
    "graded_list": [True],
}
VERDICT = {
    "task_id": "HumanEval/0",
    "solution": "x",
    "base_status": "pass",
    "plus_status": "pass",
}
COMPLETION = (
    '{"task_id": "HumanEval/0", "completion": "x", "result": "passed", "passed": '
    "true}\n"
)
RESULT = '{"id": "simple_0", "result": "f(1)"}\n'
CODE = "M/Scenario."
DOCUMENTS = {
    LIVECODEBENCH: [PROBLEM],
    EVALPLUS: {
        "date": "2026-01-01 10:00",
        "hash": "d41d",
        "eval": {"HumanEval/0": [VERDICT]},
    },
    HUMAN_EVAL: COMPLETION,
    BFCL: RESULT,
    SIMPLE_EVALS: {"score": 0.5, "score:std": 0.1},
}


@pytest.mark.parametrize(
    ("importer", "first", "second", "is_same"),
    [
        (
            LIVECODEBENCH,
            CODE + "codegeneration_1_0.2_eval_all.json",
            CODE + "codegeneration_1_0.8_eval_all.json",
            False,
        ),
        (
            LIVECODEBENCH,
            CODE + "codegeneration_1_0.2_eval_all.json",
            "M/codegeneration_1_0.2_eval_all.json",
            True,
        ),
        (
            LIVECODEBENCH,
            CODE + "codegeneration_1_0_eval_all.json",
            CODE + "codegeneration_10_0.0_eval_all.json",
            True,
        ),
        (
            LIVECODEBENCH,
            CODE + "codeexecution_1_0.2_eval_all.json",
            CODE + "codeexecution_1_0.2_cot_eval_all.json",
            False,
        ),
        (
            LIVECODEBENCH,
            CODE + "selfrepair_1_0.2_codegen_1_eval_all.json",
            CODE + "selfrepair_1_0.2_codegen_10_eval_all.json",
            False,
        ),
        (
            LIVECODEBENCH,
            CODE + "codegeneration_1_0.2_eval_all.json",
            CODE + "codegeneration_1_0.2_topp0.9_eval_all.json",
            False,
        ),
        (
            EVALPLUS,
            "h/m_vllm_temp_0.2_eval_results.json",
            "h/m_hf_temp_0.2_eval_results.json",
            False,
        ),
        (
            EVALPLUS,
            "h/m_vllm_temp_0.2_eval_results.json",
            "h/m_vllm_temp_0.2-sanitized_eval_results.json",
            False,
        ),
        (
            EVALPLUS,
            "h/m_vllm_temp_0.2_eval_results.json",
            "h/m_vllm_temp_0.2_force-base_eval_results.json",
            False,
        ),
        (
            EVALPLUS,
            "h/m_vllm_temp_0_eval_results.json",
            "h/m_vllm_temp_0.0_eval_results.json",
            True,
        ),
        (
            HUMAN_EVAL,
            "samples.jsonl_results.jsonl",
            "samples_2.jsonl_results.jsonl",
            True,
        ),
        (
            HUMAN_EVAL,
            "t0.2_samples.jsonl_results.jsonl",
            "t0.8_samples.jsonl_results.jsonl",
            False,
        ),
        (BFCL, "result/m/simple_result.json", "result-BFCL/m/simple_result.json", True),
        (
            BFCL,
            "result-t0/m/simple_result.json",
            "result-t1/m/simple_result.json",
            False,
        ),
        (BFCL, "result/m/simple_result.json", "result/m-FC/simple_result.json", False),
        (SIMPLE_EVALS, "mmlu_m.json", "mmlu_m_20260304_050607.json", True),
        (SIMPLE_EVALS, "mmlu_m.json", "mmlu_m_DEBUG.json", False),
        (SIMPLE_EVALS, "mmlu_m.json", "mmlu_m_assistant.json", False),
    ],
)
def test_options_in_names(
    importer: Any, first: str, second: str, is_same: bool, tmp_path: Path
) -> None:
    one = conditions(importer, tmp_path / "one", first, DOCUMENTS[importer])
    other = conditions(importer, tmp_path / "other", second, DOCUMENTS[importer])
    assert len(one) == len(other) == 1
    assert (one == other) is is_same


# --- what stands in files ------------------------------------------------------------------------

Change = Callable[[Any], Any]


def annotations(**more: Any) -> list[dict[str, Any]]:
    """Two annotations of AlpacaEval, with more of the same in both."""
    named = {
        "generator_1": "theirs",
        "generator_2": "ours",
        "annotator": "judge",
        "dataset": "koala",
    }
    answers = {"output_1": "a", "output_2": "b", "preference": 1.5}
    return [
        {"instruction": text, **named, **answers, **more} for text in ("do 1", "do 2")
    ]


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (annotations(generator_1="x"), annotations(generator_1="y"), False),
        (annotations(annotator="x"), annotations(annotator="y"), False),
        (annotations(prompt_version=1), annotations(prompt_version=2), False),
        (annotations(prompt_version=1), annotations(prompt_version="1.0"), True),
        (
            annotations(preference_date="2026-01-01T10:00:00"),
            annotations(preference_date="2026-01-02T10:00:00"),
            True,
        ),
        (
            annotations(preference_version="0.6.1"),
            annotations(preference_version="0.6.6"),
            True,
        ),
        (annotations(price_per_example=0.1), annotations(price_per_example=0.2), True),
        (annotations(dataset="koala"), annotations(dataset="vicuna"), True),
        (annotations(), [*annotations(note="x")[:1], *annotations(note="y")[:1]], True),
    ],
)
def test_alpaca_eval(first: Any, second: Any, is_same: bool, tmp_path: Path) -> None:
    one = conditions(ALPACA, tmp_path / "one", "m/judge/annotations.json", first)
    other = conditions(ALPACA, tmp_path / "other", "m/judge/annotations.json", second)
    assert len(one) == len(other) == 1
    assert (one == other) is is_same


@pytest.mark.parametrize(
    ("second", "is_same"), [(0.2, True), ("0.20", True), (0.8, False)]
)
def test_fields_that_a_person_added_to_completions(
    second: Any, is_same: bool, tmp_path: Path
) -> None:
    keys = []
    for number, temperature in enumerate((0.2, second)):
        row = json.loads(COMPLETION) | {"temperature": temperature}
        lines = "".join(
            json.dumps(row | {"task_id": f"HumanEval/{task}", "seconds": task}) + "\n"
            for task in range(2)
        )
        keys += conditions(
            HUMAN_EVAL, tmp_path / str(number), "samples.jsonl_results.jsonl", lines
        )
    assert (keys[0] == keys[1]) is is_same


def agent_runs(**more: Any) -> str:
    """Two runs of an agent as METR writes them, with more of the same in both."""
    lines = []
    for number, task in enumerate(("add/one", "add/two")):
        of_task = {"task_id": task, "task_family": "add", "human_minutes": 1.0}
        own = {
            "run_id": f"r{number}",
            "alias": "Tiny",
            "score_binarized": 1,
            "score": 1.0,
        }
        lines.append(
            json.dumps(
                own | of_task | {"model": "tiny-1", "time_limit": 1800 + number} | more
            )
        )
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (agent_runs(model="a"), agent_runs(model="b"), False),
        (agent_runs(scaffold="a"), agent_runs(scaffold="b"), False),
        (agent_runs(time_limit=60), agent_runs(time_limit=90), False),
        (agent_runs(), agent_runs(total_tokens=5), True),
        (
            agent_runs(human_source="baseline"),
            agent_runs(human_source="estimate"),
            True,
        ),
    ],
)
def test_metr(first: str, second: str, is_same: bool, tmp_path: Path) -> None:
    one = conditions(METR, tmp_path / "one", "all_runs.jsonl", first)
    other = conditions(METR, tmp_path / "other", "all_runs.jsonl", second)
    assert len(one) == len(other) == 1
    assert (one == other) is is_same


def eval_log(**args: Any) -> str:
    """A log of OpenAI evals without samples."""
    eval_spec = {
        "cls": "a:Match",
        "registry_path": args.pop("registry_path", "/tmp/x"),
        "args": args,
        "key": "e.test.v1",
    }
    run_config = {
        "completion_fns": ["m"],
        "eval_spec": eval_spec,
        "seed": 1,
        "command": "oaieval m e",
    }
    spec = {
        "completion_fns": ["m"],
        "eval_name": "e.test.v1",
        "base_eval": "e",
        "split": "test",
        "run_config": run_config,
    }
    return "\n".join(
        json.dumps(line)
        for line in (
            {"spec": spec | {"run_id": "1"}},
            {"final_report": {"accuracy": 0.5}},
        )
    )


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (eval_log(registry_path="/tmp/a"), eval_log(registry_path="/tmp/b"), True),
        (
            eval_log(samples_jsonl="/home/a/s.jsonl"),
            eval_log(samples_jsonl="/home/b/s.jsonl"),
            True,
        ),
        (
            eval_log(samples_jsonl="/home/a/s.jsonl"),
            eval_log(samples_jsonl="/home/a/t.jsonl"),
            False,
        ),
        (eval_log(num_few_shot=1), eval_log(num_few_shot=2), False),
        (eval_log(unheard_of=1), eval_log(unheard_of=2), False),
        (eval_log(model_path="/a/x"), eval_log(model_path="/b/x"), False),
    ],
)
def test_openai_evals(first: str, second: str, is_same: bool, tmp_path: Path) -> None:
    one = conditions(OPENAI_EVALS, tmp_path / "one", "log.jsonl", first)
    other = conditions(OPENAI_EVALS, tmp_path / "other", "log.jsonl", second)
    assert len(one) == len(other) == 1
    assert (one == other) is is_same


# --- every leaf ----------------------------------------------------------------------------------

#: Importer, harness, folder of the dump, its documents, and what in them is outcome or
#: of a sample.
LEAVES: dict[str, tuple[Any, str, str, str, str]] = {
    "openai_evals": (
        OPENAI_EVALS,
        "openai-evals",
        "openai_evals",
        "*.jsonl",
        r"^final_report",
    ),
    "simple_evals": (
        SIMPLE_EVALS,
        "simple-evals",
        "simple_evals",
        "*_allresults.json",
        r"^(htmls|convos|metadata)",
    ),
    "bigbench": (
        BIGBENCH,
        "bigbench",
        "bigbench/made_numbers",
        "**/full-log_*.json",
        r"^scores|queries\.(samples|shots|task)",
    ),
}


@pytest.mark.parametrize("name", LEAVES)
def test_every_leaf_is_read(name: str, tmp_path: Path) -> None:
    importer, harness, folder, documents, not_settings = LEAVES[name]
    copied = Path(shutil.copytree(DATA / folder, tmp_path / Path(folder).name))
    found = sorted(copied.glob(documents))
    assert found
    leaves = leaves_in(importer, harness, copied, found, not_settings, of_a_kind=1)
    assert leaves.dropped() == []
    assert leaves.counted_against_the_table() == []


@pytest.mark.parametrize(
    ("importer", "name", "document", "not_settings"),
    [
        (
            ALPACA,
            "m/judge/annotations.json",
            annotations(temperature=0.5, preference_version="1"),
            r"^(instruction|output_|preference$|dataset)",
        ),
        (
            EVALPLUS,
            "h/m_vllm_temp_0.2_eval_results.json",
            {**DOCUMENTS[EVALPLUS], "dtype": "bfloat16"},
            r"^eval",
        ),
    ],
)
def test_every_leaf_of_a_made_file_is_read(
    importer: Any, name: str, document: Any, not_settings: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    leaves = leaves_in(importer, importer.name, tmp_path, [path], not_settings)
    assert leaves.dropped() == []
