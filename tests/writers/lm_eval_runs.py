"""Writes ``tests/data/lm_eval/v0_4_13_chat`` with the real package.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install lm-eval==0.4.13
    cp tests/writers/lm_eval_runs.py /tmp && cd /tmp
    /tmp/venv/bin/python lm_eval_runs.py FOLDER

What a run of a chat model looks like: a group with a weighted mean, prompts of several
messages, a filter over several responses, options that stand in the prompt, and the
last word of a text. A model of our own answers out of the prompt; torch is not needed.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

TASKS = {
    "quiz_maps": {
        "group": "quiz",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "label",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
        "metadata": {"version": 2},
    },
    "quiz_seas": {"like": "quiz_maps"},
    "sums_chat": {
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "num_fewshot": 2,
        "fewshot_config": {
            "sampler": "first_n",
            "samples": [{"question": f"{n}+0?", "answer": str(n)} for n in (1, 2, 3)],
        },
        "repeats": 3,
        "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 0.5},
        "metric_list": [
            {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}
        ],
        "filter_list": [
            {
                "name": name,
                "filter": [
                    {"function": "regex", "regex_pattern": "(\\d+)"},
                    *more,
                    {"function": "take_first"},
                ],
            }
            for name, more in (
                ("first", []),
                ("maj@3", [{"function": "majority_vote"}]),
            )
        ],
        "metadata": {"version": 1},
    },
    "pronouns": {
        "output_type": "multiple_choice",
        "doc_to_text": "label",
        "doc_to_choice": "{{[start + ' Ann', start + ' Bob']}}",
        "doc_to_target": "{{end}}",
        "metric_list": [{"metric": "acc"}],
        "metadata": {"version": 1},
    },
    "last_word": {
        "output_type": "loglikelihood",
        "doc_to_text": "{{start}}",
        "doc_to_target": " {{end}}",
        "metric_list": [{"metric": "perplexity"}, {"metric": "acc"}],
        "metadata": {"version": 1},
    },
}
DOCS = {
    "quiz_maps": [
        {"question": f"Map {n}?", "choices": ["here", "there", "away"], "label": n % 3}
        for n in range(5)
    ],
    "quiz_seas": [
        {"question": f"Sea {n}?", "choices": ["wide", "deep"], "label": n % 2}
        for n in range(3)
    ],
    "sums_chat": [{"question": f"{n}+{n}?", "answer": str(2 * n)} for n in range(4)],
    "pronouns": [
        {"start": f"Call {n}:", "end": "will answer.", "label": n % 2} for n in range(3)
    ],
    "last_word": [
        {"start": f"Once {n} upon a", "end": "time" if n % 2 else "midnight"}
        for n in range(3)
    ],
}


@register_model("scripted")
class Scripted(LM):
    """Likelihoods and answers by a checksum of what was asked."""

    tokenizer_name = "org/scripted"

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):
        return cls()

    def loglikelihood(self, requests, disable_tqdm=False):
        pairs = [request.args for request in requests]
        return [
            (-(zlib.crc32(repr(pair).encode()) % 4096) / 512, len(pair[1]) % 2 == 0)
            for pair in pairs
        ]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return [-float(len(request.args[0])) for request in requests]

    def generate_until(self, requests, disable_tqdm=False):
        said = []
        for place, request in enumerate(requests):
            question = json.loads(
                request.args[0].prompt
                if hasattr(request.args[0], "prompt")
                else request.args[0]
            )
            number = int(question[-1]["content"].partition("+")[0])
            # of three responses in turn, the second is wrong; of the last question two
            # are
            wrong = place % 3 == 1 or (number == 3 and place % 3 == 0)
            said.append(f"It is {2 * number + wrong}.")
        return said

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return json.dumps(chat_history)

    def chat_template(self, chat_template=False):
        return "{{ messages | tojson }}"


def settings(name: str) -> dict:
    own = dict(TASKS[TASKS[name].get("like", name)])
    own.pop("group", None)
    return own | {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"data/{name}.jsonl"}},
        "test_split": "test",
    }


def main(folder: Path) -> None:
    work = folder.absolute()
    Path("data").mkdir(exist_ok=True)
    Path("tasks").mkdir(exist_ok=True)
    for name, docs in DOCS.items():
        Path("data", f"{name}.jsonl").write_text(
            "".join(json.dumps(doc) + "\n" for doc in docs)
        )
        Path("tasks", f"{name}.yaml").write_text(
            json.dumps(settings(name))
        )  # JSON is YAML
    group = {
        "group": "quiz",
        "task": ["quiz_maps", "quiz_seas"],
        "aggregate_metric_list": [
            {"metric": "acc", "aggregation": "mean", "weight_by_size": True}
        ],
        "metadata": {"version": 4},
    }
    Path("tasks", "quiz.yaml").write_text(json.dumps(group))
    tracker = EvaluationTracker(output_path=str(work))
    results = simple_evaluate(
        model="scripted",
        model_args="pretrained=org/scripted,revision=step2000",
        tasks=["quiz", "sums_chat", "pronouns", "last_word"],
        task_manager=TaskManager(include_path="tasks", include_defaults=False),
        evaluation_tracker=tracker,
        apply_chat_template=True,
        fewshot_as_multiturn=True,
        system_instruction="Be brief.",
        log_samples=True,
        bootstrap_iters=100,
    )
    samples = results.pop("samples")
    results["pretty_env_info"] = "OS: any"  # else a page about the machine
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])


if __name__ == "__main__":
    os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
    main(Path(sys.argv[1]))
