"""Run folders of HELM in tests, made from the description of the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support import lm_eval
from tests.support.lm_eval import Taken
from warehouse.importers.helm.importer import IMPORTER

#: Written by the package itself (``tests/writers/helm_runs.py``).
FIXTURES = Path(__file__).parents[1] / "data" / "helm" / "runs" / "v1"

Document = dict[str, Any]

NAME = "quiz:subject=maps,method=generation,model=org_tiny,data_augmentation=spaces"
SPACES = {
    "name": "extra_space",
    "robustness": True,
    "fairness": False,
    "computed_on": "perturbed",
    "num_spaces": 2,
}


def take(*paths: Path, **values: Any) -> Taken:
    """The one run folder that some paths hold."""
    return lm_eval.take(*paths, importer=IMPORTER, **values)


def spec(**adapter: Any) -> Document:
    """A run specification in which every field that is read has a value of its own."""
    stated = {
        "method": "generation",
        "model": "org/tiny",
        "model_deployment": "cloud/tiny",
        "max_train_instances": 5,
        "max_eval_instances": 7,
        "num_outputs": 1,
        "num_train_trials": 1,
        "num_trials": 1,
        "temperature": 0.25,
        "max_tokens": 31,
        "stop_sequences": ["\n"],
        "instructions": "Answer.",
        "input_prefix": "Q: ",
        "output_prefix": "A: ",
    }
    metrics = [
        {"class_name": "helm.Basic", "args": {"names": ["f1_score", "exact_match"]}}
    ]
    return {
        "name": NAME,
        "scenario_spec": {"class_name": "helm.Quiz", "args": {}},
        "adapter_spec": stated | adapter,
        "metric_specs": metrics,
        "groups": ["quiz", "quiz_maps"],
    }


def instance(number: int, split: str = "test", perturbation: Any = None) -> Document:
    found = {
        "id": f"id{number}",
        "split": split,
        "input": {"text": f"question {number}" + ("  !" if perturbation else "")},
        "references": [
            {"output": {"text": f"right {number}"}, "tags": ["correct"]},
            {"output": {"text": f"wrong {number}"}, "tags": []},
        ],
    }
    return found | ({"perturbation": perturbation} if perturbation else {})


def state(
    asked: Document, text: str = "right", trial: int = 0, **more: Any
) -> Document:
    """A request that was answered with ``text``."""
    result = {
        "success": True,
        "cached": False,
        "request_time": 1.5,
        "request_datetime": 1_795_173_453,
        "completions": [
            {
                "text": text,
                "logprob": -2.0,
                "finish_reason": {"reason": "stop"},
                "tokens": [{"text": text, "logprob": -2.0}],
            }
        ],
    }
    request = {
        "prompt": f"Q: {asked['input'].get('text')}\nA:",
        "top_p": 0.75,
        "top_k_per_token": 3,
        "temperature": 0.25,
        "num_completions": 1,
    }
    return {
        "instance": asked,
        "train_trial_index": trial,
        "request": request,
        "result": result,
        "num_train_instances": 5,
        "prompt_truncated": False,
    } | more


def stat(
    name: str, value: float | None, split: str = "test", **naming: Any
) -> Document:
    known = {} if value is None else {"sum": value, "mean": value}
    return {
        "name": {"name": name, "split": split, **naming},
        "count": int(value is not None),
        **known,
    }


def stats_of(asked: Document, values: Document, trial: int = 0) -> Document:
    """Statistics of one row, among them bookkeeping."""
    naming = {key: asked[key] for key in ("split", "perturbation") if key in asked}
    stats = [stat(name, value, **naming) for name, value in values.items()]
    stats += [
        stat("num_prompt_tokens", 41, **naming),
        stat("finish_reason_stop", 1, **naming),
    ]
    found = {"instance_id": asked["id"], "train_trial_index": trial, "stats": stats}
    return found | (
        {"perturbation": naming["perturbation"]} if "perturbation" in naming else {}
    )


def write(folder: Path, **documents: Any) -> Path:
    """A run folder under a suite; a document is named without ``.json``."""
    run = folder / "runs" / "v1" / "quiz"
    run.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (run / f"{name}.json").write_text(json.dumps(document, indent=2))
    return run


def plain(folder: Path) -> Path:
    """Two splits; one instance also perturbed; published figures."""
    asked = [
        instance(1),
        instance(2),
        instance(2, perturbation=SPACES),
        instance(9, "valid"),
    ]
    scores = [
        {"exact_match": 1.0, "f1_score": 0.5},
        {"exact_match": 0.0, "f1_score": 0.25},
        {"exact_match": 0.0, "f1_score": 0.125},
        {"exact_match": 1.0, "f1_score": None},
    ]
    worst = {**SPACES, "computed_on": "worst"}
    return write(
        folder,
        run_spec=spec(),
        scenario_state={
            "adapter_spec": spec()["adapter_spec"],
            "request_states": [
                state(item, f"say {place}") for place, item in enumerate(asked)
            ],
        },
        per_instance_stats=[
            stats_of(*pair) for pair in zip(asked, scores, strict=True)
        ],
        stats=[
            stat("exact_match", 0.5),
            stat("f1_score", 0.375),
            stat("num_instances", 2),
            stat("exact_match", 0.0, perturbation=SPACES),
            stat("num_instances", 1, perturbation=SPACES),
            stat("exact_match", 0.0, perturbation=worst),
            stat("macro_f1", 0.625),
            stat("exact_match", 1.0, "valid"),
            stat("num_instances", 1, "valid"),
            stat("inference_runtime", 9.0),
            stat("bits_per_byte", 1.25),
        ],
    )


def by_prompt(taken: Taken) -> dict[tuple[Any, ...], Document]:
    return {
        (row["prompt_id"], row["perturbation"], row["fewshot_draw"], row["draw"]): row
        for row in taken.rows
    }


def values(row: Document) -> dict[str, float | None]:
    return {score["metric"]: score["value"] for score in row["scores"] or ()}
