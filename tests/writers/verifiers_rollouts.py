"""Writes the rollouts of ``tests/data/verifiers`` after the three kinds of files that
verifiers up to 0.3 leaves.

    python tests/writers/verifiers_rollouts.py tests/data/verifiers

- ``old`` (August 2025): three questions, twice each, stored try by try; ``id`` is the
  number of the row over the number of tries, and so stands for two questions. Averages
  to ten decimals.
- ``middle`` (October 2025): the metadata were written before the results; one row has
  no completion.
- ``new`` (0.1.14): two questions, four times each; one rollout failed, one ran out of
  context.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def asked(question: int, *, system: bool = True) -> list[Row]:
    first = [{"content": "Give a number.", "role": "system"}] if system else []
    return [*first, {"content": f"What is {question} + 1?", "role": "user"}]


def old() -> tuple[Row, list[Row]]:
    rewards = (1.0, 0.0, 0.3333333333, 1.0, 1.0, 0.3333333333)
    call = json.dumps(
        {
            "id": "call_1",
            "function": {"arguments": "{}", "name": "add"},
            "type": "function",
        }
    )
    rows = []
    for place, reward in enumerate(rewards):
        question = place % 3
        answer = {
            "content": f"It is {question + 1}.",
            "role": "assistant",
            "tool_calls": None,
        }
        called = {"content": "", "role": "assistant", "tool_calls": [call]}
        rows.append(
            {
                "id": place // 2,
                "prompt": asked(question),
                "completion": [
                    called,
                    {"content": "2", "role": "tool", "tool_calls": None},
                    answer,
                ],
                "task": "default",
                "info": {"oai_tools": [{"type": "function"}]},
                "answer": str(question + 1),
                "reward": reward,
                "correct_reward_func": float(reward == 1),
                "num_turns": 2.0,
                "total_tool_calls": 1.0,
            }
        )
    metadata = {
        "env": "adder",
        "model": "org/tiny",
        "num_examples": 3,
        "rollouts_per_example": 2,
        "max_tokens": 64,
    }
    metadata |= {
        "temperature": 0.5,
        "date": "2025-08-25",
        "time": "21:13:53",
        "avg_reward": sum(rewards) / 6,
    }
    return metadata | {
        "avg_correct_reward_func": 0.5,
        "avg_num_turns": 2.0,
        "avg_total_tool_calls": 1.0,
    }, rows


def middle() -> tuple[Row, list[Row]]:
    rows = [
        {
            "example_id": place % 2,
            "prompt": asked(place % 2, system=False),
            "completion": []
            if place == 3
            else [{"content": "[image] 1", "role": "assistant"}],
            "task": "sums",
            "reward": reward,
            "generation_ms": 250.5,
            "scoring_ms": 1.0,
            "total_ms": 251.5,
            "answer": "1",
            "format_reward_func": 1.0,
        }
        for place, reward in enumerate((1.9, 0.5, 1.2, 1.0))
    ]
    sampling = {"n": 1, "extra_body": {}, "max_tokens": None, "top_p": 0.9}
    metadata = {
        "env_id": "adder",
        "env_args": {"path": "/home/me/x", "level": 3},
        "model": "org/tiny",
    }
    metadata |= {
        "base_url": "https://api.example.com/v1/",
        "num_examples": 4,
        "rollouts_per_example": 1,
    }
    metadata |= {
        "sampling_args": sampling,
        "time_ms": 0.0,
        "avg_reward": 0.0,
        "avg_metrics": {},
        "state_columns": [],
    }
    return metadata, rows


def new() -> tuple[Row, list[Row]]:
    rows = []
    for place, reward in enumerate((1.0, 0.2, 0.8, 0.0, 1.0, 1.0, 0.0, 0.1)):
        question, failed, is_long = place // 4, place == 3, place == 6
        metrics = {"correct": float(reward >= 0.5), "num_turns": 1.0}
        row = {
            "example_id": question,
            "prompt": asked(question),
            "completion": []
            if failed or is_long
            else [{"role": "assistant", "content": f"It is {reward}"}],
            "answer": str(question + 1),
            "info": {"kind": ("even", "odd")[question]},
            "reward": reward,
            "error": None,
            "timing": {
                "start_time": 1795313139.5 + place,
                "generation": {"duration": 0.5 + place},
                "total": 9.0,
            },
            "is_completed": True,
            "is_truncated": is_long,
            "stop_condition": "prompt_too_long" if is_long else "max_turns_reached",
            "metrics": metrics,
            "token_usage": {"input_tokens": 5.0, "output_tokens": 4.0},
            **metrics,
        }
        if failed:
            chain = "ModelError() -> BadRequestError('code 400')"
            row |= {
                "error": {"error": "ModelError", "error_chain_repr": chain},
                "stop_condition": "has_error",
            }
        rows.append(row)
    versions = {
        "vf_version": "0.1.14",
        "vf_commit": "abc",
        "env_version": "1.2",
        "env_commit": None,
    }
    metadata = {
        "env_id": "adder",
        "env_args": {},
        "model": "org/tiny",
        "base_url": "http://127.0.0.1:8000/v1",
    }
    metadata |= {
        "num_examples": 2,
        "rollouts_per_example": 4,
        "sampling_args": {"temperature": 0.7},
        "time": 7.9,
    }
    metadata |= {
        "avg_reward": 4.1 / 8,
        "avg_metrics": {"correct": 0.5, "num_turns": 1.0},
        "avg_error": 0.125,
    }
    # of 4 rollouts each: 2 pass, 2 pass
    metadata |= {
        "pass_at_k": {"1": 0.5, "2": 5 / 6, "4": 1.0},
        "pass_all_k": {"1": 0.5, "2": 1 / 6, "4": 0.0},
    }
    return metadata | {
        "pass_threshold": 0.5,
        "version_info": versions,
        "state_columns": [],
        "tools": None,
    }, rows


def main() -> None:
    for name, (metadata, rows) in {
        "0123abcd": old(),
        "4567cdef": middle(),
        "89abef01": new(),
    }.items():
        folder = (
            Path(sys.argv[1]) / "v0" / "outputs" / "evals" / "adder--org--tiny" / name
        )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "metadata.json").write_text(json.dumps(metadata))
        (folder / "results.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )


if __name__ == "__main__":
    main()
