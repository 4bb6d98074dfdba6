"""Writes ``tests/data/lighteval`` with the tracker of lighteval itself.

    python -m venv env
    env/bin/pip install datasets pydantic pyyaml 'xxhash<3.6' GitPython numpy
    env/bin/pip install --no-deps lighteval==0.13.0        # and, in another one, 0.10.0
    env/bin/python tests/writers/lighteval_details.py OUT

Stand-ins take the place of what only loads and runs models (torch, transformers …) and
of the metrics: nothing here calls them. Documents, answers and scores are made up;
every field has a value of its own. What is written, and in which form, is up to the
tracker.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

NOT_NEEDED = (
    "torch", "transformers", "accelerate", "inspect_ai", "pytablewriter", "aenum",
    "lighteval.metrics.metrics", "lighteval.metrics.metrics_sample",
    "lighteval.metrics.dynamic_metrics", "requests",
    "lighteval.metrics.metrics_corpus",
    "lighteval.tasks.prompt_manager", "lighteval.data", "nltk", "scipy", "sklearn",
)  # fmt: skip


class _StandIn(ModuleType):
    """A module of which any name can be imported: a class that does nothing."""

    __path__: list[str] = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(
            name, (), {"__class_getitem__": classmethod(lambda cls, item: cls)}
        )
        setattr(self, name, found)
        return found


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are not needed."""

    def find_spec(self, name, path=None, target=None):
        wanted = any(
            name == known or name.startswith(f"{known}.") for known in NOT_NEEDED
        )
        return (
            importlib.machinery.ModuleSpec(name, self, is_package=True)
            if wanted
            else None
        )

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        pass


def mean(values):
    return sum(values) / len(values)


def corpus_f1(values):
    return 0.625


def perplexity(values):
    import math

    return math.exp(
        -sum(item.logprobs for item in values) / sum(item.weights for item in values)
    )


AGGREGATIONS = {"acc": mean, "acc_norm": mean, "extractive_match": mean, "maj@n:n=2": mean,
                "avg@n:n=2": mean, "judge_score_judy": mean, "mf1": corpus_f1,
                "word_perplexity": perplexity}  # fmt: skip


class Task:
    def __init__(self, config):
        self.config = config

    def aggregation(self):
        return AGGREGATIONS


def save(tracker, tasks):
    for name, task in tasks.items():
        tracker.versions_logger.log(name, task.config.version)
    tracker.details_logger.aggregate()
    tracker.metrics_logger.aggregate(tasks, bootstrap_iters=1000)
    tracker.task_config_logger.tasks_configs = {
        name: task.config for name, task in tasks.items()
    }
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        del sys.modules[name]  # datasets would ask it questions
    tracker.general_config_logger.log_end_time()
    tracker.save()


def choices_of(number: int, place: int) -> list[str]:
    return [
        f" right {number}.{place}",
        f" wrong {number}.{place}",
        f" odd {number}.{place}",
    ]


def write_new(out: Path) -> None:
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.metrics.sample_preparator import (
        GenerativeCorpusMetricInput,
        PerplexityCorpusMetricInput,
    )
    from lighteval.metrics.utils.metric_utils import Metric
    from lighteval.models.abstract_model import ModelConfig
    from lighteval.models.model_input import GenerationParameters
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval.tasks.requests import Doc, SamplingMethod

    class TransformersModelConfig(ModelConfig):
        revision: str = "step77"
        dtype: str = "bfloat16"
        max_length: int = 2048
        batch_size: int = 3
        use_chat_template: bool = True

    tracker = EvaluationTracker(output_dir=str(out))
    general = tracker.general_config_logger
    general.log_args_info(num_fewshot_seeds=1, max_samples=4, job_id="job-9")
    general.log_model_info(TransformersModelConfig(
        model_name="org/tiny", system_prompt="Be brief.",
        generation_parameters=GenerationParameters(
            temperature=0.5, top_p=0.75, top_k=3, max_new_tokens=31, seed=5, min_p=0.125),
    ))  # fmt: skip

    def metric(name, better=True, category=SamplingMethod.GENERATIVE):
        return Metric(name, better, category, print, AGGREGATIONS[name])

    def task(name, shots, metrics, **more):
        config = LightevalTaskConfig(
            name=name, prompt_function=choices_of, hf_repo="org/data", hf_subset=f"sub {name}",
            metrics=metrics, hf_revision="abc123", evaluation_splits=["test"],
            few_shots_split="dev", few_shots_select="sequential", generation_size=17,
            stop_sequence=["\n"], version=3, num_fewshots=shots, **more,
        )  # fmt: skip
        config.original_num_docs, config.effective_num_docs = 9, 4
        return Task(config)

    both = [metric("acc", category=SamplingMethod.LOGPROBS),
            metric("acc_norm", category=SamplingMethod.LOGPROBS)]  # fmt: skip
    tasks = {
        "quiz:maps|2": task("quiz:maps", 2, both),
        "quiz:seas|2": task("quiz:seas", 2, both),
        "essay|0": task("essay", 0, [metric(name) for name in (
            "extractive_match", "maj@n:n=2", "avg@n:n=2", "judge_score_judy", "mf1")]),
        "wiki|0": task("wiki", 0, [metric("word_perplexity", False, SamplingMethod.PERPLEXITY)]),
    }  # fmt: skip

    def log(name, doc, response, metrics):
        tracker.details_logger.log(name, doc, response, metrics)
        tracker.metrics_logger.log(name, metrics)

    shot = Doc(
        query="shot?", choices=[" yes"], gold_index=0, id="77", task_name="quiz:maps|2"
    )
    for number, name in enumerate(("quiz:maps|2", "quiz:seas|2")):
        for place in range(4):
            doc = Doc(
                query=f"question {number}.{place}", choices=choices_of(number, place),
                gold_index=place % 2, instruction="Choose.", id=str(place), task_name=name,
                specific={"topic": f"topic {place % 2}"}, unconditioned_query="Answer:",
                original_query=f"original {number}.{place}", fewshot_samples=[shot],
                sampling_methods=[SamplingMethod.LOGPROBS], generation_size=17,
                stop_sequences=["\n"],
            )  # fmt: skip
            response = ModelResponse(
                input=[{"role": "user", "content": f"sent {number}.{place}"}],
                input_tokens=[1] * (10 + place), output_tokens=[[5], [6, 7], [8, 9, 10]],
                logprobs=[-1.0 - place, -2.25, -4.5], argmax_logits_eq_gold=[True, False, False],
                unconditioned_logprobs=[-8.0, -9.0 - place, -10.0],
            )  # fmt: skip
            log(
                name,
                doc,
                response,
                {"acc": int(place > number), "acc_norm": 1.0 * (place != 1)},
            )
    for place in range(4):
        doc = Doc(
            query=f"write {place}", choices=[f"gold {place}", f"also {place}"], gold_index=[0, 1],
            id=str(place), task_name="essay|0", sampling_methods=[SamplingMethod.GENERATIVE],
            num_samples=2, use_logits=False,
        )  # fmt: skip
        response = ModelResponse(
            input=f"sent write {place}", input_tokens=[2] * (20 + place),
            text=[f"<think>hm</think>first {place}", f"second {place}"],
            text_post_processed=[f"first {place}", f"second {place}"], reasonings=["hm", None],
            output_tokens=[[1] * (30 + place), [1] * (40 + place)], truncated_tokens_count=place,
        )  # fmt: skip
        log("essay|0", doc, response, {
            "extractive_match": float(place == 2), "maj@n:n=2": 1, "avg@n:n=2": place / 3,
            "judge_score_judy": 6.0 + place, "judgement_judy": f"good {place}",
            "user_prompt_judy": "rate it",
            "mf1": GenerativeCorpusMetricInput(golds=[f"gold {place}"], preds=[f"first {place}"]),
        })  # fmt: skip
        doc = Doc(query=f"text {place}", choices=[], gold_index=[], id=str(place),
                  task_name="wiki|0", sampling_methods=[SamplingMethod.PERPLEXITY])  # fmt: skip
        response = ModelResponse(input=f"text {place}", input_tokens=[3] * (50 + place),
                                 logprobs=[-1.5, -2.5 - place])  # fmt: skip
        log("wiki|0", doc, response, {
            "word_perplexity": PerplexityCorpusMetricInput(logprobs=-4.0 - place, weights=2 + place)
        })  # fmt: skip
    for name in ("judgement_judy", "user_prompt_judy"):
        del tracker.metrics_logger.metrics_values["essay|0"][name]
    save(tracker, tasks)


def write_old(out: Path) -> None:
    import lighteval.metrics
    from lighteval.metrics.utils.metric_utils import (
        Metric,
        MetricCategory,
        MetricUseCase,
    )

    lighteval.metrics.MetricCategory = MetricCategory  # in place of the stand-in
    from lighteval.logging.evaluation_tracker import EvaluationTracker
    from lighteval.models.abstract_model import ModelInfo
    from lighteval.models.model_output import GenerativeResponse, LoglikelihoodResponse
    from lighteval.tasks.lighteval_task import LightevalTaskConfig
    from lighteval.tasks.requests import Doc

    tracker = EvaluationTracker(output_dir=str(out))
    general = tracker.general_config_logger
    general.log_args_info(num_fewshot_seeds=1, max_samples=3, job_id="job-8")
    general.log_model_info(
        {
            "temperature": 0.25,
            "top_p": 0.875,
            "max_new_tokens": 13,
            "seed": 6,
            "top_k": 4,
        },
        ModelInfo(
            "org/old-tiny", model_sha="def456", model_dtype="float16", model_size="123"
        ),
    )

    def task(name, category, names):
        metrics = [Metric(item, True, category, MetricUseCase.ACCURACY, print, AGGREGATIONS[item])
                   for item in names]  # fmt: skip
        config = LightevalTaskConfig(
            name=name, prompt_function=choices_of, hf_repo="org/data", hf_subset=f"sub {name}",
            metric=metrics, hf_revision="abc124", evaluation_splits=["validation"],
            suite=["leaderboard"], version=2,
        )  # fmt: skip
        config.original_num_docs, config.effective_num_docs = 8, 3
        found = Task(config)
        found.has_metric_category = {item: item == category for item in MetricCategory}
        return found

    tasks = {
        "leaderboard|quiz:maps": task("quiz:maps", MetricCategory.MULTICHOICE, ["acc"]),
        "leaderboard|quiz:seas": task("quiz:seas", MetricCategory.MULTICHOICE, ["acc"]),
        "custom|essay": task(
            "essay", MetricCategory.GENERATIVE_SAMPLING, ["maj@n:n=2"]
        ),
    }
    for number, name in enumerate(("leaderboard|quiz:maps", "leaderboard|quiz:seas")):
        for place in range(3):
            doc = Doc(
                query=f"question {number}.{place}", choices=choices_of(number, place),
                gold_index=place, instruction="Choose.", ctx=f"shots, question {number}.{place}",
                specific={"topic": f"topic {place}"}, num_asked_few_shots=5,
                num_effective_few_shots=4, task_name=f"{name}|5",
            )  # fmt: skip
            outputs = [
                LoglikelihoodResponse(result=-1.5 - place - option, input_tokens=[1] * (11 + place),
                                      generated_tokens=[[2] * (option + 1)],
                                      truncated_tokens_count=option, padded_tokens_count=7)
                for option in range(3)
            ]  # fmt: skip
            metrics = {"acc": int(place == 0)}
            tracker.details_logger.log(f"{name}|5", tasks[name], doc, outputs, metrics)
            tracker.metrics_logger.log(f"{name}|5", metrics)
    for place in range(3):
        doc = Doc(query=f"write {place}", choices=[f"gold {place}"], gold_index=0,
                  ctx=f"sent write {place}", num_asked_few_shots=0, num_effective_few_shots=0,
                  task_name="custom|essay|0")  # fmt: skip
        outputs = [GenerativeResponse(
            result=[f"first {place}", f"second {place}"], input_tokens=[1] * (21 + place),
            generated_tokens=[[1] * (31 + place), [1] * (41 + place)],
        )]  # fmt: skip
        metrics = {"maj@n:n=2": int(place == 1)}
        tracker.details_logger.log(
            "custom|essay|0", tasks["custom|essay"], doc, outputs, metrics
        )
        tracker.metrics_logger.log("custom|essay|0", metrics)
    tracker.details_logger.aggregate()
    tracker.metrics_logger.aggregate(tasks)
    for name, item in tasks.items():
        tracker.versions_logger.log(name, item.config.version)
    tracker.task_config_logger.tasks_configs = {
        name: item.config for name, item in tasks.items()
    }
    general.log_end_time()
    tracker.save()


if __name__ == "__main__":
    sys.meta_path.insert(0, StandIns())
    newer = version("lighteval").split(".") >= ["0", "11"]
    (write_new if newer else write_old)(Path(sys.argv[1]))
