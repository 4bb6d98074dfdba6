"""Writes the work folder of ``tests/data/opencompass`` with the tasks and the
summarizer of OpenCompass itself.

    python -m venv env env/bin/pip install 'datasets<4' torch mmengine-lite==0.11.0rc3
    pandas scipy tabulate env/bin/pip install --no-deps opencompass==0.5.4
    env/bin/python tests/writers/opencompass_work.py OUT

Stand-ins take the place of what only loads and runs models, and of the data sets that
the package knows: a model and data sets of our own are asked. What is written, and in
which form, is up to inferencers, evaluators and tasks.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType

STAMP = "20261125_101112"
OURS = ("opencompass", "mmengine", "datasets", "numpy", "scipy", "pandas", "tabulate")


class _StandIn(ModuleType):
    """A module of which any name can be imported: a class that does nothing."""

    __path__: list[str] = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(name, (), {"__init__": lambda self, *args, **more: None})
        setattr(self, name, found)
        return found


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what nothing else found, when OpenCompass asks for it, and its data sets."""

    def find_spec(self, name, path=None, target=None):
        caller = sys._getframe()
        while (
            caller
            and "importlib" in caller.f_code.co_filename
            or caller.f_code.co_filename == __file__
        ):
            caller = caller.f_back
        asked = "opencompass" in caller.f_code.co_filename and not name.startswith(OURS)
        wanted = (
            asked
            or name.startswith("opencompass.datasets")
            or name.partition(".")[0] in STOOD_IN
        )
        if wanted:
            STOOD_IN.add(name.partition(".")[0] if asked else name)
        return (
            importlib.machinery.ModuleSpec(name, self, is_package=True)
            if wanted
            else None
        )

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        pass


STOOD_IN: set[str] = set()


def register():
    """Model, data sets and evaluators of our own."""
    import numpy as np
    from datasets import Dataset, DatasetDict
    from opencompass.models.base import BaseModel
    from opencompass.models.base_api import APITemplateParser
    from opencompass.openicl import DatasetReader
    from opencompass.openicl.icl_evaluator import BaseEvaluator
    from opencompass.registry import ICL_EVALUATORS, LOAD_DATASET, MODELS

    @MODELS.register_module()
    class Scripted(BaseModel):
        """Says the sum that the prompt asks for, and of three questions one wrong;
        likes long options."""

        def __init__(self, rollout=False, **settings):
            super().__init__(**settings)
            self.is_api = bool(settings.get("meta_template"))
            if self.is_api:
                self.template_parser = APITemplateParser(settings["meta_template"])
            self.rollout, self.asked = rollout, 0

        def generate(self, inputs, max_out_len=512):
            said = []
            for prompt in inputs:
                one, other = (
                    int(word)
                    for word in re.search(r"(\d+)\+(\d+)", str(prompt)).groups()
                )
                self.asked += 1
                answer = f"{one + other + (self.asked % 3 == 0)}"
                rollout = {
                    "token_logprobs": [-0.5, -0.25],
                    "sum_neg_logprob": 0.75,
                    "num_tokens": 2 + self.asked,
                    "finish_reason": "stop" if self.asked % 2 else "length",
                }
                said.append(
                    {"prediction": answer, "rollout": rollout}
                    if self.rollout
                    else answer
                )
            return said

        def get_ppl(self, inputs, mask_length=None):
            return np.array([64.0 / len(str(item)) for item in inputs])

        def get_token_len(self, prompt):
            return len(str(prompt).split())

    class Ours:
        """The part of ``BaseDataset`` that repeats a data set, as 0.5.4 has it."""

        def __init__(self, reader_cfg, k=1, n=1, abbr="", rows=(), **more):
            made = Dataset.from_list(
                [
                    dict(row) | {"subdivision": abbr, "idx": i}
                    for i, row in enumerate(rows)
                ]
                * n
            )
            self.reader = DatasetReader(
                DatasetDict(train=made, test=made), **reader_cfg
            )

        train = property(lambda self: self.reader.dataset["train"])
        test = property(lambda self: self.reader.dataset["test"])

    LOAD_DATASET.register_module(module=Ours)

    @ICL_EVALUATORS.register_module()
    class Agreement(BaseEvaluator):
        """A figure without details: the task writes these."""

        def score(self, predictions, references):
            equal = sum(
                one == other for one, other in zip(predictions, references, strict=True)
            )
            return {"accuracy": 100 * equal / len(predictions)}

    @ICL_EVALUATORS.register_module()
    class Failing(BaseEvaluator):
        def score(self, predictions, references):
            return {"error": "predictions and references have different length"}


TALK = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ]
}
#: Models, and the data sets that each is asked.
ASKED = [
    (
        {"abbr": "tiny-api", "path": "org/tiny", "meta_template": TALK},
        ["sums", "sums_twice", "failed"],
    ),
    ({"abbr": "tiny-base", "path": "org/tiny-base"}, ["words"]),
    (
        {
            "abbr": "tiny-rollout",
            "path": "org/tiny",
            "meta_template": TALK,
            "rollout": True,
        },
        ["sums"],
    ),
]
MODEL = {
    "type": "Scripted",
    "max_out_len": 77,
    "batch_size": 2,
    "generation_kwargs": {"temperature": 0.25},
}
SUMS = [{"question": f"{n}+{n}?", "answer": [str(2 * n)]} for n in range(1, 5)]
WORDS = [
    {"question": f"Word {n}", "answer": "AB"[n % 2], "A": "a", "B": "b" * n}
    for n in range(3)
]


def chat(text: str) -> dict:
    return {"round": [{"role": "HUMAN", "prompt": text}]}


def data_set(
    abbr: str, rows: list[dict], evaluator: str, inferencer: str, template, **more
) -> dict:
    return {
        "type": "Ours",
        "abbr": abbr,
        "path": abbr,
        "rows": rows,
        "reader_cfg": {
            "input_columns": [name for name in rows[0] if name != "answer"],
            "output_column": "answer",
        },
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": template},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": inferencer},
        },
        "eval_cfg": {"evaluator": {"type": evaluator}},
        **more,
    }


def data_sets() -> list[dict]:
    asked = chat("Add: {question}")
    return [
        data_set("sums", SUMS, "EMEvaluator", "GenInferencer", asked),
        data_set("sums_twice", SUMS, "EMEvaluator", "GenInferencer", asked, n=2, k=2),
        data_set("failed", SUMS[:2], "Failing", "GenInferencer", asked),
        data_set(
            "words",
            WORDS,
            "Agreement",
            "PPLInferencer",
            {label: f"{{question}} is {{{label}}}" for label in "AB"},
        ),
    ]


def main(folder: Path) -> None:
    sys.meta_path.append(StandIns())
    sys.meta_path.insert(0, _DataSets())
    register()
    from mmengine.config import Config
    from opencompass.summarizers.default import DefaultSummarizer
    from opencompass.tasks.openicl_eval import OpenICLEvalTask
    from opencompass.tasks.openicl_infer import OpenICLInferTask

    work = folder / STAMP
    sets = {item["abbr"]: item for item in data_sets()}
    with tempfile.TemporaryDirectory() as scratch:
        for model, names in ASKED:
            settings = {
                "models": [MODEL | model],
                "datasets": [[sets[name] for name in names]],
                "work_dir": str(Path(scratch, STAMP)),
                "infer": {"runner": {"task": {"dump_res_length": True}}},
                "eval": {"runner": {"task": {"dump_details": True}}},
            }
            OpenICLInferTask(Config(json.loads(json.dumps(settings)))).run()
            OpenICLEvalTask(Config(json.loads(json.dumps(settings)))).run()
        models = [MODEL | model for model, _ in ASKED]
        whole = Config(
            {
                "models": models,
                "datasets": list(sets.values()),
                "work_dir": str(Path(scratch, STAMP)),
            }
        )
        groups = [
            {
                "name": "all-sums",
                "subsets": [
                    ["sums", "score"],
                    ["sums_twice", "score (2 runs average)"],
                ],
            }
        ]
        DefaultSummarizer(whole, summary_groups=groups).summarize(time_str=STAMP)
        Path(scratch, STAMP, "configs").mkdir()
        whole.pop("work_dir")
        whole.dump(Path(scratch, STAMP, "configs", f"{STAMP}_7.py"))
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(
            Path(scratch, STAMP), work, ignore=shutil.ignore_patterns("*.md", "*.txt")
        )


class _DataSets(StandIns):
    """The data sets of the package, before the package is asked for them."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("opencompass.datasets"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
