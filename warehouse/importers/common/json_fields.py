"""Parts of parsed JSON in the form that a record wants: what importers of all formats
share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from warehouse.errors import InputError
from warehouse.records import PublishedScore

Row = dict[str, Any]
_T = TypeVar("_T")

#: Repeats of one prompt beyond this are no dump.
LARGEST_DRAW = 1 << 20

_LARGEST = 1 << 63
#: Characters of a value that a note shows.
_NOTED = 60
_PRIVATE_HOST = re.compile(r"[^.]+|127\..*|10\..*|192\.168\..*|0\.0\.0\.0|.*\.local")


def mapping_of(document: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The object at a path of keys; empty where there is none."""
    part: Any = document
    for key in keys:
        if isinstance(part, Mapping):
            part = part.get(key)
        else:
            part = None
    if isinstance(part, Mapping):
        return dict(part)
    return {}


def part_of(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object inside an object; empty where there is none. Not a copy."""
    part = document.get(key)
    if isinstance(part, dict):
        return part
    return {}


def text_or_none(value: Any) -> str | None:
    """A text that says something."""
    if isinstance(value, str) and value.strip():
        return value
    return None


def text_of_any(value: Any) -> str | None:
    """Whatever stands there as text."""
    if value is None:
        return None
    return str(value)


def number_or_none(value: Any) -> float | None:
    """A finite number or truth value as float."""
    if isinstance(value, (int, float)) and abs(value) <= sys.float_info.max:
        return float(value)
    return None


def whole_or_none(value: Any) -> int | None:
    """A whole number that a column holds; None for anything else, truth values
    included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) < _LARGEST and value == value // 1:
        return int(value)
    return None


def whole_count(value: Any) -> int | None:
    """A count that a column holds: a whole number from 0, written as one."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and 0 <= value < _LARGEST:
        return int(value)
    return None


def whole_sum(values: Iterable[float | None]) -> float | None:
    """The sum of all values, where all are known."""
    listed = [*values]
    counts = [value for value in listed if value is not None]
    if counts and len(counts) == len(listed):
        return sum(counts)
    return None


def share_of(percent: float) -> float:
    """A percentage as a share, without the last bits that dividing adds.

    >>> share_of(35.6)
    0.356
    """
    return round(percent / 100, 12)


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return compact(value)


def as_text_or_none(value: Any) -> str | None:
    """A text as it is, anything else as JSON; None where there is nothing."""
    if value is None or isinstance(value, str):
        return value
    return compact(value)


def string_or_none(value: Any) -> str | None:
    """A text, be it empty; None for anything else."""
    if isinstance(value, str):
        return value
    return None


def compact(value: Any) -> str:
    """JSON text without blanks."""
    return orjson.dumps(value).decode()


def compact_or_none(value: Any) -> str | None:
    """JSON text without blanks; None of what is empty."""
    if value:
        return compact(value)
    return None


def is_local(value: Any) -> bool:
    """True if an argument is a place on a machine."""
    return isinstance(value, str) and value.startswith(("/", "./", "../", "~"))


def endpoint_host(url: Any) -> str | None:
    """Host of a public endpoint; one's own machine is no property of the
    measurement."""
    try:
        host = None
        if isinstance(url, str):
            host = urlsplit(url).hostname
    except ValueError:  # brackets around what is no address
        return None
    if host is None or _PRIVATE_HOST.fullmatch(host):
        return None
    return host


def require_model(name: str | None, source: str) -> str:
    """The name, if there is one (InputError: nothing names the model)."""
    if name:
        return name
    raise InputError(
        "nothing here names the model that was evaluated",
        path=source,
        expected="a results file of the same run with the model's name",
        advice="give the name with --default model=ORG/NAME",
    )


def items_of(value: Any) -> list[Any]:
    """A list as it is; empty for anything else."""
    if isinstance(value, list):
        return value
    return []


def as_items(value: Any) -> list[Any]:
    """A list as it is, anything else as its only item."""
    if isinstance(value, list):
        return value
    return [value]


def first_of(values: Sequence[_T]) -> _T | None:
    """The first of several; None where there is none."""
    if values:
        return values[0]
    return None


def one_or_json(texts: Sequence[str]) -> str | None:
    """The only text, or several as JSON; None of none."""
    if len(texts) == 1:
        return texts[0]
    return compact_or_none(texts)


def object_of(value: Any) -> dict[str, Any]:
    """An object as it is; empty for anything else."""
    if isinstance(value, dict):
        return value
    return {}


def objects_of(value: Any) -> list[Row]:
    """The objects in a list; empty for anything else."""
    return [item for item in items_of(value) if isinstance(item, dict)]


def no_objects(value: Any, where: str, *, or_names: bool = False) -> Iterator[str]:
    """A note on each entry of a list that is no object, or on what is no list: what
    stands there is not read.

    Args:
        value: a list of objects, as its tool writes it; null where there is none.
        where: file and path of it.
        or_names: a name may stand for an object, and one alone for a list.
    """
    if or_names and isinstance(value, str):
        return
    if value is not None and not isinstance(value, list):
        yield f"{where} is {compact(value)[:_NOTED]}, no list: nothing is read there"
    expected = (dict, str) if or_names else dict
    for number, item in enumerate(items_of(value)):
        if not isinstance(item, expected):
            what = "no object"
            if or_names:
                what = "neither object nor name"
            yield (
                f"{where}[{number}] is {compact(item)[:_NOTED]}, {what}: nothing is "
                "read there"
            )


def without_nulls(values: Mapping[str, Any]) -> Row:
    """An object without its null members."""
    return {key: item for key, item in values.items() if item is not None}


def without_empty(values: Mapping[str, Any]) -> Row:
    """An object without the members that say nothing: null, or an empty list or
    object."""
    return {key: item for key, item in values.items() if item not in (None, {}, [])}


def texts_of(value: Any) -> list[str]:
    """The texts in a list; empty for anything else."""
    return [item for item in items_of(value) if isinstance(item, str)]


def verdict(value: Any, name: str) -> float | None:
    """True, false (also as 1 and 0) or null as a score (ValueError: another value)."""
    if value is None:
        return None
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise ValueError(
            f"{name} is {compact(value)[:60]}, neither true, false nor null"
        )
    return float(value)


def required_text(row: Any, key: str) -> str:
    """A text (or whole number, as text) that a row must have (ValueError: it has
    none)."""
    value = None
    if isinstance(row, dict):
        value = row.get(key)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (isinstance(value, str) and value.strip()):
        raise ValueError(f"no {key}: {compact(row)[:200]}")
    return str(value)


def list_of(row: Row, key: str) -> list[Any]:
    """A list inside a row; empty where there is none or null.

    Raises:
        ValueError: something else stands there, or the list is beyond reason.
    """
    items = row.get(key)
    if items is None:
        return []
    if not isinstance(items, list) or len(items) > LARGEST_DRAW:
        raise ValueError(f"{key} is no list: {compact(items)[:60]}")
    return items


def item_at(values: list[Any], index: int) -> Any:
    """An item of a list that may be shorter."""
    if index < len(values):
        return values[index]
    return None


def first_text(document: Mapping[str, Any], *keys: str) -> str | None:
    """The first of some texts that says something."""
    return next(
        (text for key in keys if (text := text_or_none(document.get(key)))), None
    )


def published_figure(metric: str, figure: Any, **more: Any) -> PublishedScore:
    """A figure as a file states it: a number, else its text."""
    value = number_or_none(figure)
    raw = None
    if value is None:
        raw = str(figure)[:200]
    return PublishedScore(metric, value, raw=raw, **more)


_FLAGS = {"True": True, "False": False}


def response_pair(response: Any) -> tuple[float | None, bool | None]:
    """Log-likelihood and "this is what greedy decoding gives" of one response."""
    number, greedy = (response, None)
    if isinstance(response, list) and len(response) == 2:
        number, greedy = response
    return number_in_text(number), _FLAGS.get(str(greedy))


def number_in_text(text: Any) -> float | None:
    """A number that stands as text; None where it is none (``N/A``), and of NaN and
    infinities."""
    try:
        return number_or_none(float(text))
    except (TypeError, ValueError):
        return None


def paired_value(value: Any) -> dict[str, Any]:
    """(log-likelihood, n) as nats per word or byte, weighted by n."""
    if value is None:
        return {"status": "error"}
    parts = [None, None]
    if isinstance(value, list) and len(value) == 2:
        parts = value
    total = number_or_none(parts[0])
    count = number_or_none(parts[1])
    if total is None or not count:
        return {"status": "not_scalar", "raw": compact(value)}
    return {"value": total / count, "weight": count, "raw": compact(value)}


_MAX_TOKENS = ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
_FIELDS_OF_SAMPLING = frozenset(
    ("temperature", "top_p", "do_sample", "reasoning_effort", "seed", *_MAX_TOKENS)
)


_NUMBER_IN_TEXT = re.compile(r"[+-]?(?:\d{1,15}\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?")


def unquoted_number(value: Any) -> Any:
    """A number that is written as a text, as command lines and YAML have them; any
    other value as it is.

    >>> unquoted_number("50"), unquoted_number("0.5"), unquoted_number("high"), unquoted_number(7)
    (50, 0.5, 'high', 7)
    """
    if not isinstance(value, str) or not _NUMBER_IN_TEXT.fullmatch(value.strip()):
        return value
    number = float(value)
    if number.is_integer():
        return int(number)
    return number


def sampling_fields(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling settings that have header fields of their own. Greedy is temperature
    0."""
    generation = {name: unquoted_number(value) for name, value in generation.items()}
    greedy = generation.get("do_sample") is False
    lengths = (whole_or_none(generation.get(name)) for name in _MAX_TOKENS)
    return {
        "temperature": 0.0 if greedy else number_or_none(generation.get("temperature")),
        "top_p": number_or_none(generation.get("top_p")),
        "max_tokens": next((length for length in lengths if length is not None), None),
        "reasoning_effort": text_or_none(generation.get("reasoning_effort")),
    }


def other_sampling(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling settings that have no header field."""
    if generation.get("do_sample") is True:
        unknown = {"do_sample"}
    else:
        unknown = set()
    named = _FIELDS_OF_SAMPLING - (
        unknown if generation.get("temperature") is None else set()
    )
    return {
        name: value
        for name, value in sorted(generation.items())
        if name not in named and value is not None
    }
