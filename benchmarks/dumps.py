"""Large dumps in the shape that lm-evaluation-harness 0.4.9 writes, made from a seed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

PROMPTS = 10_000


def write_lm_eval(
    folder: Path, models: int, tasks: int, prompts: int = PROMPTS, seed: int = 1
) -> list[Path]:
    """Write ``models`` × ``tasks`` × ``prompts`` sample rows (about 680 bytes each).

    Returns:
        the sample files.
    """
    rng = random.Random(seed)
    words = [
        "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9)))
        for _ in range(3000)
    ]
    written = []
    for task in range(tasks):
        rows = list(_questions(rng, words, prompts))
        for model in range(models):
            path = _sample_file(folder, model, task)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8") as handle:
                for head, tail in rows:
                    response = " ".join(rng.choices(words, k=8))
                    filled = json.dumps(response)
                    handle.write(
                        f'{head}, "resps": [[{filled}]], "filtered_resps": [{filled}], '
                        f'{tail}, "exact_match": '
                        f"{float(rng.random() < 0.5 + model / 100)}}}\n"
                    )
            written.append(path)
    for model in range(models):
        _results_file(folder, model, tasks, prompts)
    return written


def _questions(
    rng: random.Random, words: list[str], prompts: int
) -> Iterator[tuple[str, str]]:
    """What stands before and after the response in each row of a task."""
    for place in range(prompts):
        question = " ".join(rng.choices(words, k=14))
        doc = {
            "question": question,
            "subject": words[place % 40],
            "choices": [" ".join(rng.choices(words, k=2)) for _ in range(4)],
        }
        target = words[place % 3000]
        prompt = f"Question: {question}\nAnswer:"
        arguments = {
            "gen_args_0": {
                "arg_0": prompt,
                "arg_1": {"until": ["\n"], "do_sample": False},
            }
        }
        head = json.dumps(
            {"doc_id": place, "doc": doc, "target": target, "arguments": arguments}
        ).removesuffix("}")
        tail = json.dumps(
            {
                "filter": "none",
                "metrics": ["exact_match"],
                "doc_hash": _sha(json.dumps(doc)),
                "prompt_hash": _sha(prompt),
                "target_hash": _sha(target),
            }
        )
        yield head, tail[1:-1]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stamp(model: int) -> str:
    return f"2026-01-{model % 28 + 1:02d}T10-{model // 28:02d}-00.000001"


def _sample_file(folder: Path, model: int, task: int) -> Path:
    return folder / f"org__model-{model}" / f"samples_task_{task}_{_stamp(model)}.jsonl"


def _results_file(folder: Path, model: int, tasks: int, prompts: int) -> None:
    names = [f"task_{task}" for task in range(tasks)]
    config = {
        "model": "hf",
        "model_args": f"pretrained=org/model-{model}",
        "limit": None,
        "batch_size": "8",
        "random_seed": 0,
        "numpy_seed": 1234,
        "torch_seed": 1234,
        "fewshot_seed": 1234,
        "gen_kwargs": None,
    }
    task_config = {
        "output_type": "generate_until",
        "num_fewshot": 0,
        "repeats": 1,
        "metric_list": [{"metric": "exact_match", "higher_is_better": True}],
        "generation_kwargs": {"until": ["\n"], "do_sample": False},
        "metadata": {"version": 1.0},
    }
    results = {
        "results": {
            name: {
                "alias": name,
                "exact_match,none": 0.5,
                "exact_match_stderr,none": 0.005,
            }
            for name in names
        },
        "group_subtasks": {name: [] for name in names},
        "configs": {name: {"task": name, **task_config} for name in names},
        "versions": dict.fromkeys(names, 1.0),
        "n-shot": dict.fromkeys(names, 0),
        "higher_is_better": {name: {"exact_match": True} for name in names},
        "n-samples": {
            name: {"original": prompts, "effective": prompts} for name in names
        },
        "config": config,
        "date": 1767261600.0 + model,
        "lm_eval_version": "0.4.9",
        "model_source": "hf",
        "model_name": f"org/model-{model}",
        "model_name_sanitized": f"org__model-{model}",
    }
    path = folder / f"org__model-{model}" / f"results_{_stamp(model)}.json"
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
