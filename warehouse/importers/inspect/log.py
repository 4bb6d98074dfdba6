"""An Inspect log, whatever its container: header, samples one by one, reductions."""

from __future__ import annotations

import json
import re
import sys
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from functools import cached_property
from hashlib import blake2s
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypedDict

import msgspec
import orjson

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.file_walk import POINTER_BYTES, refuse_pointer
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    items_of,
    objects_of,
    part_of,
    text_or_none,
    whole_count,
)
from warehouse.importers.common.zip_archive import Archive, EntryError
from warehouse.records import Rejection, parse_json


class InspectLog(Protocol):
    """A log, in either container. ``rejections`` and ``notes`` grow while samples are
    read."""

    header: Mapping[str, Any]
    rejections: list[Rejection]
    notes: list[str]

    @property
    def n_samples(self) -> int:
        """Samples that the container holds."""

    def samples(self) -> Iterator[Sample]:
        """Every sample that can be read; the others are recorded."""

    def first(self, count: int) -> list[Sample]:
        """Some of the first samples that can be read; what is wrong with others is not
        recorded."""

    def reductions(self) -> list[Any]:
        """Scores of each sample reduced over its epochs."""

    def close(self) -> None:
        """Let go of the file; nothing can be read any more."""


def open_log(path: Path) -> InspectLog:
    """The log in a file.

    Raises:
        InputError: it is none, or not whole.
    """
    with path.open("rb") as handle:
        head = handle.read(POINTER_BYTES)
    refuse_pointer(head, str(path))
    if not head.strip():
        raise InputError("the file is empty", path=str(path), expected="an Inspect log")
    if path.suffix == ".eval":
        return EvalLog(path)
    return JsonLog(path)


#: The key of the one score of a sample in the oldest logs; the results name its scorer.
UNNAMED = "88F74D2C"

Sample = dict[str, Any]


def _decoder(names: str, **kinds: Any) -> msgspec.json.Decoder[dict[str, Any]]:
    """Reads these members of an object; the others are passed over."""
    members = dict.fromkeys(names.split(), Any) | kinds
    read = TypedDict("Read", members, total=False)  # type: ignore[misc]
    return msgspec.json.Decoder(read)


#: What a row is made of: half of a sample, or much less, since the rest is events.
_SAMPLES = _decoder(
    "id epoch input choices target metadata messages output scores score limit error "
    "invalidation uuid model_usage role_usage working_time total_time model_fallbacks "
    "message_refs skeleton",
    events=list[msgspec.Raw],
)
#: What of an event says who asked a model, and what that took.
_EVENTS = _decoder("event type id parent_id span_id action model cache output")


def _parsed(text: str | bytes) -> Any:
    """A sample without what no row is made of; one that is strange is left to the
    parser that says in what."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        if not raw.isascii():
            raw.decode()  # what is passed over has to be UTF-8 as well
        sample = _SAMPLES.decode(raw)
        events = sample.pop("events", None)
        # no whole number beyond 64 bits, no nesting that cannot be written again
        orjson.dumps(sample)
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError):
        return parse_json(raw, keep_infinite=True)
    if events is None:
        return sample
    return sample | {"events": events}


def events_of(sample: Sample) -> list[Sample]:
    """The events of a sample that are objects."""
    return objects_of(
        [
            _event(item) if isinstance(item, msgspec.Raw) else item
            for item in items_of(sample.get("events"))
        ]
    )


def _event(text: msgspec.Raw) -> Sample | None:
    try:
        return _EVENTS.decode(text)
    except msgspec.ValidationError:  # no object
        return None


def as_sample(value: Any) -> Sample:
    """A sample in its present form; the oldest logs have one ``score``.

    Raises:
        ValueError: it is no sample.
    """
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    number = value.get("id")
    if isinstance(number, bool) or not isinstance(number, (str, int)):
        raise ValueError("no id that is a text or a whole number")
    if "input" not in value:
        raise ValueError("no input")
    if "score" in value and "scores" not in value:
        if value["score"] is not None:
            value["scores"] = {UNNAMED: value["score"]}
        else:
            value["scores"] = {}
    return value


_BLANK = re.compile(r"[ \t\r\n]*")


class JsonLog:
    """A log in one JSON object. Its samples are parsed one after the other."""

    def __init__(self, path: Path) -> None:
        self.rejections: list[Rejection] = []
        self.notes: list[str] = []
        self._spans: list[tuple[int, int]] = []
        raw = path.read_bytes()
        if raw.startswith(BOM_UTF8):
            self.notes.append("begins with a byte-order mark")
            raw = raw.removeprefix(BOM_UTF8)
        try:
            self._text = raw.decode("utf-8")
            del raw
            self.header: Mapping[str, Any] = dict(self._members())
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"cannot be read: {error}",
                path=str(path),
                expected="a complete JSON object",
            ) from None
        if not isinstance(self.header.get("eval"), dict):
            raise InputError(
                "there is no object 'eval'", path=str(path), expected="an Inspect log"
            )

    @property
    def n_samples(self) -> int:
        return len(self._spans)

    def samples(self) -> Iterator[Sample]:
        for position, (start, end) in enumerate(self._spans):
            try:
                yield as_sample(_parsed(self._text[start:end]))
            except (ValueError, RecursionError) as error:
                where = (
                    f"sample {position + 1}, line "
                    f"{self._text.count(chr(10), 0, start) + 1}"
                )
                self.rejections.append(Rejection(where, str(error)[:300], "a sample"))

    def close(self) -> None:
        self._text = ""

    def first(self, count: int) -> list[Sample]:
        probe = copy(self)
        probe.rejections = []
        probe._spans = self._spans[:count]
        return list(probe.samples())

    def reductions(self) -> list[Any]:
        results = self.header.get("results")
        old = None
        if isinstance(results, dict):
            old = results.get("sample_reductions")
        return items_of(self.header.get("reductions") or old)

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Key and value of each member of the object; of the samples only where they
        stand."""
        text = self._text
        position = self._expect("{", 0)
        while text[position : position + 1] != "}":
            key, end = self._value(position)
            position = self._expect(":", end)
            if key == "samples" and text[position : position + 1] == "[":
                end = self._mark_samples(position)
            else:
                end = self._value(position)[1]
                yield str(key), parse_json(text[position:end])
            position = _after_blanks(text, end)
            if text[position : position + 1] != "}":
                position = self._expect(",", position)
        if _after_blanks(text, position + 1) != len(text):
            raise ValueError(
                f"something stands after the object, at character {position + 1}"
            )

    def _mark_samples(self, position: int) -> int:
        text = self._text
        position = self._expect("[", position)
        while text[position : position + 1] != "]":
            end = self._value(position)[1]
            self._spans.append((position, end))
            position = _after_blanks(text, end)
            if text[position : position + 1] != "]":
                position = self._expect(",", position)
        return position + 1

    def _value(self, position: int) -> tuple[Any, int]:
        return _DECODER.raw_decode(self._text, position)

    def _expect(self, sign: str, position: int) -> int:
        position = _after_blanks(self._text, position)
        if self._text[position : position + 1] != sign:
            raise ValueError(f"no '{sign}' at character {position}")
        return _after_blanks(self._text, position + 1)


_DECODER = json.JSONDecoder(
    parse_constant=lambda _name: None, parse_int=len, parse_float=len
)


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANK.match(text, position)
    if blanks:
        return blanks.end()
    return position


_SAMPLE = re.compile(r"samples/.*_epoch_\d+\.json", re.DOTALL)
_SHELL = re.compile(r"samples/.*_epoch_\d+/sample\.json", re.DOTALL)
_CHUNK = re.compile(
    r"(samples/.*_epoch_\d+/(?:messages|attachments|events)/)(\d{1,12})\.json",
    re.DOTALL,
)
_ATTACHMENT = re.compile(r"attachment://(\d{1,9})")

#: Spans of events in which a sample is scored: of all scorers, of one, and of one
#: before there were spans.
SCORER_SPANS = ("scorers", "scorer")

#: Messages that one sample may have.
MAX_MESSAGES = 1_000_000


class EvalLog:
    """A log in an ``.eval`` archive; without header (interrupted) what its journal
    says."""

    def __init__(self, path: Path) -> None:
        self.rejections: list[Rejection] = []
        self.notes: list[str] = []
        self._path = path
        self._archive = Archive(path)
        try:
            self.header = self._header()
        except InputError:
            self.close()
            raise
        names = self._archive.entries
        if self._archive.n_doubled:
            self.notes.append(
                f"{self._archive.n_doubled} entries stand twice; the last counts"
            )
        self._whole = [name for name in names if _SAMPLE.fullmatch(name)]
        self._shells = [name for name in names if _SHELL.fullmatch(name)]

    @property
    def n_samples(self) -> int:
        return len(self._whole) + len(self._shells)

    def samples(self) -> Iterator[Sample]:
        for name, data in self._archive.read_all(self._whole):
            sample = self._checked(name, data)
            if sample is not None:
                yield sample
        for name in self._shells:
            sample = self._assembled(name)
            if sample is not None:
                yield sample

    def close(self) -> None:
        self._archive.close()

    def first(self, count: int) -> list[Sample]:
        probe = copy(self)
        probe.rejections, probe.notes = [], []
        whole = (
            probe._checked(name, self._archive.try_read(name))
            for name in self._whole[:count]
        )
        chunked = (
            probe._assembled(name)
            for name in self._shells[: max(0, count - len(self._whole))]
        )
        return [sample for sample in (*whole, *chunked) if sample is not None]

    def reductions(self) -> list[Any]:
        return items_of(self._document("reductions.json"))

    def _header(self) -> Mapping[str, Any]:
        for name in ("header.json", "_journal/start.json"):
            header = self._document(name)
            if isinstance(header, dict) and isinstance(header.get("eval"), dict):
                if name != "header.json":
                    self.notes.append(
                        "the log was not finished: it has no header, only a journal"
                    )
                return {"status": "started", **header}
        raise InputError(
            "neither header.json nor _journal/start.json is there",
            path=str(self._path),
            expected="an .eval log",
        )

    def _document(self, name: str) -> Any:
        """An entry that is no sample.

        Raises:
            InputError: it is damaged.
        """
        if name not in self._archive.entries:
            return None
        try:
            return parse_json(self._archive.read(name))
        except (EntryError, ValueError, RecursionError) as error:
            raise InputError(
                str(error), path=str(self._path), place=f"entry {name}", expected="JSON"
            ) from None

    def _checked(self, name: str, data: bytes | EntryError) -> Sample | None:
        try:
            if isinstance(data, EntryError):
                raise data
            return as_sample(_parsed(data))
        except (EntryError, ValueError, RecursionError) as error:
            self.rejections.append(
                Rejection(f"entry {name[:200]}", str(error)[:300], "a sample")
            )
            return None

    def _assembled(self, shell: str) -> Sample | None:
        """A sample assembled from its chunks: shell, metadata, messages and shared
        texts."""
        folder = shell.removesuffix("sample.json")
        try:
            sample = as_sample(
                parse_json(self._archive.read(shell), keep_infinite=True)
            )
            if f"{folder}metadata.json" in self._archive.entries:
                sample["metadata"] = parse_json(
                    self._archive.read(f"{folder}metadata.json")
                )
            if f"{folder}skeleton.json" in self._archive.entries:
                sample["skeleton"] = parse_json(
                    self._archive.read(f"{folder}skeleton.json")
                )
            texts = self._sequence(f"{folder}attachments/")
            pool = self._sequence(f"{folder}messages/")
            sample["messages"] = _picked(pool, sample.get("message_refs"))
            if texts:
                sample = _Resolver(texts).of(sample)
            return sample | {"events": self._judging(f"{folder}events/", sample)}
        except (EntryError, ValueError, RecursionError) as error:
            self.rejections.append(
                Rejection(f"entry {shell[:200]}", str(error)[:300], "a sample")
            )
            return None

    def _judging(self, folder: str, sample: Sample) -> list[Any]:
        """The events of chunks in which a scorer asked a model; the others are not
        read."""
        extents = []
        for span in objects_of(part_of(sample, "skeleton").get("spans")):
            is_scorer = span.get("type") in SCORER_SPANS
            if not is_scorer or not whole_count(span.get("models")):
                continue
            extent: Any = span.get("extent")
            if _is_pair(extent):
                extents.append((extent[0], extent[1]))
        chunks = self._chunks.get(folder, [])
        ends = [start for start, _ in chunks[1:]] + [sys.maxsize]
        members = []
        for (start, name), end in zip(chunks, ends, strict=True):
            if any(first < end and start <= last for first, last in extents):
                members.append(name)
        self._bound(folder, members)
        return list(
            chain.from_iterable(
                items_of(parse_json(self._archive.read(name))) for name in members
            )
        )

    def _bound(self, folder: str, names: Sequence[str]) -> None:
        if (
            sum(self._archive.entries[name].file_size for name in names)
            > bounds.MAX_ENTRY_BYTES
        ):
            raise EntryError(f"{folder} holds more than {bounds.MAX_ENTRY_BYTES} bytes")

    @cached_property
    def _chunks(self) -> dict[str, list[tuple[int, str]]]:
        """Number of the first item and name of each chunk, by the folder of its
        sequence."""
        chunks_by_folder = defaultdict[str, list[tuple[int, str]]](list)
        for name in self._archive.entries:
            if match := _CHUNK.fullmatch(name):
                chunks_by_folder[match[1]].append((int(match[2]), name))
        return {folder: sorted(chunks) for folder, chunks in chunks_by_folder.items()}

    def _sequence(self, folder: str) -> list[Any]:
        """The items of a chunked sequence; a chunk is named by the number of its first
        item."""
        chunks = self._chunks.get(folder, [])
        self._bound(folder, [name for _, name in chunks])
        items: list[Any] = []
        for start, name in chunks:
            part = parse_json(self._archive.read(name))
            if not isinstance(part, list) or start != len(items):
                raise EntryError(
                    f"{name} does not begin with item {len(items)} of a list"
                )
            items += part
        return items


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(n) is int for n in value)
    )


def _picked(pool: Sequence[Any], references: Any) -> list[Any]:
    """Messages of a pool by their half-open ranges."""
    if not isinstance(references, list):
        return list(pool)
    messages: list[Any] = []
    for item in references:
        if not _is_pair(item):
            raise ValueError("message_refs are not pairs of numbers")
        start, end = item
        if not 0 <= start <= end <= len(pool):
            raise ValueError(
                f"message_refs name messages {start} to {end} of {len(pool)}"
            )
        messages += pool[start:end]
        if len(messages) > MAX_MESSAGES:
            raise ValueError(f"message_refs name more than {MAX_MESSAGES} messages")
    return messages


class _Resolver:
    """Resolves references to texts that a sample stores in another place.

    Raises:
        ValueError: together they would be longer than an entry may be.
    """

    def __init__(self, texts: Sequence[Any]) -> None:
        self.texts = texts
        self.left = bounds.MAX_ENTRY_BYTES

    def of(self, value: Any) -> Any:
        """The value with its references resolved, at any depth."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, dict):
            return {key: self.of(item) for key, item in value.items()}
        return value

    def _text(self, value: str) -> str:
        match = _ATTACHMENT.fullmatch(value)
        if match:
            index = int(match[1])
        else:
            index = len(self.texts)
        if index >= len(self.texts) or not isinstance(self.texts[index], str):
            return value
        text: str = self.texts[index]
        self.left -= len(text)
        if self.left < 0:
            raise ValueError(
                f"attachments add up to more than {bounds.MAX_ENTRY_BYTES} characters"
            )
        return text


# the oldest logs have only the second
_ATTEMPT = re.compile(rb'"(?:eval_id|task_id)"\s*:\s*"([^"\\]+)"')
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"')
#: Bytes of a log that are looked at in one go, and how many of them again: more than a
#: time with its key has.
_PIECE, _OVERLAP = 1 << 16, 128


def attempt_in(path: Path) -> bytes | None:
    """The id of the attempt that a file is a log of, without reading the log."""
    texts = _texts(path, lambda name: name in ("header.json", "_journal/start.json"))
    if path.suffix != ".eval":
        texts = islice(texts, 1)
    return next((found[1] for text in texts if (found := _ATTEMPT.search(text))), None)


def times_in(path: Path) -> list[datetime]:
    """The times that samples of a log state, of events, edits and invalidations, the
    latest first."""
    found = set(
        chain.from_iterable(
            _TIME.findall(text)
            for text in _texts(path, lambda name: name.startswith("samples/"))
        )
    )
    return sorted(
        filter(None, (moment(time.decode("utf-8", "replace")) for time in found)),
        reverse=True,
    )


def _texts(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[bytes]:
    """Entries of an archive, or the pieces of another file, which overlap; none of what
    cannot be read."""
    with suppress(InputError, OSError):
        if path.suffix == ".eval":
            with Archive(path) as archive:
                entries = archive.read_all(list(filter(is_wanted, archive.entries)))
                yield from (data for _, data in entries if isinstance(data, bytes))
        else:
            with path.open("rb") as handle:
                before = b""
                while piece := handle.read(_PIECE):
                    yield before + piece
                    before = piece[-_OVERLAP:]


def eval_id_of(spec: Mapping[str, Any]) -> str | None:
    """The id of this attempt at a task. For a log without one Inspect makes it of three
    other fields."""
    named = [text_or_none(spec.get(name)) for name in ("run_id", "task_id", "created")]
    if eval_id := text_or_none(spec.get("eval_id")):
        return eval_id
    if None in named:
        return None
    number = int.from_bytes(
        blake2s("".join(map(str, named)).encode(), digest_size=16).digest()
    )
    digits = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits[-22:].rjust(22, _DIGITS[0])


#: What Inspect writes ids with.
_DIGITS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
