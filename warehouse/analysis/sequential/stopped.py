"""Runs that a rule ended early because of their scores: fixed-n statistics do not hold
for them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.hooks import STOPPED_RUNS, StoppedEstimate, cut_runs
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import StatisticsError
from warehouse.stats import design_one_model, sequential_order, sequential_test
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: The key of a run's configuration that holds the record, and the rule that is ours.
KEY, RULE = "early_stopping", "betting"
#: Fields of a record that are counts, and those that are numbers.
_COUNTS = ("seed", "n_max", "population", "n_prompts", "decided_at")
_NUMBERS = ("alpha", "margin")
_OF_RUN = "prompt.id in (select prompt_id from prompt_score where run_id in (:run_ids))"


@dataclass(frozen=True)
class StoppingRecord:
    """The rule that ended a run, as its log says it."""

    rule: str  #: ``betting`` (statistics.md §11); anything else is another's rule.
    manager: str = ""  #: who applied it.
    seed: int | None = None  #: of the order of the prompts.
    n_max: int | None = None  #: the most prompts that were to be asked.
    alpha: float | None = None  #: chance of a wrong verdict.
    margin: float | None = None  #: loss that was tolerated.
    #: prompts of the benchmark; None where prompts were a sample of more.
    population: int | None = None
    #: length of the longest scored beginning of the order.
    n_prompts: int | None = None
    verdict: str = ""  #: ``pass``, ``fail`` or ``undecided``.
    decided_at: int | None = None  #: prompts after which it stood.
    baseline: str = ""  #: model that was the baseline.
    #: condition keys of the models behind the predictions.
    history: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """True if the rule is the one that the warehouse can go on with."""
        return self.rule == RULE and None not in (
            self.seed,
            self.n_max,
            self.alpha,
            self.n_prompts,
        )

    @property
    def name(self) -> str:
        """The rule in words."""
        if self.is_ours:
            return "the betting rule"
        return f"a rule of {self.manager or 'its harness'}"


def as_record(settings: Mapping[str, Any]) -> StoppingRecord:
    """The record out of a log; what has another type than expected counts as not said."""
    values: dict[str, Any] = {}
    for field in fields(StoppingRecord):
        value = settings.get(field.name)
        if field.name == "history":
            if isinstance(value, list):
                values[field.name] = tuple(str(item) for item in value)
            else:
                values[field.name] = ()
        elif field.name in _COUNTS:
            if type(value) is int and value >= 0:
                values[field.name] = value
            else:
                values[field.name] = None
        elif field.name in _NUMBERS:
            if isinstance(value, int | float):
                values[field.name] = float(value)
            else:
                values[field.name] = None
        else:
            if isinstance(value, str):
                values[field.name] = value
            else:
                values[field.name] = ""
    return StoppingRecord(**values)


def stopped_early(
    store: Store, conditions: Sequence[Condition]
) -> dict[str, StoppingRecord]:
    """The records of conditions of which a run was ended early, by condition key.

    A run that has all prompts of its benchmark was not ended, whatever watched it.
    """
    cut = cut_runs(conditions)
    if not cut:
        return {}
    rows = store.rows(query_text("analysis", "early_stopping"), {"run_ids": list(cut)})
    return _records(cut, rows)


def _records(
    cut: Mapping[int, str], rows: Iterable[Mapping[str, Any]]
) -> dict[str, StoppingRecord]:
    """Records in the configurations of runs, by condition key."""
    records = {}
    for row in rows:
        settings = row["configuration"]
        if isinstance(settings, str):
            settings = json.loads(settings)
        record = None
        if isinstance(settings, dict):
            record = settings.get(KEY)
        if isinstance(record, dict):
            records[cut[row["run_id"]]] = as_record(record)
    return records


@dataclass(frozen=True, eq=False)
class StoppedScores:
    """A condition that was ended early."""

    record: StoppingRecord  #: what the dump says of it.
    #: keys of the prompts that were seen; empty where the order of the rule is not
    #: known.
    seen: tuple[Mapping[str, Any], ...] = ()

    @property
    def rule(self) -> str:
        """The rule that ended it, in words."""
        return self.record.name

    @property
    def order(self) -> PromptOrder | None:
        """The prompts that were seen, in the order of the rule; None where it is not
        known."""
        if self.seen and self.record.seed is not None:
            return order_prompts(self.seen, self.record.seed)
        return None

    def estimate(
        self, scores: PromptScores, metric: Metric, level: float
    ) -> tuple[StoppedEstimate, str]:
        """The figure of its scores, and how it was made or why there is no interval."""
        mean = float(np.average(scores.values, weights=scores.weights))
        without_interval = StoppedEstimate(mean, None, None, None)
        record = self.record
        order = self.order
        bounds = metric.bounds
        why = f"stopped early by {self.rule}"
        if (
            order is None
            or record.n_max is None
            or bounds is None
            or scores.uneven_weights is not None
        ):
            return (
                without_interval,
                f"{why}: no interval for a fixed number of prompts holds",
            )
        low, high = bounds
        try:
            design = design_one_model(
                ((low or 0.0) + (high or 0.0)) / 2,
                n_max=record.n_max,
                bounds=bounds,
                population=record.population,
                alpha=1 - level,
            )
            test = sequential_test(
                _in_order(scores, order.prompts[: record.n_prompts]), design
            )
        except StatisticsError as error:
            return without_interval, f"{why}: {error}"
        if test.estimate is None:
            return without_interval, f"{why} before a prompt was scored"
        reason = (
            f"{why}: the interval holds whenever one stops; warehouse gate "
            "--sequential has the verdict"
        )
        return StoppedEstimate(test.estimate, None, test.low, test.high), reason


def _in_order(scores: PromptScores, prompts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of some prompts as these stand, NaN where there is none."""
    indices = np.minimum(np.searchsorted(scores.prompts, prompts), scores.n - 1)
    return np.where(scores.prompts[indices] == prompts, scores.values[indices], np.nan)


def read_scores_of_stopped(
    store: Store, conditions: Sequence[Condition], stored: Sequence[Mapping[str, Any]]
) -> dict[str, StoppedScores]:
    """Scores of those of some conditions that were ended early, by condition key.

    Of several runs each has an order of its own, so that there is none.

    Args:
        stored: rows of the query ``early_stopping``, of their runs.
    """
    cut = cut_runs(conditions)
    prompts = query_text("analysis/sequential", "prompt_keys").format(condition=_OF_RUN)
    seen = {
        cut[row["run_id"]]: tuple(store.rows(prompts, {"run_ids": [row["run_id"]]}))
        for row in stored
    }
    alone = {item.key for item in conditions if len(item.runs) == 1}
    return {
        key: StoppedScores(record, seen[key] if record.is_ours and key in alone else ())
        for key, record in _records(cut, stored).items()
    }


STOPPED_RUNS.fill(read_scores_of_stopped)


#: A prompt's key, and how many of that key come before it in a run.
PromptKey = tuple[str, int]


@dataclass(frozen=True, eq=False)
class PromptOrder:
    """Prompts in the order in which they are asked."""

    prompts: NDArray[np.int64]  #: ids, first to last, shape (N,).
    keys: tuple[PromptKey, ...]  #: key and occurrence of each.

    @property
    def n(self) -> int:
        """Their number N."""
        return len(self.prompts)


def order_keys(keys: Sequence[PromptKey], seed: int) -> list[int]:
    """Places of prompts in the order of SHA-256("order|seed|id"), the id being the key,
    with ``#occurrence`` behind it from the second on.

    Prompts of one key are alike; a run counts them as they come, so they stand in that
    order.

    Raises:
        StatisticsError: a seed out of range.
    """
    names = [
        key if occurrence == 0 else f"{key}#{occurrence}" for key, occurrence in keys
    ]
    order = [int(index) for index in sequential_order(names, seed)]
    alike: dict[str, list[int]] = defaultdict(list)
    for index in order:
        alike[keys[index][0]].append(index)
    ascending = {
        key: iter(sorted(indices, key=lambda index: keys[index][1]))
        for key, indices in alike.items()
    }
    return [next(ascending[keys[index][0]]) for index in order]


def read_keys(
    store: Store, prompts: Collection[int] | NDArray[np.int64]
) -> dict[int, dict[str, Any]]:
    """Key, occurrence, split and the tool's own id of some prompts, by id."""
    query = query_text("analysis/sequential", "prompt_keys").format(
        condition="prompt.id in (:ids)"
    )
    return {row["id"]: row for row in store.rows(query, {"ids": prompts})}


def order_prompts(rows: Collection[Mapping[str, Any]], seed: int) -> PromptOrder:
    """Prompts, as `read_keys` gives them, in their order (StatisticsError: a seed out
    of range)."""
    rows = list(rows)
    keys = [(str(row["key"]), int(row["occurrence"])) for row in rows]
    order = order_keys(keys, seed)
    ids = np.array([rows[index]["id"] for index in order], dtype=np.int64)
    return PromptOrder(ids, tuple(keys[index] for index in order))
