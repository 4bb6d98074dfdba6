"""Runs the real harnesses on a small task, whole or on planned prompts: the dumps of
``tests/data/subsets``.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install lm_eval==0.4.13
    inspect-ai==0.3.285 cp tests/writers/subset_runs.py /tmp && cd /tmp
    /tmp/venv/bin/python subset_runs.py lm-eval FOLDER whole /tmp/venv/bin/python
    subset_runs.py lm-eval FOLDER planned "$(cat samples.json)" /tmp/venv/bin/python
    subset_runs.py inspect FOLDER whole /tmp/venv/bin/python subset_runs.py inspect
    FOLDER planned "$(cat ids.txt)"

with what `warehouse subset export` wrote in between
(``tests/analysis/subsets/test_subset_circle.py`` has the plan, and makes all of it anew
where the harnesses are installed). The models are the dummy of lm-eval, which answers
at random, and the mock of Inspect, whose answers depend on a seed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

PROMPTS, MODELS = 40, ("lab/one", "lab/two", "lab/three")
PLANNED = "new/model"


def questions() -> list[dict[str, str]]:
    """Sums, some of which look alike."""
    return [
        {
            "id": f"sum-{n:02}",
            "question": f"What is {n} + {n % 7}?",
            "answer": str(n + n % 7),
        }
        for n in range(PROMPTS)
    ]


def lm_eval(folder: Path, model: str, seed: int, samples: str = "") -> None:
    """A multiple-choice task of our own, run by the command line of lm-eval."""
    tasks = folder / "task"
    tasks.mkdir(parents=True, exist_ok=True)
    lines = [row | {"choices": [row["answer"], "none of these"]} for row in questions()]
    (tasks / "sums.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )
    (tasks / "sums.yaml").write_text(
        "task: sums\n"
        "dataset_path: json\n"
        "dataset_kwargs:\n"
        "  data_files:\n"
        "    test: task/sums.jsonl\n"
        "test_split: test\n"
        "output_type: multiple_choice\n"
        "doc_to_text: '{{question}}'\n"
        "doc_to_choice: '{{choices}}'\n"
        "doc_to_target: 0\n"
        "metric_list:\n"
        "  - metric: acc\n"
    )
    command = [
        str(Path(sys.executable).parent / "lm_eval"),
        "run",
        "--model",
        "dummy",
        "--tasks",
        "sums",
    ]
    command += [
        "--include_path",
        "task",
        "--model_args",
        f"pretrained={model}",
        "--seed",
        str(seed),
    ]
    command += ["--log_samples", "--output_path", "."]
    subprocess.run(
        [*command, *(["--samples", samples] if samples else [])], cwd=folder, check=True
    )


def inspect(folder: Path, model: str, seed: int, sample_ids: str = "") -> None:
    """A task with a mock model, run by the command line of Inspect."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(seed)
    answers = {
        row["question"]: row["answer"] if dice.random() < 0.6 else "?"
        for row in questions()
    }
    (folder / "sums.py").write_text(
        "from inspect_ai import Task, task\n"
        "from inspect_ai.dataset import MemoryDataset, Sample\n"
        "from inspect_ai.model import ModelOutput\n"
        "from inspect_ai.scorer import match\n"
        "from inspect_ai.solver import Generate, TaskState, solver\n"
        "\n"
        f"ROWS = {questions()!r}\n"
        f"ANSWERS = {answers!r}\n"
        "\n"
        "\n"
        "@solver\n"
        "def scripted():\n"
        "    async def solve(state: TaskState, generate: Generate) -> TaskState:\n"
        "        state.output = ModelOutput.from_content(str(state.model), "
        "ANSWERS[state.input_text])\n"
        "        return state\n"
        "    return solve\n"
        "\n"
        "\n"
        "@task\n"
        "def sums():\n"
        "    rows = [Sample(id=r['id'], input=r['question'], target=r['answer']) for r "
        "in ROWS]\n"
        "    return Task(dataset=MemoryDataset(rows), solver=scripted(), "
        "scorer=match())\n"
    )
    command = [
        str(Path(sys.executable).parent / "inspect"),
        "eval",
        "sums.py",
        "--model",
        f"mockllm/{model}",
    ]
    command += ["--log-dir", ".", "--display", "plain"]
    subprocess.run(
        [*command, *(["--sample-id", sample_ids] if sample_ids else [])],
        cwd=folder,
        check=True,
    )


def main(harness: str, folder: str, what: str, samples: str = "") -> None:
    runner = {"lm-eval": lm_eval, "inspect": inspect}[harness]
    if what == "whole":
        for seed, model in enumerate(MODELS):
            runner(Path(folder), model, seed)
    else:
        runner(Path(folder), PLANNED, len(MODELS), samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
