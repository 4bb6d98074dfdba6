"""Small stores made by hand: rows written directly, so that views are tested without
the loader.

`StoreRows` collects rows; `write` puts them into an open store. Ids count up in order
of creation, natural keys are made up where a test does not care. `prompt_score` is
worked out here in plain Python from the same draws that become `score` rows.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, variance
from typing import Any

import sqlalchemy as sa

from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import append
from warehouse.store.schema import tables

Draw = float | None


@dataclass(frozen=True)
class Rate:
    """A stored share of `draws` generations."""

    value: float
    draws: int


Scores = Mapping[str, Draw | Sequence[Draw] | Rate]
#: Settings of a run that are columns of `run`; other keywords of `add_run` describe the
#: model.
RUN_SETTINGS = {
    *(
        "split",
        "task_version",
        "formulation",
        "fewshot",
        "fewshot_seed",
        "temperature",
        "status",
        "superseded_by",
    ),
    *(
        "n_benchmark",
        "n_requested",
        "started_at",
        "run_key",
        "sampling_seed",
        "opponent",
    ),
}


@dataclass
class StoreRows:
    """Rows by table, and the ids of what has a name."""

    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    ids: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def add(self, table: str, named: tuple[Any, ...], /, **columns: Any) -> int:
        """A dimension row, made at its first mention; its id."""
        if (table, *named) not in self.ids:
            self.ids[(table, *named)] = len(self.rows[table]) + 1
            self.rows[table].append({"id": self.ids[(table, *named)], **columns})
        return self.ids[(table, *named)]

    def model(self, name: str, alias_of: str | None = None, **columns: Any) -> int:
        canonical = self.model(alias_of) if alias_of else None
        return self.add("model", (name,), name=name, canonical_id=canonical, **columns)

    def benchmark(
        self, name: str, parent: str | None = None, alias_of: str | None = None
    ) -> int:
        parent_id = self.benchmark(parent) if parent else None
        canonical = self.benchmark(alias_of) if alias_of else None
        return self.add(
            "benchmark",
            (name,),
            name=name,
            parent_id=parent_id,
            level=0 if parent is None else 1,
            canonical_id=canonical,
            default_clustering_id=None,
        )

    def metric(
        self,
        name: str = "acc",
        filter: str = "",
        link: str = "identity",
        judge: str = "",
    ) -> int:
        scorer = self.add(
            "scorer",
            (judge,),
            name="s",
            kind="model" if judge else "match",
            judge_model=judge,
            parameters_key="",
        )
        return self.add(
            "metric",
            (name, filter, link, judge),
            name=name,
            filter=filter,
            scorer_id=scorer,
            unit="",
            link=link,
        )

    def describe(
        self,
        benchmark: str,
        metric: int,
        *,
        default: bool | None = True,
        kind: str = "binary",
        low: float | None = 0.0,
        high: float | None = 1.0,
        higher: bool | None = True,
    ) -> None:
        """The row of `benchmark_metric`."""
        benchmark_id = self.benchmark(benchmark)
        self.add(
            "benchmark_metric",
            (benchmark_id, metric),
            benchmark_id=benchmark_id,
            metric_id=metric,
            default_by="tool" if default else None,
            kind=kind,
            low=low,
            high=high,
            higher_is_better=higher,
            chance_level=None,
        )

    def prompt(
        self, benchmark: str, key: str, split: str = "", text: str | None = None
    ) -> int:
        text = f"question {key}" if text is None else text
        benchmark_id = self.benchmark(benchmark)
        return self.add(
            "prompt",
            (benchmark_id, split, key),
            benchmark_id=benchmark_id,
            split=split,
            key=key,
            key_kind="id",
            occurrence=0,
            tool_id=key,
            text=text,
            target=f"answer {key}",
            text_hash=hashlib.sha256(text.encode()).digest(),
        )

    def variant(self, perturbation: str = "") -> int:
        return self.add(
            "prompt_variant",
            (perturbation,),
            perturbation=perturbation,
            fewshot_draw="",
            template="",
        )

    def clusters(
        self,
        benchmark: str,
        members: Mapping[str, Sequence[str]],
        *,
        name: str = "topic",
        default: bool = True,
        split: str = "",
    ) -> int:
        """A clustering: label -> keys of prompts."""
        benchmark_id = self.benchmark(benchmark)
        clustering = self.add(
            "clustering",
            (benchmark_id, name),
            benchmark_id=benchmark_id,
            name=name,
            kind="source",
        )
        for label, keys in members.items():
            cluster = self.add(
                "cluster", (clustering, label), clustering_id=clustering, label=label
            )
            for key in keys:
                self.rows["prompt_cluster"].append(
                    {
                        "clustering_id": clustering,
                        "cluster_id": cluster,
                        "prompt_id": self.prompt(benchmark, key, split),
                    }
                )
        if default:
            self.rows["benchmark"][benchmark_id - 1]["default_clustering_id"] = (
                clustering
            )
        return clustering

    def run(
        self,
        model: str = "org/a",
        benchmark: str = "quiz",
        *,
        repeat: int = 0,
        group: str = "g",
        agent: str = "",
        seed: str = "",
        recipe: str = "",
        step: float | None = None,
        revision: str | None = None,
        **settings: Any,
    ) -> int:
        """A run without facts. Equal arguments but `repeat` give repeats of one
        condition."""
        assert set(settings) <= RUN_SETTINGS
        checkpoint_id = self._checkpoint(model, seed, recipe, step, revision)
        agent_id = self.add(
            "agent",
            (agent,),
            name=agent,
            version="",
            parameters_key="",
            parameters=None,
        )
        measured = sorted(
            (name, str(value))
            for name, value in settings.items()
            if name
            not in {"status", "superseded_by", "started_at", "run_key", "sampling_seed"}
        )
        condition = str((checkpoint_id, agent_id, benchmark, measured))
        number = len(self.rows["run"]) + 1
        row = {
            "id": number,
            "run_group_id": self.group(group),
            "checkpoint_id": checkpoint_id,
            "agent_id": agent_id,
            "benchmark_id": self.benchmark(benchmark),
            "split": "",
            "scorers_key": "",
            "n_found": 0,
            "n_generations": 0,
            "n_choices": 0,
            "n_scores": 0,
            "status": "complete",
            "condition_key": hashlib.sha256(condition.encode()).hexdigest(),
            "content_digest": f"{number}-{repeat}",
            "recorded_key": hashlib.sha256(condition.encode()).hexdigest(),
            "execution_key": "",
            "settings": None,
        }
        self.rows["run"].append(row | dict.fromkeys(RUN_SETTINGS - set(row)) | settings)
        return number

    def group(self, key: str) -> int:
        return self.add(
            "run_group",
            (key,),
            key=key,
            harness="tool",
            harness_version="1",
            started_at=datetime(2026, 1, 1),
        )

    def _checkpoint(
        self,
        model: str,
        seed: str,
        recipe: str,
        step: float | None,
        revision: str | None,
    ) -> int:
        model_id = self.model(model)
        seed_id = self.add(
            "training_seed",
            (model_id, seed, recipe),
            model_id=model_id,
            label=seed,
            recipe=recipe,
        )
        key = f"{revision or ''}/{'' if step is None else step}"
        unit = None if step is None else "step"
        return self.add(
            "checkpoint",
            (seed_id, key),
            training_seed_id=seed_id,
            key=key,
            position=step,
            position_unit=unit,
            revision=revision,
        )

    def scores(
        self,
        run: int,
        scores: Scores,
        metric: int | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        perturbation: str = "",
    ) -> None:
        """Facts of a run: prompt key -> draws (None = unscored), one number, or a
        stored rate."""
        metric = self.metric() if metric is None else metric
        header = self.rows["run"][run - 1]
        benchmark = self.rows["benchmark"][header["benchmark_id"] - 1]["name"]
        for key, given in scores.items():
            draws: Sequence[Draw | Rate] = (
                given if isinstance(given, Sequence) else [given]
            )
            weight = 1.0 if weights is None else weights[key]
            fact = {
                "run_id": run,
                "prompt_id": self.prompt(benchmark, key, header["split"]),
                "metric_id": metric,
                "weight": weight,
            }
            self._score_rows(fact, draws, self.variant(perturbation))
            self.rows["prompt_score"].append(
                fact | {"perturbation": perturbation} | _prompt_mean(draws)
            )
            header["n_scores"] += len(draws)
            header["n_generations"] += len(draws)
        header["n_found"] = len(scores)

    def _score_rows(
        self, fact: dict[str, Any], draws: Sequence[Draw | Rate], variant: int
    ) -> None:
        for number, draw in enumerate(draws):
            value = draw.value if isinstance(draw, Rate) else draw
            status = "error" if value is None else "scored"
            raw = None
            if value is not None and math.isinf(value):  # kept as text
                value, raw = None, str(value)
            self.rows["score"].append(
                fact
                | {
                    "variant_id": variant,
                    "draw": number,
                    "value": value,
                    "raw": raw,
                    "n_draws": draw.draws if isinstance(draw, Rate) else 1,
                    "status": status,
                    "origin": "recorded",
                }
            )

    def votes(
        self,
        source: int,
        benchmark: str,
        models: tuple[str, str],
        outcomes: Sequence[str | None],
        *,
        judge: str = "",
        first: str = "a",
    ) -> None:
        """Votes between two models, one a prompt: of a judge, else of people of whom
        each gave two."""
        kind, name = ("model", judge) if judge else ("human", "people")
        scorer = self.add(
            "scorer",
            (kind, name),
            name=name,
            kind=kind,
            judge_model=judge,
            parameters_key="",
        )
        one, other = (self._checkpoint(model, "", "", None, None) for model in models)
        for number, outcome in enumerate(outcomes):
            self.rows["preference"].append(
                {
                    "source_id": source,
                    "benchmark_id": self.benchmark(benchmark),
                    "prompt_id": self.prompt(benchmark, f"q{number}"),
                    "variant_id": self.variant(),
                    "checkpoint_a_id": one,
                    "checkpoint_b_id": other,
                    "first": first,
                    "scorer_id": scorer,
                    "voter": "" if judge else f"u{number // 2}",
                    "outcome": outcome,
                    "weight": 1.0,
                    "draw": 0,
                    "covariates": {"a": {"length": number}, "b": {"length": 3.5}},
                }
            )

    def generation(
        self, run: int, key: str, draw: int, response: str, **columns: Any
    ) -> None:
        """What a run wrote on a prompt that has scores."""
        header = self.rows["run"][run - 1]
        benchmark = self.rows["benchmark"][header["benchmark_id"] - 1]["name"]
        self.rows["generation"].append(
            {
                "run_id": run,
                "prompt_id": self.prompt(benchmark, key, header["split"]),
                "variant_id": self.variant(),
                "draw": draw,
                "response_hash": self.content(response),
                "prompt_hash": self.content(f"Q: question {key}"),
                **columns,
            }
        )

    def transcript(
        self,
        run: int,
        key: str,
        draw: int,
        tools: Mapping[str, tuple[int, int | None]],
        **columns: Any,
    ) -> None:
        """What happened on the way to a response; of each tool its calls and errors."""
        header = self.rows["run"][run - 1]
        benchmark = self.rows["benchmark"][header["benchmark_id"] - 1]["name"]
        prompt = self.prompt(benchmark, key, header["split"])
        fact = {
            "run_id": run,
            "prompt_id": prompt,
            "variant_id": self.variant(),
            "draw": draw,
        }
        calls = sum(n for n, _ in tools.values())
        self.rows["transcript"].append(fact | {"n_tool_calls": calls} | columns)
        for tool, (n_calls, n_errors) in tools.items():
            self.rows["tool_call"].append(
                fact | {"tool": tool, "n_calls": n_calls, "n_errors": n_errors}
            )

    def content(self, text: str) -> bytes:
        digest = hashlib.sha256(text.encode()).digest()
        if {"sha256": digest, "text": text} not in self.rows["content"]:
            self.rows["content"].append({"sha256": digest, "text": text})
        return digest

    def published(
        self,
        run: int | None,
        value: float | None,
        metric: int | None = None,
        *,
        benchmark: str = "quiz",
        statistic: str = "mean",
        perturbation: str = "",
        standard_error: float | None = None,
        n: int | None = None,
        group: str = "g",
    ) -> None:
        self.rows["published_score"].append(
            {
                "run_group_id": self.group(group),
                "run_id": run,
                "source_id": 1,
                "benchmark_id": self.benchmark(benchmark),
                "metric_id": self.metric() if metric is None else metric,
                "statistic": statistic,
                "perturbation": perturbation,
                "split": "",
                "value": value,
                "standard_error": standard_error,
                "n": n,
                "raw": None,
            }
        )

    def _run_metrics(self) -> list[dict[str, Any]]:
        """Rows of `run_metric`, from the scores and published figures so far."""
        counts: dict[tuple[int, int], int] = defaultdict(int)
        for row in self.rows.get("prompt_score", []):
            counts[row["run_id"], row["metric_id"]] += row["value"] is not None
        for row in self.rows.get("published_score", []):
            if row["run_id"] is not None:
                counts[row["run_id"], row["metric_id"]] += 0
        return [
            {"run_id": run, "metric_id": metric, "n_scored": n}
            for (run, metric), n in counts.items()
        ]

    def write(self, store: Store) -> None:
        """Insert everything in bulk, tables that others point to first, and count it
        for the planner."""
        self.rows["run_metric"] = self._run_metrics()
        with store.begin() as connection:
            for table in tables.metadata.sorted_tables:
                rows = self.rows.get(table.name, [])
                if rows and any(
                    isinstance(column.type, sa.ARRAY) for column in table.columns
                ):
                    connection.execute(sa.insert(table), rows)
                else:
                    append(connection, table, rows)
            connection.exec_driver_sql("analyze")


def _prompt_mean(draws: Sequence[Draw | Rate]) -> dict[str, Any]:
    """Columns of `prompt_score`, as statistics.md §1 and the schema define them."""
    scored = [
        draw
        for draw in draws
        if draw is not None and (isinstance(draw, Rate) or math.isfinite(draw))
    ]
    values = [draw.value if isinstance(draw, Rate) else draw for draw in scored]
    counts = [draw.draws if isinstance(draw, Rate) else 1 for draw in scored]
    n_draws = sum(counts)
    total = sum(value * count for value, count in zip(values, counts, strict=True))
    within = None
    if len(scored) == 1 and isinstance(scored[0], Rate) and n_draws > 1:
        within = values[0] * (1 - values[0]) * n_draws / (n_draws - 1)
    elif len(scored) > 1:
        within = variance(values, fmean(values))
    return {
        "value": total / n_draws if scored else None,
        "n_draws": n_draws,
        "within_variance": within,
        "n_scored": len(scored),
        "n_unscored": len(draws) - len(scored),
        "is_binary": bool(scored) and all(value in (0, 1) for value in values),
    }
