"""Text to vectors, and whether one text entails another: models behind two small protocols.

Models are sentence-transformers', from a folder (no network) or by their name on the hub. The
package is an extra, imported when a model is loaded.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from warehouse.embeddings.folders import find_folder, folder_revision
from warehouse.embeddings.protocols import Embedder, Entailment, Vectors, encode
from warehouse.embeddings.sentence import (
    BATCH,
    CrossEntailment,
    SentenceEmbedder,
    entailment_label,
    hub_revision,
    load_model,
)
from warehouse.errors import InputError, MisuseError

__all__ = [
    "BATCH",
    "CrossEntailment",
    "Embedder",
    "Entailment",
    "SentenceEmbedder",
    "Vectors",
    "encode",
    "find_folder",
    "folder_revision",
    "is_own",
    "load_embedder",
    "load_entailment",
]

_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_LABELLED = re.compile(r"(?P<label>[^=/\\:]+)=(?P<rest>.+)")


def load_embedder(spec: str, *, device: str | None = None, batch_size: int = BATCH) -> Embedder:
    """An embedder by what the user calls it.

    Args:
        spec: a folder that holds a sentence-transformers model (never touches the network), a
            model's name on the hub, or ``module:function`` of your own that returns an
            :class:`Embedder`. ``NAME=`` before the first two gives it another name.
        device: ``cpu``, ``cuda``, …; None: the fastest there is.
        batch_size: texts that the model reads at a time.

    Raises:
        MisuseError: the package is not installed, or the function is not there; a device or a size of batches for
            what a function returns.
        InputError: no model in this place.
    """
    if is_own(spec):
        refuse_for_own(device, batch_size)
        return _own_embedder(spec)
    labelled = None if Path(spec).exists() else _LABELLED.fullmatch(spec)
    label, place = (labelled["label"], labelled["rest"]) if labelled else (None, spec)
    folder = find_folder(place)
    model = load_model("SentenceTransformer", place, folder, device)
    name = label or (place if folder is None else folder.name)
    revision = hub_revision(model) if folder is None else folder_revision(folder)
    return SentenceEmbedder(name, revision, model, batch_size)


def load_entailment(folder: str | Path, *, device: str | None = None, batch_size: int = BATCH) -> Entailment:
    """A natural-language-inference cross-encoder from a folder.

    Args:
        folder: holds a sequence classification model with a label ``entailment``; or
            ``module:function`` of your own that returns an :class:`Entailment`.

    Raises:
        MisuseError: the package is not installed, or the function is not there; a device or a size of batches for
            what a function returns.
        InputError: no such folder, or a model without that label.
    """
    if is_own(str(folder)):
        refuse_for_own(device, batch_size)
        made = _call(str(folder))
        if not isinstance(made, Entailment):
            raise MisuseError(f"{folder} returned {type(made).__name__}, which cannot entail")
        return made
    path = find_folder(str(folder))
    if path is None:
        raise InputError("no such folder", path=str(folder), expected="a folder with an NLI cross-encoder")
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
        name = "--batch-size" if device is None else "--device"
        raise MisuseError(f"{name} is for models that are loaded by folder or name: MODULE:FUNCTION and objects say it")


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
