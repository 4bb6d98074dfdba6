"""Text to vectors, and whether one text entails another: models behind two small
protocols.

Models are sentence-transformers', from a folder (no network) or by their name on the
hub. The package is an extra, imported when a model is loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import InputError, MisuseError
from warehouse.extras import load
from warehouse.questions.text_models import BATCH as BATCH
from warehouse.questions.text_models import Embedder as Embedder
from warehouse.questions.text_models import Entailment as Entailment

#: One row per text, 32 bits, shape (n, dimension).
Vectors = NDArray[np.float32]


def encode(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Vectors of ``texts``, checked; a text without a direction has a row of zeros.

    Raises:
        InputError: the embedder gave another number or length of vectors than it
            should.
    """
    if not len(texts):
        return np.empty((0, embedder.dimension), np.float32)
    vectors = np.ascontiguousarray(embedder.encode(texts), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.dimension):
        raise InputError(
            f"gave vectors of shape {vectors.shape}",
            path=embedder.name,
            expected=f"{len(texts)} vectors of {embedder.dimension} numbers",
        )
    wrong = ~np.isfinite(vectors).all(axis=1)
    if wrong.any():
        vectors = vectors.copy()
        vectors[wrong] = 0
    return vectors


#: Where models come from that are named and not on this machine, and how long it may
#: take to answer [s].
HUB, PATIENCE = "https://huggingface.co", 6.0


class SentenceEmbedder:
    """A sentence-transformers model as an :class:`Embedder`."""

    def __init__(
        self, name: str, revision: str, model: Any, batch_size: int = BATCH
    ) -> None:
        self.name, self.revision, self.model, self.batch_size = (
            name,
            revision,
            model,
            batch_size,
        )
        self.dimension = int(_dimension(model))
        longest = getattr(model, "max_seq_length", None)
        self.max_length = int(longest) if longest and longest < 1e9 else None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, dimension)."""
        with _enough_memory(self.name, self.batch_size):
            vectors: Vectors = self.model.encode(
                list(texts),
                batch_size=self.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return vectors.astype(np.float32, copy=False)

    def too_long(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have more tokens than the model reads, shape (n,)."""
        return _longer(self.model.tokenizer, (texts,), self.max_length)


@contextmanager
def _enough_memory(model: str, batch_size: int) -> Iterator[None]:
    """Torch has one error for all that fails; a device without room is the user's to
    mend."""
    try:
        yield
    except RuntimeError as error:
        if "allocate" not in str(error):
            raise
        raise InputError(
            f"the device has not the memory for {batch_size} texts at a time",
            path=model,
            advice="give a smaller --batch-size, or another --device",
        ) from None


class CrossEntailment:
    """A cross-encoder with three (or two) labels as an :class:`Entailment`."""

    def __init__(
        self, name: str, revision: str, model: Any, label: int, batch_size: int = BATCH
    ) -> None:
        self.name, self.revision, self.model = name, revision, model
        self.label, self.batch_size = label, batch_size

    def entails(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Whether ``entailment`` is the most likely label of each pair, shape (n,)."""
        if not len(premises):
            return np.empty(0, np.bool_)
        with _enough_memory(self.name, self.batch_size):
            scores = self.model.predict(
                list(zip(premises, hypotheses, strict=True)),
                batch_size=self.batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return np.asarray(np.argmax(scores, axis=1) == self.label, np.bool_)

    def too_long(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Which pairs have more tokens than the model reads, shape (n,)."""
        longest = getattr(self.model, "max_seq_length", None) or getattr(
            self.model, "max_length", None
        )
        return _longer(self.model.tokenizer, (premises, hypotheses), longest)


def reach_hub(spec: str, *, patience: float = PATIENCE) -> None:
    """Ask whether the hub answers at all: its own packages try again and again for
    minutes.

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
        # looking up a name has no limit of time: wait for it no longer than for the
        # rest
        asking = threading.Thread(
            target=lambda: failed.extend(_unanswered(hub, patience)), daemon=True
        )
        asking.start()
        asking.join(patience)
        if asking.is_alive():
            failed = [f"no answer in {patience:g} s"]
    if failed:
        raise InputError(
            f"the model is not on this machine, and {hub} cannot be reached: "
            f"{failed[0]}",
            path=spec,
            advice="give a folder that holds the model",
        )


def _unanswered(hub: str, patience: float) -> list[str]:
    """Why a hub gives no answer; empty: it gives one, whatever it is."""
    import urllib.error  # with what it loads it takes longer than most answers without a model
    import urllib.request

    try:
        with urllib.request.urlopen(
            urllib.request.Request(hub, method="HEAD"), timeout=patience
        ):
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
    made = getattr(load("sentence_transformers", "embed", "a text model"), kind)
    with _quiet():
        return _read(made, spec, folder, device)


def _read(kind: Any, spec: str, folder: Path | None, device: str | None) -> Any:
    if folder is None:
        source = spec
    else:
        source = str(folder)
    if folder is None:
        with suppress(Exception):  # not kept on this machine yet: fetched below
            return kind(source, device=device, local_files_only=True)
        reach_hub(spec)
    try:
        return kind(source, device=device, local_files_only=folder is not None)
    except Exception as error:  # the packages raise what their own readers raise
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise InputError(
            f"the model cannot be loaded: {reason}",
            path=spec,
            advice=""
            if folder
            else "without network, give a folder that holds the model",
        ) from None


def _dimension(model: Any) -> Any:
    named = getattr(model, "get_embedding_dimension", None)
    return (named or model.get_sentence_embedding_dimension)()


def hub_revision(model: Any) -> str:
    """The hub's commit of a model, empty where it is not known."""
    inner = getattr(next(iter(model), None), "auto_model", None)
    return str(getattr(getattr(inner, "config", None), "_commit_hash", None) or "")[
        :DIGITS
    ]


def _longer(
    tokenizer: Any, texts: Sequence[Sequence[str]], longest: int | None
) -> NDArray[np.bool_]:
    """Which texts (or pairs of texts) have more than ``longest`` tokens, marks
    included."""
    n = len(texts[0])
    if longest is None or not callable(tokenizer) or not n:
        return np.zeros(n, np.bool_)
    encoded = tokenizer(
        *map(list, texts), truncation=False, add_special_tokens=True, verbose=False
    )
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


_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_LABELLED = re.compile(r"(?P<label>[^=/\\:]+)=(?P<rest>.+)")


def load_embedder(
    spec: str, *, device: str | None = None, batch_size: int = BATCH
) -> Embedder:
    """An embedder by what the user calls it.

    Args:
        spec: a folder that holds a sentence-transformers model (never touches the
            network), a model's name on the hub, or ``module:function`` of your own that
            returns an :class:`Embedder`. ``NAME=`` before the first two gives it
            another name.
        device: ``cpu``, ``cuda``, …; None: the fastest there is.
        batch_size: texts that the model reads at a time.

    Raises:
        MisuseError: the package is not installed, or the function is not there; a
            device or a size of batches for what a function returns.
        InputError: no model in this place.
    """
    if is_own(spec):
        refuse_for_own(device, batch_size)
        return _own_embedder(spec)
    if Path(spec).exists():
        labelled = None
    else:
        labelled = _LABELLED.fullmatch(spec)
    label, source = (None, spec)
    if labelled:
        label, source = (labelled["label"], labelled["rest"])
    folder = find_folder(source)
    model = load_model("SentenceTransformer", source, folder, device)
    name = label or (source if folder is None else folder.name)
    if folder is None:
        revision = hub_revision(model)
    else:
        revision = folder_revision(folder)
    return SentenceEmbedder(name, revision, model, batch_size)


def load_entailment(
    folder: str | Path, *, device: str | None = None, batch_size: int = BATCH
) -> Entailment:
    """A natural-language-inference cross-encoder from a folder.

    Args:
        folder: holds a sequence classification model with a label ``entailment``; or
            ``module:function`` of your own that returns an :class:`Entailment`.

    Raises:
        MisuseError: the package is not installed, or the function is not there; a
            device or a size of batches for what a function returns.
        InputError: no such folder, or a model without that label.
    """
    if is_own(str(folder)):
        refuse_for_own(device, batch_size)
        made = _call(str(folder))
        if not isinstance(made, Entailment):
            raise MisuseError(
                f"{folder} returned {type(made).__name__}, which cannot entail"
            )
        return made
    path = find_folder(str(folder))
    if path is None:
        raise InputError(
            "no such folder",
            path=str(folder),
            expected="a folder with an NLI cross-encoder",
        )
    model = load_model("CrossEncoder", str(folder), path, device)
    label, revision = entailment_label(model, path), folder_revision(path)
    return CrossEntailment(path.name, revision, model, label, batch_size)


def is_own(spec: str) -> bool:
    """Whether ``spec`` is ``module:function``."""
    return bool(_OWN.fullmatch(spec)) and not Path(spec).exists()


def refuse_for_own(device: str | None, batch_size: int = BATCH) -> None:
    """Refuse what a model that somebody made already has chosen for itself.

    Raises:
        MisuseError: a device, or a size of batches.
    """
    if device is not None or batch_size != BATCH:
        name = "--device"
        if device is None:
            name = "--batch-size"
        raise MisuseError(
            f"{name} is for models that are loaded by folder or name: MODULE:FUNCTION "
            "and objects say it"
        )


def _own_embedder(spec: str) -> Embedder:
    made = _call(spec)
    if not isinstance(made, Embedder):
        raise MisuseError(
            f"{spec} returned {type(made).__name__}; expected an object with name,"
            " revision, dimension, max_length, encode and too_long"
        )
    return made


def _call(spec: str) -> Any:
    module, _, name = spec.partition(":")
    try:
        return getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise MisuseError(f"{spec} cannot be loaded: {error}") from None


_PATH = ("/", "./", "../", "~", ".\\", "..\\")
#: Files of a model folder that do not change what it computes.
_IDLE = {".md", ".gitattributes", ".lock"}
#: Hexadecimal digits of a revision.
DIGITS = 12


def find_folder(spec: str) -> Path | None:
    """The folder that ``spec`` names; None where it is a name on the hub.

    Raises:
        InputError: it is a path, and there is no model folder.
    """
    path = Path(spec).expanduser()
    if path.is_dir():
        if not any((path / name).exists() for name in ("modules.json", "config.json")):
            raise InputError(
                "the folder holds no model",
                path=spec,
                expected="modules.json or config.json",
            )
        return path.resolve()
    if path.exists() or spec.startswith(_PATH) or spec.count("/") > 1:
        raise InputError(
            "no such folder",
            path=spec,
            expected="a folder that holds a sentence-transformers model",
        )
    return None


def folder_revision(folder: Path) -> str:
    """The head of a sha256 over the files of a model folder: other weights, other
    revision."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if (
            path.is_file()
            and path.suffix not in _IDLE
            and not path.name.startswith(".")
        ):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGITS]
