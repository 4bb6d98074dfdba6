"""Writes the dumps of `make demo`: two models on two benchmarks, as
lm-evaluation-harness 0.4.13 lays them out. Everything is made up, and the same in every
run.

`sums` is generated text: three runs of each model with other seeds, two responses to
each prompt. `reading` is multiple choice: three questions on each passage, so its
questions come in clusters.

Usage: python docs/demo/make_results.py [FOLDER]
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Row = dict[str, Any]

#: ability in (sums, reading), in logits
MODELS = {"model-a": (1.6, 1.0), "model-b": (0.2, 0.6)}
STARTS = {
    "model-a": 1_772_600_400,
    "model-b": 1_772_686_800,
}  # Unix seconds of the first run
SEEDS = (101, 202, 303)
DAY = 86_400

N_SUMS = 66
N_PASSAGES, N_QUESTIONS = 30, 3
PASSAGE_SPREAD, QUESTION_SPREAD = (
    2.5,
    0.8,
)  # standard deviations of difficulty, in logits

NAMES = (
    "Ada",
    "Bela",
    "Cleo",
    "Dario",
    "Edda",
    "Femi",
    "Gita",
    "Hugo",
    "Ines",
    "Jonas",
)
THINGS = ("apples", "pens", "shells", "stamps", "tickets", "marbles", "cards", "nails")
TOWNS = (
    "Arlen",
    "Brisk",
    "Corvo",
    "Dunmere",
    "Elsby",
    "Farrow",
    "Glint",
    "Hollin",
    "Ivern",
    "Jay",
)
GOODS = (
    "rope",
    "honey",
    "glass",
    "paper",
    "salt",
    "wool",
    "copper",
    "ink",
    "barley",
    "tiles",
)
RIVERS = ("Ash", "Bourne", "Calder", "Dane", "Esk", "Frome", "Greta", "Hodder")
PARTS = ("", " Green", " Hill")

_COMMON = {
    "test_split": "test",
    "unsafe_code": False,
    "description": "",
    "target_delimiter": " ",
    "fewshot_delimiter": "\n\n",
    "num_fewshot": 0,
    "should_decontaminate": False,
}
SUMS_CONFIG = _COMMON | {
    "task": "sums",
    "dataset_path": "demo/sums",
    "doc_to_text": "{{question}}\nAnswer:",
    "doc_to_target": "{{answer}}",
    "output_type": "generate_until",
    "repeats": 2,
    "generation_kwargs": {
        "until": ["\n"],
        "do_sample": True,
        "temperature": 0.7,
        "max_gen_toks": 64,
    },
    "filter_list": [
        {
            "name": "strict-match",
            "filter": [
                {"function": "regex", "regex_pattern": "#### (\\-?[0-9]+)"},
                {"function": "take_first"},
            ],
        }
    ],
    "metric_list": [
        {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}
    ],
    "metadata": {"version": 1.0},
}
READING_CONFIG = _COMMON | {
    "task": "reading",
    "dataset_path": "demo/reading",
    "doc_to_text": "{{passage}}\n{{question}}",
    "doc_to_target": "label",
    "doc_to_choice": "choices",
    "output_type": "multiple_choice",
    "repeats": 1,
    "metric_list": [
        {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
        {"metric": "acc_norm", "aggregation": "mean", "higher_is_better": True},
    ],
    "metadata": {"version": 2.0},
}
CONFIGS: dict[str, dict[str, Any]] = {"sums": SUMS_CONFIG, "reading": READING_CONFIG}


# --- questions -------------------------------------------------------------------------------


def sums_docs() -> list[Row]:
    """Word problems with two steps."""
    rng = random.Random("sums")
    docs = []
    for number in range(N_SUMS):
        first, second = rng.sample(NAMES, 2)
        thing = rng.choice(THINGS)
        has, gets, gives = rng.randint(12, 60), rng.randint(3, 25), rng.randint(2, 11)
        question = (
            f"{first} has {has} {thing}, finds {gets} more and gives {gives} to "
            f"{second}. How many {thing} does {first} have now?"
        )
        answer = f"#### {has + gets - gives}"
        docs.append({"id": f"s{number}", "question": question, "answer": answer})
    return docs


def reading_docs() -> list[Row]:
    """Three questions on each of some short passages."""
    rng = random.Random("reading")
    return [doc for number in range(N_PASSAGES) for doc in _passage_docs(number, rng)]


def _passage_docs(number: int, rng: random.Random) -> Iterator[Row]:
    town = TOWNS[number % len(TOWNS)] + PARTS[number // len(TOWNS)]
    picked = {
        "Who founded it?": (NAMES, rng.choice(NAMES)),
        "What does it make?": (GOODS, rng.choice(GOODS)),
        "Which river is it on?": (RIVERS, rng.choice(RIVERS)),
    }
    founder, goods, river = (answer for _, answer in picked.values())
    passage = f"{founder} founded {town} on the {river}. It makes {goods}."
    for question, (pool, answer) in picked.items():
        choices = rng.sample([word for word in pool if word != answer], 3)
        label = rng.randrange(4)
        choices.insert(label, answer)
        yield {
            "passage": passage,
            "question": question,
            "choices": choices,
            "label": label,
        }


# --- answers ---------------------------------------------------------------------------------


def sums_rows(model: str, seed: int) -> list[Row]:
    """Two sampled responses to each problem, of which the first is scored."""
    ability = MODELS[model][0]
    rng = random.Random(f"{model} {seed}")
    rows = []
    for number, doc in enumerate(sums_docs()):
        chance = _logistic(ability - _difficulty("sums", number, 1.5))
        responses = [_worked(doc, rng.random() < chance, rng) for _ in range(2)]
        found = responses[0].rpartition("#### ")
        answer = found[2] if found[1] else "[invalid]"
        prompt = f"{doc['question']}\nAnswer:"
        settings = CONFIGS["sums"]["generation_kwargs"]
        correct = float(f"#### {answer}" == doc["answer"])
        rows.append(
            _row(number, doc, doc["answer"], [(prompt, settings)])
            | {"resps": [responses], "filtered_resps": [answer]}
            | _labels(
                "strict-match", {"exact_match": correct}, prompt, doc, doc["answer"]
            )
        )
    return rows


def reading_rows(model: str) -> list[Row]:
    """Log-likelihoods of the four options; the passage is as hard for one model as for
    another."""
    ability = MODELS[model][1]
    rng = random.Random(f"{model} reading")
    rows = []
    for number, doc in enumerate(reading_docs()):
        hard = _difficulty("passage", number // N_QUESTIONS, PASSAGE_SPREAD)
        right = rng.random() < _logistic(
            ability - hard - _difficulty("reading", number, QUESTION_SPREAD)
        )
        best = doc["label"] if right else (doc["label"] + rng.randint(1, 3)) % 4
        lls = [round(-rng.uniform(2.5, 9.0), 4) for _ in range(4)]
        lls[best] = round(-rng.uniform(0.2, 2.4), 4)
        prompt = f"{doc['passage']}\n{doc['question']}"
        pairs = [[str(ll), str(index == best)] for index, ll in enumerate(lls)]
        scores = {
            "acc": _picks(lls, doc),
            "acc_norm": _picks(_by_length(lls, doc), doc),
        }
        rows.append(
            _row(
                number,
                doc,
                str(doc["label"]),
                [(prompt, f" {c}") for c in doc["choices"]],
            )
            | {"resps": [[pair] for pair in pairs], "filtered_resps": pairs}
            | _labels("none", scores, prompt, doc, str(doc["label"]))
        )
    return rows


def _worked(doc: Row, right: bool, rng: random.Random) -> str:
    truth = int(doc["answer"].removeprefix("#### "))
    answer = truth if right else truth + rng.choice((-10, -2, -1, 1, 2, 10))
    if not right and rng.random() < 0.2:
        return f" About {answer}, I think."
    return f" {doc['question'].split()[0]} has {answer} left. #### {answer}"


def _picks(lls: Sequence[float], doc: Row) -> float:
    return float(max(range(len(lls)), key=lls.__getitem__) == doc["label"])


def _by_length(lls: Sequence[float], doc: Row) -> list[float]:
    return [ll / len(choice) for ll, choice in zip(lls, doc["choices"], strict=True)]


def _difficulty(kind: str, number: int, spread: float) -> float:
    return random.Random(f"{kind} {number}").gauss(0.0, spread)


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


# --- the harness's files ---------------------------------------------------------------------


def _row(
    number: int, doc: Row, target: str, requests: Sequence[tuple[str, Any]]
) -> Row:
    arguments = {
        f"gen_args_{index}": {"arg_0": prompt, "arg_1": rest}
        for index, (prompt, rest) in enumerate(requests)
    }
    return {"doc_id": number, "doc": doc, "target": target, "arguments": arguments}


def _labels(
    filter: str, scores: Mapping[str, float], prompt: str, doc: Row, target: str
) -> Row:
    return {
        "filter": filter,
        "metrics": list(scores),
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(prompt),
        "target_hash": _hash(target),
        **scores,
    }


def results(
    model: str, seed: int, date: float, samples: Mapping[str, list[Row]]
) -> Row:
    """The file of aggregates of one invocation."""
    return {
        "results": {task: _figures(task, rows) for task, rows in samples.items()},
        "group_subtasks": {task: [] for task in samples},
        "configs": {task: CONFIGS[task] for task in samples},
        "versions": {task: CONFIGS[task]["metadata"]["version"] for task in samples},
        "n-shot": dict.fromkeys(samples, 0),
        "higher_is_better": {
            task: dict.fromkeys(_metrics(task), True) for task in samples
        },
        "n-samples": {
            task: {"original": len(rows), "effective": len(rows)}
            for task, rows in samples.items()
        },
        "config": _config(model, seed),
        "git_hash": None,
        "date": date,
        "pretty_env_info": "made up for the demonstration",
        "transformers_version": "4.57.1",
        "lm_eval_version": "0.4.13",
        "upper_git_hash": None,
        "task_hashes": {task: _task_hash(rows) for task, rows in samples.items()},
        "model_source": "hf",
        "model_name": model,
        "model_name_sanitized": model,
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": None,
        "chat_template": None,
        "chat_template_sha": None,
        "total_evaluation_time_seconds": "61.5",
    }


def _config(model: str, seed: int) -> Row:
    return {
        "model": "hf",
        "model_args": {"pretrained": model, "dtype": "bfloat16"},
        "model_num_parameters": 1_000_000_000,
        "model_dtype": "torch.bfloat16",
        "model_revision": "main",
        "model_sha": _hash(model)[:40],
        "batch_size": 16,
        "batch_sizes": [],
        "device": "cuda:0",
        "use_cache": None,
        "limit": None,
        "bootstrap_iters": 100000,
        "gen_kwargs": {},
        "random_seed": 0,
        "numpy_seed": 1234,
        "torch_seed": seed,
        "fewshot_seed": 1234,
    }


def _figures(task: str, rows: Sequence[Row]) -> Row:
    found: Row = {"name": task, "alias": task, "sample_len": len(rows)}
    for metric in _metrics(task):
        values = [row[metric] for row in rows]
        key = f"{metric},{rows[0]['filter']}"
        found[key] = statistics.fmean(values)
        found[key.replace(metric, f"{metric}_stderr")] = statistics.stdev(
            values
        ) / math.sqrt(len(values))
    return found


def _metrics(task: str) -> list[str]:
    return [entry["metric"] for entry in CONFIGS[task]["metric_list"]]


def _task_hash(rows: Sequence[Row]) -> str:
    return _hash(
        "".join(r["doc_hash"] + r["prompt_hash"] + r["target_hash"] for r in rows)
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_run(
    folder: Path, model: str, seed: int, date: float, samples: Mapping[str, list[Row]]
) -> None:
    """One invocation: a results file and one file of samples for each task."""
    ended = datetime.fromtimestamp(date + 61.5, UTC).replace(tzinfo=None)
    stamp = ended.isoformat().replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(
        results(model, seed, date, samples), indent=2, ensure_ascii=False
    )
    (folder / f"results_{stamp}.json").write_text(document, encoding="utf-8")
    for task, rows in samples.items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"samples_{task}_{stamp}.jsonl").write_text(lines, encoding="utf-8")


def main(folder: Path) -> None:
    """All runs: the first of each model has both tasks, the later ones repeat the
    sampled one."""
    for model, start in STARTS.items():
        for turn, seed in enumerate(SEEDS):
            samples = {"sums": sums_rows(model, seed)}
            if turn == 0:
                samples["reading"] = reading_rows(model)
            write_run(folder / model, model, seed, start + turn * DAY + 0.25, samples)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "results")
