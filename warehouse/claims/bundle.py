"""The bundle: one JSON file. Nothing in it is trusted; it is read within bounds and
checked for its form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MisuseError
from warehouse.files import CLAIM, write_output
from warehouse.records import canonical_json, parse_json
from warehouse.records.canonical_json import canonical_digest

FORMAT, VERSION = "warehouse-claim", 1
#: Bounds of what is read: bytes of the file, rows, columns of a row, characters of a
#: text, entries of a list.
MOST_BYTES, MOST_ROWS, MOST_COLUMNS, MOST_TEXT, MOST_ENTRIES = (
    20_000_000,
    5_000,
    300,
    100_000,
    10_000,
)
#: Parts of it that are rows.
_LISTS = ("rows", "runs", "sources", "clusterings", "declared")


@dataclass(frozen=True)
class Claim:
    """A figure that can be recomputed."""

    #: what was typed, for people; a check goes by ``kind`` and ``parameters``.
    command: str
    kind: str  #: the question: ``leaderboard``, ``compare``, ``pairs``, ``variance``, ``card`` or ``query``.
    parameters: dict[str, Any]  #: of the question, by name; ``sql`` of a query.
    program: str  #: version of the program.
    answer: str  #: the answer in words.
    #: the figures, each with its interval and method; without ids of the store.
    rows: list[dict[str, Any]]
    #: what they rest on: model, benchmark, keys and hashes.
    runs: list[dict[str, Any]] = field(default_factory=list)
    #: the files: name, format, sha256, bytes.
    sources: list[dict[str, Any]] = field(default_factory=list)
    #: those that errors use unasked: benchmark, name and kind.
    clusterings: list[dict[str, Any]] = field(default_factory=list)
    #: what people had said of the benchmarks: other names of metrics, policies, fields
    #: that are asked for by plan.
    declared: list[dict[str, Any]] = field(default_factory=list)


def write_claim(claim: Claim, path: Path, *, force: bool = False) -> int:
    """Write a bundle; returns its bytes.

    Args:
        force: also in place of a file that is no claim.

    Raises:
        MisuseError: it would be larger than what is read, or cannot be written there.
        DiskFullError: there is no room.
    """
    content = {"format": FORMAT, "version": VERSION, **asdict(claim)}
    if not claim.declared:
        del content["declared"]
    text = canonical_json(content | {"digest": canonical_digest(content)}) + b"\n"
    if len(text) > MOST_BYTES or len(claim.rows) > MOST_ROWS:
        raise MisuseError(
            f"the claim has {len(claim.rows)} rows; narrow it to {MOST_ROWS}"
        )
    return write_output(path, text, CLAIM, force=force)


def read_claim(path: Path) -> Claim:
    """A bundle, checked for its form (InputError: it is none, is damaged, or passes a
    bound)."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None
    if len(data) > MOST_BYTES:
        raise InputError(
            f"more than {MOST_BYTES:,} bytes", path=str(path), expected="a claim"
        )
    try:
        text = data.decode("utf-8")
        content = parse_json(text)
        json.loads(text, object_pairs_hook=_once)
        return _checked(content)
    except (ValueError, RecursionError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or "it is no JSON"
        raise InputError(
            reason, path=str(path), expected="a bundle that warehouse claim wrote"
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Refuse a key that stands twice: people may read the one, and the program the
    other."""
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError(
            f"{next(name for name in names if names.count(name) > 1)!r} stands twice "
            "in an object"
        )


def _checked(content: Any) -> Claim:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError("it is no claim")
    if content.get("version") != VERSION:
        raise ValueError(
            f"a claim of version {content.get('version')!r}; this program reads "
            f"{VERSION}"
        )
    own = {name: value for name, value in content.items() if name != "digest"}
    if content.get("digest") != canonical_digest(own):
        raise ValueError(
            "its digest is not that of its content: it was damaged or changed"
        )
    kinds = {
        "command": str,
        "kind": str,
        "parameters": dict,
        "program": str,
        "answer": str,
    }
    kinds |= dict.fromkeys(_LISTS, list)
    own = {"declared": [], **own}  # left out where nothing was declared
    if set(own) != {"format", "version", *kinds}:
        raise ValueError(f"its keys are {', '.join(sorted(map(str, own)))[:200]}")
    for name, kind in kinds.items():
        if not isinstance(own[name], kind):
            raise ValueError(
                f"{name} is {type(own[name]).__name__}, expected {kind.__name__}"
            )
        if kind is str:
            _check_value(own[name], name)
    _check_rows(own)
    return Claim(**{name: own[name] for name in kinds})


def _check_rows(own: Mapping[str, Any]) -> None:
    most = dict.fromkeys(_LISTS, MOST_ENTRIES)
    most["rows"] = MOST_ROWS
    for name in _LISTS:
        if len(own[name]) > most[name]:
            raise ValueError(f"{len(own[name])} {name}")
        for row in own[name]:
            if not isinstance(row, dict) or len(row) > MOST_COLUMNS:
                raise ValueError(f"an entry of {name} is no row")
            for value in row.values():
                _check_value(value, name)
    for value in own["parameters"].values():
        _check_value(value, "parameters")


def _check_value(value: Any, name: str) -> None:
    parts = [value]
    if isinstance(value, list):
        parts = value
    if len(parts) > MOST_ENTRIES:
        raise ValueError(f"a list of {len(parts)} entries in {name}")
    for part in parts:
        if isinstance(part, str) and len(part) > MOST_TEXT:
            raise ValueError(f"a text of {len(part)} characters in {name}")
        if isinstance(part, float) and not math.isfinite(part):
            raise ValueError(f"a number that is not finite in {name}")
        if not isinstance(part, str | int | float | bool | None):
            raise ValueError(f"a {type(part).__name__} inside {name}")
