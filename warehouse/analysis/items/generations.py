"""What a condition wrote on each prompt, several times over: answers, and how many were correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Source = Literal["answer", "response"]

_RESPONSES = "left join content on content.sha256 = fact.response_hash"


@dataclass(frozen=True)
class GenerationCounts:
    """Generations by prompt.

    Attributes:
        prompts: ids, ascending, shape (n,).
        n: generations of each, shape (n,).
        n_answers: of them with an extracted answer, in all.
        n_responses: of them with a response, in all.
    """

    prompts: NDArray[np.int64]
    n: NDArray[np.int64]
    n_answers: int
    n_responses: int


@dataclass(frozen=True)
class Generations:
    """Generations of some prompts, prompt by prompt.

    Attributes:
        prompts: prompt of each generation, ascending, shape (g,).
        texts: answer or response of each; null where there is none.
    """

    prompts: NDArray[np.int64]
    texts: pa.Array


@dataclass(frozen=True)
class CorrectCounts:
    """Scored and correct generations by prompt.

    Attributes:
        prompts: ids, ascending, shape (n,).
        n_correct: may be fractional where the dump stores a rounded rate, shape (n,).
        n_draws: scored generations, shape (n,).
    """

    prompts: NDArray[np.int64]
    n_correct: NDArray[np.float64]
    n_draws: NDArray[np.float64]


def count_generations(store: Store, run_ids: Sequence[int]) -> GenerationCounts:
    """How many generations each prompt has in headline form, over all runs."""
    table = store.columns(query_text("analysis", "generation_counts"), {"run_ids": run_ids})
    return GenerationCounts(
        prompts=table.whole_numbers("prompt_id"),
        n=table.whole_numbers("n"),
        n_answers=int(table.whole_numbers("n_answers").sum()),
        n_responses=int(table.whole_numbers("n_responses").sum()),
    )


def read_generations(store: Store, run_ids: Sequence[int], prompts: NDArray[np.int64], source: Source) -> Generations:
    """Answers or responses of some prompts, in the order of run and draw."""
    column, join = ("fact.extracted_answer", "") if source == "answer" else ("content.text", _RESPONSES)
    query = query_text("analysis", "generation_texts").format(column=column, join=join)
    columns = store.columns(query, {"run_ids": run_ids, "prompt_ids": prompts})
    texts = columns.table.column("text").combine_chunks()
    texts = pa.concat_arrays(texts.chunks) if isinstance(texts, pa.ChunkedArray) else texts
    return Generations(columns.whole_numbers("prompt_id"), texts)


def count_correct(store: Store, run_ids: Sequence[int], metric: Metric, correct_at: float | None) -> CorrectCounts:
    """How many generations of each prompt were scored, and how many of them are correct.

    Correct is the best value of the metric, or what reaches ``correct_at``. Rates of several
    generations that the dump stores count for binary metrics only; a partial credit is no share
    of correct generations.

    Raises:
        MisuseError: the metric has no best value.
    """
    lower = metric.higher_is_better is False
    best = _best_value(metric, lower) if correct_at is None else correct_at
    sign = f"<= {best + 1e-9!r}" if lower else f">= {best - 1e-9!r}"
    binary = metric.kind == "binary"
    query = query_text("analysis", "correct_draws").format(
        rate="(1 - fact.value)" if lower else "fact.value",
        is_correct=f"fact.value {sign}",
        usable="fact.value between 0 and 1" if binary else "fact.n_draws = 1",
    )
    table = store.columns(query, {"run_ids": run_ids, "metric_ids": [metric.id]})
    draws, correct = table.numbers("n_draws"), table.numbers("n_correct")
    whole = np.round(correct)
    return CorrectCounts(
        prompts=table.whole_numbers("prompt_id"),
        n_correct=np.where(np.abs(correct - whole) < 0.05, whole, correct),
        n_draws=draws,
    )


def _best_value(metric: Metric, lower: bool) -> float:
    low, high = metric.bounds or (None, None)
    best = low if lower else high
    if best is None:
        raise MisuseError(
            f"{metric.label} has no best value; say from which value on a generation is correct: --correct-at VALUE"
        )
    return float(best)
