"""The semantic sets of every prompt of a condition, read and grouped some prompts at a time.

What a model groups is stored, and read back while runs and model stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.items.answer_grouping import (
    BY_ANSWER,
    BY_TEXT,
    GenerationCounts,
    Grouper,
    Source,
    read_generations,
)
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.text.parts import texts_of_part
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.stats import semantic_consistency
from warehouse.store.computed.prompt_vectors import PROMPT
from warehouse.store.computed.result_cache import StorableArrays, StoredQuestion, answer
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

#: Prompts whose generations are read at a time.
CHUNK = 1000
METHOD = "1"

_DIGESTS = "select content_digest from run where id in (:run_ids) order by content_digest"


@dataclass(frozen=True)
class SetsOfPrompts(StorableArrays):
    """Semantic sets, one entry per prompt with generations, ids ascending."""

    prompts: NDArray[np.int64]  #: ids, shape (n,).
    n: NDArray[np.int64]  #: generations of each, shape (n,).
    consistency: NDArray[np.float64]  #: S(consistency), shape (n,).
    n_sets: NDArray[np.int64]  #: number of sets, shape (n,).
    share: NDArray[np.float64]  #: share of the generations in the largest set, shape (n,).
    majority: tuple[str | None, ...]  #: the first generation of the largest set, None where that says nothing.
    grouped_by: str  #: how, in words; empty where no text is stored.
    n_too_long: int  #: texts, or pairs of them, of which the model read the beginning only.

    DTYPES = {"prompts": np.int64, "n": np.int64, "consistency": np.float64, "n_sets": np.int64, "share": np.float64}


def sets_of_prompts(
    opener: StoreOpener,
    condition: Condition,
    counts: GenerationCounts,
    grouping: str | None,
    model: Grouper | None,
    *,
    fresh: bool = False,
    store_result: bool = True,
) -> SetsOfPrompts:
    """Put the generations of a condition into semantic sets.

    Args:
        opener: how to open the store; it is let go of while a model works.
        counts: of its generations.
        grouping: None: by extracted answer where there are any, else by normalised text.
        model: what groups by embedding or entailment; None for the other two.
        fresh: ask the model even where its answer is stored.
        store_result: False for a trial: what the model answers is not stored.

    Returns:
        no entries where no text is stored.

    Raises:
        MisuseError: grouping by answers that were never extracted.
    """
    source, grouper, by = _way(condition, counts, grouping, model)
    if model is None:
        return _compute(opener, condition, counts, source, grouper, by)
    with opener.reading() as store:
        question = _question(store, condition, by, model)
    return answer(
        opener,
        question,
        SetsOfPrompts,
        lambda _now: _compute(opener, condition, counts, source, grouper, by),
        fresh=fresh,
        store_result=store_result,
    ).result


def _compute(
    opener: StoreOpener, condition: Condition, counts: GenerationCounts, source: Source, grouper: Grouper, by: str
) -> SetsOfPrompts:
    parts: list[SetsOfPrompts] = []
    said_something = False
    for start in range(0, len(counts.prompts), CHUNK):
        chunk = counts.prompts[start : start + CHUNK]
        with opener.reading() as store:
            block = read_generations(store, condition.run_ids, chunk, source)
            questions = texts_of_part(store, PROMPT, chunk.tolist()) if grouper.needs_questions else {}
        prompts, owners = np.unique(block.prompts, return_inverse=True)
        sets = grouper.group(block, questions)
        consistency = semantic_consistency(owners, sets.codes, len(prompts))
        texts = block.texts.take(pa.array(consistency.representative)).to_pylist()
        majority = tuple(
            text if sets.is_answer[row] else None
            for row, text in zip(consistency.representative.tolist(), texts, strict=True)
        )
        said_something |= block.texts.null_count < len(block.texts)
        parts.append(
            SetsOfPrompts(
                prompts,
                consistency.n_generations,
                consistency.consistency,
                consistency.n_sets,
                consistency.majority_share,
                majority,
                by,
                sets.n_too_long,
            )
        )
    return _together(parts if said_something else [], by if said_something else "")


def _together(parts: Sequence[SetsOfPrompts], by: str) -> SetsOfPrompts:
    whole, real = np.empty(0, np.int64), np.empty(0)
    return SetsOfPrompts(
        prompts=np.concatenate([whole, *(part.prompts for part in parts)]),
        n=np.concatenate([whole, *(part.n for part in parts)]),
        consistency=np.concatenate([real, *(part.consistency for part in parts)]),
        n_sets=np.concatenate([whole, *(part.n_sets for part in parts)]),
        share=np.concatenate([real, *(part.share for part in parts)]),
        majority=tuple(answer for part in parts for answer in part.majority),
        grouped_by=by,
        n_too_long=sum(part.n_too_long for part in parts),
    )


def _way(
    condition: Condition, counts: GenerationCounts, grouping: str | None, model: Grouper | None
) -> tuple[Source, Grouper, str]:
    """What is compared, how, and that in words."""
    has_answers = counts.n_answers > 0
    if grouping == "answer" and not has_answers and counts.n_responses:
        raise MisuseError(
            f"run:{condition.run_ids[0]} has no extracted answers; use --group text, embedding or entailment"
        )
    source: Source = "answer" if has_answers and grouping != "text" else "response"
    if model is not None:
        return source, model, f"{grouping} of {source}s"
    if source == "answer":
        return source, BY_ANSWER, "extracted answer"
    return source, BY_TEXT, "normalised text"


def _question(store: Store, condition: Condition, by: str, model: Grouper) -> StoredQuestion:
    """What the sets are stored under: the contents of the runs say whether they still hold."""
    rows = store.rows(_DIGESTS, {"run_ids": condition.run_ids})
    data = fingerprint(*(row["content_digest"] for row in rows))
    parameters = {"by": by, "model": model.model}
    subject = f"{condition.benchmark_split[0]} {condition.key}"
    return StoredQuestion("semantic_sets", subject, METHOD, data, parameters=parameters)
