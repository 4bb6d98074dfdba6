"""One key changed between two equal dumps: another condition, or the same one.

What comes out for every key is said by ``test_every_leaf_is_read``; these are pairs of
which the answer is known.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.dumps import DATA
from tests.support.every_eval_ever import STEM, evaluation, result
from tests.support.setting_leaves import headers_of, leaves_in, scan_of
from warehouse.importers.deepeval import IMPORTER as DEEPEVAL
from warehouse.importers.evalscope.importer import IMPORTER as EVALSCOPE
from warehouse.importers.every_eval_ever.importer import IMPORTER as EVERY_EVAL_EVER
from warehouse.importers.helm.importer import IMPORTER as HELM
from warehouse.importers.inspect.importer import IMPORTER as INSPECT
from warehouse.importers.inspect_scout.importer import IMPORTER as INSPECT_SCOUT
from warehouse.importers.lighteval.importer import IMPORTER as LIGHTEVAL
from warehouse.importers.lm_eval.importer import IMPORTER as LM_EVAL
from warehouse.importers.lm_eval.v03 import IMPORTER as LM_EVAL_V03
from warehouse.importers.lmms_eval.importer import IMPORTER as LMMS_EVAL
from warehouse.importers.mteb import IMPORTER as MTEB
from warehouse.importers.olmes import IMPORTER as OLMES
from warehouse.importers.opencompass.importer import IMPORTER as OPENCOMPASS
from warehouse.records.settings import settings_of
from warehouse.testing.setting_leaves import Leaves

Change = Callable[[Any], None]


def conditions(
    importer: Any, folder: Path, document: Path, change: Change, tmp_path: Path
) -> list[str]:
    """The conditions of a copy of a dump of which one document was changed."""
    copied = tmp_path / f"{len(list(tmp_path.iterdir()))}" / folder.name
    shutil.copytree(folder, copied)
    path = copied / document
    text = path.read_text(encoding="utf-8")
    changed = yaml.safe_load(text) if path.suffix == ".yaml" else json.loads(text)
    change(changed)
    path.write_text(json.dumps(changed), encoding="utf-8")
    return [
        settings_of(header).condition_key for header in headers_of(importer, copied)
    ]


# --- lm-evaluation-harness -----------------------------------------------------------------------

LM_EVAL_FOLDER = DATA / "subsets" / "lm_eval" / "lab__one"
LM_EVAL_FILE = Path("results_2026-11-22T16-25-26.787714.json")


def arguments(**added: Any) -> Change:
    def change(document: Any) -> None:
        document["config"] = {
            **document["config"],
            "model": "vllm",
            "model_args": {"pretrained": "lab/one"} | added,
            "model_dtype": "torch.bfloat16",
        }
        document["chat_template_sha"] = "c0ffee"

    return change


def lm_eval_version(version: str, **added: Any) -> Change:
    def change(document: Any) -> None:
        arguments(**added)(document)
        document["lm_eval_version"] = version

    return change


def turns(version: str, said: bool | None, shots: int = 2) -> Change:
    """Examples in a chat, which may be turns of it."""

    def change(document: Any) -> None:
        arguments()(document)
        document |= {
            "lm_eval_version": version,
            "fewshot_as_multiturn": said,
            "n-shot": {"sums": shots},
        }
        document["configs"]["sums"]["num_fewshot"] = shots

    return change


def generation(**settings: Any) -> Change:
    def change(document: Any) -> None:
        document["config"] |= settings.pop("config", {})
        document["configs"]["sums"] |= {"output_type": "generate_until"} | settings

    return change


def metadata(**values: Any) -> Change:
    def change(document: Any) -> None:
        arguments(revision="main")(document)
        document["configs"]["sums"]["metadata"] = values

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            arguments(lora_local_path="/run1/final"),
            arguments(lora_local_path="/run2/final"),
            False,
        ),
        (arguments(tokenizer="/a/tok"), arguments(tokenizer="/b/tok"), False),
        (arguments(gguf_file="/a/m.gguf"), arguments(gguf_file="/b/m.gguf"), False),
        (arguments(steer_path="/a/v.pt"), arguments(steer_path="/b/v.pt"), False),
        (arguments(tokenizer="lab/one"), arguments(), True),
        (arguments(dtype="auto"), arguments(dtype="bfloat16"), True),
        (arguments(batch_size=8), arguments(batch_size="auto"), True),
        (arguments(device_map="auto"), arguments(device_map="cpu"), True),
        (arguments(max_model_len=100), arguments(max_model_len=200), False),
        (arguments(load_in_8bit=True), arguments(load_in_8bit=False), False),
        (arguments(load_in_8bit=False), arguments(), True),
        (arguments(unheard_of=1), arguments(unheard_of=2), False),
        (metadata(max_seq_lengths=[4096]), metadata(max_seq_lengths=[8192]), False),
        (metadata(version=1.0, pretrained="lab/one"), metadata(version="1"), True),
        (metadata(version=1), metadata(version=2), False),
        (
            lm_eval_version("0.4.9"),
            lm_eval_version("0.4.9", enable_thinking=False),
            True,
        ),
        (
            lm_eval_version("0.4.11"),
            lm_eval_version("0.4.11", enable_thinking=True),
            True,
        ),
        (lm_eval_version("0.4.9"), lm_eval_version("0.4.11"), False),
        (
            lm_eval_version("0.4.13"),
            lm_eval_version("0.4.13", enable_thinking=False),
            False,
        ),
        (lm_eval_version("0.4.9", add_bos_token=False), lm_eval_version("0.4.9"), True),
        (
            lm_eval_version("0.4.11", add_bos_token=False),
            lm_eval_version("0.4.11"),
            False,
        ),
        (lm_eval_version("0.4.10"), lm_eval_version("0.4.11"), True),
        (turns("0.4.9", None), turns("0.4.9", False), True),
        (turns("0.4.11", None), turns("0.4.11", True), True),
        (turns("0.4.11", True), turns("0.4.11", False), False),
        (turns("0.4.9", None, shots=0), turns("0.4.9", True, shots=0), True),
        (
            generation(generation_kwargs={"until": ["a", "b"]}),
            generation(generation_kwargs={"until": ["b", "a"]}),
            True,
        ),
        (
            generation(generation_kwargs={"temperature": 0.7}),
            generation(
                generation_kwargs={"temperature": 0.2},
                config={"gen_kwargs": "temperature=0.7"},
            ),
            True,
        ),
        (
            generation(
                generation_kwargs={"max_gen_toks": 5},
                config={"model_args": "pretrained=lab/one"},
            ),
            generation(
                generation_kwargs={"max_gen_toks": 5},
                config={"model_args": "pretrained=lab/one,max_gen_toks=9"},
            ),
            True,
        ),
    ],
)
def test_lm_eval(first: Change, second: Change, is_same: bool, tmp_path: Path) -> None:
    one = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, first, tmp_path)
    other = conditions(LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, second, tmp_path)
    assert len(one) == 1
    assert (one == other) is is_same


def test_a_model_name_that_lm_eval_makes_up_is_none(tmp_path: Path) -> None:
    def made_up(name: str) -> Change:
        def change(document: Any) -> None:
            document["config"] |= {"model": "dummy", "model_args": None}
            document["model_name"] = document["model_name_sanitized"] = name

        return change

    one = conditions(
        LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, made_up("aB3dE6gH"), tmp_path
    )
    other = conditions(
        LM_EVAL, LM_EVAL_FOLDER, LM_EVAL_FILE, made_up("zY9xW7vU"), tmp_path
    )
    assert one == other


# --- Inspect -------------------------------------------------------------------------------------

INSPECT_FILE = Path("log.json")


@pytest.fixture(scope="module")
def inspect_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inspect")
    shutil.copy(DATA / "inspect" / "grid.json", folder / INSPECT_FILE)
    return folder


def in_eval(**parts: Any) -> Change:
    def change(document: Any) -> None:
        document["eval"] |= parts

    return change


def passed(name: str, **arguments: Any) -> Change:
    """Arguments in a log that lists what was passed alone."""
    return in_eval(**{name: arguments, f"{name}_passed": None})


def in_plan(
    config: dict[str, Any], of_model: dict[str, Any] | None = None, **params: Any
) -> Change:
    def change(document: Any) -> None:
        document["plan"] |= {
            "config": config,
            "steps": [{"solver": "generate", "params": params}],
        }
        document["eval"]["model_generate_config"] = of_model or {}

    return change


def local(path: str) -> Change:
    return in_eval(model="hf/local", model_args={"model_path": path})


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (local("/ckpt/run1/hf"), local("/ckpt/run2/hf"), False),
        (local("/ckpt/run1/hf"), local("/ckpt/run1/hf/"), True),
        (
            in_eval(task_args={}, task_args_passed={}),
            in_eval(task_args={"cot": False}, task_args_passed={}),
            True,
        ),
        (
            in_eval(task_args={"cot": True}, task_args_passed={}),
            in_eval(task_args={"cot": False}, task_args_passed={"cot": False}),
            False,
        ),
        # what was passed counts, even where it equals nothing: its default may be
        # something
        (passed("task_args", cot=False), passed("task_args"), False),
        (passed("task_args", cot=None), passed("task_args"), False),
        (passed("task_args", cot=None), passed("task_args", cot=False), False),
        (passed("task_args", system=""), passed("task_args", system=None), False),
        (passed("task_args", tools=[]), passed("task_args"), False),
        (passed("task_args", style="none"), passed("task_args"), False),
        (passed("solver_args", budget=None), passed("solver_args"), False),
        (passed("model_args", rope=None), passed("model_args"), False),
        (
            in_eval(task_args={"cot": False}, task_args_passed={"cot": False}),
            in_eval(task_args={"cot": None}, task_args_passed={}),
            False,
        ),
        (
            in_eval(
                task_args={"cot": False, "n": None}, task_args_passed={"cot": False}
            ),
            passed("task_args", cot=False),
            True,
        ),
        (
            in_eval(task_args={"n": None, "tools": []}, task_args_passed={}),
            passed("task_args"),
            True,
        ),
        (passed("task_args", output_dir=None), passed("task_args"), True),
        (passed("model_args", api_key=None), passed("model_args"), True),
        (in_eval(metadata={"prompt": "v1"}), in_eval(metadata={"prompt": "v2"}), False),
        (
            in_eval(config={"max_samples": 10}),
            in_eval(config={"max_samples": 50}),
            True,
        ),
        (in_eval(config={"time_limit": 10}), in_eval(config={"time_limit": 50}), False),
        (
            in_eval(config={"message_limit": 10}),
            in_eval(config={"message_limit": "10"}),
            True,
        ),
        (in_eval(sandbox={"type": "docker"}), in_eval(sandbox={"type": "k8s"}), False),
        (
            in_eval(dataset={"location": "/home/a/s.csv"}),
            in_eval(dataset={"location": "/home/b/s.csv"}),
            True,
        ),
        (
            in_eval(dataset={"location": "/home/a/s.csv"}),
            in_eval(dataset={"location": "/home/a/t.csv"}),
            False,
        ),
        (
            in_eval(model_roles={"user": {"model": "a"}}),
            in_eval(model_roles={"user": {"model": "b"}}),
            False,
        ),
        (
            in_plan({"temperature": 0.5}),
            in_plan({"temperature": 0.5}, {"temperature": 0.7}),
            True,
        ),
        (in_plan({"verbosity": "low"}), in_plan({"verbosity": "high"}), False),
        (in_plan({}, timeout=60), in_plan({}, timeout=180), False),
        (in_plan({"timeout": 60}), in_plan({"timeout": 180}), True),
        (
            in_eval(task_args={"version": "a"}),
            in_eval(task_args={"version": "b"}),
            False,
        ),
        (in_plan({"max_connections": 1}), in_plan({"max_connections": 8}), True),
        (in_plan({}, attempts=3), in_plan({}, attempts="3"), True),
        (in_plan({}, attempts=3), in_plan({}, attempts=4), False),
        (
            in_plan({}, tools=[{"name": "web", "params": {"instance": "a1"}}]),
            in_plan({}, tools=[{"name": "web", "params": {"instance": "b2"}}]),
            True,
        ),
        (
            in_plan({}, tools=[{"name": "web", "params": {"interactive": True}}]),
            in_plan({}, tools=[{"name": "web", "params": {"interactive": False}}]),
            False,
        ),
    ],
)
def test_inspect(
    first: Change, second: Change, is_same: bool, tmp_path: Path, inspect_folder: Path
) -> None:
    one = conditions(INSPECT, inspect_folder, INSPECT_FILE, first, tmp_path)
    other = conditions(INSPECT, inspect_folder, INSPECT_FILE, second, tmp_path)
    assert len(one) == 1
    assert (one == other) is is_same


def test_local_models_of_inspect_are_called_by_their_folders(tmp_path: Path) -> None:
    document = json.loads((DATA / "inspect" / "grid.json").read_text(encoding="utf-8"))
    local("/exp1/ckpt/hf")(document)
    (tmp_path / "log.json").write_text(json.dumps(document), encoding="utf-8")
    assert [header.model for header in headers_of(INSPECT, tmp_path)] == [
        "hf/exp1/ckpt/hf"
    ]


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ({"temperature": 0.1}, {"temperature": 0.9}, False),
        ({"max_connections": 1}, {"max_connections": 9}, True),
        ({}, {"max_connections": 9}, True),
    ],
)
def test_how_the_model_was_asked_that_scans(
    first: Any, second: Any, is_same: bool, tmp_path: Path
) -> None:
    (folder,) = (DATA / "inspect_scout").iterdir()
    scorers = []
    for number, config in enumerate((first, second)):
        copied = tmp_path / str(number) / folder.name
        shutil.copytree(folder, copied)
        path = copied / "_scan.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        document["model"]["config"] = config
        path.write_text(json.dumps(document), encoding="utf-8")
        scan = scan_of(INSPECT_SCOUT, copied)
        scorers.append(
            [(spec.name, spec.filter, spec.scorer_parameters) for spec in scan.metrics]
        )
    assert (scorers[0] == scorers[1]) is is_same


# --- EvalScope -----------------------------------------------------------------------------------

EVALSCOPE_FOLDER = DATA / "evalscope" / "20260304_050607"
EVALSCOPE_FILE = Path("configs") / "task_config_ab12cd.yaml"


def task_config(**parts: Any) -> Change:
    def change(document: Any) -> None:
        document |= parts

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            task_config(agent_config={"max_steps": 10}),
            task_config(agent_config={"max_steps": 50}),
            False,
        ),
        (
            task_config(agent_config={"max_steps": 10}),
            task_config(agent_config={"max_steps": "10"}),
            True,
        ),
        (task_config(model="/exp1/ckpt/hf"), task_config(model="/exp2/ckpt/hf"), False),
        (task_config(eval_type="checkpoint"), task_config(eval_type="llm_ckpt"), True),
        (
            task_config(judge_strategy="rule"),
            task_config(judge={"strategy": "rule"}),
            True,
        ),
        (
            task_config(judge_strategy="rule"),
            task_config(judge={"strategy": "llm"}),
            False,
        ),
        (
            task_config(judge_model_args={"model_id": "org/judge"}),
            task_config(judge={"models": [{"model_id": "org/judge"}]}),
            True,
        ),
        (
            task_config(
                generation_config={"do_sample": False, "temperature": 1.0, "top_k": 50}
            ),
            task_config(generation_config={"temperature": 0}),
            True,
        ),
        (
            task_config(generation_config={"max_new_tokens": 5}),
            task_config(generation_config={"max_tokens": 5}),
            True,
        ),
        (
            task_config(generation_config="temperature=0.5,max_tokens=5"),
            task_config(generation_config={"max_tokens": 5, "temperature": 0.5}),
            True,
        ),
        (task_config(use_sandbox=True), task_config(sandbox={"enabled": True}), True),
        (
            task_config(model_args={"precision": "a"}),
            task_config(model_args={"precision": "b"}),
            False,
        ),
        (
            task_config(agent_config={"timeout": 60}),
            task_config(agent_config={"timeout": 90}),
            False,
        ),
        (
            task_config(generation_config={"timeout": 60}),
            task_config(generation_config={"timeout": 90}),
            True,
        ),
        (task_config(eval_batch_size=1), task_config(eval_batch_size=9), True),
        (task_config(seed=42), task_config(), True),
        (task_config(chat_template="a"), task_config(chat_template="b"), False),
    ],
)
def test_evalscope(
    first: Change, second: Change, is_same: bool, tmp_path: Path
) -> None:
    one = conditions(EVALSCOPE, EVALSCOPE_FOLDER, EVALSCOPE_FILE, first, tmp_path)
    other = conditions(EVALSCOPE, EVALSCOPE_FOLDER, EVALSCOPE_FILE, second, tmp_path)
    assert len(one) == 3
    assert (one == other) is is_same


@pytest.mark.parametrize(
    ("path", "label", "name"),
    [
        ("/exp1/ckpt/hf", "hf", "exp1/ckpt/hf"),
        ("./runs/tuned/checkpoint-200", "checkpoint-200", "tuned/checkpoint-200"),
        ("/models/llama-7b", "llama-7b", "llama-7b"),
        ("org/tiny", "tiny", "org/tiny"),
    ],
)
def test_local_models_of_evalscope_are_called_by_their_folders(
    path: str, label: str, name: str, tmp_path: Path
) -> None:
    folder = tmp_path / EVALSCOPE_FOLDER.name
    shutil.copytree(EVALSCOPE_FOLDER, folder)
    for report in folder.glob("reports/*/*.json"):
        document = json.loads(report.read_text(encoding="utf-8"))
        report.write_text(
            json.dumps(document | {"model_name": label}), encoding="utf-8"
        )
    (folder / EVALSCOPE_FILE).write_text(
        json.dumps({"model": path, "model_id": label}), encoding="utf-8"
    )
    assert {header.model for header in headers_of(EVALSCOPE, folder)} == {name}


# --- Every Eval Ever -----------------------------------------------------------------------------


def eee(**parts: Any) -> dict[str, Any]:
    """An evaluation without samples; objects are changed by what is given of them."""
    document = evaluation()
    for name, part in parts.items():
        document[name] = (
            document.get(name, {}) | part if isinstance(part, dict) else part
        )
    return document


def eee_result(**parts: Any) -> dict[str, Any]:
    return eee(evaluation_results=[result(**parts)])


def arguments_of(**arguments: Any) -> dict[str, Any]:
    return eee_result(generation_config={"generation_args": arguments})


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            eee(model_info={"additional_details": {"quantization": "int8"}}),
            eee(model_info={"additional_details": {"quantization": "int4"}}),
            False,
        ),
        (
            eee_result(generation_config={"additional_details": {"shots": "5"}}),
            eee_result(generation_config={"additional_details": {"shots": "0"}}),
            False,
        ),
        (
            eee_result(generation_config={"additional_details": {"shots": "5"}}),
            eee_result(generation_config={"additional_details": {"shots": "5.0"}}),
            True,
        ),
        (
            eee(eval_library={"additional_details": {"prompt": "v1"}}),
            eee(eval_library={"additional_details": {"prompt": "v2"}}),
            False,
        ),
        (arguments_of(temperature=0.7), arguments_of(temperature="0.7"), True),
        (
            arguments_of(eval_limits={"time_limit": 5}),
            arguments_of(eval_limits={"time_limit": 6}),
            False,
        ),
        (
            arguments_of(execution_command="run a"),
            arguments_of(execution_command="run b"),
            True,
        ),
        (arguments_of(max_attempts=1), arguments_of(), True),
        (arguments_of(max_attempts=1), arguments_of(max_attempts=2), False),
        (eee(eval_library={"version": "1"}), eee(eval_library={"version": "2"}), True),
        (
            eee(source_metadata={"source_name": "a"}),
            eee(source_metadata={"source_name": "b"}),
            False,
        ),
        (
            eee_result(score_details={"score": 0.25}),
            eee_result(score_details={"score": 0.75}),
            True,
        ),
        (
            eee(retrieved_timestamp="1750000001"),
            eee(retrieved_timestamp="1760000001"),
            True,
        ),
    ],
)
def test_every_eval_ever(
    first: Any, second: Any, is_same: bool, tmp_path: Path
) -> None:
    keys = []
    for number, document in enumerate((first, second)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"{STEM}.json").write_text(json.dumps(document), encoding="utf-8")
        (header,) = headers_of(EVERY_EVAL_EVER, folder)
        keys.append(settings_of(header).condition_key)
    assert (keys[0] == keys[1]) is is_same


def test_a_board_that_is_looked_at_again_is_no_other_run(tmp_path: Path) -> None:
    taken = []
    for number, time in enumerate(("1750000001", "1760000001")):
        folder = tmp_path / str(number)
        folder.mkdir()
        document = eee(evaluation_id=f"maps/org_m/{time}", retrieved_timestamp=time)
        (folder / f"{STEM}.json").write_text(json.dumps(document), encoding="utf-8")
        taken += headers_of(EVERY_EVAL_EVER, folder)
    first, second = taken
    assert (first.run_id, second.run_id) == (None, None)
    assert first.started_at is not None and second.started_at is not None
    assert first.started_at < second.started_at


def test_one_benchmark_with_two_settings_is_two_runs(tmp_path: Path) -> None:
    shots = [
        result(generation_config={"additional_details": {"shots": str(number)}})
        for number in (0, 5)
    ]
    (tmp_path / f"{STEM}.json").write_text(
        json.dumps(eee(evaluation_results=shots)), encoding="utf-8"
    )
    first, second = headers_of(EVERY_EVAL_EVER, tmp_path)
    assert first.benchmark == second.benchmark
    assert settings_of(first).condition_key != settings_of(second).condition_key


# --- HELM ----------------------------------------------------------------------------------------

HELM_FOLDER = (
    DATA
    / "helm"
    / "runs"
    / "v1"
    / "simple_classification-model=simple_model1,max_train_instances=1"
)


def adapter(without: str = "", **parts: Any) -> Change:
    def change(document: Any) -> None:
        document["adapter_spec"] |= parts
        document["adapter_spec"].pop(without, None)

    return change


def in_name(argument: str) -> Change:
    def change(document: Any) -> None:
        document["name"] += f",{argument}"

    return change


def metric_specs(*classes: str) -> Change:
    def change(document: Any) -> None:
        document["metric_specs"] = [
            {"class_name": name, "args": {}} for name in classes
        ]

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (adapter(without="global_suffix"), adapter(global_suffix=""), True),
        (
            adapter(without="chain_of_thought_suffix"),
            adapter(chain_of_thought_suffix="\n"),
            True,
        ),
        (adapter(input_suffix="\n"), adapter(input_suffix=""), False),
        (adapter(without="num_trials"), adapter(num_trials=1), True),
        (adapter(without="multi_label"), adapter(multi_label=False), True),
        (adapter(num_outputs=1), adapter(num_outputs=4), False),
        (adapter(stop_sequences=["a", "b"]), adapter(stop_sequences=["b", "a"]), True),
        (adapter(unheard_of=1), adapter(unheard_of=2), False),
        (in_name("process_output=true"), in_name("process_output=false"), False),
        (in_name("groups=a"), in_name("groups=b"), True),
        (metric_specs("a.X", "a.Y"), metric_specs("a.Y", "b.X"), True),
        (metric_specs("a.X"), metric_specs("a.Y"), False),
    ],
)
def test_helm(first: Change, second: Change, is_same: bool, tmp_path: Path) -> None:
    one = conditions(HELM, HELM_FOLDER, Path("run_spec.json"), first, tmp_path)
    other = conditions(HELM, HELM_FOLDER, Path("run_spec.json"), second, tmp_path)
    assert len(one) >= 1
    assert (one == other) is is_same


# --- lighteval -----------------------------------------------------------------------------------

LIGHTEVAL_FOLDER = DATA / "lighteval" / "v0.13"
LIGHTEVAL_FILE = Path("results/org/tiny/results_2026-11-21T04-10-40.067508.json")


def model_config(**parts: Any) -> Change:
    def change(document: Any) -> None:
        config = document["config_general"]["model_config"]
        config["generation_parameters"] |= parts.pop("generation_parameters", {})
        config |= parts

    return change


def lighteval_task(**parts: Any) -> Change:
    def change(document: Any) -> None:
        for task in document["config_tasks"].values():
            task |= parts

    return change


def summary(**parts: Any) -> Change:
    def change(document: Any) -> None:
        for summarised in document["summary_tasks"].values():
            summarised |= parts

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            model_config(adapter_weights="/a/one"),
            model_config(adapter_weights="/b/two"),
            False,
        ),
        (
            model_config(tensor_parallel_size=1),
            model_config(tensor_parallel_size=2),
            True,
        ),
        (model_config(skip_special_tokens=False), model_config(), False),
        (model_config(seed=1), model_config(seed=2), True),
        (model_config(unheard_of=1), model_config(unheard_of=2), False),
        (
            model_config(generation_parameters={"response_format": "json"}),
            model_config(generation_parameters={"response_format": "text"}),
            False,
        ),
        (model_config(dtype="torch.float16"), model_config(dtype="float16"), True),
        (
            lighteval_task(stop_sequence=["a", "b"]),
            lighteval_task(stop_sequence=["b", "a"]),
            True,
        ),
        (
            lighteval_task(effective_num_docs=4),
            lighteval_task(effective_num_docs=9),
            True,
        ),
        (lighteval_task(hf_subset="a"), lighteval_task(hf_subset="b"), False),
        (summary(truncated=1), summary(truncated=2), True),
    ],
)
def test_lighteval(
    first: Change, second: Change, is_same: bool, tmp_path: Path
) -> None:
    one = conditions(LIGHTEVAL, LIGHTEVAL_FOLDER, LIGHTEVAL_FILE, first, tmp_path)
    other = conditions(LIGHTEVAL, LIGHTEVAL_FOLDER, LIGHTEVAL_FILE, second, tmp_path)
    assert len(one) == 4
    assert (set(one) == set(other)) is is_same


# --- lmms-eval -----------------------------------------------------------------------------------

LMMS_FOLDER = DATA / "lmms_eval" / "org__tiny-VL"
LMMS_FILE = Path("20260304_050607_results.json")


def lmms(
    config: dict[str, Any] | None = None,
    task: dict[str, Any] | None = None,
    **parts: Any,
) -> Change:
    def change(document: Any) -> None:
        document |= parts
        document["config"] |= config or {}
        for stated in document["configs"].values():
            stated |= task or {}

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            lmms({"model_args": "pretrained=org/tiny-VL,lora=/a/x"}),
            lmms({"model_args": "pretrained=org/tiny-VL,lora=/b/x"}),
            False,
        ),
        (
            lmms({"resolved_cli_args": {"output_path": "a"}}),
            lmms({"resolved_cli_args": {"output_path": "b"}}),
            True,
        ),
        (lmms(task={"score_key": "a"}), lmms(task={"score_key": "b"}), False),
        (lmms({"gen_kwargs": "max_new_tokens=16"}), lmms({"gen_kwargs": ""}), True),
        (lmms(system_instruction=""), lmms(system_instruction=None), True),
        (lmms(throughput={"tokens": 1}), lmms(throughput={"tokens": 2}), True),
        (lmms(unheard_of=1), lmms(unheard_of=2), False),
    ],
)
def test_lmms_eval(
    first: Change, second: Change, is_same: bool, tmp_path: Path
) -> None:
    one = conditions(LMMS_EVAL, LMMS_FOLDER, LMMS_FILE, first, tmp_path)
    other = conditions(LMMS_EVAL, LMMS_FOLDER, LMMS_FILE, second, tmp_path)
    assert len(one) == 5
    assert (set(one) == set(other)) is is_same


# --- OpenCompass ---------------------------------------------------------------------------------

OPENCOMPASS_FOLDER = DATA / "opencompass" / "20261125_101112"
OPENCOMPASS_FILE = Path("configs/20261125_101112_7.py")


@pytest.mark.parametrize(
    ("stands", "first", "second", "is_same"),
    [
        ("batch_size=2", "peft_path='/a/lora'", "peft_path='/b/lora'", False),
        ("batch_size=2", "batch_size=2", "batch_size=64", True),
        ("batch_size=2", "max_seq_len=2", "max_seq_len=64", False),
        ("batch_size=2", "unheard_of=2", "unheard_of=64", False),
        (
            "batch_size=2",
            "model_kwargs=dict(torch_dtype='fp16')",
            "model_kwargs=dict(torch_dtype='float16')",
            True,
        ),
        (
            "batch_size=2",
            "model_kwargs=dict(torch_dtype='fp16')",
            "model_kwargs=dict(torch_dtype='bf16')",
            False,
        ),
        (
            "prompt='Add: {question}'",
            "prompt='Add: {question}'",
            "prompt='Sum: {question}'",
            False,
        ),
        (
            "evaluator=dict(type='EMEvaluator')",
            "evaluator=dict(type='A')",
            "evaluator=dict(type='B')",
            False,
        ),
        (
            "retriever=dict(type='ZeroRetriever')",
            "retriever=dict(type='A')",
            "retriever=dict(type='B')",
            False,
        ),
        ("'3+3?'", "'3+3?'", "'3+4?'", True),
    ],
)
def test_opencompass(
    stands: str, first: str, second: str, is_same: bool, tmp_path: Path
) -> None:
    keys = []
    for number, text in enumerate((first, second)):
        folder = tmp_path / str(number) / OPENCOMPASS_FOLDER.name
        shutil.copytree(OPENCOMPASS_FOLDER, folder)
        path = folder / OPENCOMPASS_FILE
        config = path.read_text(encoding="utf-8")
        assert stands in config
        path.write_text(config.replace(stands, text), encoding="utf-8")
        headers = headers_of(OPENCOMPASS, folder)
        keys.append(
            [
                settings_of(header).condition_key
                for header in headers
                if header.benchmark == "sums"
            ]
        )
    assert len(keys[0]) >= 1
    assert (keys[0] == keys[1]) is is_same


# --- DeepEval, MTEB, OLMES -----------------------------------------------------------------------

DEEPEVAL_FOLDER = DATA / "deepeval"
DEEPEVAL_FILE = Path("test_run_20260304_050607.json")
MTEB_FOLDER = DATA / "mteb" / "org__embed"
MTEB_META = Path("0123456789abcdef0123456789abcdef01234567/model_meta.json")


def hyperparameters(**values: Any) -> Change:
    def change(document: Any) -> None:
        document["hyperparameters"] = {"model": "org/a"} | values

    return change


def stated(**values: Any) -> Change:
    def change(document: Any) -> None:
        document |= values

    return change


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            hyperparameters(**{"chunk size": "5"}),
            hyperparameters(**{"chunk size": "5.0"}),
            True,
        ),
        (
            hyperparameters(**{"chunk size": "5"}),
            hyperparameters(**{"chunk size": "6"}),
            False,
        ),
        (hyperparameters(llm="org/b"), hyperparameters(llm="org/c"), False),
        (stated(identifier="prompt v1"), stated(identifier="prompt v2"), False),
        (stated(testPassed=1), stated(testPassed=2), True),
        (stated(runDuration=1.5), stated(runDuration=2.5), True),
        (
            stated(prompts=[{"alias": "a"}, {"alias": "b"}]),
            stated(prompts=[{"alias": "b"}, {"alias": "a"}]),
            True,
        ),
        (stated(prompts=[{"alias": "a"}]), stated(prompts=[{"alias": "b"}]), False),
    ],
)
def test_deepeval(first: Change, second: Change, is_same: bool, tmp_path: Path) -> None:
    one = conditions(DEEPEVAL, DEEPEVAL_FOLDER, DEEPEVAL_FILE, first, tmp_path)
    other = conditions(DEEPEVAL, DEEPEVAL_FOLDER, DEEPEVAL_FILE, second, tmp_path)
    assert (one == other) is is_same


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (
            stated(experiment_kwargs={"dim": 64}),
            stated(experiment_kwargs={"dim": 128}),
            False,
        ),
        (stated(release_date="2024-01-01"), stated(release_date="2025-01-01"), True),
        (stated(embed_dim=64), stated(embed_dim=128), True),
    ],
)
def test_mteb(first: Change, second: Change, is_same: bool, tmp_path: Path) -> None:
    one = conditions(MTEB, MTEB_FOLDER, MTEB_META, first, tmp_path)
    other = conditions(MTEB, MTEB_FOLDER, MTEB_META, second, tmp_path)
    assert (one == other) is is_same


def of_olmes(**parts: Any) -> dict[str, Any]:
    task = {
        "task_name": "arc",
        "num_shots": 5,
        "split": "test",
        "primary_metric": "acc",
    } | parts.pop("task", {})
    model = {
        "model": "org/tiny",
        "revision": "main",
        "model_path": None,
        "batch_size": 4,
    } | parts.pop("model", {})
    return {
        "task_name": "arc",
        "task_hash": "t",
        "model_hash": "m",
        "model_config": model,
        "task_config": task,
        "compute_config": {"batch_size": 4},
        "current_date": "2024-12-19 12:16:07 UTC",
        "num_instances": 2,
        "metrics": {"acc": 0.5},
    } | parts


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (of_olmes(model_hash="m"), of_olmes(model_hash="n"), False),
        (
            of_olmes(model={"dtype": "float16"}),
            of_olmes(model={"dtype": "bfloat16"}),
            False,
        ),
        (
            of_olmes(model={"dtype": "fp16"}),
            of_olmes(model={"dtype": "torch.float16"}),
            True,
        ),
        (of_olmes(model={"batch_size": 1}), of_olmes(model={"batch_size": 9}), True),
        (
            of_olmes(compute_config={"gpus": 1}),
            of_olmes(compute_config={"gpus": 8}),
            True,
        ),
        (
            of_olmes(task={"context_kwargs": {"a": 1}}),
            of_olmes(task={"context_kwargs": {"a": 2}}),
            False,
        ),
        (
            of_olmes(task={"num_shots": 0, "fewshot_source": "a"}),
            of_olmes(task={"num_shots": 0}),
            True,
        ),
        (
            of_olmes(model={"model": "hf", "model_path": "/exp1/ckpt/hf"}),
            of_olmes(model={"model": "hf", "model_path": "/exp2/ckpt/hf"}),
            False,
        ),
    ],
)
def test_olmes(first: Any, second: Any, is_same: bool, tmp_path: Path) -> None:
    headers = []
    for number, document in enumerate((first, second)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "task-000-arc-metrics.json").write_text(
            json.dumps(document), encoding="utf-8"
        )
        headers += headers_of(OLMES, folder)
    one, other = (settings_of(header).condition_key for header in headers)
    assert (one == other) is is_same


def test_local_models_of_olmes_are_called_by_their_folders(tmp_path: Path) -> None:
    document = of_olmes(model={"model": "hf", "model_path": "/exp1/ckpt/hf"})
    (tmp_path / "task-000-arc-metrics.json").write_text(
        json.dumps(document), encoding="utf-8"
    )
    assert [header.model for header in headers_of(OLMES, tmp_path)] == ["exp1/ckpt/hf"]


# --- every leaf ----------------------------------------------------------------------------------

#: The second name of the model; a length that the generation parameters are above, or
#: of tasks that generate nothing.
LIGHTEVAL_NOT = r"^results\b|model_config\.model_name|generation_size"

#: Outcomes, the form of the file, and how a change was made of which the last value is
#: read.
INSPECT_NOT = r"^(version|status|error|invalidated|location|results|reductions|samples|config_updates)\b"

LEAVES: dict[str, tuple[Any, str, str, str, str]] = {
    "lighteval 0.13": (
        LIGHTEVAL,
        "lighteval",
        "lighteval/v0.13",
        r"results_.*\.json",
        LIGHTEVAL_NOT,
    ),
    "lighteval 0.10": (
        LIGHTEVAL,
        "lighteval",
        "lighteval/v0.10",
        r"results_.*\.json",
        LIGHTEVAL_NOT,
    ),
    "lmms_eval": (
        LMMS_EVAL,
        "lmms_eval",
        "lmms_eval/org__tiny-VL",
        r".*_results\.json",
        "^results|fewshot_as_multiturn",
    ),
    "lm_eval": (
        LM_EVAL,
        "lm_eval",
        "subsets/lm_eval/lab__one",
        r"results_.*\.json",
        r"^(results|groups)\b|fewshot_config",
    ),
    "lm_eval 0.4.9": (
        LM_EVAL,
        "lm_eval",
        "lm_eval/v0_4_9",
        r"run:7.*\.json",
        r"^(results|groups|chat_template)\b",
    ),
    "deepeval": (
        DEEPEVAL,
        "deepeval",
        "deepeval",
        r".*\.json",
        "^(testCases|conversationalTestCases|metricsScores)",
    ),
    "mteb": (MTEB, "mteb", "mteb/org__embed", r".*\.json", "^scores"),
    "evalscope": (
        EVALSCOPE,
        "evalscope",
        "evalscope/20260304_050607",
        r"task_config.*\.yaml",
        "^model_id|^datasets",
    ),
    "helm": (
        HELM,
        "helm",
        f"helm/runs/v1/{HELM_FOLDER.name}",
        r"run_spec\.json",
        "^data_augmenter_spec",
    ),
    "inspect": (INSPECT, "inspect", "inspect", r"grid\.json", INSPECT_NOT),
    "lm_eval 0.3": (
        LM_EVAL_V03,
        "lm_eval",
        "lm_eval/v0_3",
        r"tiny_step300\.json",
        r"^results\b",
    ),
}


def test_every_leaf_of_every_eval_ever_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"{STEM}.json"
    path.write_text(json.dumps(evaluation()), encoding="utf-8")
    leaves = leaves_in(
        EVERY_EVAL_EVER,
        "every_eval_ever",
        tmp_path,
        [path],
        "^evaluation_results.score_details",
    )
    assert leaves.dropped() == []


def test_every_leaf_of_olmes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "task-000-arc-metrics.json"
    path.write_text(json.dumps(of_olmes()), encoding="utf-8")
    leaves = leaves_in(OLMES, "olmes", tmp_path, [path], "^metrics")
    assert leaves.dropped() == []


def leaves_of_dump(name: str, tmp_path: Path, of_a_kind: int = 1) -> Leaves:
    importer, harness, folder, documents, not_settings = LEAVES[name]
    copied = tmp_path / Path(folder).name
    shutil.copytree(DATA / folder, copied)
    if importer is INSPECT:  # each file is a source, and archives are read slowly
        for path in copied.glob("*.eval"):
            path.unlink()
    chosen = [
        path for path in sorted(copied.rglob("*")) if re.fullmatch(documents, path.name)
    ]
    assert chosen
    return leaves_in(
        importer,
        harness,
        copied,
        chosen,
        not_settings,
        {"model": "org/unnamed"},
        of_a_kind,
    )


@pytest.mark.parametrize("name", LEAVES)
def test_every_leaf_is_read(name: str, tmp_path: Path) -> None:
    assert leaves_of_dump(name, tmp_path).dropped() == []


@pytest.mark.rare
@pytest.mark.parametrize("name", LEAVES)
def test_every_leaf_of_every_task_is_read(name: str, tmp_path: Path) -> None:
    assert leaves_of_dump(name, tmp_path, of_a_kind=1000).dropped() == []


@pytest.mark.parametrize("name", LEAVES)
def test_executions_of_one_condition_are_repeats(name: str, tmp_path: Path) -> None:
    """Two dumps that differ by nothing but marks, versions of libraries and what the
    table leaves out."""
    assert leaves_of_dump(name, tmp_path).counted_against_the_table() == []
