"""Writes the work folder ``general_mcq`` of ``tests/data/evalscope`` with the real
package and a scripted model.

    python3.11 -m venv /tmp/venv && /tmp/venv/bin/pip install evalscope==1.14.1
    /tmp/venv/bin/python tests/writers/evalscope_work.py FOLDER

Two subsets of a benchmark of one's own, two generations a question; one call fails,
which EvalScope leaves out of its files and counts in its report.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from evalscope import TaskConfig, run_task
from evalscope.api.model import ModelOutput
from evalscope.models.mockllm import MockLLM

SUBSETS = {"colours": ("red", "blue", 4), "trees": ("oak", "elm", 2)}
FAILS = 5
CALLS = itertools.count()


def answer(self: Any, *_: Any, **__: Any) -> ModelOutput:
    number = next(CALLS)
    if number == FAILS:
        raise RuntimeError("connection reset")
    return ModelOutput.from_content(
        model="mockllm", content=f"ANSWER: {'AABBA'[number % 5]}"
    )


def questions(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (first, second, count) in SUBSETS.items():
        rows = [
            {
                "id": n,
                "question": f"Which {name[:-1]} is number {n}?",
                "A": first,
                "B": second,
                "answer": "AB"[n % 2],
            }
            for n in range(count)
        ]
        (folder / f"{name}_val.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )


def main(folder: Path) -> None:
    MockLLM.generate = answer
    data = folder / "questions"
    questions(data)
    task = TaskConfig(
        model="mock/tiny",
        eval_type="mock_llm",
        datasets=["general_mcq"],
        dataset_args={
            "general_mcq": {
                "local_path": str(data),
                "subset_list": list(SUBSETS),
                "prompt_template": "{question}\n\n{choices}",
            }
        },
        repeats=2,
        ignore_errors=True,
        eval_batch_size=1,
        generation_config={"temperature": 0.5, "max_tokens": 32},
        work_dir=str(folder / "general_mcq"),
        dataset_dir="/tmp/datasets",
        no_timestamp=True,
    )
    run_task(task)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
