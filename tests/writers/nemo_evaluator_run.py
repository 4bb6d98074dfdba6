"""Writes the run of ``tests/data/nemo_evaluator`` after files that ``nemo_evaluator``
0.3.0 wrote and its source.

    python tests/writers/nemo_evaluator_run.py tests/data/nemo_evaluator

Four problems, twice each, in the order in which they ended: one failure of the system,
one time-out, one of the agent itself; the figures count all of them as 0.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]
STAMP = "20261122T020937Z"

#: Problem, repeat, reward, what is said of the scoring.
TRIES: tuple[tuple[int, int, float, Row], ...] = (
    (2, 0, 1.0, {"method": "exact"}),
    (0, 1, 1.0, {"method": "exact"}),
    (0, 0, 1.0, {"method": "exact"}),
    (
        3,
        0,
        0.0,
        {
            "method": "graceful_error",
            "error_category": "graceful",
            "error": "turn budget exhausted",
        },
    ),
    (
        1,
        0,
        0.0,
        {"method": "system_error", "error_category": "system", "error": "sandbox lost"},
    ),
    (2, 1, 0.0, {"method": "exact"}),
    (1, 1, 1.0, {"method": "exact"}),
    (
        3,
        1,
        0.0,
        {
            "method": "solve_failed",
            "error_category": "solve_timeout",
            "error": "after 600 s",
        },
    ),
)


def result(problem: int, repeat: int, reward: float, details: Row) -> Row:
    category = "even" if problem % 2 == 0 else "odd"
    return {
        "problem_idx": problem,
        "repeat": repeat,
        "reward": reward,
        "scorer_rewards": {"scorer:short": float(problem == 0)},
        "prompt": f"What is {problem} + 1?",
        "model_response": "" if "error" in details else f"It is {problem + 1}",
        "extracted_answer": None if "error" in details else str(problem + 1),
        "expected_answer": str(problem + 1),
        "scoring_details": {**details, "category": category},
        "metadata": {
            "source": "byob",
            "benchmark": "adder",
            "question": f"{problem} + 1",
            "category": category,
        },
        "tokens": 9,
        "latency_ms": 250.0 + problem,
    }


def bundle() -> Row:
    scores: Row = {
        "pass@1": {
            "value": 0.5,
            "ci_lower": 0.2,
            "ci_upper": 0.8,
            "bootstrap_ci_lower": 0.1,
            "bootstrap_ci_upper": 0.9,
        },
        "pass@2": {
            "value": 0.75,
            "bootstrap_ci_lower": 0.25,
            "bootstrap_ci_upper": 1.0,
        },
        "summary": {
            "mean": 0.5,
            "std": 0.53,
            "min": 0.0,
            "max": 1.0,
            "median": 0.5,
            "n": 8,
        },
        "breakdowns": {"category": [{"group": "even", "n": 4, "mean_reward": 0.75}]},
        "scorer:short": {"value": 0.25, "correct": 2, "total": 8},
        "runtime": {"total_steps": 8},
    }
    config = {
        "benchmark": "adder",
        "model": "org/tiny",
        "base_url": "http://127.0.0.1:34929",
        "repeats": 2,
    }
    config |= {
        "max_problems": None,
        "shuffle": {"seed": 42, "ds_full_size": 6, "ds_effective_size": 4},
    }
    categories = {
        "even": {"mean_reward": 0.75, "n": 4},
        "odd": {"mean_reward": 0.25, "n": 4},
    }
    return {
        "run_id": f"eval-{STAMP}-adder",
        "config_hash": "sha256:92f6",
        "sdk_version": "0.3.0",
        "timestamp": "2026-11-22T02:09:37.566405+00:00",
        "config": config,
        "benchmark": {
            "name": "adder",
            "samples": 4,
            "repeats": 2,
            "scores": scores,
            "categories": categories,
        },
        "n_results": 8,
    }


def logged(problem: int, repeat: int) -> Row:
    said = {
        "model": "org/tiny",
        "finish_reason": "stop",
        "prompt_tokens": 5,
        "completion_tokens": 4,
    }
    return {
        "problem_idx": problem,
        "repeat": repeat,
        "response": "",
        "tokens": 9,
        "latency_ms": 1.0,
        **said,
    }


def main() -> None:
    folder = Path(sys.argv[1]) / "adder"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"eval-{STAMP}-adder.json").write_text(json.dumps(bundle(), indent=2))
    log = [
        {"config_hash": "sha256:2008", "_type": "meta"},
        *(logged(*item[:2]) for item in TRIES),
    ]
    for name, rows in (
        ("results", [result(*item) for item in TRIES]),
        ("inference_log", log),
    ):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )


if __name__ == "__main__":
    main()
