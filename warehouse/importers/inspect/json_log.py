"""A log in one JSON object."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import items_of
from warehouse.importers.inspect.sample import Sample, as_sample
from warehouse.records import Rejection, parse_json

_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass
class JsonLog:
    """A log in one JSON object. Its samples are parsed one after the other."""

    path: Path
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    header: Mapping[str, Any] = field(init=False)
    _spans: list[tuple[int, int]] = field(init=False, default_factory=list)
    _text: str = field(init=False, default="")

    def __post_init__(self) -> None:
        raw = self.path.read_bytes()
        if raw.startswith(BOM_UTF8):
            self.notes.append("begins with a byte-order mark")
            raw = raw.removeprefix(BOM_UTF8)
        try:
            self._text = raw.decode("utf-8")
            del raw
            self.header = dict(self._members())
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"cannot be read: {error}", path=str(self.path), expected="a complete JSON object"
            ) from None
        if not isinstance(self.header.get("eval"), dict):
            raise InputError("there is no object 'eval'", path=str(self.path), expected="an Inspect log")

    @property
    def n_samples(self) -> int:
        return len(self._spans)

    def samples(self) -> Iterator[Sample]:
        for place, (start, end) in enumerate(self._spans):
            try:
                yield as_sample(parse_json(self._text[start:end], keep_infinite=True))
            except (ValueError, RecursionError) as error:
                where = f"sample {place + 1}, line {self._text.count(chr(10), 0, start) + 1}"
                self.rejections.append(Rejection(where, str(error)[:300], "a sample"))

    def close(self) -> None:
        self._text = ""

    def first(self, count: int) -> list[Sample]:
        probe = copy(self)
        probe.rejections, probe._spans = [], self._spans[:count]
        return list(probe.samples())

    def reductions(self) -> list[Any]:
        results = self.header.get("results")
        old = results.get("sample_reductions") if isinstance(results, dict) else None
        return items_of(self.header.get("reductions") or old)

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Key and value of each member of the object; of the samples only where they stand."""
        text, place = self._text, self._expect("{", 0)
        while text[place : place + 1] != "}":
            key, end = self._value(place)
            place = self._expect(":", end)
            if key == "samples" and text[place : place + 1] == "[":
                end = self._mark_samples(place)
            else:
                end = self._value(place)[1]
                yield str(key), parse_json(text[place:end])
            place = _after_blanks(text, end)
            if text[place : place + 1] != "}":
                place = self._expect(",", place)
        if _after_blanks(text, place + 1) != len(text):
            raise ValueError(f"something stands after the object, at character {place + 1}")

    def _mark_samples(self, place: int) -> int:
        text, place = self._text, self._expect("[", place)
        while text[place : place + 1] != "]":
            end = self._value(place)[1]
            self._spans.append((place, end))
            place = _after_blanks(text, end)
            if text[place : place + 1] != "]":
                place = self._expect(",", place)
        return place + 1

    def _value(self, place: int) -> tuple[Any, int]:
        return _DECODER.raw_decode(self._text, place)

    def _expect(self, sign: str, place: int) -> int:
        place = _after_blanks(self._text, place)
        if self._text[place : place + 1] != sign:
            raise ValueError(f"no '{sign}' at character {place}")
        return _after_blanks(self._text, place + 1)


def _no_number(_name: str) -> None:
    return None


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_int=len, parse_float=len)


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANK.match(text, place)
    return blanks.end() if blanks else place
