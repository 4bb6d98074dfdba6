"""Writes ``tests/data/openai_evals`` with the real package: its command ``oaieval`` runs evals of a
registry made here, against completion functions made here.

python -m venv /tmp/venv
/tmp/venv/bin/pip install --no-deps evals==3.0.1.post1
/tmp/venv/bin/pip install anthropic backoff blobfile filelock fire google-generativeai lz4 mock \
    numpy openai pandas pydantic pyyaml pyzstd requests snowflake-connector-python termcolor \
    tiktoken tqdm zstandard
OPENAI_API_KEY=none EVALS_SEQUENTIAL=1 PYTHONPATH=tests/writers \
    /tmp/venv/bin/python tests/writers/openai_evals_logs.py FOLDER
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import evals
import evals.metrics
import yaml
from evals.api import CompletionResult
from evals.cli.oaieval import get_parser, run
from evals.record import record_sampling

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Peru": "Lima", "Chile": "Santiago"}


class Said(CompletionResult):
    def __init__(self, text: str) -> None:
        self.text = text

    def get_completions(self) -> list[str]:
        return [self.text]


class Pupil:
    """Knows two capitals, and writes a line about anything else."""

    def __init__(self, model: str, registry: Any = None) -> None:
        self.model = model

    def __call__(self, prompt: Any, **settings: Any) -> Said:
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        place = next((name for name in CAPITALS if name in text), "")
        known = {"France": "Paris, of course", "Spain": "Barcelona", "Peru": "Lima"}
        said = known.get(place, f"a line on {text.split()[-1]}")
        record_sampling(
            prompt=prompt,
            sampled=[said],
            model=f"{self.model}-0613",
            usage={
                "prompt_tokens": len(text),
                "completion_tokens": len(said),
                "total_tokens": len(text) + len(said),
            },
        )
        return Said(said)


class Judge(Pupil):
    """Likes every line but that on rain, on which it says nothing that can be read."""

    def __call__(self, prompt: Any, **settings: Any) -> Said:
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        said = (
            "Well"
            if "line on rain" in text
            else "No"
            if "line on snow" in text
            else "Yes"
        )
        record_sampling(
            prompt=prompt,
            sampled=said,
            model=f"{self.model}-0314",
            usage={
                "prompt_tokens": 1000,
                "completion_tokens": 2000,
                "total_tokens": 3000,
            },
        )
        return Said(said)


class Mixed(evals.Eval):
    """Every kind of event that there is a function for."""

    def eval_sample(self, sample: dict[str, Any], rng: Any) -> None:
        evals.record.record_raw(sample)
        if "fails" in sample:
            evals.record.record_error(
                "the model is out", ValueError("no route"), code=7
            )
            return
        for turn in sample["turns"]:
            self.completion_fn(prompt=[{"role": "user", "content": turn}])
            evals.record.record_match(
                turn.endswith("sea"),
                expected="salt",
                picked=f"({turn})",
                options=["salt", "sweet"],
            )
        for place, option in enumerate(("salt", "sweet")):
            evals.record.record_cond_logp(sample["turns"][0], option, -0.25 - place)
        evals.record.record_pick_option(sample["turns"][0], ["salt", "sweet"], "sweet")
        evals.record.record_embedding("ignored", "small")
        evals.record.record_function_call("look", {"at": 1}, "seen")
        evals.record.record_extra({"walked": 3})
        evals.record.record_metrics(
            taste=len(sample["turns"]) / 4,
            fresh=True,
            colour="blue",
            depth=float("nan"),
        )

    def run(self, recorder: Any) -> dict[str, Any]:
        self.eval_all_samples(recorder, self.get_samples())
        found = recorder.get_metrics()
        return {
            "accuracy": evals.metrics.get_accuracy(recorder.get_events("match")),
            "taste": sum(item["taste"] for item in found) / len(found),
            "by_colour": {"blue": len(found)},
        }


def registry(folder: Path) -> None:
    def lines(name: str, rows: list[dict[str, Any]]) -> str:
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    def chat(text: str) -> list[dict[str, str]]:
        return [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": text},
        ]

    asked = [
        {"input": chat(f"Capital of {name}?"), "ideal": capital}
        for name, capital in CAPITALS.items()
    ]
    shots = [
        {
            "sample": [
                {"role": "system", "name": "example_user", "content": "Italy?"},
                {"role": "system", "name": "example_assistant", "content": "Rome"},
            ]
        }
    ]
    topics = [
        {"input": f"Write a line on {topic}"} for topic in ("sun", "rain", "snow")
    ]
    tasted = [
        {"turns": ["the sea", "a lake", "a river"]},
        {"turns": ["a red sea"]},
        {"fails": True, "turns": []},
    ]
    specs = {
        "capitals": {"id": "capitals.test.v1", "metrics": ["accuracy"]},
        "capitals.test.v1": {
            "class": "evals.elsuite.basic.match:Match",
            "args": {
                "samples_jsonl": lines("quiz/capitals.jsonl", asked),
                "num_few_shot": 1,
                "few_shot_jsonl": lines("quiz/shots.jsonl", shots),
                "max_tokens": 77,
            },
        },
        "fuzzy": {"id": "fuzzy.val.v2", "metrics": ["f1_score"]},
        "fuzzy.val.v2": {
            "class": "evals.elsuite.basic.fuzzy_match:FuzzyMatch",
            "args": {"samples_jsonl": "quiz/capitals.jsonl"},
        },
        "lines": {"id": "lines.dev.v0", "metrics": ["score"]},
        "lines.dev.v0": {
            "class": "evals.elsuite.modelgraded.classify:ModelBasedClassify",
            "args": {
                "samples_jsonl": lines("quiz/topics.jsonl", topics),
                "modelgraded_spec": "liked",
                "eval_type": "classify",
            },
        },
        "mixed": {"id": "mixed.test.match-v3", "metrics": ["taste"]},
        "mixed.test.match-v3": {
            "class": "openai_evals_logs:Mixed",
            "args": {"samples_jsonl": lines("quiz/mixed.jsonl", tasted)},
        },
    }
    liked = {
        "liked": {
            "prompt": "Is it good? {completion}\nYes or No",
            "input_outputs": {"input": "completion"},
            "choice_strings": ["Yes", "No"],
            "choice_scores": {"Yes": 1.0, "No": 0.25},
        }
    }
    functions = {
        "tiny": {"class": "openai_evals_logs:Pupil", "args": {"model": "tiny"}},
        "judge": {"class": "openai_evals_logs:Judge", "args": {"model": "judge"}},
    }
    for kind, content in (
        ("evals", specs),
        ("modelgraded", liked),
        ("completion_fns", functions),
    ):
        (folder / kind).mkdir()
        (folder / kind / "made.yaml").write_text(
            yaml.safe_dump(content, sort_keys=False)
        )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        registry(Path(made))
        for functions, name, more in (
            (
                "tiny",
                "capitals",
                ["--seed", "31", "--extra_eval_params", "max_tokens=78"],
            ),
            ("tiny", "fuzzy", ["--max_samples", "3"]),
            ("tiny,judge", "lines", []),
            ("tiny", "mixed", []),
        ):
            command = [
                functions,
                name,
                "--registry_path",
                made,
                "--user",
                "writer",
                "--record_path",
                str(folder / f"{functions}_{name}.jsonl"),
                *more,
            ]
            sys.argv = ["oaieval", *command]
            run(get_parser().parse_args(command))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
