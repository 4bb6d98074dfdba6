"""What the shipped mappings take as settings: of tau2-bench, Langfuse and Braintrust."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.support.tabular import documented, read
from warehouse.records.settings import settings_of

TAU2 = {
    "timestamp": "2026-11-02T10:00:00",
    "info": {
        "git_commit": "abc",
        "num_trials": 1,
        "max_steps": 200,
        "seed": 300,
        "user_info": {
            "implementation": "user_simulator",
            "llm": "u-1",
            "llm_args": {"temperature": 0.0},
        },
        "agent_info": {
            "implementation": "llm_agent",
            "llm": "m",
            "llm_args": {"temperature": 0.5, "top_p": 0.9},
        },
        "environment_info": {"domain_name": "retail", "policy": "be kind"},
    },
    "simulations": [
        {
            "task_id": "0",
            "trial": 0,
            "termination_reason": "user_stop",
            "reward_info": {"reward": 1.0},
            "duration": 2,
        }
    ],
}
LANGFUSE = {
    "id": "1",
    "experimentId": "e1",
    "experimentName": "baseline",
    "experimentItemId": "item0",
    "experimentDatasetId": "ds",
    "experimentMetadata": {"model": "m", "prompt_version": 1},
    "input": "q",
    "output": "a",
    "scores": [{"name": "accuracy", "dataType": "NUMERIC", "value": 1}],
}
BRAINTRUST = {
    "id": "1",
    "experiment_id": "e1",
    "is_root": True,
    "experiment": {"name": "baseline", "metadata": {"prompt_version": 1}},
    "input": "q",
    "output": "a",
    "scores": {"f": 1},
    "metadata": {"model": "m"},
}


def condition(folder: Path, mapping: str, document: dict[str, Any]) -> str:
    """The key of the condition of the one run of a document."""
    folder.mkdir(exist_ok=True)
    (folder / "dump.json").write_text(
        json.dumps(document if mapping == "tau2_simulations" else [document])
    )
    (run,) = read(
        folder,
        documented(mapping),
        {"benchmark": "b"} if mapping == "braintrust" else {},
    ).runs
    return settings_of(run).condition_key


@pytest.mark.parametrize(
    ("mapping", "document", "place", "value", "is_setting"),
    [
        ("tau2_simulations", TAU2, "info.user_info.llm_args.temperature", 1.0, True),
        ("tau2_simulations", TAU2, "info.user_info.llm_args.temperature", "0", False),
        ("tau2_simulations", TAU2, "info.user_info.llm", "u-2", True),
        ("tau2_simulations", TAU2, "info.agent_info.llm_args.top_p", 1.0, True),
        ("tau2_simulations", TAU2, "info.agent_info.llm_args.num_retries", 9, False),
        ("tau2_simulations", TAU2, "info.max_steps", 100, True),
        ("tau2_simulations", TAU2, "info.environment_info.policy", "be curt", True),
        ("tau2_simulations", TAU2, "info.new_option", "on", True),
        ("tau2_simulations", TAU2, "info.seed", 301, False),
        ("tau2_simulations", TAU2, "info.git_commit", "abd", False),
        ("tau2_simulations", TAU2, "info.num_trials", 4, False),
        ("tau2_simulations", TAU2, "timestamp", "2026-11-03T10:00:00", False),
        ("langfuse", LANGFUSE, "experimentName", "other", True),
        (
            "langfuse",
            LANGFUSE,
            "experimentName",
            "baseline - 2026-11-02T03:04:05Z",
            False,
        ),
        ("langfuse", LANGFUSE, "experimentMetadata.prompt_version", 2, True),
        ("langfuse", LANGFUSE, "experimentMetadata.prompt_version", "1.0", False),
        ("langfuse", LANGFUSE, "experimentDescription", "with tools", True),
        ("langfuse", LANGFUSE, "experimentId", "e2", False),
        ("langfuse", LANGFUSE, "traceId", "t2", False),
        ("braintrust", BRAINTRUST, "experiment.name", "other", True),
        ("braintrust", BRAINTRUST, "experiment.name", "baseline-1a2b3c4d", False),
        ("braintrust", BRAINTRUST, "experiment.metadata.prompt_version", 2, True),
        ("braintrust", BRAINTRUST, "parameters.k", 2, True),
        ("braintrust", BRAINTRUST, "experiment_id", "e2", False),
    ],
)
def test_one_value_that_differs(
    tmp_path: Path,
    mapping: str,
    document: dict[str, Any],
    place: str,
    value: Any,
    is_setting: bool,
) -> None:
    changed = deepcopy(document)
    *outer, last = place.split(".")
    inner = changed
    for name in outer:
        inner = inner.setdefault(name, {})
    inner[last] = value
    first = condition(tmp_path / "one", mapping, document)
    second = condition(tmp_path / "two", mapping, changed)
    assert (first != second) == is_setting


def events(**metadata: Any) -> list[dict[str, Any]]:
    """Two events of an experiment of Braintrust with the same metadata; a list holds a
    value for each."""
    made = []
    for number in range(2):
        own = {
            name: value[number] if isinstance(value, list) else value
            for name, value in metadata.items()
        }
        event = BRAINTRUST | {
            "id": str(number),
            "input": f"q{number}",
            "metadata": {"model": "m"} | own,
        }
        made.append(event)
    return made


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (events(prompt_version=1), events(prompt_version=2), False),
        (events(prompt_version=1), events(prompt_version="1.0"), True),
        (events(prompt_version=1), events(), False),
        (events(topic=["a", "b"]), events(topic=["b", "a"]), True),
        (events(topic=["a", "b"]), events(), True),
        (events(latency=[1, 2]), events(latency=[3, 4]), True),
    ],
)
def test_metadata_of_events_that_is_the_same_in_all(
    first: Any, second: Any, is_same: bool, tmp_path: Path
) -> None:
    keys = []
    for number, document in enumerate((first, second)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "dump.json").write_text(json.dumps(document), encoding="utf-8")
        (run,) = read(folder, documented("braintrust"), {"benchmark": "b"}).runs
        keys.append(settings_of(run).condition_key)
    assert (keys[0] == keys[1]) is is_same


@pytest.mark.parametrize(("value", "is_same"), [("0.2", True), ("0.9", False)])
def test_columns_of_ones_own_beside_those_of_ragas(
    tmp_path: Path, value: str, is_same: bool
) -> None:
    keys = []
    for number, temperature in enumerate(("0.2", value)):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = "".join(f"q{row},a,0.5,{temperature},{row}\n" for row in range(3))
        (folder / "ragas.csv").write_text(
            f"user_input,response,faithfulness,gen_temperature,row_topic\n{rows}"
        )
        dump = read(folder, documented("ragas"), {"benchmark": "b", "model": "m"})
        assert dump.notes == ["taken as settings of the runs: gen_temperature"]
        keys.append(settings_of(dump.runs[0]).condition_key)
    assert (keys[0] == keys[1]) is is_same


def test_eq_bench_says_which_files_of_a_model_were_loaded(tmp_path: Path) -> None:
    scores = {"1": {"first_pass_score": 5.0, "revised_score": None}}
    document = {
        "eqbench_version": "v2",
        "model_path": "org/m-GGUF",
        "n_questions_total": 1,
        "n_questions_parseable": 1,
        "instruction_template": "ChatML",
        "bitsandbytes_quant": "none",
        "inference_engine": "ooba",
        "benchmark_score": 50.0,
        "raw_results": {
            "1": {"individual_scores": scores, "raw_inference": {"1": "x"}}
        },
    }
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eq_bench_v2_questions_171.json").write_text(
        json.dumps({"1": {"prompt": "p", "reference_answer_fullscale": {}}})
    )
    keys = []
    for patterns in (["*Q4_K_M.gguf"], ["*Q8_0.gguf"]):
        (tmp_path / "m_eqbench_v2_results.json").write_text(
            json.dumps(document | {"include_patterns": patterns})
        )
        (run,) = read(tmp_path, documented("eq_bench")).runs
        keys.append(settings_of(run).condition_key)
    assert keys[0] != keys[1]
