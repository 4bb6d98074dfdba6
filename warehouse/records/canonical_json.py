"""JSON as dumps write it, and the hashes of its one form that stored values depend
on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any

import orjson

from warehouse.records.answer_text import without_surrogates

_LONG = b"0" * 19
_RUN = re.compile(rb"0+")
_BEFORE_NUMBER = b"[,:- \t\r\n"  # holds the empty bytes before the first, too
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SAME_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)


#: Why a text is refused that is nested beyond what has a canonical form.
TOO_DEEP = "lists or objects inside each other, too deep to read"


def canonical_json(value: Any) -> bytes:
    """JSON with sorted keys, no blanks, UTF-8: the form that every content hash is
    taken of.

    Raises:
        TypeError: a value that JSON has no form for, an integer beyond 64 bits, a lone
            surrogate.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def parse_json(text: str | bytes, *, keep_infinite: bool = False) -> Any:
    """Parse JSON, accepting the bare NaN and Infinity that Python writers emit (as
    null).

    Args:
        text: what to parse.
        keep_infinite: take the infinite ones as the texts ``Infinity`` and
            ``-Infinity``.

    Raises:
        ValueError: not JSON, bytes that are not UTF-8, lone surrogates, integers beyond
            64 bits, nesting beyond what can be read.
    """
    raw = text
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    if not _has_long_number(raw):  # longer ones may not fit 64 bits
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass  # NaN and Infinity are left to the lenient parser, which also words the error
    if keep_infinite:
        return _parse_lenient(raw, _infinite)
    return _parse_lenient(raw, _no_number)


def is_cut(text: bytes) -> bool:
    """Whether JSON text ends inside a string, list or object, as the last line of a
    file does that was cut short (a whole last line may lack its line end)."""
    if text.endswith(b"\n"):
        return False
    bare = _STRINGS.sub(b"", text)
    n_opened = bare.count(b"{") + bare.count(b"[")
    n_closed = bare.count(b"}") + bare.count(b"]")
    return b'"' in bare or n_opened > n_closed


def _has_long_number(raw: bytes) -> bool:
    """Whether a number has 19 digits in a row, other than after a decimal point; digits
    in texts do not count."""
    digits = raw.translate(_SAME_DIGIT)
    position, read, is_text = digits.find(_LONG), 0, False
    while position >= 0:
        if digits[position - 1 : position] in _BEFORE_NUMBER:
            # looked at from the last such place on, so that many cost no more than one
            bare = raw[read:position].replace(rb"\\", b"").replace(rb"\"", b"")
            is_text ^= bare.count(b'"') % 2 == 1
            if not is_text:
                return True
            read = position
        run = _RUN.match(digits, position)
        behind = position + 1
        if run:
            behind = run.end()
        position = digits.find(_LONG, behind)
    return False


def _parse_lenient(raw: bytes, constant: Callable[[str], str | None]) -> Any:
    text = raw.decode("utf-8")
    try:
        value = json.loads(text, parse_constant=constant, parse_int=_bounded_int)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    try:
        orjson.dumps(value)
    except TypeError as error:
        # a lone surrogate; or what Python from 3.12 reads and nothing here can write
        if "ecursion" in str(error):
            raise ValueError(TOO_DEEP) from None
        raise ValueError(str(error)) from None
    return value


def _no_number(_name: str) -> None:
    return None


def _infinite(name: str) -> str | None:
    if name == "NaN":
        return None
    return name


def _bounded_int(text: str) -> int:
    if len(text) < 25:
        number = int(text)
    else:
        number = 1 << 65
    if not -(1 << 63) <= number < (1 << 64):
        raise ValueError(f"integer beyond 64 bits: {text[:30]}")
    return number


def canonical_digest(value: Any) -> str:
    """sha256 (hex) of the canonical form of what JSON can hold.

    Raises:
        TypeError: a value that has no canonical form.
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


def short_digest(*parts: Any) -> str:
    """Head (32 hex digits) of the sha256 of what JSON can hold, NaN and lone surrogates
    included."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprint(*parts: bytes | str) -> str:
    """sha256 (hex) of texts and buffers, each with its length, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = _as_bytes(part)
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def content_key(identity: str | bytes) -> str:
    """sha256 (hex) of the canonical form of a JSON text: the key of a prompt's content.

    NaN and infinities, which strict JSON lacks, count as null.

    Raises:
        ValueError: the text is not JSON, or nested beyond what has a canonical form.
    """
    value = parse_json(identity)
    try:
        return canonical_digest(value)
    except TypeError:  # all else was refused on reading
        raise ValueError(TOO_DEEP) from None


def sha256_of(data: str | bytes) -> str:
    """sha256 (hex) of bytes, or of a text in UTF-8."""
    return hashlib.sha256(_as_bytes(data)).hexdigest()


def _as_bytes(data: str | bytes) -> bytes:
    if isinstance(data, str):
        return data.encode()
    return data


#: What JSON may hold as it is, and a terminal obeys: control characters beyond those of
#: ASCII, marks of direction.
_STEERS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def json_rows(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, lines: bool = False
) -> Iterator[str]:
    """Parts of an array of objects, one on each line; NaN is null, times are ISO 8601.

    Args:
        columns: in this order.
        rows: a value for each of them.
        lines: the objects alone, without the array around them (JSON lines).
    """
    first, between, last = ("[\n", ",\n", "\n]\n")
    if lines:
        first, between, last = ("", "\n", "\n")
    lead = first
    for row in rows:
        text = json_text({name: row[name] for name in columns})
        yield f"{lead}{text}"
        lead = between
    if lead is between:
        yield last
    elif not lines:
        yield "[]\n"


def columns_of(kind: type) -> list[str]:
    """Columns of records of a dataclass: its own, or its fields."""
    if hasattr(kind, "columns"):
        return [*kind.columns()]
    return [item.name for item in fields(kind)]


def records_as_json(kind: type, records: Iterable[Any]) -> str:
    """Records of a dataclass as a command's ``--json`` has them."""
    columns = columns_of(kind)

    def fields_of(record: Any) -> dict[str, Any]:
        return {name: getattr(record, name) for name in columns}

    return "".join(json_rows(columns, map(fields_of, records)))


def json_text(value: Any) -> str:
    """A value as JSON on one line, with nothing that a terminal obeys."""
    import orjson

    try:
        text = orjson.dumps(value, default=_without_json_form)
    except TypeError:  # a text with bytes that are no UTF-8, such as a file's name
        text = orjson.dumps(without_surrogates(value), default=_without_json_form)
    return _STEERS.sub(_escape, text.decode())


def _escape(steering: re.Match[str]) -> str:
    return f"\\u{ord(steering.group()):04x}"


def _without_json_form(value: Any) -> Any:
    """A stand-in for a value that JSON has no form for."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 2**63
        if whole:
            return int(value)
        return float(value)
    return str(value)
