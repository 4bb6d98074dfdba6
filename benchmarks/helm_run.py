"""A HELM run of 10 000 instances with 25 statistics each into the full schema."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from dumps import write_lm_eval
from measure import INGEST, time_script

INSTANCES, STATISTICS = 10_000, 25


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print time and memory."""
    made = folder / "helm" / "runs" / "v1" / "bench"
    if not made.exists():
        _write(made)
    size = sum(path.stat().st_size for path in made.iterdir()) / 1e6
    print(f"{INSTANCES} instances x {STATISTICS} statistics, {size:.0f} MB")
    write_lm_eval(small := folder / "small", models=1, tasks=1, prompts=20)
    arguments = [str(folder / "bench.duckdb"), str(made), str(small)]
    print(f"warehouse ingest: {time_script(INGEST, arguments, options.runs)}")


def _write(folder: Path) -> None:
    rng = random.Random(1)
    folder.mkdir(parents=True)
    words = [f"word{number}" for number in range(2000)]
    adapter = {
        "method": "generation",
        "model": "org/m",
        "max_train_instances": 5,
        "num_train_trials": 1,
        "temperature": 0.0,
        "max_tokens": 50,
    }
    states, stats = [], []
    for number in range(INSTANCES):
        text = " ".join(rng.choices(words, k=60))
        right = {"output": {"text": rng.choice(words)}, "tags": ["correct"]}
        instance = {
            "input": {"text": text},
            "references": [right],
            "split": "test",
            "id": f"id{number}",
        }
        answer = rng.choices(words, k=8)
        tokens = [{"text": word, "logprob": -rng.random()} for word in answer]
        states.append(
            {
                "instance": instance,
                "train_trial_index": 0,
                "request": {
                    "model": "org/m",
                    "prompt": f"Q: {text}\nA:",
                    "temperature": 0.0,
                },
                "result": {
                    "success": True,
                    "cached": False,
                    "request_time": rng.random(),
                    "request_datetime": 1_795_000_000 + number,
                    "completions": [
                        {"text": " ".join(answer), "logprob": -3.0, "tokens": tokens}
                    ],
                },
                "num_train_instances": 5,
                "prompt_truncated": False,
            }
        )
        values = [(f"metric_{place}", rng.random()) for place in range(8)]
        values += [(f"finish_reason_{place}", 0.0) for place in range(STATISTICS - 8)]
        stats.append(
            {
                "instance_id": f"id{number}",
                "train_trial_index": 0,
                "stats": [
                    {
                        "name": {"name": name, "split": "test"},
                        "count": 1,
                        "sum": value,
                        "sum_squared": value * value,
                        "min": value,
                        "max": value,
                        "mean": value,
                        "variance": 0.0,
                        "stddev": 0.0,
                    }
                    for name, value in values
                ],
            }
        )
    documents = {
        "run_spec": {"name": "bench:model=org_m", "adapter_spec": adapter},
        "scenario_state": {"adapter_spec": adapter, "request_states": states},
        "per_instance_stats": stats,
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document, indent=2))
