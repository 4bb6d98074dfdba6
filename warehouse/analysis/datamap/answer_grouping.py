"""Which generations of a prompt say the same: four ways to put them into semantic sets.

What a model groups is stored, and read back while runs and model stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.text.parts import texts_of_part
from warehouse.embeddings import (
    Embedder,
    Entailment,
    encode,
    load_embedder,
    load_entailment,
    refuse_for_own,
)
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.stats import semantic_consistency
from warehouse.stats.similarity.neighbours import (
    Codes,
    connect,
    cosine_of_pairs,
    pairs_within,
)
from warehouse.store.columns import pc
from warehouse.store.computed.prompt_vectors import PROMPT
from warehouse.store.computed.result_cache import StorableArrays, StoredQuestion, answer
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

#: Text of prompts by id.
Questions = Mapping[int, str]


@dataclass(frozen=True)
class SemanticSets:
    """Semantic sets of generations."""

    codes: Codes  #: set of each generation; equal numbers of one prompt are one set, shape (g,).
    #: whether it says anything; all that say nothing are one set, shape (g,).
    is_answer: NDArray[np.bool_]
    n_too_long: int = 0  #: different texts, or pairs of them, of which the model read the beginning only.


@dataclass(frozen=True)
class Grouper:
    """A way to put generations into semantic sets."""

    #: given the generations and the questions of their prompts.
    group: Callable[[Generations, Questions], SemanticSets]
    #: name and revision of the model, and threshold; empty without a model.
    model: str = ""
    needs_questions: bool = False  #: whether ``group`` looks at the questions.


def _by_answer(generations: Generations, _questions: Questions) -> SemanticSets:
    """Generations with the same answer, but for white space around it."""
    return _coded(pc.utf8_trim_whitespace(generations.texts))


def _by_text(generations: Generations, _questions: Questions) -> SemanticSets:
    """Generations with the same normalised text: Unicode NFKC, lower case, single
    blanks."""
    return _coded(normalised(generations.texts))


BY_ANSWER = Grouper(_by_answer)
BY_TEXT = Grouper(_by_text)


def grouper_of(
    group: str | None,
    embedder: str | Embedder | None,
    threshold: float,
    entailment: str | Entailment | None,
    device: str | None,
) -> Grouper | None:
    """The grouper that a model is needed for, which is loaded here; None for the
    others.

    Raises:
        MisuseError: grouping by a model that is not given, or a model given for another
            grouping.
        InputError: a model that cannot be loaded.
    """
    for name, given in (("embedding", embedder), ("entailment", entailment)):
        option = "--entailment FOLDER"
        if name == "embedding":
            option = "--embedder MODEL"
        if group == name and given is None:
            raise MisuseError(f"grouping by {name} needs a model: {option}")
        if group != name and given is not None:
            raise MisuseError(
                f"{option.split()[0]} is for grouping by {name}: --group {name}"
            )
    if not isinstance(embedder or entailment or "", str):
        refuse_for_own(device)
    if isinstance(embedder, str):
        embedder = load_embedder(embedder, device=device)
    if isinstance(entailment, str):
        entailment = load_entailment(entailment, device=device)
    if embedder is not None:
        return by_embedding(embedder, threshold)
    if entailment is None:
        return None
    return by_entailment(entailment)


def by_embedding(embedder: Embedder, threshold: float) -> Grouper:
    """Generations whose vectors are at least so similar, and what they are joined to.

    Raises:
        MisuseError: ``threshold`` is no cosine similarity.
    """
    if not -1 < threshold <= 1:
        raise MisuseError(f"a cosine similarity lies in (-1, 1], found {threshold}")

    def alike(pairs: _Said) -> tuple[Codes, int]:
        vectors = encode(embedder, pairs.texts)
        has_vector = np.asarray(vectors.any(axis=1), np.bool_)
        usable = np.flatnonzero(has_vector[pairs.first] & has_vector[pairs.second])
        a = pairs.first[usable]
        b = pairs.second[usable]
        near = cosine_of_pairs(vectors, a, b) >= threshold - 1e-12
        return usable[near], int(embedder.too_long(pairs.texts).sum())

    return Grouper(
        lambda generations, questions: _joined(generations, questions, alike),
        model=f"{embedder.name}@{embedder.revision} from {threshold:g}",
    )


def by_entailment(model: Entailment) -> Grouper:
    """Generations that follow from one another, in both directions, after the question."""

    def alike(pairs: _Said) -> tuple[Codes, int]:
        texts = [
            f"{pairs.questions.get(owner, '')} {text}".strip()
            for owner, text in zip(pairs.owners.tolist(), pairs.texts, strict=True)
        ]
        left = [texts[index] for index in pairs.first]
        other = [texts[index] for index in pairs.second]
        forth = np.flatnonzero(model.entails(left, other))
        back = model.entails(
            [other[index] for index in forth], [left[index] for index in forth]
        )
        n_too_long = int(model.too_long(left, other).sum())
        return forth[np.asarray(back, np.bool_)], n_too_long

    return Grouper(
        lambda generations, questions: _joined(generations, questions, alike),
        model=f"{model.name}@{model.revision}",
        needs_questions=True,
    )


def normalised(texts: pa.Array) -> pa.Array:
    """Texts in Unicode NFKC and lower case, with single blanks between words."""
    plain = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, r"\s+", " "))


def _coded(texts: pa.Array) -> SemanticSets:
    """Equal texts are one set; null and empty ones are another."""
    answers = pc.if_else(pc.equal(texts, ""), None, texts)
    encoded = answers.dictionary_encode()
    codes = np.array(
        encoded.indices.fill_null(len(encoded.dictionary)).to_pylist(), np.intp
    )
    return SemanticSets(codes, codes < len(encoded.dictionary))


@dataclass(frozen=True)
class _Said:
    """Different texts of prompts, and all pairs of those of one prompt."""

    owners: NDArray[np.int64]  #: prompt of each text, shape (m,).
    texts: list[str]
    first: Codes  #: text of each pair, shape (pairs,).
    second: Codes  #: the other one.
    questions: Questions


def _joined(
    generations: Generations,
    questions: Questions,
    alike: Callable[[_Said], tuple[Codes, int]],
) -> SemanticSets:
    """Texts of a prompt that a model finds alike, directly or through others, are one
    set.

    ``alike`` returns the places of the pairs that are alike, and how many were too long
    to read.
    """
    equal = _coded(pc.utf8_trim_whitespace(generations.texts))
    answered = np.flatnonzero(equal.is_answer)
    width = int(equal.codes.max(initial=0)) + 1
    keys = generations.prompts[answered] * width + equal.codes[answered]
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    owners = distinct // width
    texts = generations.texts.take(pa.array(answered[first])).to_pylist()
    a, b = pairs_within(owners)
    groups: Codes = np.arange(len(distinct), dtype=np.intp)
    n_too_long = 0
    if len(a):
        pairs, n_too_long = alike(_Said(owners, texts, a, b, questions))
        groups = connect(groups, a[pairs], b[pairs])
    codes = np.full(len(equal.codes), len(distinct), np.intp)
    codes[answered] = groups[inverse]
    return SemanticSets(codes, equal.is_answer, n_too_long)


Source = Literal["answer", "response"]

_RESPONSES = "left join content on content.sha256 = fact.response_hash"


@dataclass(frozen=True)
class GenerationCounts:
    """Generations by prompt."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    n: NDArray[np.int64]  #: generations of each, shape (n,).
    n_answers: int  #: of them with an extracted answer, in all.
    n_responses: int  #: of them with a response, in all.


@dataclass(frozen=True)
class Generations:
    """Generations of some prompts, prompt by prompt."""

    prompts: NDArray[np.int64]  #: prompt of each generation, ascending, shape (g,).
    texts: pa.Array  #: answer or response of each; null where there is none.


@dataclass(frozen=True)
class CorrectCounts:
    """Scored and correct generations by prompt."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    #: may be fractional where the dump stores a rounded rate, shape (n,).
    n_correct: NDArray[np.float64]
    n_draws: NDArray[np.float64]  #: scored generations, shape (n,).


def count_generations(store: Store, run_ids: Sequence[int]) -> GenerationCounts:
    """How many generations each prompt has in headline form, over all runs."""
    table = store.columns(
        query_text("analysis/datamap", "generation_counts"), {"run_ids": run_ids}
    )
    return GenerationCounts(
        prompts=table.whole_numbers("prompt_id"),
        n=table.whole_numbers("n"),
        n_answers=int(table.whole_numbers("n_answers").sum()),
        n_responses=int(table.whole_numbers("n_responses").sum()),
    )


def read_generations(
    store: Store, run_ids: Sequence[int], prompts: NDArray[np.int64], source: Source
) -> Generations:
    """Answers or responses of some prompts, in the order of run and draw."""
    column, join = ("content.text", _RESPONSES)
    if source == "answer":
        column, join = ("fact.extracted_answer", "")
    query = query_text("analysis/datamap", "generation_texts").format(
        column=column, join=join
    )
    columns = store.columns(query, {"run_ids": run_ids, "prompt_ids": prompts})
    texts = columns.table.column("text").combine_chunks()
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks)
    return Generations(columns.whole_numbers("prompt_id"), texts)


def count_correct(
    store: Store, run_ids: Sequence[int], metric: Metric, correct_at: float | None
) -> CorrectCounts:
    """How many generations of each prompt were scored, and how many of them are
    correct.

    Correct is the best value of the metric, or what reaches ``correct_at``. Rates of
    several generations that the dump stores count for binary metrics only; a partial
    credit is no share of correct generations.

    Raises:
        MisuseError: the metric has no best value.
    """
    lower = metric.higher_is_better is False
    if correct_at is None:
        best = _best_value(metric, lower)
    else:
        best = correct_at
    end = best + 1e-9 if lower else best - 1e-9
    params = {"run_ids": run_ids, "metric_ids": [metric.id]}
    plain = _by_means(
        store, params, *(value <= end if lower else value >= end for value in (0, 1))
    )
    if plain is not None:
        return plain
    rate = "fact.value"
    if lower:
        rate = "(1 - fact.value)"
    usable = "fact.n_draws = 1"
    if metric.kind == "binary":
        usable = "fact.value between 0 and 1"
    query = query_text("analysis/datamap", "correct_draws").format(
        rate=rate,
        is_correct=f"fact.value {'<=' if lower else '>='} {end!r}",
        usable=usable,
    )
    table = store.columns(query, params)
    draws = table.numbers("n_draws")
    correct = table.numbers("n_correct")
    whole = np.round(correct)
    return CorrectCounts(
        prompts=table.whole_numbers("prompt_id"),
        n_correct=np.where(np.abs(correct - whole) < 0.05, whole, correct),
        n_draws=draws,
    )


def _by_means(
    store: Store, params: Mapping[str, Sequence[int]], zero_right: bool, one_right: bool
) -> CorrectCounts | None:
    """The counts from the means by prompt, of which there are few; None where these do
    not tell."""
    table = store.columns(query_text("analysis/datamap", "right_by_prompt"), params)
    if not table.whole_numbers("is_counted").all():
        return None
    kept = {
        row["run_id"]
        for row in store.rows(query_text("analysis", "draw_scores"), params)
    }  # all alike there
    rest = {**params, "run_ids": [run for run in params["run_ids"] if run not in kept]}
    if rest["run_ids"] and any(
        row["n_scores"]
        for row in store.rows(query_text("analysis/datamap", "unlike_draws"), rest)
    ):
        return None
    ones = table.numbers("n_ones")
    draws = table.numbers("n_draws")
    return CorrectCounts(
        table.whole_numbers("prompt_id"),
        ones * one_right + (draws - ones) * zero_right,
        draws,
    )


def _best_value(metric: Metric, lower: bool) -> float:
    low, high = metric.bounds or (None, None)
    best = high
    if lower:
        best = low
    if best is None:
        raise MisuseError(
            f"{metric.label} has no best value; say from which value on a generation "
            "is correct: --correct-at VALUE"
        )
    return float(best)


#: Prompts whose generations are read at a time.
CHUNK = 1000
METHOD = "1"

_DIGESTS = (
    "select content_digest from run where id in (:run_ids) order by content_digest"
)


@dataclass(frozen=True)
class SetsOfPrompts(StorableArrays):
    """Semantic sets, one entry per prompt with generations, ids ascending."""

    prompts: NDArray[np.int64]  #: ids, shape (n,).
    n: NDArray[np.int64]  #: generations of each, shape (n,).
    consistency: NDArray[np.float64]  #: S(consistency), shape (n,).
    n_sets: NDArray[np.int64]  #: number of sets, shape (n,).
    #: share of the generations in the largest set, shape (n,).
    share: NDArray[np.float64]
    #: the first generation of the largest set, None where that says nothing.
    majority: tuple[str | None, ...]
    grouped_by: str  #: how, in words; empty where no text is stored.
    #: texts, or pairs of them, of which the model read the beginning only.
    n_too_long: int

    DTYPES = {
        "prompts": np.int64,
        "n": np.int64,
        "consistency": np.float64,
        "n_sets": np.int64,
        "share": np.float64,
    }


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
        grouping: None: by extracted answer where there are any, else by normalised
            text.
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
    opener: StoreOpener,
    condition: Condition,
    counts: GenerationCounts,
    source: Source,
    grouper: Grouper,
    by: str,
) -> SetsOfPrompts:
    parts: list[SetsOfPrompts] = []
    said_something = False
    for start in range(0, len(counts.prompts), CHUNK):
        chunk = counts.prompts[start : start + CHUNK]
        with opener.reading() as store:
            block = read_generations(store, condition.run_ids, chunk, source)
            questions = (
                texts_of_part(store, PROMPT, chunk.tolist())
                if grouper.needs_questions
                else {}
            )
        prompts, owners = np.unique(block.prompts, return_inverse=True)
        sets = grouper.group(block, questions)
        consistency = semantic_consistency(owners, sets.codes, len(prompts))
        texts = block.texts.take(pa.array(consistency.representative)).to_pylist()
        majority = tuple(
            text if sets.is_answer[row] else None
            for row, text in zip(
                consistency.representative.tolist(), texts, strict=True
            )
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
    arrays: dict[str, Any] = {}
    for name, kind in SetsOfPrompts.DTYPES.items():
        arrays[name] = np.concatenate(
            [np.empty(0, kind), *(getattr(part, name) for part in parts)]
        )
    return SetsOfPrompts(
        **arrays,
        majority=tuple(chain.from_iterable(part.majority for part in parts)),
        grouped_by=by,
        n_too_long=sum(part.n_too_long for part in parts),
    )


def _way(
    condition: Condition,
    counts: GenerationCounts,
    grouping: str | None,
    model: Grouper | None,
) -> tuple[Source, Grouper, str]:
    """The texts that are compared, how, and that in words."""
    has_answers = counts.n_answers > 0
    if grouping == "answer" and not has_answers and counts.n_responses:
        raise MisuseError(
            f"run:{condition.run_ids[0]} has no extracted answers; use --group text, "
            "embedding or entailment"
        )
    source: Source = "response"
    if has_answers and grouping != "text":
        source = "answer"
    if model is not None:
        return source, model, f"{grouping} of {source}s"
    if source == "answer":
        return source, BY_ANSWER, "extracted answer"
    return source, BY_TEXT, "normalised text"


def _question(
    store: Store, condition: Condition, by: str, model: Grouper
) -> StoredQuestion:
    """The question that the sets are stored under: the contents of the runs say whether
    they still hold."""
    rows = store.rows(_DIGESTS, {"run_ids": condition.run_ids})
    data = fingerprint(*(row["content_digest"] for row in rows))
    parameters = {"by": by, "model": model.model}
    subject = f"{condition.benchmark_split[0]} {condition.key}"
    return StoredQuestion("semantic_sets", subject, METHOD, data, parameters=parameters)
