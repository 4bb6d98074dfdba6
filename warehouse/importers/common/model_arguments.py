"""Arguments of a model in one text, and the training position that names tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.json_fields import whole_or_none

_CHECKPOINT_PART = re.compile(r"(?:global_?)?(?:step|checkpoint|ckpt|epoch|iter)[-_=]?\d+(?:\.\d+)?", re.IGNORECASE)


_EPOCH = re.compile(r"(?:^|[^a-z])epoch[-_=]?(\d+(?:\.\d+)?)", re.IGNORECASE)
_NAME_SUFFIX = re.compile(r"(?<=\w)[-_.](?:step|checkpoint|ckpt)[-_=]?\d{2,}$", re.IGNORECASE)


_UNSAFE = re.compile(r'["<>:/|\\?*\[\]]+')
_INTEGER = re.compile(r"[+-]?\d+")


_LONGEST = 20  # characters of a number of 64 bits
#: A comma between two arguments, not one inside a list or an object.
_SEPARATOR = re.compile(r",(?=\s*[\w.-]+\s*=)")


def parse_arguments(arguments: Any) -> dict[str, Any]:
    """``model_args`` or ``gen_kwargs`` as a dictionary; before 0.4.10 they are comma text.

    >>> parse_arguments("pretrained=org/m,dtype=float16,trust_remote_code=True,top_k=5")
    {'pretrained': 'org/m', 'dtype': 'float16', 'trust_remote_code': True, 'top_k': 5}
    """
    if isinstance(arguments, Mapping):
        return dict(arguments)
    if not isinstance(arguments, str):
        return {}
    pairs = (part.partition("=") for part in _SEPARATOR.split(arguments) if part.strip())
    return {name.strip(): _typed(value.strip()) for name, _, value in pairs}


def position_fields(texts: tuple[str | None, ...], name: str | None, path: Path) -> dict[str, Any]:
    """How far training had come: from revision and model name, else from the path.

    Names of models and of the folders named after them count with care: ``org/step-2`` is a
    model, ``org/llama-step-2000`` a checkpoint.
    """
    suffix = _NAME_SUFFIX.search(name or "")
    own_folder = _UNSAFE.sub("__", name or "")
    folders = [part for part in (path.name, *path.parts[-2:-4:-1]) if part != own_folder]
    sources = (*texts, suffix[0] if suffix else None, *folders)
    step = infer_step(*sources)
    return {"step": step, "epoch": None if step is not None else _epoch(sources)}


def _epoch(texts: tuple[str | None, ...]) -> float | None:
    matches = (_EPOCH.findall(text) for text in texts if text)
    return next((float(numbers[-1]) for numbers in matches if numbers), None)


def _typed(text: str) -> Any:
    """A value as the harness reads it from the command line."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() == "none":
        return None
    if _INTEGER.fullmatch(text):  # one that no column holds stays a text: a float is another number
        number = int(text) if len(text) <= _LONGEST else None
        return text if number is None or whole_or_none(number) is None else number
    try:
        return float(text)
    except ValueError:
        return text
