"""Small models for tests: an embedder and an entailment of a few lines, and real ones
on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMENSION = 32


@dataclass
class TinyEmbedder:
    """Sums a fixed random vector for each word; a text of unknown words (``?``) gives
    zeros."""

    name: str = "tiny"
    revision: str = "1"
    dimension: int = DIMENSION
    max_length: int | None = 8
    seen: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return np.stack([self._vector(text) for text in texts])

    def too_long(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        limit = self.max_length or 10**9
        return np.array([len(text.split()) > limit for text in texts], np.bool_)

    def _vector(self, text: str) -> NDArray[np.float32]:
        words = [word for word in text.lower().split() if word != "?"]
        vectors = [
            word_vector(word, self.dimension) for word in words[: self.max_length]
        ]
        return np.sum([np.zeros(self.dimension), *vectors], axis=0).astype(np.float32)


@cache
def word_vector(word: str, dimension: int = DIMENSION) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension)


@dataclass
class WordsEntail:
    """A text entails another that has no further words; premises carry the question in
    front."""

    name: str = "words"
    revision: str = "1"
    asked: int = 0

    def entails(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        self.asked += len(premises)
        pairs = zip(premises, hypotheses, strict=True)
        return np.array([set(b.split()) <= set(a.split()) for a, b in pairs], np.bool_)

    def too_long(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        pairs = zip(premises, hypotheses, strict=True)
        return np.array([len(f"{a} {b}".split()) > 8 for a, b in pairs], np.bool_)


def tiny() -> TinyEmbedder:
    return TinyEmbedder()


def wider() -> TinyEmbedder:
    """The same name and revision with vectors of another length."""
    return TinyEmbedder(dimension=DIMENSION + 1)


def lying() -> TinyEmbedder:
    """Promises more numbers than it gives."""
    embedder = TinyEmbedder(name="lying")
    embedder.encode = lambda texts: np.ones((len(texts), 3), np.float32)  # type: ignore[method-assign]
    return embedder


def nothing() -> object:
    return object()


def words() -> WordsEntail:
    return WordsEntail()


VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghij",
    "yes",
    "no",
    "maybe",
]


def save_bert(folder: Path, **settings: Any) -> tuple[Any, Any]:
    """Configuration and tokenizer of a BERT of two small layers, with seeded weights."""
    import torch
    from transformers import BertConfig, BertTokenizerFast

    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=16)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
        **settings,
    )
    tokenizer.save_pretrained(folder)
    return config, tokenizer


def save_embedder(folder: Path) -> Path:
    """A real sentence-transformers model with random weights, saved to a folder."""
    from sentence_transformers import SentenceTransformer
    from transformers import BertModel

    config, _ = save_bert(folder / "bert")
    BertModel(config).save_pretrained(folder / "bert")
    SentenceTransformer(str(folder / "bert"), device="cpu").save(str(folder / "model"))
    return folder / "model"


def save_entailment(folder: Path, labels: Sequence[str]) -> Path:
    """A real cross-encoder with random weights and these labels, saved to a folder."""
    from transformers import BertForSequenceClassification

    names = dict(enumerate(labels))
    config, _ = save_bert(
        folder, id2label=names, label2id={v: k for k, v in names.items()}
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
