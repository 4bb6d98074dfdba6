"""Names of models compared: two texts may name one model: a folder and a file seldom
write its name alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warehouse.importers.base import infer_step
from warehouse.importers.common.json_fields import whole_or_none
from warehouse.records.setting_values import normal_place, unpacked

_MARKS = re.compile(r"[\W_]+")
#: Names that tools and people give to files and folders of any model.
_FIXED = frozenset(
    "output outputs out result results report reports summary summaries score scores "
    "metrics prediction predictions pred preds all_preds eval evals evaluation "
    "evaluations swebench_eval eval_results log logs data run runs test "
    "tests tmp final default samples completions responses answers generations download downloads".split()
)


def is_fixed_name(name: str) -> bool:
    """True if a name is what files of any model are called: it names none.

    >>> is_fixed_name("output"), is_fixed_name("gpt-5")
    (True, False)
    """
    bare = name.strip(". ")
    return not bare or bare.lower().replace("-", "_") in _FIXED


def same_model(first: str, second: str) -> bool:
    """True if two names may mean one model: without case, punctuation and the
    organisation.

    >>> same_model("openai_o3-mini", "openai/o3-mini"), same_model("o3-mini", "openai/o3-mini")
    (True, True)
    >>> same_model("falcon-7b", "falcon-40b")
    False
    """
    return not _forms(first).isdisjoint(_forms(second))


def disagreement(taken: str, source: str, other: str) -> str:
    """A note on a second name of a model.

    Args:
        taken: the name that is taken.
        source: what gives the other one (``"the folder"``).
        other: that name.
    """
    return (
        f"{source} says that the model is {other!r}, the data say {taken!r}: the "
        "latter holds"
    )


def _forms(name: str) -> set[str]:
    """The name, and what follows an organisation in it."""
    text = name.lower()
    rests = (
        text,
        text.rpartition("/")[2],
        text.rpartition("__")[2],
        text.partition("_")[2],
    )
    return {plain for rest in rests if (plain := _MARKS.sub("", rest))}


#: Folders that are called alike in every training: they do not say which model lies
#: there.
_SAYS_NOTHING = re.compile(
    r"(?:hf|huggingface|model|models|final|last|latest|best|current|ckpts?|checkpoints?|weights|merged|adapters?|lora|"
    r"outputs?|exports?|exported|snapshots?|safetensors|pytorch|default|tmp|(?:global_?)?step|epoch|iter|v)"
    r"(?:[-_=]?(?:hf|model|merged|ckpt|checkpoint|weights|final|last|best|\d+(?:\.\d+)?))*|\d+|[0-9a-f]{32,64}",
    re.IGNORECASE,
)
_OF_HUB = re.compile(r"models--(?P<organisation>.+?)--(?P<name>.+)")


def local_model_name(path: str) -> str:
    """The name of a model in a folder: the folder, and those above it as long as the
    name says nothing.

    >>> local_model_name("/data/models/llama-7b"), local_model_name("/exp1/ckpt/hf")
    ('llama-7b', 'exp1/ckpt/hf')
    >>> local_model_name("/runs/tuned/checkpoint-200"), local_model_name("/c/models--org--ada/snapshots/0a1b")
    ('tuned/checkpoint-200', 'org/ada')
    """
    parts = normal_place(path).removeprefix("/").split("/")
    for part in parts:
        if found := _OF_HUB.fullmatch(part):
            return f"{found['organisation']}/{found['name']}"
    start = len(parts) - 1
    while start > 0 and _SAYS_NOTHING.fullmatch(parts[start]):
        start -= 1
    return "/".join(parts[start:])


def says_nothing(name: str) -> bool:
    """True if a name is one that folders of any model have.

    >>> says_nothing("hf"), says_nothing("checkpoint-200"), says_nothing("llama-7b")
    (True, True, False)
    """
    return _SAYS_NOTHING.fullmatch(name) is not None


_CHECKPOINT_PART = re.compile(
    r"(?:global_?)?(?:step|checkpoint|ckpt|epoch|iter)[-_=]?\d+(?:\.\d+)?",
    re.IGNORECASE,
)


_EPOCH = re.compile(r"(?:^|[^a-z])epoch[-_=]?(\d+(?:\.\d+)?)", re.IGNORECASE)
_NAME_SUFFIX = re.compile(
    r"(?<=\w)[-_.](?:step|checkpoint|ckpt)[-_=]?\d{2,}$", re.IGNORECASE
)


_UNSAFE = re.compile(r'["<>:/|\\?*\[\]]+')
_INTEGER = re.compile(r"[+-]?\d+")


_LONGEST = 20  # characters of a number of 64 bits
#: A comma between two arguments, not one inside a list or an object.
_SEPARATOR = re.compile(r",(?=\s*[\w.-]+\s*=)")


def parse_arguments(arguments: Any) -> dict[str, Any]:
    """``model_args`` or ``gen_kwargs`` as a dictionary; before 0.4.10 they are comma
    text, which may be JSON as well.

    >>> parse_arguments("pretrained=org/m,dtype=float16,trust_remote_code=True,top_k=5")
    {'pretrained': 'org/m', 'dtype': 'float16', 'trust_remote_code': True, 'top_k': 5}
    """
    if isinstance(arguments, Mapping):
        return dict(arguments)
    if not isinstance(arguments, str):
        return {}
    parsed = arguments
    if arguments.lstrip().startswith("{"):
        parsed = unpacked("arguments", arguments)
    if isinstance(parsed, Mapping):
        return dict(parsed)
    pairs = (
        part.partition("=") for part in _SEPARATOR.split(arguments) if part.strip()
    )
    return {name.strip(): _typed(value.strip()) for name, _, value in pairs}


def position_fields(
    texts: tuple[str | None, ...], name: str | None, path: Path
) -> dict[str, Any]:
    """How far training had come: from revision and model name, else from the path.

    Names of models and of the folders named after them count with care: ``org/step-2``
    is a model, ``org/llama-step-2000`` a checkpoint.
    """
    suffix = _NAME_SUFFIX.search(name or "")
    own_folder = _UNSAFE.sub("__", name or "")
    folders = [
        part for part in (path.name, *path.parts[-2:-4:-1]) if part != own_folder
    ]
    sources = (*texts, suffix[0] if suffix else None, *folders)
    step = infer_step(*sources)
    epoch = None
    if step is None:
        epoch = _epoch(sources)
    return {"step": step, "epoch": epoch}


def _epoch(texts: tuple[str | None, ...]) -> float | None:
    matches = (_EPOCH.findall(text) for text in texts if text)
    return next((float(numbers[-1]) for numbers in matches if numbers), None)


def _typed(text: str) -> Any:
    """A value as the harness reads it from the command line."""
    is_closed = len(text) >= 2 and text[0] == text[-1]
    if is_closed and text[0] in "'\"":
        return text[1:-1]
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() == "none":
        return None
    # one that no column holds stays a text: a float is another number
    if _INTEGER.fullmatch(text):
        number = None
        if len(text) <= _LONGEST:
            number = int(text)
        if number is None or whole_or_none(number) is None:
            return text
        return number
    try:
        return float(text)
    except ValueError:
        return text
