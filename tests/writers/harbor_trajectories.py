"""Writes the trajectories of ``tests/data/harbor`` with the models of the real package.

    python3.12 -m venv /tmp/venv && /tmp/venv/bin/pip install harbor==0.25.0
    /tmp/venv/bin/python tests/writers/harbor_trajectories.py tests/data/harbor/demo

The first trial of ``sort`` went on in a second file after its context was made shorter;
in the second the agent did everything in one step, and looked at a picture. Every
number that the importer reads has a value of its own.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harbor.models.trajectories.trajectory import Trajectory

AGENT = {"name": "terminus", "version": "2.1", "model_name": "org/tiny"}


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "tool_call_id": f"call_{number}",
        "function_name": name,
        "arguments": arguments,
    }


def result(number: int | None, content: Any) -> dict[str, Any]:
    return {
        "source_call_id": None if number is None else f"call_{number}",
        "content": content,
    }


ASKED = {"step_id": 1, "source": "user", "message": "Sort /app/names.txt."}
LOOKED = {
    "step_id": 2,
    "source": "agent",
    "message": "I look first.",
    "reasoning_content": "The file may be large.",
    "tool_calls": [
        call(1, "bash", command="head /app/names.txt"),
        call(2, "bash", command="wc -l /app/names.txt"),
    ],
    "observation": {
        "results": [
            result(1, "Zoe\nAda\n"),
            result(2, '{"lines": 2, "file": "/app/names.txt"}'),
        ]
    },
    "metrics": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "cached_tokens": 7,
        "extra": {"reasoning_tokens": 4},
    },
}
SORTED = {
    "step_id": 4,
    "source": "agent",
    "message": "",
    "tool_calls": [call(3, "write", path="/app/names.txt", text="Ada\nZoe\n")],
    "observation": {"results": [result(3, None)]},
    "metrics": {
        "prompt_tokens": 200,
        "completion_tokens": 20,
        "cached_tokens": 9,
        "extra": {"reasoning_tokens": 5},
    },
}
CHECKED = {
    "step_id": 5,
    "source": "agent",
    "message": "checked by the harness",
    "llm_call_count": 0,
    "tool_calls": [call(4, "bash", command="sort -c /app/names.txt")],
    "observation": {"results": [result(4, "")]},
}
DONE = {"step_id": 6, "source": "agent", "message": "The names are sorted."}
PICTURE = [
    {"type": "text", "text": "the screen"},
    {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}},
]
TRIALS = {
    "sort__0000001/agent/trajectory.json": {
        "schema_version": "ATIF-v1.7",
        "session_id": "one",
        "steps": [ASKED, LOOKED],
        "continued_trajectory_ref": "trajectory.cont-1.json",
    },
    "sort__0000001/agent/trajectory.cont-1.json": {
        "schema_version": "ATIF-v1.7",
        "session_id": "one",
        "steps": [
            ASKED | {"is_copied_context": True},
            LOOKED | {"is_copied_context": True},
            {
                "step_id": 3,
                "source": "system",
                "message": "The context was made shorter.",
            },
            SORTED,
            CHECKED,
            DONE,
        ],
    },
    "sort__0000002/agent/trajectory.json": {
        "schema_version": "ATIF-v1.6",
        "session_id": "two",
        "steps": [
            ASKED,
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "observation": {"results": [result(None, PICTURE)]},
            },
        ],
    },
}


def main(folder: Path) -> None:
    for name, stated in TRIALS.items():
        trajectory = Trajectory.model_validate({**stated, "agent": AGENT})
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            json.dumps(trajectory.model_dump(mode="json", exclude_none=True), indent=1)
            + "\n"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
