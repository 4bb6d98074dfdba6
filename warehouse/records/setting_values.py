"""The one form of a setting's value: what tools write in several ways is one, what only
looks alike stays apart."""

from __future__ import annotations

import ast
import ipaddress
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from warehouse.records.canonical_json import canonical_json, parse_json, sha256_of
from warehouse.records.setting_names import ANY_TOOL, rule_of, snake_case

#: Texts that say that there is no value; compared in small letters.
_NOTHING = frozenset(
    {
        "",
        "null",
        "none",
        "nan",
        "n/a",
        "?",
        "unknown",
        "[redacted]",
        "redacted",
        "[]",
        "{}",
        "empty",
    }
)
#: Lists that have no order and no repeats, by name.
UNORDERED = frozenset(
    """
    stop stop_seqs stop_sequences stop_words stop_tokens until eos_string stop_sequence tools mcp_servers skills
    disabled_tools internal_tools tags extra_allowed_hosts hosts languages splits scorers judges groups
    """.split()
)
#: Longest text, and longest list, that is kept as it is; of others their hash stands
#: for them.
LONGEST_TEXT, LONGEST_LIST = 1000, 50

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
#: Characters of a text from which on it is no number.
_LONGEST_NUMBER = 25
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_WHOLE_VERSION = re.compile(r"(\d+)\.0")
#: Names whose values are no numbers, even where they look like some.
_NO_NUMBERS = re.compile(
    r"(?:^|_)(?:ids?|name|names|hash|sha|commit|revision|version|versions|label|key)$"
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_CLASS = re.compile(r"<class '(?:[\w]+\.)*(\w+)'>")

_DTYPES = {
    "fp16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "float": "float32",
}
_DTYPE_NAMES = frozenset(
    {
        "dtype",
        "torch_dtype",
        "model_dtype",
        "precision",
        "softmax_dtype",
        "mixed_precision_dtype",
    }
)

_ENDPOINT_NAMES = frozenset(
    """
    base_url api_base api_base_url api_url api_host openai_api_base endpoint inference_server_address model_base_url
    endpoint_url server_url
    """.split()
)

#: Names that people give to an experiment, behind which tools write a time or a random
#: word of their own.
_GIVEN_NAMES = frozenset(
    """
    experiment experiment_name experiment_prefix run_name exp_name campaign job_name dataset_run_name
    """.split()
)
_TAILS = (
    re.compile(
        r"\d{4}-?\d\d-?\d\d(?:[T_ -]{1,2}\d\d[:_-]?\d\d(?:[:_-]?\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?$"
    ),
    re.compile(r"(?<=[-_ ])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{4,8}$"),
    re.compile(r"(?:^|(?<=[-_ ]))[a-z]{3,}-[a-z]{3,}-\d{1,4}$"),
)

#: A comma between two ``name=value`` pairs, not one inside a list or an object.
_PAIR_SEPARATOR = re.compile(r",(?=\s*[\w.-]+\s*=)")
_PAIRS = re.compile(r"\s*[A-Za-z_][\w.-]*\s*=[^=]")
_REPR_PAIR = re.compile(
    r"([A-Za-z_]\w*)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"]\S*)(?:\s+|$)"
)


def canonical_value(name: str, value: Any) -> str | None:
    """The one form of a value that is no mapping.

    Args:
        name: the last name of its path, which says what kind of value it is.
        value: what JSON can hold.

    Returns:
        a text; ``None`` where it says that there is no value.

    >>> [canonical_value("top_k", value) for value in (5, 5.0, "5", "5e0", None, "None")]
    ['5', '5', '5', '5', None, None]
    >>> canonical_value("agent_version", "1.10"), canonical_value("task_version", 1.0)
    ('1.10', '1')
    """
    if value is None:
        return None
    if isinstance(value, str):
        if snake_case(name) in UNORDERED:
            return _element(name, value)
        return _text(name, value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return None if math.isnan(value) else _number(value)
    if isinstance(value, Sequence):
        return _list(name, value)
    if isinstance(value, Mapping):
        if value:
            return _shortened(canonical_json(_canonical_object(value)).decode())
        return None
    return _text(name, str(value))


def says_nothing(value: Any) -> bool:
    """Whether a value is the same as not saying it: null, a word for it, empty, or a
    list of such; not one that was hidden.

    >>> says_nothing(None), says_nothing("None"), says_nothing([]), says_nothing(False), says_nothing("[REDACTED]")
    (True, True, True, False, False)
    """
    if isinstance(value, str):
        text = value.strip().lower()
        return text in _NOTHING and "redacted" not in text
    if isinstance(value, float):
        return math.isnan(value)
    if isinstance(value, Sequence):
        return all(map(says_nothing, value))
    return value is None or value == {}


@lru_cache(maxsize=20_000)  # the runs of a dump say the same again and again
def _text(name: str, value: str) -> str | None:
    text = _ADDRESS.sub("", value).strip()
    words = snake_case(name)
    if text.lower() in _NOTHING:
        return None
    if text.lower() in ("true", "false"):
        return text.lower()
    if words in _GIVEN_NAMES:
        return without_generated_tail(text) or None
    if words in _ENDPOINT_NAMES:
        return public_host(text)
    if words in _DTYPE_NAMES:
        dtype = text.lower().removeprefix("torch.")
        return _DTYPES.get(dtype, dtype)
    if found := _CLASS.fullmatch(text):
        return found[1]
    if _NO_NUMBERS.search(words):
        whole = _WHOLE_VERSION.fullmatch(text)
        return whole[1] if whole else _shortened(text)
    if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text):
        return _number(float(text)) if len(text) < _LONGEST_NUMBER else text
    if looks_like_place(text):
        return normal_place(text)
    return _shortened(text)


def number_in(name: str, text: str) -> float | None:
    """The number that a text is; none of ids, names and versions, of leading zeros, and
    of what is beyond all numbers.

    >>> number_in("threshold", "0.50"), number_in("version", "1.10"), number_in("code", "007")
    (0.5, None, None)
    """
    if (
        not _NUMBER.fullmatch(text)
        or _LEADING_ZERO.match(text)
        or _NO_NUMBERS.search(snake_case(name))
    ):
        return None
    number = float(text)
    if math.isfinite(number) and len(text) < _LONGEST_NUMBER:
        return number
    return None


def _number(value: float) -> str:
    if math.isinf(value):
        if value > 0:
            return "inf"
        return "-inf"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def _list(name: str, values: Sequence[Any]) -> str | None:
    """A list of one is its element, an empty one is nothing."""
    forms = [form for value in values if (form := _element(name, value)) is not None]
    if snake_case(name) in UNORDERED:
        forms = sorted(set(forms))
    if len(forms) < 2:
        if forms:
            return forms[0]
        return None
    text = canonical_json(forms).decode()
    if len(forms) > LONGEST_LIST:
        return f"{len(forms)} values, sha256 {sha256_of(text)[:16]}"
    return _shortened(text)


def _element(name: str, value: Any) -> str | None:
    # what stands in a list is kept as it is written: blanks and line ends of a stop
    # sequence mean something
    if isinstance(value, str):
        if value.lower() in _NOTHING:
            return None
        return value
    return canonical_value(name, value)


def _canonical_object(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object inside a list, with each of its settings in its one form."""
    kept = {
        str(name): item
        for name, item in value.items()
        if rule_of(ANY_TOOL, str(name)).is_in_condition
    }
    forms = {name: canonical_value(name, item) for name, item in kept.items()}
    return {name: form for name, form in forms.items() if form is not None}


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{len(text)} characters, sha256 {sha256_of(text)[:16]}"


def unpacked(name: str, value: Any) -> Any:
    """A text that holds structure, as the object that it is: ``k=v,k=v``, the repr of
    an object, JSON.

    Args:
        name: the last name of its path; only arguments and configurations are looked
            into.
        value: any value; what is no such text comes back as it is.
    """
    if not isinstance(value, str) or not 2 < len(value) <= 20 * LONGEST_TEXT:
        return value
    if "=" not in value and "{" not in value:
        return value
    text = value.strip()
    if text[0] == "{" and text[-1] == "}":
        return _parsed_object(text, value)
    if not _holds_arguments(name) or not _PAIRS.match(text):
        return value
    pairs = _REPR_PAIR.findall(text)
    if (
        "," not in text
        and len(pairs) > 1
        and sum(len(key) + len(item) + 2 for key, item in pairs) >= len(text)
    ):
        return {key: item.strip("'\"") for key, item in pairs}
    parts = [
        part.partition("=") for part in _PAIR_SEPARATOR.split(text) if part.strip()
    ]
    return {key.strip(): item.strip().strip("'\"") for key, _, item in parts}


_ARGUMENTS = (
    "args",
    "kwargs",
    "config",
    "params",
    "parameters",
    "options",
    "arguments",
    "settings",
)


def _holds_arguments(name: str) -> bool:
    return snake_case(name).endswith(_ARGUMENTS)


def _parsed_object(text: str, otherwise: Any) -> Any:
    try:
        parsed = parse_json(text)
    except ValueError:
        try:
            parsed = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return otherwise
    if not isinstance(parsed, dict):
        return otherwise
    return {str(key): item for key, item in parsed.items()}


def without_generated_tail(text: str) -> str:
    """A name that a person gave, without the time, hex digits or random words that a
    tool wrote behind it.

    >>> without_generated_tail("baseline - 2026-11-02T03:04:05Z"), without_generated_tail("prefix-1a2b3c4d")
    ('baseline', 'prefix')
    >>> without_generated_tail("2026-11-02__11-00-00")
    ''
    """
    for tail in _TAILS:
        text = tail.sub("", text)
    return text.strip(" -_:@")


_PLACE = re.compile(r"(?:file://|/|\./|\.\./|~/|[A-Za-z]:[\\/])")
_RANDOM_FOLDER = re.compile(r"tmp[\w-]{6,}")


def looks_like_place(text: str) -> bool:
    """Whether a text is the path of a file or folder on some machine."""
    return (
        _PLACE.match(text) is not None
        and "\n" not in text
        and len(text) <= LONGEST_TEXT
    )


def normal_place(text: str) -> str:
    """A path without what says nothing: its scheme, ``./``, the end of a folder, names
    of temporary folders."""
    path = text.removeprefix("file://").replace("\\", "/")
    parts = [
        part
        for part in path.split("/")
        if part not in ("", ".") and not _RANDOM_FOLDER.fullmatch(part)
    ]
    lead = ""
    if path.startswith("/"):
        lead = "/"
    return lead + "/".join(parts)


def public_host(text: str) -> str | None:
    """The host of an endpoint in small letters; ``None`` for one's own machine and
    private networks.

    >>> public_host("https://API.Example.com/v1"), public_host("http://127.0.0.1:34929")
    ('api.example.com', None)
    """
    try:
        host = urlsplit(text if "://" in text else f"//{text}").hostname or ""
    except ValueError:
        return None
    if "." not in host and ":" not in host:
        return None  # localhost, and the names of one's own network
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_global:
        return host
    return None
