"""Writes ``tests/data/bigbench`` with the real package: ``evaluate_task`` runs tasks
made here on a model made here, in place of its dummy model. Libraries for metrics and
models that are not used (tensorflow, t5, datasets, transformers and others) are stubs.

python -m venv /tmp/venv
/tmp/venv/bin/pip install --no-deps bigbench==1.0.0
/tmp/venv/bin/pip install absl-py immutabledict "numpy<2" scikit-learn scipy
/tmp/venv/bin/python tests/writers/bigbench_logs.py FOLDER
"""

from __future__ import annotations

import glob
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

for name in (
    *(
        "tensorflow",
        "tensorflow.compat",
        "tensorflow.compat.v1",
        "tensorflow.compat.v2",
        "datasets",
        "t5",
    ),
    *("t5.evaluation", "transformers", "requests", "requests_unixsocket"),
):
    sys.modules.setdefault(name, MagicMock())
files = sys.modules["tensorflow"].compat.v2.io.gfile
files.GFile, files.isdir, files.glob = open, os.path.isdir, glob.glob

import absl.flags  # noqa: E402
import bigbench.benchmark_tasks  # noqa: E402
import scipy.special  # noqa: E402
from bigbench import evaluate_task  # noqa: E402
from bigbench.api import model as model_api  # noqa: E402
from bigbench.api import results, util  # noqa: E402
from bigbench.models import dummy_model, model_utils  # noqa: E402

CAPITALS = {"France": "Paris", "Spain": "Madrid", "Peru": "Lima"}


class Tiny(model_api.Model):
    """Knows two capitals; likes options by their length, the shortest best."""

    def generate_text(
        self,
        inputs: Any,
        max_length: Any = None,
        stop_string: Any = None,
        output_regex: Any = None,
    ) -> Any:
        if isinstance(inputs, list):
            return [
                self.generate_text(item, max_length, stop_string, output_regex)
                for item in inputs
            ]
        asked = inputs.rpartition("Q:")[2]
        place = next((name for name in CAPITALS if name in asked), "nowhere")
        said = {"France": "Paris", "Spain": "Barcelona"}.get(place, "Lima")
        return model_utils.postprocess_output(
            f"{said}; as {len(inputs)}", max_length, stop_string, output_regex
        )

    def cond_log_prob(
        self, inputs: Any, targets: Any, absolute_normalization: Any = False
    ) -> Any:
        if not isinstance(inputs, list):
            return self.cond_log_prob([inputs], [targets], absolute_normalization)[0]
        found = [
            [-len(text) / 4 - len(asked) / 1024 for text in options]
            for asked, options in zip(inputs, targets, strict=True)
        ]
        if absolute_normalization:
            return found
        return [list(row - scipy.special.logsumexp(row)) for row in found]

    def model_data(self) -> model_api.ModelData:
        return model_api.ModelData(
            model_family="TINY T=0.5",
            model_name="3m",
            total_params=3000,
            training_steps=700,
            non_embedding_params=2000,
            flop_matched_non_embedding_params=1500,
            training_batch_size=48,
            description="a model of tests",
            decoding_params={"temperature": 0.5, "top_k": 9},
            additional_details="none",
        )


def task(
    name: str, preferred: str, metrics: list[str], examples: list[Any]
) -> dict[str, Any]:
    return {
        "canary": "none",
        "name": name,
        "description": f"on {name}",
        "keywords": ["test"],
        "preferred_score": preferred,
        "metrics": metrics,
        "examples": examples,
        "task_prefix": "Say it. ",
    }


def tasks() -> dict[str, dict[str, Any]]:
    asked = [
        {"input": f"Capital of {name}?", "target": [capital, capital.upper()]}
        for name, capital in CAPITALS.items()
    ]
    one = [
        {"input": row["input"], "target": row["target"][0] + " it is"} for row in asked
    ]
    options = {
        "one": {"yes": 1, "never": 0},
        "two": {"oh yes": 1, "no": 0.25},
        "three": {"a": 0, "bb": 0.5, "ccc": 1},
    }
    chosen = [
        {
            "input": f"{number}?",
            "target": max(scores, key=lambda text: scores[text]),
            "target_scores": scores,
        }
        for number, scores in options.items()
    ]
    both = "multiple_choice_grade"
    return {
        "made_capitals": task(
            "made_capitals",
            "exact_str_match",
            ["exact_str_match", "log_likelihood"],
            asked,
        ),
        "made_numbers": {
            **{
                key: value
                for key, value in task("made_numbers", "", [], []).items()
                if key not in ("examples", "metrics", "preferred_score", "task_prefix")
            },
            "subtasks": [
                task("small", both, [both], chosen),
                task(
                    "large",
                    both,
                    [both, "exact_str_match"],
                    [{**row, "input": f"big {row['input']}"} for row in chosen],
                ),
                task(
                    "likely",
                    "log_likelihood",
                    ["log_likelihood", "exact_str_match"],
                    one,
                ),
            ],
        },
    }


def main(folder: Path) -> None:
    dummy_model.DummyModel = Tiny
    util.add_aggregate_scores = results.add_aggregate_scores  # 1.0.0 looks for it there
    with tempfile.TemporaryDirectory() as made:
        bigbench.benchmark_tasks.__path__.append(made)
        for name, content in tasks().items():
            place = Path(made) / name
            place.mkdir()
            (place / "__init__.py").write_text("")
            subtasks = content.pop("subtasks", [])
            (place / "task.json").write_text(json.dumps(content))
            for part in subtasks:
                (place / part["name"]).mkdir()
                (place / part["name"] / "task.json").write_text(json.dumps(part))
            absl.flags.FLAGS.unparse_flags()
            absl.flags.FLAGS(
                [
                    "evaluate_task",
                    "--models=dummy",
                    f"--task={name}",
                    "--json_shots=0,2",
                    f"--output_dir={folder.resolve()}",
                ]
            )
            evaluate_task.main(None)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
