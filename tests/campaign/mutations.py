"""Ways to break the text of a dump: bytes and a seeded generator in, other bytes out."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]

MARK = "@@mutant@@"

#: What replaces a value of a JSON document, as text: JSON and what is none.
VALUES: tuple[bytes, ...] = (
    b"null",
    b"true",
    b"0",
    b"-1",
    b"1.5",
    b"1e308",
    b"1e999",
    b"-1e999",
    b"1e-400",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"9" * 400,
    b"9" * 6000,
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b'""',
    b'"x"',
    b'"\\u0000"',
    b'"\\ud83d"',
    b'"\\udc00\\ud83d"',
    b'"9"',
    b'"NaN"',
    b'"2026-13-45"',
    b'"../../etc/passwd"',
    b'"a/b/c"',
    b"[]",
    b"{}",
    b"[null]",
    b"[[1]]",
    b"[[], {}]",
    b'{"a": null}',
    b'{"value": {"value": 1}}',
    b'{"": 1}',
    b'[1, "a", null, {}]',
    b"tru",
    b"",
    b"'x'",
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b'"\t\n"',
    b'"' + b"x" * 2_000_000 + b'"',
    b'"' + "\u202e\u0000".encode()[:3] + b'"',
    *(b"[" * depth + b"]" * depth for depth in (60, 1100, 50_000)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (60, 1100, 20_000)),
)

#: What is put between two bytes of any file.
BREAKS: tuple[bytes, ...] = (
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r",
    b"\n",
    b'"',
    b",",
    b"{",
    b"]",
    b"\\",
    b"\x1f\x8b",
    b"\n\n\n",
    b"\x80" * 40,
)


def flip(raw: bytes, rng: random.Random) -> bytes:
    """Some bytes become others."""
    out = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 8, 64)) if out else 0):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def truncate(raw: bytes, rng: random.Random) -> bytes:
    """The end is missing."""
    return raw[
        : rng.choice((0, 1, len(raw) // 2, len(raw) - 1, rng.randrange(len(raw) + 1)))
    ]


def cut(raw: bytes, rng: random.Random) -> bytes:
    """A stretch in the middle is missing."""
    start = rng.randrange(len(raw) + 1)
    return raw[:start] + raw[start + rng.randrange(1, 400) :]


def repeat(raw: bytes, rng: random.Random) -> bytes:
    """A stretch stands twice."""
    start = rng.randrange(len(raw) + 1)
    part = raw[start : start + rng.randrange(1, 4000)]
    return raw[:start] + part + raw[start:]


def insert(raw: bytes, rng: random.Random) -> bytes:
    """Something foreign stands in between: encoding breaks, quotes, NUL."""
    place = rng.choice((0, rng.randrange(len(raw) + 1)))
    return raw[:place] + rng.choice(BREAKS) + raw[place:]


def recode(raw: bytes, rng: random.Random) -> bytes:
    """The text in another encoding."""
    text = raw.decode("utf-8", "replace")
    return text.encode(rng.choice(("utf-16", "utf-32", "latin-1", "utf-7")), "replace")


def lines(raw: bytes, rng: random.Random) -> bytes:
    """A line is dropped, doubled, moved, emptied or cut."""
    parts = raw.split(b"\n")
    place, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    change = rng.randrange(5)
    if change == 0:
        del parts[place]
    elif change == 1:
        parts.insert(other, parts[place])
    elif change == 2:
        parts[place], parts[other] = parts[other], parts[place]
    else:
        parts[place] = b"" if change == 3 else parts[place][: len(parts[place]) // 2]
    return b"\n".join(parts)


def field(raw: bytes, rng: random.Random) -> bytes:
    """One field of a delimited file becomes something else, goes, or doubles."""
    rows = raw.split(b"\n")
    place = rng.choice((0, rng.randrange(len(rows))))
    fields = rows[place].split(b",")
    at = rng.randrange(len(fields))
    change = rng.random()
    if change < 0.15:
        del fields[at]
    elif change < 0.3:
        fields.append(fields[at])
    else:
        fields[at] = rng.choice(VALUES)
    rows[place] = b",".join(fields)
    return b"\n".join(rows)


def value(raw: bytes, rng: random.Random) -> bytes:
    """A part of a JSON document, or of one line, is replaced, dropped, renamed or said
    twice."""
    parts = raw.split(b"\n")
    whole = _parsed(raw)
    if whole is not None:
        return _changed(whole, rng)
    place = rng.randrange(len(parts))
    document = _parsed(parts[place])
    if document is None:
        return flip(raw, rng)
    parts[place] = _changed(document, rng)
    return b"\n".join(parts)


def value_everywhere(raw: bytes, rng: random.Random) -> bytes:
    """One key of a JSON document has the same strange value wherever it stands."""
    keys = keys_of(raw)
    return (
        everywhere(raw, rng.choice(keys), rng.choice(VALUES[:40]))
        if keys
        else flip(raw, rng)
    )


def keys_of(raw: bytes) -> list[str]:
    """Keys of the objects of a JSON document, or of JSON lines."""
    parts = raw.decode("utf-8", "replace").split('":')[:2000]
    return sorted({part.rsplit('"', 1)[-1] for part in parts} - {""})


def everywhere(raw: bytes, key: str, strange: bytes) -> bytes:
    """The document with the value of a key replaced, the first 500 times that it stands
    there."""
    text = raw.decode("utf-8", "replace")
    decoder, out, at = json.JSONDecoder(), [], 0
    for _ in range(500):
        found = text.find(f'"{key}":', at)
        if found < 0:
            break
        start = found + len(key) + 3
        while text[start : start + 1].isspace():
            start += 1
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start
        out.append(text[at:start].encode() + strange)
        at = end
    return b"".join(out) + text[at:].encode()


def _parsed(raw: bytes) -> Any:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) and found else None


def _changed(document: Any, rng: random.Random) -> bytes:
    parent, key = _somewhere(document, rng)
    change = rng.random()
    new = rng.choice(VALUES)
    if change < 0.15:
        del parent[key]
    elif change < 0.2 and isinstance(parent, dict):
        parent[rng.choice(("", "x", "\u0000", str(key).upper()))] = parent.pop(key)
    elif change < 0.25 and isinstance(parent, list):
        parent.append(parent[key])
    elif change < 0.4 and isinstance(parent, dict):  # the key stands twice
        old = json.dumps(parent[key]).encode()
        new = old + b", " + json.dumps(key).encode() + b": " + rng.choice((old, new))
        parent[key] = MARK
    else:
        parent[key] = MARK
    return json.dumps(document).encode().replace(f'"{MARK}"'.encode(), new)


def _somewhere(document: Any, rng: random.Random) -> tuple[Any, Any]:
    """A random place: every step down goes to any child, and half of the steps go on."""
    parent = document
    while True:
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        key = rng.choice(list(keys))
        child = parent[key]
        if not (isinstance(child, dict | list) and child) or rng.random() < 0.25:
            return parent, key
        parent = child


def squeezed(mutation: Mutation) -> Mutation:
    """The same, inside a gzip file."""

    def inside(raw: bytes, rng: random.Random) -> bytes:
        return gzip.compress(mutation(gzip.decompress(raw), rng), 1)

    return inside


def gzip_bomb(_raw: bytes, rng: random.Random) -> bytes:
    """A few kilobytes that unpack to a lot."""
    return gzip.compress(rng.choice((b"0", b"[", b" ", b"\n", b"a,")) * (100 << 20), 9)


BYTES: tuple[Mutation, ...] = (flip, truncate, cut, repeat, insert)
TEXT: tuple[Mutation, ...] = (*BYTES, recode, lines)
JSON: tuple[Mutation, ...] = (
    *TEXT,
    value,
    value,
    value,
    value_everywhere,
    value_everywhere,
)
DELIMITED: tuple[Mutation, ...] = (*TEXT, field, field, field)
