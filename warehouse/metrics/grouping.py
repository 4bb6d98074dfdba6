"""Which generations of a prompt say the same: four ways to put them into semantic sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from warehouse.embeddings import Embedder, Entailment, encode
from warehouse.errors import MisuseError
from warehouse.metrics.generations import Generations
from warehouse.stats.neighbours import cosine_of_pairs
from warehouse.stats.partition import Codes, connect, pairs_within

#: Text of some prompts by id.
Questions = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True)
class SemanticSets:
    """Semantic sets of generations.

    Attributes:
        codes: set of each generation; equal numbers of one prompt are one set, shape (g,).
        is_answer: whether it says anything; all that say nothing are one set, shape (g,).
    """

    codes: Codes
    is_answer: NDArray[np.bool_]


Grouper = Callable[[Generations, Questions], SemanticSets]


def by_answer(generations: Generations, _questions: Questions) -> SemanticSets:
    """Generations with the same answer, but for white space around it."""
    return _coded(pc.utf8_trim_whitespace(generations.texts))


def by_text(generations: Generations, _questions: Questions) -> SemanticSets:
    """Generations with the same normalised text: Unicode NFKC, lower case, single blanks."""
    return _coded(normalised(generations.texts))


def by_embedding(embedder: Embedder, threshold: float) -> Grouper:
    """Generations whose vectors are at least so similar, and what they are joined to.

    Raises:
        MisuseError: ``threshold`` is no cosine similarity.
    """
    if not -1 < threshold <= 1:
        raise MisuseError(f"a cosine similarity lies in (-1, 1], found {threshold}")

    def grouper(generations: Generations, _questions: Questions) -> SemanticSets:
        def alike(owners: NDArray[np.int64], texts: list[str], a: Codes, b: Codes) -> Codes:
            vectors = encode(embedder, texts)
            known = np.asarray(vectors.any(axis=1), np.bool_)
            usable = np.flatnonzero(known[a] & known[b])
            near = cosine_of_pairs(vectors, a[usable], b[usable]) >= threshold - 1e-12
            return usable[near]

        return _joined(generations, alike)

    return grouper


def by_entailment(model: Entailment) -> Grouper:
    """Generations that follow from one another, in both directions, after the question."""

    def grouper(generations: Generations, questions: Questions) -> SemanticSets:
        def alike(owners: NDArray[np.int64], texts: list[str], a: Codes, b: Codes) -> Codes:
            asked = questions(np.unique(owners).tolist())
            said = [f"{asked.get(one, '')} {text}".strip()
                    for one, text in zip(owners.tolist(), texts, strict=True)]  # fmt: skip
            one, other = [said[place] for place in a], [said[place] for place in b]
            forth = np.flatnonzero(model.entails(one, other))
            back = model.entails([other[place] for place in forth], [one[place] for place in forth])
            return forth[np.asarray(back, np.bool_)].astype(np.intp)

        return _joined(generations, alike)

    return grouper


def normalised(texts: pa.Array) -> pa.Array:
    """Texts in Unicode NFKC and lower case, with single blanks between words."""
    plain = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, r"\s+", " "))


def _coded(texts: pa.Array) -> SemanticSets:
    """Equal texts are one set; null and empty ones are another."""
    said = pc.if_else(pc.equal(texts, ""), None, texts)
    encoded = said.dictionary_encode()
    codes = np.array(encoded.indices.fill_null(len(encoded.dictionary)).to_pylist(), np.intp)
    return SemanticSets(codes, codes < len(encoded.dictionary))


def _joined(
    generations: Generations,
    alike: Callable[[NDArray[np.int64], list[str], Codes, Codes], Codes],
) -> SemanticSets:
    """Different texts of a prompt that a model finds alike, directly or through others.

    ``alike`` is given the prompt and the text of each different one, and pairs of them; it
    returns the places of the pairs that are alike.
    """
    equal = _coded(pc.utf8_trim_whitespace(generations.texts))
    said = np.flatnonzero(equal.is_answer)
    width = int(equal.codes.max(initial=0)) + 1
    keys = generations.prompts[said] * width + equal.codes[said]
    distinct, first, places = np.unique(keys, return_index=True, return_inverse=True)
    owners = distinct // width
    texts = generations.texts.take(pa.array(said[first])).to_pylist()
    a, b = pairs_within(owners)
    groups: Codes = np.arange(len(distinct), dtype=np.intp)
    if len(a):
        pairs = alike(owners, texts, a, b)
        groups = connect(groups, a[pairs], b[pairs])
    codes = np.full(len(equal.codes), len(distinct), np.intp)
    codes[said] = groups[places]
    return SemanticSets(codes, equal.is_answer)
