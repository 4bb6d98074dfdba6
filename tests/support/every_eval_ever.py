"""Files of Every Eval Ever in tests, made from its published schema (0.3.0); every
field that is read has a value of its own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from tests.support import lm_eval
from tests.support.lm_eval import Taken
from warehouse.importers.every_eval_ever.importer import IMPORTER

FIXTURES = Path(__file__).parents[1] / "data" / "every_eval_ever"
STEM = "0a1b2c3d-0000-4000-8000-123456789abc"

Document = dict[str, Any]


def take(*paths: Path, **values: Any) -> Taken:
    return lm_eval.take(*paths, importer=IMPORTER, **values)


@cache
def schema(name: str) -> Any:
    """The published schema: ``eval`` or ``instance_level_eval``."""
    return jsonschema.Draft7Validator(
        json.loads((FIXTURES / f"{name}.schema.json").read_text())
    )


def result(metric: str = "accuracy", score: float = 0.5, **more: Any) -> Document:
    stated: Document = {
        "evaluation_result_id": f"maps,{metric}",
        "evaluation_name": "geo maps",
        "source_data": {
            "dataset_name": "maps",
            "source_type": "hf_dataset",
            "hf_repo": "org/maps",
            "hf_split": "test",
            "samples_number": 7,
        },
        "evaluation_timestamp": "1750000000",
        "metric_config": {
            "metric_id": metric,
            "metric_name": "A name",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": score,
            "uncertainty": {
                "standard_error": {"value": 0.25, "method": "analytic"},
                "num_samples": 2,
            },
        },
        "generation_config": {
            "generation_args": {
                "temperature": 0.75,
                "top_p": 0.875,
                "top_k": 5,
                "max_tokens": 77,
                "reasoning": True,
                "prompt_template": "Q: {q}",
                "max_attempts": 3,
            }
        },
    }
    return stated | more


def evaluation(*results: Document) -> Document:
    unknown = {"deployment_type": "unknown", "model_availability": "open_weights"}
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "maps/org_m/1750000001",
        "retrieved_timestamp": "1750000009.5",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "lab",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "lm_eval", "version": "0.4.13"},
        "model_info": {
            "name": "M",
            "id": "org/m",
            "developer": "Org",
            "inference_platform": "host",
            "additional_details": unknown | {"revision": "step50"},
        },
        "evaluation_results": list(results) or [result()],
    }


def sample(number: int = 1, score: Any = 1.0, **more: Any) -> Document:
    stated: Document = {
        "schema_version": "0.3.0",
        "evaluation_id": "maps/org_m/1750000001",
        "model_id": "org/m",
        "evaluation_name": "geo maps",
        "evaluation_result_id": "maps,accuracy",
        "sample_id": f"q{number}",
        "interaction_type": "single_turn",
        "input": {
            "raw": f"question {number}",
            "formatted": f"sent {number}",
            "reference": [f"right {number}"],
            "choices": ["x", f"right {number}"],
        },
        "output": {"raw": [f"I say {number}"]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "is_terminal": True,
                "extracted_value": f"say {number}",
                "extraction_method": "regex",
            }
        ],
        "evaluation": {"score": score, "is_correct": score == 1.0},
        "token_usage": {
            "input_tokens": 10 + number,
            "output_tokens": 20 + number,
            "total_tokens": 30 + 2 * number,
        },
        "performance": {"latency_ms": 1500.0 + number},
        "error": None,
        "metadata": {"subject": f"subject {number}"},
    }
    return stated | more


def write(folder: Path, document: Document | None, *samples: Document) -> Path:
    """An evaluation with samples; everything is of the published schema."""
    home = folder / "data" / "maps" / "org" / "m"
    home.mkdir(parents=True, exist_ok=True)
    if document is not None:
        schema("eval").validate(document)
        (home / f"{STEM}.json").write_text(json.dumps(document))
    if samples:
        for line in samples:
            schema("instance_level_eval").validate(line)
        text = "".join(json.dumps(line) + "\n" for line in samples)
        (home / f"{STEM}_samples.jsonl").write_text(text)
    return folder / "data"
