"""Near-duplicates within and across benchmarks, and how alike models score them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.prompts import expected_answer, prompts_by_id
from warehouse.analysis.suites.tree import ids_named
from warehouse.analysis.text.duplicates_view import (
    DuplicateModel,
    DuplicatePlace,
    DuplicateRow,
    Duplicates,
)
from warehouse.analysis.text.embed import choose_embedder
from warehouse.analysis.text.parts import (
    embed_command,
    normalised,
    read_part,
    texts_of_part,
)
from warehouse.analysis.text.question import FindDuplicates
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.canonical_json import fingerprint
from warehouse.stats import NearPairs, near_pairs
from warehouse.stats.similarity.partitions import Agreement, pair_agreement
from warehouse.store.computed.prompt_vectors import (
    PROMPT,
    EmbedderRow,
    PromptVectors,
    count_embedded,
    read_vectors,
)
from warehouse.store.computed.result_cache import StorableArrays, StoredQuestion, answer
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text


@answers(FindDuplicates)
def duplicates(opener: StoreOpener, question: FindDuplicates) -> Duplicates:
    """Pairs of prompts whose texts are nearly the same."""
    part, threshold = question.part, question.threshold
    with opener.reading() as store:
        ids = ids_named(store, question.benchmarks)
        chosen = choose_embedder(store, question.embedder, part)
        texts = read_part(store, part, ids)
        vectors = read_vectors(store, chosen, ids, texts)
        if len(vectors.prompts) < 2:
            raise MisuseError(
                f"{len(vectors.prompts)} prompts here have a vector of {chosen.label}; "
                f"two are needed; run: {embed_command(part, *question.benchmarks)}"
            )
        names, ranks = _benchmark_ranks(store, vectors, ids, part)
        counts = count_embedded(store, chosen.id, ids, texts=texts).values()
    pairs, note = answer_pairs(
        opener,
        pairs_question(vectors, names, ranks, threshold, question.keep, chosen, part),
        fresh=question.fresh,
        n_prompts=len(vectors.prompts),
        compute=lambda: near_pairs(
            vectors.vectors,
            threshold,
            places=ranks,
            keep=question.keep,
            progress=question.progress,
        ),
        store_result=question.store_result,
    )
    with opener.reading() as store:
        rows, models = _scored(store, vectors, pairs, part)
    return Duplicates(
        threshold=threshold,
        embedder=chosen.label,
        n_compared=len(vectors.prompts),
        n_without_vector=sum(texts - embedded for _, texts, embedded in counts),
        n_pairs=pairs.n_pairs,
        n_prompts=pairs.n_rows,
        n_groups=pairs.n_groups,
        largest_group=pairs.largest,
        rows=rows,
        places=_by_benchmarks(names, pairs),
        models=models,
        notes=(note,) if note else (),
        part=part,
    )


def _benchmark_ranks(
    store: Store, vectors: PromptVectors, ids: Sequence[int] | None, part: str
) -> tuple[list[str], NDArray[np.intp]]:
    """Names of the benchmarks, and the number of that of each prompt."""
    condition = "prompt.benchmark_id in (:benchmark_ids)"
    if ids is None:
        condition = "1 = 1"
    if part == PROMPT:
        condition += " and prompt.text_hash is not null"
    query = query_text("analysis/text", "prompts_by_benchmark").format(
        condition=condition
    )
    columns = store.columns(query, {"benchmark_ids": ids or ()})
    coded = columns.table.column("benchmark").combine_chunks().dictionary_encode()
    names = coded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.argsort(np.array(order, dtype=np.intp))
    codes = np.array(coded.indices.to_pylist(), dtype=np.intp)
    rows = np.searchsorted(columns.whole_numbers("id"), vectors.prompts)
    return [names[index] for index in order], rank[codes[rows]]


def _by_benchmarks(
    names: Sequence[str], pairs: StoredPairs
) -> tuple[DuplicatePlace, ...]:
    rows = [
        DuplicatePlace(names[a], names[b], int(pairs.by_place[a, b]))
        for a, b in np.argwhere(np.triu(pairs.by_place)).tolist()
    ]
    return tuple(sorted(rows, key=lambda row: -row.n_pairs))


def _scored(
    store: Store, vectors: PromptVectors, pairs: StoredPairs, part: str
) -> tuple[tuple[DuplicateRow, ...], tuple[DuplicateModel, ...]]:
    """The kept pairs as rows, and the agreement of each model."""
    used, codes = np.unique(
        np.concatenate([pairs.first, pairs.second]), return_inverse=True
    )
    prompts = vectors.prompts[used]
    first = codes[: len(pairs.first)]
    second = codes[len(pairs.first) :]
    models, values = _values(store, prompts)
    agreement = pair_agreement(values, first, second)
    ids = prompts.tolist()
    texts = texts_of_part(store, part, ids)
    row_of = {
        prompt: row | {"text": texts.get(prompt)}
        for prompt, row in prompts_by_id(store, ids).items()
    }
    rows = tuple(
        _row(
            row_of[ids[a]],
            row_of[ids[b]],
            float(pairs.similarity[index]),
            agreement,
            index,
        )
        for index, (a, b) in enumerate(
            zip(first.tolist(), second.tolist(), strict=True)
        )
    )
    by_model = tuple(
        DuplicateModel(model, int(n), float(alike), float(chance))
        for model, n, alike, chance in zip(
            models,
            agreement.pairs_of_model,
            agreement.by_model,
            agreement.by_chance,
            strict=True,
        )
        if n
    )
    return rows, by_model


def _values(
    store: Store, prompts: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.float64]]:
    """Models, and their scores of some prompts scaled to 0–1, shape (models, prompts)."""
    scores = store.columns(
        query_text("analysis/text", "headline_scores_by_model"), {"prompt_ids": prompts}
    )
    named = scores.objects("model")
    models = sorted(set(named))
    row_of = {model: row for row, model in enumerate(models)}
    values = np.full((len(models), len(prompts)), np.nan)
    rows = np.array([row_of[model] for model in named], dtype=np.intp)
    columns = np.searchsorted(prompts, scores.whole_numbers("prompt_id"))
    scaled = scores.numbers("value")
    # else the declared bounds do not hold
    within = (scaled >= -1e-9) & (scaled <= 1 + 1e-9)
    values[rows[within], columns[within]] = np.clip(scaled[within], 0.0, 1.0)
    return models, values


def _row(
    a: dict[str, Any],
    b: dict[str, Any],
    similarity: float,
    agreement: Agreement,
    index: int,
) -> DuplicateRow:
    n_models = int(agreement.models_of_pair[index])
    targets = (expected_answer(a), expected_answer(b))
    same_target = None
    if None not in targets:
        same_target = targets[0] == targets[1]
    alike = None
    if n_models:
        alike = float(agreement.by_pair[index])
    return DuplicateRow(
        similarity=similarity,
        same_text=normalised(a["text"] or "") == normalised(b["text"] or ""),
        same_target=same_target,
        n_models=n_models,
        alike=alike,
        benchmark_a=a["benchmark"],
        prompt_a=a["id"],
        tool_id_a=a["tool_id"],
        text_a=a["text"],
        target_a=a["target"],
        benchmark_b=b["benchmark"],
        prompt_b=b["id"],
        tool_id_b=b["tool_id"],
        text_b=b["text"],
        target_b=b["target"],
    )


#: Prompts from which on it pays to store their pairs: fewer are compared in less than a
#: second.
WORTH_STORING = 10_000
METHOD = "1"


@dataclass(frozen=True)
class StoredPairs(StorableArrays):
    """The parts that `duplicates` takes from :class:`warehouse.stats.NearPairs`; rows
    are those of vectors."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    similarity: NDArray[np.float64]
    n_pairs: int
    by_place: NDArray[np.int64]
    n_rows: int  #: rows that are in a pair.
    n_groups: int  #: groups that pairs connect.
    largest: int  #: rows in the largest group.

    DTYPES = {
        "first": np.intp,
        "second": np.intp,
        "similarity": np.float64,
        "by_place": np.int64,
    }

    @classmethod
    def of(cls, pairs: NearPairs) -> StoredPairs:
        """The parts that are taken from the pairs that were found."""
        sizes = np.bincount(pairs.groups)
        joined = sizes[sizes > 1]
        return cls(
            pairs.first,
            pairs.second,
            pairs.similarity,
            pairs.n_pairs,
            pairs.by_place,
            n_rows=int(joined.sum()),
            n_groups=len(joined),
            largest=int(joined.max(initial=0)),
        )


def pairs_question(
    vectors: PromptVectors,
    names: Sequence[str],
    ranks: NDArray[np.intp],
    threshold: float,
    keep: int,
    embedder: EmbedderRow,
    part: str = PROMPT,
) -> StoredQuestion:
    """The question that the pairs of these vectors are stored under."""
    data = fingerprint(
        vectors.prompts.tobytes(), vectors.vectors.tobytes(), ranks.tobytes(), *names
    )
    parameters = {"threshold": threshold, "keep": keep, "embedder": embedder.label}
    if part != PROMPT:
        parameters["part"] = part
    return StoredQuestion(
        "near_pairs", ", ".join(names), METHOD, data, parameters=parameters
    )


def answer_pairs(
    opener: StoreOpener,
    question: StoredQuestion,
    *,
    fresh: bool,
    n_prompts: int,
    compute: Callable[[], NearPairs],
    store_result: bool = True,
) -> tuple[StoredPairs, str]:
    """The stored pairs, else new ones, which are then stored where they are many.

    Args:
        store_result: False for a trial: new pairs are not stored.

    Returns:
        the pairs, and what a reader should know of where they come from.
    """
    if n_prompts < WORTH_STORING:
        return StoredPairs.of(compute()), ""
    answered = answer(
        opener,
        question,
        StoredPairs,
        lambda _now: StoredPairs.of(compute()),
        fresh=fresh,
        store_result=store_result,
    )
    if answered.read_back:
        return (
            answered.result,
            f"read back: compared on {answered.computed_on}; no text has changed",
        )
    not_stored = ""
    if answered.not_stored:
        not_stored = f"not stored: {answered.not_stored}"
    return (
        answered.result,
        not_stored,
    )
