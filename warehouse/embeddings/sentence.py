"""The models of sentence-transformers, as this program takes them; the package is an extra."""

from __future__ import annotations

import importlib
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.embeddings.folders import DIGITS
from warehouse.embeddings.protocols import Vectors
from warehouse.errors import InputError
from warehouse.extras import load

#: Texts that a model reads at a time.
BATCH = 32
#: Where models come from that are named and not on this machine, and how long it may take to answer [s].
HUB, PATIENCE = "https://huggingface.co", 6.0


class SentenceEmbedder:
    """A sentence-transformers model as an :class:`Embedder`."""

    def __init__(self, name: str, revision: str, model: Any, batch_size: int = BATCH) -> None:
        self.name, self.revision, self.model, self.batch_size = name, revision, model, batch_size
        self.dimension = int(_dimension(model))
        longest = getattr(model, "max_seq_length", None)
        self.max_length = int(longest) if longest and longest < 1e9 else None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, dimension)."""
        vectors: Vectors = self.model.encode(
            list(texts), batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return vectors.astype(np.float32, copy=False)

    def too_long(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have more tokens than the model reads, shape (n,)."""
        return _longer(self.model.tokenizer, (texts,), self.max_length)


class CrossEntailment:
    """A cross-encoder with three (or two) labels as an :class:`Entailment`."""

    def __init__(self, name: str, revision: str, model: Any, label: int, batch_size: int = BATCH) -> None:
        self.name, self.revision, self.model = name, revision, model
        self.label, self.batch_size = label, batch_size

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.bool_]:
        """Whether ``entailment`` is the most likely label of each pair, shape (n,)."""
        if not len(premises):
            return np.empty(0, np.bool_)
        scores = self.model.predict(
            list(zip(premises, hypotheses, strict=True)),
            batch_size=self.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(np.argmax(scores, axis=1) == self.label, np.bool_)

    def too_long(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.bool_]:
        """Which pairs have more tokens than the model reads, shape (n,)."""
        longest = getattr(self.model, "max_seq_length", None) or getattr(self.model, "max_length", None)
        return _longer(self.model.tokenizer, (premises, hypotheses), longest)


def _package() -> Any:
    return load("sentence_transformers", "embed", "a text model")


def reach_hub(spec: str, *, patience: float = PATIENCE) -> None:
    """Ask whether the hub answers at all: its own packages try again and again for minutes.

    Args:
        spec: the model that is wanted.
        patience: seconds to wait.

    Raises:
        InputError: it does not, or may not be asked (``HF_HUB_OFFLINE``).
    """
    hub = os.environ.get("HF_ENDPOINT") or HUB
    failed: list[str] = []
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        failed = ["HF_HUB_OFFLINE is set"]
    else:
        # looking up a name has no limit of time: wait for it no longer than for the rest
        asking = threading.Thread(target=lambda: failed.extend(_unanswered(hub, patience)), daemon=True)
        asking.start()
        asking.join(patience)
        if asking.is_alive():
            failed = [f"no answer in {patience:g} s"]
    if failed:
        raise InputError(
            f"the model is not on this machine, and {hub} cannot be reached: {failed[0]}",
            path=spec,
            advice="give a folder that holds the model",
        )


def _unanswered(hub: str, patience: float) -> list[str]:
    """Why a hub gives no answer; empty: it gives one, whatever it is."""
    try:
        with urllib.request.urlopen(urllib.request.Request(hub, method="HEAD"), timeout=patience):
            return []
    except urllib.error.HTTPError:
        return []
    except (OSError, ValueError) as error:  # URLError is one of the first
        return [" ".join(str(getattr(error, "reason", error)).split())]


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars of the packages while a model is loaded."""
    bars = importlib.import_module("transformers").utils.logging
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def load_model(kind: str, spec: str, folder: Path | None, device: str | None) -> Any:
    """A model of a class of the package.

    Args:
        kind: ``SentenceTransformer`` or ``CrossEncoder``.
        spec: its name on the hub, or what the user called its folder.
        folder: where it lies; the network is not touched then.

    Raises:
        MisuseError: the package is not installed.
        InputError: there is no such model, or it cannot be read.
    """
    made = getattr(_package(), kind)
    with _quiet():
        return _read(made, spec, folder, device)


def _read(kind: Any, spec: str, folder: Path | None, device: str | None) -> Any:
    place = spec if folder is None else str(folder)
    if folder is None:
        with suppress(Exception):  # not kept on this machine yet: fetched below
            return kind(place, device=device, local_files_only=True)
        reach_hub(spec)
    try:
        return kind(place, device=device, local_files_only=folder is not None)
    except Exception as error:  # the packages raise what their own readers raise
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise InputError(
            f"the model cannot be loaded: {reason}",
            path=spec,
            advice="" if folder else "without network, give a folder that holds the model",
        ) from None


def _dimension(model: Any) -> Any:
    named = getattr(model, "get_embedding_dimension", None)
    return (named or model.get_sentence_embedding_dimension)()


def hub_revision(model: Any) -> str:
    """The hub's commit of a model, empty where it is not known."""
    inner = getattr(next(iter(model), None), "auto_model", None)
    return str(getattr(getattr(inner, "config", None), "_commit_hash", None) or "")[:DIGITS]


def _longer(tokenizer: Any, texts: Sequence[Sequence[str]], longest: int | None) -> NDArray[np.bool_]:
    """Which texts (or pairs of texts) have more than ``longest`` tokens, marks included."""
    n = len(texts[0])
    if longest is None or not callable(tokenizer) or not n:
        return np.zeros(n, np.bool_)
    encoded = tokenizer(*map(list, texts), truncation=False, add_special_tokens=True, verbose=False)
    lengths = [len(tokens) for tokens in encoded["input_ids"]]
    return np.asarray(np.array(lengths) > longest, np.bool_)


def entailment_label(model: Any, folder: Path) -> int:
    """Number of the model's label ``entailment``.

    Raises:
        InputError: it has none.
    """
    labels = {int(key): str(name) for key, name in model.model.config.id2label.items()}
    for key, name in labels.items():
        if len(labels) > 1 and name.lower() == "entailment":
            return key
    raise InputError(
        f"the model's labels are {', '.join(labels.values())}",
        path=str(folder),
        expected="a label 'entailment'",
        advice="give a natural-language-inference model",
    )
