"""Prompts that ask nearly the same as a prompt or a text (statistics.md §9)."""

from __future__ import annotations

import numpy as np

from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.prompts import find_prompt, prompts_by_id
from warehouse.analysis.text.embed import choose_embedder
from warehouse.analysis.text.parts import embed_command, read_part, texts_of_part
from warehouse.analysis.text.question import FindSimilar
from warehouse.analysis.text.similar_view import Similar, SimilarRow
from warehouse.embeddings import (
    Embedder,
    Vectors,
    encode,
    is_own,
    load_embedder,
    refuse_for_own,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import nearest
from warehouse.store.computed.prompt_vectors import (
    PROMPT,
    EmbedderRow,
    PartTexts,
    PromptVectors,
    read_vectors,
)
from warehouse.store.connection import Store


@answers(FindSimilar)
def similar(store: Store, question: FindSimilar) -> Similar:
    """The prompts whose text is nearest to that of a prompt, or to a text."""
    embedder, device, part, benchmark = (
        question.embedder,
        question.device,
        question.part,
        question.benchmark,
    )
    if isinstance(embedder, str) and is_own(embedder):
        embedder = load_embedder(embedder, device=device)
    elif isinstance(embedder, Embedder):
        refuse_for_own(device)
    chosen = choose_embedder(store, _name(embedder), part)
    ids = None if benchmark is None else find_benchmark(store, benchmark).ids
    texts = read_part(store, part, None)
    vectors = read_vectors(store, chosen, ids, texts)
    if not len(vectors.prompts):
        where = "in the store" if benchmark is None else f"of {benchmark}"
        command = embed_command(part, *([] if benchmark is None else [benchmark]))
        raise MisuseError(
            f"no prompt {where} has a vector of {chosen.label}; run: {command}"
        )
    text = (
        f"prompt:{question.wanted}"
        if isinstance(question.wanted, int)
        else question.wanted
    )
    prompt = find_prompt(store, text, ids)
    if prompt is None:
        query = _embedded(text, embedder, chosen, device)
        others = vectors
    elif device is not None:
        raise MisuseError(
            f"--device is for the model of a text, and prompt:{prompt} has a vector"
        )
    else:
        query = _stored(store, vectors, prompt, chosen, texts)
        kept = vectors.prompts != prompt
        others = PromptVectors(vectors.prompts[kept], vectors.vectors[kept])
    neighbours = nearest(query, others.vectors, question.top)
    return _result(
        store,
        text,
        prompt,
        chosen,
        others,
        neighbours.indices,
        neighbours.similarities,
        part,
    )


def _result(
    store: Store,
    wanted: str,
    prompt: int | None,
    chosen: EmbedderRow,
    others: PromptVectors,
    indices: np.ndarray,
    similarities: np.ndarray,
    part: str,
) -> Similar:
    near = others.prompts[indices].tolist()
    if prompt is None:
        ids = near
    else:
        ids = [*near, prompt]
    rows_of = prompts_by_id(store, ids)
    texts = texts_of_part(store, part, ids)
    rows = tuple(
        SimilarRow(
            rank=index + 1,
            similarity=float(similarities[index]),
            prompt_id=number,
            text=texts.get(number),
            **{
                name: rows_of[number][name]
                for name in ("benchmark", "split", "key", "tool_id", "target")
            },
        )
        for index, number in enumerate(near)
    )
    if prompt is None:
        text = wanted
    else:
        text = texts.get(prompt, wanted)
    return Similar(text, prompt, chosen.label, len(others.prompts), rows, part)


def _name(embedder: str | Embedder | None) -> str | None:
    if embedder is None or isinstance(embedder, str):
        return embedder
    if embedder.revision:
        return f"{embedder.name}@{embedder.revision}"
    return embedder.name


def _stored(
    store: Store,
    vectors: PromptVectors,
    prompt: int,
    chosen: EmbedderRow,
    texts: PartTexts | None,
) -> Vectors:
    for loaded in (vectors, None):  # else it stands in another benchmark
        vectors = read_vectors(store, chosen, None, texts) if loaded is None else loaded
        (rows,) = np.nonzero(vectors.prompts == prompt)
        if len(rows):
            return np.asarray(vectors.vectors[rows[0]], np.float32)
    if texts is None:
        part = PROMPT
    else:
        part = texts.part
    if texts is not None and prompt not in texts.hashes:
        raise MisuseError(f"prompt:{prompt} has no {part}")
    raise MisuseError(
        f"prompt:{prompt} has no vector of {chosen.label} for its text; run: "
        f"{embed_command(part)}"
    )


def _embedded(
    text: str, embedder: str | Embedder | None, chosen: EmbedderRow, device: str | None
) -> Vectors:
    model = embedder
    if model is None or isinstance(model, str):
        model = _loaded(model, chosen, device)
    if (model.revision, model.dimension) != (chosen.revision, chosen.dimension):
        raise MisuseError(
            f"the model is revision {model.revision or 'unknown'} with "
            f"{model.dimension} numbers, the stored vectors are of {chosen.label} with "
            f"{chosen.dimension}; run: warehouse text embed with this model, or give the "
            "one of the vectors"
        )
    vector: Vectors = encode(model, [text])[0]
    if not vector.any():
        raise MisuseError(
            f"{chosen.name} knows no word of {text!r}; ask with another text"
        )
    return vector


def _loaded(embedder: str | None, chosen: EmbedderRow, device: str | None) -> Embedder:
    """The model of the vectors; one from a folder is stored without saying where it
    lies."""
    if embedder in (None, chosen.label) and "/" not in chosen.name:
        raise MisuseError(
            f"no prompt is called so, and a text needs the model of {chosen.label}; "
            f"say where it is: --embedder {chosen.name}=FOLDER"
        )
    return load_embedder(
        chosen.name if embedder in (None, chosen.label) else embedder, device=device
    )
